//! Stretches of text that begin and end at game boundaries, and how they are cut.

use memchr::memrchr2;

use super::decode::{Decoder, WholeBytes};
use super::opening::{self, FirstBytes};
use super::parse::{GameParser, ParseOptions};
use super::tokenizer::{self, Event, Tokenizer};
use super::{Game, Options, lex};
use orbit_core::fen;

/// What a source holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SourceKind {
    /// Games.
    Pgn,
    /// Positions, one a line: FEN, or EPD with operations.
    Epd,
}

/// A stretch of one source.
#[derive(Clone, Debug)]
pub struct SourceText {
    /// Index into [`Sources::sources`](super::Sources::sources).
    pub source: u32,
    /// Offset of the first byte in the decompressed source.
    pub offset: u64,
    /// The text.
    pub bytes: Vec<u8>,
    /// How to read it.
    pub kind: SourceKind,
    /// True if the source ends with it, as far as is known: one that was left for a fault goes on.
    pub is_last: bool,
}

/// Texts of one or more sources, in order: the unit of work of one thread.
#[derive(Clone, Debug)]
pub struct Chunk {
    /// Position of this chunk among all, from 0.
    pub index: u64,
    /// The texts, at most one of each source. Many small sources share a chunk, a large one fills
    /// many.
    pub texts: Vec<SourceText>,
    pub(super) game_bytes_max: usize,
}

impl Chunk {
    /// Bytes after which a game is cut.
    pub fn game_bytes_max(&self) -> usize {
        self.game_bytes_max
    }

    /// Texts that were cut before.
    pub fn of_texts(texts: Vec<SourceText>, game_bytes_max: usize) -> Chunk {
        Chunk { index: 0, texts, game_bytes_max }
    }

    /// Reads every game in order and hands it, with its source, to `on_game`. The [`Game`] is
    /// overwritten by the next one. Its number counts from 1 *within its stretch*: to number the games of a source, add
    /// what earlier stretches of the same source held.
    ///
    /// Returns how many side lines (variations) were passed over.
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

/// Cuts one source into stretches.
pub(super) struct Cutter {
    source: u32,
    decoder: Decoder,
    /// Bytes that no text holds yet.
    buffer: Vec<u8>,
    /// Offset of the buffer's first byte.
    offset: u64,
    at_end: bool,
    has_failed: bool,
    kind: Option<SourceKind>,
    /// After a game that was cut for its length: text is dropped up to the next line that is a tag
    /// pair. Tells whether the buffer begins a line.
    dropping: Option<bool>,
}

/// What to do with a buffer that holds no boundary at a line start.
enum ForcedCut {
    /// Cut here.
    At(usize),
    /// Read on until it holds this many bytes.
    Want(usize),
}

/// Why a source was left, and where.
pub(super) struct ChunkFailure {
    pub(super) offset: u64,
    pub(super) reason: String,
    pub(super) kind: FailureKind,
}

/// Whether a source that was left may hold games.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FailureKind {
    /// It may.
    Unread,
    /// It is something else.
    NoGames,
}

/// Bytes that a tokenizer wants to see after a boundary inside a line: the name of a tag, a word.
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

    /// Offset of the bytes that no text holds yet.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// What is known of the raw source, if it was read to its end.
    pub(super) fn whole(&self) -> Option<WholeBytes> {
        self.decoder.whole()
    }

    /// Whether nothing is left.
    pub(super) fn is_done(&self) -> bool {
        self.at_end && self.buffer.is_empty()
    }

    /// The next stretch, of about `options.chunk_bytes`, or `None` at the end. A failure ends the
    /// source, after the stretch that holds what was read before it.
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

    /// Decides what the source holds, by its first line that is neither empty nor begins with `#`. It reads the
    /// head of the text and no more, so that a fault behind the head counts in no decision, whatever the size of chunks.
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
            // A text that ends with a failure may go on with games.
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

    /// Leaves the source, of which nothing is kept.
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

    /// The last boundary that the tokenizer finds in the buffer's whole lines.
    fn last_start(&self, options: &Options) -> Option<usize> {
        let lines = &self.buffer[..last_line_end(&self.buffer)?];
        last_start(lines, options, |at| tokenizer::may_cut(lines, at))
    }

    /// Where to cut a text that is longer than any game may be and has no boundary at a line start.
    /// The tokenizer cuts a game at `game_bytes_max`; what follows is dropped here just as the tokenizer
    /// passes it over. A text that shows no game at all is left: it is hardly PGN.
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
            // Games without a single line end between them.
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
            // A line without end, or one whose end is not read yet.
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

/// One past the last line end.
fn last_line_end(text: &[u8]) -> Option<usize> {
    memrchr2(b'\n', b'\r', text).map(|at| at + 1)
}
