//! Reads the result files of a job and replays the results as if a single run had computed them.

use std::fmt::Write as _;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::file::{BlockRecord, EndRecord, PartFault, PartReader, PartRecord, SourceRecord};
use super::plan::{Job, JobPart};
use crate::run::{Collector as _, Collectors, Parts};
use orbit_core::text::shell_word;
use orbit_database::{SourceSummary, StreamedBlock, Summary};

/// The maximum number of faulty parts listed in a message.
const LISTED_MAX: usize = 10;

/// The reason why the parts cannot be merged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// Some parts are missing or unusable.
    #[error(
        "{} of {parts} parts cannot be merged ({}): `orbit job part {}` computes them", faults.len(), listed(faults),
        shell_word(&folder.display().to_string())
    )]
    Parts {
        /// The folder of the job.
        folder: PathBuf,
        /// The number of parts in the job.
        parts: usize,
        /// For each part that cannot be used, its number and the reason.
        faults: Vec<(u32, PartFault)>,
    },
    /// A part changed or became unreadable during the merge.
    #[error("{} cannot be read to its end ({error}): compute the part again", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
}

fn listed(faults: &[(u32, PartFault)]) -> String {
    let mut out = String::new();
    for (number, fault) in faults.iter().take(LISTED_MAX) {
        let gap = if out.is_empty() { "" } else { ", " };
        let _ = write!(out, "{gap}part {number}: {fault}");
    }
    if faults.len() > LISTED_MAX {
        let _ = write!(out, " and {} more", faults.len() - LISTED_MAX);
    }
    out
}

/// The open result files of all parts in a job.
pub struct Replay {
    readers: Vec<PartReader>,
}

impl Job {
    /// Checks that the result file of a part is complete and belongs to this job.
    ///
    /// # Errors
    ///
    /// Returns the reason if the file cannot be used.
    pub fn check_part(&self, part: &JobPart, folder: &Path) -> Result<(), PartFault> {
        PartReader::open(self, part, folder).map(drop)
    }

    /// Checks the result files of all parts, as [`Job::check_part`] does. Returns a result for each part number.
    pub fn check(&self, folder: &Path) -> Vec<(u32, Result<(), PartFault>)> {
        let check = |part: &JobPart| (part.number, self.check_part(part, folder));
        self.parts.iter().map(check).collect()
    }
}

impl Replay {
    /// Opens and checks the result files of all parts.
    ///
    /// # Errors
    ///
    /// Returns [`ReplayError::Parts`] if a part is missing or cannot be used.
    pub fn open(job: &Job, folder: &Path) -> Result<Replay, ReplayError> {
        let (mut readers, mut faults) = (Vec::new(), Vec::new());
        for part in &job.parts {
            match PartReader::open(job, part, folder) {
                Ok(reader) => readers.push(reader),
                Err(fault) => faults.push((part.number, fault)),
            }
        }
        match faults.is_empty() {
            true => Ok(Replay { readers }),
            false => Err(ReplayError::Parts { folder: folder.to_owned(), parts: job.parts.len(), faults }),
        }
    }

    /// Passes the stored results to `take` in database order until `take` breaks. For each part, `take` receives the results of
    /// each block (a group of games), and then the sums over the part, which are passed with an empty block.
    ///
    /// # Errors
    ///
    /// Returns [`ReplayError::Unreadable`] if a result file can no longer be read.
    pub fn for_each_part(
        self,
        sources: &[SourceSummary],
        collectors: &Collectors,
        mut take: impl FnMut(StreamedBlock, Parts) -> ControlFlow<()>,
    ) -> Result<Summary, ReplayError> {
        let mut summary = Summary { sources: sources.to_vec(), ..Summary::default() };
        summary.sources.iter_mut().for_each(|source| source.games = 0);
        for mut reader in self.readers {
            let unreadable = |path: &Path, error| ReplayError::Unreadable { path: path.to_owned(), error };
            loop {
                let record = reader.next().map_err(|error| unreadable(reader.path(), error))?;
                let parts = match &record {
                    PartRecord::Block(block) => &block.parts,
                    PartRecord::End(end) => &end.parts,
                };
                if !collectors.could_make(parts) {
                    let error = io::Error::new(io::ErrorKind::InvalidData, "a record is of another search");
                    return Err(unreadable(reader.path(), error));
                }
                let flow = match record {
                    PartRecord::Block(block) => {
                        let BlockRecord { totals, side_lines, bytes, parts } = *block;
                        summary.totals.add(&totals);
                        summary.side_lines += side_lines;
                        take(StreamedBlock::from_part(totals, side_lines, bytes), parts)
                    }
                    PartRecord::End(end) => {
                        let EndRecord { parts, sources, side_lines, finished } = *end;
                        summary.side_lines += side_lines;
                        summary.sources.iter_mut().zip(sources).for_each(|(sum, source)| add(sum, source));
                        match take(StreamedBlock::from_part(Default::default(), 0, 0), parts) {
                            ControlFlow::Continue(()) if finished => break,
                            ControlFlow::Continue(()) => {
                                let why = "it ends at a limit that is not reached";
                                let error = io::Error::new(io::ErrorKind::InvalidData, why);
                                return Err(unreadable(reader.path(), error));
                            }
                            ControlFlow::Break(()) => ControlFlow::Break(()),
                        }
                    }
                };
                if flow.is_break() {
                    return Ok(summary);
                }
            }
        }
        summary.finished = true;
        Ok(summary)
    }
}

fn add(sum: &mut SourceSummary, source: SourceRecord) {
    let SourceRecord { games, duplicates, failure, skipped } = source;
    sum.games += games;
    sum.duplicates = sum.duplicates.max(duplicates);
    sum.failure = failure.or(sum.failure.take());
    sum.skipped = skipped.or(sum.skipped.take());
}
