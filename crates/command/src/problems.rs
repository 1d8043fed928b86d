//! Lists games that were truncated, skipped or repaired.

use std::path::Path;

use orbit_core::visible;
use orbit_search::run::ProblemsPart;

use super::common::ProgressDisplay;
use super::failure::Failure;
use super::sink::{OutputFiles, Sink};

/// The outputs for the list of problems.
pub(super) struct Problems {
    /// The output file for the list of problems. It is `None` if there is no such file, and after `finish`.
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

    /// Returns a list of problems without an output file, for a part of a job. If `are_wanted` is true, the problems are stored
    /// with the part's results.
    pub(super) fn unlisted(are_wanted: bool) -> Problems {
        Problems { file: None, verbose: are_wanted }
    }

    /// Returns whether problems are listed or stored.
    pub(super) fn are_wanted(&self) -> bool {
        self.file.is_some() || self.verbose
    }

    /// Adds the problems of the next block (a group of whole games) to the list, and prints them if requested.
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

    /// Completes the list of problems, and renames its file to the final name. An interrupted run lists the problems of the games
    /// that it has read.
    pub(super) fn finish(&mut self) -> Result<(), Failure> {
        self.file.take().map_or(Ok(()), Sink::finish)
    }
}
