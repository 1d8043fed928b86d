//! Tests drivers that fail, call by call. The tests have a Vulkan loader of their own (`shim.c`), which is placed before the
//! real one and lets one call fail or never return.
//!
//! Whichever call fails, a run ends, either with the right answer or with an error that has a remedy. It does not panic, wait
//! forever or give a wrong answer.

mod matrix;
mod shim;
mod stand_in;
mod validation;
