//! CQL text to typed tree.

pub mod tree;

pub use tree::{Node, Op, Query, Type};
