//! The correctness suite: every engine, every optimisation, one set of answers.
//!
//! * `tables`: rows of query, position and value, on every runner.
//! * `cql5`: position lists of CQL 5, and their worked examples.
//! * `golden`: what CQL 6.2 answers on real games, on every runner.
//! * `differential`: generated queries on positions generated from them, `cpu` against `reference`, `gpu`
//!   against `cpu`.
//! * `find`: what other positions of the game say, on every runner.
//! * `gpu`: the GPU engine at the edges of blocks and limits, and on devices that fail.
//! * `variants`: the other kernels of the GPU engine, which answer as its own do.
//! * `layout`: what Rust and the shaders must agree on.
//! * `mates`: pure mates and stalemates among positions made at random, on every engine.
//! * `parts`: what is collected of a database in pieces.
//! * `errors`: what the parser says of queries that it refuses.
//! * `second`: position lists of CQL 5 beside an evaluator of its own.
//! * `soup`: random text, which must never bring the parser down.
//! * `verify`: engines that check and stand in for one another, several queries at once.
//! * `reference`: what tables cannot say of the reference engine.

#[path = "../common/mod.rs"]
mod common;
mod cql5;
mod differential;
mod errors;
mod find;
mod golden;
mod gpu;
mod layout;
mod mates;
mod parts;
mod reference;
mod runners;
mod second;
mod soup;
mod tables;
mod variants;
mod verify;
