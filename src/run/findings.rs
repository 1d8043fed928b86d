//! What a report shows of one query: how often each copy hits and where, which years, ratings and plies, and some of the
//! hits.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{BlockResult, Collector, Needs, Part, PartError};
use crate::board::{Bitboard, Color};
use crate::choice::{Order, Top, chance};
use crate::database::Room;
use crate::engine::{Answer, Values};
use crate::game::{date, tags};
use crate::orbit::{self, Filter, Orbit};
use crate::query::Type;
use crate::report::findings::{
    Findings, Histogram, HistogramRow, HitCounts, OrbitFindings, PatternBoard, SampleHit, SampleSpan,
    SquareNames, SquarePair, TEXT_MAX, Unit,
};
use crate::report::heat::HeatMap;
use crate::report::words::push_squares;
use crate::report::{Found, Row, Rows, SpanMoves, grouped};
use crate::stats::{self, By, Grouping, Key, ManyCounts, Stats};
use crate::text::shortened;

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

/// Moves of a hit at most.
const SPAN_MOVES_MAX: usize = 24;

/// Collects what a report shows.
#[derive(Debug)]
pub struct FindingsCollector {
    /// The filter as it was written, without the outermost transform.
    base: Arc<Filter>,
    orbit: Option<Arc<Orbit>>,
    finds_squares: bool,
    spans: bool,
    stats: Stats,
    sample_max: usize,
    seed: u64,
}

/// What a report shows, as far as it was collected.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct FindingsPart {
    copies: Vec<u64>,
    /// How often each square was in the value, if that is a set.
    squares: Vec<u64>,
    counts: ManyCounts,
    /// The sample so far; `None` before the first block.
    sample: Option<Top<SampleHit>>,
}

/// What a report says of the run itself.
#[derive(Clone, Debug, Default)]
pub struct About<'a> {
    /// The text of the query.
    pub query: &'a str,
    /// The engine that answered.
    pub engine: &'a str,
    /// The names of the database's sources.
    pub sources: &'a [String],
    /// Which games and hits count, in words.
    pub chosen: &'a str,
}

impl FindingsCollector {
    /// Collects the hits of a query with values of a type, and shows `sample_max` of them, picked by a seed, at most one of
    /// each game.
    pub fn new(filter: &Filter, ty: Type, sample_max: usize, seed: u64) -> FindingsCollector {
        let groupings = HISTOGRAMS.map(|(name, _)| name.parse().expect("groupings of our own"));
        let orbit = filter.outermost().map(Arc::new);
        let base = orbit.as_ref().map_or(filter, |orbit| &orbit.base).clone();
        FindingsCollector {
            base: Arc::new(base),
            orbit,
            finds_squares: ty == Type::Set,
            spans: false,
            stats: Stats::new(groupings.to_vec()),
            sample_max,
            seed,
        }
    }

    /// Shows or does not show of what moves hits consist.
    #[must_use]
    pub fn with_spans(self, spans: bool) -> FindingsCollector {
        FindingsCollector { spans, ..self }
    }

    /// Whether there is a heat map, whatever hits.
    pub fn has_heat(&self) -> bool {
        self.finds_squares || self.orbit(&FindingsPart::default()).is_some_and(|orbit| orbit.heat.is_some())
    }

    /// How often each copy hit, summed up by transform and by place; `None` without an outermost transform.
    pub fn orbit(&self, part: &FindingsPart) -> Option<OrbitFindings> {
        let orbit = self.orbit.as_ref()?;
        let mut copies = part.copies.clone();
        copies.resize(orbit.copies.len(), 0);
        Some(OrbitFindings::new(orbit, &copies))
    }

    /// How often each square was in the value, if that is a set.
    pub fn squares(&self, part: &FindingsPart) -> Option<HeatMap> {
        let mut counts = [0; 64];
        counts.iter_mut().zip(&part.squares).for_each(|(sum, count)| *sum = *count);
        self.finds_squares.then(|| HeatMap::of_squares(&counts))
    }

    /// Everything that a report shows of a run.
    pub fn findings(&self, part: &FindingsPart, about: &About) -> Findings {
        let counts = part.counts.clone().into_counts().into_iter().next();
        let all = counts.unwrap_or_else(|| self.stats.none());
        let total = all.total();
        let (orbit, squares) = (self.orbit(part), self.squares(part));
        let mut histograms = HISTOGRAMS.map(|(name, unit)| histogram(name, unit, &all)).to_vec();
        let other = if histograms[0].rows.len() > YEARS_MAX { "year" } else { "decade" };
        histograms.retain(|histogram| histogram.rows.len() > 1 && histogram.name != other);
        let sample = part.sample.clone().map_or(Vec::new(), |sample| self.order().list(sample));
        let sample_note = format!(
            "{} of the {} games that hit, chosen at random (seed {}), with one position of each.",
            sample.len(),
            grouped(total.hit.games),
            self.seed
        );
        let title = about.query.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        Findings {
            title: title.to_owned(),
            date: None,
            query: about.query.to_owned(),
            chosen: about.chosen.to_owned(),
            pattern: PatternBoard::of(&self.base),
            engine: about.engine.to_owned(),
            sources: about.sources.to_vec(),
            totals: hit_counts(&total),
            orbit,
            squares,
            histograms,
            sample,
            sample_note,
        }
    }

    fn order(&self) -> Order {
        Order::Sampled { seed: self.seed }
    }

    fn sample(&self, found: &Found) -> Top<SampleHit> {
        let order = self.order();
        let mut top = order.top(self.sample_max);
        for game in found.block.games().filter(|game| found.has_hits(game)) {
            let rank = chance(&game, self.seed);
            top.offer(rank, game.number(), || (rank, game));
        }
        top.map(|(rank, game)| {
            let hits = found.hits.count_in(game.first_slot()..game.end_slot());
            // The rank is as good as chance, for the hit of the game as well.
            let (wanted, mut index, mut out) = (rank % hits.max(1), 0, SampleHit::default());
            found.rows(&game, Rows::Hits, |row| {
                if index == wanted {
                    out = self.sample_hit(found, row);
                }
                index += 1;
            });
            out
        })
    }

    fn sample_hit(&self, found: &Found, row: &Row) -> SampleHit {
        let game = &row.game;
        let or_unknown = |text: Option<Cow<str>>| text.map_or(String::from("?"), Cow::into_owned);
        let span = found.span(game, row.node).filter(|_| self.spans);
        let moves = span.as_ref().map(|span| SpanMoves::shown(span, game));
        let copy = row.copy.filter(|_| self.orbit.is_some()).map(|copy| copy as usize);
        SampleHit {
            game: game.number().into(),
            source: found.names.source(game).to_owned(),
            white: or_unknown(tags::player(game, Color::White)),
            black: or_unknown(tags::player(game, Color::Black)),
            event: or_unknown(tags::known(game, "Event")),
            date: or_unknown(date::known_text(game)),
            result: game.outcome().text().to_owned(),
            node: row.node,
            ply: row.ply,
            line: row.line.clone(),
            label: row.label.clone(),
            fen: row.fen.clone(),
            next: Some(row.next.clone()).filter(|next| !next.is_empty()),
            lit: SquareNames(self.lit(row)),
            span: moves.as_ref().map(|moves| SampleSpan {
                kind: moves.kind().name().to_owned(),
                moves: moves.text(SPAN_MOVES_MAX),
                length: span.as_ref().map_or(0, |span| span.length()),
                arrows: span.as_ref().map_or(Vec::new(), |span| {
                    SpanMoves::of(span, game).arrows(row.node).into_iter().map(SquarePair).collect()
                }),
            }),
            url: row.url(),
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

impl Collector for FindingsCollector {
    type Part = FindingsPart;

    fn needs(&self) -> Needs {
        Needs::TAGS
            | Needs::VALUES
            | Needs::LOWEST_COPY
            | Needs::COPY_NAMES
            | self.stats.needs()
            | Needs::SPANS.when(self.spans)
    }

    fn look(&self, result: &BlockResult, _: &Room) -> FindingsPart {
        let found = result.first();
        let mut copies = vec![0; self.orbit.as_ref().map_or(0, |orbit| orbit.copies.len())];
        match found.copies {
            Some(of_hits) => copies.iter_mut().zip(of_hits.sums()).for_each(|(count, more)| *count += more),
            // The only copy matches at every hit.
            None => copies.iter_mut().for_each(|count| *count += found.hits.count()),
        }
        FindingsPart {
            copies,
            squares: squares(&found),
            counts: self.stats.count_many(&[found]),
            sample: Some(self.sample(&found)),
        }
    }
}

impl Part for FindingsPart {
    fn merge(&mut self, next: FindingsPart) -> Result<(), PartError> {
        self.copies.merge(next.copies)?;
        self.squares.merge(next.squares)?;
        self.counts.merge(next.counts)?;
        match (&mut self.sample, next.sample) {
            (_, None) => {}
            (Some(sample), Some(next)) if sample.is_like(&next) => sample.merge(next),
            (Some(_), Some(_)) => return Err(PartError::Differ("samples")),
            (None, next) => self.sample = next,
        }
        Ok(())
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

/// How often each square is in the values of hits; nothing if they are no sets.
fn squares(found: &Found) -> Vec<u64> {
    let Values::Sets(sets) = &found.hits.values else { return Vec::new() };
    let mut sums = vec![0; 64];
    for slot in found.hits.slots(0..found.block.slots()) {
        Bitboard(sets[slot]).into_iter().for_each(|square| sums[square as usize] += 1);
    }
    sums
}

fn hit_counts(row: &stats::GroupRow) -> HitCounts {
    HitCounts {
        games: row.all.games,
        games_hit: row.hit.games,
        positions: row.all.positions,
        positions_hit: row.hit.positions,
    }
}

fn histogram(name: &str, unit: Unit, all: &stats::Counts) -> Histogram {
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
            counts: hit_counts(&row),
            share: share.map(|share| share.value),
            low: share.map(|share| share.low),
            high: share.map(|share| share.high),
        }
    });
    Histogram { name: name.split(':').next().unwrap_or(name).to_owned(), unit, rows: rows.collect() }
}
