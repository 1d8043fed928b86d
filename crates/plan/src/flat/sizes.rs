//! Estimates the time that a program takes: how many squares a loop visits, and how long instructions take.

use crate::Instr;
use orbit_core::board::{Code, PieceSet};
use orbit_query::tree::{Control, GameSquares, SquaresOp as S};
use orbit_transforms::Squares;

/// The share of positions, squares or pieces at which a filter is assumed to match.
pub(super) const MATCHES: f64 = 0.5;

/// The number of squares that a set is assumed to contain if nothing is known about it, and the number of pieces that are assumed to
/// attack a square.
const USUAL: f64 = 3.0;

/// The usual number of squares on which each kind of content stands: the empty square, then pawns, knights, bishops, rooks, queens
/// and kings.
const CONTENTS: [f64; 7] = [40.0, 6.0, 1.5, 1.5, 2.0, 1.0, 1.0];

/// Returns the time that an instruction takes, as a multiple of the time of the shortest ones.
pub(super) fn time(instr: Instr) -> f64 {
    match instr {
        Instr::Rays(_) => 8.0,
        Instr::Do { .. } | Instr::Take { .. } => 2.0,
        _ => 1.0,
    }
}

/// Returns the expected number of squares in a set.
pub(super) fn squares(set: &Squares) -> f64 {
    match set.op() {
        S::Designator { pieces, squares } => on(pieces.accepts()).min(squares.count() as f64),
        S::Constant(squares) => squares.count() as f64,
        S::Union(a, b) => (self::squares(a) + self::squares(b)).min(64.0),
        S::Intersect(a, b) => self::squares(a).min(self::squares(b)),
        S::Complement(of) => 64.0 - self::squares(of),
        S::Control(Control::Var(_)) | S::Game(GameSquares::Piece(_)) => 1.0,
        S::Control(Control::Braces { last, .. }) => self::squares(last),
        S::SquareLoop { domain: of, .. } | S::Shade { of, .. } => self::squares(of),
        S::Attacks(of, other) | S::AttackedBy(of, other) => {
            self::squares(of).min(USUAL * self::squares(other))
        }
        _ => USUAL,
    }
}

/// Returns the number of squares that usually have one of these contents.
fn on(contents: PieceSet) -> f64 {
    let codes = (0..16).filter(|&code| contents.contains(Code(code)));
    codes.map(|code| CONTENTS[usize::from(code & 7)]).sum()
}
