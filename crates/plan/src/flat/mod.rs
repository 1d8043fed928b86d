//! Flat programs: what keeps state from filter to filter, as a list of instructions that runs along each game.
//!
//! A plan computes a column for all positions at once, which nothing can do that depends on what was evaluated before:
//! variables, pieces that variables hold, loops that bind them, pairs of positions. Such a query becomes a
//! [`FlatProgram`](super::FlatProgram). Its *leaves*, the largest filters in it without variables from outside and
//! without state, are planned as before and become operands: columns. What is left around them is compiled to
//! [instructions](super::Instr), which the engine runs for each game, at each node in the order of numbers. The result is
//! a column like any other.
//!
//! # The machine
//!
//! * A [`Word`](super::Word) names a register of 64 bits: a set of squares, or a number or position, sign-extended, with
//!   [`NO_VALUE`](super::NO_VALUE) for none. The first registers are the variables of the query, in their order; each
//!   of these has a flag beside it that says whether it is bound. They keep what they hold from node to node, all
//!   others lose it. Pieces are numbers, and so are strings: see [`TextInstr`](super::TextInstr). Dictionaries map
//!   words to words; they and the strings of a game are forgotten at its end.
//! * One node of the game is *current*; columns, boards and moves are read there. [`Go`](super::Instr::Go) makes another
//!   one current, [`Here`](super::Instr::Here) remembers it. What goes elsewhere comes back on every way out.
//! * There is no stack and there are no calls: conditions are jumps. The compiler's `unless(filter, no)` emits code that
//!   falls through where the filter matches and jumps to `no` where it fails; `squares`, `number` and `position` leave a
//!   value in a register. All evaluate what the language says is evaluated, in its order, since anything may assign.
//! * [`Fault`](super::Instr::Fault) and its kin end the game: the query has run into an error. The engine says so, and
//!   the interpreter, which knows places in the text, is asked for the words.
//!
//! To add an operation: an instruction in `crates/plan/src/operations/flat.rs`, what it does in `crates/engine/src/operations/flat.rs`
//! or a file below it, and its arm in the compiler (`conditions`, `squares`, `numbers`, `positions`, `texts`). What has no
//! arm is refused, and so is the query.

mod compile;
mod conditions;
mod dictionaries;
mod edges;
mod graph;
mod leaves;
mod moves;
mod names;
mod numbers;
mod pairs;
mod positions;
mod prune;
mod searches;
mod squares;
mod texts;
mod walks;

pub(super) use compile::{CompileResult, Facts, compiled, compiled_copies};
