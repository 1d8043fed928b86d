//! The facts about a hit that tables show, as one row. All output formats use these rows.

use std::cell::OnceCell;

use super::NodeWalk;
use crate::found::Found;
use orbit_core::board::{Bitboard, Board, Color, Position};
use orbit_core::game::{self, Measures};
use orbit_core::named::choices;
use orbit_engine::Answer;
use orbit_reel::{GameMeasures, GameRow};
use orbit_transforms::CopyDifference;

/// The kind of rows in a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Rows {
    /// One row for each position with a hit.
    #[default]
    Hits,
    /// One row for each game with hits, which describes its first hit.
    Games,
}

choices! { Rows, "kind of rows",
    Rows::Hits => "hits", "";
    Rows::Games => "games", "";
}

/// The parts of a row that take time to compute and are often not needed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct RowParts {
    /// True if rows need the move that led to the position, and its label.
    pub(super) played: bool,
    /// True if rows need the next move.
    pub(super) next: bool,
    /// True if rows need the position as FEN.
    pub(super) fen: bool,
}

impl RowParts {
    const ALL: RowParts = RowParts { played: true, next: true, fen: true };
}

/// The facts about a hit that are shown in one row of a table. Strings are empty if a fact is unknown.
#[derive(Clone)]
pub struct Row<'a> {
    /// The game.
    pub game: GameRow<'a>,
    /// The number of hits in the game.
    pub hits: usize,
    /// The number of the position in its game. On the main line, it equals the ply.
    pub node: u32,
    /// The number of half-moves played before the position.
    pub ply: u32,
    /// The side line of the position, as named by [`NodeWalk::line`], or an empty string on the main line.
    pub line: String,
    /// The position.
    pub position: Position,
    /// The number of the move that led to the position: `23...`, or `start`.
    pub label: String,
    /// The move that led to the position, in SAN, or `None` at the start.
    pub san: Option<String>,
    /// The position as FEN, including halfmove clock and move number.
    pub fen: String,
    /// The next move in the position's line, in SAN, or an empty string at the end of the line.
    pub next: String,
    /// The value of the query.
    pub value: Answer,
    /// The value of a query that yields a string.
    pub text: Option<&'a [u8]>,
    /// The index of the first transformed copy of the query that matches.
    pub copy: Option<u32>,
    /// The number of transformed copies of the query that match.
    pub copies: usize,
    /// The clock and the evaluation, if the game's comments are available.
    pub measures: Measures,
    /// The result of [`Found::difference_at`], computed on first use.
    difference: OnceCell<Option<CopyDifference>>,
}

impl<'a> Found<'a> {
    /// Returns the names of the filter's piece designators, each with the squares of the pieces that it matched. The squares are
    /// those of the board in the game, even if the query was evaluated with colours swapped.
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

    /// Returns the difference between a position and the board with which the query compares it, or `None` if the query has no such
    /// board.
    pub(super) fn difference(&self, game: &GameRow, board: &Board) -> Option<CopyDifference> {
        self.names.likeness.as_ref().map(|likeness| likeness.difference(board, self.side(game)))
    }

    /// Returns the difference between a row's position and the board with which the query compares it. It is computed only once per
    /// row.
    pub(super) fn difference_at<'r>(&self, row: &'r Row) -> Option<&'r CopyDifference> {
        row.difference.get_or_init(|| self.difference(&row.game, &row.position.board)).as_ref()
    }

    /// Calls `visit` with the rows of a game in order. Returns the number of hits.
    pub fn rows(&self, game: &GameRow, rows: Rows, mut visit: impl FnMut(&Row)) -> usize {
        self.rows_with(game, rows, RowParts::ALL, &mut visit)
    }

    /// Calls `visit` with the rows of a game in order. Only the requested parts of rows are filled in. Returns the number of hits.
    pub(super) fn rows_with(
        &self,
        game: &GameRow,
        rows: Rows,
        parts: RowParts,
        visit: &mut dyn FnMut(&Row),
    ) -> usize {
        let (hits, copies) = (&self.answers.hits, self.answers.hit_copies());
        let (first, end) = (game.first_slot(), game.end_slot());
        let count = hits.count_in(first..end) as usize;
        if count == 0 {
            return 0;
        }
        let wanted = if rows == Rows::Games { 1 } else { count };
        let before = copies.map_or(0, |copies| copies.first_in(hits, first));
        let (mut walk, measures) = (NodeWalk::from_game(game), GameMeasures::from_game(game));
        // The SAN of the move after each hit is kept, because this move often leads to the next hit and computing SAN takes time.
        let mut last: Option<(u32, String)> = None;
        for (slot, hit) in hits.slots(first..end).take(wanted).zip(before..) {
            walk.to((slot - first) as u32);
            let san = match last.take() {
                _ if !parts.played => None,
                Some((node, next)) if node + 1 == walk.node() && !next.is_empty() => Some(next),
                _ => walk.san(),
            };
            let next = if parts.next { walk.next() } else { String::new() };
            let copies = copies.map(|copies| (copies.lowest(hit), copies.count(hit)));
            let (copy, copies) = copies.unwrap_or((Some(0), 1));
            let row = Row {
                game: *game,
                hits: count,
                node: walk.node(),
                ply: walk.ply(),
                line: walk.line().to_owned(),
                position: walk.position(),
                label: if parts.played { walk.label() } else { String::new() },
                san,
                fen: if parts.fen { walk.fen() } else { String::new() },
                next,
                value: hits.answer(slot),
                text: hits.text(slot),
                copy,
                copies,
                measures: measures.at(walk.node()),
                difference: OnceCell::new(),
            };
            visit(&row);
            last = Some((row.node, row.next));
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

    /// Returns the address of the game at lichess or chess.com. The address includes the position only on the main line, because
    /// these sites do not have the side lines.
    pub fn url(&self) -> Option<String> {
        game::url(&self.game, self.line.is_empty().then_some(self.ply))
    }
}

/// Returns the position at a node of a game as FEN, with the halfmove clock and the move number at that point of the game.
///
/// # Panics
///
/// Panics if the game has no such node.
pub fn fen_at(game: &GameRow, node: u32) -> String {
    let mut walk = NodeWalk::from_game(game);
    walk.to(node);
    walk.fen()
}
