//! Flat programs: lists of instructions that run along each game. Queries that keep state from filter to filter are compiled to
//! them.
//!
//! A plan computes a column for all positions at once. That is impossible for a filter that depends on what was evaluated before:
//! variables, pieces that variables hold, loops that bind them, pairs of positions. A query with such filters becomes a
//! [`FlatProgram`](super::FlatProgram). Its *leaves* are the largest filters in it that neither use variables from outside nor
//! keep state; they are planned as usual and become operands, which are columns. The rest of the query is compiled to
//! [instructions](super::Instr), which the engine runs for each game, at each node in ascending order of numbers. The result is a
//! column like any other.
//!
//! # The machine
//!
//! * A [`RegisterWord`](super::RegisterWord) names a register of 64 bits: a set of squares, or a sign-extended number or
//!   position, with [`NO_VALUE`](super::NO_VALUE) if there is none. The first registers are the variables of the query, in their
//!   order; each of these has a flag that says whether it is bound. Variables keep their values from node to node; all other
//!   registers lose them. Pieces and strings are represented by numbers: see [`TextInstr`](super::TextInstr). Dictionaries map
//!   words to words. Dictionaries and the strings of a game are dropped at its end.
//! * One node of the game is *current*; columns, boards and moves are read there. [`Go`](super::Instr::Go) makes another node
//!   current, [`Here`](super::Instr::Here) saves the current one. Code that makes another node current restores the previous one
//!   on every way out.
//! * There is no stack and there are no calls: conditions are jumps. The compiler's `unless(filter, no)` emits code that falls
//!   through if the filter matches, and jumps to `no` if it fails. `squares`, `number` and `position` leave a value in a
//!   register. The code evaluates exactly the filters that the language requires, in the required order, since any filter may
//!   assign.
//! * [`Fault`](super::Instr::Fault) and similar instructions end the game: the query has run into an error. The engine reports
//!   only that; the interpreter, which knows where filters are in the text, then makes the message.
//!
//! To add an operation, add an instruction in `crates/plan/src/operations/flat.rs`, its effect in
//! `crates/engine/src/operations/flat.rs` or a file below it, and its arm in the compiler (`conditions`, `squares`, `numbers`,
//! `positions`, `texts`). A filter without an arm is refused, and with it the query.

mod ahead;
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
mod rays;
mod searches;
mod squares;
mod texts;
mod walks;

pub(super) use compile::{CompileResult, Facts, compiled, compiled_copies};
