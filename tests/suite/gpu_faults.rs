//! Tests drivers that fail, call by call. The tests' own Vulkan loader (`shim.c`) is in front of the real one, and makes a call
//! fail or never return.

mod matrix;
mod shim;
mod stand_in;
mod validation;
