//! A block, which is a group of whole games. A reel (a file of packed games) consists of blocks.
//!
//! A *stretch* of a block is a run of consecutive games from one source. A *node* is a position of a game, identified by its number
//! in the game.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};

use super::Strings;
use super::material::{self, FoundMaterial, Material};
use orbit_core::board::{Board, PackedMove, Position, State};
use orbit_core::game::{GameHeader, Opening};
use orbit_pgn::{Annotation, AnnotationKind, Game, GameStatus, Outcome, ReadFault, SideLine, Tag};

/// The number of slots in a segment. A slot holds one position, and the position in the first slot of a segment is stored as its
/// key position.
pub const SEGMENT_SLOTS: usize = 32;

/// The key position of a segment (32 consecutive slots): the position in its first slot, with its ply, its game, and the index of
/// the next entry of the start table, the block's list of start positions.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Pod, Zeroable)]
pub struct Key {
    /// The pieces at the segment's first slot.
    pub board: Board,
    /// The side to move, the en passant square and the castling rights in the segment's first position.
    pub state: State,
    /// The number of half-moves played before the segment's first position.
    pub ply: u32,
    /// The game of the segment's first position, as an index into the block's games.
    pub first_game: u32,
    /// The index in [`Block::starts`] of the entry for the segment's first [`PackedMove::START_TABLE`] or
    /// [`PackedMove::START_LINE`] code.
    pub first_start: u32,
}

impl Key {
    /// Returns the first position of the segment.
    pub const fn position(&self) -> Position {
        Position { board: self.board, state: self.state }
    }
}

/// The start of a game or a side line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Start {
    /// The first position of the game or side line.
    pub position: Position,
    /// The number of half-moves played before this position.
    pub ply: u32,
}

/// A stretch: consecutive games of a block from the same source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SourceGames {
    /// The source, as an index into the sources of the database.
    pub source: u32,
    /// The index of the stretch's first game in the block, not counting skipped games.
    pub first_game: u32,
    /// The number of games in the stretch, including skipped ones.
    pub games: u32,
    /// The number of games in this source before the stretch.
    pub games_before: u32,
}

/// The effect of a [`Problem`] on the game in which it occurs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[repr(u8)]
pub enum ProblemKind {
    /// A note on a complete game, for instance about a repair.
    Note = 0,
    /// The game was cut short; the moves before the fault were kept.
    Cut = 1,
    /// The game has no slots.
    Skipped = 2,
    /// Side lines were omitted or cut short; the main line is complete.
    SideLine = 3,
}

impl ProblemKind {
    pub(super) fn from_byte(byte: u8) -> Result<ProblemKind, &'static str> {
        match byte {
            0 => Ok(ProblemKind::Note),
            1 => Ok(ProblemKind::Cut),
            2 => Ok(ProblemKind::Skipped),
            3 => Ok(ProblemKind::SideLine),
            _ => Err("a problem is of no known kind"),
        }
    }
}

/// A difference between a game as stored and its text in the source, with the reason for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// The effect on the game.
    pub kind: ProblemKind,
    /// The stretch (run of games from one source) that contains the game, as an index into [`Block::source_games`].
    pub stretch: u32,
    /// The game's number within its stretch (run of games from one source), from 1. [`Block::number_in_source`] converts it to a
    /// number within the source.
    pub number: u32,
    /// The offset of the fault in the decompressed source, in bytes.
    pub offset: u64,
    /// The number of half-moves that were kept before the fault.
    pub ply: u32,
    /// The reason: lower case, no full stop.
    pub reason: String,
}

/// One game's entry in the game table of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct GameRecord {
    pub(super) first_slot: u32,
    pub(super) stretch: u32,
    /// The number of the game within its stretch (run of games from one source), from 1.
    pub(super) number: u32,
    pub(super) offset: u64,
    pub(super) outcome: Outcome,
    pub(super) cut: bool,
    /// True if the game's start position is an entry of the start table. Always false for the first game of a block, whose start
    /// position is the first key.
    pub(super) from_table: bool,
    /// True if White and Black were swapped. Games in files are never swapped.
    pub(super) is_swapped: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LineRecord {
    pub(super) first_slot: u32,
    /// The node (position number in the game) from which the side line branches off.
    pub(super) parent: u32,
    /// The index of the side line among all side lines that branch off from `parent`, from 1.
    pub(super) sibling: u32,
    /// The move that leads to the first position of the side line.
    pub(super) edge: PackedMove,
    /// The number of half-moves played before the first position of the side line.
    pub(super) ply: u32,
    /// The nesting depth of the side line. A side line of the main line has depth 1.
    pub(super) depth: u32,
}

impl LineRecord {
    /// Sets `ply` and `depth`. `before` contains the game's earlier side lines, and `game_slot` is the game's first slot.
    pub(super) fn follow(&mut self, before: &[LineRecord], game_slot: u32) {
        let parent_slot = game_slot + self.parent;
        let around = before.partition_point(|line| line.first_slot <= parent_slot);
        let (ply, depth) = match around.checked_sub(1).map(|around| before[around]) {
            Some(around) => (around.ply + parent_slot - around.first_slot, around.depth),
            None => (self.parent, 0),
        };
        (self.ply, self.depth) = (ply + 1, depth + 1);
    }
}

/// The comments and glyphs of all games of a block.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Annotations {
    /// For each game, the end of its annotations in `all`. Empty if no game has annotations, or if annotations were not read.
    pub(super) ends: Vec<usize>,
    pub(super) all: Vec<Annotation>,
}

/// The tags of all games of a block. Each tag is a pair of indices.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Tags {
    pub(super) names: Strings,
    pub(super) values: Strings,
    /// For each game, the end of its tags in `pairs`.
    pub(super) ends: Vec<usize>,
    /// For each tag, the indices of its name and its value.
    pub(super) pairs: Vec<(u32, u32)>,
}

/// A tag name, as its index within one block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TagName(pub u32);

/// A tag value, as its index within one block. Equal values have equal indices.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TagValue(pub u32);

/// A group of whole games in packed form: all positions, with moves, tags and annotations.
///
/// Each position has a slot (an index), and the slots of consecutive games are adjacent. Slot `s` belongs to segment `s / 32`. In
/// the last segment, the slots after the last game have no positions. A block without games has no slots.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Block {
    /// One key position for each segment.
    pub keys: Vec<Key>,
    /// One move for each slot: the move played from its position. The last slot of a line has no move, so it contains a start code:
    /// [`PackedMove::START_LINE`] if a side line of the same game follows. Otherwise it contains [`PackedMove::START_STANDARD`] or
    /// [`PackedMove::START_TABLE`], depending on the start position of the next game. The last slot of the block contains
    /// `START_STANDARD`.
    pub moves: Vec<PackedMove>,
    /// The start table: the positions at which games and side lines begin, in the order of the `START_TABLE` and
    /// `START_LINE` codes that refer to them. The block's first game has no entry, since it begins with the first key.
    pub starts: Vec<Start>,
    /// The number of games in the database before this block, including skipped ones.
    pub games_before: u32,
    pub(super) source_games: Vec<SourceGames>,
    pub(super) games: Vec<GameRecord>,
    /// The side lines, in slot order (the order of their positions in the block).
    pub(super) lines: Vec<LineRecord>,
    pub(super) annotations: Annotations,
    pub(super) tags: Tags,
    pub(super) problems: Vec<Problem>,
    pub(super) found: FoundMaterial,
}

impl Block {
    /// Returns the number of positions.
    pub fn slots(&self) -> usize {
        self.moves.len()
    }

    /// Returns the number of segments.
    pub fn segments(&self) -> usize {
        self.keys.len()
    }

    /// Returns the number of games that have positions in the block. Skipped games have none.
    pub fn games_len(&self) -> usize {
        self.games.len()
    }

    /// Returns the number of games read, including skipped ones.
    pub fn games_read(&self) -> u32 {
        self.source_games.iter().map(|stretch| stretch.games).sum()
    }

    /// Returns the games with positions in the block, in order. Skipped games are left out.
    pub fn games(&self) -> impl ExactSizeIterator<Item = GameRow<'_>> {
        (0..self.games.len()).map(|index| GameRow { block: self, index })
    }

    /// Returns the game with the index `index` in the block.
    ///
    /// # Panics
    ///
    /// Panics if there is no such game.
    pub fn game(&self, index: usize) -> GameRow<'_> {
        assert!(index < self.games.len(), "game {index} of {}", self.games.len());
        GameRow { block: self, index }
    }

    /// Returns the index of the game to which a slot (the index of a position) belongs.
    ///
    /// # Panics
    ///
    /// Panics if there is no such slot.
    pub fn game_of_slot(&self, slot: usize) -> usize {
        let key = slot / SEGMENT_SLOTS;
        let before = &self.moves[key * SEGMENT_SLOTS..slot];
        self.keys[key].first_game as usize + before.iter().filter(|mv| mv.is_game_start()).count()
    }

    /// Returns the number of positions in side lines.
    pub fn side_positions(&self) -> usize {
        if self.lines.is_empty() {
            return 0;
        }
        self.games().map(|game| game.positions() - game.plies() - 1).sum()
    }

    /// Returns whether some game has side lines.
    pub fn has_lines(&self) -> bool {
        !self.lines.is_empty()
    }

    /// Returns the stretches of the block, in order. A stretch is a run of games from one source.
    pub fn source_games(&self) -> &[SourceGames] {
        &self.source_games
    }

    /// Returns the stretches of the block (runs of games from one source) for modification. The caller sets the numbers that depend
    /// on earlier blocks.
    pub fn source_games_mut(&mut self) -> &mut [SourceGames] {
        &mut self.source_games
    }

    /// Returns the problems of games that were skipped, cut short or repaired, in order.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Returns the source of a problem, and the number of the affected game in that source, from 1.
    pub fn number_in_source(&self, problem: &Problem) -> (u32, u32) {
        let stretch = self.source_games[problem.stretch as usize];
        (stretch.source, stretch.games_before + problem.number)
    }

    /// Returns the indices of all tag names in the block that equal `name` except for case.
    pub fn tag_names(&self, name: &str) -> Vec<TagName> {
        let names = (0..).zip(self.tags.names.iter());
        names
            .filter(|(_, found)| found.eq_ignore_ascii_case(name.as_bytes()))
            .map(|(index, _)| TagName(index))
            .collect()
    }

    /// Returns the distinct tag values in the block, indexed by [`TagValue`].
    pub fn tag_values(&self) -> &Strings {
        &self.tags.values
    }

    /// Marks blocks as held in memory: they will stay there unchanged and be searched repeatedly. The mark never changes a result,
    /// and copies of a block do not have it. Returns a range with one number for each block. No other block in the process has the
    /// same number.
    pub fn hold_all<'a>(blocks: impl ExactSizeIterator<Item = &'a Block>) -> Range<u64> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let count = blocks.len() as u64;
        let first = NEXT.fetch_add(count, Ordering::Relaxed);
        blocks.zip(first..).for_each(|(block, number)| block.found.hold(number));
        first..first + count
    }

    /// Returns the block's number if [`Block::hold_all`] has marked the block as held in memory.
    pub fn number_held(&self) -> Option<u64> {
        self.found.number()
    }

    /// Returns true from the second call on, but only for a block that [`Block::hold_all`] has marked as held in memory.
    pub fn is_searched_again(&self) -> bool {
        self.found.is_searched_again()
    }

    /// Returns the bounds on the piece counts in the block. The first call computes them with `find`; later calls return the stored
    /// value.
    pub fn material(&self, find: impl FnOnce(&Block) -> Material) -> &Material {
        self.found.material(|| find(self))
    }

    /// Returns the approximate size of the block in memory, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        let Block { keys, moves, starts, source_games, games, lines, annotations, tags, problems, .. } = self;
        let Tags { names, values, ends, pairs } = tags;
        let comments = annotations.all.iter().map(|annotation| match &annotation.kind {
            AnnotationKind::Before(text) | AnnotationKind::Comment(text) => text.len(),
            AnnotationKind::Nag(_) => 0,
        });
        let comments: usize = comments.sum();
        let reasons: usize = problems.iter().map(|problem| problem.reason.len()).sum();
        let bytes = size_of_val(&keys[..])
            + size_of_val(&moves[..])
            + size_of_val(&starts[..])
            + size_of_val(&source_games[..])
            + size_of_val(&games[..])
            + size_of_val(&lines[..])
            + size_of_val(&annotations.ends[..])
            + size_of_val(&annotations.all[..])
            + comments
            + size_of_val(&ends[..])
            + size_of_val(&pairs[..])
            + size_of_val(&problems[..])
            + names.memory_bytes()
            + values.memory_bytes()
            + reasons
            + material::memory_bytes(keys.len());
        bytes as u64
    }

    fn games_before_stretch(&self, stretch: u32) -> u32 {
        self.source_games[..stretch as usize].iter().map(|stretch| stretch.games).sum()
    }
}

/// One game of a block.
#[derive(Clone, Copy)]
pub struct GameRow<'a> {
    block: &'a Block,
    index: usize,
}

impl<'a> GameRow<'a> {
    pub(super) fn record(&self) -> &'a GameRecord {
        &self.block.games[self.index]
    }

    fn stretch(&self) -> SourceGames {
        self.block.source_games[self.record().stretch as usize]
    }

    /// Returns the index of the game in the block.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns the slot of the game's first position.
    pub fn first_slot(&self) -> usize {
        self.record().first_slot as usize
    }

    /// Returns the slot after the game's last position.
    pub fn end_slot(&self) -> usize {
        self.block.games.get(self.index + 1).map_or(self.block.slots(), |next| next.first_slot as usize)
    }

    /// Returns the slots of the game's positions, side lines included.
    pub fn slots(&self) -> Range<usize> {
        self.first_slot()..self.end_slot()
    }

    /// Returns the number of positions in the game, side lines included.
    pub fn positions(&self) -> usize {
        self.end_slot() - self.first_slot()
    }

    /// Returns the number of half-moves of the main line.
    pub fn plies(&self) -> usize {
        self.moves().len()
    }

    /// Returns the moves of the main line.
    pub fn moves(&self) -> &'a [PackedMove] {
        let end = self.records().first().map_or(self.end_slot(), |line| line.first_slot as usize);
        &self.block.moves[self.first_slot()..end - 1]
    }

    /// Returns the opening of the game, or `None` if the list of openings contains no position of its main line.
    pub fn opening(&self) -> Option<&'static Opening> {
        Opening::from_game(self.start(), self.moves())
    }

    fn records(&self) -> &'a [LineRecord] {
        let lines = &self.block.lines;
        if lines.is_empty() {
            return lines;
        }
        let before = |slot: usize| lines.partition_point(|line| (line.first_slot as usize) < slot);
        &lines[before(self.first_slot())..before(self.end_slot())]
    }

    /// Returns whether the game has side lines.
    pub fn has_lines(&self) -> bool {
        !self.records().is_empty()
    }

    /// Returns the side lines, in slot order (the order of their positions in the block).
    pub fn lines(&self) -> impl ExactSizeIterator<Item = LineRow<'a>> + use<'a> {
        let (game, records) = (*self, self.records());
        (0..records.len()).map(move |index| LineRow { game, records, index })
    }

    /// Returns the side line with the index `index` among the side lines of the game.
    ///
    /// # Panics
    ///
    /// Panics if there is no such line.
    pub fn line(&self, index: usize) -> LineRow<'a> {
        let records = self.records();
        assert!(index < records.len(), "side line {index} of {}", records.len());
        LineRow { game: *self, records, index }
    }

    /// Returns the side line that contains the position with the number `node` in the game, or `None` for a position of the main
    /// line.
    pub fn line_of(&self, node: u32) -> Option<LineRow<'a>> {
        let (records, first) = (self.records(), self.first_slot() as u32);
        let index = records.partition_point(|line| line.first_slot - first <= node).checked_sub(1)?;
        Some(LineRow { game: *self, records, index })
    }

    /// Returns the number of half-moves played before the position with the number `node` in the game.
    pub fn ply_of(&self, node: u32) -> u32 {
        self.line_of(node).map_or(node, |line| line.ply() + node - line.first_node())
    }

    /// Returns the number of the position before the move that leads to position `node`, or `None` for the start of the game.
    pub fn parent_of(&self, node: u32) -> Option<u32> {
        match self.line_of(node) {
            Some(line) if line.first_node() == node => Some(line.parent()),
            _ => node.checked_sub(1),
        }
    }

    /// Returns the move that leads to the position with the number `node` in the game, or `None` for the start of the game.
    pub fn move_to(&self, node: u32) -> Option<PackedMove> {
        match self.line_of(node) {
            Some(line) if line.first_node() == node => Some(line.edge()),
            _ => Some(self.block.moves[self.first_slot() + node.checked_sub(1)? as usize]),
        }
    }

    /// Returns the move that is played from position `node` in the line of that position, or `None` at the end of the line.
    pub fn move_from(&self, node: u32) -> Option<PackedMove> {
        Some(self.block.moves[self.first_slot() + node as usize]).filter(|mv| !mv.is_start())
    }

    /// Returns the comments and glyphs in the order of their nodes (positions). The list is empty if the reel does not store them
    /// or if they were not read.
    pub fn annotations(&self) -> &'a [Annotation] {
        let Annotations { ends, all } = &self.block.annotations;
        let start = if self.index == 0 { 0 } else { ends.get(self.index - 1).copied().unwrap_or(0) };
        ends.get(self.index).map_or(&[], |&end| &all[start..end])
    }

    /// Returns the game as the PGN reader returned it, but without its number and its faults.
    pub fn to_game(&self) -> Game {
        let line = |line: LineRow<'_>| SideLine {
            parent: line.parent(),
            sibling: line.sibling(),
            moves: std::iter::once(line.edge()).chain(line.moves().iter().copied()).collect(),
        };
        Game {
            offset: self.offset(),
            start: Some(self.start()),
            moves: self.moves().to_vec(),
            lines: self.lines().map(line).collect(),
            annotations: self.annotations().to_vec(),
            tags: self.tags_owned(),
            outcome: self.outcome(),
            is_swapped: self.is_swapped(),
            status: if self.is_cut() { GameStatus::Cut(ReadFault::default()) } else { GameStatus::Whole },
            ..Game::default()
        }
    }

    /// Returns the position at the start of the game.
    pub fn start(&self) -> Position {
        let record = self.record();
        if self.index == 0 {
            return self.block.keys[0].position();
        }
        if !record.from_table {
            return Position::STANDARD;
        }
        let key = (record.first_slot as usize - 1) / SEGMENT_SLOTS;
        let before = &self.block.moves[key * SEGMENT_SLOTS..record.first_slot as usize - 1];
        let skip = before.iter().filter(|mv| mv.is_start_table()).count();
        self.block.starts[self.block.keys[key].first_start as usize + skip].position
    }

    /// Returns the source of the game, as an index into the sources of the database.
    pub fn source(&self) -> u32 {
        self.stretch().source
    }

    /// Returns the number of the game in its source, from 1. Skipped games are counted.
    pub fn number_in_source(&self) -> u32 {
        self.stretch().games_before + self.record().number
    }

    /// Returns the offset of the game's first byte in the decompressed source.
    pub fn offset(&self) -> u64 {
        self.record().offset
    }

    /// Returns true if the game was cut short because of a fault. [`GameRow::problems`] returns the fault.
    pub fn is_cut(&self) -> bool {
        self.record().cut
    }

    /// Returns the differences between the stored game and its text in the source, for instance that side lines were left out.
    pub fn problems(&self) -> impl Iterator<Item = &'a Problem> + use<'a> {
        let (stretch, number) = (self.record().stretch, self.record().number);
        let from = self.block.problems.partition_point(|p| (p.stretch, p.number) < (stretch, number));
        self.block.problems[from..].iter().take_while(move |p| (p.stretch, p.number) == (stretch, number))
    }

    fn pairs(&self) -> &'a [(u32, u32)] {
        let tags = &self.block.tags;
        let start = if self.index == 0 { 0 } else { tags.ends[self.index - 1] };
        &tags.pairs[start..tags.ends[self.index]]
    }

    /// Returns all tags in source order, each as name and value.
    pub fn tags(&self) -> impl ExactSizeIterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        let tags = &self.block.tags;
        self.pairs().iter().map(|&(name, value)| {
            (tags.names.get(name).expect("checked on reading"), tags.values.get(value).expect("the same"))
        })
    }

    /// Returns all tags in source order, as the PGN reader returned them.
    pub fn tags_owned(&self) -> Vec<Tag> {
        self.tags().map(|(name, value)| Tag { name: name.to_vec(), value: value.to_vec() }).collect()
    }

    /// Returns the value of the game's first tag whose name is one of `names`.
    pub fn tag_value(&self, names: &[TagName]) -> Option<TagValue> {
        self.pairs().iter().find(|pair| names.contains(&TagName(pair.0))).map(|pair| TagValue(pair.1))
    }

    /// Returns the value of the first tag with exactly this name, as unchanged bytes from the source.
    pub fn tag(&self, name: &str) -> Option<&'a [u8]> {
        let name = self.block.tags.names.find(name.as_bytes())?;
        let (_, value) = self.pairs().iter().find(|pair| pair.0 == name)?;
        self.block.tags.values.get(*value)
    }

    /// Returns the number of the game in the database, counted from 1 over all sources. Skipped games are counted.
    pub fn number(&self) -> u32 {
        let record = self.record();
        self.block.games_before + self.block.games_before_stretch(record.stretch) + record.number
    }

    /// Returns the result of the game. It was read from the end of the movetext, not from a tag.
    pub fn outcome(&self) -> Outcome {
        self.record().outcome
    }

    /// Returns true if White and Black were swapped by [`Block::seen_by`].
    pub fn is_swapped(&self) -> bool {
        self.record().is_swapped
    }
}

/// One side line of a game. [`SideLine`] describes how nodes are numbered.
#[derive(Clone, Copy)]
pub struct LineRow<'a> {
    game: GameRow<'a>,
    records: &'a [LineRecord],
    index: usize,
}

impl<'a> LineRow<'a> {
    /// Returns the index of the side line among the side lines of the game.
    pub fn index(&self) -> usize {
        self.index
    }

    fn first_slot(&self) -> usize {
        self.records[self.index].first_slot as usize
    }

    fn end_slot(&self) -> usize {
        self.records.get(self.index + 1).map_or(self.game.end_slot(), |next| next.first_slot as usize)
    }

    /// Returns the first node of the line: the number of its first position within the game.
    pub fn first_node(&self) -> u32 {
        (self.first_slot() - self.game.first_slot()) as u32
    }

    /// Returns the end of the line's range of nodes (position numbers): the number after its last node.
    pub fn end_node(&self) -> u32 {
        (self.end_slot() - self.game.first_slot()) as u32
    }

    /// Returns the node (position number) from which the line branches off.
    pub fn parent(&self) -> u32 {
        self.records[self.index].parent
    }

    /// Returns the index of the line among the side lines that branch off from the same position, from 1.
    pub fn sibling(&self) -> u32 {
        self.records[self.index].sibling
    }

    /// Returns the number of half-moves played before the line's first position.
    pub fn ply(&self) -> u32 {
        self.records[self.index].ply
    }

    /// Returns the nesting depth of the line. A side line of the main line has depth 1.
    pub fn depth(&self) -> u32 {
        self.records[self.index].depth
    }

    /// Returns the move that leads to the first position of the line.
    pub fn edge(&self) -> PackedMove {
        self.records[self.index].edge
    }

    /// Returns the moves of the line after its first move.
    pub fn moves(&self) -> &'a [PackedMove] {
        &self.game.block.moves[self.first_slot()..self.end_slot() - 1]
    }
}

impl GameHeader for GameRow<'_> {
    fn tags(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        GameRow::tags(self)
    }

    fn start(&self) -> Position {
        GameRow::start(self)
    }

    fn tag_as_cql(&self, name: &str) -> Option<&[u8]> {
        // `tag` looks up the name once in the block's list of names, and then compares only indices. This is faster than comparing
        // the names of all tags.
        self.tag(name)
    }
}
