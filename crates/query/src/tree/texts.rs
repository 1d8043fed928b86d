//! Filters whose value is a string or a position of the game. Such a filter may have no value.

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
        /// `player white`, `player black`: the name of a player. `player` alone yields both names, separated by a line feed.
        Player(Option<Color>),
        /// `typename S`, `piecename S`: the letter for the content of S. There is no value unless S is a single square whose
        /// content is in `contents`.
        #[expect(missing_docs, reason = "operands are named as CQL names them")]
        ContentName { contents: PieceSet, spelt: Spelt, of: Squares<P> },
        /// A comparison such as `a < b`. If it is true, its value is a; otherwise it has no value.
        Compare(Cmp, Text<P>, Text<P>),
        /// An operation, such as braces or `if`, whose value is the value of another string.
        Control(Control<P, Text<P>>),
        /// A string that needs more of the game than the current position, or that depends on filters evaluated before it.
        Game(GameText<P>),
        /// A string that exists only in the form `P` of the tree.
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
        /// An operation, such as braces or `if`, whose value is the value of another position filter.
        Control(Control<P, Position<P>>),
        /// A position that needs more of the game than the current position, or that depends on filters evaluated before it.
        Game(GamePosition<P>),
        /// A position that exists only in the form `P` of the tree.
        Form(OfPosition<P>),
    }
}
