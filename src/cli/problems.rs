//! The list of games that were cut, skipped or repaired.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use orbit_chess::database::Database;
use orbit_chess::reel::ReelError;
use orbit_chess::run::ProblemsPart;
use orbit_chess::visible;

use super::Failure;
use super::common::{Progress, refuse_to_replace};

/// Where problems are listed.
pub(super) struct Problems {
    file: Option<(PathBuf, BufWriter<File>)>,
    verbose: bool,
}

impl Problems {
    pub(super) fn create(
        file: Option<&Path>,
        verbose: bool,
        database: &Database,
    ) -> Result<Problems, Failure> {
        let file = match file {
            Some(path) => {
                refuse_to_replace(path, database)?;
                let file = File::create(path).map_err(|error| io(path, error))?;
                Some((path.to_owned(), BufWriter::new(file)))
            }
            None => None,
        };
        Ok(Problems { file, verbose })
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
