//! Values as text.

use shakmaty::Bitboard;

use super::{
    control::variable,
    copies::Filter,
    eval::{Evaluated, Evaluation, Value},
    found::Noted,
};
use crate::query::tree::{Any, Cell, GameSquares, SquaresOp};

impl Evaluation<'_> {
    /// The values of filters, one after the other.
    pub(super) fn written(&mut self, of: &[Filter]) -> Vec<u8> {
        let mut out = Vec::new();
        for filter in of {
            let text = self.value_text(filter);
            out.extend(text);
        }
        out
    }

    fn value_text(&mut self, filter: &Filter) -> Vec<u8> {
        if let Some(var) = variable(filter)
            && !self.state.cells.is_bound(var)
        {
            return format!("<unbound: {}>", self.name(var)).into_bytes();
        }
        if let Any::Squares(f) = filter
            && let SquaresOp::Game(GameSquares::Piece(var)) = f.op()
        {
            return self.piece_text(*var, f.mark);
        }
        match self.value(filter) {
            Value::Bool(value) => format!("<{value}>").into_bytes(),
            Value::Set(squares) => squares_text(squares),
            Value::Num(Some(number)) => number.to_string().into_bytes(),
            Value::Str(Some(text)) => text,
            Value::Position(Some(at)) => self.position_text(at as usize).into_bytes(),
            Value::Num(None) | Value::Str(None) | Value::Position(None) => b"<false>".to_vec(),
        }
    }

    /// `move 3(wtm)`; in a side line `move 3(wtm)[17]`, which notes the number at the position.
    pub(super) fn position_text(&mut self, at: usize) -> String {
        let (number, turn, in_mainline) = self.there(at, |there| {
            let turn = there.here.placement.turn.fold_wb("wtm", "btm");
            (there.move_number(), turn, there.is_mainline())
        });
        if in_mainline {
            return format!("move {number}({turn})");
        }
        self.note(at, Noted::Automatic(format!("id:{at}").into_bytes()));
        format!("move {number}({turn})[{at}]")
    }

    /// `placement side castling ep 0 1`.
    pub(super) fn fen(&self) -> Vec<u8> {
        Vec::new()
    }
}

/// `[a1,b2]`, one square without brackets.
fn squares_text(squares: Bitboard) -> Vec<u8> {
    let names: Vec<String> = squares.into_iter().map(|square| square.to_string()).collect();
    match &names[..] {
        [one] => one.clone().into_bytes(),
        _ => format!("[{}]", names.join(",")).into_bytes(),
    }
}

/// What a variable holds.
pub(super) fn cell(cell: &Cell<Evaluated>) -> Vec<u8> {
    match cell {
        Cell::Unbound => Vec::new(),
        Cell::Squares(squares) => squares_text(*squares),
        Cell::Number(number) | Cell::Position(number) => number.to_string().into_bytes(),
        Cell::Text(text) => text.clone(),
    }
}
