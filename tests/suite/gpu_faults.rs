//! Tests failures of the driver, call by call. The tests install their own Vulkan loader (`shim.c`) in front of the
//! real one. It makes a chosen call fail or never return.
//!
//! Whatever fails, a run must end, either with the right answer or with an error that names a remedy. It must not
//! panic, wait for ever or give a wrong answer.

mod matrix;
mod shim;
mod stand_in;
mod validation;
