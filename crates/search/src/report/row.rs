//! The facts about a hit that tables show, as one row. All formats use these rows.

use std::cell::OnceCell;
use std::sync::Arc;

use shakmaty::ByColor;

use super::NodeWalk;
use orbit_core::board::{Bitboard, Board, Color, Position};
use orbit_core::game::{self, Measures};
use orbit_core::named::choices;
use orbit_engine::{
    Answer, Answers, Commentary, CopyHits, FindSpan, GameAnswer, GameCommentary, Hits, MatchSpan,
};
use orbit_reel::{Block, GameMeasures, GameRow};
use orbit_transforms::OutermostOrbit as _;
use orbit_transforms::{AsText, CopyDifference, Designators, Filter, Frame, Likeness, Placement};

/// The names of the sources, copies and pieces to which hits refer by numbers.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// The names of the database's sources.
    pub sources: Vec<String>,
    /// The copies of the outermost transform, as CQL; without a transform there is one copy.
    pub copies: Vec<String>,
    /// The transform that produces each copy, in words.
    pub transforms: Vec<String>,
    /// The piece designators of the filter whose squares a table shows.
    pub designators: Designators,
    /// The board that the query compares positions with, if there is one.
    pub likeness: Option<Likeness>,
    /// For each query, the sides that have the pattern of each copy, if this was requested: see [`Filter::copy_sides`].
    pub copy_sides: Vec<Option<Vec<ByColor<bool>>>>,
    /// For each query, the placements of its copies, if they were requested: see [`Filter::placements`].
    pub placements: Vec<Vec<Placement>>,
}

impl Names {
    /// Creates the names of a filter's copies.
    pub fn new(filter: &Filter, sources: Vec<String>) -> Names {
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

    /// Returns the squares of the pieces that the filter names, in a position that a copy hits.
    fn matched(&self, copy: Option<u32>, board: &Board) -> Vec<(&str, Bitboard)> {
        copy.map_or(Vec::new(), |copy| self.designators.on(copy as usize, board))
    }

    /// Returns the name of a game's source.
    pub fn source(&self, game: &GameRow) -> &str {
        self.sources.get(game.source() as usize).map_or("", String::as_str)
    }
}

/// The answers of a query on one block.
#[derive(Clone, Copy)]
pub struct Found<'a> {
    /// The block.
    pub block: &'a Block,
    /// The selected hits.
    pub hits: &'a Hits,
    /// For each game, true if it is selected; `None` if all games are.
    pub games: Option<&'a [bool]>,
    /// For each selected game, the side of the player from which the query was evaluated; `None` without a player.
    pub sides: Option<&'a [Option<Color>]>,
    /// The answer of the query for each game, if the query is about whole games.
    pub told: Option<&'a [GameAnswer]>,
    /// The comments that the query writes, if they are known.
    pub commentary: Option<&'a Commentary>,
    /// The copies that match at the hits; `None` if there is only one copy: see [`Filter::has_one_copy`].
    pub copies: Option<&'a CopyHits>,
    /// The sides whose pattern matches at the hits, if they are known: see [`CopyHits::sides`].
    pub hit_sides: Option<&'a CopyHits>,
    /// The sides that have the pattern of each copy, if they were requested and are known: see [`Filter::copy_sides`].
    pub copy_sides: Option<&'a [ByColor<bool>]>,
    /// The placement of each copy, if it was requested: see [`Filter::placements`].
    pub placements: Option<&'a [Placement]>,
    /// Finds the spans of hits, if spans were requested.
    pub spans: Option<&'a dyn FindSpan>,
    /// The display names of sources and copies.
    pub names: &'a Names,
}

/// The kind of rows of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Rows {
    /// One row for each position that hits.
    #[default]
    Hits,
    /// One row for each game with hits, at its first hit.
    Games,
}

choices! { Rows, "kind of rows",
    Rows::Hits => "hits", "";
    Rows::Games => "games", "";
}

/// The parts of a row that take time to compute and are often not needed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct RowParts {
    /// The move that led to the position, and its label.
    pub(super) played: bool,
    /// The next move.
    pub(super) next: bool,
    /// The position as FEN.
    pub(super) fen: bool,
}

impl RowParts {
    const ALL: RowParts = RowParts { played: true, next: true, fen: true };
}

/// One row. Strings are empty where a fact is unknown.
#[derive(Clone)]
pub struct Row<'a> {
    /// The game.
    pub game: GameRow<'a>,
    /// The number of positions of the game that hit.
    pub hits: usize,
    /// The number of the position in its game; on the main line its ply.
    pub node: u32,
    /// The number of half-moves played before the position.
    pub ply: u32,
    /// The side line of the position, as [`NodeWalk::line`] names it; empty on the main line.
    pub line: String,
    /// The position.
    pub position: Position,
    /// The number of the move that led to the position: `23...`, or `start`.
    pub label: String,
    /// That move in SAN; `None` at the start.
    pub san: Option<String>,
    /// The position as FEN, with halfmove clock and move number.
    pub fen: String,
    /// The next move in the line of the position, in SAN; empty at the end of the line.
    pub next: String,
    /// The value of the query.
    pub value: Answer,
    /// The value of a query that yields a string.
    pub text: Option<&'a [u8]>,
    /// The lowest copy that matches, counted from 0.
    pub copy: Option<u32>,
    /// The number of copies that match.
    pub copies: usize,
    /// The clock and the evaluation, if the block has the comments of the game.
    pub measures: Measures,
    /// The result of [`Found::difference_at`], computed on first use.
    difference: OnceCell<Option<CopyDifference>>,
}

impl<'a> Found<'a> {
    /// Combines the answers of one query with the selection of games and the sides from which the query was evaluated. The spans
    /// are those in the answers.
    pub fn with_answers(
        block: &'a Block,
        answers: &'a Answers,
        (games, sides): (Option<&'a [bool]>, Option<&'a [Option<Color>]>),
        names: &'a Names,
    ) -> Found<'a> {
        let Answers { hits, copies, games: told, commentary, spans } = answers;
        Found {
            games,
            sides,
            told: told.as_deref(),
            commentary: commentary.as_ref(),
            copies: copies.as_ref().filter(|copies| copies.tells_copies()),
            hit_sides: copies.as_ref().filter(|copies| copies.tells_sides()),
            spans: spans.as_ref().map(|spans| spans as &dyn FindSpan),
            ..Found::new(block, hits, names)
        }
    }

    /// Creates answers that consist only of hits. All games and hits are selected.
    pub fn new(block: &'a Block, hits: &'a Hits, names: &'a Names) -> Found<'a> {
        Found {
            block,
            hits,
            games: None,
            sides: None,
            told: None,
            commentary: None,
            copies: None,
            hit_sides: None,
            copy_sides: None,
            placements: None,
            spans: None,
            names,
        }
    }

    /// Returns the span of a hit of a game, if spans were requested.
    pub fn span(&self, game: &GameRow, node: u32) -> Option<Arc<MatchSpan>> {
        self.spans?.span((self.hits, self.copies), game, node)
    }

    /// Returns whether a game is selected.
    pub fn counts(&self, game: &GameRow) -> bool {
        self.games.is_none_or(|games| games[game.index()])
    }

    /// Returns the side of the player in a game; White if there is no player.
    pub fn side(&self, game: &GameRow) -> Color {
        self.sides.and_then(|sides| sides[game.index()]).unwrap_or(Color::White)
    }

    /// Returns the frame of the first copy that matches at a hit: the map that takes moves and positions of the game back to the
    /// filter as it is written. `hit` is the index of the hit among those of the block. If no copy matches, it is the frame of
    /// the game as the player sees it.
    pub fn frame(&self, game: &GameRow, hit: usize) -> Frame {
        let copy = self.copies.map_or(Some(0), |copies| copies.lowest(hit));
        let placement = copy.zip(self.placements).and_then(|(copy, all)| all.get(copy as usize));
        Frame::new(placement.copied().unwrap_or(Placement::IDENTITY), self.side(game))
    }

    /// Returns the squares of the pieces that the filter names, on the board of the game as it was played.
    pub(super) fn matched(&self, row: &Row) -> Vec<(&'a str, Bitboard)> {
        let board = row.position.board;
        match self.side(&row.game) {
            Color::White => self.names.matched(row.copy, &board),
            Color::Black => {
                let mut pieces = self.names.matched(row.copy, &board.colors_swapped());
                pieces.iter_mut().for_each(|(_, squares)| *squares = squares.flip_vertical());
                pieces
            }
        }
    }

    /// Returns the difference between a position and the board with which the query compares it; `None` if there is no such
    /// board.
    pub(super) fn difference(&self, game: &GameRow, board: &Board) -> Option<CopyDifference> {
        self.names.likeness.as_ref().map(|likeness| likeness.difference(board, self.side(game)))
    }

    /// Returns the difference for the position of a row; it is computed once.
    pub(super) fn difference_at<'r>(&self, row: &'r Row) -> Option<&'r CopyDifference> {
        row.difference.get_or_init(|| self.difference(&row.game, &row.position.board)).as_ref()
    }

    /// Returns the answer of the query for a game, if the query is about whole games.
    pub fn of_game(&self, game: &GameRow) -> Option<&'a GameAnswer> {
        self.told.map(|told| &told[game.index()])
    }

    /// Returns the comments that the query writes about a game.
    pub fn commentary_of(&self, game: &GameRow) -> Option<&'a GameCommentary> {
        let games = &self.commentary?.games;
        let at = games.binary_search_by_key(&(game.index() as u32), |game| game.index).ok()?;
        Some(&games[at])
    }

    /// Returns whether a game is found: either one of its positions hits, or the query finds games without hits and this is one
    /// of them.
    pub fn is_found(&self, game: &GameRow) -> bool {
        self.of_game(game).map_or_else(|| self.has_hits(game), |told| told.is_found)
    }

    /// Returns whether a position of a game hits.
    pub fn has_hits(&self, game: &GameRow) -> bool {
        self.hits.slots(game.slots()).next().is_some()
    }

    /// Visits the rows of a game in order. Returns the number of positions that hit.
    pub fn rows(&self, game: &GameRow, rows: Rows, visit: impl FnMut(&Row)) -> usize {
        self.rows_with(game, rows, RowParts::ALL, visit)
    }

    /// Visits the rows of a game in order, with only the given parts filled in. The other parts are empty. Returns the number of
    /// positions that hit.
    pub(super) fn rows_with(
        &self,
        game: &GameRow,
        rows: Rows,
        parts: RowParts,
        mut visit: impl FnMut(&Row),
    ) -> usize {
        let (first, end) = (game.first_slot(), game.end_slot());
        let count = self.hits.count_in(first..end) as usize;
        if count == 0 {
            return 0;
        }
        let wanted = if rows == Rows::Games { 1 } else { count };
        let before = self.copies.map_or(0, |copies| copies.first_in(self.hits, first));
        let (mut walk, measures) = (NodeWalk::from_game(game), GameMeasures::from_game(game));
        // The SAN of the move after each hit is kept, because this move often leads to the next hit and SAN takes time to
        // compute.
        let mut last: Option<(u32, String)> = None;
        for (slot, hit) in self.hits.slots(first..end).take(wanted).zip(before..) {
            walk.to((slot - first) as u32);
            let san = match last.take() {
                _ if !parts.played => None,
                Some((node, next)) if node + 1 == walk.node() && !next.is_empty() => Some(next),
                _ => walk.san(),
            };
            let next = if parts.next { walk.next() } else { String::new() };
            let copies = self.copies.map(|copies| (copies.lowest(hit), copies.count(hit)));
            let (copy, copies) = copies.unwrap_or((Some(0), 1));
            visit(&Row {
                game: *game,
                hits: count,
                node: walk.node(),
                ply: walk.ply(),
                line: walk.line().to_owned(),
                position: walk.position(),
                label: if parts.played { walk.label() } else { String::new() },
                san,
                fen: if parts.fen { walk.fen() } else { String::new() },
                next: next.clone(),
                value: self.hits.answer(slot),
                text: self.hits.text(slot),
                copy,
                copies,
                measures: measures.at(walk.node()),
                difference: OnceCell::new(),
            });
            last = Some((walk.node(), next));
        }
        count
    }
}

impl Row<'_> {
    /// Returns the row for another position of the same game, with its moves in SAN.
    pub(crate) fn at(&self, node: u32) -> Self {
        let mut walk = NodeWalk::from_game(&self.game);
        walk.to(node);
        Row {
            node,
            ply: walk.ply(),
            line: walk.line().to_owned(),
            position: walk.position(),
            label: walk.label(),
            san: walk.san(),
            fen: walk.fen(),
            next: walk.next(),
            difference: OnceCell::new(),
            ..self.clone()
        }
    }

    /// Returns the address of the game at lichess or chess.com. The address refers to the position only on the main line, because
    /// these sites do not have the side lines.
    pub fn url(&self) -> Option<String> {
        game::url(&self.game, self.line.is_empty().then_some(self.ply))
    }
}

/// Returns the position of a game at a node as FEN, with the halfmove clock and the move number that it had in the game.
///
/// # Panics
///
/// Panics if the game has no such node.
pub fn fen_at(game: &GameRow, node: u32) -> String {
    let mut walk = NodeWalk::from_game(game);
    walk.to(node);
    walk.fen()
}
