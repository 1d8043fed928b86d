//! Reads lines from a stream and writes lines to standard output, at millions per second.

use std::io::{self, Read};

use orbit_core::diagnostic::Diagnostic;

use super::common::grouped;
use super::failure::Failure;
use super::sink::Sink;
use super::terminal::{Stdout, drawn_message, rendered};

/// The number of bytes that are read at once, which is also the maximum length of a line.
const BATCH_BYTES: usize = 1 << 18;
/// The number of bytes that are written at once.
const OUT_BYTES: usize = 1 << 16;
/// The maximum number of invalid lines that are listed without `--verbose`.
const LISTED_MAX: u64 = 20;
/// The maximum number of bytes that are shown of an invalid line.
const SHOWN_MAX: usize = 200;

/// Standard output that is written in large chunks.
pub(super) struct LinesOut {
    text: Vec<u8>,
    out: Sink,
}

impl LinesOut {
    pub(super) fn new() -> LinesOut {
        LinesOut { text: Vec::with_capacity(2 * OUT_BYTES), out: Sink::Stdout(Stdout::new()) }
    }

    /// Returns the buffer of text to be written.
    #[inline]
    pub(super) fn text(&mut self) -> &mut Vec<u8> {
        &mut self.text
    }

    #[inline]
    pub(super) fn flush_if_full(&mut self) -> Result<(), Failure> {
        if self.text.len() < OUT_BYTES {
            return Ok(());
        }
        self.out.put(|out| out.write_all(&self.text))?.ok_or(Failure::Closed)?;
        self.text.clear();
        Ok(())
    }

    pub(super) fn finish(self) -> Result<(), Failure> {
        self.out.write_whole(&self.text)
    }
}

/// The lines of a stream, each of which contains a position to transform. Invalid lines are counted and listed on stderr.
pub(super) struct TransformLines<R> {
    source: R,
    lists_all: bool,
    number: usize,
    wrong: u64,
}

impl<R: Read> TransformLines<R> {
    pub(super) fn new(source: R, lists_all: bool) -> TransformLines<R> {
        TransformLines { source, lists_all, number: 0, wrong: 0 }
    }

    /// Calls `each` with every line that is not blank, until `each` fails. Fails if the stream cannot be read to its end.
    pub(super) fn for_each(
        &mut self,
        mut each: impl FnMut(&[u8]) -> Result<Result<(), Diagnostic>, Failure>,
    ) -> Result<Option<io::Error>, Failure> {
        let mut buffer = vec![0; BATCH_BYTES];
        let mut filled = 0;
        // True while the rest of an overlong line is skipped.
        let mut passes_over = false;
        let fault = loop {
            let count = match self.source.read(&mut buffer[filled..]) {
                Ok(0) => break None,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => break Some(error),
            };
            filled += count;
            let mut at = 0;
            while let Some(len) = memchr::memchr(b'\n', &buffer[at..filled]) {
                if !std::mem::take(&mut passes_over) {
                    self.line(&buffer[at..at + len], &mut each)?;
                }
                at += len + 1;
            }
            buffer.copy_within(at..filled, 0);
            filled -= at;
            if filled == buffer.len() {
                if !passes_over {
                    self.number += 1;
                    self.too_long();
                }
                (passes_over, filled) = (true, 0);
            }
        };
        if filled > 0 && !passes_over && fault.is_none() {
            self.line(&buffer[..filled], &mut each)?;
        }
        Ok(fault)
    }

    #[inline]
    fn line(
        &mut self,
        line: &[u8],
        each: &mut impl FnMut(&[u8]) -> Result<Result<(), Diagnostic>, Failure>,
    ) -> Result<(), Failure> {
        self.number += 1;
        if line.first().is_none_or(u8::is_ascii_whitespace) && line.trim_ascii().is_empty() {
            return Ok(());
        }
        if let Err(error) = each(line)? {
            self.list(line, &error);
        }
        Ok(())
    }

    #[cold]
    fn list(&mut self, line: &[u8], error: &Diagnostic) {
        self.wrong += 1;
        if !self.lists_all && self.wrong > LISTED_MAX {
            return;
        }
        // Each byte is shown as one character, so that the caret points to the byte with the error.
        let shown = &line[..line.len().min(SHOWN_MAX.max(error.span.end))];
        let plain = |&byte: &u8| if matches!(byte, b' '..=b'~') { char::from(byte) } else { ' ' };
        let text: String = shown.trim_ascii_end().iter().map(plain).collect();
        drawn_message(&rendered(error, &text, "standard input", self.number));
    }

    #[cold]
    fn too_long(&mut self) {
        self.wrong += 1;
        if self.lists_all || self.wrong <= LISTED_MAX {
            message!("error: line {} has {BATCH_BYTES} bytes or more: expected a FEN", self.number);
        }
    }

    /// Prints the number of invalid lines that were not listed. Returns the total number of invalid lines.
    pub(super) fn print_unlisted(&self) -> u64 {
        if !self.lists_all && self.wrong > LISTED_MAX {
            message!("{} more wrong lines are not listed: -v lists all", grouped(self.wrong - LISTED_MAX));
        }
        self.wrong
    }
}
