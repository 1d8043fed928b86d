//! Draws the part of a filter that can be shown on a board.

use crate::OutermostOrbit as _;
use shakmaty::{Bitboard, Square};

use super::{
    Filter, FilterRef,
    text::{designator, text},
};
use orbit_core::{
    board::{Board, Code, PieceSet},
    fen::board_text,
};
use orbit_query::tree::{ConditionOp, Control, Kind as _, Pieces, Ref, SquaresOp};

/// A filter as a diagram. The parts that cannot be drawn are kept as CQL text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pattern {
    /// The placement field of a FEN: the contents that the filter requires on single squares. Besides the piece letters, `A` and
    /// `a` mean any white and any black piece, and `_` means a square that must be empty.
    pub placement: String,
    /// The squares named in `rest`, except by designators of the whole board.
    pub area: Bitboard,
    /// The parts of the filter that cannot be drawn, as CQL. All of them must match.
    pub rest: Vec<String>,
}

/// Returns a diagram of the pieces that a filter requires on single squares, and its other parts as CQL.
///
/// ```
///
/// let query = orbit_query::parse("{Bh7 kg8 btm [QR]a1-2}").unwrap().query;
/// let pattern = orbit_transforms::pattern(&orbit_transforms::expand(&query.body).unwrap());
/// assert_eq!(pattern.placement, "6k1/7B/8/8/8/8/8/8");
/// assert_eq!(pattern.rest, ["btm", "[QR]a1-2"]);
/// ```
pub fn pattern(filter: &Filter) -> Pattern {
    let mut drawing = Drawing { pieces: [None; 64], area: Bitboard::EMPTY, rest: Vec::new() };
    drawing.demand(filter.node());
    let placement = board_text(|square| drawing.pieces[square as usize]);
    Pattern { placement, area: drawing.area, rest: drawing.rest }
}

/// Returns the squares of a board on which designators of the filter find their pieces. Only designators that must match or are
/// operands of `or` or `|` are used. Designators of the whole board and squares that must be empty are left out.
///
/// ```
/// use orbit_core::board::{Bitboard, Position, Square};
///
/// let query = orbit_query::parse("{Ke1 P[e2,e4] or Ra2 k not Qd1}").unwrap().query;
/// let filter = orbit_transforms::expand(&query.body).unwrap();
/// let found = orbit_transforms::matched(&filter, &Position::STANDARD.board);
/// assert_eq!(found, Bitboard::from(Square::E1) | Square::E2);
/// ```
pub fn matched(filter: &Filter, board: &Board) -> Bitboard {
    let mut found = Bitboard::EMPTY;
    each_designator(filter.node(), &mut |pieces, squares| {
        if squares != Bitboard::FULL {
            found |= standing(pieces.accepts(), squares, board);
        }
    });
    found
}

/// Returns the squares of a set that one of the given pieces occupies.
fn standing(pieces: PieceSet, squares: Bitboard, board: &Board) -> Bitboard {
    let stands = |square: &Square| {
        let content = board.at(*square);
        content != Code::EMPTY && pieces.contains(content)
    };
    squares.into_iter().filter(stands).collect()
}

/// Calls `visit` for the designators that must match or are operands of `or` or `|`.
fn each_designator(filter: FilterRef, visit: &mut dyn FnMut(Pieces, Bitboard)) {
    let alternatives = match filter {
        Ref::Condition(f) => {
            matches!(f.op(), ConditionOp::Braces(_) | ConditionOp::And(..) | ConditionOp::Or(..))
        }
        Ref::Squares(f) => match f.op() {
            SquaresOp::Designator { pieces, squares } => return visit(*pieces, *squares),
            op => matches!(op, SquaresOp::Union(..) | SquaresOp::Control(Control::Braces { .. })),
        },
        _ => filter.is_braces(),
    };
    if alternatives {
        filter.each_child(&mut |child| each_designator(child, visit));
    }
}

/// The designators of a filter, with their images in each copy of its outermost transform.
///
/// ```
/// use orbit_core::board::Position;
///
/// let query = orbit_query::parse("flipcolor {Ke1 P[d2,e2]}").unwrap().query;
/// let designators = orbit_transforms::Designators::new(&orbit_transforms::expand(&query.body).unwrap());
/// let of_second = designators.on(1, &Position::STANDARD.board);
/// assert_eq!(of_second[0].0, "Ke1");
/// assert_eq!(of_second[0].1.into_iter().map(|square| square.to_string()).collect::<Vec<_>>(), ["e8"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Designators {
    /// The designators as written.
    names: Vec<String>,
    /// For each copy, the pieces and squares of its designators. The list is empty if the copy's designators do not correspond one
    /// to one to the filter's.
    copies: Vec<Vec<(PieceSet, Bitboard)>>,
}

impl Designators {
    /// Collects the designators that must match or are operands of `or` or `|`.
    #[doc(hidden)]
    pub fn new(filter: &Filter) -> Designators {
        let mut names = Vec::new();
        let of_copy = |copy: FilterRef| {
            let mut list = Vec::new();
            each_designator(copy, &mut |pieces, squares| list.push((pieces.accepts(), squares)));
            list
        };
        let (base, mut copies) = match filter.outermost() {
            Some(orbit) => {
                let copies = orbit.copies.iter().map(|copy| of_copy(copy.filter.node()));
                (orbit.base.clone(), copies.collect())
            }
            None => (filter.clone(), vec![of_copy(filter.node())]),
        };
        each_designator(base.node(), &mut |pieces, squares| names.push(designator(pieces, squares)));
        let is_like = |list: &Vec<_>| list.len() == names.len();
        copies.iter_mut().filter(|list| !is_like(list)).for_each(Vec::clear);
        Designators { names, copies }
    }

    /// Returns the designators of one copy, each with the squares on which it finds its pieces in a position. Designators that find
    /// none are left out, and designators with the same text are combined.
    pub fn on(&self, copy: usize, board: &Board) -> Vec<(&str, Bitboard)> {
        let mut found: Vec<(&str, Bitboard)> = Vec::new();
        let designators = self.copies.get(copy).map_or(&[][..], Vec::as_slice);
        for (name, &(pieces, squares)) in self.names.iter().zip(designators) {
            let squares = standing(pieces, squares, board);
            match found.iter_mut().find(|(known, _)| known == name) {
                Some((_, known)) => *known |= squares,
                None if squares.is_empty() => {}
                None => found.push((name, squares)),
            }
        }
        found
    }
}

struct Drawing {
    pieces: [Option<u8>; 64],
    area: Bitboard,
    rest: Vec<String>,
}

impl Drawing {
    /// Draws a filter that must match, or adds it to `rest` if it cannot be drawn.
    fn demand(&mut self, filter: FilterRef) {
        let all = match filter {
            Ref::Condition(f) => matches!(f.op(), ConditionOp::Braces(_) | ConditionOp::And(..)),
            _ => filter.is_braces(),
        };
        if all {
            return filter.each_child(&mut |child| self.demand(child));
        }
        if let Ref::Squares(f) = filter
            && let SquaresOp::Designator { pieces, squares } = f.op()
        {
            let letters = designator(*pieces, Bitboard::FULL);
            if let (Some(square), [letter]) = (squares.single_square(), letters.as_bytes()) {
                let place = &mut self.pieces[square as usize];
                if place.is_none_or(|other| other == *letter) {
                    *place = Some(*letter);
                    return;
                }
            }
        }
        filter.walk(&mut |filter| {
            if let Ref::Squares(f) = filter
                && let SquaresOp::Designator { squares, .. } = f.op()
                && *squares != Bitboard::FULL
            {
                self.area |= *squares;
            }
        });
        self.rest.push(text(filter));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expand;
    use orbit_query::parse;

    fn drawn(text: &str) -> Pattern {
        pattern(&expand(&parse(text).unwrap().query.body).unwrap())
    }

    #[test]
    fn single_squares_are_drawn_and_all_else_is_written() {
        for (text, placement, area, rest) in [
            ("{Nd4 kf3}", "8/8/8/8/3N4/5k2/8/8", "", ""),
            ("Ka1 and Ah8 and _b2", "7A/8/8/8/8/8/1_6/K7", "", ""),
            ("{Bh7 kg8 btm check}", "6k1/7B/8/8/8/8/8/8", "", "btm; check"),
            ("{P[a2,b2] pa3 k}", "8/8/8/8/8/p7/8/8", "a2 b2", "Pa-b2; k"),
            ("not Nd4", "8/8/8/8/8/8/8/8", "d4", "not Nd4"),
            ("{Ra1 Qa1 Ra1}", "8/8/8/8/8/8/8/R7", "a1", "Qa1"),
            ("{[QR]a1 b1}", "8/8/8/8/8/8/8/8", "a1 b1", "[QR]a1; b1"),
            ("{Ra1 flip Nb1}", "8/8/8/8/8/8/8/R7", "b1 g1 a2 h2 a7 h7 b8 g8", "*"),
        ] {
            let found = drawn(text);
            assert_eq!(found.placement, placement, "{text}");
            let squares: Vec<String> = found.area.into_iter().map(|square| square.to_string()).collect();
            assert_eq!(squares.join(" "), area, "{text}");
            if rest != "*" {
                assert_eq!(found.rest.join("; "), rest, "{text}");
            }
        }
    }
}
