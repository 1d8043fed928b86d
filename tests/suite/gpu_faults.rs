//! Tests drivers that fail, call by call. The tests' own Vulkan loader (`shim.c`) is in front of the real one, and makes a call
//! fail or never return.
//!
//! Whatever fails, a run must end, either with the right answer or with an error that names a remedy. It must not panic, wait
//! forever or give a wrong answer.

mod matrix;
mod shim;
mod stand_in;
mod validation;
