//! Reels that are read instead of the files beside which they lie.

use orbit_chess::database::{Database, DatabaseOptions};

/// Whether such reels are read.
#[derive(Debug, clap::Args)]
pub(super) struct BesideArgs {
    /// Read games.pgn even if games.reel beside it holds it as it is now.
    #[arg(long)]
    no_reel: bool,
}

impl BesideArgs {
    /// Sets what the database is to do.
    pub(super) fn apply(&self, options: &mut DatabaseOptions) {
        options.reels_beside = !self.no_reel;
    }
}

/// Says which reels are read instead of files, and which would be if they were made anew.
pub(super) fn print_substitutes(database: &Database, quiet: bool) {
    let passed_over = database.passed_over().iter().filter(|_| !quiet);
    passed_over.for_each(|passed_over| message!("{passed_over}"));
    let told = database.substitutes().iter().filter(|_| !quiet);
    told.for_each(|substitute| message!("{substitute}"));
}
