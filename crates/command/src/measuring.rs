//! The code of `orbit bench` that `benches/card` uses as well: games, queries, options and printing. It is no stable interface.

pub use super::bench::games::{BenchGames, best, failed, in_parallel, positions, rate, side_by_side};
pub use super::bench::{QUERIES, STREAMS, positions_argument};
pub use super::common::{GpuArgs, from_one, size_text, threads};
pub use super::devices::as_json;
pub use super::failure::Failure;
pub use super::queries::{NamedQuery, read};
pub use super::query_text::DialectArgs;
pub use super::terminal::{Out, message};

use super::failure::Exit;

/// Prints the error of a failed program, and returns the exit code that `orbit` has for it.
pub fn exit_code(outcome: Result<(), Failure>) -> u8 {
    super::code(outcome.map(|()| Exit::Done))
}
