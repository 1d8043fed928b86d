//! The reference engine on blocks. `orbit_reference` evaluates a query on one game; the modules here pass it the games
//! of blocks, and turn what it finds into [`Answers`](super::Answers).

pub use bulk::Bulk;
pub use commentator::Commentator;
pub use late::{LateSpans, SpanFinder};
pub use orbit_reference::ReferenceError;

mod bulk;
mod commentator;
mod games;
mod late;
