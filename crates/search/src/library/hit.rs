//! Hits: the positions that a query finds.

use std::fmt;
use std::sync::Arc;

use super::{GameRef, Query};
use crate::found::Found;
use crate::report::SpanMoves;
use orbit_core::board::{Bitboard, Position};
use orbit_engine::{Answer, CopyDetail, MatchSpan, SpanKind};
use orbit_reel::{Block, GameRow};
use orbit_transforms::OutermostOrbit as _;

/// A position that matches a query. Like its [`GameRef`], a hit can be kept after the search. Expensive facts are computed only
/// when their methods are called.
#[derive(Clone)]
pub struct Hit {
    game: GameRef,
    node: u32,
    value: Answer,
    /// The index of the first matching copy of the query, and the number of matching copies.
    lowest: (Option<u32>, usize),
    /// All matching copies of the query, if requested.
    copies: Option<Arc<[u32]>>,
    pub(super) span: Option<Arc<MatchSpan>>,
    query: Query,
}

/// One of the copies of a query that its transform produces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct MatchedCopy<'a> {
    /// The index of the copy in [`Query::copies`].
    pub index: u32,
    /// The copy as CQL.
    pub text: &'a str,
    /// The transform that produces the copy, in words.
    pub transform: &'a str,
}

/// The span of a hit: the positions and moves of the `line`, `path`, `--`, `[x]`, `move`, `find` or `echo` that matched.
///
/// ```
/// use orbit_search::{Database, Order, Query, SortKey, SpanKind};
///
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
/// let database = Database::open(["games/sample.pgn"])?;
/// let query = Query::parse("line --> {move capture .}{2,}")?;
/// let longest = Order::Sorted { key: SortKey::Length, reverse: false };
/// let hits = database.scan(&query).spans().order(longest, 1).hits()?;
/// let span = hits[0].span().expect("a line matched");
/// assert_eq!(span.kind(), SpanKind::Line);
/// assert_eq!(span.length(), span.sans().len());
/// assert_eq!(span.nodes()[0], hits[0].node());
/// assert!(span.text().starts_with("11... Nxd2 12. Qxd2 cxd4 "));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct HitSpan<'a> {
    span: &'a MatchSpan,
    game: &'a GameRef,
}

impl HitSpan<'_> {
    /// Returns the kind of filter that matched.
    pub fn kind(&self) -> SpanKind {
        self.span.kind
    }

    /// Returns the nodes of the span (the numbers of its positions within the game), in an order that depends on the kind of
    /// filter. For a line, these are the positions of its constituents; for a path, its start and the positions after its moves
    /// (without those that a `focus` skips); for a move, the positions before and after it; for `find`, the hit and the positions
    /// found; for `echo`, both positions.
    pub fn nodes(&self) -> &[u32] {
        &self.span.nodes
    }

    /// Returns the number of moves.
    pub fn length(&self) -> usize {
        self.span.length()
    }

    /// Returns the moves as SAN.
    pub fn sans(&self) -> Vec<String> {
        SpanMoves::new(self.span, &self.game.row()).sans().map(str::to_owned).collect()
    }

    /// Returns the moves in PGN notation: `23. Bxh7+ Kxh7 24. Ng5+`. For `find` and `echo`, these are the moves that lead to the
    /// positions found.
    pub fn text(&self) -> String {
        SpanMoves::shown(self.span, &self.game.row()).text(usize::MAX)
    }
}

impl Hit {
    /// Returns the game.
    pub fn game(&self) -> &GameRef {
        &self.game
    }

    /// Returns the node, which is the index of the position in its game. On the main line it is the ply; the nodes of side lines
    /// follow.
    pub fn node(&self) -> u32 {
        self.node
    }

    /// Returns the number of half-moves before the position, which is 0 at the start of the game.
    pub fn ply(&self) -> u32 {
        self.game.ply(self.node)
    }

    /// Returns the index of the side line that contains the position, or `None` for positions on the main line. Side lines are
    /// numbered in the order of their nodes.
    pub fn line(&self) -> Option<usize> {
        self.game.line(self.node)
    }

    /// Returns the query's value, which is true, a set of squares, or a number.
    pub fn value(&self) -> Answer {
        self.value
    }

    /// Returns the squares that the query finds. The set is empty if the value is not a set.
    pub fn squares(&self) -> Bitboard {
        if let Answer::Set(squares) = self.value { squares } else { Bitboard::EMPTY }
    }

    /// Returns the position.
    pub fn position(&self) -> Position {
        self.game.position(self.node)
    }

    /// Returns the position as FEN, with the halfmove clock and move number from the game.
    pub fn fen(&self) -> String {
        self.game.fen(self.node)
    }

    /// Returns the move that led to the position as SAN, or `None` at the start of the game.
    pub fn san_before(&self) -> Option<String> {
        self.game.san_before(self.node)
    }

    /// Returns the move that follows the position in its line as SAN, or `None` at the end of the line.
    pub fn san_after(&self) -> Option<String> {
        self.game.san_after(self.node)
    }

    /// Returns a label for the move that led to the position: `24.` for White, `23...` for Black, `start` for the first position.
    pub fn label(&self) -> String {
        self.game.label(self.node)
    }

    /// Returns the first matching copy of the query. Copies are produced by the query's outermost transform; a query without a
    /// transform is its own only copy. Returns `None` if [`Scan::places_only`](super::Scan::places_only) was called, or if no copy
    /// matches, which is possible for transforms with a range of counts, such as `flip 0 3 Ra1`.
    pub fn copy(&self) -> Option<MatchedCopy<'_>> {
        self.lowest.0.map(|index| self.named(index))
    }

    /// Returns the number of matching copies of the query.
    pub fn copies_len(&self) -> usize {
        self.lowest.1
    }

    /// Iterates over all matching copies of the query if [`Scan::all_copies`](super::Scan::all_copies) was called, otherwise over
    /// the first one only.
    pub fn copies(&self) -> impl Iterator<Item = MatchedCopy<'_>> {
        let all = self.copies.as_deref().map_or(self.lowest.0.as_slice(), |copies| copies);
        all.iter().map(|&index| self.named(index))
    }

    /// Returns the span of the hit (the matched moves and positions). Returns `None` if [`Scan::spans`](super::Scan::spans) was not
    /// called or no filter with moves matched.
    pub fn span(&self) -> Option<HitSpan<'_>> {
        Some(HitSpan { span: self.span.as_deref()?, game: &self.game })
    }

    fn named(&self, index: u32) -> MatchedCopy<'_> {
        let at = index as usize;
        MatchedCopy { index, text: &self.query.copies()[at], transform: &self.query.transforms()[at] }
    }
}

impl fmt::Debug for Hit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Hit { game, node, value, .. } = self;
        f.debug_struct("Hit").field("game", game).field("node", node).field("value", value).finish()
    }
}

/// Converts a query's answers to hits.
pub(super) struct HitMaker<'a> {
    pub(super) query: &'a Query,
    pub(super) sources: &'a Arc<[String]>,
    /// The index of the first matching copy and the number of matching copies, for answers that do not contain copies.
    pub(super) untold: (Option<u32>, usize),
}

impl<'a> HitMaker<'a> {
    pub(super) fn new(query: &'a Query, sources: &'a Arc<[String]>) -> HitMaker<'a> {
        // If the query has only one copy, every hit matches that copy.
        let untold = if query.filter().has_one_copy() { (Some(0), 1) } else { (None, 0) };
        HitMaker { query, sources, untold }
    }

    /// Iterates over the hits in one game.
    pub(super) fn at(
        &self,
        block: &Arc<Block>,
        found: &Found<'_>,
        game: &GameRow,
    ) -> impl Iterator<Item = Hit> {
        let (first, end) = (game.first_slot(), game.end_slot());
        let found = *found;
        let (hits, copies) = (&found.answers.hits, found.answers.hit_copies());
        let reference = GameRef::new(block, game.index(), self.sources);
        let before = copies.map_or(0, |copies| copies.first_in(hits, first));
        hits.slots(first..end).zip(before..).map(move |(slot, hit)| Hit {
            span: found.span(game, (slot - first) as u32),
            game: reference.clone(),
            node: (slot - first) as u32,
            value: hits.answer(slot),
            lowest: copies.map_or(self.untold, |copies| (copies.lowest(hit), copies.count(hit))),
            copies: copies
                .filter(|copies| copies.detail() == CopyDetail::All)
                .map(|copies| Arc::from(copies.at_hit(hit))),
            query: self.query.clone(),
        })
    }
}
