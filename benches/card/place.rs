//! Describes the machine of a run, and when the run was made.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

const DAY_S: u64 = 86_400;
/// The maximum number of characters of a device name within a folder name.
const NAME_MAX: usize = 40;

/// A point in time, in UTC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moment(pub u64);

impl Moment {
    pub fn now() -> Moment {
        Moment(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()))
    }

    /// Returns the date in the form `2026-11-22`.
    pub fn date(self) -> String {
        let mut days = self.0 / DAY_S;
        let is_leap =
            |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let mut year = 1970;
        while days >= 365 + u64::from(is_leap(year)) {
            days -= 365 + u64::from(is_leap(year));
            year += 1;
        }
        let february = 28 + u64::from(is_leap(year));
        let mut month = 1;
        for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
            if days < length {
                break;
            }
            days -= length;
            month += 1;
        }
        format!("{year:04}-{month:02}-{:02}", days + 1)
    }

    /// Returns the time in the form `2026-11-22T05:30:59Z`.
    pub fn text(self) -> String {
        let seconds = self.0 % DAY_S;
        format!("{}T{:02}:{:02}:{:02}Z", self.date(), seconds / 3600, seconds / 60 % 60, seconds % 60)
    }
}

/// Returns the name of a folder that does not exist yet, made from the date and the device name.
pub fn folder(moment: Moment, device: &str) -> PathBuf {
    let name: String = device
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .collect();
    let words: Vec<&str> = name.split('-').filter(|word| !word.is_empty()).collect();
    let name: String = words.join("-").chars().take(NAME_MAX).collect();
    let base = format!("card-{}-{}", moment.date(), name.trim_end_matches('-'));
    let numbered = (2..).map(|number| PathBuf::from(format!("{base}-{number}")));
    let mut all = std::iter::once(PathBuf::from(&base)).chain(numbered);
    all.find(|folder| folder.symlink_metadata().is_err()).expect("some number is free")
}

/// Returns the facts that the system reports about the machine, and the number of threads.
pub fn machine(threads: usize) -> Value {
    let line = |file: &str, name: &str| {
        let text = std::fs::read_to_string(file).ok()?;
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_string())
    };
    let memory = line("/proc/meminfo", "MemTotal");
    let memory = memory.and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok());
    json!({
        "os": std::env::consts::OS,
        "arch": std::env::consts::ARCH,
        "cpu": line("/proc/cpuinfo", "model name"),
        "cores": std::thread::available_parallelism().ok().map(std::num::NonZeroUsize::get),
        "threads": threads,
        "memory_bytes": memory.map(|kib| kib * 1024),
    })
}
