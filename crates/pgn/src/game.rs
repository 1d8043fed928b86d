//! One game as read: what a reel is built from, and what texts and annotations are compared with.

use orbit_core::board::{PackedMove, Position};

/// How the movetext of a game ended, by its terminator (never by the `Result` tag).
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
    /// The terminator as PGN writes it.
    pub const fn text(self) -> &'static str {
        match self {
            Outcome::Unknown => "*",
            Outcome::WhiteWins => "1-0",
            Outcome::BlackWins => "0-1",
            Outcome::Draw => "1/2-1/2",
        }
    }
}

/// One tag pair, bytes as found (escapes `\"` and `\\` resolved).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tag {
    /// The name, e.g. `White`.
    pub name: Vec<u8>,
    /// The value. Not always UTF-8.
    pub value: Vec<u8>,
}

/// Where and why reading a game stopped early.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReadFault {
    /// Byte offset of the offending token in the decompressed source.
    pub offset: u64,
    /// Half-moves kept before it.
    pub ply: u32,
    /// Lower case, no full stop: `Nd7 is ambiguous`.
    pub reason: String,
}

/// Whether a game was read to its end.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum GameStatus {
    /// Every move was read.
    #[default]
    Whole,
    /// The moves before the fault were kept.
    Cut(ReadFault),
    /// Nothing was kept; the game has no positions (other variants, unreadable FEN).
    Skipped(ReadFault),
}

/// A side line (variation): an alternative to a move.
///
/// The positions of a game are the *nodes* of a tree. They are numbered as CQL does: the main line from 0, then what
/// hangs from the deepest node at which side lines branch off, and so on towards the start; of one node the side lines
/// come in the order of the text, and each is numbered as a game is: its own positions, then its side lines. So the
/// positions after a node have the numbers that follow its own.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SideLine {
    /// The node that it leaves.
    pub parent: u32,
    /// Its place among the side lines of that node, from 1.
    pub sibling: u32,
    /// Its moves, at least one. The first leads from the parent to the first position of the line.
    pub moves: Vec<PackedMove>,
}

/// What an annotator wrote at a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Annotation {
    /// The node.
    pub node: u32,
    /// What it is.
    pub kind: AnnotationKind,
}

/// See [`Annotation`]. Bytes of comments are as found, without their braces.
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
    /// From 1 in its source, in file order; skipped games keep theirs.
    pub number: u32,
    /// Byte offset of the game's first byte in the decompressed source.
    pub offset: u64,
    /// The start position, `None` for the standard one.
    pub start: Option<Position>,
    /// The main line.
    pub moves: Vec<PackedMove>,
    /// The position before each move, and the last one, where they are known: who lays out games
    /// need not play the moves again. Empty where they are not.
    pub positions: Vec<Position>,
    /// The side lines, ordered by the numbers of their first nodes, if they are wanted: see
    /// [`ParseOptions::variations`](super::ParseOptions::variations).
    pub lines: Vec<SideLine>,
    /// Comments and glyphs, ordered by nodes, if side lines are wanted; those of one node as found.
    pub annotations: Vec<Annotation>,
    /// All tag pairs in file order.
    pub tags: Vec<Tag>,
    /// The movetext's terminator.
    pub outcome: Outcome,
    /// Whole, cut or skipped.
    pub status: GameStatus,
    /// Things that were repaired, e.g. a FEN's impossible castling rights that were dropped.
    pub notes: Vec<ReadFault>,
    /// Side lines that were left out or cut.
    pub lost: Vec<ReadFault>,
    /// Whether the sides have changed places: see [`Game::colors_swapped`]. Its moves are still numbered as they were
    /// played.
    pub is_swapped: bool,
}
