//! Implements `orbit info` for folders of reels.

use std::path::Path;

use orbit_database::{Outdated, StreamError};
use orbit_pgn::hash_file;
use orbit_reel::{Manifest, ManifestError, Reel, Shard, Totals};
use orbit_search::report::behind_sentence;
use serde_json::{Value, json};

use super::Args;
use crate::common::{Out, counted, grouped, reason_lines, totals_line};
use crate::failure::{Exit, Failure};

pub(super) fn run(args: &Args, path: &Path) -> Result<Exit, Failure> {
    let manifest = Manifest::read(path).map_err(StreamError::from)?;
    let reels = manifest.open_shards(&args.reel).map_err(StreamError::from)?;
    if args.verify {
        reels.iter().zip(&manifest.shards).try_for_each(|(reel, shard)| verify(reel, shard))?;
    }
    let mut totals = Totals::default();
    reels.iter().for_each(|reel| totals.add(reel.totals()));
    let mut out = Out::new();
    if args.json {
        out.json(&json_of(args, &manifest, &reels))?;
    } else {
        text_of(args, (&manifest, &reels), &totals).iter().try_for_each(|line| out.line(line))?;
    }
    out.finish()?;
    Ok(Exit::Done)
}

fn verify(reel: &Reel, shard: &Shard) -> Result<(), Failure> {
    (0..reel.blocks()).try_for_each(|index| reel.verify(index))?;
    let path = reel.path().to_owned();
    let hash = hash_file(&path)
        .map_err(|error| StreamError::from(ManifestError::Unreadable { path: path.clone(), error }))?;
    if format!("{hash:016x}") == shard.xxh3 {
        return Ok(());
    }
    let what = String::from("another checksum");
    Err(StreamError::from(ManifestError::OtherShard { path, what }).into())
}

/// Returns the manifest of a folder of reels as JSON, with the number of extra bytes at the ends of the reels, and the results of
/// `--verify`.
fn json_of(args: &Args, manifest: &Manifest, reels: &[Reel]) -> Value {
    let mut json = json!(manifest);
    json["file"] = args.reel.to_string_lossy().into();
    json["bytes"] = manifest.shards.iter().map(|shard| shard.bytes).sum::<u64>().into();
    json["bytes_behind"] = reels.iter().map(Reel::bytes_behind).sum::<u64>().into();
    json["outdated"] =
        Outdated::from_shards(&args.reel, manifest).map(|outdated| outdated.to_string()).into();
    json["verified"] = args.verify.into();
    json
}

fn text_of(args: &Args, (manifest, reels): (&Manifest, &[Reel]), totals: &Totals) -> Vec<String> {
    let bytes: u64 = manifest.shards.iter().map(|shard| shard.bytes).sum();
    let mut lines = vec![
        format!(
            "{}: {}, made by orbit {}",
            args.reel.display(),
            counted(manifest.shards.len(), "reel", "reels"),
            manifest.orbit
        ),
        totals_line(totals),
    ];
    lines.extend(reason_lines(totals));
    if let Some((first, last)) = &totals.dates {
        lines.push(format!("dates {first} to {last}"));
    }
    if let Some((low, high)) = totals.elos {
        lines.push(format!("Elo {low} to {high}"));
    }
    let per_position = bytes as f64 / totals.positions.max(1) as f64;
    lines.push(format!("{} bytes, {per_position:.2} a position:", grouped(bytes)));
    for (Shard { file, bytes, games, positions, dates, .. }, reel) in manifest.shards.iter().zip(reels) {
        let dates = dates.as_ref().map_or(String::new(), |(first, last)| format!(", {first} to {last}"));
        lines.push(format!(
            "  {file}: {} bytes, {} games, {} positions{dates}",
            grouped(*bytes),
            grouped(*games),
            grouped(*positions)
        ));
        if reel.bytes_behind() > 0 {
            lines.push(format!("    {}", behind_sentence(reel.bytes_behind())));
        }
    }
    lines.extend(Outdated::from_shards(&args.reel, manifest).iter().map(Outdated::to_string));
    lines.push(format!("{}:", counted(manifest.sources.len(), "source", "sources")));
    for source in &manifest.sources {
        let hash = source.xxh3.as_ref().map_or(String::new(), |hash| format!(", xxh3 {hash}"));
        let failure = source.failure.as_ref().map_or(String::new(), |failure| format!(", {failure}"));
        lines.push(format!("  {}: {} games{hash}{failure}", source.name, grouped(source.games)));
    }
    if args.verify {
        lines.push(String::from("verified: every checksum and every stored position is right"));
    }
    lines
}
