//! What a table says of a hit: one row, whatever the table is written as.

use crate::board::{MoveKind, PackedMove, Position, Role};
use crate::engine::{Answer, CopyHits, Hits};
use crate::game::MoveNumbers;
use crate::orbit::{AsText, Filter, Placement};
use crate::reel::{Block, GameRow};

/// Names for the numbers in hits.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// The database's sources.
    pub sources: Vec<String>,
    /// The copies of the outermost transform, as CQL; one without a transform.
    pub copies: Vec<String>,
    /// How each copy came from the filter, in words.
    pub transforms: Vec<String>,
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
        Names { sources, copies, transforms }
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
    /// Which copies match at them; `None` if that is told by the hits: see [`Filter::has_one_copy`].
    pub copies: Option<&'a CopyHits>,
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

/// One row. Strings are empty where nothing is known.
#[derive(Clone)]
pub struct Row<'a> {
    /// The game.
    pub game: GameRow<'a>,
    /// How many positions of the game hit.
    pub hits: usize,
    /// Half-moves played before the position.
    pub ply: u32,
    /// The position.
    pub position: Position,
    /// The number of the move that led to it: `23...`, or `start`.
    pub label: String,
    /// The position as FEN, with halfmove clock and move number.
    pub fen: String,
    /// The move that leaves it, in SAN; empty at the end of the game.
    pub next: String,
    /// The value of the query.
    pub value: Answer,
    /// The lowest copy that matches, from 0.
    pub copy: Option<u32>,
    /// How many copies match.
    pub copies: usize,
}

impl Found<'_> {
    /// Whether a game counts.
    pub fn counts(&self, game: &GameRow) -> bool {
        self.games.is_none_or(|games| games[game.index()])
    }

    /// Whether a position of a game hits.
    pub fn is_hit(&self, game: &GameRow) -> bool {
        self.hits.slots(game.first_slot()..game.end_slot()).next().is_some()
    }

    /// Visits the rows of a game in order; returns how many positions of it hit.
    pub fn rows(&self, game: &GameRow, rows: Rows, mut visit: impl FnMut(&Row)) -> usize {
        let (first, end) = (game.first_slot(), game.end_slot());
        let count = self.hits.count_in(first..end) as usize;
        if count == 0 {
            return 0;
        }
        let wanted = if rows == Rows::Games { 1 } else { count };
        let before = self.copies.map_or(0, |copies| copies.first_in(self.hits, first));
        let numbers = MoveNumbers::of(game);
        let mut walk = Walk::of(game, numbers);
        for (slot, hit) in self.hits.slots(first..end).take(wanted).zip(before..) {
            let ply = (slot - first) as u32;
            walk.to(ply, game);
            let mut label = Vec::new();
            numbers.push_label(ply, &mut label);
            let copies = self.copies.map(|copies| (copies.lowest(hit), copies.count(hit)));
            let (copy, copies) = copies.unwrap_or((Some(0), 1));
            visit(&Row {
                game: *game,
                hits: count,
                ply,
                position: walk.position,
                label: String::from_utf8(label).expect("labels are ASCII"),
                fen: walk.fen(numbers.full(ply)),
                next: game.moves().get(ply as usize).map_or(String::new(), |mv| mv.to_san(&walk.position)),
                value: self.hits.answer(slot),
                copy,
                copies,
            });
        }
        count
    }
}

/// The position of a game at a ply as FEN, with the halfmove clock and the move number that it had in the game.
///
/// # Panics
///
/// When the game has no such ply.
pub fn fen_at(game: &GameRow, ply: u32) -> String {
    let numbers = MoveNumbers::of(game);
    let mut walk = Walk::of(game, numbers);
    walk.to(ply, game);
    walk.fen(numbers.full(ply))
}

/// The position of a game to which a path of moves leads from its start, as FEN with the counters of the game.
pub fn fen_along(game: &GameRow, path: &[PackedMove]) -> String {
    let numbers = MoveNumbers::of(game);
    let mut walk = Walk::of(game, numbers);
    walk.play(path);
    walk.fen(numbers.full(path.len() as u32))
}

/// A walk along the moves of a game, with the halfmove clock that packed positions lack.
struct Walk {
    position: Position,
    clock: u32,
    ply: u32,
}

impl Walk {
    fn of(game: &GameRow, numbers: MoveNumbers) -> Walk {
        Walk { position: game.start(), clock: numbers.clock, ply: 0 }
    }

    fn to(&mut self, ply: u32, game: &GameRow) {
        self.play(&game.moves()[self.ply as usize..ply as usize]);
        self.ply = ply;
    }

    fn play(&mut self, path: &[PackedMove]) {
        for &mv in path {
            let board = &self.position.board;
            let pawn = board.at(mv.from()).piece().is_some_and(|piece| piece.role == Role::Pawn);
            // Castling is packed as king takes rook, so what stands on `to` says nothing then.
            let taken = board.at(mv.to()).piece().is_some();
            let is_reset = match mv.kind() {
                MoveKind::EnPassant => true,
                MoveKind::Piece(_) => pawn || taken,
                MoveKind::Castle | MoveKind::Null | MoveKind::Start => false,
            };
            self.clock = if is_reset { 0 } else { self.clock + 1 };
            self.position.play(mv);
        }
    }

    /// With the counters of the game.
    fn fen(&self, full: u32) -> String {
        self.position.to_fen_with(self.clock, full)
    }
}
