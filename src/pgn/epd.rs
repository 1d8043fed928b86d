//! Lines of FEN and EPD lists.

/// Whether a line is a FEN or EPD: eight ranks, and after them nothing or the side to move.
pub(super) fn is_position(line: &[u8]) -> bool {
    let mut fields = line.split(|byte| byte.is_ascii_whitespace()).filter(|field| !field.is_empty());
    let Some(placement) = fields.next() else { return false };
    placement.iter().filter(|&&byte| byte == b'/').count() == 7
        && placement.iter().all(|byte| b"/12345678pnbrqkPNBRQK~".contains(byte))
        && matches!(fields.next(), None | Some(b"w" | b"b" | b"W" | b"B"))
}

/// Splits a line into its first four fields, which it returns, and its operations, each told to
/// `on_tag` as name and value. The operation `id` is told as `Event`, the others by their own
/// names; the counters of a FEN, if they are not 0 and 1, as `hmvc` and `fmvn`. Quotes around a value are removed, escapes stay.
pub(super) fn split<'l>(line: &'l [u8], on_tag: &mut dyn FnMut(&[u8], &[u8])) -> &'l [u8] {
    let mut at = 0;
    for field in 0..4 {
        let start = skip(line, at, true);
        // Only placement may stand alone: an opcode is no side to move.
        if field > 0 && !may_be_field(field, &line[start..skip(line, start, false)]) {
            break;
        }
        at = skip(line, start, false);
    }
    let position = &line[..at];
    let mut rest = line[at..].trim_ascii_start();
    for (name, usual) in [(&b"hmvc"[..], &b"0"[..]), (b"fmvn", b"1")] {
        let word = &rest[..skip(rest, 0, false)];
        if !word.is_empty() && word.iter().all(u8::is_ascii_digit) {
            if word != usual {
                on_tag(name, word);
            }
            rest = rest[word.len()..].trim_ascii_start();
        }
    }
    while !rest.is_empty() {
        let (operation, next) = operation(rest);
        let name = &operation[..skip(operation, 0, false)];
        let value = operation[name.len()..].trim_ascii();
        if name.first().is_some_and(u8::is_ascii_alphabetic) {
            on_tag(if name == b"id" { b"Event" } else { name }, unquoted(value));
        }
        rest = next.trim_ascii_start();
    }
    position
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

/// The text up to the next `;` outside quotes, and what follows it.
fn operation(text: &[u8]) -> (&[u8], &[u8]) {
    let mut quoted = false;
    for (at, &byte) in text.iter().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b';' if !quoted => return (&text[..at], &text[at + 1..]),
            _ => {}
        }
    }
    (text, &[])
}

fn unquoted(value: &[u8]) -> &[u8] {
    value.strip_prefix(b"\"").map_or(value, |rest| rest.strip_suffix(b"\"").unwrap_or(rest))
}
