//! Lowers the game language to the graph, as [`super::operations`] on columns, and refuses the filters that no plan can express
//! yet.

mod chains;
mod edges;
mod positions;
pub(super) mod refusals;
mod values;
