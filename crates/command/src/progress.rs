//! Shows the progress of a run on stderr: as a bar for people, or as JSON Lines for programs.

use std::cell::Cell;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use orbit_database::StreamedBlock;
use serde::Serialize;

use super::terminal;

/// The delay before a bar is shown. Shorter work needs no bar.
const BAR_DELAY: Duration = Duration::from_millis(500);
/// The minimum time between two JSON lines.
const LINE_INTERVAL: Duration = Duration::from_millis(100);

#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(super) struct ProgressArgs {
    /// Show progress on stderr as `bar`, as `json`, or not at all (`none`).
    ///
    /// `bar` draws a progress bar if stderr is a terminal and --quiet is not given. `json` prints a JSON object on each
    /// line, at most ten per second: event (`progress`, or `done` at the end), bytes, bytes_total (if known), games,
    /// positions and, in a search, games_hit.
    #[arg(long, value_enum, value_name = "HOW", default_value = "bar", hide_possible_values = true)]
    progress: ProgressKind,
}

impl ProgressArgs {
    pub(super) fn is_bar(&self) -> bool {
        self.progress == ProgressKind::Bar
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
enum ProgressKind {
    #[default]
    Bar,
    Json,
    None,
}

/// The requested progress display on stderr: a bar or JSON lines.
pub(super) struct ProgressDisplay {
    look: Look,
    so_far: Cell<SoFar>,
}

enum Look {
    Nothing,
    Bar {
        bar: ProgressBar,
        is_shown: Cell<bool>,
    },
    /// JSON lines. `last` is the time at which the last line was printed.
    Json {
        last: Cell<Option<Instant>>,
    },
}

/// The amounts that have been read so far. Bytes are counted before decompression.
#[derive(Clone, Copy, Default, Serialize)]
struct SoFar {
    bytes: u64,
    bytes_total: Option<u64>,
    games: u64,
    positions: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    games_hit: Option<u64>,
}

impl ProgressDisplay {
    /// Creates a display that draws a progress bar if `is_wanted` is true and stderr is a terminal. Otherwise it shows nothing.
    pub(super) fn new_if(is_wanted: bool) -> ProgressDisplay {
        let hidden = || ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let look = if is_wanted && terminal::is_stderr() {
            Look::Bar { bar: hidden().with_style(style(false)), is_shown: Cell::new(false) }
        } else {
            Look::Nothing
        };
        ProgressDisplay { look, so_far: Cell::default() }
    }

    /// Creates the requested display. If `quiet` is true, there is no bar.
    pub(super) fn from_args(args: &ProgressArgs, quiet: bool) -> ProgressDisplay {
        match args.progress {
            ProgressKind::Bar => ProgressDisplay::new_if(!quiet),
            ProgressKind::None => ProgressDisplay::new_if(false),
            ProgressKind::Json => {
                ProgressDisplay { look: Look::Json { last: Cell::new(None) }, so_far: Cell::default() }
            }
        }
    }

    /// Adds a block, a group of whole games, to the progress of a run.
    pub(super) fn update(&self, streamed: &StreamedBlock) {
        let SoFar { games, positions, games_hit, .. } = self.so_far.get();
        let (games, positions) = (games + streamed.totals.games(), positions + streamed.totals.positions);
        let (bytes, bytes_total) = (streamed.bytes, streamed.bytes_total);
        self.so_far.set(SoFar { bytes, bytes_total, games, positions, games_hit });
        match &self.look {
            Look::Nothing => {}
            Look::Bar { bar, is_shown } => {
                if !is_shown.get() && bar.elapsed() >= BAR_DELAY {
                    bar.set_draw_target(ProgressDrawTarget::stderr());
                    is_shown.set(true);
                }
                if bar.length() != bytes_total {
                    bar.set_style(style(bytes_total.is_some()));
                    bytes_total.iter().for_each(|&total| bar.set_length(total));
                }
                bar.set_position(bytes);
            }
            Look::Json { last } => {
                if last.get().is_none_or(|last| last.elapsed() >= LINE_INTERVAL) {
                    last.set(Some(Instant::now()));
                    self.print("progress");
                }
            }
        }
    }

    /// Adds a block, a group of whole games, to the progress of a search. `games_hit` is the number of its games with hits.
    pub(super) fn update_search(&self, streamed: &StreamedBlock, games_hit: u64) {
        let so_far = self.so_far.get();
        self.so_far.set(SoFar { games_hit: Some(so_far.games_hit.unwrap_or(0) + games_hit), ..so_far });
        self.update(streamed);
    }

    /// Prints the last JSON line, which says that the run is complete, if progress is shown as JSON.
    pub(super) fn done(&self) {
        if let Look::Json { .. } = self.look {
            self.print("done");
        }
    }

    fn print(&self, event: &'static str) {
        #[derive(Serialize)]
        struct ProgressLine {
            event: &'static str,
            #[serde(flatten)]
            so_far: SoFar,
        }
        terminal::json_message(&ProgressLine { event, so_far: self.so_far.get() });
    }

    /// Prints a message line without garbling the bar.
    pub(super) fn message(&self, line: &str) {
        self.aside(|| message!("{line}"));
    }

    /// Runs a function that writes to the terminal, without garbling the bar.
    pub(super) fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.look {
            Look::Bar { bar, .. } => bar.suspend(write),
            _ => write(),
        }
    }

    /// Runs a function that writes to standard output, without garbling a bar on the same terminal.
    pub(super) fn beside_stdout<T>(&self, write: impl FnOnce() -> T) -> T {
        if terminal::is_stdout() { self.aside(write) } else { write() }
    }

    /// Removes the bar.
    pub(super) fn clear(&self) {
        if let Look::Bar { bar, .. } = &self.look {
            bar.finish_and_clear();
        }
    }
}

impl Drop for ProgressDisplay {
    fn drop(&mut self) {
        self.clear();
    }
}

fn style(bounded: bool) -> ProgressStyle {
    let template = if bounded {
        "{wide_bar} {bytes}/{total_bytes}, {bytes_per_sec}, {eta} left"
    } else {
        "{spinner} {bytes}, {bytes_per_sec}"
    };
    ProgressStyle::with_template(template).expect("the templates are above")
}
