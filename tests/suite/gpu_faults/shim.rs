//! Runs commands with a Vulkan loader that makes a chosen call fail.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{LazyLock, Mutex};

use crate::common::harness::GPU;
use crate::common::waiting::Process;

/// The codes that a failing call returns: VK_ERROR_DEVICE_LOST, VK_ERROR_OUT_OF_HOST_MEMORY and VK_ERROR_OUT_OF_DEVICE_MEMORY. With
/// `NEVER`, the call does not return.
pub const LOST: i32 = -4;
pub const NO_MEMORY: i32 = -1;
pub const NO_DEVICE_MEMORY: i32 = -2;
pub const NEVER: i32 = 99;

/// The code for a misuse: the call succeeds, but creates a buffer without usage flags. Only a validation layer detects this.
pub const MISUSE: i32 = 98;

/// A fault: the call that fails, and the way in which it fails.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    pub call: &'static str,
    /// The number of the failing call, counted from 1 over all calls of the function.
    pub at: u32,
    pub code: i32,
    /// True if only this call fails; false if all later calls of the function also fail.
    pub once: bool,
}

/// The output and the exit code of a run.
#[derive(Debug)]
pub struct Ran {
    /// The exit code; `None` if a signal ended the run.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    /// True if the call that was supposed to fail was made.
    pub met: bool,
}

/// Marks the running test as ignored if faults cannot be injected, which requires a Vulkan loader and a driver with an adapter.
pub fn needed() {
    let found = loader().is_some() && orbit_engine::gpu::adapters().is_ok_and(|all| !all.is_empty());
    GPU.met(found.then_some(()));
}

fn loader() -> Option<PathBuf> {
    let arch = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
    let folders = [arch.as_str(), "/usr/lib64", "/usr/lib", "/usr/local/lib"];
    folders.iter().map(|folder| Path::new(folder).join("libvulkan.so.1")).find(|path| path.exists())
}

/// Returns the folder with the tests' own Vulkan loader.
fn folder() -> &'static Path {
    static FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/gpu_faults/shim.c");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o"]);
        compiler.arg(folder.path().join("libvulkan.so.1")).arg(source).arg("-ldl");
        assert!(compiler.status().expect("a C compiler").success(), "shim.c does not compile");
        folder
    });
    FOLDER.path()
}

/// Makes a command use the tests' own Vulkan loader.
pub fn behind_the_shim(command: &mut Command) -> &mut Command {
    command.env("LD_LIBRARY_PATH", folder()).env("FAULT_LOADER", loader().expect("a loader"))
}

/// Runs a command with a fault.
pub fn run(mut command: Command, fault: Fault) -> Ran {
    static NUMBER: Mutex<u32> = Mutex::new(0);
    let number = {
        let mut number = NUMBER.lock().unwrap();
        *number += 1;
        *number
    };
    let log = folder().join(format!("met-{number}"));
    behind_the_shim(&mut command)
        .env("FAULT_CALL", fault.call)
        .env("FAULT_AT", fault.at.to_string())
        .env("FAULT_CODE", fault.code.to_string())
        .env("FAULT_LOG", &log);
    if fault.once {
        command.env("FAULT_ONCE", "1");
    }
    let mut ran = finished(command, &format!("{fault:?}"));
    ran.met = log.exists();
    ran
}

/// Runs a command to its end. The test fails if the command exceeds a time limit.
pub fn finished(mut command: Command, what: &str) -> Ran {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = Process::new(command.spawn().expect("the binary was built")).output(what);
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("UTF-8"));
    Ran { code: output.status.code(), stdout, stderr, met: false }
}

/// Checks the items on several threads, and returns the errors.
pub fn on_threads<T: Sync>(items: &[T], check: impl Fn(&T) -> Result<(), String> + Sync) -> Vec<String> {
    let (next, wrong) = (Mutex::new(items.iter()), Mutex::new(Vec::new()));
    let take = || next.lock().unwrap().next();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(item) = take() {
                    wrong.lock().unwrap().extend(check(item).err());
                }
            });
        }
    });
    wrong.into_inner().unwrap()
}
