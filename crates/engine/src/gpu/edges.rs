//! Translates conditions on moves (`--`, `[x]` and `move`) to WGSL.
//!
//! A stage is a part of a plan that runs before the rest of the plan. The kernel of a stage computes masks and words.
//! It also evaluates the conditions on moves, because it replays the positions before the moves and has the required
//! sets of squares in registers. The functions that the generated code calls are in `shaders/edges.wgsl`. The CPU
//! implementation of these conditions is in `crates/engine/src/operations/moves.rs`.

use super::wgsl::Printer;
use orbit_plan::{CastlingPart, EdgeTest, Sibling, Special, SquareTest};

/// The squares that a condition on a move allows for the move's origin or destination, as WGSL.
enum MoveSquares {
    All,
    /// The squares of a set, restricted by the pieces on them before the move. The number has a bit for the code of
    /// each allowed piece; bit 0 allows empty squares. The string is the WGSL expression for the set.
    Pieces(u16, String),
    Set(String),
}

impl MoveSquares {
    /// Returns the expression that tests whether `square` is allowed, or `None` if every square is allowed.
    fn have(&self, square: &str) -> Option<String> {
        match self {
            MoveSquares::All => None,
            MoveSquares::Pieces(contents, squares) => {
                Some(format!("stands(at, {square}, {contents:#x}u, {squares})"))
            }
            MoveSquares::Set(set) => Some(format!("lies({square}, {set})")),
        }
    }
}

/// Joins conditions with "and". Returns `None` if there are no conditions.
fn all(conditions: impl IntoIterator<Item = String>) -> Option<String> {
    conditions.into_iter().reduce(|all, condition| format!("{all} & {condition}"))
}

impl Printer<'_> {
    /// Returns the WGSL expression for a condition on a move. The expression reads the WGSL variable `edge`, the move
    /// played from the position in the current slot. The game must have no side lines. `operands` are the expressions
    /// for the sets of squares that the condition needs.
    pub(super) fn edge(&self, test: &EdgeTest, mut operands: impl Iterator<Item = String>) -> String {
        let mut squares = |test: SquareTest| match test {
            SquareTest::Any => MoveSquares::All,
            SquareTest::Pieces { contents, squares } => MoveSquares::Pieces(contents.0, self.word(squares)),
            SquareTest::Column => MoveSquares::Set(operands.next().expect("each column is an operand")),
        };
        let (from, to) = (squares(test.from), squares(test.to));
        let (captures, passing) = (test.captures.map(&mut squares), test.passing.map(&mut squares));
        if test.sibling == Some(Sibling::Secondary) {
            return "false".into();
        }
        let mut conditions = vec!["is_move(edge)".to_string()];
        conditions.extend(match test.only {
            Special::Any => None,
            Special::Castle => Some("is_castling(edge, at)".into()),
            Special::KingSide => Some("is_king_side(edge, at)".into()),
            Special::QueenSide => Some("is_queen_side(edge, at)".into()),
            Special::EnPassant => Some("(edge.code == EN_PASSANT)".into()),
        });
        conditions.extend(test.null.then(|| "(edge.code == NULL_MOVE)".into()));
        conditions.extend(passing.is_some().then(|| "(edge.code == EN_PASSANT)".into()));
        for squares in captures.iter().chain(&passing) {
            conditions.push("lies(edge.taken, ALL)".into());
            conditions.extend(squares.have("edge.taken"));
        }
        if let Some(pieces) = test.promotion {
            let letters = (pieces.0 | pieces.0 >> 8) & 0x7e;
            conditions.push(format!("((({letters:#x}u >> edge.promotion) & 1u) != 0u)"));
        }
        let pair = |origin: &str, goal: &str| all(from.have(origin).into_iter().chain(to.have(goal)));
        let king = pair("edge.origin", "edge.goal");
        let castles = "(edge.code == CASTLE)".to_string();
        let rook = all([castles.clone()].into_iter().chain(pair("edge.rook_origin", "edge.rook_goal")));
        let rook = if test.kings { None } else { rook };
        match test.part {
            None => conditions.extend(king.map(|king| match rook {
                Some(rook) => format!("(({king}) | ({rook}))"),
                None => king,
            })),
            Some(CastlingPart::King) => conditions.extend([castles].into_iter().chain(king)),
            Some(CastlingPart::Rook) => conditions.push(rook.unwrap_or_else(|| "false".into())),
        }
        all(conditions).expect("there is one")
    }
}
