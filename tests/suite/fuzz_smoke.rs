//! Runs the fuzz targets on their seeds and on fixed random alterations of the seeds. This test only ensures that the targets
//! work; real fuzzing needs a nightly compiler.

#[path = "../../fuzz/src/lib.rs"]
mod targets;

use std::{fs, path::Path};

/// The number of altered inputs per target.
const RUNS: u64 = 2_000;

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(target);
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 4, "{target}: {} seeds", paths.len());
    paths.into_iter().map(|path| fs::read(path).unwrap()).collect()
}

/// A random number generator with a fixed seed, so that failures are reproducible.
struct Dice(fastrand::Rng);

impl Dice {
    fn new(seed: u64) -> Dice {
        Dice(fastrand::Rng::with_seed(seed))
    }

    fn roll(&mut self, below: usize) -> usize {
        self.0.usize(..below.max(1))
    }

    /// Returns a seed (an initial input) in which some bytes are removed, duplicated, changed or taken from another seed.
    fn alter(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut out = seeds[self.roll(seeds.len())].clone();
        for _ in 0..=self.roll(2) {
            let (at, other) = (self.roll(out.len()), &seeds[self.roll(seeds.len())]);
            let len = self.roll(8);
            match self.roll(4) {
                0 => drop(out.drain(at..(at + len).min(out.len()))),
                1 => out.extend_from_within(at..(at + len).min(out.len())),
                2 if at < out.len() => out[at] = self.roll(256) as u8,
                _ => {
                    let from = self.roll(other.len());
                    let piece = other[from..(from + len).min(other.len())].iter().copied();
                    out.splice(at..at, piece);
                }
            }
        }
        out
    }
}

/// Runs a fuzz target on seeds (initial inputs) and on alterations of them. Returns the number of altered inputs that the target
/// did not reject at once.
fn run(seeds: &[Vec<u8>], runs: u64, target: fn(&[u8]) -> bool) -> usize {
    for seed in seeds {
        target(seed);
    }
    let good = |run: &u64| {
        let input = Dice::new(*run).alter(seeds);
        let outcome = std::panic::catch_unwind(|| target(&input));
        outcome.unwrap_or_else(|_| panic!("run {run} panicked on {:?}", String::from_utf8_lossy(&input)))
    };
    (1..=runs).filter(good).count()
}

#[test]
fn queries_are_refused_or_run() {
    let seeds: Vec<Vec<u8>> = seeds("query")
        .iter()
        .flat_map(|file| file.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>())
        .filter(|line| !line.is_empty())
        .collect();
    let ran = run(&seeds, RUNS, targets::query);
    assert!(ran > RUNS as usize / 20, "only {ran} altered queries were run");
}

#[test]
fn any_text_is_games_or_none() {
    let read = run(&seeds("pgn"), RUNS, targets::pgn);
    assert!(read > RUNS as usize / 2, "only {read} altered texts had moves");
}

#[test]
fn any_bytes_are_a_reel_or_refused() {
    let mut seeds = seeds("pgn");
    seeds.push(orbit_reel::MAGIC.to_vec());
    seeds.push([&orbit_reel::MAGIC[..], &[1, 0, 0, 0], &[0; 52]].concat());
    run(&seeds, RUNS / 10, targets::reel);
}

#[test]
fn an_altered_reel_is_refused() {
    // The first four bytes of an input select the byte of the reel (packed games) to alter, and the next byte selects the
    // alteration. The remaining bytes are the games.
    let seeds: Vec<Vec<u8>> =
        seeds("pgn").into_iter().map(|games| [&[9, 9, 9, 9, 1], &games[..]].concat()).collect();
    let mut place = Dice::new(1);
    for run in 0..RUNS / 10 {
        let mut input = seeds[run as usize % seeds.len()].clone();
        input[..4].copy_from_slice(&(place.roll(1 << 30) as u32).to_le_bytes());
        input[4] = place.roll(256) as u8;
        assert!(targets::reel_mutated(&input));
    }
}

#[test]
fn side_lines_are_written_as_they_were_read() {
    let read = run(&seeds("trees"), RUNS, targets::trees);
    assert!(read > RUNS as usize / 3, "only {read} altered texts had side lines");
}

#[test]
fn themes_are_refused_or_read() {
    let read = run(&seeds("themes"), RUNS, targets::themes);
    assert!(read > RUNS as usize / 20, "only {read} altered files were read");
}

#[test]
fn manifests_are_refused_or_describe_reels() {
    run(&seeds("manifest"), RUNS, targets::manifest);
}

#[test]
fn parts_of_jobs_are_refused_or_replayed() {
    let replayed = run(&seeds("job_part"), RUNS / 4, targets::job_part);
    assert!(replayed > 10, "only {replayed} altered parts were replayed");
}

#[test]
fn requests_get_an_answer_each() {
    let answered = run(&seeds("serve"), RUNS / 4, targets::serve);
    assert!(answered > RUNS as usize / 20, "only {answered} altered conversations had an answer");
}

#[test]
fn machine_code_gives_what_kernels_and_the_reference_engine_give() {
    let ran = run(&seeds("code"), RUNS / 20, targets::code);
    assert!(ran > RUNS as usize / 50, "only {ran} queries were run");
}
