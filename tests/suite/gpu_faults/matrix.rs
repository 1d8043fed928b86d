//! Runs `orbit scan --engine gpu` with each possible driver fault.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::shim::{self, Fault, LOST, NO_DEVICE_MEMORY, NO_MEMORY, Ran};
use crate::common::length::{Length, least, length};

const QUERY: &str = "shift flip flipcolor {Nd4 kf3}";
const ANSWER: &str = "games hit 354\npositions hit 633\n";

/// The Vulkan functions that wgpu calls and that can fail, and for each the numbers of the calls that are made to fail.
pub const CALLS: [(&str, &[u32]); 25] = [
    ("vkEnumerateInstanceExtensionProperties", &[1, 2]),
    ("vkCreateInstance", &[1]),
    ("vkEnumeratePhysicalDevices", &[1, 2]),
    ("vkEnumerateDeviceExtensionProperties", &[1, 2]),
    ("vkCreateDevice", &[1]),
    ("vkCreateSemaphore", &[1, 2]),
    ("vkCreateCommandPool", &[1, 2]),
    ("vkAllocateCommandBuffers", &[1, 2]),
    ("vkBeginCommandBuffer", &[1, 2, 3, 5]),
    ("vkEndCommandBuffer", &[1, 2, 3, 5]),
    ("vkResetCommandPool", &[1, 2]),
    ("vkCreateBuffer", &[1, 2, 3, 5, 9]),
    ("vkAllocateMemory", &[1, 2]),
    ("vkBindBufferMemory", &[1, 2, 5]),
    ("vkMapMemory", &[1, 2]),
    ("vkCreateDescriptorSetLayout", &[1, 2]),
    ("vkCreatePipelineLayout", &[1, 2]),
    ("vkCreateDescriptorPool", &[1, 2]),
    ("vkAllocateDescriptorSets", &[1, 2]),
    ("vkCreateShaderModule", &[1]),
    ("vkCreateComputePipelines", &[1]),
    ("vkQueueSubmit", &[1, 2, 3]),
    ("vkWaitSemaphores", &[1, 2]),
    ("vkGetSemaphoreCounterValue", &[1, 2, 3]),
    ("vkQueueWaitIdle", &[1]),
];

/// Removes the faults that this run does not test. A sample, the short form of the test, keeps one fault in seven.
pub fn sample(faults: &mut Vec<Fault>) {
    let mut place = 0;
    faults.retain(|_| {
        place += 1;
        match length() {
            Length::Sample => place % 7 == 0,
            // Each call has six faults. `place / 6` shifts the parts from call to call, so that each part contains all six kinds
            // of faults.
            length => length.is_long(place + place / 6),
        }
    });
}

/// Returns a command that runs the program with these arguments on the test games.
pub fn orbit(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orbit"));
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR"))).args(args);
    command
}

/// Checks that a run with an injected fault printed the right result or an error with a remedy, and returns a message if not.
fn judge(ran: &Ran) -> Result<(), &'static str> {
    let is_error = ran.stderr.contains("error: ") && ran.stderr.contains("--engine cpu");
    if ran.stderr.contains("panicked") {
        Err("a panic is printed")
    } else if ran.code == Some(0) && ran.stdout != ANSWER {
        Err("a wrong answer")
    } else if ran.code == Some(2) && !(is_error && ran.stdout.is_empty()) {
        Err("an error without a remedy")
    } else if !matches!(ran.code, Some(0 | 2)) {
        Err("neither an answer nor an error")
    } else {
        Ok(())
    }
}

#[test]
fn after_a_fault_of_any_call_a_run_answers_or_says_what_to_do() {
    shim::needed();
    let mut faults = Vec::new();
    for (call, places) in CALLS {
        for &at in places {
            for code in [LOST, NO_MEMORY, NO_DEVICE_MEMORY] {
                faults.extend([false, true].map(|once| Fault { call, at, code, once }));
            }
        }
    }
    sample(&mut faults);
    let (met, answered, told) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let wrong = shim::on_threads(&faults, |&fault| {
        let ran = shim::run(orbit(&["scan", "--engine", "gpu", "--count", QUERY, "games/sample.pgn"]), fault);
        met.fetch_add(usize::from(ran.met), Ordering::Relaxed);
        answered.fetch_add(usize::from(ran.met && ran.code == Some(0)), Ordering::Relaxed);
        told.fetch_add(usize::from(ran.met && ran.code == Some(2)), Ordering::Relaxed);
        judge(&ran).map_err(|what| format!("{fault:?}: {what}: {ran:?}"))
    });
    assert!(wrong.is_empty(), "{} of {} faults\n{}", wrong.len(), faults.len(), wrong.join("\n"));
    let [met, answered, told] = [met, answered, told].map(AtomicUsize::into_inner);
    eprintln!("{} faults, {met} met: {answered} answered, {told} told", faults.len());
    // In one part of a long run, right results or error messages may be rarer than in the whole run, so only half of the part's
    // share of each is required.
    let share = if length() == Length::All { 1 } else { 2 };
    let is_enough = met > least(180, 0) && answered.min(told) > least(60, 0) / share;
    assert!(is_enough, "{met} met, {answered} answered, {told} told");
}

/// A lost device must be reopened exactly once. If only the first call fails, the run succeeds; if all calls fail, the loss is
/// reported.
#[test]
fn a_device_that_is_lost_while_it_is_waited_for_is_opened_once_more() {
    shim::needed();
    for call in ["vkWaitSemaphores", "vkQueueSubmit", "vkGetSemaphoreCounterValue"] {
        for once in [true, false] {
            let args = ["scan", "--engine", "gpu", "--count", QUERY, "games/sample.pgn"];
            let ran = shim::run(orbit(&args), Fault { call, at: 1, code: LOST, once });
            assert!(ran.met, "{call} is not called");
            assert_eq!(ran.code, Some(if once { 0 } else { 2 }), "{call}, once: {once}: {}", ran.stderr);
            assert_eq!(judge(&ran), Ok(()), "{call}, once: {once}: {ran:?}");
            assert_eq!(ran.stderr.contains("error: the GPU was lost ("), !once, "{}", ran.stderr);
        }
    }
}

/// The command `orbit devices` also calls the driver. If a call of the driver fails, the command must report an error, or report
/// that there is no adapter.
#[test]
fn commands_that_only_look_at_the_driver_do_not_panic() {
    shim::needed();
    for call in ["vkCreateInstance", "vkEnumeratePhysicalDevices", "vkEnumerateDeviceExtensionProperties"] {
        for code in [LOST, NO_MEMORY] {
            let ran = shim::run(orbit(&["devices"]), Fault { call, at: 1, code, once: false });
            let is_error = ran.code == Some(2) && ran.stderr.contains("--engine cpu");
            let is_none = ran.code == Some(0) && ran.stdout.starts_with("no graphics adapter found");
            assert!(ran.met && (is_error || is_none) && !ran.stderr.contains("panicked"), "{call}: {ran:?}");
        }
    }
}

/// If a command succeeds, users must not see the messages that loaders and drivers print.
#[test]
fn commands_that_succeed_show_nothing_of_what_drivers_print() {
    shim::needed();
    let folder = tempfile::tempdir().unwrap();
    let (list, themes) = (folder.path().join("queries.txt"), folder.path().join("themes.toml"));
    std::fs::write(&list, format!("knight\t{QUERY}\n")).unwrap();
    std::fs::write(&themes, format!("[[theme]]\nname = 'knight'\nquery = '{QUERY}'\n")).unwrap();
    let [list, themes] = [&list, &themes].map(|path| path.to_str().unwrap());
    let runs: [&[&str]; 5] = [
        &["devices"],
        &["scan", "-q", "--engine", "gpu", "--count", QUERY, "games/sample.pgn"],
        &["scan", "-q", "--engine", "gpu", "--queries", list, "games/sample.pgn"],
        &["batch", "-q", "--engine", "gpu", themes, "games/sample.pgn"],
        &["bench", "--runs", "1", "--positions", "1K"],
    ];
    for args in runs {
        let mut command = orbit(args);
        command.env_remove("XDG_RUNTIME_DIR");
        let ran = shim::finished(command, args[0]);
        assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.stderr);
        assert!(!ran.stderr.contains("XDG_RUNTIME_DIR"), "{args:?}: {}", ran.stderr);
    }
}
