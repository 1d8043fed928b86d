//! Replaces `emit` on architectures for which there is no machine code: programs are never compiled.

use super::registers::RegisterMachine;
use orbit_core::isa::Isa;
use orbit_plan::{Program, Reg};

/// The machine code of a program. There is none, so this type has no values.
#[derive(Debug)]
pub(super) enum Native {}

/// Returns `None`: nothing is compiled here.
pub(super) fn compile(_: &Program, _: &[Reg], _: Isa) -> Option<Native> {
    None
}

impl Native {
    /// Can never be called, because [`Native`] has no values.
    pub(super) fn run(&self, _: &Program, _: &mut RegisterMachine) {
        match *self {}
    }
}
