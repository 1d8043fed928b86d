//! The game language to the graph: its operations as [`super::operations`] on columns, and what no plan says yet.

mod chains;
mod edges;
mod positions;
pub(super) mod refusals;
mod values;
