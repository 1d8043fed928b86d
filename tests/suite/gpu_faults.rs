//! Drivers that fail, call by call: a Vulkan loader of the tests' own (`shim.c`) stands in front of the real one
//! and lets a call fail, or never return.
//!
//! Whatever fails, a run ends: with the right answer, or with an error that says what to do. It does not panic, wait
//! for ever or answer wrongly.

mod matrix;
mod shim;
mod stand_in;
mod validation;
