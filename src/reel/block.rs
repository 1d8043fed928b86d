//! A block: a little strip of whole games.

use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};

use super::Strings;
use crate::board::{Board, PackedMove, Position, State};
use crate::game::Header;
use crate::pgn::{Outcome, Tag};

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
}

impl ProblemKind {
    pub(super) fn from_byte(byte: u8) -> Result<ProblemKind, &'static str> {
        match byte {
            0 => Ok(ProblemKind::Note),
            1 => Ok(ProblemKind::Cut),
            2 => Ok(ProblemKind::Skipped),
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
    /// One move for each slot: the one that leaves it. The last slot of a game holds
    /// [`PackedMove::START_STANDARD`] or [`PackedMove::START_TABLE`], whichever begins the next
    /// game; the last slot of the block holds `START_STANDARD`.
    pub moves: Vec<PackedMove>,
    /// The start positions that `START_TABLE` moves mean, in order. The block's first game needs no
    /// entry: it begins at the first key.
    pub starts: Vec<Position>,
    /// How many games of the database come before this block, skipped ones included.
    pub games_before: u32,
    pub(super) source_games: Vec<SourceGames>,
    pub(super) games: Vec<GameRecord>,
    pub(super) tags: Tags,
    pub(super) problems: Vec<Problem>,
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
        self.keys[key].first_game as usize + before.iter().filter(|mv| mv.is_start()).count()
    }

    /// The runs of games by source, in order.
    pub fn source_games(&self) -> &[SourceGames] {
        &self.source_games
    }

    /// The runs of games by source, to fill in what depends on the blocks before.
    pub(crate) fn source_games_mut(&mut self) -> &mut [SourceGames] {
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

    /// The memory that it takes, about.
    pub fn memory_bytes(&self) -> u64 {
        let Block { keys, moves, starts, source_games, games, tags, problems, .. } = self;
        let Tags { names, values, ends, pairs } = tags;
        let reasons: usize = problems.iter().map(|problem| problem.reason.len()).sum();
        let bytes = size_of_val(&keys[..])
            + size_of_val(&moves[..])
            + size_of_val(&starts[..])
            + size_of_val(&source_games[..])
            + size_of_val(&games[..])
            + size_of_val(&ends[..])
            + size_of_val(&pairs[..])
            + size_of_val(&problems[..])
            + names.memory_bytes()
            + values.memory_bytes()
            + reasons;
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

    /// How many positions the game has: one more than moves.
    pub fn positions(&self) -> usize {
        self.end_slot() - self.first_slot()
    }

    /// How many half-moves the game has.
    pub fn plies(&self) -> usize {
        self.positions() - 1
    }

    /// The moves.
    pub fn moves(&self) -> &'a [PackedMove] {
        &self.block.moves[self.first_slot()..self.end_slot() - 1]
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
        self.block.starts[self.block.keys[key].first_start as usize + skip]
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
}

impl Header for GameRow<'_> {
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
