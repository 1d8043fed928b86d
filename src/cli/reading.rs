//! How games are read: what may be read instead of a file, and how much memory a file may ask for.

use orbit_chess::database::{Database, DatabaseOptions};

use super::common::bytes;

/// What packed files may ask for.
#[derive(Debug, clap::Args)]
pub(super) struct UnpackArgs {
    /// How much memory a .zst file may ask for to be unpacked; files packed with `zstd --long=31` need 2G.
    #[arg(long, value_name = "BYTES", default_value = "128M", value_parser = bytes)]
    zstd_window: u64,
}

impl UnpackArgs {
    /// Sets what the database is to do.
    pub(super) fn apply(&self, options: &mut DatabaseOptions) {
        options.pgn.zstd_window_max = self.zstd_window;
    }
}

/// Whether such reels are read.
#[derive(Debug, clap::Args)]
pub(super) struct ReadingArgs {
    /// Read games.pgn even if games.reel beside it holds it as it is now.
    #[arg(long)]
    no_reel: bool,
    #[command(flatten)]
    unpack: UnpackArgs,
}

impl ReadingArgs {
    /// Sets what the database is to do.
    pub(super) fn apply(&self, options: &mut DatabaseOptions) {
        options.substitute_reels = !self.no_reel;
        self.unpack.apply(options);
    }
}

/// Says which reels are read instead of files, and which would be if they were made anew.
pub(super) fn print_substitutes(database: &Database, quiet: bool) {
    let passed_over = database.passed_over().iter().filter(|_| !quiet);
    passed_over.for_each(|passed_over| message!("{passed_over}"));
    let told = database.substitutes().iter().filter(|_| !quiet);
    told.for_each(|substitute| message!("{substitute}"));
}
