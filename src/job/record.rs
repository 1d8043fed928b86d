//! A part of a job, computed and written to its file.

use std::io;
use std::ops::ControlFlow;

use super::file::{BlockRecord, EndRecord, PartWriter, SourceRecord};
use crate::database::{Database, StreamedBlock, Summary};
use crate::report::Names;
use crate::run::{Collector as _, Collectors, Parts, Run, TakeError};
use crate::scan::ScanError;

/// Why a part was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The engine or the database.
    #[error(transparent)]
    Scan(#[from] ScanError),
    /// What was found cannot be taken.
    #[error(transparent)]
    Take(#[from] TakeError),
    /// The file of the part cannot be written; the error names it.
    #[error("{0}")]
    File(io::Error),
}

/// Collects what one run would take of the blocks of `database`, and writes it to the file of a part; `watch` sees each block
/// and how many of its games hit. Nothing is written if the run is interrupted.
///
/// # Errors
///
/// What keeps the engine or the database from coming to the end, texts that cannot be read, and that the file cannot be
/// written.
pub fn record(
    run: &Run<'_, Collectors>,
    collectors: &Collectors,
    names: &Names,
    database: Database,
    mut out: PartWriter,
    mut watch: impl FnMut(&StreamedBlock, u64),
) -> Result<Summary, RecordError> {
    let interrupt = database.interrupt_flag();
    let mut texts = database.texts();
    let mut end = EndRecord::default();
    let mut fault = Ok(());
    let (mut listed, mut side_lines, mut is_enough) = (0, 0, false);
    let summary = run.for_each_part(database, names, |streamed, mut found| {
        let hit = found.totals.iter().flat_map(|part| &part.queries).map(|part| part.games).sum();
        watch(&streamed, hit);
        let of_block = Parts {
            totals: found.totals.take(),
            problems: found.problems.take(),
            lists: found.lists.take(),
            games: found.games.take(),
            spellings: found.spellings.take(),
            ..Parts::default()
        };
        let mut block = BlockRecord {
            totals: streamed.totals.clone(),
            side_lines: streamed.side_lines,
            bytes: streamed.bytes,
            parts: Parts::default(),
        };
        side_lines += streamed.side_lines;
        let take_block = || -> Result<(), RecordError> {
            collectors.take(&mut block.parts, of_block, &streamed, &mut texts)?;
            collectors.take(&mut end.parts, found, &streamed, &mut texts)?;
            out.block(&block).map_err(RecordError::File)
        };
        fault = take_block();
        listed += games_listed(&block.parts);
        is_enough = collectors.are_enough(listed);
        if fault.is_ok() && !is_enough { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    fault?;
    if interrupt.load(std::sync::atomic::Ordering::Relaxed) {
        return Ok(summary);
    }
    end.sources = summary
        .sources
        .iter()
        .zip(&names.sources)
        .map(|(source, _)| SourceRecord {
            games: source.games,
            duplicates: source.duplicates,
            failure: source.failure.clone(),
            skipped: source.skipped.clone(),
        })
        .collect();
    end.side_lines = summary.side_lines.saturating_sub(side_lines);
    end.finished = !is_enough;
    out.finish(&end).map_err(RecordError::File)?;
    Ok(summary)
}

/// Games with hits in the lists of a block.
fn games_listed(parts: &Parts) -> u64 {
    let list = parts.lists.as_ref().and_then(|lists| lists.first());
    list.map_or(0, |list| list.report.games.iter().filter(|game| game.is_found).count() as u64)
}
