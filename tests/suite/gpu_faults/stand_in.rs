//! Tests that the processor replaces a card that fails, and that a call that never returns is abandoned.
//!
//! `--engine auto` does not use a software adapter, and a test cannot wait for two minutes. So a child process, which runs this
//! test program with the failing loader, creates the engines directly.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use orbit_engine::{
    Answers, BlockRequest, Engine, EngineError, PreparedQuery, Wants,
    fallback::Fallback,
    gpu::{GpuDevice, GpuError, GpuOptions},
};
use orbit_plan::PlanOptions;
use orbit_reel::Block;

use super::{
    matrix::{CALLS, sample},
    shim::{self, Fault, LOST, NEVER, NO_MEMORY},
};
use crate::common::pgn_blocks;

const QUERIES: [&str; 2] = ["shift flip {Nd4 kf3}", "#(P attacks n)"];

/// The time without a response after which a child process gives up its device.
const SILENCE: Duration = Duration::from_millis(1500);
/// The time without a response after which a child process gives up its device if the machine is busy, because even a working
/// device may then seem unresponsive.
const LONG_SILENCE: Duration = Duration::from_secs(30);

fn prepared(text: &str) -> PreparedQuery {
    PreparedQuery::new(orbit_query::parse(text).unwrap().query, PlanOptions::default()).unwrap()
}

/// Returns some blocks of real games.
fn blocks() -> Vec<Block> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/games/sample.pgn");
    let text = std::fs::read_to_string(path).unwrap();
    let games: Vec<&str> = text.split_inclusive("\n\n[Event ").collect();
    let whole = |games: &[&str]| format!("[Event {}", games.concat().trim_end_matches("[Event "));
    games[1..].chunks(60).take(4).flat_map(|games| pgn_blocks(&whole(games))).collect()
}

/// Returns the hits, the values and the matching copies (transformed patterns) of all queries as one line of text.
fn answers(engines: &[Box<dyn Engine>]) -> Result<String, EngineError> {
    let blocks = blocks();
    let blocks: Vec<&Block> = blocks.iter().collect();
    let mut out = String::new();
    for engine in engines {
        let mut copies = vec![0; engine.info().copies[0]];
        for pair in blocks.chunks(2) {
            let wanted = [Wants::VALUES | Wants::ALL_COPIES];
            let answers = engine.scan(pair, &BlockRequest::all(&wanted))?;
            for (block, answers) in pair.iter().zip(answers) {
                let Answers { hits, copies: told, .. } = &answers[0];
                let told = told.as_ref().expect("copies were asked for");
                copies.iter_mut().zip(told.sums()).for_each(|(sum, more)| *sum += more);
                let digest = (0..block.slots()).fold(0u64, |sum, slot| {
                    let text = format!("{:?}", hits.answer(slot));
                    text.bytes().fold(sum.rotate_left(5), |sum, byte| sum.wrapping_mul(31) + u64::from(byte))
                });
                out += &format!("{} {digest:x} ", hits.count());
            }
        }
        out += &format!("{copies:?} ");
    }
    Ok(out)
}

fn by_cpu() -> String {
    let engines = QUERIES.map(|text| Box::new(prepared(text).cpu().unwrap()) as Box<dyn Engine>);
    answers(&engines).unwrap()
}

/// Runs as the child process, which behaves like `orbit` with `--engine auto` and a card, or with `--engine gpu`. As an ordinary
/// test, it does nothing.
#[test]
fn a_child() {
    let Ok(engine) = std::env::var("FAULT_CHILD") else { return };
    let mut options = GpuOptions::default();
    let silence = std::env::var("FAULT_SILENCE").unwrap();
    options.silence = Some(Duration::from_millis(silence.parse().unwrap()));
    let device = match GpuDevice::open(options) {
        Ok(device) => Arc::new(device),
        Err(error) if engine == "auto" => {
            return println!("child opens nothing: {error}\nchild says {}", by_cpu());
        }
        Err(error) => return println!("child fails: {error}"),
    };
    let engines = QUERIES.map(|text| {
        let gpu = prepared(text).gpu(&device).unwrap();
        match engine.as_str() {
            "auto" => Box::new(Fallback::new(Box::new(gpu), Box::new(prepared(text).cpu().unwrap())))
                as Box<dyn Engine>,
            _ => Box::new(gpu),
        }
    });
    match answers(&engines) {
        Ok(said) => println!("child says {said}"),
        Err(error) => println!("child fails: {error}"),
    }
    for notice in engines.iter().filter_map(|engine| engine.info().notice) {
        println!("child notes: {notice}");
    }
}

/// Runs a child process. Returns its result or the reason for its failure, and everything that it printed.
fn child(
    engine: &str,
    fault: Fault,
    silence: Duration,
) -> Result<(Result<String, String>, shim::Ran), String> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "gpu_faults::stand_in::a_child", "--nocapture", "--test-threads", "1"]);
    command.env("FAULT_CHILD", engine).env("FAULT_SILENCE", silence.as_millis().to_string());
    let ran = shim::run(command, fault);
    let line = |begin: &str| {
        let rest = ran.stdout.split_once(begin).map(|(_, rest)| rest);
        rest.and_then(|rest| rest.lines().next()).map(str::to_owned)
    };
    if ran.code != Some(0) || ran.stderr.contains("panicked") {
        return Err(format!("{fault:?}: {ran:?}"));
    }
    match (line("child says "), line("child fails: ")) {
        (Some(said), None) => Ok((Ok(said), ran)),
        (None, Some(error)) => Ok((Err(error), ran)),
        _ => Err(format!("{fault:?}: no answer: {ran:?}")),
    }
}

#[test(part = 1)]
fn the_processor_goes_on_from_any_fault() {
    shim::needed();
    let mut faults = Vec::new();
    for (call, places) in CALLS {
        for &at in places.iter().chain(&[12]) {
            faults.extend([LOST, NO_MEMORY].map(|code| Fault { call, at, code, once: false }));
        }
    }
    sample(&mut faults);
    let expected = by_cpu();
    let wrong = shim::on_threads(&faults, |&fault| match child("auto", fault, SILENCE)? {
        (Ok(said), _) if said == expected => Ok(()),
        (said, ran) => Err(format!("{fault:?}: {said:?}: {ran:?}")),
    });
    assert!(wrong.is_empty(), "{} of {} faults\n{}", wrong.len(), faults.len(), wrong.join("\n"));
}

/// The Vulkan calls that are made to hang, each in its own run: those that use the device, and some that use its driver.
const WAITS: [&str; 14] = [
    "vkWaitSemaphores",
    "vkGetSemaphoreCounterValue",
    "vkQueueSubmit",
    "vkQueueWaitIdle",
    "vkCreateBuffer",
    "vkAllocateMemory",
    "vkMapMemory",
    "vkBeginCommandBuffer",
    "vkResetCommandPool",
    "vkCreateComputePipelines",
    "vkCreateDevice",
    "vkCreateInstance",
    "vkEnumeratePhysicalDevices",
    "vkAllocateDescriptorSets",
];

/// Returns the possible messages about a call that hangs, if calls may take the time `silence`. Some calls may take longer: a second
/// if they contain a wait that may take as long, and five times as long if they compile a kernel.
fn silent_after(silence: Duration) -> [String; 3] {
    [silence, silence + Duration::from_secs(1), 5 * silence]
        .map(|after| GpuError::Silent { after }.to_string())
}

#[test(part = 1)]
fn a_call_that_never_returns_is_given_up() {
    shim::needed();
    let mut faults: Vec<Fault> =
        WAITS.iter().flat_map(|call| [1, 2].map(|at| Fault { call, at, code: NEVER, once: true })).collect();
    sample(&mut faults);
    let expected = by_cpu();
    let wrong = shim::on_threads(&faults, |&fault| {
        let (said, ran) = child("auto", fault, SILENCE)?;
        if said.as_ref() != Ok(&expected) {
            return Err(format!("{fault:?}: {said:?}: {ran:?}"));
        }
        let mut silence = SILENCE;
        let (mut said, mut ran) = child("gpu", fault, silence)?;
        if said.is_err() && !ran.met {
            // The call that should hang was never made, so another call took longer than [`SILENCE`], because the machine is
            // busy.
            silence = LONG_SILENCE;
            (said, ran) = child("gpu", fault, silence)?;
        }
        match said {
            // If `vkQueueWaitIdle` hangs, all work is already done, so the result is right.
            Ok(said) if said == expected && (!ran.met || fault.call == "vkQueueWaitIdle") => Ok(()),
            Err(error) if ran.met && silent_after(silence).contains(&error) => Ok(()),
            said => Err(format!("{fault:?}: {said:?}: {ran:?}")),
        }
    });
    assert!(wrong.is_empty(), "{} of {} faults\n{}", wrong.len(), faults.len(), wrong.join("\n"));
}
