//! What hits consist of: the positions and moves of a line, of a path, of a move, or what was found.
//!
//! Nothing of it changes where a query matches. It is told for hits alone, and only where it is wanted.

use std::{fmt, sync::Arc};

use super::{CopyHits, Hits};
use orbit_reel::{Block, GameRow};

/// What a hit consists of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MatchSpan {
    /// The filter that matched.
    pub kind: SpanKind,
    /// The positions by their numbers in the game, in the order of the filter: of a line those of its constituents, of a
    /// path its start and those behind the moves that count, of a move the position before and the one behind it, of
    /// `find` the hit and what was found, of `echo` both positions.
    pub nodes: Vec<u32>,
    /// The positions to which its moves lead, in the order in which these were played: of a path the moves that count, else
    /// all that lie between the positions.
    pub moves: Vec<u32>,
}

/// The filters whose matches consist of moves or of several positions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum SpanKind {
    /// `line`.
    Line,
    /// `path`.
    Path,
    /// `--`, `[x]`, `move`.
    Move,
    /// `find`.
    Find,
    /// `echo`.
    Echo,
}

impl SpanKind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            SpanKind::Line => "line",
            SpanKind::Path => "path",
            SpanKind::Move => "move",
            SpanKind::Find => "find",
            SpanKind::Echo => "echo",
        }
    }

    /// Whether the moves are what matched; else they lead from one position to another.
    pub fn is_of_moves(self) -> bool {
        matches!(self, SpanKind::Line | SpanKind::Path | SpanKind::Move)
    }
}

impl MatchSpan {
    /// The first of the filters that matched at a hit, of lines and paths if there are any, else of moves. What stands in
    /// another one does not count.
    pub(super) fn chosen(spans: impl IntoIterator<Item = MatchSpan>) -> Option<MatchSpan> {
        let rank = |span: &MatchSpan| match span.kind {
            SpanKind::Line | SpanKind::Path => 0,
            SpanKind::Move => 1,
            SpanKind::Find | SpanKind::Echo => 2,
        };
        spans.into_iter().min_by_key(rank)
    }

    /// How many moves it has.
    pub fn length(&self) -> usize {
        self.moves.len()
    }

    /// The position behind the move that stands for it: its first move; of `find` and `echo` the move that led to what was
    /// found.
    pub fn key_move(&self) -> Option<u32> {
        match self.kind.is_of_moves() {
            true => self.moves.first().copied(),
            false => self.nodes.get(1).copied().filter(|&node| node > 0),
        }
    }
}

/// Tells what the hits of one query on one block consist of.
pub trait FindSpan: fmt::Debug {
    /// What a hit of a game consists of; `None` if no such filter matched. `hits` are those of the query, `copies` what was
    /// told of the copies that match at them.
    fn span(&self, found: (&Hits, Option<&CopyHits>), game: &GameRow, node: u32) -> Option<Arc<MatchSpan>>;
}

/// Hits of a game by the numbers of their positions, ascending, and what each consists of.
pub(super) type GameSpans = Vec<(u32, Option<Arc<MatchSpan>>)>;

/// What a hit of a game consists of.
pub(super) fn of_hit(spans: &GameSpans, node: u32) -> Option<Arc<MatchSpan>> {
    let at = spans.binary_search_by_key(&node, |(node, _)| *node).ok()?;
    spans[at].1.clone()
}

/// What hits consist of as an engine told with them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Spans {
    /// Games by their indices in the block, ascending.
    games: Vec<(u32, GameSpans)>,
}

impl Spans {
    /// Has all hits told of what they consist.
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

    /// Adds the hits of the next game.
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
