//! Replaces `emit` on architectures without machine code: programs are never compiled.

use super::registers::RegisterMachine;
use orbit_core::isa::Isa;
use orbit_plan::{Program, Reg};

/// A program as machine code. There is none.
#[derive(Debug)]
pub(super) enum Native {}

/// Compiles nothing.
pub(super) fn compile(_: &Program, _: &[Reg], _: Isa) -> Option<Native> {
    None
}

impl Native {
    /// Runs nothing.
    pub(super) fn run(&self, _: &Program, _: &mut RegisterMachine) {
        match *self {}
    }
}
