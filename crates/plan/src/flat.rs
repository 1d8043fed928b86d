//! Flat programs: lists of instructions that run along each game. The compiler in this module produces them for queries in which
//! a filter depends on values that earlier filters stored.
//!
//! A plan computes a column for all positions at once. That is impossible if a filter depends on earlier evaluations. Such filters
//! read variables, bind variables in loops, or compare pairs of positions. A query with such filters becomes a
//! [`FlatProgram`](super::FlatProgram). Its *leaves* are the largest filters that use no variables from outside and store nothing.
//! They are planned as usual, and the resulting columns become operands of the program. The rest of the query is compiled to
//! [instructions](super::Instr). The engine runs the instructions at each node (position) of a game, in ascending order of node
//! numbers. The result is a column like any other.
//!
//! # The machine
//!
//! * A [`RegisterWord`](super::RegisterWord) names a register of 64 bits: a set of squares, or a sign-extended number or position,
//!   with [`NO_VALUE`](super::NO_VALUE) if there is none. The first registers are the variables of the query, in their order; each
//!   of these has a flag that is true if the variable is bound. Variables keep their values from node to node; all other registers
//!   do not. Pieces and strings are represented by numbers: see [`TextInstr`](super::TextInstr). Dictionaries map words to words.
//!   At the end of a game, its dictionaries and strings are dropped.
//! * One node of the game is *current*; columns, boards and moves are read there. [`Go`](super::Instr::Go) makes another node
//!   current, [`Here`](super::Instr::Here) saves the current one. Code that makes another node current restores the previous one on
//!   every exit path.
//! * There is no stack and there are no calls. Conditions are jumps. The compiler's `unless(filter, no)` emits code that falls
//!   through if the filter matches, and jumps to `no` if it fails. `squares`, `number` and `position` leave a value in a
//!   register. The code evaluates exactly the filters that the language requires, in the required order, since any filter may
//!   assign a variable.
//! * [`Fault`](super::Instr::Fault) and similar instructions end the game because of an error in the query. The engine reports only
//!   that there is an error. The reference engine, which has the spans of the filters, then makes the message.
//!
//! To add an operation, add an instruction in `crates/plan/src/operations/flat.rs`, its effect in
//! `crates/engine/src/operations/flat.rs` or a file below it, and its arm in the compiler (`conditions`, `squares`, `numbers`,
//! `positions`, `texts`). A filter without an arm is refused, and so is the query that contains it.

mod ahead;
mod compile;
mod conditions;
mod dictionaries;
mod edges;
mod graph;
mod invariants;
mod leaves;
mod moves;
mod names;
mod numbers;
mod pairs;
mod positions;
mod prune;
mod rays;
mod searches;
mod sizes;
mod squares;
mod texts;
mod walks;

pub(super) use compile::{CompileResult, Facts, compiled, compiled_copies};
pub(super) use squares::stores_after_moves;
