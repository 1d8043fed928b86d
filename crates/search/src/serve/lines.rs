//! Reads requests line by line. A line that is too long is skipped, so that it cannot exhaust the memory.

use std::io::{self, BufRead};

/// The maximum length of a line, in bytes without the line end.
pub const LINE_BYTES_MAX: usize = 1 << 20;

/// A line of input.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RequestLine {
    /// The bytes of the line, without the line end.
    Whole(Vec<u8>),
    /// The line was too long and was skipped.
    TooLong,
}

/// Reads the next line. Returns `None` at the end of the input. The last line may lack a line feed.
///
/// # Errors
///
/// Returns the errors of the input.
pub(super) fn next_line(input: &mut impl BufRead, bytes_max: usize) -> io::Result<Option<RequestLine>> {
    let (mut line, mut is_too_long, mut is_any) = (Vec::new(), false, false);
    loop {
        let bytes = match input.fill_buf() {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if bytes.is_empty() {
            break;
        }
        is_any = true;
        let end = memchr::memchr(b'\n', bytes);
        let piece = &bytes[..end.unwrap_or(bytes.len())];
        // The line may have one extra byte, for a carriage return at its end.
        is_too_long |= line.len() + piece.len() > bytes_max + 1;
        if !is_too_long {
            line.extend_from_slice(piece);
        } else {
            line = Vec::new();
        }
        let read = piece.len() + usize::from(end.is_some());
        input.consume(read);
        if end.is_some() {
            break;
        }
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    is_too_long |= line.len() > bytes_max;
    Ok(is_any.then_some(if is_too_long { RequestLine::TooLong } else { RequestLine::Whole(line) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_bounded() {
        let text = b"abc\r\nabcd\n\nabcde\nabcd\r\nab";
        for buffer in 1..8 {
            let mut input = io::BufReader::with_capacity(buffer, &text[..]);
            let mut lines = Vec::new();
            while let Some(line) = next_line(&mut input, 4).unwrap() {
                lines.push(match line {
                    RequestLine::Whole(bytes) => String::from_utf8(bytes).unwrap(),
                    RequestLine::TooLong => String::from("too long"),
                });
            }
            assert_eq!(lines, ["abc", "abcd", "", "too long", "abcd", "ab"], "buffer of {buffer}");
        }
    }
}
