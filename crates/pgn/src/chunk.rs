//! Cuts the text of sources at game boundaries. A *stretch* is a piece of one source's text that consists of whole games.

use memchr::memrchr2;

use super::decode::{Decoder, WholeBytes};
use super::opening::{self, FirstBytes};
use super::parse::{GameParser, ParseOptions};
use super::tokenizer::{self, Event, Tokenizer};
use super::{Game, Options, lex};
use orbit_core::fen;

/// The format of a source's content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SourceKind {
    /// Games in PGN.
    Pgn,
    /// Positions, one per line: FEN, or EPD with operations.
    Epd,
}

/// A stretch: a piece of one source's text that consists of whole games.
#[derive(Clone, Debug)]
pub struct SourceText {
    /// The index of the source in [`Sources::sources`](super::Sources::sources).
    pub source: u32,
    /// The offset of the text's first byte in the decompressed source.
    pub offset: u64,
    /// The text.
    pub bytes: Vec<u8>,
    /// The format of the text.
    pub kind: SourceKind,
    /// True if this is known to be the last stretch (piece of text) of its source. False if the source could not be read to its
    /// end.
    pub is_last: bool,
}

/// Stretches (pieces of text) from one or more sources, in order. A chunk is the unit of parallel work: one thread reads all games
/// of a chunk.
#[derive(Clone, Debug)]
pub struct Chunk {
    /// The index of this chunk among all chunks, from 0.
    pub index: u64,
    /// The stretches (pieces of text), at most one from each source. Many small sources share a chunk, and a large source fills
    /// many chunks.
    pub texts: Vec<SourceText>,
    pub(super) game_bytes_max: usize,
}

impl Chunk {
    /// Returns the maximum length of a game in bytes. Longer games are cut: see [`Options::game_bytes_max`].
    pub fn game_bytes_max(&self) -> usize {
        self.game_bytes_max
    }

    /// Creates a chunk from texts that begin and end at game boundaries.
    pub fn from_texts(texts: Vec<SourceText>, game_bytes_max: usize) -> Chunk {
        Chunk { index: 0, texts, game_bytes_max }
    }

    /// Reads all games in order, and calls `on_game` with the source and the [`Game`] of each. One `Game` value is reused for all
    /// games. Games are numbered from 1 *within their stretch* (piece of text). To number the games of a source, add the number of
    /// games in its earlier stretches.
    ///
    /// Returns the number of side lines (variations) that were skipped.
    pub fn parse(&self, options: &ParseOptions, on_game: &mut dyn FnMut(u32, &Game)) -> u64 {
        let mut parser = GameParser::new(options);
        let mut side_lines = 0;
        for text in &self.texts {
            let mut tell = |game: &Game| on_game(text.source, game);
            parser.is_last = text.is_last;
            match text.kind {
                SourceKind::Pgn => {
                    side_lines += parser.pgn(&text.bytes, text.offset, self.game_bytes_max, &mut tell);
                }
                SourceKind::Epd => parser.epd(&text.bytes, text.offset, &mut tell),
            }
        }
        side_lines
    }
}

/// Cuts the text of one source into stretches, which consist of whole games.
pub(super) struct Cutter {
    source: u32,
    decoder: Decoder,
    /// Bytes that were read but are not part of a stretch (a returned piece of text) yet.
    buffer: Vec<u8>,
    /// The offset of the buffer's first byte in the source.
    offset: u64,
    at_end: bool,
    has_failed: bool,
    kind: Option<SourceKind>,
    /// `Some` after an overlong game was cut: the text up to the next line with a tag pair is then dropped. The value is true if
    /// the buffer begins at the start of a line.
    dropping: Option<bool>,
}

/// The next step if no game begins at the start of a line in the buffer.
enum ForcedCut {
    /// Cut the text at this index of the buffer.
    At(usize),
    /// Read more text, until the buffer contains at least this many bytes.
    Want(usize),
}

/// The reason why reading a source failed, and the offset in the source at which reading ended.
pub(super) struct ChunkFailure {
    pub(super) offset: u64,
    pub(super) reason: String,
    pub(super) kind: FailureKind,
}

/// The kind of a failure, which depends on whether the unread part of the source may contain games.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FailureKind {
    /// The unread part of the source may contain games.
    Unread,
    /// The text read so far shows that the source does not contain games.
    NoGames,
}

/// The number of bytes that the tokenizer needs after a game boundary within a line, in order to read a tag name or a movetext
/// token.
const LOOKAHEAD: usize = 256;

impl Cutter {
    pub(super) fn new(source: u32, decoder: Decoder) -> Cutter {
        Cutter {
            source,
            decoder,
            buffer: Vec::new(),
            offset: 0,
            at_end: false,
            has_failed: false,
            kind: None,
            dropping: None,
        }
    }

    pub(super) fn source(&self) -> u32 {
        self.source
    }

    /// Returns the offset of the first byte that is not yet part of a stretch (a returned piece of text).
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the size and the hashes of the source before decompression, if it was read to its end.
    pub(super) fn whole(&self) -> Option<WholeBytes> {
        self.decoder.whole()
    }

    pub(super) fn is_done(&self) -> bool {
        self.at_end && self.buffer.is_empty()
    }

    /// Returns the next stretch (piece of text with whole games), of about `options.chunk_bytes` bytes, or `None` at the end. If
    /// the source cannot be read further, the text before the failure is the last stretch.
    pub(super) fn next(
        &mut self,
        options: &Options,
        on_failure: &mut dyn FnMut(ChunkFailure),
    ) -> Option<SourceText> {
        let mut want = options.chunk_bytes.max(1);
        loop {
            let Some(kind) = self.kind else {
                self.kind = Some(self.sniff(on_failure)?);
                continue;
            };
            self.fill(want, on_failure);
            if self.dropping.is_some() {
                self.drop_text();
                if self.dropping.is_some() && self.at_end {
                    return None;
                }
                let dropping = self.dropping.is_some();
                if dropping || self.buffer.len() < want && !self.at_end {
                    want = if dropping { self.buffer.len() } else { 0 } + options.chunk_bytes.max(1);
                    continue;
                }
            }
            if self.at_end {
                let rest = std::mem::take(&mut self.buffer);
                return (!rest.is_empty()).then(|| self.text(rest, kind));
            }
            let cut = match kind {
                SourceKind::Epd => last_line_end(&self.buffer).filter(|&cut| cut > 0),
                SourceKind::Pgn => {
                    tokenizer::last_event_line(&self.buffer).or_else(|| self.last_start(options))
                }
            };
            let cut = match cut {
                Some(cut) => cut,
                None if self.buffer.len() < options.game_bytes_max => {
                    want = (2 * want).min(options.game_bytes_max.max(want + 1));
                    continue;
                }
                None => match self.forced_cut(kind, options, on_failure)? {
                    ForcedCut::At(cut) => cut,
                    ForcedCut::Want(more) => {
                        want = more;
                        continue;
                    }
                },
            };
            let rest = self.buffer.split_off(cut);
            let bytes = std::mem::replace(&mut self.buffer, rest);
            return Some(self.text(bytes, kind));
        }
    }

    fn text(&mut self, bytes: Vec<u8>, kind: SourceKind) -> SourceText {
        let offset = self.offset;
        self.offset += bytes.len() as u64;
        let is_last = self.at_end && self.buffer.is_empty() && !self.has_failed;
        SourceText { source: self.source, offset, bytes, kind, is_last }
    }

    fn fill(&mut self, want: usize, on_failure: &mut dyn FnMut(ChunkFailure)) {
        if self.at_end {
            return;
        }
        match self.decoder.fill(&mut self.buffer, want) {
            Ok(more) => self.at_end = !more,
            Err(reason) => {
                (self.at_end, self.has_failed) = (true, true);
                let offset = self.offset + self.buffer.len() as u64;
                on_failure(ChunkFailure { offset, reason, kind: FailureKind::Unread });
            }
        }
    }

    /// Determines the format of the source from the first line that is not empty and does not begin with `#`. Only the head of the
    /// text is examined, so neither the chunk size nor a fault after the head affects the result.
    fn sniff(&mut self, on_failure: &mut dyn FnMut(ChunkFailure)) -> Option<SourceKind> {
        const HEAD: usize = 64 << 10;
        let mut want = 256;
        loop {
            self.fill(want, on_failure);
            if let Some(reason) = super::decode::refusal(&self.buffer, self.decoder.is_remote) {
                return self.refuse(reason, FailureKind::Unread, on_failure);
            }
            let text = self.buffer.strip_prefix(lex::BOM).unwrap_or(&self.buffer);
            let mut lines = text.split(|byte| matches!(byte, b'\n' | b'\r')).peekable();
            while let Some(line) = lines.next() {
                let line = line.trim_ascii();
                let is_whole = lines.peek().is_some() || self.at_end || self.buffer.len() >= HEAD;
                if is_whole && !line.is_empty() && line[0] != b'#' && fen::is_position(line) {
                    return Some(SourceKind::Epd);
                }
                if is_whole && !line.is_empty() && line[0] != b'#' {
                    break;
                }
            }
            let is_all = self.at_end || self.buffer.len() >= HEAD;
            let end =
                if is_all { self.buffer.len().min(HEAD) } else { last_line_end(&self.buffer).unwrap_or(0) };
            let opening = opening::opening(&self.buffer[..end]);
            // If reading failed, the unread rest of the text may contain games, so the source is not refused for having no games.
            if is_all
                && !self.has_failed
                && let Some(reason) = opening.refusal()
            {
                return self.refuse(reason, FailureKind::NoGames, on_failure);
            }
            if is_all || opening == FirstBytes::Games {
                return Some(SourceKind::Pgn);
            }
            want = (2 * want).min(HEAD);
        }
    }

    /// Stops reading the source and drops the text in the buffer.
    fn refuse(
        &mut self,
        reason: &str,
        kind: FailureKind,
        on_failure: &mut dyn FnMut(ChunkFailure),
    ) -> Option<SourceKind> {
        self.at_end = true;
        self.buffer.clear();
        on_failure(ChunkFailure { offset: self.offset, reason: reason.to_owned(), kind });
        None
    }

    /// Returns the offset of the last game boundary in the complete lines of the buffer.
    fn last_start(&self, options: &Options) -> Option<usize> {
        let lines = &self.buffer[..last_line_end(&self.buffer)?];
        last_start(lines, options, |at| tokenizer::may_cut(lines, at))
    }

    /// Returns the place to cut a text longer than `game_bytes_max` in which no game begins at the start of a line. The tokenizer
    /// cuts a game at this length and skips the rest, so the rest is dropped here. If no game begins in the text at all, the source
    /// is probably not PGN and is not read further.
    fn forced_cut(
        &mut self,
        kind: SourceKind,
        options: &Options,
        on_failure: &mut dyn FnMut(ChunkFailure),
    ) -> Option<ForcedCut> {
        let cap = options.game_bytes_max;
        if kind == SourceKind::Epd {
            return Some(ForcedCut::At(cap.min(self.buffer.len())));
        }
        let length = self.buffer.len();
        let Some(start) = last_start(&self.buffer, options, |_| true) else {
            self.at_end = true;
            self.buffer.clear();
            let reason = format!("no game begins within {cap} bytes: check that it is PGN");
            on_failure(ChunkFailure { offset: self.offset, reason, kind: FailureKind::NoGames });
            return None;
        };
        if start > 0 && start + LOOKAHEAD < length {
            // The buffer contains several games on one line, so the cut is within this line.
            return Some(ForcedCut::At(start));
        }
        if length < start + cap + LOOKAHEAD {
            return Some(ForcedCut::Want(start + cap + LOOKAHEAD));
        }
        let cut = last_line_end(&self.buffer).filter(|&cut| cut >= start + cap).unwrap_or(length);
        self.dropping = Some(matches!(self.buffer[cut - 1], b'\n' | b'\r'));
        Some(ForcedCut::At(cut))
    }

    fn drop_text(&mut self) {
        let Some(fresh) = self.dropping else { return };
        let whole = if self.at_end { self.buffer.len() } else { last_line_end(&self.buffer).unwrap_or(0) };
        let (drop, dropping) = match tokenizer::resync(&self.buffer[..whole], 0, fresh) {
            Some(at) => (at, None),
            None if whole > 0 => (whole, Some(true)),
            // The buffer has neither a line with a tag pair nor a line end: the line is very long, or its end has not been read
            // yet.
            None if fresh && self.buffer.len() < LOOKAHEAD => (0, Some(true)),
            None => (self.buffer.len(), Some(false)),
        };
        self.buffer.drain(..drop);
        self.offset += drop as u64;
        self.dropping = dropping;
    }
}

fn last_start(text: &[u8], options: &Options, allowed: impl Fn(usize) -> bool) -> Option<usize> {
    let starts = Tokenizer::partial(text, options.game_bytes_max).filter_map(|event| match event {
        Event::Start(at) if allowed(at) => Some(at),
        _ => None,
    });
    starts.last()
}

/// Returns the index after the last line end in a text.
fn last_line_end(text: &[u8]) -> Option<usize> {
    memrchr2(b'\n', b'\r', text).map(|at| at + 1)
}
