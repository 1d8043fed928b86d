//! Filters whose value is a string or a position of the game, or none.

use shakmaty::Color;

use super::{
    Any, Cmp, Control, Form, GamePosition, GameText, OfPosition, OfText, Position, Spelt, Squares, Text,
};
use orbit_core::board::PieceSet;

operands! {
    /// What a string does.
    #[derive(Clone, Debug)]
    pub enum TextOp<P: Form> {
        /// A literal.
        Literal(String),
        /// `tag "X"`, `event`, `site`, `date`, `eventdate`, `eco`: none if absent. White, Black, Event and Site are `?`
        /// if absent, names have their blanks in order, and dates are filled with `?`.
        Tag(String),
        /// `player white`, `player black`, `player` (white, line feed, black).
        Player(Option<Color>),
        /// `typename S`, `piecename S`: the letter of what stands on S, if that is one square and its content is in the
        /// set.
        #[expect(missing_docs, reason = "operands are named as CQL names them")]
        ContentName { contents: PieceSet, spelt: Spelt, of: Squares<P> },
        /// `a < b`: a, if the comparison holds.
        Compare(Cmp, Text<P>, Text<P>),
        /// What hands on a string.
        Control(Control<P, Text<P>>),
        /// What needs the game, or what was evaluated before.
        Game(GameText<P>),
        /// What only this form of the tree has.
        Form(OfText<P>),
    }
}

operands! {
    /// What a position of the game does.
    #[derive(Clone, Debug)]
    pub enum PositionOp<P: Form> {
        /// `find F`: the nearest position at which F matches, from this one on, or with `back` from this one back. F
        /// and what is around it share no variables.
        #[expect(missing_docs, reason = "operands are named as CQL names them")]
        Find { back: bool, quiet: bool, of: Any<P> },
        /// What hands on a position.
        Control(Control<P, Position<P>>),
        /// What needs the game, or what was evaluated before.
        Game(GamePosition<P>),
        /// What only this form of the tree has.
        Form(OfPosition<P>),
    }
}
