//! One game as it was read: the input for building reels, and for comparing texts and annotations.

use orbit_core::board::{PackedMove, Position};

/// The result of a game by the terminator of its movetext (never by the `Result` tag).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Outcome {
    #[default]
    Unknown = 0,
    WhiteWins = 1,
    BlackWins = 2,
    Draw = 3,
}

impl Outcome {
    /// Returns the terminator as PGN writes it.
    pub const fn text(self) -> &'static str {
        match self {
            Outcome::Unknown => "*",
            Outcome::WhiteWins => "1-0",
            Outcome::BlackWins => "0-1",
            Outcome::Draw => "1/2-1/2",
        }
    }
}

/// One tag pair. The bytes are unchanged, except that the escapes `\"` and `\\` are resolved.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tag {
    /// The name, e.g. `White`.
    pub name: Vec<u8>,
    /// The value. It need not be UTF-8.
    pub value: Vec<u8>,
}

/// The place and the reason where reading a game stopped early.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReadFault {
    /// Byte offset of the offending token in the decompressed source.
    pub offset: u64,
    /// The number of half-moves before it that were kept.
    pub ply: u32,
    /// Lower case, no full stop: `Nd7 is ambiguous`.
    pub reason: String,
}

/// Tells whether a game was read to its end.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum GameStatus {
    /// Every move was read.
    #[default]
    Whole,
    /// Reading stopped at the fault; the moves before it were kept.
    Cut(ReadFault),
    /// Nothing was kept; the game has no positions (another variant, an unreadable FEN).
    Skipped(ReadFault),
}

/// A side line (variation): an alternative to a move.
///
/// The positions of a game are the *nodes* of a tree. They are numbered as in CQL: first the main line, from 0, then the side
/// lines, beginning with those of the deepest node and proceeding towards the start. The side lines of one node are numbered in
/// the order of the text, and each one like a game: its own positions first, then its side lines. So the positions that descend
/// from a node have the numbers that follow its own.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SideLine {
    /// The node from which it branches off.
    pub parent: u32,
    /// Its index among the side lines of that node, from 1.
    pub sibling: u32,
    /// Its moves, at least one. The first leads from the parent to the first position of the line.
    pub moves: Vec<PackedMove>,
}

/// A remark of an annotator at a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Annotation {
    /// The node.
    pub node: u32,
    /// The remark itself.
    pub kind: AnnotationKind,
}

/// The remark of an [`Annotation`]. The bytes of comments are unchanged, without their braces.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AnnotationKind {
    /// A comment before the move that leads to the first node of a side line.
    Before(Vec<u8>),
    /// A comment after the move that leads to the node, or on the start of the game.
    Comment(Vec<u8>),
    /// A numeric annotation glyph: 1 is `$1` or `!`.
    Nag(u16),
}

/// One game.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Game {
    /// The number in its source, from 1, in file order; skipped games count, too.
    pub number: u32,
    /// Byte offset of the game's first byte in the decompressed source.
    pub offset: u64,
    /// The start position, `None` for the standard one.
    pub start: Option<Position>,
    /// The main line.
    pub moves: Vec<PackedMove>,
    /// The position before each move and the position after the last one, where they are known, so that a builder of reels need
    /// not replay the moves. Empty if they are not known.
    pub positions: Vec<Position>,
    /// The side lines, ordered by the numbers of their first nodes; only filled if
    /// [`ParseOptions::variations`](super::ParseOptions::variations) is set.
    pub lines: Vec<SideLine>,
    /// Comments and glyphs, ordered by node and within a node in the order of the text; only filled if side lines are kept.
    pub annotations: Vec<Annotation>,
    /// All tag pairs in file order.
    pub tags: Vec<Tag>,
    /// The movetext's terminator.
    pub outcome: Outcome,
    /// Whole, cut or skipped.
    pub status: GameStatus,
    /// Repairs, e.g. impossible castling rights of a FEN that were dropped.
    pub notes: Vec<ReadFault>,
    /// Side lines that were left out or cut.
    pub lost: Vec<ReadFault>,
    /// True if the sides have changed places: see [`Game::colors_swapped`]. The moves are still numbered as they were played.
    pub is_swapped: bool,
}
