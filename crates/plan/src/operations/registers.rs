//! What instructions name.

/// A register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct RegisterWord(pub u16);

/// A place in the code: where an instruction goes on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Label(pub u32);
