//! The typed tree of a query, which the parser builds and all later code reads.
//!
//! There is one enum of operations for each kind of value: [`ConditionOp`], [`SquaresOp`], [`NumberOp`], [`TextOp`] and
//! [`PositionOp`]. The Rust type of an operand is the kind of value that the operation needs, so later code never has to check
//! kinds. If a filter of any kind is allowed, the Rust type is [`Any`].
//!
//! The tree has several forms ([`Form`]). In the form that the parser builds ([`Written`]), filters have spans and transforms are
//! keywords. Engines and plans use forms in which each transform is expanded to a list of copies, its transformed filters. In all
//! other respects, the forms are the same. [`rewrite`] converts one form to another, and [`Ref::walk`] visits the filters of any
//! form.
//!
//! A transform changes only the data in the fields of an operation, such as the squares of a designator. It is then applied to the
//! operands of the operation.

use std::fmt::Debug;
use std::path::PathBuf;

use orbit_core::diagnostic::{Diagnostic, Span};

#[macro_use]
mod define;

mod cells;
mod comments;
mod conditions;
pub mod game;
mod numbers;
mod parts;
pub mod rewrite;
mod spans;
mod squares;
mod texts;
mod visit;
mod written;

pub use cells::{Cell, CellValues, Cells};
pub use conditions::ConditionOp;
pub use game::{
    Chain, DictionaryId, Echo, Edge, Elsewhere, Focus, GameCondition, GameNumber, GamePosition, GameSquares,
    GameText, Line, LineStep, Move, MoveOf, MoveValue, Path, PathStep, PositionOrder, Promotion, Sibling,
    SortId,
};
pub use numbers::NumberOp;
pub use parts::{
    Arith, Cmp, Counted, Dirs, GameResult, ListTransform, PawnKind, Pieces, PinPart, PureKind, Special,
    Spelt, TransformKind, contents_where,
};
pub use rewrite::{Operand, Rewrite};
pub use squares::{Moves, SquaresOp};
pub use texts::{PositionOp, TextOp};
pub use visit::Extension;
pub use written::{ConditionKeyword, Keyword, NoTransform, NumberKeyword, Written};

/// A whole query.
#[derive(Clone, Debug)]
pub struct TypedQuery {
    /// The top-level filters, in braces if there are several.
    pub body: Node,
    /// The variables, indexed by [`VarId`].
    pub vars: Vec<Var>,
    /// True if side lines are searched too: `cql(variations)`.
    pub variations: bool,
    /// The dictionaries, indexed by [`DictionaryId`].
    pub dictionaries: Vec<Dictionary>,
    /// The values by which games are sorted, indexed by [`SortId`], in the order in which their names first appear in the query.
    pub sorts: Vec<Sort>,
    /// The settings of the header `cql(...)`.
    pub header: Header,
    /// The reason why positions cannot be evaluated independently of each other: a variable may keep a value from one position to
    /// the next. `None` if they can.
    pub keeps_state: Option<Diagnostic>,
    /// True if the query may read a variable at a position at which it has not assigned the variable. Unlike `keeps_state`, this
    /// allows filters that are evaluated at other positions to share variables with the filters around them.
    pub reads_earlier: bool,
}

impl TypedQuery {
    /// Creates a query without variables and other declarations, from a filter that keeps no state.
    pub fn new(body: Node) -> TypedQuery {
        TypedQuery {
            body,
            vars: Vec::new(),
            variations: false,
            dictionaries: Vec::new(),
            sorts: Vec::new(),
            header: Header::default(),
            keeps_state: None,
            reads_earlier: false,
        }
    }

    /// Returns true if a variable, a dictionary or a file keeps a value from one game to the next. The result then depends on the
    /// order of the games.
    pub fn outlives_games(&self) -> bool {
        let lives = self.vars.iter().map(|var| var.life);
        let writes = |op: &GameCondition<Written>| matches!(op, GameCondition::WriteFile { .. });
        lives.chain(self.dictionaries.iter().map(|dictionary| dictionary.life)).any(Life::outlives_games)
            || self.has(writes)
    }

    /// Returns true if the query prints messages. It may print them in games without a match, too.
    pub fn prints_messages(&self) -> bool {
        self.has(|op| matches!(op, GameCondition::Message { .. }))
    }

    /// Returns true if the query reads the comments or the annotation glyphs of games.
    pub fn reads_comments(&self) -> bool {
        let reads = |op: &TextOp<Written>| matches!(op, TextOp::Game(GameText::OriginalComment));
        self.has(|op| matches!(op, GameCondition::Glyph(_)))
            || self.body.any(|filter| matches!(filter, Ref::Text(f) if reads(f.op())))
    }

    /// Returns true if the query reads `lastgamenumber`, the number of the database's last game.
    pub fn asks_for_last_game(&self) -> bool {
        let asks = |op: &NumberOp<Written>| matches!(op, NumberOp::Game(GameNumber::LastGameNumber));
        self.body.any(|filter| matches!(filter, Ref::Number(f) if asks(f.op())))
    }

    /// Returns true if the query contains a [`GameCondition`] that passes `test`.
    fn has(&self, test: impl Fn(&GameCondition<Written>) -> bool) -> bool {
        self.body.any(|filter| matches!(filter, Ref::Condition(f) if matches!(f.op(), ConditionOp::Game(op) if test(op))))
    }
}

/// The settings in the header `cql(...)`. Filters in the header are not part of them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Header {
    /// The minimum and the maximum number of matching positions that a game must have to be found. `None` means at least one.
    pub match_count: Option<(u32, u32)>,
    /// The range that `gamenumber` sets: the numbers of the first and the last game that may be found. The query's body also
    /// contains a filter that tests this range at each position.
    pub games: Option<(u32, u32)>,
    /// `sort matchcount`: games with the most matching positions come first.
    pub sort_match_count: bool,
    /// The kinds of comments that are written into matching games.
    pub comments: Comments,
    /// The comment that is written at matching positions. `None` means `CQL`; an empty string means no comment.
    pub match_string: Option<String>,
    /// The file of games that the parameter `input` names. `orbit cql` reads this file unless an option names another one.
    pub input: Option<String>,
    /// The file that the parameter `output` names. `orbit cql` writes this file unless an option names another one.
    pub output: Option<String>,
    /// The folder in which the query may read and write files, including its subfolders. A command-line option sets it, not a
    /// header.
    pub files: Option<PathBuf>,
}

impl Header {
    /// Restricts the games that may be found to a range of game numbers, in addition to any range already set.
    pub fn narrow_games(&mut self, (first, last): (u32, u32)) {
        let (low, high) = self.games.unwrap_or((0, u32::MAX));
        self.games = Some((low.max(first), high.min(last)));
    }

    /// Returns the comment that is written at each position at which the query matches. Returns `None` if there is no such
    /// comment.
    pub fn mark(&self) -> Option<&str> {
        let mark = self.match_string.as_deref().unwrap_or("CQL");
        (self.comments == Comments::All && !mark.is_empty()).then_some(mark)
    }
}

/// The kinds of comments that a query writes into matching games.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Comments {
    /// All comments.
    #[default]
    All,
    /// Only comments that the query requests explicitly, and game numbers.
    Quiet,
    /// No comments.
    Silent,
}

/// A variable of a query.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Var {
    /// The name of the variable in the query.
    pub name: String,
    /// The kind of values that the variable can hold.
    pub holds: Holds,
    /// The lifetime of the variable's value.
    pub life: Life,
    /// True if the variable is `atomic`: when the search abandons a path, it undoes the changes that the path made to the
    /// variable.
    pub atomic: bool,
}

/// The lifetime of the values in a variable or a dictionary.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Life {
    /// Until the game ends.
    Game,
    /// Until the run ends. The initial value of a variable is 0, an empty string or an empty set. Its final value is printed
    /// unless `quiet` is set.
    Run {
        /// True if the final value of the variable is not printed when the run ends.
        quiet: bool,
    },
}

/// A dictionary of a query.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dictionary {
    /// The name of the dictionary in the query.
    pub name: String,
    /// The type of the keys, or `None` if the query writes no key.
    pub keys: Option<Holds>,
    /// The type of the values, or `None` if the query writes no value.
    pub values: Option<Holds>,
    /// The lifetime of the entries.
    pub life: Life,
}

/// A value by which matching games are sorted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sort {
    /// The name of the value; `<sort-id-k>` if the query does not name it.
    pub name: String,
    /// True for `min`: games with the smallest value come first.
    pub smallest: bool,
    /// True if the value is not written into game comments.
    pub quiet: bool,
    /// True if the value is a string.
    pub of_text: bool,
}

/// The kind of values that a variable, or the keys or values of a dictionary, can hold.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Holds {
    Squares,
    Number,
    Text,
    Position,
    /// An individual piece of the game. Its value is a set with the square on which the piece stands.
    Piece,
}

impl Holds {
    /// Returns the type of this kind of value in an expression.
    pub fn ty(self) -> Type {
        match self {
            Holds::Squares | Holds::Piece => Type::Set,
            Holds::Number => Type::Num,
            Holds::Text => Type::Str,
            Holds::Position => Type::Position,
        }
    }
}

/// The number of a variable: an index into [`TypedQuery::vars`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct VarId(pub u32);

/// The type of a filter's value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Type {
    /// True or false. A filter of this type matches if it is true.
    Bool,
    /// A set of squares. A filter of this type matches if the set is not empty.
    Set,
    /// A 32-bit number, or no value. A filter of this type matches if it has a value, even the value 0.
    Num,
    /// A string, or no value. A filter of this type matches if it has a value.
    Str,
    /// A position of the game, or no value. Where a number is needed, the number of the position within the game is used. A filter
    /// of this type matches if it has a value.
    Position,
}

impl Type {
    /// Returns the name of the type: `condition`, `set`, `number`, `string`, `position`.
    pub fn name(self) -> &'static str {
        match self {
            Type::Bool => "condition",
            Type::Set => "set",
            Type::Num => "number",
            Type::Str => "string",
            Type::Position => "position",
        }
    }

    /// Returns true if the values of the type are numbers or can be converted to numbers. This applies to numbers, positions, and
    /// sets, which convert to the number of their squares.
    pub fn has_value(self) -> bool {
        matches!(self, Type::Num | Type::Set | Type::Position)
    }

    /// Returns a description of the type, including the condition under which a filter of the type matches.
    pub fn described(self) -> &'static str {
        match self {
            Type::Bool => "condition",
            Type::Set => "set of squares (a hit if it is not empty)",
            Type::Num => "number (a hit wherever it has a value)",
            Type::Str => "string (a hit wherever it has a value)",
            Type::Position => "position of the game (a hit wherever there is one)",
        }
    }
}

/// A form of the tree. It defines the data that every filter has in addition to its operation, and the filters that exist only in
/// this form.
pub trait Form: Copy + Debug + 'static {
    /// The data that every filter has in this form, such as its span in the text.
    type Mark: Clone + Debug;
    /// The conditions that exist only in this form of the tree.
    type OfCondition: Extension<Self>;
    /// The filters for sets of squares that exist only in this form of the tree.
    type OfSquares: Extension<Self>;
    /// The filters for numbers that exist only in this form of the tree.
    type OfNumber: Extension<Self>;
    /// The filters for strings that exist only in this form of the tree.
    type OfText: Extension<Self>;
    /// The filters for positions that exist only in this form of the tree.
    type OfPosition: Extension<Self>;
}

// With these aliases, `derive` needs no bounds on the associated types.
type OfCondition<P> = <P as Form>::OfCondition;
type OfSquares<P> = <P as Form>::OfSquares;
type OfNumber<P> = <P as Form>::OfNumber;
type OfText<P> = <P as Form>::OfText;
type OfPosition<P> = <P as Form>::OfPosition;

/// A filter of one kind. It consists of an operation, and of the data that its form of the tree adds to every filter.
#[derive(Clone, Debug)]
pub struct Of<O, P: Form> {
    op: Box<O>,
    /// The data that this form of the tree stores with each filter.
    pub mark: P::Mark,
}

impl<O, P: Form> Of<O, P> {
    /// Builds a filter.
    pub fn new(op: O, mark: P::Mark) -> Of<O, P> {
        Of { op: Box::new(op), mark }
    }

    /// Returns the operation.
    pub fn op(&self) -> &O {
        &self.op
    }

    /// Returns the operation of the filter, and drops the mark, its other data.
    pub fn into_op(self) -> O {
        *self.op
    }
}

impl<O> Of<O, Written> {
    /// Returns the span of the filter in the query text.
    pub fn span(&self) -> Span {
        self.mark
    }
}

/// A filter whose value is true or false.
pub type Condition<P = Written> = Of<ConditionOp<P>, P>;
/// A filter whose value is a set of squares.
pub type Squares<P = Written> = Of<SquaresOp<P>, P>;
/// A filter whose value is a number, or none.
pub type Number<P = Written> = Of<NumberOp<P>, P>;
/// A filter whose value is a string, or none.
pub type Text<P = Written> = Of<TextOp<P>, P>;
/// A filter whose value is a position of the game, or none.
pub type Position<P = Written> = Of<PositionOp<P>, P>;

/// A filter of any kind, in the form that the parser builds.
pub type Node = Any<Written>;

/// A filter of any kind.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Any<P: Form> {
    Condition(Condition<P>),
    Squares(Squares<P>),
    Number(Number<P>),
    Text(Text<P>),
    Position(Position<P>),
}

operands! {
    /// A value that can be assigned to a variable.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "the names say it")]
    pub enum Assigned<P: Form> {
        Squares(Squares<P>),
        Number(Number<P>),
        Text(Text<P>),
        Position(Position<P>),
    }
}

/// A reference to a filter of any kind.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Ref<'a, P: Form> {
    Condition(&'a Condition<P>),
    Squares(&'a Squares<P>),
    Number(&'a Number<P>),
    Text(&'a Text<P>),
    Position(&'a Position<P>),
}

impl<P: Form> Any<P> {
    /// Returns the type of the filter's value.
    pub fn ty(&self) -> Type {
        self.node().ty()
    }

    /// Calls `visit` on this filter and on all filters below it. A filter is visited before its operands.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(Ref<'a, P>)) {
        self.node().walk(visit);
    }

    /// Returns true if this filter or any filter below it passes `test`.
    pub fn any(&self, mut test: impl FnMut(Ref<'_, P>) -> bool) -> bool {
        self.node().any(&mut test)
    }
}

impl Node {
    /// Returns the span of the filter in the query text.
    pub fn span(&self) -> Span {
        *self.node().mark()
    }

    /// Returns the filter with another span in the query text.
    #[must_use]
    pub fn at(mut self, span: Span) -> Node {
        match &mut self {
            Any::Condition(f) => f.mark = span,
            Any::Squares(f) => f.mark = span,
            Any::Number(f) => f.mark = span,
            Any::Text(f) => f.mark = span,
            Any::Position(f) => f.mark = span,
        }
        self
    }
}

impl<'a, P: Form> Ref<'a, P> {
    /// Returns the type of the filter's value.
    pub fn ty(self) -> Type {
        match self {
            Ref::Condition(_) => Type::Bool,
            Ref::Squares(_) => Type::Set,
            Ref::Number(_) => Type::Num,
            Ref::Text(_) => Type::Str,
            Ref::Position(_) => Type::Position,
        }
    }

    /// Returns the data that the form of the tree adds to the filter, such as its span in the text.
    pub fn mark(self) -> &'a P::Mark {
        match self {
            Ref::Condition(f) => &f.mark,
            Ref::Squares(f) => &f.mark,
            Ref::Number(f) => &f.mark,
            Ref::Text(f) => &f.mark,
            Ref::Position(f) => &f.mark,
        }
    }

    /// Returns a clone of the filter.
    pub fn cloned(self) -> Any<P> {
        match self {
            Ref::Condition(f) => Any::Condition(f.clone()),
            Ref::Squares(f) => Any::Squares(f.clone()),
            Ref::Number(f) => Any::Number(f.clone()),
            Ref::Text(f) => Any::Text(f.clone()),
            Ref::Position(f) => Any::Position(f.clone()),
        }
    }
}

/// A Rust type for filters of one particular kind, or of any kind ([`Any`]). A list of copies (transformed filters) contains
/// filters of one such type.
pub trait Kind<P: Form>: Clone + Debug {
    /// The corresponding type of filter in another form of the tree.
    type In<Q: Form>: Kind<Q>;

    /// Returns a reference to the filter, whatever its kind.
    fn node(&self) -> Ref<'_, P>;

    /// Rewrites the filter to another form of the tree.
    ///
    /// # Errors
    ///
    /// Returns the [`Rewrite::Stop`] value if `by` stops the rewriting.
    fn rewritten<Q: Form, R: Rewrite<P, Q>>(&self, by: &mut R) -> Result<Self::In<Q>, R::Stop>;
}

macro_rules! kind {
    ($kind:ident, $op:ident, $rewrite:ident) => {
        impl<P: Form> Kind<P> for Of<$op<P>, P> {
            type In<Q: Form> = $kind<Q>;

            fn node(&self) -> Ref<'_, P> {
                Ref::$kind(self)
            }

            fn rewritten<Q: Form, R: Rewrite<P, Q>>(&self, by: &mut R) -> Result<$kind<Q>, R::Stop> {
                by.$rewrite(self)
            }
        }

        impl<P: Form> Operand<P> for Of<$op<P>, P> {
            type Out<Q: Form> = $kind<Q>;

            fn each_filter<'a>(&'a self, visit: &mut dyn FnMut(Ref<'a, P>)) {
                visit(Ref::$kind(self));
            }

            fn remade<Q: Form, R: Rewrite<P, Q>>(&self, by: &mut R) -> Result<$kind<Q>, R::Stop> {
                by.$rewrite(self)
            }
        }

        impl<P: Form> From<Of<$op<P>, P>> for Any<P> {
            fn from(filter: Of<$op<P>, P>) -> Any<P> {
                Any::$kind(filter)
            }
        }
    };
}

kind!(Condition, ConditionOp, condition);
kind!(Squares, SquaresOp, squares);
kind!(Number, NumberOp, number);
kind!(Text, TextOp, text);
kind!(Position, PositionOp, position);

impl<P: Form> Kind<P> for Any<P> {
    type In<Q: Form> = Any<Q>;

    fn node(&self) -> Ref<'_, P> {
        match self {
            Any::Condition(f) => Ref::Condition(f),
            Any::Squares(f) => Ref::Squares(f),
            Any::Number(f) => Ref::Number(f),
            Any::Text(f) => Ref::Text(f),
            Any::Position(f) => Ref::Position(f),
        }
    }

    fn rewritten<Q: Form, R: Rewrite<P, Q>>(&self, by: &mut R) -> Result<Any<Q>, R::Stop> {
        by.any(self)
    }
}

impl<P: Form> Operand<P> for Any<P> {
    type Out<Q: Form> = Any<Q>;

    fn each_filter<'a>(&'a self, visit: &mut dyn FnMut(Ref<'a, P>)) {
        visit(self.node());
    }

    fn remade<Q: Form, R: Rewrite<P, Q>>(&self, by: &mut R) -> Result<Any<Q>, R::Stop> {
        by.any(self)
    }
}

operands! {
    /// Operations whose value is that of another filter or of a variable. They exist for every kind except conditions.
    #[derive(Clone, Debug)]
    pub enum Control<P: Form, F> {
        /// The value of a variable.
        Var(VarId),
        /// `if c then t else e`.
        #[expect(missing_docs, reason = "the names say it")]
        If { condition: Any<P>, then: F, other: F },
        /// Filters in braces, `{f1 ... fn}`. If all filters before fn match, the value is that of fn. Otherwise it is the empty
        /// set, or no value. Once a filter fails, the filters after it are not evaluated.
        #[expect(missing_docs, reason = "the names say it")]
        Braces { first: Vec<Any<P>>, last: F },
    }
}

/// A list of at least one operand.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct OneOrMore<T> {
    pub first: T,
    pub rest: Vec<T>,
}

impl<T> OneOrMore<T> {
    /// Builds a list of operands. Returns `None` if there are none.
    pub fn new(all: impl IntoIterator<Item = T>) -> Option<OneOrMore<T>> {
        let mut all = all.into_iter();
        Some(OneOrMore { first: all.next()?, rest: all.collect() })
    }

    /// Iterates over all operands, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        std::iter::once(&self.first).chain(&self.rest)
    }

    /// Returns the last operand.
    pub fn last(&self) -> &T {
        self.rest.last().unwrap_or(&self.first)
    }

    /// Applies `map` to each operand, in order.
    ///
    /// # Errors
    ///
    /// Returns the first error that `map` returns.
    pub fn try_map<U, E>(&self, mut map: impl FnMut(&T) -> Result<U, E>) -> Result<OneOrMore<U>, E> {
        let first = map(&self.first)?;
        Ok(OneOrMore { first, rest: self.rest.iter().map(map).collect::<Result<_, _>>()? })
    }
}
