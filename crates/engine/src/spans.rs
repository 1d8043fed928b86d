//! Spans: the positions and moves of which a hit consists, such as those of a line, a path, a move or a found position.
//!
//! Spans never change the positions at which a query matches. They are computed only for hits, and only on request.

use std::{fmt, sync::Arc};

use super::{CopyHits, Hits};
use orbit_reel::{Block, GameRow};

/// The positions and moves of which a hit consists.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MatchSpan {
    /// The filter whose match this is.
    pub kind: SpanKind,
    /// The positions, by their numbers in the game, in the order of the filter. For `line`, these are the positions of
    /// its constituents. For `path`, the start and the positions after the moves that count. For a move, the positions
    /// before and after it. For `find`, the hit and the found position. For `echo`, both positions.
    pub nodes: Vec<u32>,
    /// The moves, given by the positions to which they lead, in the order in which they were played. For `path`, these
    /// are the moves that count. For other filters, they are all moves between the positions.
    pub moves: Vec<u32>,
}

/// The filters whose matches consist of moves or of several positions.
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

    /// Returns whether the moves themselves are part of the match. The moves of other filters only connect one position
    /// with another.
    pub fn is_of_moves(self) -> bool {
        matches!(self, SpanKind::Line | SpanKind::Path | SpanKind::Move)
    }
}

impl MatchSpan {
    /// Chooses the span to report for a hit: the first `line` or `path` that matched, otherwise the first move,
    /// otherwise the first `find` or `echo`. `spans` must not contain the spans of nested filters.
    pub(super) fn chosen(spans: impl IntoIterator<Item = MatchSpan>) -> Option<MatchSpan> {
        let rank = |span: &MatchSpan| match span.kind {
            SpanKind::Line | SpanKind::Path => 0,
            SpanKind::Move => 1,
            SpanKind::Find | SpanKind::Echo => 2,
        };
        spans.into_iter().min_by_key(rank)
    }

    /// Returns the number of moves in the span.
    pub fn length(&self) -> usize {
        self.moves.len()
    }

    /// Returns the position after the move that represents the span. This is the first move or, for `find` and `echo`,
    /// the move that led to the other position.
    pub fn key_move(&self) -> Option<u32> {
        match self.kind.is_of_moves() {
            true => self.moves.first().copied(),
            false => self.nodes.get(1).copied().filter(|&node| node > 0),
        }
    }
}

/// Finds the spans of the hits of one query on one block.
pub trait FindSpan: fmt::Debug {
    /// Returns the span of the hit at a node of a game, or `None` if no filter with a span matched. `found` has the
    /// hits of the query and, if they are known, the copies that match at them.
    fn span(&self, found: (&Hits, Option<&CopyHits>), game: &GameRow, node: u32) -> Option<Arc<MatchSpan>>;
}

/// The hits of one game: the numbers of their positions in ascending order, each with its span.
pub(super) type GameSpans = Vec<(u32, Option<Arc<MatchSpan>>)>;

/// Returns the span of the hit at a node, if there is one.
pub(super) fn of_hit(spans: &GameSpans, node: u32) -> Option<Arc<MatchSpan>> {
    let at = spans.binary_search_by_key(&node, |(node, _)| *node).ok()?;
    spans[at].1.clone()
}

/// The spans that an engine computed together with the hits.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Spans {
    /// The games with hits, by their indices in the block, in ascending order.
    games: Vec<(u32, GameSpans)>,
}

impl Spans {
    /// Finds the spans of all hits of a block with `by`.
    pub fn told(by: &dyn FindSpan, (hits, copies): (&Hits, Option<&CopyHits>), block: &Block) -> Spans {
        let mut out = Spans::default();
        for game in block.games() {
            let first = game.first_slot();
            let node = |slot| (slot - first) as u32;
            let told = |slot| (node(slot), by.span((hits, copies), &game, node(slot)));
            out.push(game.index(), hits.slots(first..game.end_slot()).map(told).collect());
        }
        out
    }

    /// Adds the spans of the hits of the next game.
    pub(super) fn push(&mut self, game: usize, hits: GameSpans) {
        if !hits.is_empty() {
            self.games.push((game as u32, hits));
        }
    }
}

impl FindSpan for Spans {
    fn span(&self, _: (&Hits, Option<&CopyHits>), game: &GameRow, node: u32) -> Option<Arc<MatchSpan>> {
        let at = self.games.binary_search_by_key(&(game.index() as u32), |(game, _)| *game).ok()?;
        of_hit(&self.games[at].1, node)
    }
}
