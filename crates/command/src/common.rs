//! Helpers that several commands share.

use std::fs::File;
use std::io::Read as _;
use std::num::NonZeroUsize;
use std::path::Path;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use orbit_core::files::Unfinished;
use orbit_database::Summary;
use orbit_engine::gpu::{GpuOptions, Variant};
use orbit_pgn::Url;
use orbit_search::Named;
use orbit_search::executor::{EngineChoice, EngineOptions};
use orbit_witness::{Agreement, Rule};

use super::failure::{Exit, Failure};

pub(super) use super::progress::{ProgressArgs, ProgressDisplay};
pub(super) use super::terminal::Out;
pub(super) use orbit_search::report::{grouped, kind_name, reason_lines, totals_line};

/// The time that a run has to end by itself after Ctrl-C. A thread that waits for standard input may never notice the Ctrl-C.
const INTERRUPT_GRACE: Duration = Duration::from_secs(2);

/// The maximum number of threads: the larger of this and [`THREADS_A_CORE`] times the number of cores. It is limited because each
/// thread needs memory for the games that it searches.
const THREADS_MAX: usize = 32;
const THREADS_A_CORE: usize = 4;

/// The maximum size in bytes of a file with queries.
const TEXT_BYTES_MAX: u64 = 16 << 20;

/// The files that [`remove_unfinished`] removes.
static UNFINISHED: OnceLock<Unfinished> = OnceLock::new();

/// Returns the list of the files that [`remove_unfinished`] removes.
pub(super) fn unfinished() -> Unfinished {
    UNFINISHED.get_or_init(Unfinished::default).clone()
}

/// Removes unfinished output files when the program is interrupted. If another thread is registering a new file at that moment,
/// none is removed.
pub(super) fn remove_unfinished() {
    if let Some(unfinished) = UNFINISHED.get() {
        unfinished.try_remove();
    }
}

/// A flag that Ctrl-C sets.
#[derive(Clone, Default)]
pub(super) struct CtrlC {
    pub(super) flag: Arc<AtomicBool>,
}

impl CtrlC {
    /// Installs the Ctrl-C handler. The first Ctrl-C sets the flag. The process ends at the second, or if the run has not ended
    /// within two seconds. Before it ends, it removes its unfinished files.
    pub(super) fn install() -> Result<CtrlC, Failure> {
        let interrupt = CtrlC::default();
        let handler = interrupt.clone();
        on_interrupt(move || {
            if !handler.flag.swap(true, Ordering::Relaxed) {
                std::thread::sleep(INTERRUPT_GRACE);
            }
            message!("interrupted");
            unfinished().remove();
            std::process::exit(130);
        })?;
        Ok(interrupt)
    }

    pub(super) fn is_set(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }
}

/// Installs a handler for Ctrl-C. If the system cannot start a thread that waits for it, Ctrl-C ends the process immediately.
pub(super) fn on_interrupt(handle: impl FnMut() + Send + 'static) -> Result<(), Failure> {
    if !can_start_thread() {
        return Ok(());
    }
    let set = ctrlc::set_handler(handle);
    set.map_err(|error| Failure::Other(format!("no handler for Ctrl-C can be installed: {error}")))
}

fn can_start_thread() -> bool {
    std::thread::Builder::new().spawn(|| ()).is_ok_and(|probe| probe.join().is_ok())
}

/// Returns a path as text for messages. URLs are shown without user name, password and query string.
pub(super) fn shown(path: &Path) -> String {
    Url::from_path(path).map_or_else(|| path.display().to_string(), |url| url.shown())
}

/// Returns whether a path is a folder or has an extension for game files, as in `games.pgn`, `games.pgn.zst`, `games.zip` or
/// `games.reel`.
pub(super) fn holds_games(path: &Path) -> bool {
    const ENDINGS: [&str; 6] = ["pgn", "epd", "fen", "reel", "zip", "7z"];
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let mut endings = name.rsplit('.');
    path.is_dir() || path.exists() && endings.by_ref().take(2).any(|ending| ENDINGS.contains(&ending))
}

/// Returns the extension of a file name in lower case, ignoring `.zst`: `csv` for `Hits.CSV.zst`. Returns an empty string if the
/// name has no extension.
pub(super) fn ending(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let name = name.strip_suffix(".zst").unwrap_or(&name);
    name.rsplit_once('.').map_or("", |(_, end)| end).to_owned()
}

/// Returns the number of threads to use: `given`, or by default one for each core. The maximum is `THREADS_MAX` or `THREADS_A_CORE`
/// times the number of cores, whichever is larger.
pub fn threads(given: Option<NonZeroUsize>) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    given.map_or(cores, |given| given.get().min(THREADS_MAX.max(THREADS_A_CORE * cores)))
}

/// Reads a file with one or more queries. Fails if the file is larger than [`TEXT_BYTES_MAX`] bytes.
pub(super) fn read_text(what: &str, file: &Path) -> Result<String, Failure> {
    let name = file.display();
    let mut bytes = Vec::new();
    let read = File::open(file).and_then(|file| file.take(TEXT_BYTES_MAX + 1).read_to_end(&mut bytes));
    if let Err(error) = read {
        return Err(Failure::Other(format!("the {what} {name} cannot be read ({error}): check the path")));
    }
    if bytes.len() as u64 > TEXT_BYTES_MAX {
        let mib = TEXT_BYTES_MAX >> 20;
        return Err(Failure::Other(format!("the {what} {name} is longer than {mib} MiB: check the path")));
    }
    String::from_utf8(bytes)
        .map_err(|_| Failure::Other(format!("the {what} {name} is not UTF-8: save it as UTF-8")))
}

/// The arguments that choose a graphics card and limit its memory.
#[derive(Debug, clap::Args)]
pub struct GpuArgs {
    /// Choose the graphics card: `auto`, `none`, its number in `orbit devices`, a part of its name, or its PCI
    /// bus id.
    #[arg(long, value_name = "CARD", default_value = "auto")]
    gpu: String,
    /// Use at most this much of the card's memory, such as `512M` or `2G`.
    #[arg(long, value_name = "BYTES", value_parser = gpu_bytes, hide_short_help = true)]
    gpu_memory: Option<u64>,
    /// Choose how kernels are written and run, such as `transposed,wg128`. All variants give the same answers.
    #[arg(long, value_name = "VARIANT", default_value_t, hide = true)]
    gpu_variant: Variant,
}

impl GpuArgs {
    /// Returns the options for the graphics card, or `None` if no card may be used.
    pub fn options(&self) -> Option<GpuOptions> {
        self.options_of(&self.gpu)
    }

    fn options_of(&self, card: &str) -> Option<GpuOptions> {
        let mut options = GpuOptions::from_name(card)?;
        options.limits.memory_bytes = self.gpu_memory.unwrap_or(u64::MAX);
        options.variant = self.gpu_variant;
        Some(options)
    }

    /// Returns the options for an engine. `card` overrides the graphics card that the arguments name. `positions` is the number of
    /// positions to search, if it is known.
    pub(super) fn engine_options(
        &self,
        engine: EngineChoice,
        card: Option<&str>,
        positions: u64,
    ) -> Result<EngineOptions, Failure> {
        let mut options = EngineOptions::default();
        let gpu = self.options_of(card.unwrap_or(&self.gpu));
        (options.engine, options.gpu, options.positions) = (engine, gpu, positions);
        if engine == EngineChoice::Gpu && options.gpu.is_none() {
            return Err(Failure::Other(
                "--engine gpu and --gpu none exclude each other: leave out one of them".into(),
            ));
        }
        Ok(options)
    }
}

/// Parses a whole number of at least 1.
pub fn from_one<N: FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| "expected a whole number from 1".into())
}

/// Parses a number of bytes: `65536`, `64K`, `512M`, `2G`.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    scaled(text, 1024).ok_or_else(|| "expected a number of bytes such as 65536, 64K, 512M or 2G".into())
}

/// Parses the memory limit of a graphics card, which must not be 0.
fn gpu_bytes(text: &str) -> Result<u64, String> {
    match bytes(text)? {
        0 => {
            Err("the card needs memory to search: give some, such as 512M, or --gpu none to use no card"
                .into())
        }
        some => Ok(some),
    }
}

/// Parses a number such as `1000`, `64K`, `16M` or `2G`, with decimal units.
pub(super) fn count(text: &str) -> Result<u64, String> {
    scaled(text, 1000).ok_or_else(|| "expected a number such as 1000, 64K, 16M or 2G".into())
}

fn scaled(text: &str, step: u64) -> Option<u64> {
    let units = [("K", 1), ("M", 2), ("G", 3)];
    let unit = units.iter().find_map(|(unit, power)| Some((text.strip_suffix(unit)?, *power)));
    let (digits, power) = unit.unwrap_or((text, 0));
    digits.parse::<u64>().ok()?.checked_mul(step.pow(power))
}

/// Formats a number of bytes in a suitable unit, as in `128 MiB`.
pub fn size_text(bytes: u64) -> String {
    match bytes {
        0..0x400 => format!("{bytes} bytes"),
        0x400..0x10_0000 => format!("{} KiB", bytes >> 10),
        0x10_0000..0x4000_0000 => format!("{} MiB", bytes >> 20),
        _ => format!("{:.1} GiB", bytes as f64 / (1u64 << 30) as f64),
    }
}

/// Prints the sources that were skipped or only partly read. Returns [`Exit::SourceFailed`] if any source was not read to its end.
pub(super) fn print_failures(summary: &Summary) -> Exit {
    for (source, reason) in summary.skipped() {
        message!("note: {}: skipped: {reason}", source.name);
    }
    let mut exit = Exit::Done;
    for (source, offset, reason) in summary.failures() {
        message!("warning: {}: not read beyond byte {}: {reason}", source.name, grouped(offset));
        exit = Exit::SourceFailed;
    }
    exit
}

/// Returns true if there were sources and none of them could be read.
pub(super) fn is_unread(summary: &Summary) -> bool {
    summary.totals.games() == 0
        && summary.finished
        && !summary.sources.is_empty()
        && summary.failures().count() == summary.sources.len()
}

/// Returns a line about `--verify`, the comparison of the two PGN readers, or `None` if only one reader was used. Example:
/// `verified: 12 games read by both readers, 1 differs by a rule: coordinates 1`.
pub(super) fn agreement_line(agreement: &Agreement) -> Option<String> {
    let Agreement { games, differing, .. } = *agreement;
    if games == 0 {
        return None;
    }
    let mut rules: Vec<(Rule, u64)> = agreement.by_rule().collect();
    rules.sort_by_key(|&(_, games)| std::cmp::Reverse(games));
    let rules: Vec<String> =
        rules.iter().map(|(rule, games)| format!("{} {}", rule.name(), grouped(*games))).collect();
    let games = counted(games as usize, "game", "games");
    Some(match differing {
        0 => format!("verified: {games} read by both readers: no difference"),
        _ => {
            let verb = if differing == 1 { "differs" } else { "differ" };
            let (differing, rules) = (grouped(differing), rules.join(", "));
            format!("verified: {games} read by both readers, {differing} {verb} by a rule: {rules}")
        }
    })
}

/// Formats a number with its noun: `1 query`, `84 queries`.
pub(super) fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number as u64), if number == 1 { one } else { many })
}

/// Returns a parser for arguments whose values have names. Help and completions show these names.
pub(super) fn choice<T: Named + Send + Sync>() -> impl TypedValueParser<Value = T> {
    choice_of(|_| true)
}

/// Returns a parser like that of [`choice`] that accepts only the values for which `is_one` returns true.
pub(super) fn choice_of<T: Named + Send + Sync>(is_one: fn(T) -> bool) -> impl TypedValueParser<Value = T> {
    let rows = T::TABLE.iter().filter(move |row| is_one(row.0));
    let values = rows.map(|&(_, name, help)| match help {
        "" => PossibleValue::new(name),
        help => PossibleValue::new(name).help(help),
    });
    PossibleValuesParser::new(values).map(|name| T::named(&name).expect("the parser takes no other name"))
}

/// Returns the parser of `--engine` for commands that reject the reference engine because it would take too long.
pub(super) fn fast_engine() -> impl TypedValueParser<Value = EngineChoice> {
    choice_of(|engine| engine != EngineChoice::Reference)
}
