//! The typed tree of a query: what every stage after the parser works on.
//!
//! There is one enum of operations for each kind of value ([`ConditionOp`], [`SquaresOp`], [`NumberOp`], [`TextOp`],
//! [`PositionOp`]), and operands have the kind that the operation takes, so that no stage has to ask. Where a filter
//! of any kind may stand there is [`Any`].
//!
//! The tree takes several forms ([`Form`]). As written ([`Written`]) it has spans, and transforms are keywords.
//! Engines and plans expand transforms to lists of copies, each in a form of its own. All else is the same in every
//! form, and so [`rewrite`] leads from one form to another, and [`Ref::walk`] visits any of them.
//!
//! Operations hold all that a transform can change; operands are transformed recursively.

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
    /// The local variables, indexed by [`VarId`].
    pub vars: Vec<Var>,
    /// Whether it is asked of side lines as well: `cql(variations)`.
    pub variations: bool,
    /// The dictionaries, indexed by [`DictionaryId`].
    pub dictionaries: Vec<Dictionary>,
    /// What games are sorted by, in the order in which the names appear, indexed by [`SortId`].
    pub sorts: Vec<Sort>,
    /// What the header asks for.
    pub header: Header,
    /// Why a position cannot be judged without those before it, if that is so: a variable may keep a value from one
    /// position to the next.
    pub keeps_state: Option<Diagnostic>,
}

impl TypedQuery {
    /// A query that asks of single positions, without variables.
    pub fn new(body: Node) -> TypedQuery {
        TypedQuery {
            body,
            vars: Vec::new(),
            variations: false,
            dictionaries: Vec::new(),
            sorts: Vec::new(),
            header: Header::default(),
            keeps_state: None,
        }
    }

    /// Whether something lasts from game to game: a variable, a dictionary, a file. Then games have an order.
    pub fn outlives_games(&self) -> bool {
        let lasts = |life: &Life| matches!(life, Life::Run { .. });
        let lives = self.vars.iter().map(|var| &var.life);
        let writes = |op: &GameCondition<Written>| matches!(op, GameCondition::WriteFile { .. });
        lives.chain(self.dictionaries.iter().map(|dictionary| &dictionary.life)).any(lasts)
            || self.has(writes)
    }

    /// Whether it prints messages, also of games in which it does not match.
    pub fn prints_messages(&self) -> bool {
        self.has(|op| matches!(op, GameCondition::Message { .. }))
    }

    /// Whether it asks for comments or glyphs in the games.
    pub fn reads_comments(&self) -> bool {
        let reads = |op: &TextOp<Written>| matches!(op, TextOp::Game(GameText::OriginalComment));
        self.has(|op| matches!(op, GameCondition::Glyph(_)))
            || self.body.any(|filter| matches!(filter, Ref::Text(f) if reads(f.op())))
    }

    /// Whether it asks for the number of the database's last game.
    pub fn asks_for_last_game(&self) -> bool {
        let asks = |op: &NumberOp<Written>| matches!(op, NumberOp::Game(GameNumber::LastGameNumber));
        self.body.any(|filter| matches!(filter, Ref::Number(f) if asks(f.op())))
    }

    /// Whether a condition of the game language in it passes a test.
    fn has(&self, test: impl Fn(&GameCondition<Written>) -> bool) -> bool {
        self.body.any(|filter| matches!(filter, Ref::Condition(f) if matches!(f.op(), ConditionOp::Game(op) if test(op))))
    }
}

/// What `cql(...)` asks for beside filters.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Header {
    /// How many matching positions a game must have, ends included; at least one without it.
    pub match_count: Option<(u32, u32)>,
    /// `gamenumber`: games outside, ends included, are not found. A filter in the body says the same of positions.
    pub games: Option<(u32, u32)>,
    /// `sort matchcount`: games with most matching positions first.
    pub sort_match_count: bool,
    /// Which comments are written.
    pub comments: Comments,
    /// What is written at matching positions: `CQL` without it, nothing if it is empty.
    pub match_string: Option<String>,
    /// `input`.
    pub input: Option<String>,
    /// `output`.
    pub output: Option<String>,
    /// The folder below which the query may read and write files. No header names it: an option does.
    pub files: Option<PathBuf>,
}

impl Header {
    /// Leaves out the games outside a range.
    pub fn narrow_games(&mut self, (first, last): (u32, u32)) {
        let (low, high) = self.games.unwrap_or((0, u32::MAX));
        self.games = Some((low.max(first), high.min(last)));
    }

    /// The comment that marks each position at which the query matches, if there is one.
    pub fn mark(&self) -> Option<&str> {
        let mark = self.match_string.as_deref().unwrap_or("CQL");
        (self.comments == Comments::All && !mark.is_empty()).then_some(mark)
    }
}

/// Which comments are written into the games that are found.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Comments {
    /// All.
    #[default]
    All,
    /// Those that the query asks for, and the numbers of games.
    Quiet,
    /// None.
    Silent,
}

/// A variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Var {
    /// Its name in the query.
    pub name: String,
    /// What it holds.
    pub holds: Holds,
    /// How long it lives.
    pub life: Life,
    /// `atomic`: a path that is left takes its changes back.
    pub atomic: bool,
}

/// How long a variable or a dictionary keeps what it holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Life {
    /// Until the game ends.
    Game,
    /// Until the run ends. A variable begins as 0, "" or [], and is printed at the end unless it is quiet.
    Run {
        /// Whether its value is not printed.
        quiet: bool,
    },
}

/// A dictionary.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dictionary {
    /// Its name in the query.
    pub name: String,
    /// What its keys are, once one was written.
    pub keys: Option<Holds>,
    /// What its values are, once one was written.
    pub values: Option<Holds>,
    /// How long it lives.
    pub life: Life,
}

/// What games are sorted by.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sort {
    /// Its name; `<sort-id-k>` without one.
    pub name: String,
    /// `min`: the smallest first.
    pub smallest: bool,
    /// Not named in the comments of games.
    pub quiet: bool,
    /// Whether it is a string.
    pub of_text: bool,
}

/// What a variable can hold.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Holds {
    Squares,
    Number,
    Text,
    Position,
    /// A piece of the game: it reads as the square on which the piece stands.
    Piece,
}

impl Holds {
    /// As the type of a value.
    pub fn ty(self) -> Type {
        match self {
            Holds::Squares | Holds::Piece => Type::Set,
            Holds::Number => Type::Num,
            Holds::Text => Type::Str,
            Holds::Position => Type::Position,
        }
    }
}

/// Index into [`TypedQuery::vars`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct VarId(pub u32);

/// The type of a filter's value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Type {
    /// True or false. Matches if true.
    Bool,
    /// A set of squares. Matches if not empty.
    Set,
    /// A 32-bit number or no value. Matches if it has a value, 0 included.
    Num,
    /// A string, or no value. Matches if it has a value.
    Str,
    /// A position of the game, named by the half-moves played before it, or no value. Matches if it has a
    /// value.
    Position,
}

impl Type {
    /// Its name: `condition`, `set`, `number`, `string`, `position`.
    pub fn name(self) -> &'static str {
        match self {
            Type::Bool => "condition",
            Type::Set => "set",
            Type::Num => "number",
            Type::Str => "string",
            Type::Position => "position",
        }
    }

    /// True if its values can be told apart by size: numbers, positions, and sets by how many squares they have.
    pub fn has_value(self) -> bool {
        matches!(self, Type::Num | Type::Set | Type::Position)
    }

    /// What it is, and where a value of it is a hit, in words.
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

/// A form of the tree: what is written of a filter beside its operation, and what stands for its transforms.
pub trait Form: Copy + Debug + 'static {
    /// What every filter carries with it.
    type Mark: Clone + Debug;
    /// Conditions that only this form has.
    type OfCondition: Extension<Self>;
    /// Sets of squares that only this form has.
    type OfSquares: Extension<Self>;
    /// Numbers that only this form has.
    type OfNumber: Extension<Self>;
    /// Strings that only this form has.
    type OfText: Extension<Self>;
    /// Positions that only this form has.
    type OfPosition: Extension<Self>;
}

// Derived traits would ask for bounds on associated types that they see.
type OfCondition<P> = <P as Form>::OfCondition;
type OfSquares<P> = <P as Form>::OfSquares;
type OfNumber<P> = <P as Form>::OfNumber;
type OfText<P> = <P as Form>::OfText;
type OfPosition<P> = <P as Form>::OfPosition;

/// A filter of one kind: an operation, and the mark of its form.
#[derive(Clone, Debug)]
pub struct Of<O, P: Form> {
    op: Box<O>,
    /// What the form of the tree notes of each filter.
    pub mark: P::Mark,
}

impl<O, P: Form> Of<O, P> {
    /// Builds a filter.
    pub fn new(op: O, mark: P::Mark) -> Of<O, P> {
        Of { op: Box::new(op), mark }
    }

    /// What it does.
    pub fn op(&self) -> &O {
        &self.op
    }

    /// What it does, taken out.
    pub fn into_op(self) -> O {
        *self.op
    }
}

impl<O> Of<O, Written> {
    /// Where it stands in the query text.
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

/// A filter of any kind, as written.
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
    /// What a variable can hold.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "the names say it")]
    pub enum Assigned<P: Form> {
        Squares(Squares<P>),
        Number(Number<P>),
        Text(Text<P>),
        Position(Position<P>),
    }
}

/// A filter of any kind, looked at.
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
    /// The type of its value.
    pub fn ty(&self) -> Type {
        self.node().ty()
    }

    /// Calls `visit` on this filter and everything below it, parents first.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(Ref<'a, P>)) {
        self.node().walk(visit);
    }

    /// Whether this filter or one below it passes a test.
    pub fn any(&self, mut test: impl FnMut(Ref<'_, P>) -> bool) -> bool {
        self.node().any(&mut test)
    }
}

impl Node {
    /// Where it stands in the query text.
    pub fn span(&self) -> Span {
        *self.node().mark()
    }

    /// The same at another place of the text.
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
    /// The type of its value.
    pub fn ty(self) -> Type {
        match self {
            Ref::Condition(_) => Type::Bool,
            Ref::Squares(_) => Type::Set,
            Ref::Number(_) => Type::Num,
            Ref::Text(_) => Type::Str,
            Ref::Position(_) => Type::Position,
        }
    }

    /// Its mark.
    pub fn mark(self) -> &'a P::Mark {
        match self {
            Ref::Condition(f) => &f.mark,
            Ref::Squares(f) => &f.mark,
            Ref::Number(f) => &f.mark,
            Ref::Text(f) => &f.mark,
            Ref::Position(f) => &f.mark,
        }
    }

    /// The same as a filter of its own.
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

/// A kind of filters, or all kinds together: what a list of copies may consist of.
pub trait Kind<P: Form>: Clone + Debug {
    /// The same kind in another form.
    type In<Q: Form>: Kind<Q>;

    /// The filter, whatever its kind.
    fn node(&self) -> Ref<'_, P>;

    /// The filter in another form.
    ///
    /// # Errors
    ///
    /// Whatever ends the rewriting.
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
    /// What hands on the value of another filter, for every kind but conditions.
    #[derive(Clone, Debug)]
    pub enum Control<P: Form, F> {
        /// A variable's value.
        Var(VarId),
        /// `if c then t else e`.
        #[expect(missing_docs, reason = "the names say it")]
        If { condition: Any<P>, then: F, other: F },
        /// `{f1 ... fn}`: the value of fn if all before it match, and else the empty set, or no value. What stands
        /// behind a failure is not evaluated.
        #[expect(missing_docs, reason = "the names say it")]
        Braces { first: Vec<Any<P>>, last: F },
    }
}

/// One operand or more.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct OneOrMore<T> {
    pub first: T,
    pub rest: Vec<T>,
}

impl<T> OneOrMore<T> {
    /// All of a list, if it holds one.
    pub fn new(all: impl IntoIterator<Item = T>) -> Option<OneOrMore<T>> {
        let mut all = all.into_iter();
        Some(OneOrMore { first: all.next()?, rest: all.collect() })
    }

    /// All, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        std::iter::once(&self.first).chain(&self.rest)
    }

    /// The last one.
    pub fn last(&self) -> &T {
        self.rest.last().unwrap_or(&self.first)
    }

    /// Each made into something else, in order.
    ///
    /// # Errors
    ///
    /// The first that `map` reports.
    pub fn try_map<U, E>(&self, mut map: impl FnMut(&T) -> Result<U, E>) -> Result<OneOrMore<U>, E> {
        let first = map(&self.first)?;
        Ok(OneOrMore { first, rest: self.rest.iter().map(map).collect::<Result<_, _>>()? })
    }
}
