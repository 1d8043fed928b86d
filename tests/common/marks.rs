//! Finds comments that were inserted into PGN text, and compares the rest of the text with the original.

/// The comment that is inserted.
pub const MARK: &[u8] = b"{MARK}";

/// Returns true if the text `marked` is `text` with inserted comments `{MARK}`, which may have blanks around them.
pub fn is_marked(marked: &[u8], text: &[u8]) -> bool {
    are(&pieces(marked), text)
}

pub fn marks(text: &[u8]) -> usize {
    memchr::memmem::find_iter(text, MARK).count()
}

/// Splits a text at the comments `{MARK}`.
fn pieces(text: &[u8]) -> Vec<&[u8]> {
    let mut starts = vec![0];
    let mut ends: Vec<usize> = memchr::memmem::find_iter(text, MARK).collect();
    starts.extend(ends.iter().map(|end| end + MARK.len()));
    ends.push(text.len());
    starts.iter().zip(ends).map(|(&start, end)| &text[start..end]).collect()
}

/// Returns true if the joined pieces equal `text`. Where two pieces meet, up to four blanks before the joint and one blank after
/// it may be missing.
fn are(pieces: &[&[u8]], text: &[u8]) -> bool {
    let [first, rest @ ..] = pieces else { return false };
    let Some(second) = rest.first() else { return *first == text };
    let ends = (0..5).map_while(|cut| first.len().checked_sub(cut));
    let ends = ends.take_while(|&end| first[end..].trim_ascii().is_empty());
    ends.map(|end| &first[..end]).filter(|first| text.starts_with(first)).any(|first| {
        let text = &text[first.len()..];
        let next = second.strip_prefix(b" ").map(|second| [&[second], &rest[1..]].concat());
        are(rest, text) || next.is_some_and(|next| are(&next, text))
    })
}

#[test]
fn marks_are_told_from_other_changes() {
    let text = b"1. e4{x} e5 *";
    assert!(is_marked(b"{MARK} 1. e4 {MARK} {x} e5 {MARK} *", text));
    assert!(is_marked(b"{MARK}1. e4{MARK}{x} e5 {MARK}{MARK} *", text));
    for wrong in [
        &b"1. e4 {x} e5 {MARK} *"[..],
        b"1. e4{x} {MARK} e6 *",
        b"1. e4{x} {MARK} e5 * ",
        b"1. e4{x} e5 * {MARK} 1",
    ] {
        assert!(!is_marked(wrong, text), "{}", String::from_utf8_lossy(wrong));
    }
}
