//! A game as it was read from PGN. Reels (orbit's files of games) are built from such games.

use orbit_core::{
    board::{PackedMove, Position},
    record::{Annotation, Outcome},
};

/// One tag pair. Its bytes are unchanged from the text, except that the escapes `\"` and `\\` are resolved.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tag {
    /// The name, e.g. `White`.
    pub name: Vec<u8>,
    /// The value, which may be in any encoding.
    pub value: Vec<u8>,
}

/// A fault in the text of a game, with its place and the reason.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReadFault {
    /// The offset of the faulty token in the decompressed source, in bytes.
    pub offset: u64,
    /// The number of half-moves that were kept before the fault.
    pub ply: u32,
    /// The reason in lower case, without a full stop: `Nd7 is ambiguous`.
    pub reason: String,
}

/// The part of a game that was read: all of it, the moves before a cut, or nothing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum GameStatus {
    /// Every move was read.
    #[default]
    Whole,
    /// Reading stopped at this fault. The moves before it were kept.
    Cut(ReadFault),
    /// The game has no positions, for instance because its variant is not supported or its FEN is unreadable.
    Skipped(ReadFault),
}

/// A side line (variation): an alternative to a move.
///
/// The positions of a game are the *nodes* of a tree, and are numbered as in CQL. The positions of the main line are numbered
/// first, from 0 on. Then its side lines follow: side lines from the last node come first, side lines from the start last. Side
/// lines that branch off from the same node are numbered in the order of the text. Each side line is numbered like a game: first
/// its own positions, then its side lines. So the positions that descend from a node have the numbers directly after its own.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SideLine {
    /// The node (position) from which the side line branches off.
    pub parent: u32,
    /// The number of the line among the side lines that branch off from the same node (position), counted from 1.
    pub sibling: u32,
    /// The moves of the line, at least one. The first move leads from the node `parent` to the first position of the line.
    pub moves: Vec<PackedMove>,
}

/// One game.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Game {
    /// The number of the game in its source, counted from 1. Skipped games are counted.
    pub number: u32,
    /// The offset of the game's first byte in the decompressed source.
    pub offset: u64,
    /// The start position, or `None` for the usual start position.
    pub start: Option<Position>,
    /// The moves of the main line.
    pub moves: Vec<PackedMove>,
    /// The position before each move, and the position after the last one. The builder of reels uses them instead of replaying the
    /// moves. The list is empty if the reader did not record them.
    pub positions: Vec<Position>,
    /// The side lines, ordered by the number of their first node. The list is empty unless
    /// [`ParseOptions::variations`](super::ParseOptions::variations) is set.
    pub lines: Vec<SideLine>,
    /// Comments and glyphs, ordered by node and, within a node, as in the text. The list is empty unless side lines are kept.
    pub annotations: Vec<Annotation>,
    /// All tag pairs in the order of the text.
    pub tags: Vec<Tag>,
    /// The result, from the terminator of the movetext.
    pub outcome: Outcome,
    /// The part of the game that was read: all of it, the moves before a cut, or nothing.
    pub status: GameStatus,
    /// Notes about repairs, for instance that impossible castling rights of a FEN were dropped.
    pub notes: Vec<ReadFault>,
    /// The side lines that were left out or cut, each with the reason.
    pub lost: Vec<ReadFault>,
    /// True if White and Black were swapped: see [`Game::colors_swapped`]. Move numbers are still those of the original game.
    pub is_swapped: bool,
}
