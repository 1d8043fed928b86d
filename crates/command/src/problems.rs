//! Lists the games that were cut, skipped or repaired.

use std::path::Path;

use orbit_core::visible;
use orbit_search::run::ProblemsPart;

use super::common::ProgressDisplay;
use super::failure::Failure;
use super::sink::{OutputFiles, Sink};

/// The outputs of the list of problems.
pub(super) struct Problems {
    /// The file to which the list is written; `None` if no file is written, and after `finish`.
    file: Option<Sink>,
    verbose: bool,
}

impl Problems {
    pub(super) fn create(
        file: Option<&Path>,
        verbose: bool,
        files: OutputFiles,
    ) -> Result<Problems, Failure> {
        Ok(Problems { file: file.map(|path| files.begin(path)).transpose()?, verbose })
    }

    /// Makes a list that is not written to a file. A part of a job uses it; if `are_wanted` is true, the part stores the problems
    /// among its results.
    pub(super) fn unlisted(are_wanted: bool) -> Problems {
        Problems { file: None, verbose: are_wanted }
    }

    /// Returns whether problems are listed or stored.
    pub(super) fn are_wanted(&self) -> bool {
        self.file.is_some() || self.verbose
    }

    /// Lists the problems of the next block (a group of whole games).
    pub(super) fn list(
        &mut self,
        part: Option<ProblemsPart>,
        progress: &ProgressDisplay,
    ) -> Result<(), Failure> {
        for line in part.into_iter().flat_map(|part| part.lines) {
            if self.verbose {
                progress.message(&line);
            }
            if let Some(file) = &mut self.file {
                file.put(|out| writeln!(out, "{}", visible::line(&line)))?;
            }
        }
        Ok(())
    }

    /// Completes the list, and gives the file its name. An interrupted run also lists the problems of the games that it has read.
    pub(super) fn finish(&mut self) -> Result<(), Failure> {
        self.file.take().map_or(Ok(()), Sink::finish)
    }
}
