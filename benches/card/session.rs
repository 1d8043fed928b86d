//! Measures the rows of a run in order. A row is started only if enough time is left for it.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use orbit_command::measuring::{BenchGames, Failure, failed};
use orbit_engine::gpu::{AdapterReport, GpuDevice, Variant};
use orbit_reel::Block;
use orbit_search::report::grouped;
use serde_json::{Value, json};

use super::floors::FloorDevice;
use super::instructions::{Vendor, per_turn};
use super::measure::{self, Check, GamesOnCard, HeldGames, KnownAnswer, Roofs};
use super::recorder::Recorder;

/// The kinds of rows for queries about other positions of a game, such as `find`, with the games in the card's memory. To evaluate
/// such a query, results are passed from one position of a game to the next: by the card in rows of the first kind, and by the
/// processor in rows of the second kind.
const ALONG_KINDS: [&str; 2] = ["along", "along_by_host"];

/// The indices of the queries with which kernel variants are compared: one with many copies (transformed patterns), one with long
/// straight-line code, one with a table.
const TRIED: [usize; 3] = [0, 6, 10];
/// The number of positions on which kernel variants are compared.
const TRIAL_POSITIONS: u64 = 64_000_000;
/// The number of positions in a first, short run. Its time determines the number of positions on which kernel variants are
/// compared.
const PROBE_POSITIONS: u64 = 4_000_000;
/// The share of the time budget that the comparison of kernel variants may take.
const TRIAL_SHARE: f64 = 0.25;
/// A variant replaces the default only if it takes at most this share of the default's time. A smaller gain could be noise.
const FASTER: f64 = 0.98;
/// The batch sizes: the numbers of queries that run at once.
const AT_ONCE: [usize; 3] = [4, 8, 12];
/// The share of the remaining time budget that the measurements on the card with all positions may take together.
const ROWS_SHARE: f64 = 0.6;
/// The number of positions that are searched on the processor. More positions would not change its rate.
const CPU_POSITIONS: u64 = 64_000_000;
const THREAD_POSITIONS: u64 = 4_000_000;
/// The number of positions in a database in memory. More could exceed the limit that some adapters have for games that stay on
/// the card.
const SESSION_POSITIONS: u64 = 64_000_000;
/// The bounds for the amount of memory that is read to measure the floors (the card's speed limits), in bytes.
const FLOOR_BYTES: std::ops::RangeInclusive<u64> = (32 << 20)..=(1 << 30);

/// A benchmark run: the device, the games and the queries to measure, and the options.
pub struct Session<'a> {
    pub device: Arc<GpuDevice>,
    pub report: AdapterReport,
    pub games: &'a BenchGames,
    pub queries: Vec<KnownAnswer>,
    pub replay: Vec<KnownAnswer>,
    pub along: Vec<KnownAnswer>,
    pub recorder: Recorder,
    pub runs: usize,
    pub check: Check,
    pub budget: Duration,
    pub open_s: f64,
    /// The number of bytes of the card's memory that may be used.
    pub memory_bytes: u64,
}

/// The results of comparing kernel variants: the fastest variant and, for each query, the positions per second with the default
/// variant. The rates are computed from the times of whole searches, not from those of the kernels alone.
struct Trials {
    fastest: Variant,
    /// The time that the fastest variant takes, relative to the time of the default variant.
    relative: f64,
    rates: Vec<Option<f64>>,
}

/// Returns the kernel time per position in nanoseconds. If the device has no clock for kernels, returns the time of the whole
/// search per position.
fn kernel_ns(row: &Value) -> f64 {
    row["kernel_ns"].as_f64().or(row["ns"].as_f64()).unwrap_or(f64::INFINITY)
}

/// Returns the geometric mean of the rows' times, each relative to the default variant; `None` unless the answers of
/// all rows are right.
fn mean(rows: &[Option<Value>]) -> Option<f64> {
    let logarithms: Option<Vec<f64>> =
        rows.iter().map(|row| Some(row.as_ref()?["relative"].as_f64()?.ln())).collect();
    let logarithms = logarithms.filter(|all| !all.is_empty())?;
    Some((logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp())
}

impl Session<'_> {
    /// Measures all rows, on `wanted` positions or on as many as the time allows.
    pub fn measure(&self, wanted: u64) {
        self.plan();
        let roofs = self.floors(wanted);
        let trials = self.trials(wanted, roofs);
        let positions = self.fit(wanted, &trials, roofs);
        let positions = measure::whole_blocks(self.games, positions);
        self.recorder.set("positions", json!(positions));
        let bytes = self.on_card(positions, &trials, roofs);
        self.streamed(positions, bytes, &trials, roofs);
        self.sessions(positions, &trials);
        self.cpu(positions);
    }

    /// Registers all rows in order, so that rows that are never reached can be listed at the end.
    fn plan(&self) {
        let name = |known: &KnownAnswer| known.name().to_string();
        let mut all: Vec<(&str, String)> = vec![("device", self.report.name.clone())];
        all.extend(["write_buffer", "belt", "mapped"].map(|way| ("upload", way.into())));
        all.extend(["read", "copy"].map(|what| ("device_memory", what.into())));
        all.push(("device_instructions", "u32".into()));
        all.extend(["1 thread", "all threads"].map(|what| ("cpu_memory", what.into())));
        all.push(("games", "the games".into()));
        all.extend(self.replay.iter().map(|known| ("replay", name(known))));
        all.extend(self.queries.iter().map(|known| ("resident", name(known))));
        all.extend(self.at_once().map(|count| ("shared", format!("{count} queries"))));
        all.extend(self.along.iter().flat_map(|known| ALONG_KINDS.map(|kind| (kind, name(known)))));
        all.extend(self.queries.iter().map(|known| ("streamed", name(known))));
        all.extend(self.along.iter().map(|known| ("along_streamed", name(known))));
        all.extend(self.queries.iter().map(|known| ("session", name(known))));
        all.extend(self.everything().map(|known| ("cpu", name(known))));
        self.recorder.plan(all.into_iter().map(|(kind, name)| (kind.to_string(), name)));
    }

    fn everything(&self) -> impl Iterator<Item = &KnownAnswer> {
        self.queries.iter().chain(&self.replay).chain(&self.along)
    }

    /// Returns the batch sizes to measure: those in [`AT_ONCE`] that are smaller than the number of queries, and the number of
    /// queries.
    fn at_once(&self) -> impl Iterator<Item = usize> {
        let all = self.queries.len();
        AT_ONCE.into_iter().filter(move |&count| count < all).chain((all > 1).then_some(all))
    }

    /// Measures the floors (the card's speed limits) for memory, instructions and uploads.
    fn floors(&self, wanted: u64) -> Roofs {
        let record = &self.recorder;
        let bytes = (4 * wanted).clamp(*FLOOR_BYTES.start(), *FLOOR_BYTES.end());
        record.task("device", &self.report.name, 0.0, || {
            let report = &self.report;
            Ok(json!({ "driver": report.driver, "backend": report.backend, "open_s": self.open_s }))
        });
        let floors = FloorDevice { gpu: &self.device, memory_bytes: self.memory_bytes };
        let rates = OnceLock::new();
        let vendor = Vendor::from_driver(&self.report.name, &self.report.driver);
        let mut roofs = Roofs { vendor, ..Roofs::default() };
        for (k, way) in ["write_buffer", "belt", "mapped"].into_iter().enumerate() {
            let row = record.task("upload", way, 1.0, || {
                let rates = rates.get_or_init(|| self.device.upload_rates()).clone().map_err(failed)?;
                Ok(json!({ "bytes_s": rates[k].1 }))
            });
            let rate = row.and_then(|row| row["bytes_s"].as_f64());
            roofs.upload = roofs.upload.into_iter().chain(rate).reduce(f64::max);
        }
        let read = record.task("device_memory", "read", 2.0, || {
            Ok(measure::memory_row(floors.read(bytes).map_err(failed)?))
        });
        record.task("device_memory", "copy", 2.0, || {
            Ok(measure::memory_row(floors.copy(bytes).map_err(failed)?))
        });
        let instructions = record.task("device_instructions", "u32", 2.0, || {
            let floor = floors.instructions(per_turn(vendor)).map_err(failed)?;
            Ok(measure::instructions_row(floor, vendor))
        });
        let right = |row: Option<Value>, field: &str| row.filter(|row| row["agree"] == true)?[field].as_f64();
        roofs.read = right(read, "bytes_s");
        roofs.instructions = right(instructions, "instructions_s");
        for (name, threads) in [("1 thread", 1), ("all threads", self.games.threads)] {
            record.task("cpu_memory", name, 2.0, || measure::cpu_memory(bytes, threads, self.runs));
        }
        roofs
    }

    /// Measures all kernel variants with some queries, and the default variant with all queries.
    fn trials(&self, wanted: u64, roofs: Roofs) -> Trials {
        let record = &self.recorder;
        let mut trials =
            Trials { fastest: Variant::default(), relative: 1.0, rates: vec![None; self.queries.len()] };
        let begun = Instant::now();
        let share = self.budget.mul_f64(TRIAL_SHARE);
        let wanted = self.trial_positions(wanted, roofs);
        // The games on the card in each of the two memory layouts (see `Variant::transposed`). A layout is uploaded
        // when a variant first needs it.
        let layouts: [OnceLock<Result<GamesOnCard, String>>; 2] = Default::default();
        let mut base = vec![f64::INFINITY; self.queries.len()];
        let tried = || TRIED.into_iter().filter(|&k| k < self.queries.len());
        let mut best = (FASTER, Variant::default());
        for variant in Variant::all(&self.report) {
            let is_default = variant == Variant::default();
            if !is_default && begun.elapsed() > share {
                let why = format!("trying variants has {:.0} s of the budget", share.as_secs_f64());
                record.skip("variant", &variant.to_string(), &why);
                continue;
            }
            let all: Vec<usize> =
                if is_default { (0..self.queries.len()).collect() } else { tried().collect() };
            let rows = self.trial(variant, &all, wanted, &layouts, &base, roofs);
            for (&k, row) in all.iter().zip(&rows).filter(|_| is_default) {
                base[k] = row.as_ref().map_or(f64::INFINITY, kernel_ns);
                trials.rates[k] = row.as_ref().and_then(|row| row["positions_s"].as_f64());
            }
            if let Some(mean) = mean(&rows).filter(|mean| !is_default && *mean < best.0) {
                best = (mean, variant);
            }
        }
        if best.1 != Variant::default() {
            // The best variant is measured again, alternating with the default, so that a temporary load on the machine does not
            // affect the choice.
            let all: Vec<usize> = tried().collect();
            let again = self.trial(Variant::default(), &all, wanted, &layouts, &base, roofs);
            for (&k, row) in all.iter().zip(&again) {
                base[k] = row.as_ref().map_or(base[k], |row| base[k].min(kernel_ns(row)));
            }
            let rows = self.trial(best.1, &all, wanted, &layouts, &base, roofs);
            if let Some(mean) = mean(&rows).filter(|mean| *mean < FASTER) {
                trials.fastest = best.1;
                trials.relative = mean;
            }
        }
        record.set("fastest", json!(trials.fastest.to_string()));
        record.set("fastest_relative", json!(trials.relative));
        trials
    }

    /// Returns the number of positions on which kernel variants are compared. A run of the first query determines it, so that the
    /// comparison does not take too long.
    fn trial_positions(&self, wanted: u64, roofs: Roofs) -> u64 {
        let setting = (Variant::default(), 1, roofs, &self.check);
        let rate =
            GamesOnCard::new(&self.device, self.games, wanted.min(PROBE_POSITIONS), Variant::default())
                .and_then(|card| {
                    measure::resident(&self.queries[0], &self.device, self.games, &card, setting)
                })
                .ok()
                .and_then(|row| row["positions_s"].as_f64());
        let rows = self.queries.len() + TRIED.len() * Variant::all(&self.report).len();
        // The rate is that of the first query. Other queries may be several times slower, so the number of passes is
        // multiplied by 4.
        let passes = (rows * (self.runs + 1) * 4) as f64;
        let in_time = rate.unwrap_or(0.0) * TRIAL_SHARE * self.recorder.left().as_secs_f64() / passes;
        wanted.min(TRIAL_POSITIONS).min((in_time as u64).max(PROBE_POSITIONS / 16))
    }

    /// Measures one kernel variant with some of the queries. Returns a row for each query whose answer was right.
    fn trial<'b>(
        &'b self,
        variant: Variant,
        all: &[usize],
        wanted: u64,
        layouts: &[OnceLock<Result<GamesOnCard<'b>, String>>; 2],
        base: &[f64],
        roofs: Roofs,
    ) -> Vec<Option<Value>> {
        let rows = all.iter().map(|&k| {
            let known = &self.queries[k];
            let row = self.recorder.task("variant", &format!("{variant} {}", known.name()), 0.0, || {
                let card = layouts[usize::from(variant.transposed)].get_or_init(|| {
                    GamesOnCard::new(&self.device, self.games, wanted, variant)
                        .map_err(|error| error.to_string())
                });
                let card = card.as_ref().map_err(|error| Failure::Other(error.clone()))?;
                let setting = (variant, self.runs, roofs, &self.check);
                let mut row = measure::resident(known, &self.device, self.games, card, setting)?;
                let relative = kernel_ns(&row) / base[k];
                // The first row of a query is the baseline for its other rows.
                row["relative"] = json!(if relative > 0.0 { relative } else { 1.0 });
                Ok(row)
            });
            row.filter(|row| row["agree"] == true)
        });
        rows.collect()
    }

    /// Returns the number of positions, at most `wanted`, for which the remaining time suffices to measure the rows.
    fn fit(&self, wanted: u64, trials: &Trials, roofs: Roofs) -> u64 {
        let passes = (self.runs + 1) as f64;
        let upload = roofs.upload.unwrap_or(f64::INFINITY);
        // Each query runs twice with the games on the card, once with streamed games, and once in a batch.
        let each = |rate: &f64| passes * (3.0 / rate + 1.0 / rate.min(upload / 4.0));
        let second: f64 = trials.rates.iter().flatten().map(each).sum();
        let allowed = ROWS_SHARE * self.recorder.left().as_secs_f64();
        let mut positions = wanted;
        while second * positions as f64 > allowed && positions > 100_000 {
            positions /= 2;
        }
        if positions < wanted {
            self.recorder.note(format!(
                "fewer positions: {} would take about {:.0} s, {allowed:.0} s are there for them; {} are measured",
                grouped(wanted),
                second * wanted as f64,
                grouped(positions)
            ));
        }
        positions
    }

    fn cpu(&self, positions: u64) {
        let (all, one) = (
            self.games.blocks(positions.min(CPU_POSITIONS)),
            self.games.blocks(positions.min(THREAD_POSITIONS)),
        );
        for known in self.everything() {
            self.recorder.task("cpu", known.name(), 0.1, || {
                measure::cpu(known, self.games, (&all, &one), self.runs, &self.check)
            });
        }
    }

    /// Measures all rows that need the games on the card. Returns the number of bytes that a position occupies there.
    fn on_card(&self, positions: u64, trials: &Trials, roofs: Roofs) -> Option<f64> {
        let record = &self.recorder;
        let mut variants = vec![Variant::default()];
        variants.extend((trials.fastest != Variant::default()).then_some(trials.fastest));
        let mut card: Option<(bool, GamesOnCard)> = None;
        let mut bytes = None;
        for &variant in &variants {
            let is_last = Some(&variant) == variants.last();
            if card.as_ref().is_none_or(|(transposed, _)| *transposed != variant.transposed) {
                // The card may lack the memory for the games in both layouts, so the games in the other layout are
                // freed first.
                drop(card.take());
                let name = if variant.transposed { "the games, transposed" } else { "the games" };
                record.task("games", name, 0.1, || {
                    let on = GamesOnCard::new(&self.device, self.games, positions, variant)?;
                    let row = on.row();
                    card = Some((variant.transposed, on));
                    Ok(row)
                });
            }
            let Some((_, on)) = &card else { continue };
            if on.positions < positions {
                let (there, wanted) = (grouped(on.positions), grouped(positions));
                record.note(format!("the card has room for {there} positions, {wanted} were to be there"));
                record.set("positions", json!(on.positions));
            }
            bytes = Some(on.resident.bytes() as f64 / on.positions as f64);
            let passes = (self.runs + 1) as f64 * on.positions as f64;
            let row = |known: &KnownAnswer, kind: &str, seconds: f64| {
                let mut variant = variant;
                variant.host_carry = kind == ALONG_KINDS[1];
                let setting = (variant, self.runs, roofs, &self.check);
                record.task(kind, known.name(), seconds, || {
                    measure::resident(known, &self.device, self.games, on, setting)
                })
            };
            for (known, trial) in self.queries.iter().zip(&trials.rates) {
                row(known, "resident", trial.map_or(0.1, |rate| passes / rate));
            }
            for known in &self.replay {
                row(known, "replay", 0.1);
            }
            if is_last {
                self.shared(on, variant, trials);
                for known in &self.along {
                    for kind in ALONG_KINDS {
                        row(known, kind, 0.1);
                    }
                }
            }
        }
        bytes
    }

    /// Measures several queries at once, and each of these queries alone for comparison.
    fn shared(&self, on: &GamesOnCard, variant: Variant, trials: &Trials) {
        let blocks = self.games.blocks(on.positions.min(CPU_POSITIONS / 4));
        let passes = (self.runs + 1) as f64 * on.positions as f64;
        for count in self.at_once() {
            let queries: Vec<&KnownAnswer> = self.queries.iter().take(count).collect();
            let seconds: f64 =
                trials.rates.iter().take(count).flatten().map(|rate| 2.0 * passes / rate).sum();
            self.recorder.task("shared", &format!("{count} queries"), seconds, || {
                let setting = (variant, self.runs, &self.check);
                let mut row =
                    measure::shared(&queries, &self.device, on, &blocks, self.games.threads, setting)?;
                let known = self.recorder.document();
                let alone = |query: &&KnownAnswer| {
                    let rows = known["rows"].as_array()?;
                    let of = |row: &&Value| {
                        row["kind"] == "resident"
                            && row["name"] == query.name()
                            && row["variant"] == variant.to_string()
                    };
                    Some(1.0 / rows.iter().find(of)?["positions_s"].as_f64()?)
                };
                let all: Option<f64> = queries.iter().map(alone).sum();
                row["one_by_one_positions_s"] = json!(all.map(|seconds| 1.0 / seconds));
                Ok(row)
            });
        }
    }

    /// Measures the queries on a database in memory, whose games stay on the card.
    fn sessions(&self, positions: u64, trials: &Trials) {
        let held = HeldGames::new(self.games, positions.min(SESSION_POSITIONS));
        let passes = (self.runs as u64 + 2) * positions.min(SESSION_POSITIONS);
        for (known, rate) in self.queries.iter().zip(&trials.rates) {
            let seconds = rate.map_or(0.1, |rate| passes as f64 / rate);
            self.recorder.task("session", known.name(), seconds, || {
                let setting = (trials.fastest, self.runs, &self.check);
                measure::session(known, &self.device, &held, self.games.threads, setting)
            });
        }
        held.release(&self.device);
    }

    /// Measures the queries on games that are uploaded during the search.
    fn streamed(&self, positions: u64, bytes: Option<f64>, trials: &Trials, roofs: Roofs) {
        let blocks: Vec<&Block> = self.games.blocks(positions);
        let Some(bytes) = bytes else { return };
        let setting = (trials.fastest, self.runs, roofs, &self.check);
        let passes = (self.runs as u64) * positions;
        let slowest = roofs.upload.map_or(f64::INFINITY, |upload| upload / bytes);
        let row = |kind: &str, known: &KnownAnswer, rate_there: Option<f64>| {
            let seconds = rate_there.map_or(0.1, |there| passes as f64 / there.min(slowest));
            self.recorder.task(kind, known.name(), seconds, || {
                measure::streamed(known, &self.device, (&blocks, self.games.threads), bytes, setting)
            });
        };
        for (known, &trial) in self.queries.iter().zip(&trials.rates) {
            row("streamed", known, trial);
        }
        for known in &self.along {
            row("along_streamed", known, None);
        }
    }
}
