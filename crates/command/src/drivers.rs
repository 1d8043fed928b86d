//! Silences libraries that are loaded with a graphics driver and print warnings of no use to users.

/// Silences the libraries that are loaded with a graphics driver. Must be called before other threads start.
///
/// Mesa's device selection layer looks for a Wayland display, and libwayland complains on stderr if XDG_RUNTIME_DIR is not an
/// absolute path. If the variable names a folder that does not exist, libwayland finds no display and prints nothing. Mesa also
/// warns about drivers that have not passed the Khronos conformance tests.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "the environment is how these libraries are told")]
pub fn quiet() {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let has_folder =
        std::env::var_os("XDG_RUNTIME_DIR").is_some_and(|folder| folder.as_encoded_bytes().starts_with(b"/"));
    // SAFETY: the program calls this function first, before it starts other threads.
    unsafe {
        if !has_folder {
            std::env::set_var("XDG_RUNTIME_DIR", "/nonexistent");
        }
        if !is_set("MESA_VK_IGNORE_CONFORMANCE_WARNING") {
            std::env::set_var("MESA_VK_IGNORE_CONFORMANCE_WARNING", "true");
        }
    }
}

/// Does nothing, since other systems do not use these drivers.
#[cfg(not(target_os = "linux"))]
pub fn quiet() {}
