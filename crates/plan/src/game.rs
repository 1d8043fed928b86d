//! Lowers the game language, that is, filters about moves and other positions of the game. They become operations on columns
//! ([`super::operations`]) in the graph. Filters that no plan can express yet are rejected.

mod chains;
mod edges;
mod positions;
pub(super) mod refusals;
mod values;
