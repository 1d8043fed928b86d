//! Computes a part of a job and writes its result file.

use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use super::file::{BlockRecord, EndRecord, PartWriter, SourceRecord};
use crate::executor::ScanError;
use crate::found::Names;
use crate::run::{Collector as _, Collectors, Parts, Run, TakeError};
use orbit_database::{BlockStream, GameTexts, StreamedBlock, Summary};

/// The reason why the result file of a part was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The engine or the database failed.
    #[error(transparent)]
    Scan(#[from] ScanError),
    /// The results could not be collected.
    #[error(transparent)]
    Take(#[from] TakeError),
    /// The result file could not be written. The error names it.
    #[error("{0}")]
    File(io::Error),
}

/// Collects the results of one run over `database` and writes them to `out`, the result file of a part. `watch` is called with each
/// block (a group of games) and the number of games in it that have hits. If the run is interrupted, no file is written.
///
/// # Errors
///
/// Fails if the engine or the database stops early, a game's text cannot be read, or the file cannot be written.
pub fn record(
    run: &Run<'_, Collectors>,
    collectors: &Collectors,
    names: &Names,
    database: BlockStream,
    mut out: PartWriter,
    mut watch: impl FnMut(&StreamedBlock, u64),
) -> Result<Summary, RecordError> {
    let interrupt = database.interrupt_flag();
    let mut texts = database.texts();
    let mut sums = Parts::default();
    let mut fault = None;
    let (mut listed, mut side_lines, mut is_enough) = (0, 0, false);
    let summary = run.for_each_part(database, names, |streamed, mut found| {
        let hit = found.totals.iter().flat_map(|part| &part.queries).map(|part| part.games).sum();
        watch(&streamed, hit);
        side_lines += streamed.side_lines;
        let kept = kept(collectors, &mut found, &streamed, &mut texts)
            .and_then(|block| Ok((collectors.take(&mut sums, found, &streamed, &mut texts)?, block)))
            .map_err(RecordError::from)
            .and_then(|((), block)| out.block(&block).map(|()| block).map_err(RecordError::File));
        match kept {
            Ok(block) => {
                listed += games_listed(&block.parts);
                is_enough = collectors.are_enough(listed);
            }
            Err(error) => fault = Some(error),
        }
        if fault.is_none() && !is_enough { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    fault.map_or(Ok(()), Err)?;
    if interrupt.load(Ordering::Relaxed) {
        return Ok(summary);
    }
    let sources = summary.sources.iter().map(|source| SourceRecord {
        games: source.games,
        duplicates: source.duplicates,
        failure: source.failure.clone(),
        skipped: source.skipped.clone(),
    });
    let end = EndRecord {
        parts: sums,
        sources: sources.collect(),
        side_lines: summary.side_lines.saturating_sub(side_lines),
        finished: !is_enough,
    };
    out.finish(&end).map_err(RecordError::File)?;
    Ok(summary)
}

/// Moves the results that must be stored for each block (lists, games, totals, problems, spellings) out of `found`.
fn kept(
    collectors: &Collectors,
    found: &mut Parts,
    streamed: &StreamedBlock,
    texts: &mut GameTexts,
) -> Result<BlockRecord, TakeError> {
    let of_block = Parts {
        totals: found.totals.take(),
        problems: found.problems.take(),
        lists: found.lists.take(),
        games: found.games.take(),
        spellings: found.spellings.take(),
        ..Parts::default()
    };
    let mut parts = Parts::default();
    collectors.take(&mut parts, of_block, streamed, texts)?;
    let StreamedBlock { totals, side_lines, bytes, .. } = streamed;
    Ok(BlockRecord { totals: totals.clone(), side_lines: *side_lines, bytes: *bytes, parts })
}

fn games_listed(parts: &Parts) -> u64 {
    let list = parts.lists.as_ref().and_then(|lists| lists.first());
    list.map_or(0, |list| list.report.games.iter().filter(|game| game.is_found).count() as u64)
}
