//! Everything that a report shows of one query: how often each copy hits and where, which years, ratings and plies,
//! and some of the hits.
//!
//! A [`Lens`] looks at one block on any thread, and a [`Study`] adds up what it gives in the order of the database: the
//! [`Findings`] depend on the games alone.
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use orbit_chess::database::{Database, DatabaseOptions};
//! use orbit_chess::choice::Choice;
//! use orbit_chess::engine::Outputs;
//! use orbit_chess::report::{Found, Names};
//! use orbit_chess::scan::Scan;
//! use orbit_chess::study::Study;
//!
//! let games = b"1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 *".to_vec();
//! let database = Database::from_pgn_bytes("games", games, DatabaseOptions::default());
//! let scan = Scan::new("flipcolor {Bb5 nc6}")?;
//! let names = Names::new(scan.filter(), vec!["games".into()]);
//! let mut study = Study::new(&scan, 12, 0);
//! let lens = study.lens();
//! scan.for_each_block(
//!     database,
//!     &[Outputs::VALUES | Outputs::LOWEST_COPY],
//!     &Choice::default(),
//!     |result, _| {
//!         let (block, answers) = (result.block, &result.answers[0]);
//!         let copies = answers.copies.as_ref();
//!         lens.look(&Found { block, hits: &answers.hits, games: None, copies, names: &names })
//!     },
//!     |_, view| {
//!         study.add(view);
//!         ControlFlow::Continue(())
//!     },
//! )?;
//! let findings = study.findings("Bishop on b5");
//! // The sample shows one position of a game.
//! assert_eq!((findings.totals.positions_hit, findings.sample.len()), (2, 1));
//! # Ok::<(), orbit_chess::scan::ScanError>(())
//! ```

use std::sync::Arc;

use crate::board::Bitboard;
use crate::choice::{Order, Top};
use crate::engine::{Answer, Values};
use crate::orbit::{self, Filter, Orbit};
use crate::query::Type;
use crate::report::findings::{
    Findings, Histogram, HistogramRow, HitCounts, OrbitFindings, PatternBoard, SampleHit, SquareNames,
    TEXT_MAX, Unit,
};
use crate::report::heat::HeatMap;
use crate::report::tags::url;
use crate::report::words::{decode, push_squares, shortened};
use crate::report::{Found, Row, Rows, grouped};
use crate::scan::Scan;
use crate::stats::{self, By, Counts, Grouping, Key, Stats};

/// What the histograms show, and in which unit. Of years and decades there is one: see [`YEARS_MAX`].
const HISTOGRAMS: [(&str, Unit); 5] = [
    ("year", Unit::Games),
    ("decade", Unit::Games),
    ("elo:100", Unit::Games),
    ("result", Unit::Games),
    ("ply:10", Unit::Positions),
];

/// Of more years a histogram shows decades.
const YEARS_MAX: usize = 100;

/// What is known so far.
#[derive(Debug)]
pub struct Study {
    lens: Lens,
    /// The filter as it was written, without the outermost transform.
    pattern: PatternBoard,
    engine: String,
    sources: Vec<String>,
    chosen: String,
    seed: u64,
    copies: Vec<u64>,
    squares: Option<[u64; 64]>,
    counts: Counts,
    sample: Top<SampleHit>,
}

/// What looks at blocks, on any thread.
#[derive(Clone, Debug)]
pub struct Lens {
    /// The filter as it was written, without the outermost transform.
    base: Arc<Filter>,
    orbit: Option<Arc<Orbit>>,
    stats: Stats,
    sample_max: usize,
    order: Order,
}

/// What was seen in one block.
#[derive(Debug)]
pub struct View {
    copies: Vec<u64>,
    squares: Option<[u64; 64]>,
    counts: Counts,
    /// The best of the block, with rank and number.
    sample: Vec<(u64, u32, SampleHit)>,
}

impl Study {
    /// A study that shows `sample_max` of the hits, picked by a seed, at most one of each game.
    pub fn new(scan: &Scan, sample_max: usize, seed: u64) -> Study {
        let groupings = HISTOGRAMS.map(|(name, _)| name.parse().expect("groupings of our own"));
        let stats = Stats::new(groupings.to_vec());
        let filter = scan.filter();
        let orbit = filter.outermost().cloned().map(Arc::new);
        let base = orbit.as_ref().map_or(filter, |orbit| &orbit.base).clone();
        let order = Order::Sampled { seed };
        Study {
            pattern: PatternBoard::of(&base),
            engine: scan.engine().name().to_owned(),
            sources: Vec::new(),
            chosen: String::new(),
            seed,
            copies: vec![0; orbit.as_ref().map_or(0, |orbit| orbit.copies.len())],
            squares: (scan.ty() == Type::Set).then_some([0; 64]),
            counts: stats.none(),
            sample: order.top(sample_max),
            lens: Lens { base: Arc::new(base), orbit, stats, sample_max, order },
        }
    }

    /// What looks at blocks.
    pub fn lens(&self) -> Lens {
        self.lens.clone()
    }

    /// Names the sources of the games.
    #[must_use]
    pub fn with_sources(mut self, sources: &[String]) -> Study {
        self.sources = sources.to_vec();
        self
    }

    /// Adds what was seen in a block.
    pub fn add(&mut self, view: View) {
        self.copies.iter_mut().zip(view.copies).for_each(|(sum, more)| *sum += more);
        if let Some(more) = view.squares {
            let squares = self.squares.get_or_insert([0; 64]);
            squares.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        }
        self.counts.add(view.counts).expect("years, ratings, results and plies are few");
        for (rank, number, hit) in view.sample {
            self.sample.offer(rank, number, || hit);
        }
    }

    /// How often each copy hit, summed up by transform and by place; `None` without an outermost transform.
    pub fn orbit(&self) -> Option<OrbitFindings> {
        self.lens.orbit.as_ref().map(|orbit| OrbitFindings::new(orbit, &self.copies))
    }

    /// How often each square was in the value, if that is a set.
    pub fn squares(&self) -> Option<HeatMap> {
        self.squares.as_ref().map(HeatMap::of_squares)
    }

    /// Whether there is a heat map, whatever hits.
    pub fn has_heat(&self) -> bool {
        self.squares.is_some() || self.orbit().is_some_and(|orbit| orbit.heat.is_some())
    }

    /// Says which games and hits count, in words.
    #[must_use]
    pub fn with_choice(mut self, chosen: String) -> Study {
        self.chosen = chosen;
        self
    }

    /// Everything, under a title and with the text of the query.
    pub fn findings(&self, query: &str) -> Findings {
        let total = self.counts.total();
        let (orbit, squares) = (self.orbit(), self.squares());
        let mut histograms = HISTOGRAMS.map(|(name, unit)| histogram(name, unit, &self.counts)).to_vec();
        let other = if histograms[0].rows.len() > YEARS_MAX { "year" } else { "decade" };
        histograms.retain(|histogram| histogram.rows.len() > 1 && histogram.name != other);
        let sample: Vec<SampleHit> = self.lens.order.list(self.sample.clone());
        let sample_note = format!(
            "{} of {} games with hits, one position of each, picked by chance (seed {}).",
            sample.len(),
            grouped(total.hit.games),
            self.seed
        );
        let title = query.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        Findings {
            title: title.to_owned(),
            date: None,
            query: query.to_owned(),
            chosen: self.chosen.clone(),
            pattern: self.pattern.clone(),
            engine: self.engine.clone(),
            sources: self.sources.clone(),
            totals: counts(&total),
            orbit,
            squares,
            histograms,
            sample,
            sample_note,
        }
    }
}

impl Lens {
    /// Looks at what was found in one block. The copies of the hits must be there, unless hits tell them
    /// ([`Filter::has_one_copy`]).
    pub fn look(&self, found: &Found) -> View {
        let mut copies = vec![0; self.orbit.as_ref().map_or(0, |orbit| orbit.copies.len())];
        match found.copies {
            Some(of_hits) => copies.iter_mut().zip(of_hits.sums()).for_each(|(count, more)| *count += more),
            // The only copy matches at every hit.
            None => copies.iter_mut().for_each(|count| *count += found.hits.count()),
        }
        View { copies, squares: squares(found), counts: self.stats.count(found), sample: self.sample(found) }
    }

    fn sample(&self, found: &Found) -> Vec<(u64, u32, SampleHit)> {
        let mut top = self.order.top(self.sample_max);
        for game in found.block.games().filter(|game| found.is_hit(game)) {
            let rank = self.order.rank(&game, found.hits);
            top.offer(rank, game.number(), || (rank, game));
        }
        let picked = top.by_rank().filter_map(|(rank, game)| {
            let hits = found.hits.count_in(game.first_slot()..game.end_slot());
            // The rank is as good as chance, for the hit of the game as well.
            let (wanted, mut index, mut out) = (rank % hits.max(1), 0, None);
            found.rows(&game, Rows::Hits, |row| {
                if index == wanted {
                    out = Some(self.sample_hit(found, row));
                }
                index += 1;
            });
            out.map(|hit| (rank, game.number(), hit))
        });
        picked.collect()
    }

    fn sample_hit(&self, found: &Found, row: &Row) -> SampleHit {
        let game = &row.game;
        let tag = |name| {
            let value = game.tag(name).map_or(String::new(), |value| decode(value).trim().to_owned());
            if value.is_empty() { String::from("?") } else { value }
        };
        let copy = row.copy.filter(|_| self.orbit.is_some()).map(|copy| copy as usize);
        SampleHit {
            game: game.number().into(),
            source: found.names.source(game).to_owned(),
            white: tag("White"),
            black: tag("Black"),
            event: tag("Event"),
            date: tag("Date"),
            result: game.outcome().text().to_owned(),
            ply: row.ply,
            label: row.label.clone(),
            fen: row.fen.clone(),
            next: Some(row.next.clone()).filter(|next| !next.is_empty()),
            lit: SquareNames(self.lit(row)),
            url: url(game, row.ply),
            value: value_text(row.value),
            copy: copy.and_then(|copy| found.names.copies.get(copy)).map(|copy| shortened(copy, TEXT_MAX)),
        }
    }

    /// The squares that are in the value, and those on which pieces are that the copy names.
    fn lit(&self, row: &Row) -> Bitboard {
        let found = if let Answer::Set(squares) = row.value { squares } else { Bitboard::EMPTY };
        let copy = row.copy.and_then(|copy| self.orbit.as_ref()?.copies.get(copy as usize));
        let filter = copy.map_or(&*self.base, |copy| &copy.filter);
        found | orbit::matched(filter, &row.position.board)
    }
}

fn value_text(value: Answer) -> Option<String> {
    match value {
        Answer::Bool(_) | Answer::Num(None) => None,
        Answer::Num(Some(number)) => Some(number.to_string()),
        Answer::Set(squares) => {
            let mut text = Vec::new();
            push_squares(&mut text, squares);
            Some(String::from_utf8(text).expect("squares are ASCII"))
        }
    }
}

fn squares(found: &Found) -> Option<[u64; 64]> {
    let Values::Sets(sets) = &found.hits.values else { return None };
    let mut sums = [0; 64];
    for slot in found.hits.slots(0..found.block.slots()) {
        Bitboard(sets[slot]).into_iter().for_each(|square| sums[square as usize] += 1);
    }
    Some(sums)
}

fn counts(row: &stats::Row) -> HitCounts {
    HitCounts {
        games: row.all.games,
        games_hit: row.hit.games,
        positions: row.all.positions,
        positions_hit: row.hit.positions,
    }
}

fn histogram(name: &str, unit: Unit, all: &Counts) -> Histogram {
    let grouping: Grouping = name.parse().expect("groupings of our own");
    let step = match grouping.first {
        By::Decade => Some(10),
        By::Elo(_, step) | By::Ply(step) => Some(i64::from(step)),
        _ => None,
    };
    let rows = all.rows(&grouping).into_iter().map(|row| {
        let share = if unit == Unit::Games { row.games() } else { row.positions() };
        HistogramRow {
            label: match (&row.keys[0], step) {
                (Key::Number(first), Some(step)) => format!("{first}-{}", first + step - 1),
                (key, _) => key.to_string(),
            },
            counts: counts(&row),
            share: share.map(|share| share.value),
            low: share.map(|share| share.low),
            high: share.map(|share| share.high),
        }
    });
    Histogram { name: name.split(':').next().unwrap_or(name).to_owned(), unit, rows: rows.collect() }
}
