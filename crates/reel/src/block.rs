//! A block: a little strip of whole games.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};

use super::Strings;
use super::material::{self, FoundMaterial, Material};
use orbit_core::board::{Board, PackedMove, Position, State};
use orbit_core::game::{GameHeader, Opening};
use orbit_pgn::{Annotation, AnnotationKind, Game, GameStatus, Outcome, ReadFault, SideLine, Tag};

/// Slots from one key position to the next.
pub const SEGMENT_SLOTS: usize = 32;

/// The key position of a segment: its first slot, and where the tables stand there.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Pod, Zeroable)]
pub struct Key {
    /// The pieces at the segment's first slot.
    pub board: Board,
    /// Turn, en passant and castling there.
    pub state: State,
    /// Half-moves played there.
    pub ply: u32,
    /// The game of the first slot, as an index into the block's games.
    pub first_game: u32,
    /// The entry of the start table that the first [`PackedMove::START_TABLE`] of the segment means.
    pub first_start: u32,
}

impl Key {
    /// The position at the segment's first slot.
    pub const fn position(&self) -> Position {
        Position { board: self.board, state: self.state }
    }
}

/// Where a game or a side line begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Start {
    /// The position at its first slot.
    pub position: Position,
    /// Half-moves played there.
    pub ply: u32,
}

/// A run of games of a block that come from one source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SourceGames {
    /// The source, as an index into the sources of the database.
    pub source: u32,
    /// The index in the block of the stretch's first game that has slots.
    pub first_game: u32,
    /// How many games were read, skipped ones included.
    pub games: u32,
    /// How many games of the same source come before this stretch.
    pub games_before: u32,
}

/// What became of a game that has a [`Problem`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[repr(u8)]
pub enum ProblemKind {
    /// Something was repaired; the game is whole.
    Note = 0,
    /// The moves before the fault were kept.
    Cut = 1,
    /// The game has no slots.
    Skipped = 2,
    /// Side lines were left out or cut; the main line is whole.
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

/// A game that is not as its source has it, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// What became of the game.
    pub kind: ProblemKind,
    /// The stretch of the block, as an index into [`Block::source_games`].
    pub stretch: u32,
    /// The game's number within that stretch, from 1; see [`Block::number_in_source`].
    pub number: u32,
    /// Byte offset of the fault in the decompressed source.
    pub offset: u64,
    /// Half-moves kept before it.
    pub ply: u32,
    /// Lower case, no full stop.
    pub reason: String,
}

/// One game's entry in the game table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct GameRecord {
    pub(super) first_slot: u32,
    pub(super) stretch: u32,
    /// Within the stretch, from 1.
    pub(super) number: u32,
    pub(super) offset: u64,
    pub(super) outcome: Outcome,
    pub(super) cut: bool,
    /// Whether the game begins with an entry of the start table; never set for the first.
    pub(super) from_table: bool,
    /// Whether its sides have changed places; never in a file.
    pub(super) is_swapped: bool,
}

/// A side line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LineRecord {
    pub(super) first_slot: u32,
    /// The node that it leaves.
    pub(super) parent: u32,
    /// Its place among the side lines of that node, from 1.
    pub(super) sibling: u32,
    /// The move that leads to its first slot.
    pub(super) edge: PackedMove,
    /// Half-moves played at its first slot.
    pub(super) ply: u32,
    /// In how many side lines it lies, itself included.
    pub(super) depth: u32,
}

impl LineRecord {
    /// Sets ply and depth, given the side lines before it of its game, which begins at a slot.
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

/// Comments and glyphs of all games of a block.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Annotations {
    /// Where those of each game end; empty where there are none, or they were not read.
    pub(super) ends: Vec<usize>,
    pub(super) all: Vec<Annotation>,
}

/// The tags of all games of a block, each a pair of indices.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Tags {
    pub(super) names: Strings,
    pub(super) values: Strings,
    /// Where each game's tags end in `pairs`.
    pub(super) ends: Vec<usize>,
    /// Name and value.
    pub(super) pairs: Vec<(u32, u32)>,
}

/// The index of a tag name in one block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TagName(pub u32);

/// The index of a tag value in one block: equal values have equal indices.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TagValue(pub u32);

/// A strip of whole games.
///
/// Games follow each other without gaps. The slot `s` belongs to segment `s / 32`; only the tail of
/// the last segment holds no positions. A block with no game has no slots.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Block {
    /// One key position for each segment.
    pub keys: Vec<Key>,
    /// One move for each slot: the one that leaves it. The last slot of a line holds
    /// [`PackedMove::START_LINE`] if a side line of the same game follows, else
    /// [`PackedMove::START_STANDARD`] or [`PackedMove::START_TABLE`], whichever begins the next
    /// game; the last slot of the block holds `START_STANDARD`.
    pub moves: Vec<PackedMove>,
    /// What `START_TABLE` and `START_LINE` moves mean, in order. The block's first game needs no
    /// entry: it begins at the first key.
    pub starts: Vec<Start>,
    /// How many games of the database come before this block, skipped ones included.
    pub games_before: u32,
    pub(super) source_games: Vec<SourceGames>,
    pub(super) games: Vec<GameRecord>,
    /// In order of their slots.
    pub(super) lines: Vec<LineRecord>,
    pub(super) annotations: Annotations,
    pub(super) tags: Tags,
    pub(super) problems: Vec<Problem>,
    pub(super) found: FoundMaterial,
}

impl Block {
    /// How many positions there are.
    pub fn slots(&self) -> usize {
        self.moves.len()
    }

    /// How many segments there are.
    pub fn segments(&self) -> usize {
        self.keys.len()
    }

    /// How many games have slots.
    pub fn games_len(&self) -> usize {
        self.games.len()
    }

    /// How many games were read, skipped ones included.
    pub fn games_read(&self) -> u32 {
        self.source_games.iter().map(|stretch| stretch.games).sum()
    }

    /// The games that have slots, in order.
    pub fn games(&self) -> impl ExactSizeIterator<Item = GameRow<'_>> {
        (0..self.games.len()).map(|index| GameRow { block: self, index })
    }

    /// One game.
    ///
    /// # Panics
    ///
    /// When there is no such game.
    pub fn game(&self, index: usize) -> GameRow<'_> {
        assert!(index < self.games.len(), "game {index} of {}", self.games.len());
        GameRow { block: self, index }
    }

    /// The game that a slot belongs to.
    ///
    /// # Panics
    ///
    /// When there is no such slot.
    pub fn game_of_slot(&self, slot: usize) -> usize {
        let key = slot / SEGMENT_SLOTS;
        let before = &self.moves[key * SEGMENT_SLOTS..slot];
        self.keys[key].first_game as usize + before.iter().filter(|mv| mv.is_game_start()).count()
    }

    /// How many positions lie in side lines.
    pub fn side_positions(&self) -> usize {
        if self.lines.is_empty() {
            return 0;
        }
        self.games().map(|game| game.positions() - game.plies() - 1).sum()
    }

    /// Whether some game has side lines.
    pub fn has_lines(&self) -> bool {
        !self.lines.is_empty()
    }

    /// The runs of games by source, in order.
    pub fn source_games(&self) -> &[SourceGames] {
        &self.source_games
    }

    /// The runs of games by source, to fill in what depends on the blocks before.
    pub fn source_games_mut(&mut self) -> &mut [SourceGames] {
        &mut self.source_games
    }

    /// Games that were skipped, cut or repaired, in order.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The source of a problem and the number of its game in that source, from 1.
    pub fn number_in_source(&self, problem: &Problem) -> (u32, u32) {
        let stretch = self.source_games[problem.stretch as usize];
        (stretch.source, stretch.games_before + problem.number)
    }

    /// The indices of a tag name in all cases of its letters that games of the block have.
    pub fn tag_names(&self, name: &str) -> Vec<TagName> {
        let names = (0..).zip(self.tags.names.iter());
        names
            .filter(|(_, found)| found.eq_ignore_ascii_case(name.as_bytes()))
            .map(|(index, _)| TagName(index))
            .collect()
    }

    /// The distinct tag values of the block, by [`TagValue`].
    pub fn tag_values(&self) -> &Strings {
        &self.tags.values
    }

    /// Says that blocks stay in memory as they are and are to be searched again and again. It changes no answer. Copies are not
    /// held. Gives the numbers of the blocks, which no other block of the process has or gets.
    pub fn hold_all<'a>(blocks: impl ExactSizeIterator<Item = &'a Block>) -> Range<u64> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let count = blocks.len() as u64;
        let first = NEXT.fetch_add(count, Ordering::Relaxed);
        blocks.zip(first..).for_each(|(block, number)| block.found.hold(number));
        first..first + count
    }

    /// The number of the block, if it is held.
    pub fn number_held(&self) -> Option<u64> {
        self.found.number()
    }

    /// Whether the block is held, and this was called since.
    pub fn is_searched_again(&self) -> bool {
        self.found.is_searched_again()
    }

    /// The material of the block, which is kept. `find` gives it, if it is not known yet.
    pub fn material(&self, find: impl FnOnce(&Block) -> Material) -> &Material {
        self.found.material(|| find(self))
    }

    /// The memory that it takes, about.
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

    /// The number of games of the block before a stretch.
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

    /// The game's index in the block.
    pub fn index(&self) -> usize {
        self.index
    }

    /// The slot of the first position.
    pub fn first_slot(&self) -> usize {
        self.record().first_slot as usize
    }

    /// One past the slot of the last position.
    pub fn end_slot(&self) -> usize {
        self.block.games.get(self.index + 1).map_or(self.block.slots(), |next| next.first_slot as usize)
    }

    /// The slots of its positions, those of side lines included.
    pub fn slots(&self) -> Range<usize> {
        self.first_slot()..self.end_slot()
    }

    /// How many positions the game has, those of side lines included.
    pub fn positions(&self) -> usize {
        self.end_slot() - self.first_slot()
    }

    /// How many half-moves the main line has.
    pub fn plies(&self) -> usize {
        self.moves().len()
    }

    /// The moves of the main line.
    pub fn moves(&self) -> &'a [PackedMove] {
        let end = self.records().first().map_or(self.end_slot(), |line| line.first_slot as usize);
        &self.block.moves[self.first_slot()..end - 1]
    }

    /// The opening of its main line, by positions.
    pub fn opening(&self) -> Option<&'static Opening> {
        Opening::of_game(self.start(), self.moves())
    }

    fn records(&self) -> &'a [LineRecord] {
        let lines = &self.block.lines;
        if lines.is_empty() {
            return lines;
        }
        let before = |slot: usize| lines.partition_point(|line| (line.first_slot as usize) < slot);
        &lines[before(self.first_slot())..before(self.end_slot())]
    }

    /// Whether it has side lines.
    pub fn has_lines(&self) -> bool {
        !self.records().is_empty()
    }

    /// The side lines, in order of their slots.
    pub fn lines(&self) -> impl ExactSizeIterator<Item = LineRow<'a>> + use<'a> {
        let (game, records) = (*self, self.records());
        (0..records.len()).map(move |index| LineRow { game, records, index })
    }

    /// One side line.
    ///
    /// # Panics
    ///
    /// When there is no such line.
    pub fn line(&self, index: usize) -> LineRow<'a> {
        let records = self.records();
        assert!(index < records.len(), "side line {index} of {}", records.len());
        LineRow { game: *self, records, index }
    }

    /// The side line that a node lies in, if it lies in one.
    pub fn line_of(&self, node: u32) -> Option<LineRow<'a>> {
        let (records, first) = (self.records(), self.first_slot() as u32);
        let index = records.partition_point(|line| line.first_slot - first <= node).checked_sub(1)?;
        Some(LineRow { game: *self, records, index })
    }

    /// The half-moves played at a node.
    pub fn ply_of(&self, node: u32) -> u32 {
        self.line_of(node).map_or(node, |line| line.ply() + node - line.first_node())
    }

    /// The node before another one; `None` for the start.
    pub fn parent_of(&self, node: u32) -> Option<u32> {
        match self.line_of(node) {
            Some(line) if line.first_node() == node => Some(line.parent()),
            _ => node.checked_sub(1),
        }
    }

    /// The move that leads to a node; `None` for the start.
    pub fn move_to(&self, node: u32) -> Option<PackedMove> {
        match self.line_of(node) {
            Some(line) if line.first_node() == node => Some(line.edge()),
            _ => Some(self.block.moves[self.first_slot() + node.checked_sub(1)? as usize]),
        }
    }

    /// The move that leaves a node in its line; `None` at the end of the line.
    pub fn move_from(&self, node: u32) -> Option<PackedMove> {
        Some(self.block.moves[self.first_slot() + node as usize]).filter(|mv| !mv.is_start())
    }

    /// Comments and glyphs, ordered by nodes. None where they were not kept or not read.
    pub fn annotations(&self) -> &'a [Annotation] {
        let Annotations { ends, all } = &self.block.annotations;
        let start = if self.index == 0 { 0 } else { ends.get(self.index - 1).copied().unwrap_or(0) };
        ends.get(self.index).map_or(&[], |&end| &all[start..end])
    }

    /// The game as the PGN reader gave it, but for its number and what was said of its faults.
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

    /// The position at ply 0.
    pub fn start(&self) -> Position {
        let record = self.record();
        if self.index == 0 {
            return self.block.keys[0].position();
        }
        if !record.from_table {
            return Position::standard();
        }
        let key = (record.first_slot as usize - 1) / SEGMENT_SLOTS;
        let before = &self.block.moves[key * SEGMENT_SLOTS..record.first_slot as usize - 1];
        let skip = before.iter().filter(|mv| mv.is_start_table()).count();
        self.block.starts[self.block.keys[key].first_start as usize + skip].position
    }

    /// The source, as an index into the sources of the database.
    pub fn source(&self) -> u32 {
        self.stretch().source
    }

    /// The game's number in its source, from 1, skipped games included.
    pub fn number_in_source(&self) -> u32 {
        self.stretch().games_before + self.record().number
    }

    /// Byte offset of the game's first byte in its decompressed source.
    pub fn offset(&self) -> u64 {
        self.record().offset
    }

    /// Whether the game stopped at a fault; [`GameRow::problems`] says which.
    pub fn is_cut(&self) -> bool {
        self.record().cut
    }

    /// What is not as the source has it.
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

    /// All tags in file order, name and value.
    pub fn tags(&self) -> impl ExactSizeIterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        let tags = &self.block.tags;
        self.pairs().iter().map(|&(name, value)| {
            (tags.names.get(name).expect("checked on reading"), tags.values.get(value).expect("the same"))
        })
    }

    /// All tags in file order, as the PGN reader gave them.
    pub fn tags_owned(&self) -> Vec<Tag> {
        self.tags().map(|(name, value)| Tag { name: name.to_vec(), value: value.to_vec() }).collect()
    }

    /// The value of the first tag that has one of these names.
    pub fn tag_value(&self, names: &[TagName]) -> Option<TagValue> {
        self.pairs().iter().find(|pair| names.contains(&TagName(pair.0))).map(|pair| TagValue(pair.1))
    }

    /// The value of the first tag of that name, spelt so, bytes as found.
    pub fn tag(&self, name: &str) -> Option<&'a [u8]> {
        let name = self.block.tags.names.find(name.as_bytes())?;
        let (_, value) = self.pairs().iter().find(|pair| pair.0 == name)?;
        self.block.tags.values.get(*value)
    }

    /// The number of the game over all sources, from 1, skipped games included.
    pub fn number(&self) -> u32 {
        let record = self.record();
        self.block.games_before + self.block.games_before_stretch(record.stretch) + record.number
    }

    /// How the movetext ended.
    pub fn outcome(&self) -> Outcome {
        self.record().outcome
    }

    /// Whether its sides have changed places: see [`Block::seen_by`].
    pub fn is_swapped(&self) -> bool {
        self.record().is_swapped
    }
}

/// One side line of a game. Nodes are numbered as [`SideLine`] says.
#[derive(Clone, Copy)]
pub struct LineRow<'a> {
    game: GameRow<'a>,
    records: &'a [LineRecord],
    index: usize,
}

impl<'a> LineRow<'a> {
    /// Its index among the side lines of the game.
    pub fn index(&self) -> usize {
        self.index
    }

    fn first_slot(&self) -> usize {
        self.records[self.index].first_slot as usize
    }

    fn end_slot(&self) -> usize {
        self.records.get(self.index + 1).map_or(self.game.end_slot(), |next| next.first_slot as usize)
    }

    /// Its first node.
    pub fn first_node(&self) -> u32 {
        (self.first_slot() - self.game.first_slot()) as u32
    }

    /// One past its last node.
    pub fn end_node(&self) -> u32 {
        (self.end_slot() - self.game.first_slot()) as u32
    }

    /// The node that it leaves.
    pub fn parent(&self) -> u32 {
        self.records[self.index].parent
    }

    /// Its place among the side lines of that node, from 1.
    pub fn sibling(&self) -> u32 {
        self.records[self.index].sibling
    }

    /// The half-moves played at its first node.
    pub fn ply(&self) -> u32 {
        self.records[self.index].ply
    }

    /// In how many side lines its nodes lie, itself included.
    pub fn depth(&self) -> u32 {
        self.records[self.index].depth
    }

    /// The move that leads to its first node.
    pub fn edge(&self) -> PackedMove {
        self.records[self.index].edge
    }

    /// The moves after that.
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
        // A name that no game of the block has is found out without looking at the game.
        self.tag(name)
    }
}
