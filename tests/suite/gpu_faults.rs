//! Drivers that fail, call by call: the tests' own Vulkan loader (`shim.c`) sits in front of the real one and lets a call fail,
//! or never return.
//!
//! Whatever fails, a run ends: with the right answer, or with an error that has a remedy. It does not panic, wait forever or
//! answer wrongly.

mod matrix;
mod shim;
mod stand_in;
mod validation;
