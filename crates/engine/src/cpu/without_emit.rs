//! The replacement for `emit` on architectures for which no machine code can be generated. Programs are never compiled
//! there.

use super::registers::RegisterMachine;
use orbit_core::isa::Isa;
use orbit_plan::{Program, Reg};

/// The type of a program's machine code. It has no values, because there is no machine code here.
#[derive(Debug)]
pub(super) enum Native {}

/// Returns `None`: nothing is compiled here.
pub(super) fn compile(_: &Program, _: &[Reg], _: Isa) -> Option<Native> {
    None
}

impl Native {
    pub(super) fn run(&self, _: &Program, _: &mut RegisterMachine) {
        match *self {}
    }
}
