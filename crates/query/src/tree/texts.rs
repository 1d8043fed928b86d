//! Filters whose value is a string or a position of the game, or no value.

use shakmaty::Color;

use super::{
    Any, Cmp, Control, Form, GamePosition, GameText, OfPosition, OfText, Position, Spelt, Squares, Text,
};
use orbit_core::board::PieceSet;

operands! {
    /// The operations whose value is a string.
    #[derive(Clone, Debug)]
    pub enum TextOp<P: Form> {
        /// A literal string.
        Literal(String),
        /// `tag "X"`, `event`, `site`, `date`, `eventdate`, `eco`: the value of a tag, or no value if the tag is absent. White,
        /// Black, Event and Site are `?` if they are absent. Blanks in names are normalized, and missing parts of dates are
        /// filled with `?`.
        Tag(String),
        /// `player white`, `player black`: the name of a player. `player` alone is both names, with a line feed between them.
        Player(Option<Color>),
        /// `typename S`, `piecename S`: the letter for the content of S, if S is one square and its content is among `contents`;
        /// otherwise no value.
        #[expect(missing_docs, reason = "operands are named as CQL names them")]
        ContentName { contents: PieceSet, spelt: Spelt, of: Squares<P> },
        /// A comparison such as `a < b`: its value is a if the comparison holds.
        Compare(Cmp, Text<P>, Text<P>),
        /// An operation whose value is that of another string.
        Control(Control<P, Text<P>>),
        /// A string that needs the game, or depends on filters that were evaluated before.
        Game(GameText<P>),
        /// A string that only this form of the tree has.
        Form(OfText<P>),
    }
}

operands! {
    /// The operations whose value is a position of the game.
    #[derive(Clone, Debug)]
    pub enum PositionOp<P: Form> {
        /// `find F`: the first position at which F matches in a search forwards from the current position, or backwards with
        /// `back`. F shares no variables with the filters around it.
        #[expect(missing_docs, reason = "operands are named as CQL names them")]
        Find { back: bool, quiet: bool, of: Any<P> },
        /// An operation whose value is that of another position.
        Control(Control<P, Position<P>>),
        /// A position that needs the game, or depends on filters that were evaluated before.
        Game(GamePosition<P>),
        /// A position that only this form of the tree has.
        Form(OfPosition<P>),
    }
}
