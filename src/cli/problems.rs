//! The list of games that were cut, skipped or repaired.

use std::io::Write as _;
use std::path::Path;

use orbit_chess::database::{Database, Taken};
use orbit_chess::files::OutputFile;
use orbit_chess::visible;

use super::Failure;
use super::common::{Interrupt, Progress, create_output, problem_line};

/// Where problems are listed.
pub(super) struct Problems {
    sources: Vec<String>,
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
        let sources = database.sources().iter().map(|source| source.name.clone()).collect();
        let file = file.map(|path| create_output(path, database, interrupt)).transpose()?;
        Ok(Problems { sources, file, verbose })
    }

    pub(super) fn list(&mut self, taken: &Taken, progress: &Progress) -> Result<(), Failure> {
        if self.file.is_none() && !self.verbose {
            return Ok(());
        }
        let block = &taken.block;
        for problem in block.problems() {
            let source = &self.sources[block.number_in_source(problem).0 as usize];
            let line = problem_line(block, problem, source);
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
