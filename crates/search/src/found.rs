//! The answers of queries on one block (a group of whole games), as collectors, lists and requests receive them.
//!
//! Functions that show or count hits receive a [`Found`], which borrows the answers of one query from a [`BlockResult`].

use std::borrow::Cow;
use std::sync::Arc;

use shakmaty::ByColor;

use orbit_core::board::{Bitboard, Board, Color};
use orbit_engine::{Answers, FindSpan, GameAnswer, GameCommentary, MatchSpan, Spans, Values};
use orbit_reel::{Block, GameRow};
use orbit_transforms::OutermostOrbit as _;
use orbit_transforms::{AsText, Designators, Filter, Frame, Likeness, Placement};

/// The names that are shown in place of numbers in answers: the names of sources, of transformed copies of queries, and of pieces.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// The names of the database's sources.
    pub sources: Vec<String>,
    /// The copies of the query that its outermost transform produces, as CQL. Without a transform, there is one copy.
    pub copies: Vec<String>,
    /// For each copy, a description of its transform in words.
    pub transforms: Vec<String>,
    /// The query's piece designators. Tables have columns for the squares of the matched pieces.
    pub designators: Designators,
    /// The board with which a `similar` query compares positions, or `None` for all other queries.
    pub likeness: Option<Likeness>,
    /// For each query, the side or sides whose pieces form the pattern of each of its copies: Black if the transform swaps colours,
    /// otherwise White. A copy that can be made with and without a swap is a pattern of both sides. `None` unless requested: see
    /// [`Filter::copy_sides`].
    pub copy_sides: Vec<Option<Vec<ByColor<bool>>>>,
    /// For each query, the board transform of each copy, if requested: see [`Filter::placements`].
    pub placements: Vec<Vec<Placement>>,
}

impl Names {
    /// Creates the names for a filter's transformed copies.
    pub(crate) fn new(filter: &Filter, sources: Vec<String>) -> Names {
        let text = |filter: &Filter| AsText(filter).to_string();
        let (copies, transforms) = match filter.outermost() {
            Some(orbit) => {
                let copies = orbit.copies.iter();
                copies.map(|copy| (text(&copy.filter), copy.placement.to_string())).unzip()
            }
            None => (vec![text(filter)], vec![Placement::IDENTITY.to_string()]),
        };
        let designators = Designators::new(filter);
        Names { sources, copies, transforms, designators, ..Names::default() }
    }

    /// Returns the squares of the pieces that the filter names, for a position in which the transformed copy `copy` matches.
    pub(crate) fn matched(&self, copy: Option<u32>, board: &Board) -> Vec<(&str, Bitboard)> {
        copy.map_or(Vec::new(), |copy| self.designators.on(copy as usize, board))
    }

    /// Returns the name of a game's source.
    pub fn source(&self, game: &GameRow) -> &str {
        self.sources.get(game.source() as usize).map_or("", String::as_str)
    }
}

/// The answers of all queries in a search for one block. While the block is searched, they borrow from the search. Answers that are
/// kept longer own everything.
#[derive(Debug)]
#[non_exhaustive]
pub struct BlockResult<'a> {
    /// The block.
    pub block: Arc<Block>,
    /// For each game of the block, true if it is selected; `None` if all games are selected.
    pub games: Option<Cow<'a, [bool]>>,
    /// For each game of the block, the selected player's side, from which queries were evaluated, or `None` if the game is not
    /// selected. `None` for the block if no player is selected.
    pub sides: Option<Cow<'a, [Option<Color>]>>,
    /// For each query, its answers at the selected hits.
    pub answers: Vec<Answers>,
    /// For each query, a span finder, if spans (the moves and positions of hits) were requested and the engine did not return them.
    pub(crate) late: Vec<Option<Box<dyn FindSpan + 'a>>>,
    /// The names to which the numbers in the answers refer.
    pub names: Cow<'a, Names>,
}

/// The answers of a query on one block.
#[derive(Clone, Copy)]
pub struct Found<'a> {
    /// The block.
    pub block: &'a Block,
    /// The answers at the selected hits.
    pub answers: &'a Answers,
    /// The index of the query among all queries of the search.
    pub query: usize,
    /// For each game of the block, true if it is selected; `None` if all games are selected.
    pub games: Option<&'a [bool]>,
    /// For each game of the block, the selected player's side, from which the query was evaluated, or `None` if the game is not
    /// selected. `None` for the block if no player is selected.
    pub sides: Option<&'a [Option<Color>]>,
    /// The finder of the spans of hits (the matched moves and positions), if spans were requested.
    pub spans: Option<&'a dyn FindSpan>,
    /// The display names of the sources and of the transformed copies of queries.
    pub names: &'a Names,
}

impl BlockResult<'_> {
    /// Returns the answers of one query.
    ///
    /// # Panics
    ///
    /// Panics if there is no such query.
    pub fn of_query(&self, query: usize) -> Found<'_> {
        let (games, sides) = (self.games.as_deref(), self.sides.as_deref());
        let found = Found::new(&self.block, &self.answers[query], &self.names);
        Found { query, games, sides, spans: found.spans.or(self.late[query].as_deref()), ..found }
    }

    /// Returns the answers of the first query.
    ///
    /// # Panics
    ///
    /// Panics if there is no query.
    pub fn first(&self) -> Found<'_> {
        self.of_query(0)
    }

    /// Returns the answers of the first query in a form that outlives the search.
    ///
    /// # Panics
    ///
    /// Panics if there is no query.
    pub(crate) fn keep_first(mut self) -> BlockResult<'static> {
        let found = self.first();
        let spans = found.spans.map(|spans| Spans::told(spans, found.answers, found.block));
        let answers = vec![Answers { spans, ..self.answers.swap_remove(0) }];
        BlockResult {
            block: self.block,
            games: self.games.map(|games| Cow::Owned(games.into_owned())),
            sides: self.sides.map(|sides| Cow::Owned(sides.into_owned())),
            answers,
            late: vec![None],
            names: Cow::Owned(self.names.into_owned()),
        }
    }

    /// Returns the approximate size of the answers in bytes, without the block and the names.
    pub(crate) fn bytes(&self) -> u64 {
        let of_query = |answers: &Answers| {
            let Answers { hits, copies, games, spans, .. } = answers;
            let values = match &hits.values {
                Values::None => 0,
                Values::Numbers(numbers) => numbers.memory_bytes(),
                Values::Sets(sets) => sets.memory_bytes(),
                Values::Texts(texts) => {
                    texts.memory_bytes() + texts.all().iter().flatten().map(|text| text.len()).sum::<usize>()
                }
            };
            // A span contains a few positions and moves; 128 bytes are a rough estimate.
            let spans = spans.as_ref().map_or(0, |_| 128 * hits.count() as usize);
            let copies = copies.as_ref().map_or(0, |copies| 8 * (copies.len() + copies.sums().len()));
            let told = games.as_ref().map_or(0, |told| size_of_val(&told[..]));
            values + spans + copies + told + 8 * hits.bits.len()
        };
        let answers: usize = self.answers.iter().map(of_query).sum();
        let games =
            self.games.as_deref().map_or(0, size_of_val) + self.sides.as_deref().map_or(0, size_of_val);
        (answers + games + size_of::<BlockResult>()) as u64
    }
}

impl<'a> Found<'a> {
    /// Creates the answers of the only query in a search, with all games selected. Spans are taken from `answers`.
    pub fn new(block: &'a Block, answers: &'a Answers, names: &'a Names) -> Found<'a> {
        let spans = answers.spans.as_ref().map(|spans| spans as &dyn FindSpan);
        Found { block, answers, query: 0, games: None, sides: None, spans, names }
    }

    /// Returns the span of a hit (the matched moves and positions), if spans were requested.
    pub fn span(&self, game: &GameRow, node: u32) -> Option<Arc<MatchSpan>> {
        self.spans?.span(self.answers, game, node)
    }

    /// Iterates over the games that the query found.
    pub fn games_found(&self) -> impl Iterator<Item = GameRow<'a>> {
        let Found { block, answers, .. } = *self;
        block.games().filter(|game| answers.finds(game))
    }

    /// Iterates over the games with at least one selected hit. A query can also find games without a hit.
    pub(crate) fn games_with_hits(&self) -> impl Iterator<Item = GameRow<'a>> {
        let hits = &self.answers.hits;
        self.block.games().filter(|game| hits.any_in(game.slots()))
    }

    /// Returns whether a game is selected.
    pub fn counts(&self, game: &GameRow) -> bool {
        self.games.is_none_or(|games| games[game.index()])
    }

    /// Returns the player's side in a game, or White if there is no player.
    pub fn side(&self, game: &GameRow) -> Color {
        self.sides.and_then(|sides| sides[game.index()]).unwrap_or(Color::White)
    }

    /// For each copy of the query, returns the side or sides whose pieces form its pattern: Black if the transform swaps colours,
    /// otherwise White. Returns `None` unless the sides were requested and are known: see [`Filter::copy_sides`].
    pub fn copy_sides(&self) -> Option<&'a [ByColor<bool>]> {
        self.names.copy_sides.get(self.query)?.as_deref()
    }

    /// Returns the frame of a hit, which maps the moves and positions of the game back to the squares and colours of the query as
    /// it is written. It undoes the transform of the first copy that matches at the hit. If no copy is known, the frame only shows
    /// the game from the player's side. `hit` is the index of the hit among all hits in the block.
    pub fn frame(&self, game: &GameRow, hit: usize) -> Frame {
        let copy = self.answers.hit_copies().map_or(Some(0), |copies| copies.lowest(hit));
        let placements = self.names.placements.get(self.query);
        let placement = copy.zip(placements).and_then(|(copy, all)| all.get(copy as usize));
        Frame::new(placement.copied().unwrap_or(Placement::IDENTITY), self.side(game))
    }

    /// Returns the query's answer for a game, if the query is about whole games.
    pub fn of_game(&self, game: &GameRow) -> Option<&'a GameAnswer> {
        self.answers.games.as_ref().map(|told| &told[game.index()])
    }

    /// Returns the comments that the query wrote about a game.
    pub fn commentary_of(&self, game: &GameRow) -> Option<&'a GameCommentary> {
        let games = &self.answers.commentary.as_ref()?.games;
        let at = games.binary_search_by_key(&(game.index() as u32), |game| game.index).ok()?;
        Some(&games[at])
    }
}
