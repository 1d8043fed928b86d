//! The operands of instructions: registers and labels.

/// The number of a 64-bit register of a flat program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct RegisterWord(pub u16);

/// A location in the code to which an instruction may jump.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Label(pub u32);
