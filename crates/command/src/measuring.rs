//! Parts of `orbit bench` that `benches/card` also uses: games, queries, options and printing. This is not a stable interface.

pub use super::bench::games::{BenchGames, best, failed, in_parallel, positions, rate, side_by_side};
pub use super::bench::{MeasuredArgs, QUERIES, STREAMS, positions_argument};
pub use super::common::{size_text, threads};
pub use super::devices::as_json;
pub use super::failure::Failure;
pub use super::queries::{NamedQuery, read};
pub use super::query_text::DialectArgs;
pub use super::terminal::message;

use serde_json::Value;

use super::failure::Exit;
use super::terminal::Out;

/// Prints lines of text.
pub fn print_lines(lines: Vec<String>) -> Result<(), Failure> {
    let mut out = Out::new();
    lines.into_iter().try_for_each(|line| out.line(line))?;
    out.finish()
}

/// Prints a JSON document on one line.
pub fn print_json(document: &Value) -> Result<(), Failure> {
    let mut out = Out::new();
    out.json(document)?;
    out.finish()
}

/// Prints the error if a program failed, and returns the exit code that `orbit` uses for it.
pub fn exit_code(outcome: Result<(), Failure>) -> u8 {
    super::code(outcome.map(|()| Exit::Done))
}
