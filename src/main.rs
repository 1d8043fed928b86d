//! The `orbit` command.
fn main() {}
