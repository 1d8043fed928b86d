//! Tests driver failures, call by call. The tests install their own Vulkan loader (`shim.c`) in front of the real one. It makes a
//! chosen call fail or never return.
//!
//! Whatever fails, a run must end with the right result or with an error that suggests a remedy. It must not panic, wait forever
//! or give a wrong result.

mod matrix;
mod shim;
mod stand_in;
mod validation;
