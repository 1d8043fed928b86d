//! The values of variables while a query is evaluated, or while it is translated into a plan.
//!
//! Each variable has a *cell*, which contains a value or is unbound. All filters of a query use the same cells, including filters
//! inside `find`. Reading an unbound cell yields the empty set, or no value.

use std::fmt::Debug;

use super::VarId;

/// The Rust types in which an engine, or the translation into a plan, stores the values of variables.
pub trait CellValues {
    /// A set of squares.
    type Squares: Clone + Debug;
    /// The type of numbers. It need not represent a missing value, because a number without a value is stored as [`Cell::Unbound`].
    type Number: Clone + Debug;
    /// The type of strings. It need not represent a missing value, because a string without a value is stored as [`Cell::Unbound`].
    type Text: Clone + Debug;
    /// The type of positions of the game. It need not represent a missing position, because that is stored as [`Cell::Unbound`].
    type Position: Clone + Debug;
}

/// The value of one variable.
#[derive(Clone, Debug)]
pub enum Cell<V: CellValues> {
    /// No value: the variable has not been assigned, or its loop has ended.
    Unbound,
    /// A set of squares.
    Squares(V::Squares),
    /// A number.
    Number(V::Number),
    /// A string.
    Text(V::Text),
    /// A position of the game.
    Position(V::Position),
}

/// The values of all variables of a query.
#[derive(Clone, Debug)]
pub struct Cells<V: CellValues>(Vec<Cell<V>>);

impl<V: CellValues> Cells<V> {
    /// Creates `count` unbound cells.
    pub fn unbound(count: usize) -> Cells<V> {
        Cells((0..count).map(|_| Cell::Unbound).collect())
    }

    /// Returns as many cells as `self` has, all of them unbound.
    #[must_use]
    pub fn emptied(&self) -> Cells<V> {
        Cells::unbound(self.0.len())
    }

    /// Stores a value in a variable, or unbinds the variable.
    pub fn bind(&mut self, var: VarId, cell: Cell<V>) {
        self.0[var.0 as usize] = cell;
    }

    /// Unbinds a variable, and returns its previous value.
    pub fn take(&mut self, var: VarId) -> Cell<V> {
        std::mem::replace(&mut self.0[var.0 as usize], Cell::Unbound)
    }

    /// Returns the cell of a variable.
    pub fn cell(&self, var: VarId) -> &Cell<V> {
        &self.0[var.0 as usize]
    }

    /// Returns true if a variable has a value.
    pub fn is_bound(&self, var: VarId) -> bool {
        !matches!(self.0[var.0 as usize], Cell::Unbound)
    }

    /// Returns the set that a variable holds. Returns `None` if it holds a value of another kind or is unbound.
    pub fn squares(&self, var: VarId) -> Option<&V::Squares> {
        match &self.0[var.0 as usize] {
            Cell::Squares(squares) => Some(squares),
            _ => None,
        }
    }

    /// Returns the number that a variable holds. Returns `None` if it holds a value of another kind or is unbound.
    pub fn number(&self, var: VarId) -> Option<&V::Number> {
        match &self.0[var.0 as usize] {
            Cell::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Returns the string that a variable holds. Returns `None` if it holds a value of another kind or is unbound.
    pub fn text(&self, var: VarId) -> Option<&V::Text> {
        match &self.0[var.0 as usize] {
            Cell::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the position that a variable holds. Returns `None` if it holds a value of another kind or is unbound.
    pub fn position(&self, var: VarId) -> Option<&V::Position> {
        match &self.0[var.0 as usize] {
            Cell::Position(position) => Some(position),
            _ => None,
        }
    }
}
