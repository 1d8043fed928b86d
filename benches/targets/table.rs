//! Prints the result table: its head, its rows, and its remarks.

use std::fmt;
use std::fs;

use orbit_search::report::grouped;

use crate::{Bench, process};

/// The target for a measured value. Rows without a target only serve for comparison.
#[derive(Clone, Copy, Default)]
pub struct Target {
    is_at_most: bool,
    reach: Option<f64>,
    beyond: Option<f64>,
}

impl Target {
    /// No target.
    pub const NONE: Target = Target { is_at_most: false, reach: None, beyond: None };

    /// A smaller value is better, but there is no target yet.
    pub const AT_MOST: Target = Target { is_at_most: true, ..Target::NONE };

    /// Returns the target that a value must be at least `reach`.
    pub const fn at_least(reach: f64) -> Target {
        Target { reach: Some(reach), ..Target::NONE }
    }

    /// Returns the target that a value must be at most `reach`.
    pub const fn at_most(reach: f64) -> Target {
        Target { reach: Some(reach), ..Target::AT_MOST }
    }

    /// Sets a stricter target, which applies once the first one has been reached.
    pub const fn beyond(self, beyond: f64) -> Target {
        Target { beyond: Some(beyond), ..self }
    }

    fn verdict(self, measured: f64) -> &'static str {
        let holds = |wanted: f64| if self.is_at_most { measured <= wanted } else { measured >= wanted };
        match (self.reach.map(holds), self.beyond.map(holds)) {
            (None, None | Some(false)) => "",
            (_, Some(true)) => "beyond",
            (Some(true), _) => "met",
            _ => "not met",
        }
    }

    fn text(self, figure: Option<f64>) -> String {
        let sign = if self.is_at_most { "at most" } else { "at least" };
        figure.map_or_else(String::new, |figure| format!("{sign} {figure}"))
    }
}

/// One line of the table.
pub struct Row {
    what: String,
    /// The measured value; `None` if the measurement was skipped. The remark then contains the reason.
    measured: Option<f64>,
    unit: &'static str,
    target: Target,
    remark: String,
}

impl Row {
    /// Creates a row. `remark` contains the values from which the ratio `measured` was computed, with their units.
    pub fn new(what: impl Into<String>, measured: f64, target: Target, remark: impl Into<String>) -> Row {
        Row { what: what.into(), measured: Some(measured), unit: "x", target, remark: remark.into() }
    }

    /// Creates a row for a measurement that is impossible on this machine, with the reason `why`.
    pub fn left_out(what: impl Into<String>, target: Target, why: impl Into<String>) -> Row {
        Row { what: what.into(), measured: None, unit: "", target, remark: why.into() }
    }

    /// Sets the unit of a measured value that is not a ratio.
    pub fn unit(self, unit: &'static str) -> Row {
        Row { unit, ..self }
    }
}

/// Formats a value with about three digits: `1.23`, `12.3`, `123`. All digits before the decimal point are shown.
pub fn figures(value: f64) -> String {
    let decimals = if value >= 100.0 { 0 } else { 1 + usize::from(value < 10.0) };
    format!("{value:.decimals$}")
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let measured =
            self.measured.map_or_else(|| "-".into(), |value| format!("{} {}", figures(value), self.unit));
        let verdict = self.measured.map_or("left out", |value| self.target.verdict(value));
        // Bars are escaped, because a bar ends a Markdown cell even within code.
        let what = self.what.replace('|', "\\|");
        let Target { reach, beyond, .. } = self.target;
        let (reach, beyond) = (self.target.text(reach), self.target.text(beyond));
        write!(f, "| {what} | {measured} | {reach} | {beyond} | {verdict} | ({}) |", self.remark)
    }
}

/// The instruction sets that the engine or its compiler may use.
const SETS: &[&str] = &[
    "sse4_2",
    "popcnt",
    "avx",
    "bmi2",
    "avx2",
    "avx512f",
    "avx512bw",
    "avx512_vbmi",
    "avx512_vbmi2",
    "avx512_vpopcntdq",
    "gfni",
    "asimd",
    "sve",
    "sve2",
];

/// Returns the name of the processor and its relevant instruction sets, if the system reports them.
fn processor() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let value = |name: &str| {
        let line = text.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == name))?;
        Some(line.split_once(':')?.1.trim())
    };
    let flags: Vec<&str> = value("flags").or_else(|| value("Features"))?.split_whitespace().collect();
    let sets: Vec<&str> = SETS.iter().copied().filter(|set| flags.contains(set)).collect();
    Some(format!("{} ({})", value("model name").unwrap_or("no name"), sets.join(" ")))
}

/// Prints the circumstances on which the measured times depend, such as the processor and the games, and the head of
/// the table.
pub fn print_head(bench: &Bench) {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let games = &bench.inputs.games;
    println!("- processor: {}, {cores} cores", processor().unwrap_or_else(|| "not known".into()));
    println!(
        "- games: {}, positions: {}, PGN of {} bytes (the file {} times over)",
        grouped(games.games),
        grouped(games.positions),
        grouped(bench.inputs.pgn_bytes),
        bench.inputs.repeats
    );
    if let Some(distinct) = &bench.inputs.distinct {
        println!("- distinct games: {}, positions: {}", grouped(distinct.games), grouped(distinct.positions));
    }
    println!("- versions: {}; {}", process::orbit_version(), process::pgn_extract_version());
    println!("- each time is the shortest of {}\n", bench.runs);
    println!("| what | measured | to reach | beyond | | in figures |");
    println!("|---|---|---|---|---|---|");
}
