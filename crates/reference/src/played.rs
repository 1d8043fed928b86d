//! The effects of a move that was played.

use shakmaty::{Bitboard, Piece, Role, Square};

use super::geometry::{square, xy};
use orbit_core::board::{MoveKind, PackedMove, Position};
use orbit_query::tree::Special;

/// A move that was played.
#[derive(Clone, Debug)]
pub(super) struct PlayedMove {
    /// The piece that moved. For castling, this is the king, and for a null move the king of the passing side.
    pub(super) man: Option<Piece>,
    /// The origin and target squares of the move. For a null move, both are the king's square; `None` if there is no king.
    pub(super) step: Option<(Square, Square)>,
    /// The origin and target squares of the rook if the move is castling, including Chess960 castling.
    pub(super) rook: Option<(Square, Square)>,
    /// True for castling on the king's side, false for castling on the queen's side. `None` if filters do not count the move as
    /// castling.
    pub(super) castle: Option<bool>,
    pub(super) en_passant: bool,
    /// The square on which a piece was captured.
    pub(super) captured: Option<Square>,
    /// The piece to which a pawn was promoted.
    pub(super) promoted: Option<Role>,
    pub(super) null: bool,
}

/// A part of a move that a filter can select: the movement of one piece, given by the squares that it leaves and reaches. Castling
/// has two parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct MovePart {
    pub(super) from: Bitboard,
    pub(super) to: Bitboard,
}

/// The part of a move (the movement of one piece) that a `--` has selected. Filters after the move use this part for `from` and
/// `to`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Selected {
    /// The position after the move.
    pub(super) at: usize,
    pub(super) part: MovePart,
}

impl PlayedMove {
    /// Describes a move played in the position `before`.
    pub(super) fn new(before: &Position, arrival: PackedMove) -> PlayedMove {
        let at = |s: Square| before.board.at(s).piece();
        let (from, to) = (arrival.from(), arrival.to());
        let plain = PlayedMove {
            man: at(from),
            step: Some((from, to)),
            rook: None,
            castle: None,
            en_passant: false,
            captured: None,
            promoted: None,
            null: false,
        };
        match arrival.kind() {
            MoveKind::Castle => PlayedMove::castling(plain, from, to),
            MoveKind::EnPassant => {
                PlayedMove { en_passant: true, captured: square(xy(to).0, xy(from).1), ..plain }
            }
            MoveKind::Null | MoveKind::Start => {
                let king = Piece { color: before.state.turn(), role: Role::King };
                let stands = Square::ALL.into_iter().find(|&s| at(s) == Some(king));
                PlayedMove { man: stands.map(|_| king), step: stands.map(|s| (s, s)), null: true, ..plain }
            }
            MoveKind::Piece(code) => {
                let becomes = code.piece().map(|piece| piece.role);
                let is_pawn = plain.man.is_some_and(|man| man.role == Role::Pawn);
                PlayedMove {
                    captured: at(to).map(|_| to),
                    promoted: becomes.filter(|&role| is_pawn && role != Role::Pawn),
                    ..plain
                }
            }
        }
    }

    /// Describes castling. A packed castling move contains the squares of the king and its rook.
    fn castling(plain: PlayedMove, king: Square, rook: Square) -> PlayedMove {
        let king_side = rook > king;
        let on_rank = |file| square(file, xy(king).1).expect("files are 0..=7");
        let (king_to, rook_to) = if king_side { (on_rank(6), on_rank(5)) } else { (on_rank(2), on_rank(3)) };
        PlayedMove {
            step: Some((king, king_to)),
            rook: Some((rook, rook_to)),
            castle: (xy(king).0 == 4).then_some(king_side),
            ..plain
        }
    }

    /// Returns the origin and target squares of each piece that moved. Castling moves two pieces.
    pub(super) fn shifts(&self) -> impl Iterator<Item = (Square, Square)> {
        self.step.into_iter().chain(self.rook)
    }

    /// Returns the parts of the move that a `--` can select. Castling has two parts.
    pub(super) fn parts(&self) -> Vec<MovePart> {
        let set = Bitboard::from_square;
        let rook = self.rook.filter(|_| self.castle.is_some());
        let shifts = self.step.into_iter().chain(rook);
        let parts: Vec<MovePart> =
            shifts.map(|(from, to)| MovePart { from: set(from), to: set(to) }).collect();
        if parts.is_empty() { vec![MovePart { from: Bitboard::EMPTY, to: Bitboard::EMPTY }] } else { parts }
    }

    pub(super) fn is(&self, special: Special) -> bool {
        match special {
            Special::Any => true,
            Special::Castle => self.castle.is_some(),
            Special::KingSide => self.castle == Some(true),
            Special::QueenSide => self.castle == Some(false),
            Special::EnPassant => self.en_passant,
        }
    }
}

impl MovePart {
    /// Returns the union of several parts.
    pub(super) fn from_parts(parts: impl IntoIterator<Item = MovePart>) -> MovePart {
        let none = MovePart { from: Bitboard::EMPTY, to: Bitboard::EMPTY };
        parts.into_iter().fold(none, |a, b| MovePart { from: a.from | b.from, to: a.to | b.to })
    }
}
