//! The list of games that were cut, skipped or repaired.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use orbit_chess::database::{Database, Taken};
use orbit_chess::reel::ReelError;
use orbit_chess::visible;

use super::Failure;
use super::common::{Progress, problem_line, refuse_to_replace};

/// Where problems are listed.
pub(super) struct Problems {
    sources: Vec<String>,
    file: Option<(PathBuf, BufWriter<File>)>,
    verbose: bool,
}

impl Problems {
    pub(super) fn create(
        file: Option<&Path>,
        verbose: bool,
        database: &Database,
    ) -> Result<Problems, Failure> {
        let sources = database.sources().iter().map(|source| source.name.clone()).collect();
        let file = match file {
            Some(path) => {
                refuse_to_replace(path, database)?;
                let file = File::create(path).map_err(|error| io(path, error))?;
                Some((path.to_owned(), BufWriter::new(file)))
            }
            None => None,
        };
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
            if let Some((path, file)) = &mut self.file {
                writeln!(file, "{}", visible::line(&line)).map_err(|error| io(path, error))?;
            }
        }
        Ok(())
    }

    pub(super) fn finish(&mut self) -> Result<(), Failure> {
        match &mut self.file {
            Some((path, file)) => file.flush().map_err(|error| io(path, error)),
            None => Ok(()),
        }
    }
}

fn io(path: &Path, error: std::io::Error) -> Failure {
    Failure::Reel(ReelError::Io { path: path.to_owned(), error })
}
