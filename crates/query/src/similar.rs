//! Reads `similar "FEN"`: the number of men that stand on the same squares in a position and in the placement of the FEN.

use shakmaty::Bitboard;

use super::{
    diagram,
    game::fen_symbol,
    parser::{ParseResult, Parser, S, balanced, filter},
    tree::{Kind as _, Node, NumberOp as N, Ref, Squares, TypedQuery},
};
use orbit_core::{
    diagnostic::{Diagnostic, Span},
    fen::Symbol,
};

impl TypedQuery {
    /// Returns true if the query compares positions with a board, as `similar` does. The designators for the men of that board do
    /// not occur in the text, so they have empty spans.
    pub fn finds_likeness(&self) -> bool {
        self.body.node().any(&mut |filter| match filter {
            Ref::Number(number) => match number.op() {
                N::Cardinality(set) => set.span().start == set.span().end,
                _ => false,
            },
            _ => false,
        })
    }
}

impl Parser {
    /// Reads `similar "FEN"`. The filter becomes the number of squares in a union of designators, one for each man of the
    /// placement. Transforms therefore apply to the placement as a whole. Fields after the placement have no effect.
    pub(super) fn similar(&mut self) -> ParseResult<Node> {
        let word = self.bump();
        let at = self.span();
        let fen = self.literal("a board", "similar \"5rk1/5ppp/8/8/8/8/8/8\"")?;
        // Spans count bytes from the start of the FEN, which is one byte after the start of the token, because of the quotation
        // mark.
        let inside = |fault: Diagnostic| {
            let start = at.start + 1;
            let span = Span::new(start + fault.span.start, start + fault.span.end);
            Diagnostic { span, ..fault }
        };
        let placement = diagram::placement(&fen).map_err(inside)?;
        let men = diagram::men(&fen, placement).map_err(inside)?;
        let unwritten = Span::new(word.start, word.start);
        let mut designators = men.into_iter().filter_map(|(square, letter)| {
            let (pieces, _) = fen_symbol(Symbol::Letter(letter))?;
            Some(Squares::new(S::Designator { pieces, squares: Bitboard::from(square) }, unwritten))
        });
        let first = designators.next().expect("a placement that demands nothing is refused");
        let union = |a, b| Squares::new(S::Union(a, b), unwritten);
        let all = balanced(first, designators.collect(), &union);
        Ok(filter(N::Cardinality(all), word.to(at)))
    }
}
