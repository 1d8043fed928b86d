//! The list of games that were cut, skipped or repaired.

use std::io::Write as _;
use std::path::Path;

use orbit_chess::internals::database::Database;
use orbit_chess::internals::files::OutputFile;
use orbit_chess::internals::run::ProblemsPart;
use orbit_chess::internals::visible;

use super::common::{Interrupt, Progress, create_output};
use super::failure::Failure;

/// Where problems are listed.
pub(super) struct Problems {
    /// Taken by `finish`.
    file: Option<OutputFile>,
    verbose: bool,
}

impl Problems {
    pub(super) fn create(
        file: Option<&Path>,
        verbose: bool,
        database: &Database,
        interrupt: &Interrupt,
    ) -> Result<Problems, Failure> {
        let file = file.map(|path| create_output(path, database, interrupt)).transpose()?;
        Ok(Problems { file, verbose })
    }

    /// Where none are listed, but may be wanted: a part of a job keeps them.
    pub(super) fn unlisted(are_wanted: bool) -> Problems {
        Problems { file: None, verbose: are_wanted }
    }

    /// Whether they are listed anywhere.
    pub(super) fn are_wanted(&self) -> bool {
        self.file.is_some() || self.verbose
    }

    /// Lists those of the next block.
    pub(super) fn list(&mut self, part: Option<ProblemsPart>, progress: &Progress) -> Result<(), Failure> {
        for line in part.into_iter().flat_map(|part| part.lines) {
            if self.verbose {
                progress.message(&line);
            }
            if let Some(file) = &mut self.file {
                writeln!(file, "{}", visible::line(&line)).map_err(Failure::File)?;
            }
        }
        Ok(())
    }

    /// Gives the list its name. What an interrupted run has read so far is listed as well.
    pub(super) fn finish(&mut self) -> Result<(), Failure> {
        Ok(self.file.take().map_or(Ok(()), OutputFile::finish)?)
    }
}
