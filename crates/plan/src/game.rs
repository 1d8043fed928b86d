//! Lowers the game language (filters about moves and other positions of the game) to [`super::operations`] on columns of the
//! graph. Refuses the filters that no plan can express yet.

mod chains;
mod edges;
mod positions;
pub(super) mod refusals;
mod values;
