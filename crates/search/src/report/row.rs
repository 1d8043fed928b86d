//! What a table says of a hit: one row, whatever the table is written as.

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

/// Names for the numbers in hits.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// The database's sources.
    pub sources: Vec<String>,
    /// The copies of the outermost transform, as CQL; one without a transform.
    pub copies: Vec<String>,
    /// How each copy came from the filter, in words.
    pub transforms: Vec<String>,
    /// The designators of the filter that a table names.
    pub designators: Designators,
    /// The board that the query compares positions with, if it does.
    pub likeness: Option<Likeness>,
    /// For each query the sides whose pattern each copy is, if that is wanted: see [`Filter::copy_sides`].
    pub copy_sides: Vec<Option<Vec<ByColor<bool>>>>,
    /// For each query how its copies came from the filter, if that is wanted: see [`Filter::placements`].
    pub placements: Vec<Vec<Placement>>,
}

impl Names {
    /// Names the copies of a filter.
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

    /// Where the pieces that the filter names stand in a position that a copy hits.
    fn matched(&self, copy: Option<u32>, board: &Board) -> Vec<(&str, Bitboard)> {
        copy.map_or(Vec::new(), |copy| self.designators.on(copy as usize, board))
    }

    /// The name of a source.
    pub fn source(&self, game: &GameRow) -> &str {
        self.sources.get(game.source() as usize).map_or("", String::as_str)
    }
}

/// What was found in one block.
#[derive(Clone, Copy)]
pub struct Found<'a> {
    /// The block.
    pub block: &'a Block,
    /// The hits that count.
    pub hits: &'a Hits,
    /// For each game, whether it counts; `None` if all do.
    pub games: Option<&'a [bool]>,
    /// For each game that counts, the side of the player from which the query was asked; `None` without a player.
    pub sides: Option<&'a [Option<Color>]>,
    /// What the query says of each game, if it is asked of whole games.
    pub told: Option<&'a [GameAnswer]>,
    /// What the query writes, if that is known.
    pub commentary: Option<&'a Commentary>,
    /// Which copies match at them; `None` if that is told by the hits: see [`Filter::has_one_copy`].
    pub copies: Option<&'a CopyHits>,
    /// The sides whose pattern matches at them, if they were told: see [`CopyHits::sides`].
    pub hit_sides: Option<&'a CopyHits>,
    /// Whose pattern each copy is, if that is wanted and the query tells it: see [`Filter::copy_sides`].
    pub copy_sides: Option<&'a [ByColor<bool>]>,
    /// The way in which each copy came from the filter, if that is wanted: see [`Filter::placements`].
    pub placements: Option<&'a [Placement]>,
    /// What tells of what they consist, if that is wanted.
    pub spans: Option<&'a dyn FindSpan>,
    /// What is called how.
    pub names: &'a Names,
}

/// Which rows a table has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Rows {
    /// One for each position that hits.
    #[default]
    Hits,
    /// One for each game with hits: the first of them.
    Games,
}

choices! { Rows, "kind of rows",
    Rows::Hits => "hits", "";
    Rows::Games => "games", "";
}

/// What of a row takes time, and is not wanted everywhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct RowParts {
    /// The move that led to the position, and its label.
    pub(super) played: bool,
    /// The move that follows.
    pub(super) next: bool,
    /// The position as FEN.
    pub(super) fen: bool,
}

impl RowParts {
    const ALL: RowParts = RowParts { played: true, next: true, fen: true };
}

/// One row. Strings are empty where nothing is known.
#[derive(Clone)]
pub struct Row<'a> {
    /// The game.
    pub game: GameRow<'a>,
    /// How many positions of the game hit.
    pub hits: usize,
    /// The number of the position in its game; in the main line, its ply.
    pub node: u32,
    /// Half-moves played before the position.
    pub ply: u32,
    /// The side line that it lies in, as [`NodeWalk::line`] names it; empty in the main line.
    pub line: String,
    /// The position.
    pub position: Position,
    /// The number of the move that led to it: `23...`, or `start`.
    pub label: String,
    /// That move in SAN; `None` at the start.
    pub san: Option<String>,
    /// The position as FEN, with halfmove clock and move number.
    pub fen: String,
    /// The move that follows in its line, in SAN; empty at the end of the line.
    pub next: String,
    /// The value of the query.
    pub value: Answer,
    /// The same of a query that yields a string.
    pub text: Option<&'a [u8]>,
    /// The lowest copy that matches, from 0.
    pub copy: Option<u32>,
    /// How many copies match.
    pub copies: usize,
    /// Clock and evaluation, as far as the comments of the game are in its block.
    pub measures: Measures,
    /// What [`Found::difference_at`] told.
    difference: OnceCell<Option<CopyDifference>>,
}

impl<'a> Found<'a> {
    /// The answers to one query, `games` being those that count and the sides from which it was asked of them. Spans are those
    /// that were told with the answers.
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

    /// Hits, all of which count, and nothing else.
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

    /// What a hit of a game consists of, if that is wanted.
    pub fn span(&self, game: &GameRow, node: u32) -> Option<Arc<MatchSpan>> {
        self.spans?.span((self.hits, self.copies), game, node)
    }

    /// Whether a game counts.
    pub fn counts(&self, game: &GameRow) -> bool {
        self.games.is_none_or(|games| games[game.index()])
    }

    /// The side of the player in a game; White where the query was asked from no player's side.
    pub fn side(&self, game: &GameRow) -> Color {
        self.sides.and_then(|sides| sides[game.index()]).unwrap_or(Color::White)
    }

    /// The frame of the first copy that matches at a hit of a game, the hit by its place among those of the block. Without
    /// such a copy it is that of the game as the player sees it.
    pub fn frame(&self, game: &GameRow, hit: usize) -> Frame {
        let copy = self.copies.map_or(Some(0), |copies| copies.lowest(hit));
        let placement = copy.zip(self.placements).and_then(|(copy, all)| all.get(copy as usize));
        Frame::new(placement.copied().unwrap_or(Placement::IDENTITY), self.side(game))
    }

    /// Where the pieces that the filter names stand, on the squares of the game as it was played.
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

    /// How a position of a game differs from the board that the query compares it with, if it does.
    pub(super) fn difference(&self, game: &GameRow, board: &Board) -> Option<CopyDifference> {
        self.names.likeness.as_ref().map(|likeness| likeness.from_board(board, self.side(game)))
    }

    /// The same of the position of a row, told once.
    pub(super) fn difference_at<'r>(&self, row: &'r Row) -> Option<&'r CopyDifference> {
        row.difference.get_or_init(|| self.difference(&row.game, &row.position.board)).as_ref()
    }

    /// What the query says of a game, if it is asked of whole games.
    pub fn of_game(&self, game: &GameRow) -> Option<&'a GameAnswer> {
        self.told.map(|told| &told[game.index()])
    }

    /// What the query writes about a game.
    pub fn commentary_of(&self, game: &GameRow) -> Option<&'a GameCommentary> {
        let games = &self.commentary?.games;
        let at = games.binary_search_by_key(&(game.index() as u32), |game| game.index).ok()?;
        Some(&games[at])
    }

    /// Whether a game is found: a position of it hits, or the query asks for games in which none matches.
    pub fn is_found(&self, game: &GameRow) -> bool {
        self.of_game(game).map_or_else(|| self.has_hits(game), |told| told.is_found)
    }

    /// Whether a position of a game hits.
    pub fn has_hits(&self, game: &GameRow) -> bool {
        self.hits.slots(game.slots()).next().is_some()
    }

    /// Visits the rows of a game in order; returns how many positions of it hit.
    pub fn rows(&self, game: &GameRow, rows: Rows, visit: impl FnMut(&Row)) -> usize {
        self.rows_with(game, rows, RowParts::ALL, visit)
    }

    /// The same of rows of which some parts may be left empty.
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
        // What follows one hit has often led to the next one, and SAN takes time.
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
    /// The address of the game at lichess or chess.com, at the position if it lies in the main line: side lines are
    /// not shown there.
    pub fn url(&self) -> Option<String> {
        game::url(&self.game, self.line.is_empty().then_some(self.ply))
    }
}

/// The position of a game at a node as FEN, with the halfmove clock and the move number that it had in the game.
///
/// # Panics
///
/// When the game has no such node.
pub fn fen_at(game: &GameRow, node: u32) -> String {
    let mut walk = NodeWalk::from_game(game);
    walk.to(node);
    walk.fen()
}
