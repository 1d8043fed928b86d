//! A game as it was read from PGN. It is the input for building reels, and for comparing texts and annotations.

use orbit_core::{
    board::{PackedMove, Position},
    record::{Annotation, Outcome},
};

/// One tag pair. The bytes are unchanged, except that the escapes `\"` and `\\` are resolved.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tag {
    /// The name, e.g. `White`.
    pub name: Vec<u8>,
    /// The value, which may be in any encoding.
    pub value: Vec<u8>,
}

/// A fault in the text of a game: its place, and the reason.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReadFault {
    /// The offset of the faulty token in the decompressed source, in bytes.
    pub offset: u64,
    /// The number of half-moves before the fault that were kept.
    pub ply: u32,
    /// The reason in lower case, without a full stop: `Nd7 is ambiguous`.
    pub reason: String,
}

/// Says whether a game was read to its end.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum GameStatus {
    /// Every move was read.
    #[default]
    Whole,
    /// Reading stopped at the fault. The moves before it were kept.
    Cut(ReadFault),
    /// The game has no positions, for instance because its variant is not supported or its FEN is unreadable.
    Skipped(ReadFault),
}

/// A side line (variation): an alternative to a move.
///
/// The positions of a game are the *nodes* of a tree. They are numbered as in CQL. The positions of the main line come first; the
/// first of them has the number 0. Then come its side lines: those that branch off from the last node first, and those of the
/// start last. The side lines of one node follow in the order of the text. Each side line is numbered like a game: its own
/// positions first, then its side lines. So the numbers of all positions that descend from a node directly follow its own number.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SideLine {
    /// The node from which the side line branches off.
    pub parent: u32,
    /// The index of the line among the side lines of this node, from 1.
    pub sibling: u32,
    /// The moves of the line, at least one. The first move leads from the parent to the first position of the line.
    pub moves: Vec<PackedMove>,
}

/// One game.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Game {
    /// The number of the game in its source, from 1. Skipped games are counted, too.
    pub number: u32,
    /// The offset of the game's first byte in the decompressed source.
    pub offset: u64,
    /// The start position; `None` for the standard one.
    pub start: Option<Position>,
    /// The moves of the main line.
    pub moves: Vec<PackedMove>,
    /// The position before each move, and the position after the last one, so that a builder of reels need not replay
    /// the moves. The list is empty if the reader did not record them.
    pub positions: Vec<Position>,
    /// The side lines, ordered by the numbers of their first nodes. The list is empty unless
    /// [`ParseOptions::variations`](super::ParseOptions::variations) is set.
    pub lines: Vec<SideLine>,
    /// Comments and glyphs, ordered by node, and within a node in the order of the text. The list is empty unless side
    /// lines are kept.
    pub annotations: Vec<Annotation>,
    /// All tag pairs in the order of the text.
    pub tags: Vec<Tag>,
    /// The result, by the terminator of the movetext.
    pub outcome: Outcome,
    /// Says whether the game was read completely, was cut, or was skipped.
    pub status: GameStatus,
    /// Notes about repairs, for instance about impossible castling rights of a FEN that were dropped.
    pub notes: Vec<ReadFault>,
    /// Side lines that were left out or cut.
    pub lost: Vec<ReadFault>,
    /// True if White and Black were swapped: see [`Game::colors_swapped`]. Move numbers are still those of the original game.
    pub is_swapped: bool,
}
