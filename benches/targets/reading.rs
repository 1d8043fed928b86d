//! Measures how fast `orbit index` reads PGN, and compares `orbit scan` of PGN with it.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use orbit_pgn::{Options, Sources};
use orbit_search::report::grouped;

use crate::process::{self, PGN_EXTRACT_MISSING};
use crate::table::{Row, Target, figures};
use crate::timing::{in_turn_after, mb_per_s, ratio};
use crate::{Bench, Measure};

/// The minimum text size in bytes. The annotated games are repeated until they reach this size.
const ANNOTATED_BYTES_MIN: u64 = 200_000_000;
/// The query for the rows that scan PGN.
pub const QUERY: &str = "shift flip flipcolor {Nd4 kf3}";

pub fn measures() -> Vec<Measure> {
    vec![
        Measure::new("index/plain", plain),
        Measure::new("index/annotated", annotated),
        Measure::new("index/frames", frames),
        Measure::new("pgn/scan", scan),
    ]
}

/// Returns a time and a rate as text: `12.3 s, 45 MB/s`.
pub fn seconds_text(bytes: u64, time: Duration) -> String {
    format!("{} s, {} MB/s", figures(time.as_secs_f64()), figures(mb_per_s(bytes, time)))
}

/// Removes the reels (packed games) of the previous run. If a run had to replace them, the system would free their memory during
/// the run, which takes a few percent of its time.
fn remove(reels: &[&Path]) {
    for reel in reels {
        // Errors are ignored, because no reels exist before the first run.
        let _ = fs::remove_file(reel);
    }
}

/// Measures `orbit index` with one and with two threads, and pgn-extract.
fn plain(bench: &Bench) -> Vec<Row> {
    let (pgn, reel) = (&bench.inputs.pgn, bench.inputs.temporary("plain.reel"));
    let index = |threads| process::index(&[pgn], &reel, threads);
    let pgn_extract = process::pgn_extract();
    let other = || {
        if let Some(pgn_extract) = &pgn_extract {
            process::check_games(pgn_extract, pgn);
        }
    };
    // Two threads cannot be faster than two independent processes, so the speed of two processes is measured for
    // comparison.
    let beside = bench.inputs.temporary("beside.reel");
    let pair = || {
        thread::scope(|scope| {
            scope.spawn(|| index(1));
            process::index(&[pgn], &beside, 1);
        });
    };
    let remove = || remove(&[&reel, &beside]);
    let [one, two, other, pair] =
        in_turn_after(bench.runs, &remove, [&|| index(1), &|| index(2), &other, &pair]);
    let text = |time| seconds_text(bench.inputs.pgn_bytes, time);
    let against = |threads: &str, time: Duration, target: Target| {
        let what = format!("`orbit index`, {threads}, as fast as `pgn-extract -s -r`");
        match &pgn_extract {
            Some(_) => Row::new(what, ratio(other, time), target, format!("{}; {}", text(time), text(other))),
            None => Row::left_out(what, target, format!("{PGN_EXTRACT_MISSING}; {}", text(time))),
        }
    };
    vec![
        against("one thread", one, Target::at_least(18.0)),
        against("two threads", two, Target::at_least(33.0)),
        Row::new(
            "`orbit index`, two threads, as fast as one",
            ratio(one, two),
            Target::at_least(1.95),
            format!("{}; {}", text(two), text(one)),
        ),
        Row::new(
            "`orbit index` twice at once, on one thread each, as fast as one after the other",
            2.0 * ratio(one, pair),
            Target::NONE,
            format!("{} s; {} s each", figures(pair.as_secs_f64()), figures(one.as_secs_f64())),
        ),
    ]
}

/// Returns the total size, in bytes, of the decompressed text of all files below a path.
fn text_bytes(path: &Path) -> u64 {
    let mut sources =
        Sources::open(&[path.to_owned()], Options::default()).expect("the annotated games can be opened");
    let mut sum = 0;
    while let Some(chunk) = sources.next_chunk() {
        sum += chunk.texts.iter().map(|part| part.bytes.len() as u64).sum::<u64>();
    }
    sum
}

fn annotated(bench: &Bench) -> Vec<Row> {
    let what = "`orbit index` of annotated files, two threads";
    let target = Target::at_least(400.0);
    let Some(path) = &bench.inputs.annotated else {
        return vec![Row::left_out(what, target, "ORBIT_BENCH_ANNOTATED names no folder or file")];
    };
    let once = text_bytes(path).max(1);
    let paths = vec![path.as_path(); ANNOTATED_BYTES_MIN.div_ceil(once) as usize];
    let bytes = once * paths.len() as u64;
    let reel = bench.inputs.temporary("annotated.reel");
    let remove = || remove(&[&reel]);
    let [time] = in_turn_after(bench.runs, &remove, [&|| process::index(&paths, &reel, 2)]);
    let remark = format!(
        "{} s; {} bytes of text, all files {} times over",
        figures(time.as_secs_f64()),
        grouped(bytes),
        paths.len()
    );
    vec![Row::new(what, mb_per_s(bytes, time), target, remark).unit("MB/s")]
}

/// The number of bytes of PGN text in each zstd frame.
const FRAME_BYTES: usize = 8 << 20;

/// Measures `orbit index` on a file with many zstd frames, like the monthly Lichess files, which pzstd writes.
fn frames(bench: &Bench) -> Vec<Row> {
    let pgn = &bench.inputs.pgn;
    let (packed, reel) = (bench.inputs.temporary("frames.pgn.zst"), bench.inputs.temporary("frames.reel"));
    let text = fs::read(pgn).expect("the PGN is there");
    let frames: Vec<u8> = text
        .chunks(FRAME_BYTES)
        .flat_map(|piece| zstd::encode_all(piece, 3).expect("memory takes it"))
        .collect();
    fs::write(&packed, &frames).expect("the temporary folder has room");
    let index = |file: &Path, threads| process::index(&[file], &reel, threads);
    let remove = || remove(&[&reel]);
    let works: [&dyn Fn(); 3] = [&|| index(&packed, 1), &|| index(&packed, 2), &|| index(pgn, 2)];
    let [one, two, plain] = in_turn_after(bench.runs, &remove, works);
    let seconds = |time: Duration| figures(time.as_secs_f64());
    let count = text.len().div_ceil(FRAME_BYTES);
    vec![
        Row::new(
            format!("`orbit index` of {count} zstd frames, two threads, as fast as one"),
            ratio(one, two),
            Target::at_least(1.5),
            format!("{} s; {} s", seconds(two), seconds(one)),
        ),
        Row::new(
            "the same on two threads, time over that of the plain file",
            ratio(two, plain),
            Target::at_most(1.5),
            format!("{} s; {} s", seconds(two), seconds(plain)),
        ),
    ]
}

/// Measures `orbit scan` of PGN, compared with `orbit index` of the same file.
fn scan(bench: &Bench) -> Vec<Row> {
    let (pgn, reel) = (&bench.inputs.pgn, bench.inputs.temporary("scan.reel"));
    let row = |(threads, text): (usize, &str)| {
        let count =
            || bench.counts.agree(bench.inputs.games.name, QUERY, process::count(QUERY, pgn, threads));
        let remove = || remove(&[&reel]);
        let index = || process::index(&[pgn], &reel, threads);
        let [scan, index] = in_turn_after(bench.runs, &remove, [&count, &index]);
        Row::new(
            format!("`orbit scan` of PGN, `{QUERY}`, {text}, time over that of `orbit index`"),
            ratio(scan, index),
            Target::at_most(1.1),
            format!("{} s; {} s", figures(scan.as_secs_f64()), figures(index.as_secs_f64())),
        )
    };
    [(2, "two threads"), (1, "one thread")].map(row).into()
}
