//! The reference engine on blocks of games. The crate `orbit_reference` evaluates a query on one game. The modules here
//! pass the games of blocks to it, and convert its results to [`Answers`](super::Answers).

pub use bulk::Bulk;
pub use commentator::Commentator;
pub use late::{LateSpans, SpanFinder};
pub use orbit_reference::ReferenceError;

mod bulk;
mod commentator;
mod games;
mod late;
