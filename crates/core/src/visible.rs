//! Text that only shows itself: nothing in it moves a cursor, turns letters round or hides.
//!
//! Tags, names of files and messages come from anywhere, and a terminal obeys what it is sent. Everything that people read
//! goes through [`escape`], which knows one list of letters, [`is_hidden`]. It knows nothing of chess, files or terminals.
//! The invariant: no letter of the list is in what it gives, and everything else is there as it was.

use std::borrow::Cow;
use std::io::{self, Write};

/// What an escaped text is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EscapeContext {
    /// One line for people: line feeds and tabs are escaped as well.
    Line,
    /// Whole lines for people: line feeds and tabs stay.
    Lines,
    /// A JSON document that has been written: its strings keep their values.
    Json,
}

/// Whether a letter acts on a terminal instead of showing itself: control characters (C0, DEL, C1), what turns the direction
/// of writing, what has no width, line separators of Unicode, and tags.
///
/// Source: Unicode Standard Annex 9 (bidirectional controls) and the classes `Cc`, `Cf`, `Zl` and `Zp`, of which soft hyphens
/// and signs of scripts that have a shape are left out.
pub const fn is_hidden(letter: char) -> bool {
    matches!(
        letter,
        '\0'..='\u{1f}'
            | '\u{7f}'..='\u{9f}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// A text in which every hidden letter is written out: `\n`, `\t`, `\x1b`, `\u{202e}`, or in JSON `\u202e`.
///
/// ```
/// use orbit_core::visible::{Context, escape};
///
/// assert_eq!(escape("Réti, Richard", Context::Line), "Réti, Richard");
/// assert_eq!(escape("\u{1b}[2J\u{202e}\n", Context::Line), r"\x1b[2J\u{202e}\n");
/// assert_eq!(escape("a\tb\n", Context::Lines), "a\tb\n");
/// assert_eq!(escape("\"\u{9b}\"\n", Context::Json), "\"\\u009b\"\n");
/// ```
pub fn escape(text: &str, context: EscapeContext) -> Cow<'_, str> {
    let stays = |letter: char| match context {
        EscapeContext::Line => false,
        // Between the strings of JSON there are blanks and line feeds, and in them there are none.
        EscapeContext::Lines | EscapeContext::Json => matches!(letter, '\n' | '\t'),
    };
    let is_written_out = |letter: char| is_hidden(letter) && !stays(letter);
    // Most is ASCII, which is looked through at once.
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if is_plain || !text.contains(is_written_out) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if is_written_out(letter) { push_escape(letter, context, &mut out) } else { out.push(letter) }
    }
    Cow::Owned(out)
}

/// One line for people.
pub fn line(text: &str) -> Cow<'_, str> {
    escape(text, EscapeContext::Line)
}

fn push_escape(letter: char, context: EscapeContext, out: &mut String) {
    if context == EscapeContext::Json {
        let mut units = [0; 2];
        letter.encode_utf16(&mut units).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        return;
    }
    match letter {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\0'..='\u{ff}' => out.push_str(&format!("\\x{:02x}", u32::from(letter))),
        _ => out.push_str(&format!("\\u{{{:x}}}", u32::from(letter))),
    }
}

/// Bytes of files on their way to a terminal: lines stay lines, hidden letters and bytes that are no UTF-8 are written out.
///
/// Letters may be cut by the pieces in which they come.
#[derive(Debug)]
pub struct VisibleBytes<W> {
    out: W,
    /// A letter of which bytes are missing, or a carriage return that a line feed may follow.
    held: Vec<u8>,
}

impl<W: Write> VisibleBytes<W> {
    /// Filters what is written to `out`.
    pub fn new(out: W) -> VisibleBytes<W> {
        VisibleBytes { out, held: Vec::new() }
    }

    /// Writes what is left.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.flush()?;
        Ok(self.out)
    }
}

impl<W: Write> Write for VisibleBytes<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = std::mem::take(&mut self.held);
        all.extend_from_slice(bytes);
        let whole = all.len() - unfinished(&all);
        self.held = all.split_off(whole);
        self.out.write_all(shown(&all).as_bytes())?;
        Ok(bytes.len())
    }

    /// What is left of a letter is written out: a flush ends what belongs together.
    fn flush(&mut self) -> io::Result<()> {
        let held = std::mem::take(&mut self.held);
        self.out.write_all(shown(&held).as_bytes())?;
        self.out.flush()
    }
}

/// Bytes at the end that must wait for more.
fn unfinished(bytes: &[u8]) -> usize {
    if bytes.last() == Some(&b'\r') {
        return 1;
    }
    let tail = &bytes[bytes.len().saturating_sub(3)..];
    (0..tail.len())
        .find_map(|at| match str::from_utf8(&tail[at..]) {
            Err(error) if error.valid_up_to() == 0 && error.error_len().is_none() => Some(tail.len() - at),
            _ => None,
        })
        .unwrap_or(0)
}

/// Lines with line ends of either kind; bytes that are no UTF-8 as `\xe9`.
fn shown(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        let mut lines = chunk.valid().split("\r\n");
        out.push_str(&escape(lines.next().unwrap_or_default(), EscapeContext::Lines));
        for line in lines {
            out.push_str("\r\n");
            out.push_str(&escape(line, EscapeContext::Lines));
        }
        chunk.invalid().iter().for_each(|byte| out.push_str(&format!("\\x{byte:02x}")));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_letter_of_the_list_is_written_out() {
        let all: String = ('\0'..=char::MAX).filter(|&letter| is_hidden(letter)).collect();
        for letter in [
            '\u{1b}', '\u{7f}', '\u{80}', '\u{9f}', '\u{200b}', '\u{200f}', '\u{202a}', '\u{202e}',
            '\u{2066}', '\u{2069}', '\u{feff}',
        ] {
            assert!(all.contains(letter), "{letter:?}");
        }
        for context in [EscapeContext::Line, EscapeContext::Lines, EscapeContext::Json] {
            let escaped = escape(&all, context);
            let stays = |letter: char| context != EscapeContext::Line && matches!(letter, '\n' | '\t');
            assert!(escaped.chars().all(|letter| !is_hidden(letter) || stays(letter)), "{context:?}");
        }
        // Control characters, and nothing that is seen.
        assert!(('\0'..=char::MAX).filter(|letter| letter.is_control()).all(is_hidden));
        assert!(!"aé ♞…—\u{ad}\u{a0}אن中".contains(is_hidden));
    }

    #[test]
    fn json_keeps_its_values() {
        let value: String = ('\0'..=char::MAX).filter(|&letter| is_hidden(letter)).collect();
        let text = serde_json::to_string_pretty(&[&value]).unwrap();
        let escaped = escape(&text, EscapeContext::Json);
        assert!(!escaped.contains(|letter| is_hidden(letter) && letter != '\n'));
        assert_eq!(serde_json::from_str::<Vec<String>>(&escaped).unwrap(), [value]);
    }

    #[test]
    fn a_filter_gives_the_same_however_its_bytes_come() {
        let text = b"a\x1b[2J\r\nb\rc\xe9\xc2\x9b \xe2\x80\xae\xf0\x9f\x99\x82\xe2\x80";
        let expected = "a\\x1b[2J\r\nb\\rc\\xe9\\x9b \\u{202e}\u{1f642}\\xe2\\x80";
        for size in 1..=text.len() {
            let mut filter = VisibleBytes::new(Vec::new());
            text.chunks(size).for_each(|piece| filter.write_all(piece).unwrap());
            assert_eq!(String::from_utf8(filter.finish().unwrap()).unwrap(), expected, "{size}");
        }
    }
}
