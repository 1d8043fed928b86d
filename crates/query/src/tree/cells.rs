//! What variables hold while a query is evaluated or planned.
//!
//! A variable is a *cell*: it holds a value, or is unbound. All filters of a query share its cells, those in `find`
//! as well. A cell that is unbound reads as the empty set, or as no value.

use std::fmt::Debug;

use super::VarId;

/// How the values of one evaluator look.
pub trait CellValues {
    /// A set of squares.
    type Squares: Clone + Debug;
    /// A number; a cell holds none that has no value.
    type Number: Clone + Debug;
    /// A string; likewise.
    type Text: Clone + Debug;
    /// A position of the game; likewise.
    type Position: Clone + Debug;
}

/// What one variable holds.
#[derive(Clone, Debug)]
pub enum Cell<V: CellValues> {
    /// Nothing: it was not assigned, or its loop is over.
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

/// What all variables of a query hold.
#[derive(Clone, Debug)]
pub struct Cells<V: CellValues>(Vec<Cell<V>>);

impl<V: CellValues> Cells<V> {
    /// So many cells, unbound.
    pub fn unbound(count: usize) -> Cells<V> {
        Cells((0..count).map(|_| Cell::Unbound).collect())
    }

    /// The same number of cells, unbound.
    #[must_use]
    pub fn emptied(&self) -> Cells<V> {
        Cells::unbound(self.0.len())
    }

    /// Gives a variable a value, or takes it away.
    pub fn bind(&mut self, var: VarId, cell: Cell<V>) {
        self.0[var.0 as usize] = cell;
    }

    /// What a variable holds, which is unbound afterwards.
    pub fn take(&mut self, var: VarId) -> Cell<V> {
        std::mem::replace(&mut self.0[var.0 as usize], Cell::Unbound)
    }

    /// What a variable holds.
    pub fn cell(&self, var: VarId) -> &Cell<V> {
        &self.0[var.0 as usize]
    }

    /// Whether a variable has a value.
    pub fn is_bound(&self, var: VarId) -> bool {
        !matches!(self.0[var.0 as usize], Cell::Unbound)
    }

    /// The set that a variable holds.
    pub fn squares(&self, var: VarId) -> Option<&V::Squares> {
        match &self.0[var.0 as usize] {
            Cell::Squares(squares) => Some(squares),
            _ => None,
        }
    }

    /// The number that a variable holds.
    pub fn number(&self, var: VarId) -> Option<&V::Number> {
        match &self.0[var.0 as usize] {
            Cell::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The string that a variable holds.
    pub fn text(&self, var: VarId) -> Option<&V::Text> {
        match &self.0[var.0 as usize] {
            Cell::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The position that a variable holds.
    pub fn position(&self, var: VarId) -> Option<&V::Position> {
        match &self.0[var.0 as usize] {
            Cell::Position(position) => Some(position),
            _ => None,
        }
    }
}
