//! Checks that the Khronos validation layer reports no misuse of Vulkan.

use super::{
    matrix::orbit,
    shim::{self, Fault, MISUSE, Ran},
};
use crate::common::harness::VALIDATION;

/// Runs the program with the validation layer. Returns the messages that the layer writes to stdout.
fn complaints(args: &[&str], fault: Option<Fault>) -> Vec<String> {
    let mut command = orbit(args);
    command.env("VK_INSTANCE_LAYERS", "VK_LAYER_KHRONOS_validation");
    let ran: Ran = match fault {
        Some(fault) => shim::run(command, fault),
        None => shim::finished(command, args[0]),
    };
    assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.stderr);
    let lines = ran.stdout.lines().chain(ran.stderr.lines());
    let is_said =
        |line: &&str| ["VUID-", "UNASSIGNED-", "Validation "].iter().any(|word| line.contains(word));
    lines.filter(is_said).map(str::to_owned).collect()
}

#[test]
fn the_validation_layer_finds_nothing() {
    shim::needed();
    let count = ["scan", "-q", "--engine", "gpu", "--count", "K", "games/sample.pgn"];
    let planted = Fault { call: "vkCreateBuffer", at: 3, code: MISUSE, once: true };
    let found = complaints(&count, Some(planted));
    VALIDATION.met(found.first());
    assert!(found.iter().any(|line| line.contains("VUID-VkBufferCreateInfo-usage")), "{found:?}");

    let queries = [
        "shift flip flipcolor {Nd4 kf3}",
        "#(shift {N attacks q})",
        "shift flip count find {Nd4 kf3}",
        "find <-- 2 check",
        "elo > 2000 movenumber < 12 check",
        "legal --",
    ];
    for query in queries {
        for more in [&["--copies"][..], &["--format", "values"], &["--gpu-memory", "1M", "--count"]] {
            let args = [&["scan", "-q", "--engine", "gpu", query, "games/sample.pgn"], more].concat();
            assert_eq!(complaints(&args, None), [""; 0], "{args:?}");
        }
    }
    let bench = ["bench", "--runs", "1", "--positions", "100K"];
    assert_eq!(complaints(&bench, None), [""; 0], "{bench:?}");
}
