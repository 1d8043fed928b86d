//! The replacement for `emit` on architectures for which no machine code can be generated. Programs are never compiled
//! there.

use super::registers::RegisterMachine;
use orbit_core::isa::Isa;
use orbit_plan::{Program, Reg};

/// The machine code of a program. This type has no values, because no machine code can be generated.
#[derive(Debug)]
pub(super) enum Native {}

/// Returns `None`, because no machine code can be generated.
pub(super) fn compile(_: &Program, _: &[Reg], _: Isa) -> Option<Native> {
    None
}

impl Native {
    pub(super) fn run(&self, _: &Program, _: &mut RegisterMachine) {
        match *self {}
    }
}
