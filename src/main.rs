//! The `orbit` command.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::allocator::keep_freed_memory();
    quiet_drivers();
    cli::run(cli::Cli::of(std::env::args_os().collect()))
}

/// Keeps what is loaded with a graphics driver from printing complaints that no user can act on.
///
/// Mesa's layer that sorts devices looks for a Wayland display, and libwayland complains on stderr where
/// XDG_RUNTIME_DIR is not an absolute path. In a folder that does not exist libwayland finds no display and prints
/// nothing. Mesa also warns of drivers that have not passed Khronos' tests.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "the environment is how these libraries are told")]
fn quiet_drivers() {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let has_folder =
        std::env::var_os("XDG_RUNTIME_DIR").is_some_and(|folder| folder.as_encoded_bytes().starts_with(b"/"));
    // SAFETY: this is the first thing that the program does, and there is no other thread yet.
    unsafe {
        if !has_folder {
            std::env::set_var("XDG_RUNTIME_DIR", "/nonexistent");
        }
        if !is_set("MESA_VK_IGNORE_CONFORMANCE_WARNING") {
            std::env::set_var("MESA_VK_IGNORE_CONFORMANCE_WARNING", "true");
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn quiet_drivers() {}
