//! Reads lists of positions in FEN or EPD, with one position per line.

use super::visit::VisitedGame;
use orbit_pgn::Tag;

/// Reads a list of positions. Each line that is neither empty nor a comment becomes a game.
pub(super) fn games(text: &[u8]) -> Vec<VisitedGame> {
    let mut out = Vec::new();
    let mut start = 0;
    for line in text.split(|byte| matches!(byte, b'\n' | b'\r')) {
        let mark = if line.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let is_blank = |byte: &&u8| byte.is_ascii_whitespace() || **byte == 0;
        let at = mark + line[mark..].iter().take_while(is_blank).count();
        if line.get(at).is_some_and(|&byte| byte != b'#') {
            out.push(game(start + at, &line[at..]));
        }
        start += line.len() + 1;
    }
    out
}

/// Reads one line of a list of positions: the fields of a position, the counters and the operations. A halfmove clock other than 0
/// and a move number other than 1 become tags. The operation `id` becomes the tag `Event`.
fn game(start: usize, line: &[u8]) -> VisitedGame {
    let mut rest = line;
    let mut fields = vec![word(&mut rest)];
    for is_field in [|_: &[u8]| true, is_castling, is_square] {
        let mut next = rest;
        let field = word(&mut next);
        if field.is_empty() || !is_field(field) {
            break;
        }
        fields.push(field);
        rest = next;
    }
    let mut tags = Vec::new();
    let mut push = |name: &[u8], value: &[u8]| {
        tags.push(Tag { name: name.to_vec(), value: super::plain::unescaped(value) });
    };
    for (name, usual) in [("hmvc", b"0"), ("fmvn", b"1")] {
        let mut next = rest;
        let counter = word(&mut next);
        // A word that is not a number is not a counter. The operations begin with it, so it stays in `rest`.
        if counter.is_empty() || !counter.iter().all(u8::is_ascii_digit) {
            continue;
        }
        rest = next;
        if counter != usual {
            push(name.as_bytes(), counter);
        }
    }
    let last_mark = rest.iter().rposition(|&byte| byte == b'"');
    let (mut is_quoted, mut is_escaped, mut at) = (false, false, 0);
    let operations = rest.split(|&byte| {
        let is_mark = byte == b'"' && (!is_escaped || Some(at) == last_mark);
        is_escaped = byte == b'\\' && is_quoted && !is_escaped;
        is_quoted ^= is_mark;
        at += 1;
        byte == b';' && !is_quoted
    });
    for operation in operations {
        let mut value = operation;
        let name = word(&mut value);
        if name.first().is_some_and(u8::is_ascii_alphabetic) {
            let value = value.trim_ascii();
            let inner = value.strip_prefix(b"\"");
            let value = inner.map_or(value, |inner| inner.strip_suffix(b"\"").unwrap_or(inner));
            push(if name == b"id" { b"Event" } else { name }, value);
        }
    }
    VisitedGame { start, tags, fen: Some(fields.join(&b' ')), ..VisitedGame::default() }
}

/// Removes the first word of a line, and returns it.
fn word<'a>(rest: &mut &'a [u8]) -> &'a [u8] {
    let line = rest.trim_ascii_start();
    let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
    *rest = &line[end..];
    &line[..end]
}

fn is_castling(field: &[u8]) -> bool {
    field.iter().all(|byte| matches!(byte.to_ascii_lowercase(), b'-' | b'k' | b'q' | b'a'..=b'h'))
}

fn is_square(field: &[u8]) -> bool {
    field == b"-" || field.len() == 2 && field[1].is_ascii_digit()
}
