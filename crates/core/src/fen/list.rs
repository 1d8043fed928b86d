//! Splits the lines of FEN and EPD lists into fields, counters and operations.
//!
//! Unlike in a single FEN, an underscore in a list is not read as a blank, because the value of an operation may begin with one.

use super::{FenWords, is_blank};

/// Returns whether a line is a FEN or EPD: it has eight ranks, and then either ends or continues with the side to move.
pub fn is_position(line: &[u8]) -> bool {
    let mut fields = line.split(|byte| byte.is_ascii_whitespace()).filter(|field| !field.is_empty());
    let Some(placement) = fields.next() else { return false };
    placement.iter().filter(|&&byte| byte == b'/').count() == 7
        && placement.iter().all(|byte| b"/12345678pnbrqkPNBRQK~".contains(byte))
        && matches!(fields.next(), None | Some(b"w" | b"b" | b"W" | b"B"))
}

/// Returns the counters of a FEN as written: its fifth and sixth fields.
pub fn counters(fen: &[u8]) -> [Option<&[u8]>; 2] {
    let start = fen.iter().position(|&byte| !is_blank(byte)).unwrap_or(fen.len());
    let mut words = FenWords { line: fen, at: start }.skip(4).map(|(start, end)| &fen[start..end]);
    [words.next(), words.next()]
}

/// A line of a FEN or EPD list, split into position, counters and operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ListLine<'l> {
    /// The text of the first four fields (placement, side to move, castling, en passant), or of fewer if the line has fewer.
    pub position: &'l [u8],
    /// The halfmove clock and the fullmove number of a FEN, as written.
    pub counters: [Option<&'l [u8]>; 2],
    operations: &'l [u8],
}

impl<'l> ListLine<'l> {
    /// Splits a line of a FEN or EPD list into position, counters and operations.
    ///
    /// ```
    /// use orbit_core::fen::ListLine;
    /// let line = ListLine::split(b"4k3/8/8/8/8/8/8/4K3 w - - 3 17 id \"a; b\"; dm 2;");
    /// assert_eq!(line.position, b"4k3/8/8/8/8/8/8/4K3 w - -");
    /// assert_eq!(line.counters, [Some(&b"3"[..]), Some(b"17")]);
    /// assert!(line.operations().eq([(&b"id"[..], &b"a; b"[..]), (b"dm", b"2")]));
    /// ```
    pub fn split(line: &'l [u8]) -> ListLine<'l> {
        let mut at = 0;
        for field in 0..4 {
            let start = skip(line, at, true);
            // A word that cannot be the next field is the name of an operation, so the position ends here.
            if field > 0 && !may_be_field(field, &line[start..skip(line, start, false)]) {
                break;
            }
            at = skip(line, start, false);
        }
        let position = &line[..at];
        let mut rest = line[at..].trim_ascii_start();
        let counters = [(); 2].map(|()| {
            let word = &rest[..skip(rest, 0, false)];
            let is_counter = !word.is_empty() && word.iter().all(u8::is_ascii_digit);
            is_counter.then(|| {
                rest = rest[word.len()..].trim_ascii_start();
                word
            })
        });
        ListLine { position, counters, operations: rest }
    }

    /// Returns the EPD operations as pairs of name and value. Quotes around a value are removed, but escape sequences stay.
    pub fn operations(&self) -> impl Iterator<Item = (&'l [u8], &'l [u8])> + use<'l> {
        let mut rest = self.operations;
        std::iter::from_fn(move || {
            while !rest.is_empty() {
                let (operation, next) = operation(rest);
                let name = &operation[..skip(operation, 0, false)];
                rest = next.trim_ascii_start();
                if name.first().is_some_and(u8::is_ascii_alphabetic) {
                    return Some((name, unquoted(operation[name.len()..].trim_ascii())));
                }
            }
            None
        })
    }
}

fn may_be_field(field: usize, word: &[u8]) -> bool {
    match field {
        1 => true,
        2 => word.iter().all(|byte| b"-KQkqABCDEFGHabcdefgh".contains(byte)),
        _ => word == b"-" || word.len() == 2 && word[1].is_ascii_digit(),
    }
}

fn skip(line: &[u8], from: usize, blanks: bool) -> usize {
    let stops = |byte: &u8| byte.is_ascii_whitespace() != blanks;
    line[from..].iter().position(stops).map_or(line.len(), |skip| from + skip)
}

/// Returns the text up to the next `;` outside quotes, and the text after it. Within quotes, a backslash takes their meaning from a
/// quotation mark and from a backslash.
fn operation(text: &[u8]) -> (&[u8], &[u8]) {
    let (mut quoted, mut at) = (false, 0);
    while at < text.len() {
        at += match text[at..] {
            [b'\\', b'\\', ..] if quoted => 2,
            // The last quotation mark of a line ends the value, whatever is before it.
            [b'\\', b'"', ref rest @ ..] if quoted && rest.contains(&b'"') => 2,
            [b'"', ..] => {
                quoted = !quoted;
                1
            }
            [b';', ..] if !quoted => return (&text[..at], &text[at + 1..]),
            _ => 1,
        };
    }
    (text, &[])
}

fn unquoted(value: &[u8]) -> &[u8] {
    value.strip_prefix(b"\"").map_or(value, |rest| rest.strip_suffix(b"\"").unwrap_or(rest))
}
