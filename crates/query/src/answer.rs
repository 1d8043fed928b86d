//! The results of queries: values at positions, the spans of hits, and the values by which games are sorted.

use serde::{Deserialize, Serialize};
use shakmaty::Bitboard;

/// The value of a query at one position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// The value of a condition (a query of type Bool). For a query of type Str, true if the query has a value.
    Bool(bool),
    /// The value of a query of type Set: a set of squares.
    Set(Bitboard),
    /// The value of a query of type Num, or `None` if it has no value. For a query of type Position, the number of the resulting
    /// position within its game.
    Num(Option<i32>),
}

impl Answer {
    /// Returns true if the position is a hit: the answer is true, a non-empty set, or a number that has a value.
    pub fn is_hit(self) -> bool {
        match self {
            Answer::Bool(hit) => hit,
            Answer::Set(squares) => squares.any(),
            Answer::Num(value) => value.is_some(),
        }
    }
}

/// The positions and moves that make up a hit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MatchSpan {
    /// The kind of filter that matched.
    pub kind: SpanKind,
    /// The numbers of the hit's positions within the game. Their meaning and order depend on the kind of filter:
    ///
    /// * for `line`, the positions at which its filters matched;
    /// * for `path`, the start and the positions after the moves in focus (all moves if the path has no `focus`);
    /// * for a move, the positions before and after it;
    /// * for `find`, the hit and the position found;
    /// * for `echo`, both positions.
    pub nodes: Vec<u32>,
    /// The moves, in the order in which they were played. Each move is represented by the number of the position after it. For
    /// `path`, these are the moves in focus. For other filters, they are all moves between the positions.
    pub moves: Vec<u32>,
}

/// The kinds of filters whose match consists of moves or of several positions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum SpanKind {
    /// `line`.
    Line,
    /// `path`.
    Path,
    /// `--`, `[x]` or `move`.
    Move,
    /// `find`.
    Find,
    /// `echo`.
    Echo,
}

impl SpanKind {
    /// Returns the name of the filter.
    pub fn name(self) -> &'static str {
        match self {
            SpanKind::Line => "line",
            SpanKind::Path => "path",
            SpanKind::Move => "move",
            SpanKind::Find => "find",
            SpanKind::Echo => "echo",
        }
    }

    /// Returns true if the moves themselves are part of the match. For other filters, the moves only connect two positions of the
    /// match.
    pub fn is_of_moves(self) -> bool {
        matches!(self, SpanKind::Line | SpanKind::Path | SpanKind::Move)
    }
}

impl MatchSpan {
    /// Returns the number of moves in the span.
    pub fn length(&self) -> usize {
        self.moves.len()
    }

    /// Returns the number of the position after the span's key move: the first move or, for `find` and `echo`, the move that led to
    /// the other position.
    pub fn key_move(&self) -> Option<u32> {
        match self.kind.is_of_moves() {
            true => self.moves.first().copied(),
            false => self.nodes.get(1).copied().filter(|&node| node > 0),
        }
    }
}

/// A value by which games are sorted.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum SortValue {
    /// The value of a numeric filter, or the number of squares in the value of a set filter.
    Number(i32),
    /// The value of a string filter. Strings are ordered byte by byte.
    Text(Vec<u8>),
}
