//! Filters whose value is a string or a position of the game, or none.

use shakmaty::Color;

use super::{
    Any, Cmp, Control, Form, GamePosition, GameText, OfPosition, OfText, Position, Spelt, Squares, Text,
};
use orbit_core::board::PieceSet;

operands! {
    /// The operations of strings.
    #[derive(Clone, Debug)]
    pub enum TextOp<P: Form> {
        /// A literal.
        Literal(String),
        /// `tag "X"`, `event`, `site`, `date`, `eventdate`, `eco`: no value if the tag is absent. White, Black, Event and Site are
        /// `?` if absent, blanks in names are normalized, and dates are filled with `?`.
        Tag(String),
        /// `player white`, `player black`, `player` (both, with a line feed between).
        Player(Option<Color>),
        /// `typename S`, `piecename S`: the letter for the content of S, if S is one square and its content is in the set.
        #[expect(missing_docs, reason = "operands are named as CQL names them")]
        ContentName { contents: PieceSet, spelt: Spelt, of: Squares<P> },
        /// `a < b`: the value of a, if the comparison holds.
        Compare(Cmp, Text<P>, Text<P>),
        /// An operation that hands on a string.
        Control(Control<P, Text<P>>),
        /// A string that depends on the game, or on what was evaluated before.
        Game(GameText<P>),
        /// A string that only this form of the tree has.
        Form(OfText<P>),
    }
}

operands! {
    /// The operations of positions of the game.
    #[derive(Clone, Debug)]
    pub enum PositionOp<P: Form> {
        /// `find F`: the nearest position at which F matches, from this one on, or with `back` from this one back. F shares no
        /// variables with the filters around it.
        #[expect(missing_docs, reason = "operands are named as CQL names them")]
        Find { back: bool, quiet: bool, of: Any<P> },
        /// An operation that hands on a position.
        Control(Control<P, Position<P>>),
        /// A position that depends on the game, or on what was evaluated before.
        Game(GamePosition<P>),
        /// A position that only this form of the tree has.
        Form(OfPosition<P>),
    }
}
