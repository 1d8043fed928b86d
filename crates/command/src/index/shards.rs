//! Implements `orbit index --shards`, which writes a folder of reels.

use std::path::{Path, absolute};
use std::time::Instant;

use orbit_database::{BlockStream, SourceSummary, StreamOptions, StreamedBlock};
use orbit_pgn::Stamp;
use orbit_reel::{EncodedBlock, ManifestError, ReelSource, ShardsWriter};

use super::{Args, report, write, write_tables};
use crate::common::{CtrlC, ProgressDisplay, counted, print_failures, threads, unfinished};
use crate::failure::{Exit, Failure};
use crate::problems::Problems;
use crate::reading::open;
use crate::sink::OutputFiles;

pub(super) fn run(args: &Args, shard_bytes: u64, begun: Instant) -> Result<Exit, Failure> {
    let interrupt = CtrlC::install()?;
    let options = StreamOptions { unique: args.no_duplicates, ..args.options(args.variations, &interrupt) };
    let database = open(&args.paths, options, args.quiet)?;
    let folder = absolute(&args.output).map_err(Failure::File)?;
    let is_below = |path: &&Path| absolute(path).is_ok_and(|path| path.starts_with(&folder));
    if let Some(problems) = args.problems.as_deref().filter(is_below) {
        return Err(Failure::Other(format!(
            "{} is in the folder of the reels, which must contain nothing else: write the list elsewhere",
            problems.display()
        )));
    }
    let mut writer = ShardsWriter::create(&args.output, shard_bytes, args.variations).map_err(failure)?;
    let mut problems = Problems::create(args.problems.as_deref(), args.verbose, OutputFiles::new(&database))?;
    let progress = ProgressDisplay::from_args(&args.progress, args.quiet);
    let sources = known(&database);
    let mut temporary = None;
    let append = |streamed: &StreamedBlock, encoded: &EncodedBlock| {
        writer.append(&streamed.block, (encoded, &streamed.totals), &sources).map_err(failure)?;
        let path = writer.temporary_path();
        if path != temporary.as_deref() {
            path.into_iter().for_each(|path| unfinished().add(path));
            temporary = path.map(ToOwned::to_owned);
        }
        Ok(())
    };
    let summary = write(append, database, &mut problems, &progress, threads(args.threads))?;
    problems.finish()?;
    if interrupt.is_set() {
        message!("interrupted; nothing was written to {}", args.output.display());
        return Ok(Exit::Interrupted);
    }
    let sources: Vec<ReelSource> = summary.sources.iter().map(|source| source.to_reel_source()).collect();
    let (manifest, _, sections) = writer.finish(&sources, summary.side_lines).map_err(failure)?;
    progress.done();
    if !args.quiet {
        let seconds = begun.elapsed().as_secs_f64();
        report((&args.output, args.variations), &summary, None, &sections, seconds);
        message!("{} in {}", counted(manifest.shards.len(), "reel", "reels"), args.output.display());
    }
    write_tables(args, manifest.shards.iter().map(|shard| args.output.join(&shard.file)), &interrupt)?;
    Ok(if interrupt.is_set() { Exit::Interrupted } else { print_failures(&summary) })
}

/// Returns the sources, with everything that is known about them before they are read.
fn known(database: &BlockStream) -> Vec<ReelSource> {
    let of_source = |source: &SourceSummary| {
        let mut known = source.to_reel_source();
        if source.reel.is_none() {
            let stamp = source.path.as_ref().and_then(|path| Stamp::at(path).ok());
            known.stamp = stamp.unwrap_or_default();
        }
        known
    };
    database.sources().iter().map(of_source).collect()
}

fn failure(error: ManifestError) -> Failure {
    match error {
        ManifestError::Reel(error) => Failure::Reel(error),
        ManifestError::NotEmpty { .. } | ManifestError::Busy { .. } => Failure::Other(error.to_string()),
        error => Failure::File(std::io::Error::other(error)),
    }
}
