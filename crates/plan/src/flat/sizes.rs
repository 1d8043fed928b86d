//! Estimates the time that a program takes: how many squares a loop visits, and how long instructions take.

use crate::Instr;
use orbit_core::board::{Code, PieceSet};
use orbit_query::tree::{Control, GameSquares, SquaresOp as S};
use orbit_transforms::Squares;

/// The fraction of the positions, squares or pieces for which a filter is assumed to match.
pub(super) const MATCHES: f64 = 0.5;

/// The number of squares that a set is assumed to contain if nothing is known about it, and the number of pieces that are assumed to
/// attack a square.
const USUAL: f64 = 3.0;

/// The usual number of squares with each content: empty, then pawns, knights, bishops, rooks, queens and kings.
const CONTENTS: [f64; 7] = [40.0, 6.0, 1.5, 1.5, 2.0, 1.0, 1.0];

/// Returns the run time of an instruction, in multiples of the fastest instruction's time.
pub(super) fn time(instr: Instr) -> f64 {
    match instr {
        Instr::Rays(_) => 8.0,
        Instr::Do { .. } | Instr::Take { .. } => 2.0,
        _ => 1.0,
    }
}

/// Returns the number of squares that a set is expected to contain, for the estimate of the run time.
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

/// Returns the usual number of squares with one of these contents.
fn on(contents: PieceSet) -> f64 {
    let codes = (0..16).filter(|&code| contents.contains(Code(code)));
    codes.map(|code| CONTENTS[usize::from(code & 7)]).sum()
}
