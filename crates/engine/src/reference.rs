//! The reference engine on blocks. `orbit_reference` evaluates a query on one game; the modules here give it the games
//! of blocks, and make [`Answers`](super::Answers) of what it finds.

pub use bulk::Bulk;
pub use commentator::Commentator;
pub use late::{LateSpans, SpanFinder};
pub use orbit_reference::ReferenceError;

mod bulk;
mod commentator;
mod games;
mod late;
