//! Writes the values of filters as text, for comments and messages.

use shakmaty::{Color, Role, Square};

use super::{
    copies::PlainFilter,
    eval::Evaluation,
    found::Noted,
    geometry::square,
    moves::SquareArray,
    value::{Value, squares_text},
};
use orbit_query::tree::{
    Any, ConditionOp, Control, GameSquares, NumberOp, PositionOp, SquaresOp, TextOp, VarId,
};

impl Evaluation<'_> {
    /// Returns the values of several filters as text, joined without separators.
    pub(super) fn written(&mut self, of: &[PlainFilter]) -> Vec<u8> {
        let mut out = Vec::new();
        for filter in of {
            let text = self.value_text(filter);
            out.extend(text.unwrap_or_else(|| b"<false>".to_vec()));
        }
        out
    }

    /// Returns the value of a filter as text, or `None` if the filter does not match. An empty set becomes `[]`.
    pub(super) fn value_text(&mut self, filter: &PlainFilter) -> Option<Vec<u8>> {
        if let Some(var) = variable(filter)
            && !self.state.cells.is_bound(var)
        {
            return Some(format!("<unbound: {}>", self.name(var)).into_bytes());
        }
        if let Any::Squares(f) = filter
            && let SquaresOp::Game(GameSquares::Piece(var)) = f.op()
        {
            return Some(self.piece_text(*var, f.mark));
        }
        // The value of a comparison of strings is its left operand.
        if let Any::Condition(f) = filter
            && let ConditionOp::TextCompare(_, left, _) = f.op()
        {
            return if self.matches(f) { self.text(left) } else { None };
        }
        match self.value(filter) {
            Value::Bool(value) => value.then(|| b"<true>".to_vec()),
            Value::Set(squares) => Some(squares_text(squares)),
            Value::Num(number) => number.map(|number| number.to_string().into_bytes()),
            Value::Str(text) => text,
            Value::Position(at) => at.map(|at| self.position_text(at as usize, Noted::Asked).into_bytes()),
        }
    }

    /// Returns the text for a position, such as `move 3(wtm)`. In a side line, the text is `move 3(wtm)[17]`, and the number is
    /// also written at the position, as a comment of the given kind.
    pub(super) fn position_text(&mut self, at: usize, kind: fn(Vec<u8>) -> Noted) -> String {
        let (number, turn, in_mainline) = self.there(at, |there| {
            let turn = there.here.placement.turn.fold_wb("wtm", "btm");
            (there.move_number(), turn, there.is_mainline())
        });
        if in_mainline {
            return format!("move {number}({turn})");
        }
        self.note(at, kind(format!("id:{at}").into_bytes()));
        format!("move {number}({turn})[{at}]")
    }

    /// Returns the text `placement side castling ep 0 1` for the position. It is a FEN with constant counters.
    pub(super) fn fen(&self) -> Vec<u8> {
        let board = &self.here.placement;
        let ranks: Vec<String> = (0..8).rev().map(|y| rank(board, y)).collect();
        let state = &self.here.spot.position.state;
        let rights = [
            (Color::White, true, 'K'),
            (Color::White, false, 'Q'),
            (Color::Black, true, 'k'),
            (Color::Black, false, 'q'),
        ];
        let rights: String = rights
            .into_iter()
            .filter(|&(color, king_side, _)| state.castling_rook(color, king_side).is_some())
            .map(|(_, _, letter)| letter)
            .collect();
        let passed = match self.here.spot.parent {
            Some(parent) => passed(&SquareArray::new(&self.nodes[parent].position), board),
            None => state.en_passant(),
        };
        let side = board.turn.char();
        let dash = || String::from("-");
        let passed = passed.map_or_else(dash, |square| square.to_string());
        let rights = if rights.is_empty() { dash() } else { rights };
        format!("{} {side} {rights} {passed} 0 1", ranks.join("/")).into_bytes()
    }
}

/// Returns the FEN text of one rank of the board.
fn rank(board: &SquareArray, y: i32) -> String {
    let mut out = String::new();
    let mut empty = 0;
    for x in 0..8 {
        match square(x, y).and_then(|s| board.at(s)) {
            None => empty += 1,
            Some(piece) => {
                if empty > 0 {
                    out += &empty.to_string();
                }
                empty = 0;
                out.push(piece.char());
            }
        }
    }
    if empty > 0 {
        out += &empty.to_string();
    }
    out
}

/// If the last move was a double step of a pawn, returns the square that the pawn passed over.
fn passed(before: &SquareArray, after: &SquareArray) -> Option<Square> {
    let (pawn, home, behind, ahead) = match before.turn {
        Color::White => (Role::Pawn.of(Color::White), 1, 2, 3),
        Color::Black => (Role::Pawn.of(Color::Black), 6, 5, 4),
    };
    let left = |x| Some((square(x, home)?, square(x, ahead)?, square(x, behind)?));
    let steps = (0..8).filter_map(left).find(|&(home, ahead, _)| {
        before.at(home) == Some(pawn)
            && after.at(home).is_none()
            && before.at(ahead).is_none()
            && after.at(ahead) == Some(pawn)
    });
    steps.map(|(_, _, behind)| behind)
}

/// Returns the variable that a filter consists of, or `None` for any other filter.
fn variable(filter: &PlainFilter) -> Option<VarId> {
    match filter {
        Any::Condition(_) => None,
        Any::Squares(f) => match f.op() {
            SquaresOp::Control(Control::Var(var)) | SquaresOp::Game(GameSquares::Piece(var)) => Some(*var),
            _ => None,
        },
        Any::Number(f) => match f.op() {
            NumberOp::Control(Control::Var(var)) => Some(*var),
            _ => None,
        },
        Any::Text(f) => match f.op() {
            TextOp::Control(Control::Var(var)) => Some(*var),
            _ => None,
        },
        Any::Position(f) => match f.op() {
            PositionOp::Control(Control::Var(var)) => Some(*var),
            _ => None,
        },
    }
}
