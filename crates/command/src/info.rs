//! Implements `orbit info`, which describes a reel, an orbit database file.

mod folder;

use std::path::{Path, PathBuf};

use orbit_database::{Outdated, StreamError};
use orbit_pgn::{Freshness, PgnError, Url};
use orbit_reel::{Manifest, Reel, ReelError, ReelSource, SectionBytes, Totals};
use serde_json::{Value, json};

use super::common::{
    Out, counted, ending, grouped, holds_games, kind_name, reason_lines, shown, totals_line,
};
use super::failure::{Exit, Failure};
use orbit_search::report::behind_sentence;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  orbit info all.reel
  orbit info --verify all.reel
  orbit info --json all.reel | jq .positions
  orbit info --verify db/")]
pub(super) struct Args {
    /// The reel to describe, or a folder of reels that `orbit index --shards` made.
    #[arg(value_name = "FILE.reel")]
    reel: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// Read the whole reel and check it for damage.
    ///
    /// This checks every checksum, and that the stored moves lead to the stored positions. If the size and time of a source
    /// file do not show whether it has changed, it is also read and compared.
    #[arg(long)]
    verify: bool,
}

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    if let Some(url) = Url::from_path(&args.reel) {
        return Err(StreamError::from(PgnError::ReelOnWeb { name: url.shown() }).into());
    }
    if let Some(path) = Manifest::locate(&args.reel).map_err(StreamError::from)? {
        return folder::run(&args, &path);
    }
    let reel = Reel::open(&args.reel).map_err(|error| failure(error, &args.reel))?;
    if args.verify {
        (0..reel.blocks()).try_for_each(|index| reel.verify(index))?;
    }
    let mut out = Out::new();
    if args.json {
        out.json(&json_of(&reel, args.verify))?;
    } else {
        text_of(&reel, args.verify).into_iter().try_for_each(|line| out.line(line))?;
    }
    out.finish()?;
    Ok(Exit::Done)
}

/// Returns the failure for a file that cannot be described. If it is a game file, the message names commands that accept it.
fn failure(error: ReelError, path: &Path) -> Failure {
    match error {
        ReelError::NotAReel { .. } if ending(path) == "positions" => Failure::Other(format!(
            "{} is a position table, and `orbit info` describes reels: `orbit info {}` describes the reel of the table",
            path.display(),
            shown(&path.with_extension(""))
        )),
        ReelError::NotAReel { .. } | ReelError::NoFile { .. }
            if holds_games(path) && ending(path) != "reel" =>
        {
            let name = shown(path);
            Failure::Other(format!(
                "{name} is no reel, and `orbit info` describes reels: `orbit scan --count true {name}` counts its games and \
                 positions, `orbit index {name} -o games.reel` makes a reel of it"
            ))
        }
        other => other.into(),
    }
}

fn named(sections: &SectionBytes) -> [(&'static str, u64); 8] {
    let SectionBytes { keys, moves, starts, games, tags, problems, annotations, other } = *sections;
    [
        ("keys", keys),
        ("moves", moves),
        ("starts", starts),
        ("games", games),
        ("tags", tags),
        ("problems", problems),
        ("annotations", annotations),
        ("other", other),
    ]
}

fn json_of(reel: &Reel, verified: bool) -> Value {
    let Totals { whole, cut, skipped, positions, side_lines, side_positions, reasons, dates, elos } =
        reel.totals();
    let reasons = reasons
        .iter()
        .map(|((kind, reason), games)| json!({ "kind": kind_name(*kind), "reason": reason, "games": games }));
    let sources = reel.sources().iter().map(|source| {
        let ReelSource { name, path, stamp, games, duplicates, failure, .. } = source;
        json!({
            "name": name,
            "path": path.as_ref().map(|path| path.to_string_lossy()),
            "games": games,
            "duplicates": duplicates,
            "failure": failure,
            "bytes": stamp.bytes,
            "modified_ns": stamp.modified_ns,
            "xxh3": stamp.hash.map(|hash| format!("{hash:016x}")),
            "file": file_state(source, reel, verified),
        })
    });
    json!({
        "file": reel.path().to_string_lossy(),
        "format_version": reel.version(),
        "reader_version": reel.reader(),
        "outdated": Outdated::from_reel(reel).map(|outdated| outdated.to_string()),
        "bytes": reel.bytes(),
        "dead_bytes": reel.dead_bytes(),
        "bytes_behind": reel.bytes_behind(),
        "blocks": reel.blocks(),
        "games": { "all": whole + cut + skipped, "whole": whole, "cut": cut, "skipped": skipped },
        "positions": positions,
        "side_lines": reel.side_lines(),
        "variations": reel.keeps_variations().then(|| json!({ "side_lines": side_lines, "positions": side_positions })),
        "sections": named(reel.sections()).into_iter().map(|(name, bytes)| (name.to_owned(), json!(bytes)))
            .collect::<serde_json::Map<_, _>>(),
        "problems": reasons.collect::<Vec<_>>(),
        "sources": sources.collect::<Vec<_>>(),
        "dates": dates,
        "elos": elos,
        "verified": verified,
    })
}

fn text_of(reel: &Reel, verified: bool) -> Vec<String> {
    let totals = reel.totals();
    let per_position = |bytes: u64| bytes as f64 / totals.positions.max(1) as f64;
    let mut lines = vec![
        format!(
            "{}: format {}, {}",
            reel.path().display(),
            reel.version(),
            counted(reel.blocks(), "block", "blocks")
        ),
        totals_line(totals),
    ];
    lines.extend(reason_lines(totals));
    if reel.side_lines() > 0 {
        lines.push(format!("{} side lines of its games were left out", grouped(reel.side_lines())));
    }
    if let Some((first, last)) = &totals.dates {
        lines.push(format!("dates {first} to {last}"));
    }
    if let Some((low, high)) = totals.elos {
        lines.push(format!("Elo {low} to {high}"));
    }
    lines.push(format!("{} bytes, {:.2} a position:", grouped(reel.bytes()), per_position(reel.bytes())));
    for (name, bytes) in named(reel.sections()) {
        lines.push(format!("  {name:<10}{:>16}{:>8.2}", grouped(bytes), per_position(bytes)));
    }
    if reel.dead_bytes() > 0 {
        lines.push(format!(
            "  {} of the other bytes are unused: old directories, left by appends",
            grouped(reel.dead_bytes())
        ));
    }
    if reel.bytes_behind() > 0 {
        lines.push(format!(
            "  {}; the next `orbit index --append` removes them",
            behind_sentence(reel.bytes_behind())
        ));
    }
    lines.extend(Outdated::from_reel(reel).iter().map(Outdated::to_string));
    lines.push(format!("{}:", counted(reel.sources().len(), "source", "sources")));
    lines.extend(reel.sources().iter().map(|source| source_line(source, reel, verified)));
    if verified {
        lines.push(String::from("verified: every checksum and every stored position is right"));
    }
    lines
}

fn source_line(source: &ReelSource, reel: &Reel, verified: bool) -> String {
    let ReelSource { name, stamp, games, duplicates, failure, .. } = source;
    let mut line = format!("  {name}: {} games", grouped(*games));
    if *duplicates > 0 {
        line += &format!(", {} of them dropped as duplicates", grouped(*duplicates));
    }
    if let Some(bytes) = stamp.bytes {
        line += &format!(", {} bytes", grouped(bytes));
    }
    if let Some(hash) = stamp.hash {
        line += &format!(", xxh3 {hash:016x}");
    }
    line += &format!(", {}", file_state(source, reel, verified));
    failure.iter().for_each(|failure| line += &format!(", {failure}"));
    line
}

/// Returns a text that says whether the source file has changed since the reel was built. The file content is compared only with
/// `--verify`.
fn file_state(source: &ReelSource, reel: &Reel, verified: bool) -> String {
    let freshness = match verified {
        true => source.freshness(reel.path()),
        false => source.freshness_unread(reel.path()),
    };
    let state = match freshness {
        Ok(Freshness::Fresh) => "unchanged",
        Ok(Freshness::Touched) => "rewritten with the same content",
        Ok(Freshness::Changed) => "changed since the reel was made",
        Ok(Freshness::Unread) => "same size, but another time: --verify compares the content",
        Ok(Freshness::Missing) => "file not found",
        Ok(Freshness::Unknown) => "not known whether it changed",
        Err(error) => return format!("file cannot be read: {error}"),
    };
    state.to_owned()
}
