//! The reference engine, which is slow and simple. It evaluates the typed tree of a query at one position, copy by copy. A *copy*
//! is one of the patterns into which a transform turns the query.
//!
//! Its results must be easy to trust, because the results of the other engines are compared with them bit for bit. It is therefore
//! an independent implementation of the rules. It shares neither transform arithmetic nor transform expansion nor plans (compiled
//! queries) with the other engines. It works on single squares and coordinates, and takes attacks and legal moves from shakmaty.
//! Invariant: a [`Reference`] contains no transform keywords, only explicit copies.
//!
//! If the language rules leave a question open, this engine decides as follows:
//!
//! * The copies of a transform have a fixed order, the *order of declaration*. Of equal copies, only the first is kept. The order
//!   of the eight symmetries is: identity, rotations by 90, 180 and 270 degrees counter-clockwise, then the reflections of ranks,
//!   of files, in a1-h8 and in h1-a8. Shifts are ordered by the steps to the right, ascending from -7, and then by the steps up,
//!   ascending from -7. For `flipcolor`, the identity comes first. If a transform directly contains another one, the two fuse: the
//!   first basic transform of the outer one is applied to all copies of the inner one, then the second, and so on.
//! * Copies are evaluated in another order, which affects comments and variables. It depends on the first filter in which two
//!   copies differ. Squares are compared as ascending lists, a1 first, then pieces, White's first. Directions are compared by the
//!   squares to which they lead. Dark squares come before light ones, and White comes before Black. Copies are still numbered in
//!   the order of declaration. Of equal copies of `flip`, `currenttransform` names the first in breadth-first order from the
//!   identity, with a quarter turn and the reflection of ranks as steps.
//! * Reading a variable before it has a value is an error that ends the run. If positions are evaluated independently, the variable
//!   has no value instead.
//! * Strings are bytes. Regular expressions treat each byte as the character with that code point.
//! * A loop over the keys of a dictionary visits the keys that exist when the loop begins.
//! * After the loop `while (s ~~ "re") F`, the groups of the regular expression have no value.
//! * `equal` is false if only one of its operands has a value.
//! * Several comments after one move are joined to one string, with spaces in between. Comments before a move are ignored.
//! * `echo` writes the comments of the target first. It writes `LCA` only if the last common ancestor is neither of the two
//!   positions.
//! * `loop` and `while` repeat at most ten million times in one game, a search with a regular expression takes at most ten
//!   million steps, and strings have at most 16 MiB.
//! * All operands of an operation are evaluated from left to right, even if an earlier one has no value. Only `{...}`, `and`, `or`,
//!   `if` and `square all` skip filters.

#![deny(unsafe_code, missing_docs)]

use orbit_core::{
    board::{PackedMove, Position},
    record::GameFacts,
};
use orbit_query::{
    TypedQuery,
    tree::{Any, ConditionOp, GameCondition, GameText, Number, NumberOp, Ref, Squares, SquaresOp, TextOp},
};

use copies::{Copies, CopyBuilder, CopyOrder, ExplicitForm, NumberCopies, PlainFilter};
use state::Declared;

pub use found::{FoundValue, GameFound, Note, Noted, PositionAnswer};
pub use state::RunState;
pub use whole::{Asked, GameFault, WantedFacts};

mod apart;
mod chains;
mod control;
mod copies;
mod dictionaries;
mod echo;
mod edges;
mod eval;
mod facts;
mod found;
mod game;
mod geometry;
mod lines;
mod memory;
mod men;
mod moves;
mod nodes;
mod notes;
mod patterns;
mod pieces;
mod played;
mod plays;
mod program;
mod pure;
mod scope;
mod script_files;
mod search;
mod spans;
mod state;
mod strings;
mod tree;
mod value;
mod variables;
mod walks;
mod whole;
mod write;

/// The reason why the transforms of a query cannot be expanded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReferenceError {
    /// `rotate45` is applied to a designator with some squares, but not all.
    #[error("rotate45 turns directions only, found a designator with squares; write it without squares")]
    Rotate45Squares,
    /// `rotate45` is applied to `light` or `dark`.
    #[error("rotate45 turns directions only, found light or dark, which have no image under it")]
    Rotate45Shade,
    /// The transforms make more copies than the engine may evaluate.
    #[error("the transforms make copies with more than {nodes_max} filters in all; nest fewer of them")]
    TooManyCopies {
        /// The limit, counted in filters.
        nodes_max: usize,
    },
}

/// A position in its game, with all data that filters may read about it.
#[derive(Clone, Copy)]
pub struct Spot<'a> {
    /// The position.
    pub position: Position,
    /// The number of half-moves before the position. It is 0 at the start of the game.
    pub ply: u32,
    /// True if the position is the first of its game.
    pub initial: bool,
    /// True if the position is the last of its line.
    pub terminal: bool,
    /// The number of the previous position within the game. `None` for the first position.
    pub parent: Option<usize>,
    /// The move that led to this position. `None` for the first position.
    pub arrival: Option<PackedMove>,
    /// The game.
    pub game: &'a dyn GameFacts,
}

/// A query with all transforms expanded, ready for evaluation at positions.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The query, with its copies in evaluation order.
    body: PlainFilter,
    /// For each copy of the outermost filter in `body`, its number in the order of declaration.
    numbers: Vec<usize>,
    declared: Declared,
}

impl Reference {
    /// Expands the transforms of a query.
    ///
    /// # Errors
    ///
    /// Fails if the transforms cannot be expanded; see [`ReferenceError`].
    pub fn new(query: &TypedQuery) -> Result<Reference, ReferenceError> {
        let declared = Declared::from_query(query);
        let order = if order_shows(query) { CopyOrder::Evaluated } else { CopyOrder::Declared };
        let body = CopyBuilder::expand(&query.body, order)?;
        let copies = top(&body).len();
        if order == CopyOrder::Declared || copies == 1 {
            return Ok(Reference { body, numbers: (0..copies).collect(), declared });
        }
        let numbered = CopyBuilder::expand(&query.body, CopyOrder::Declared)?;
        let numbers = match (top(&body), top(&numbered)) {
            (Outermost::Sets(copies), Outermost::Sets(numbered)) => copies::numbers(copies, numbered),
            (Outermost::Numbers(copies), Outermost::Numbers(numbered)) => copies::numbers(copies, numbered),
            (Outermost::Filters(copies), Outermost::Filters(numbered)) => copies::numbers(copies, numbered),
            _ => unreachable!("the same filter is outermost in both orders"),
        };
        Ok(Reference { body, numbers, declared })
    }

    /// Sets the maximum number of steps for one game. If a game needs more steps, its evaluation ends with an error. Each
    /// evaluation of a filter is one step. Long strings, regular expression searches, and filters that visit many positions count
    /// as several steps, in proportion to their time.
    #[must_use]
    pub fn with_steps_max(mut self, steps_max: u64) -> Reference {
        self.declared.steps_max = steps_max;
        self
    }

    /// Returns the number of copies if the outermost filter is a transform, otherwise 1.
    pub fn copies(&self) -> usize {
        self.numbers.len()
    }
}

/// Returns true if the evaluation order of copies can affect comments or variables.
fn order_shows(query: &TypedQuery) -> bool {
    let writes = |filter: Ref<'_, _>| match filter {
        Ref::Condition(f) => {
            matches!(f.op(), ConditionOp::Game(GameCondition::Comment(_) | GameCondition::Message { .. }))
        }
        Ref::Text(f) => matches!(f.op(), TextOp::Game(GameText::CurrentTransform(_))),
        _ => false,
    };
    !query.vars.is_empty() || !query.dictionaries.is_empty() || query.body.any(writes)
}

/// The copies of the outermost filter. If it is not a transform, its only copy is the filter itself.
enum Outermost<'a> {
    Sets(&'a [Squares<ExplicitForm>]),
    Numbers(&'a [Number<ExplicitForm>]),
    Filters(&'a [PlainFilter]),
}

impl Outermost<'_> {
    fn len(&self) -> usize {
        match self {
            Outermost::Sets(copies) => copies.len(),
            Outermost::Numbers(copies) => copies.len(),
            Outermost::Filters(copies) => copies.len(),
        }
    }
}

fn top(filter: &PlainFilter) -> Outermost<'_> {
    match filter {
        Any::Condition(f) => match f.op() {
            ConditionOp::Braces(all) if let [only] = &all[..] => return top(only),
            ConditionOp::Form(Copies::Orbit(copies)) => return Outermost::Filters(copies),
            _ => {}
        },
        Any::Squares(f) if let SquaresOp::Form(Copies::Orbit(copies)) = f.op() => {
            return Outermost::Sets(copies);
        }
        Any::Number(f) => match f.op() {
            NumberOp::Form(NumberCopies::Largest(Copies::Orbit(copies))) => {
                return Outermost::Numbers(copies);
            }
            NumberOp::Form(NumberCopies::Counted(_, copies)) => return Outermost::Filters(copies),
            _ => {}
        },
        _ => {}
    }
    Outermost::Filters(std::slice::from_ref(filter))
}
