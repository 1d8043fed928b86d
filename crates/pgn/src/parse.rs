//! Builds games from the tokenizer's events.

use shakmaty::{Color, Position as _};

use super::lex::{self, ByteRange};
use super::quick;
use super::resolve::{self, Misfit};
use super::san::{self, SanShape};
use super::start::{self, VariantRules, text};
use super::tokenizer::{Event, PlainMove, StructureError, Tokenizer};
use super::tree::{Loss, SideLines, comment};
use super::{AnnotationKind, Game, GameStatus, Outcome, ReadFault, Tag};
use orbit_core::board::{PackedMove, Position};
use orbit_core::fen::ListLine;
use orbit_core::game::fen_counter;
use orbit_core::isa::Isa;
use orbit_core::text::is_same;

/// The parts of each game to keep.
#[derive(Clone, Debug)]
pub struct ParseOptions {
    /// True to keep tag pairs. Reading without them is a little faster.
    pub tags: bool,
    /// True to keep side lines.
    pub variations: bool,
    /// True to keep comments and glyphs. This has an effect only if `variations` is also true.
    pub annotations: bool,
}

impl Default for ParseOptions {
    fn default() -> ParseOptions {
        ParseOptions { tags: true, variations: false, annotations: false }
    }
}

/// The position in which the next move is played, or the reason why no move can be played.
enum ParserBoard {
    /// The start position has not been set up yet, since more tags may follow.
    Unset,
    Legal(Position),
    /// An illegal position, which arises if a side in check plays a null move.
    Loose(Position),
    /// The start position from which no moves can be played, for the given reason.
    Unplayable(&'static str),
    /// The game was cut or skipped.
    Dead,
}

/// Selects the fast paths for plain text. The selection does not affect the resulting games.
#[derive(Clone, Copy, Debug)]
pub(super) struct QuickWays {
    /// True to use the fast path that reads tokens and tag pairs one by one.
    pub(super) plain: bool,
    /// The instruction set for the fastest path, which reads several tokens of a 64-byte block together. `None` turns this path
    /// off.
    pub(super) quick: Option<Isa>,
}

/// The ranges of a game's parts within its text.
#[derive(Default)]
pub(super) struct TextPlaces {
    /// The name range and the value range of each tag. The value range excludes the quotes.
    pub(super) tags: Vec<(ByteRange, ByteRange)>,
    /// The start of the movetext.
    pub(super) movetext: Option<usize>,
    pub(super) words: Vec<WordPlace>,
    /// The comments after moves, and the comments before the first move. Each has its node (position number) and its range without
    /// delimiters. Comments before the first move of a side line are not included.
    pub(super) comments: Vec<(u32, ByteRange)>,
    /// The number and the range of each glyph, except glyphs after a token that was not kept.
    pub(super) glyphs: Vec<(u16, ByteRange)>,
}

/// A move in the text of a game.
pub(super) struct WordPlace {
    /// The node (position number) to which the move leads.
    pub(super) node: u32,
    /// The start of the move's token.
    pub(super) start: usize,
    /// The end of the move's token, including glyphs that follow it directly.
    pub(super) end: usize,
    /// The number of half-moves before the move, counted from move 1 even if the game begins later.
    pub(super) halves: u32,
    pub(super) in_side_line: bool,
}

impl ParserBoard {
    fn position(&self) -> Option<Position> {
        match self {
            ParserBoard::Legal(position) | ParserBoard::Loose(position) => Some(*position),
            ParserBoard::Unset | ParserBoard::Unplayable(_) | ParserBoard::Dead => None,
        }
    }
}

/// A reader of the games of a text. It reuses its buffers from game to game.
pub(super) struct GameParser<'a> {
    text: &'a [u8],
    /// The offset of `text` in its source.
    base: u64,
    /// True if the source ends with `text`.
    pub(super) is_last: bool,
    options: &'a ParseOptions,
    ways: QuickWays,
    blocks: quick::Blocks,
    game: Game,
    /// The number of tags in `game.tags` that belong to the current game. Later tags are left over from earlier games, for reuse of
    /// their memory.
    tags: usize,
    /// Tags left over from earlier games that the current game does not need. Their memory is reused.
    spare: Vec<Tag>,
    fen: Vec<u8>,
    has_fen: bool,
    variant: Option<Vec<u8>>,
    board: ParserBoard,
    /// The boards of the lines that enclose the current line, outermost first. When the current line ends, the last of them becomes
    /// the board again.
    outer: Vec<ParserBoard>,
    /// Side lines and annotations, if they are kept.
    tree: SideLines,
    open: bool,
    done: bool,
    /// True if the current game has a note about unusual text.
    is_repaired: bool,
}

impl<'a> GameParser<'a> {
    pub(super) fn new(options: &'a ParseOptions) -> GameParser<'a> {
        GameParser::by(options, QuickWays { plain: true, quick: Some(Isa::detected()) })
    }

    pub(super) fn by(options: &'a ParseOptions, ways: QuickWays) -> GameParser<'a> {
        GameParser {
            text: &[],
            base: 0,
            is_last: false,
            options,
            ways,
            blocks: quick::Blocks::EMPTY,
            game: Game::default(),
            tags: 0,
            spare: Vec::new(),
            fen: Vec::new(),
            has_fen: false,
            variant: None,
            board: ParserBoard::Unset,
            outer: Vec::new(),
            tree: SideLines::default(),
            open: false,
            done: false,
            is_repaired: false,
        }
    }

    /// Reads all games of a PGN text. Returns the number of side lines that were left out.
    pub(super) fn pgn(
        &mut self,
        text: &'a [u8],
        base: u64,
        cap: usize,
        on_game: &mut dyn FnMut(&Game),
    ) -> u64 {
        self.text = text;
        self.base = base;
        self.clear(0);
        if self.options.variations {
            return self.trees(text, cap, on_game);
        }
        let mut tokenizer = Tokenizer::new(text, cap);
        loop {
            self.plain(&mut tokenizer);
            let Some(event) = tokenizer.next() else { break };
            self.take_repair(&event, &mut tokenizer);
            self.take(event, on_game);
        }
        self.end();
        self.finish(on_game);
        tokenizer.side_lines()
    }

    fn trees(&mut self, text: &'a [u8], cap: usize, on_game: &mut dyn FnMut(&Game)) -> u64 {
        let mut kept = 0;
        let mut on_game = |game: &Game| {
            kept += game.lines.len() as u64;
            on_game(game);
        };
        let mut tokenizer = Tokenizer::whole(text, cap);
        loop {
            // The fast paths read only the moves of a main line, and no annotations.
            let is_cut = matches!(self.board, ParserBoard::Dead);
            if !self.options.annotations && self.outer.is_empty() && !is_cut && !tokenizer.has_repair() {
                self.plain(&mut tokenizer);
            }
            let Some(event) = tokenizer.next() else { break };
            self.take_repair(&event, &mut tokenizer);
            self.take(event, &mut on_game);
        }
        self.end();
        self.finish(&mut on_game);
        tokenizer.side_lines().saturating_sub(kept)
    }

    /// Reads the first game of a text with its side lines, and returns the ranges of its kept parts.
    pub(super) fn first_game(&mut self, text: &'a [u8]) -> TextPlaces {
        self.text = text;
        self.base = 0;
        self.clear(0);
        let mut tokenizer = Tokenizer::whole(text, usize::MAX);
        let mut places = TextPlaces::default();
        let mut words: Vec<(usize, u32, ByteRange)> = Vec::new();
        let mut comments: Vec<(usize, u32, ByteRange)> = Vec::new();
        let mut is_behind_word = false;
        while let Some(event) = tokenizer.next() {
            if self.open && matches!(event, Event::Start(_)) {
                break;
            }
            let before = self.moves_here();
            self.take(event.clone(), &mut |_| {});
            // An unclosed comment or variation extends to the end of the game. If no move precedes it, it is the start of the
            // movetext.
            let open = if let Event::Fault(at, _) = event { Some(at) } else { None };
            places.movetext = places.movetext.or(tokenizer.movetext()).or(open);
            let here = self.moves_here().filter(|_| !matches!(self.board, ParserBoard::Dead));
            let is_glyph = matches!(event, Event::Glyph(..));
            is_behind_word &= is_glyph;
            match (event, here) {
                (Event::Tag { name, value, .. }, _) => places.tags.push((name, value)),
                (Event::Word(word), Some((line, moves))) if before.is_some_and(|before| before.1 < moves) => {
                    places.glyphs.extend(suffix(text, &word));
                    words.push((line, moves, word));
                    is_behind_word = true;
                }
                (Event::Glyph(glyph, at), Some(_)) => {
                    if let Some((.., word)) = words.last_mut().filter(|_| is_behind_word) {
                        word.end = at.end;
                    }
                    places.glyphs.push((glyph, at));
                }
                (Event::Comment(at), Some((line, moves))) if line == 0 || moves > 0 => {
                    comments.push((line, moves, at));
                }
                _ => {}
            }
        }
        self.set_up();
        self.finish_tree();
        let node = |line, moves| self.tree.node(line, moves);
        let before = self.halves_before();
        let word = |(line, moves, word): (usize, u32, ByteRange)| WordPlace {
            node: node(line, moves),
            start: word.start,
            end: word.end,
            halves: before + self.tree.ply(line, moves) - 1,
            in_side_line: line > 0,
        };
        places.words = words.into_iter().map(word).collect();
        places.comments = comments.into_iter().map(|(line, moves, at)| (node(line, moves), at)).collect();
        places
    }

    /// Returns the number of half-moves before the start position, according to the counters of its FEN.
    fn halves_before(&self) -> u32 {
        let full = orbit_core::fen::counters(&self.fen)[1].and_then(fen_counter).unwrap_or(1).max(1);
        let black_begins =
            self.game.positions.first().is_some_and(|start| start.state.turn() == Color::Black);
        2 * (full - 1) + u32::from(black_begins)
    }

    /// Returns the index of the current line (0 for the main line), and the number of moves of this line so far.
    fn moves_here(&self) -> Option<(usize, u32)> {
        self.tree.line().map(|line| (line, self.tree.len(line, self.game.moves.len())))
    }

    #[inline]
    fn take(&mut self, event: Event, on_game: &mut dyn FnMut(&Game)) {
        match event {
            Event::Start(at) => {
                self.finish(on_game);
                self.begin(at);
            }
            Event::Tag { name, value, escaped } => self.tag(name, value, escaped),
            Event::Word(word) => self.word(word),
            Event::End(outcome) => {
                self.leave_lines();
                self.game.outcome = outcome;
                self.done = true;
            }
            Event::Fault(at, trouble) => self.trouble(at, trouble),
            Event::Open(_) | Event::Close | Event::Comment(_) | Event::Glyph(..) => self.take_tree(event),
        }
    }

    /// Adds a note if the tokenizer read unusual text before a move or the result of the main line. Unusual text before other
    /// tokens does not count, because the text may be divided into chunks there.
    fn take_repair(&mut self, event: &Event, tokenizer: &mut Tokenizer<'_>) {
        let is_known =
            matches!(event, Event::Word(_)) && self.outer.is_empty() || matches!(event, Event::End(_));
        if is_known && let Some((at, reason)) = tokenizer.take_repair() {
            self.repaired(at, reason);
        }
    }

    /// Adds a note that unusual text was read like its usual form, unless the game already has such a note.
    #[cold]
    fn repaired(&mut self, at: usize, reason: &str) {
        self.set_up();
        let is_played = matches!(self.board, ParserBoard::Legal(_) | ParserBoard::Loose(_));
        if is_played && !std::mem::replace(&mut self.is_repaired, true) {
            self.game.notes.push(self.fault(at, reason.to_owned()));
        }
    }

    /// Handles the events for side lines, comments and glyphs, which only a tokenizer from [`Tokenizer::whole`] yields.
    #[cold]
    fn take_tree(&mut self, event: Event) {
        self.set_up();
        if matches!(self.game.status, GameStatus::Skipped(_)) {
            return;
        }
        let played = self.game.moves.len();
        // Glyphs and comments after a token that was not kept are dropped, since they do not refer to the moves before that token.
        let keeps = self.options.annotations && !matches!(self.board, ParserBoard::Dead);
        match event {
            Event::Open(at) if self.done => self.lose(Loss::AfterResult, at, ""),
            Event::Open(at) => self.open_line(at),
            Event::Close if !self.done => self.close_line(),
            Event::Comment(range) if keeps => self.remark(comment(self.text, range), played),
            Event::Glyph(glyph, _) if keeps => self.remark(AnnotationKind::Nag(glyph), played),
            _ => {}
        }
    }

    fn remark(&mut self, kind: AnnotationKind, played: usize) {
        let game = (self.game.offset - self.base) as usize;
        self.tree.remark(game, kind, played);
    }

    fn open_line(&mut self, at: usize) {
        let is_cut = matches!(self.board, ParserBoard::Dead | ParserBoard::Unplayable(_));
        let Some(opened) = self.tree.open(at, is_cut, &self.game.positions) else { return };
        let board = match opened {
            Ok(position) => board_of(position),
            Err(loss) => {
                self.lose(loss, at, "");
                ParserBoard::Dead
            }
        };
        self.outer.push(std::mem::replace(&mut self.board, board));
    }

    fn close_line(&mut self) {
        let Some(empty) = self.tree.close() else { return };
        if let Some(board) = self.outer.pop() {
            self.board = board;
        }
        if let Some(at) = empty {
            self.lose(Loss::Empty, at, "");
        }
    }

    /// Ends all open side lines, so that the main line continues.
    fn leave_lines(&mut self) {
        self.tree.leave_left_out();
        while !self.outer.is_empty() {
            self.close_line();
        }
    }

    fn lose(&mut self, loss: Loss, at: usize, why: &str) {
        let ply = self.game.moves.len() as u32;
        self.tree.lose(loss, at, ply, why);
    }

    /// Reads all positions of a FEN or EPD list.
    pub(super) fn epd(&mut self, text: &'a [u8], base: u64, on_game: &mut dyn FnMut(&Game)) {
        self.text = text;
        self.base = base;
        self.clear(0);
        let mut at = 0;
        while at < text.len() {
            let end = memchr::memchr2(b'\n', b'\r', &text[at..]).map_or(text.len(), |skip| at + skip);
            let line = &text[at..end];
            let line = line.strip_prefix(super::lex::BOM).unwrap_or(line);
            let blanks = line.iter().take_while(|&&byte| byte.is_ascii_whitespace() || byte == 0).count();
            if line.len() > blanks && line[blanks] != b'#' {
                self.begin(end - line.len() + blanks);
                self.epd_line(&line[blanks..]);
                self.finish(on_game);
            }
            at = end + 1;
        }
    }

    /// Reads one line of a FEN or EPD list. The operation `id` becomes the tag `Event`, and other operations become tags with their
    /// own names. The counters of a FEN become the tags `hmvc` and `fmvn`, unless they are 0 and 1.
    fn epd_line(&mut self, line: &[u8]) {
        let line = ListLine::split(line);
        if self.options.tags {
            let [clock, number] = line.counters;
            for (name, counter, usual) in [(&b"hmvc"[..], clock, &b"0"[..]), (b"fmvn", number, b"1")] {
                if let Some(counter) = counter.filter(|&counter| counter != usual) {
                    self.push_tag(name, counter, true);
                }
            }
            for (name, value) in line.operations() {
                self.push_tag(if name == b"id" { b"Event" } else { name }, value, true);
            }
        }
        self.fen.extend_from_slice(line.position);
        self.has_fen = true;
    }

    /// Resets `game` for the game with this number.
    fn clear(&mut self, number: u32) {
        let game = &mut self.game;
        game.number = number;
        game.start = None;
        game.moves.clear();
        game.positions.clear();
        game.lines.clear();
        game.annotations.clear();
        game.outcome = Outcome::Unknown;
        game.status = GameStatus::Whole;
        game.notes.clear();
        game.lost.clear();
        self.tags = 0;
        self.fen.clear();
        self.has_fen = false;
        self.variant = None;
        self.board = ParserBoard::Unset;
        if self.options.variations {
            self.outer.clear();
            self.tree.clear();
        }
        self.open = false;
        self.done = false;
        self.is_repaired = false;
    }

    fn begin(&mut self, at: usize) {
        self.open = true;
        self.game.number += 1;
        self.game.offset = self.base + at as u64;
    }

    /// Adds a note if the source ends after moves without a result, or within a tag pair. For instance, the file may have been cut
    /// between two tokens.
    fn end(&mut self) {
        if !self.open || self.done || !self.is_last || self.game.status != GameStatus::Whole {
            return;
        }
        let end = self.text.trim_ascii_end().len();
        let (at, reason) = match lex::open_tag(&self.text[..end]) {
            _ if !self.game.moves.is_empty() => {
                (end, "the last game has no result and counts as `*`: the file may be cut off")
            }
            Some(at) => (at, "the last tag pair has no `]`: the file may be cut off"),
            None => return,
        };
        self.game.notes.push(self.fault(at, reason.to_owned()));
    }

    fn finish(&mut self, on_game: &mut dyn FnMut(&Game)) {
        if self.open {
            self.set_up();
            if self.options.variations {
                self.finish_tree();
            }
            self.spare.extend(self.game.tags.drain(self.tags..));
            on_game(&self.game);
            self.clear(self.game.number);
        }
    }

    fn finish_tree(&mut self) {
        self.leave_lines();
        let GameParser { tree, game, base, .. } = self;
        let Game { moves, lines, annotations, lost, .. } = game;
        tree.finish(moves.len(), lines, annotations, |at, ply, reason| {
            lost.push(ReadFault { offset: *base + at as u64, ply, reason });
        });
    }

    fn tag(&mut self, name: ByteRange, value: ByteRange, escaped: bool) {
        let (name, value) = (&self.text[name], &self.text[value]);
        if !self.has_fen && name.eq_ignore_ascii_case(b"FEN") {
            unescape(value, &mut self.fen);
            self.has_fen = true;
        } else if self.variant.is_none() && name.eq_ignore_ascii_case(b"Variant") {
            let mut variant = Vec::new();
            unescape(value, &mut variant);
            self.variant = Some(variant);
        }
        if self.options.tags {
            self.push_tag(name, value, escaped);
        }
    }

    fn push_tag(&mut self, name: &[u8], value: &[u8], escaped: bool) {
        let tags = &mut self.game.tags;
        if tags.len() == self.tags {
            tags.push(self.spare.pop().unwrap_or_default());
        }
        let tag = &mut tags[self.tags];
        self.tags += 1;
        // `tag` may be left over from an earlier game. Most games have the same tags in the same order, so it usually has this name
        // already.
        if !is_same(&tag.name, name) {
            tag.name.clear();
            tag.name.extend_from_slice(name);
        }
        tag.value.clear();
        if escaped {
            unescape(value, &mut tag.value);
        } else {
            tag.value.extend_from_slice(value);
        }
    }

    fn fault(&self, at: usize, reason: String) -> ReadFault {
        ReadFault { offset: self.base + at as u64, ply: self.game.moves.len() as u32, reason }
    }

    fn cut(&mut self, at: usize, reason: String) {
        self.game.status = GameStatus::Cut(self.fault(at, reason));
        self.board = ParserBoard::Dead;
    }

    fn trouble(&mut self, at: usize, trouble: StructureError) {
        let reason = match trouble {
            StructureError::OpenComment => String::from("comment is not closed"),
            StructureError::OpenVariation => String::from("variation is not closed"),
            StructureError::TooLong(cap) => format!("game is longer than {cap} bytes"),
        };
        self.leave_lines();
        self.set_up();
        let dead = matches!(self.board, ParserBoard::Dead);
        if !self.done && !dead && self.base + at as u64 == self.game.offset {
            self.skip(at, reason);
        } else if !self.done && !dead {
            self.cut(at, reason);
        } else {
            // This fault is only a note, since the result was already read, or the game was already cut or skipped.
            let fault = self.fault(at, reason);
            self.game.notes.push(fault);
        }
    }

    /// Sets up the start position. This must happen after all tags of the game have been read.
    fn set_up(&mut self) {
        if !matches!(self.board, ParserBoard::Unset) {
            return;
        }
        let at = (self.game.offset - self.base) as usize;
        let has_fen = self.has_fen && !self.fen.iter().all(|byte| matches!(byte, b' ' | b'?' | b'-'));
        let rules = self.variant.as_deref().map_or(VariantRules::Standard, VariantRules::from_tag);
        let skip = match rules {
            VariantRules::Foreign => Some(format!(
                "variant {} is not supported",
                text(self.variant.as_deref().unwrap_or_default())
            )),
            VariantRules::Chess960 if !has_fen => {
                Some(String::from("a Chess960 game has no FEN to start from"))
            }
            _ => None,
        };
        if let Some(reason) = skip {
            return self.skip(at, reason);
        }
        if !has_fen {
            self.board = ParserBoard::Legal(Position::STANDARD);
            self.game.positions.push(Position::STANDARD);
            return;
        }
        let offset = self.game.offset;
        let notes = &mut self.game.notes;
        match start::read(&self.fen, rules, &mut |reason| notes.push(ReadFault { offset, ply: 0, reason })) {
            Ok(start) => {
                self.game.start = Some(start.position).filter(|start| *start != Position::STANDARD);
                self.game.positions.push(start.position);
                self.board = match start.playable {
                    Ok(()) => ParserBoard::Legal(start.position),
                    Err(reason) => ParserBoard::Unplayable(reason),
                };
            }
            Err(reason) => self.skip(at, reason.to_owned()),
        }
    }

    fn skip(&mut self, at: usize, reason: String) {
        self.game.status = GameStatus::Skipped(self.fault(at, reason));
        self.board = ParserBoard::Dead;
    }

    /// Reads tags or moves with the fast paths, up to the first text that they cannot read.
    fn plain(&mut self, tokenizer: &mut Tokenizer<'_>) {
        match self.board {
            _ if !self.ways.plain => {}
            ParserBoard::Legal(position) => self.plain_moves(position, tokenizer),
            ParserBoard::Dead => tokenizer.skip_plain(),
            ParserBoard::Unset => {
                // Most games have the tags of the previous game in the same order, so the next tag of that game is the likely name.
                while let Some((name, value)) =
                    tokenizer.plain_tag(self.game.tags.get(self.tags).map_or(b"", |tag| &tag.name[..]))
                {
                    self.tag(name, value, false);
                }
            }
            ParserBoard::Loose(_) | ParserBoard::Unplayable(_) => {}
        }
    }

    /// Plays moves with the fast paths, up to the first text that they cannot read. The position is passed by value to keep it in
    /// registers.
    #[inline(never)]
    fn plain_moves(&mut self, mut position: Position, tokenizer: &mut Tokenizer<'_>) {
        loop {
            if let (Some(level), Some((text, from))) = (self.ways.quick, tokenizer.plain_text()) {
                let Game { moves, positions, .. } = &mut self.game;
                let before = moves.len();
                let line = quick::QuickLine { moves, positions, blocks: &mut self.blocks };
                let (to, after) = quick::play(level, text, from, position, line);
                position = after;
                tokenizer.pass(to, self.game.moves.len() - before);
            }
            let Some(PlainMove { word, san }) = tokenizer.plain() else { break };
            match resolve::plain(san, position) {
                Ok(mv) => {
                    position.play(mv);
                    self.game.moves.push(mv);
                    self.game.positions.push(position);
                }
                Err(misfit) => {
                    self.board = ParserBoard::Legal(position);
                    return match tokenizer.with_promotion(&word) {
                        Some(word) => self.word(word),
                        None => self.misfit(word, misfit),
                    };
                }
            }
        }
        self.board = ParserBoard::Legal(position);
    }

    fn word(&mut self, range: ByteRange) {
        self.set_up();
        let word = &self.text[range.clone()];
        let shape = match &self.board {
            ParserBoard::Dead | ParserBoard::Unset => return,
            ParserBoard::Unplayable(reason) => {
                let reason = format!("{} cannot be played: {reason}", text(word));
                return self.cut_line(range.start, reason);
            }
            _ => SanShape::parse(word),
        };
        let Some(shape) = shape else {
            return self.cut_line(range.start, format!("{} is no move", text(word)));
        };
        let before = self.board.position();
        match self.play(shape) {
            Ok((mv, position)) => {
                if self.outer.is_empty()
                    && let Some(reason) = san::repair(word, shape)
                {
                    self.repaired(range.start, reason);
                }
                self.push(mv, before, position);
            }
            Err(misfit) => self.misfit(range.clone(), misfit),
        }
        if self.options.variations
            && self.options.annotations
            && !matches!(self.board, ParserBoard::Dead)
            && let Some(glyph) = lex::glyph(&self.text[range])
        {
            self.remark(AnnotationKind::Nag(glyph), self.game.moves.len());
        }
    }

    /// Adds a move to the current line, with the positions before and after it.
    fn push(&mut self, mv: PackedMove, before: Option<Position>, after: Position) {
        if self.outer.is_empty() {
            self.game.moves.push(mv);
            self.game.positions.push(after);
        } else if let (Some(line), Some(before)) = (self.tree.line(), before) {
            self.tree.push(line, mv, before);
        }
    }

    /// Ends the current line, a main line or a side line, at a token that is not a legal move.
    fn cut_line(&mut self, at: usize, reason: String) {
        if self.outer.is_empty() {
            return self.cut(at, reason);
        }
        let loss = self.tree.cut();
        self.lose(loss, at, &reason);
        self.board = ParserBoard::Dead;
    }

    #[cold]
    fn misfit(&mut self, word: ByteRange, misfit: Misfit) {
        let at = word.start;
        let word = text(&self.text[word]);
        let reason = match misfit {
            Misfit::Illegal => format!("{word} is illegal here"),
            Misfit::Ambiguous(origins) => {
                let origins: Vec<String> = origins.into_iter().map(|square| square.to_string()).collect();
                format!("{word} is ambiguous ({})", origins.join(", "))
            }
        };
        self.cut_line(at, reason);
    }

    /// Finds the legal move that a token denotes. Returns the move and the position after it.
    fn play(&mut self, shape: SanShape) -> Result<(PackedMove, Position), Misfit> {
        match &mut self.board {
            ParserBoard::Legal(position) if shape == SanShape::Null => {
                let passed = position.to_chess().ok().and_then(|chess| chess.swap_turn().ok());
                position.play(PackedMove::NULL);
                let position = *position;
                if passed.is_none() {
                    self.board = ParserBoard::Loose(position);
                }
                Ok((PackedMove::NULL, position))
            }
            ParserBoard::Legal(position) => {
                let mv = resolve::resolve(shape, *position)?;
                position.play(mv);
                Ok((mv, *position))
            }
            ParserBoard::Loose(position) => {
                let mv = match shape {
                    SanShape::Null => PackedMove::NULL,
                    _ => resolve::resolve_loosely(shape, position)?,
                };
                position.play(mv);
                let position = *position;
                if position.to_chess().is_ok() {
                    self.board = ParserBoard::Legal(position);
                }
                Ok((mv, position))
            }
            ParserBoard::Unset | ParserBoard::Unplayable(_) | ParserBoard::Dead => Err(Misfit::Illegal),
        }
    }
}

/// Returns the glyph written as `!` or `?` signs at the end of a move's token, if there is one.
fn suffix(text: &[u8], word: &ByteRange) -> Option<(u16, ByteRange)> {
    let marks = text[word.clone()].iter().rev().take_while(|byte| matches!(byte, b'!' | b'?')).count();
    let at = word.end - marks..word.end;
    Some((lex::glyph(&text[at.clone()])?, at))
}

/// Returns the board for a side line that begins at `position`.
fn board_of(position: Position) -> ParserBoard {
    if position.to_chess().is_ok() { ParserBoard::Legal(position) } else { ParserBoard::Loose(position) }
}

/// Resolves the escapes `\"` and `\\`. Any other backslash is kept.
fn unescape(value: &[u8], out: &mut Vec<u8>) {
    let mut rest = value;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        let skip = usize::from(matches!(rest.get(at + 1), Some(b'"' | b'\\')));
        out.push(rest[at + skip]);
        rest = &rest[at + skip + 1..];
    }
    out.extend_from_slice(rest);
}
