//! Makes text safe to display: no character in it moves the cursor, reverses the direction of writing or is invisible.
//!
//! Tags, file names and messages may contain control sequences, which a terminal obeys. All text shown to people therefore goes
//! through [`escape`], which escapes the characters for which [`is_hidden`] is true. This module does not depend on chess, files or
//! terminals. Invariant: the output has no hidden character, and all other characters are unchanged.

use std::borrow::Cow;
use std::io::{self, Write};

/// The use of an escaped text. It determines which characters are escaped, and in which form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EscapeContext {
    /// The text is one line for people: line feeds and tabs are escaped as well.
    Line,
    /// The text is several lines for people: line feeds and tabs are kept.
    Lines,
    /// The text is a JSON document: characters in its strings are escaped without changing the strings' values.
    Json,
}

/// Returns whether a character acts on a terminal instead of being displayed: control characters (C0, DEL, C1), characters that
/// change the direction of writing or have no width, line separators of Unicode, and the invisible tag characters of Unicode.
///
/// Source: Unicode Standard Annex 9 (bidirectional controls) and the classes `Cc`, `Cf`, `Zl` and `Zp`, except soft hyphens and
/// visible format characters of some scripts.
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

/// Escapes every hidden character of a text. It is written as `\n`, `\t`, `\x1b` or `\u{202e}`, and in JSON as `\u202e`.
///
/// ```
/// use orbit_core::visible::{EscapeContext, escape};
///
/// assert_eq!(escape("Réti, Richard", EscapeContext::Line), "Réti, Richard");
/// assert_eq!(escape("\u{1b}[2J\u{202e}\n", EscapeContext::Line), r"\x1b[2J\u{202e}\n");
/// assert_eq!(escape("a\tb\n", EscapeContext::Lines), "a\tb\n");
/// assert_eq!(escape("\"\u{9b}\"\n", EscapeContext::Json), "\"\\u009b\"\n");
/// ```
pub fn escape(text: &str, context: EscapeContext) -> Cow<'_, str> {
    let stays = |letter: char| match context {
        EscapeContext::Line => false,
        // JSON may contain line feeds and tabs between its strings, but not within them.
        EscapeContext::Lines | EscapeContext::Json => matches!(letter, '\n' | '\t'),
    };
    let is_written_out = |letter: char| is_hidden(letter) && !stays(letter);
    // Most texts are ASCII, and for them a scan of the bytes avoids the slower test of each character.
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

/// Escapes a text as one line for people.
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

/// A writer that makes the bytes of files safe for a terminal by escaping them. Line feeds are kept. Hidden characters and bytes
/// that are not UTF-8 are escaped.
///
/// A character may be split between two calls of `write`.
#[derive(Debug)]
pub struct VisibleBytes<W> {
    out: W,
    /// The bytes that are not written yet: an incomplete character, or a carriage return that a line feed may follow.
    held: Vec<u8>,
}

impl<W: Write> VisibleBytes<W> {
    /// Creates a writer that passes the escaped text on to `out`.
    pub fn new(out: W) -> VisibleBytes<W> {
        VisibleBytes { out, held: Vec::new() }
    }

    /// Writes the bytes that are held back, and returns the inner writer.
    ///
    /// # Errors
    ///
    /// Returns the errors of the writer.
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

    /// Writes the bytes that are held back. An incomplete character is escaped, since a flush ends the text.
    fn flush(&mut self) -> io::Result<()> {
        let held = std::mem::take(&mut self.held);
        self.out.write_all(shown(&held).as_bytes())?;
        self.out.flush()
    }
}

/// Returns the number of bytes at the end that cannot be written before more bytes arrive: an incomplete character, or a carriage
/// return that a line feed may follow.
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

/// Escapes hidden characters in text whose lines end with LF or CRLF. A byte that is not UTF-8 is written in the form `\xe9`.
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
        // Every control character is hidden, and no visible character is.
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
