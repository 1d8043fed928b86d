//! Detects GPU adapters, for tests that need one.

use std::process::Command;

use serde_json::Value;

use crate::common::harness::GPU;

/// Returns true if the program finds a GPU adapter. Panics if it finds none although the environment requires one.
pub fn has_adapter() -> bool {
    let found = is_found();
    if !found && GPU.is_required() {
        needs_adapter();
    }
    found
}

/// Marks the running test as ignored if there is no adapter.
pub fn needs_adapter() {
    GPU.met(is_found().then_some(()));
}

fn is_found() -> bool {
    let out = Command::new(env!("CARGO_BIN_EXE_orbit")).args(["devices", "--json"]).output().unwrap();
    let found: Value = serde_json::from_slice(&out.stdout).unwrap();
    found["adapters"].as_array().is_some_and(|all| !all.is_empty())
}
