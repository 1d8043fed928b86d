//! Finds the user's cache folder, for files that the program can recreate at any time.

use std::path::PathBuf;

/// Returns the cache folder of this program, or `None` if no environment variable names one. The folder may not exist yet.
pub fn user_caches() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let caches = if cfg!(windows) {
        folder("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        folder("HOME").map(|home| home.join("Library/Caches"))
    } else {
        folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")))
    };
    caches.map(|caches| caches.join("orbit"))
}
