//! Collects the content of a report on one query: the number and places of each transformed copy's hits, the distributions over
//! years, ratings and plies, and a sample of the hits.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

use super::{Collector, Part, PartError, TakeError};
use crate::choice::{Order, TopGames, chance};
use crate::found::{BlockResult, Found};
use crate::report::findings::{
    Findings, GAMES_MAX, Histogram, HistogramRow, HitCounts, ListedGame, OrbitFindings, PatternBoard,
    ResultCount, SampleHit, SampleMoves, SampleSpan, SortedBy, SquareNames, SquarePair, TEXT_MAX, Unit,
    ValueFindings, ValueGroup,
};
use crate::report::heat::HeatMap;
use crate::report::words::push_squares;
use crate::report::{Bin, Distribution, NodeWalk, Row, Rows, SpanMoves, grouped, listed, moves_around};
use crate::stats::{self, By, GroupKey, Grouping, ManyCounts, Share, Stats};
use orbit_core::board::{Bitboard, Color};
use orbit_core::game::{date, tags};
use orbit_core::sync::lock;
use orbit_core::text::{decode, shortened};
use orbit_database::{GameTexts, MemoryBudget, StreamedBlock};
use orbit_engine::{Answer, Rank, SortValue, SpanKind, Values, Wants};
use orbit_query::{Type, TypedQuery};
use orbit_reel::GameRow;
use orbit_transforms::OutermostOrbit as _;
use orbit_transforms::{Filter, Orbit};

/// The groupings for histograms, and their units. A report shows either years or decades: see [`YEARS_MAX`].
const HISTOGRAMS: [(&str, Unit); 5] = [
    ("year", Unit::Games),
    ("decade", Unit::Games),
    ("elo:100", Unit::Games),
    ("result", Unit::Games),
    ("ply:10", Unit::Positions),
];

/// The maximum number of years for which a histogram has one bar per year. For a longer period, it has one bar per decade.
const YEARS_MAX: i64 = 100;

/// The maximum number of bars in the histogram of values.
const STEPS_MAX: i64 = 60;

/// The maximum number of moves that are shown before and after a sample hit.
const MOVES_AROUND: [usize; 2] = [4, 4];

/// The maximum number of moves of a hit's span (the moves that matched) that are shown.
const SPAN_MOVES_MAX: usize = 24;

/// Collects the content of a report.
#[derive(Debug)]
pub struct FindingsCollector {
    /// The filter inside the outermost transform.
    base: Arc<Filter>,
    orbit: Option<Arc<Orbit>>,
    finds_squares: bool,
    spans: bool,
    stats: Stats,
    sample_max: usize,
    order: Order,
    /// The names of the values by which the query sorts games.
    sorts: Vec<String>,
    /// True if the query sorts games by the number of matching positions.
    by_match_count: bool,
    /// The rank and the number of the last game in the list, once the list is full. Games after it are not prepared for the list,
    /// because preparing a game takes as much time as printing it.
    end: Mutex<Option<(Rank, u32)>>,
}

/// The content of a report on some blocks (groups of games), in a form that can be merged.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct FindingsPart {
    copies: Vec<u64>,
    /// For a query whose value is a set of squares, the number of hits for which each square was in the set: 64 counts for squares
    /// with a white piece, then 64 for squares with a black piece, then 64 for empty squares.
    squares: Vec<u64>,
    counts: ManyCounts,
    /// The sample so far, or `None` before the first block.
    sample: Option<TopGames<SampleHit>>,
    games_found: u64,
    /// The list of games so far, or `None` before the first block.
    games: Option<TopGames<ListedGame>>,
}

/// The facts about the run itself that a report shows.
#[derive(Clone, Debug, Default)]
pub struct About<'a> {
    /// The title of the report. If it is `None`, the first line of the query is the title.
    pub title: Option<&'a str>,
    /// The text of the query.
    pub query: &'a str,
    /// The query as an English sentence.
    pub sentence: &'a str,
    /// The engine that answered.
    pub engine: &'a str,
    /// The names of the database's sources.
    pub sources: &'a [String],
    /// A description of the selected games and hits.
    pub chosen: &'a str,
}

impl FindingsCollector {
    /// Collects the hits of a query whose values have the type `ty`. The sample has at most `sample_max` hits, no two of them from
    /// the same game, which are drawn at random with the seed `seed`.
    pub fn new(filter: &Filter, ty: Type, sample_max: usize, seed: u64) -> FindingsCollector {
        let groupings = HISTOGRAMS.map(|(name, _)| name.parse().expect("groupings of our own"));
        let orbit = filter.outermost().map(Arc::new);
        let base = orbit.as_ref().map_or(filter, |orbit| &orbit.base).clone();
        FindingsCollector {
            base: Arc::new(base),
            orbit,
            finds_squares: ty == Type::Set,
            spans: false,
            stats: match ty {
                Type::Num => Stats::new(groupings.to_vec()).with_values(),
                _ => Stats::new(groupings.to_vec()),
            },
            sample_max,
            order: Order::Sampled { seed },
            sorts: Vec::new(),
            by_match_count: false,
            end: Mutex::new(None),
        }
    }

    /// Counts scores for the selected player instead of White.
    #[must_use]
    pub fn for_player(self) -> FindingsCollector {
        FindingsCollector { stats: self.stats.for_player(), ..self }
    }

    /// Sets whether spans (the moves that matched) are shown for hits.
    #[must_use]
    pub fn with_spans(self, spans: bool) -> FindingsCollector {
        FindingsCollector { spans, ..self }
    }

    /// If the query sorts games, lists them in this order, with the values by which they are sorted.
    #[must_use]
    pub fn sorted_by(self, query: &TypedQuery) -> FindingsCollector {
        if query.sorts.is_empty() && !query.header.sort_match_count {
            return self;
        }
        let name = |name: &str| if name.starts_with('<') { "sort" } else { name }.to_owned();
        let sorts = query.sorts.iter().map(|sort| name(&sort.name)).collect();
        let by_match_count = query.header.sort_match_count;
        FindingsCollector { order: Order::ByQuery, sorts, by_match_count, ..self }
    }

    /// Lists games in the order `order`, and takes the sample from the first games instead of at random.
    #[must_use]
    pub fn ordered(self, order: Order) -> FindingsCollector {
        FindingsCollector { order, ..self }
    }

    /// Returns true if a report on this query has a heat map. If there are no hits, the map is empty.
    pub fn has_heat(&self) -> bool {
        self.finds_squares || self.orbit(&FindingsPart::default()).is_some_and(|orbit| orbit.heat.is_some())
    }

    /// Returns the number of hits of each transformed copy of the query, added up by transform and by place. Returns `None` if the
    /// query has no outermost transform.
    pub fn orbit(&self, part: &FindingsPart) -> Option<OrbitFindings> {
        let orbit = self.orbit.as_ref()?;
        let mut copies = part.copies.clone();
        copies.resize(orbit.copies.len(), 0);
        Some(OrbitFindings::new(orbit, &copies))
    }

    /// Returns the number of hits for which each square was in the query's value. Returns `None` if the value is not a set of
    /// squares.
    pub fn squares(&self, part: &FindingsPart) -> Option<HeatMap> {
        let mut counts = [0; 64];
        part.squares.iter().enumerate().for_each(|(at, count)| counts[at % 64] += count);
        self.finds_squares.then(|| HeatMap::from_squares(&counts))
    }

    /// Returns the counts of [`squares`](Self::squares) separately for squares with a white piece, with a black piece and without a
    /// piece. Returns nothing if only one of these kinds occurs.
    fn squares_by_color(&self, part: &FindingsPart) -> Vec<HeatMap> {
        let names = ["with a white piece", "with a black piece", "without a piece"];
        let of = |(counts, name): (&[u64], &str)| {
            let map = HeatMap::from_squares(counts.try_into().expect("64 squares of each kind"));
            HeatMap { label: format!("{}, those {name}", map.label), ..map }
        };
        let maps = part.squares.chunks_exact(64).zip(names).map(of);
        let maps: Vec<HeatMap> = maps.filter(|map| map.most() > 0).collect();
        if maps.len() > 1 { maps } else { Vec::new() }
    }

    /// Returns the complete content of a report.
    pub fn findings(&self, part: FindingsPart, about: &About) -> Findings {
        let (orbit, squares, squares_by_color) =
            (self.orbit(&part), self.squares(&part), self.squares_by_color(&part));
        let counts = part.counts.into_counts().into_iter().next();
        let all = counts.unwrap_or_else(|| self.stats.none());
        let total = all.total();
        let mut histograms = HISTOGRAMS.map(|(name, unit)| histogram(name, unit, &all)).to_vec();
        let other = if years(&histograms[0]) > YEARS_MAX { "year" } else { "decade" };
        let results = results(&all);
        histograms.retain(|histogram| histogram.rows.len() > 1 && histogram.name != other);
        let values = total.values.as_ref().filter(|values| values.count() > 0);
        let values = values.map(|values| ValueFindings {
            steps: steps(values, &total),
            groups: value_groups(&all, &total, &histograms),
        });
        // If there are no hits, or if every position is a hit, the shares carry no information.
        if total.hit.games == 0 || total.hit.positions == total.all.positions {
            histograms.clear();
        }
        let mut sample: Vec<SampleHit> = part.sample.map_or(Vec::new(), |sample| sample.list(0).collect());
        let mut games: Vec<ListedGame> = part.games.map_or(Vec::new(), |games| games.list(0).collect());
        let sources = without_folders(about.sources);
        let short: HashMap<&String, &String> = about.sources.iter().zip(&sources).rev().collect();
        let names = sample.iter_mut().map(|hit| &mut hit.source);
        for name in names.chain(games.iter_mut().map(|game| &mut game.source)) {
            if let Some(short) = short.get(name) {
                name.clone_from(short);
            }
        }
        let sample_note = sample_note(sample.len() as u64, total.hit.games, self.order);
        let first_line = about.query.lines().map(str::trim).find(|line| !line.is_empty());
        let title = about.title.or(first_line).unwrap_or_default();
        Findings {
            title: title.to_owned(),
            date: None,
            query: about.query.to_owned(),
            sentence: about.sentence.to_owned(),
            chosen: about.chosen.to_owned(),
            pattern: PatternBoard::from_filter(&self.base),
            engine: about.engine.to_owned(),
            sources,
            totals: hit_counts(&total),
            results,
            orbit,
            squares,
            squares_by_color,
            values,
            histograms,
            tables: Vec::new(),
            sample,
            sample_note,
            games,
            games_found: part.games_found,
            misses: None,
            command: String::new(),
            command_outputs: String::new(),
        }
    }

    fn sample(&self, found: &Found) -> TopGames<SampleHit> {
        let mut top = self.order.top(self.sample_max);
        for game in found.games_with_hits() {
            top.offer(self.order.rank(&game, found), game.number(), || game);
        }
        top.map(|game| {
            let hits = found.answers.hits.count_in(game.slots());
            let wanted = match self.order {
                // The number that selected the game is pseudo-random, so it can also select a hit in the game.
                Order::Sampled { seed } => chance(&game, seed) % hits.max(1),
                _ => found.answers.hits.count_in(game.first_slot()..self.slot(found, &game)),
            };
            let (mut index, mut out) = (0, SampleHit::default());
            found.rows(&game, Rows::Hits, |row| {
                if index == wanted {
                    out = self.sample_hit(found, row);
                }
                index += 1;
            });
            out
        })
    }

    /// Returns the slot (the index of a position in its block) of the hit that represents a game in the list. If the query computes
    /// its sort value at one of the hits, it is that hit.
    fn slot(&self, found: &Found, game: &GameRow) -> usize {
        let commentary = found.commentary_of(game).filter(|_| self.order == Order::ByQuery);
        let sorted = commentary.and_then(|told| {
            let mut sorts = told.sorts.iter().zip(&told.sorts_at).filter(|(value, _)| value.is_some());
            sorts.next().map(|(_, &node)| game.first_slot() + node as usize)
        });
        let is_hit = |slot: &usize| game.slots().contains(slot) && found.answers.hits.contains(*slot);
        sorted.filter(is_hit).unwrap_or_else(|| self.order.slot(&found.answers.hits, game))
    }

    fn sorts(&self, found: &Found, game: &GameRow) -> Vec<SortedBy> {
        if self.order != Order::ByQuery {
            return Vec::new();
        }
        let values = found.commentary_of(game).map_or(&[][..], |told| &told.sorts);
        let sorted = self.sorts.iter().zip(values).filter_map(|(name, value)| {
            let value = match value.as_ref()? {
                SortValue::Number(number) => number.to_string(),
                SortValue::Text(text) => shortened(&decode(text), TEXT_MAX),
            };
            Some(SortedBy { name: name.clone(), value })
        });
        let count = found.of_game(game).filter(|_| self.by_match_count);
        let count = count.map(|told| told.match_count.to_string());
        sorted.chain(count.map(|value| SortedBy { name: String::from("matchcount"), value })).collect()
    }

    /// Lists the found games of a block, except those that would certainly be after the end of the list.
    fn games(&self, found: &Found) -> TopGames<ListedGame> {
        let mut top = TopGames::new(GAMES_MAX);
        let end = lock(&self.end).clone();
        for game in found.games_found() {
            let rank = match self.order {
                // With a random sample, games are listed in database order.
                Order::Sampled { .. } => Rank::default(),
                order => order.rank(&game, found),
            };
            let place = (rank, game.number());
            if end.as_ref().is_none_or(|end| place < *end) {
                top.offer(place.0, place.1, || game);
            }
        }
        top.map(|game| ListedGame { sorts: self.sorts(found, &game), ..listed(game, found, self.spans) })
    }

    fn sample_hit(&self, found: &Found, row: &Row) -> SampleHit {
        let game = &row.game;
        let span = found.span(game, row.node).filter(|_| self.spans);
        // `initial find ...` matches at the start of the game. The sample shows the last position that `find` found instead,
        // because that position is more informative.
        let end = span.as_ref().filter(|span| span.kind == SpanKind::Find && row.ply == 0);
        let found_row = end.and_then(|span| span.nodes.last()).map(|&node| row.at(node));
        let (hit_node, row) = (row.node, found_row.as_ref().unwrap_or(row));
        let or_unknown = |text: Option<Cow<str>>| text.map_or(String::from("?"), Cow::into_owned);
        let moves = span.as_ref().map(|span| SpanMoves::shown(span, game));
        let copy = row.copy.filter(|_| self.orbit.is_some()).map(|copy| copy as usize);
        let [before, after] = moves_around(game, row.node, MOVES_AROUND[0], MOVES_AROUND[1]);
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
            san: row.san.clone(),
            fen: row.fen.clone(),
            is_flipped: found.side(game).is_black(),
            next: Some(row.next.clone()).filter(|next| !next.is_empty()),
            moves: SampleMoves { before, after },
            lit: SquareNames(self.lit(row, found)),
            span: moves.as_ref().map(|moves| SampleSpan {
                kind: moves.kind().name().to_owned(),
                moves: moves.text(SPAN_MOVES_MAX),
                length: span.as_ref().map_or(0, |span| span.length()),
                arrows: span.as_ref().map_or(Vec::new(), |span| {
                    SpanMoves::new(span, game).arrows(hit_node).into_iter().map(SquarePair).collect()
                }),
            }),
            url: row.url(),
            value: value_text(row.value),
            sorts: self.sorts(found, game),
            copy: copy.and_then(|copy| found.names.copies.get(copy)).map(|copy| shortened(copy, TEXT_MAX)),
        }
    }

    /// Returns the squares to highlight, on the board as it was in the game: the squares in the query's value, and those of pieces
    /// in the matching copy. For a query that compares positions with a board, they are the squares on which the two agree.
    fn lit(&self, row: &Row, found: &Found) -> Bitboard {
        let side = found.side(&row.game);
        if let Some(likeness) = &found.names.likeness {
            return likeness.difference(&row.position.board, side).right;
        }
        let found = if let Answer::Set(squares) = row.value { squares } else { Bitboard::EMPTY };
        let copy = row.copy.and_then(|copy| self.orbit.as_ref()?.copies.get(copy as usize));
        let filter = copy.map_or(&*self.base, |copy| &copy.filter);
        let board = row.position.board;
        match side {
            Color::White => found | orbit_transforms::matched(filter, &board),
            Color::Black => {
                found | orbit_transforms::matched(filter, &board.colors_swapped()).flip_vertical()
            }
        }
    }
}

impl Collector for FindingsCollector {
    type Part = FindingsPart;

    fn wants(&self) -> Wants {
        Wants::TAGS
            | Wants::VALUES
            | Wants::LOWEST_COPY
            | Wants::COPY_NAMES
            | self.stats.wants()
            | self.order.wants()
            | Wants::COMMENTARY.when(self.order == Order::ByQuery && !self.sorts.is_empty())
            | Wants::SPANS.when(self.spans)
    }

    fn look(&self, result: &BlockResult, _: &MemoryBudget) -> FindingsPart {
        let found = result.first();
        let mut copies = vec![0; self.orbit.as_ref().map_or(0, |orbit| orbit.copies.len())];
        match found.answers.hit_copies() {
            Some(of_hits) => copies.iter_mut().zip(of_hits.sums()).for_each(|(count, more)| *count += more),
            // There is only one copy, so it matches at each hit.
            None => copies.iter_mut().for_each(|count| *count += found.answers.hits.count()),
        }
        FindingsPart {
            copies,
            squares: squares(&found),
            counts: self.stats.count_many(&[found]),
            sample: Some(self.sample(&found)),
            games_found: found.games_found().count() as u64,
            games: Some(self.games(&found)),
        }
    }

    fn take(
        &self,
        sum: &mut FindingsPart,
        part: FindingsPart,
        _: &StreamedBlock,
        _: &mut GameTexts,
    ) -> Result<(), TakeError> {
        sum.merge(part)?;
        if let Some((rank, number)) = sum.games.as_ref().and_then(TopGames::end) {
            *lock(&self.end) = Some((rank.clone(), number));
        }
        Ok(())
    }

    fn could_make(&self, part: &FindingsPart) -> bool {
        let squares = if self.finds_squares { 3 * 64 } else { 0 };
        let copies = self.orbit.as_ref().map_or(0, |orbit| orbit.copies.len());
        let has_list = part.games.as_ref().is_none_or(|games| games.is_like(&TopGames::new(GAMES_MAX)));
        let fits = part.squares.len() <= squares && part.copies.len() <= copies;
        part.counts.are_of(&self.stats) && has_list && fits
    }
}

impl Part for FindingsPart {
    fn merge(&mut self, next: FindingsPart) -> Result<(), PartError> {
        self.copies.merge(next.copies)?;
        self.squares.merge(next.squares)?;
        self.counts.merge(next.counts)?;
        self.games_found.merge(next.games_found)?;
        merge_games(&mut self.sample, next.sample, "samples")?;
        merge_games(&mut self.games, next.games, "lists")
    }

    fn check(&self, most: u64) -> Result<(), &'static str> {
        self.copies.check(most)?;
        self.squares.check(most)?;
        self.games_found.check(most)?;
        Part::check(&self.counts, most)
    }
}

/// Adds the games of the next blocks.
pub(super) fn merge_games<T>(
    sum: &mut Option<TopGames<T>>,
    next: Option<TopGames<T>>,
    name: &'static str,
) -> Result<(), PartError> {
    match (&mut *sum, next) {
        (_, None) => {}
        (Some(games), Some(next)) if games.is_like(&next) => games.merge(next),
        (Some(_), Some(_)) => return Err(PartError::Differ(name)),
        (None, next) => *sum = next,
    }
    Ok(())
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

/// Counts how often each square is in the values of hits, separately for squares with a white piece, with a black piece and without
/// a piece. If a player is selected, the board is seen from the player's side. Returns an empty list if the values are not sets of
/// squares.
fn squares(found: &Found) -> Vec<u64> {
    let Values::Sets(sets) = &found.answers.hits.values else { return Vec::new() };
    let mut sums = vec![0; 3 * 64];
    for game in found.games_with_hits() {
        let (side, mut walk) = (found.side(&game), NodeWalk::from_game(&game));
        let first = game.first_slot();
        for slot in found.answers.hits.slots(first..game.end_slot()) {
            walk.to((slot - first) as u32);
            let board = walk.position().board;
            for square in Bitboard(sets[slot]) {
                // If the player has Black, the query treats the black pieces as White's.
                let kind = board.at(square).piece().map_or(2, |piece| usize::from(piece.color != side));
                let square = if side.is_white() { square } else { square.flip_vertical() };
                sums[64 * kind + square as usize] += 1;
            }
        }
    }
    sums
}

fn sample_note(shown: u64, games_hit: u64, order: Order) -> String {
    let [games, all] = [shown, games_hit].map(grouped);
    match (shown, games_hit, order) {
        (0, ..) => String::new(),
        (1, 1, _) => String::from("The game that hits, with one position of it."),
        (_, _, Order::Sampled { seed }) if shown == games_hit => {
            format!("All {games} games that hit, with one position of each, chosen at random (seed {seed}).")
        }
        (_, _, Order::Sampled { seed }) => format!(
            "{games} of the {all} games that hit, chosen at random (seed {seed}), with one position of each."
        ),
        (_, _, order) => {
            let by = if order == Order::ByQuery { "query" } else { "search" };
            let which = match shown == games_hit {
                true => format!("All {games} games that hit"),
                false => format!("The first {games} of the {all} games that hit"),
            };
            format!("{which}, in the order of the {by}, with one position of each.")
        }
    }
}

/// Returns the results of games with hits, and the number of games with each result.
fn results(all: &stats::Counts) -> Vec<ResultCount> {
    let rows = all.rows(&By::Result.into()).into_iter().filter(|row| row.hit.games > 0);
    rows.map(|row| ResultCount { result: row.keys[0].to_string(), games: row.hit.games }).collect()
}

/// Returns source names without the folders that all absolute paths share. Other names are returned unchanged.
pub fn without_folders(sources: &[String]) -> Vec<String> {
    let is_whole = |source: &&String| Path::new(source.as_str()).is_absolute();
    let mut folders = sources.iter().filter(is_whole).filter_map(|source| Path::new(source).parent());
    let first = folders.next().unwrap_or(Path::new(""));
    let common = folders.fold(first, |common, folder| {
        common.ancestors().find(|parent| folder.starts_with(parent)).unwrap_or(Path::new(""))
    });
    let short = |source: &String| match Path::new(source) {
        path if path.is_absolute() => path.strip_prefix(common).unwrap_or(path).display().to_string(),
        _ => source.clone(),
    };
    sources.iter().map(short).collect()
}

fn years(years: &Histogram) -> i64 {
    let known = || years.rows.iter().filter_map(|row| row.first);
    known().max().zip(known().min()).map_or(0, |(last, first)| last - first + 1)
}

fn hit_counts(row: &stats::GroupRow) -> HitCounts {
    HitCounts {
        games: row.all.games,
        games_hit: row.hit.games,
        positions: row.all.positions,
        positions_hit: row.hit.positions,
    }
}

/// Returns the share of positions whose value is in each bin.
fn steps(values: &Distribution, total: &stats::GroupRow) -> Histogram {
    let step = values.step_within(STEPS_MAX);
    let rows = values.bins(step).into_iter().map(|Bin { from, to, positions }| {
        let share = Share::new(positions, total.all.positions);
        HistogramRow {
            label: if step == 1 { from.to_string() } else { format!("{from} to {to}") },
            first: Some(from),
            last: Some(to),
            counts: HitCounts { positions_hit: positions, ..hit_counts(total) },
            share: share.map(|share| share.value),
            low: share.map(|share| share.low),
            high: share.map(|share| share.high),
        }
    });
    Histogram { name: String::from("value"), unit: Unit::Positions, rows: rows.collect() }
}

/// Returns summaries of the query's values: over all hits, and over the hits in each group of the displayed histograms.
fn value_groups(all: &stats::Counts, total: &stats::GroupRow, shown: &[Histogram]) -> Vec<ValueGroup> {
    let group = |grouping: &str, label: String, ends: Option<(i64, i64)>, row: &stats::GroupRow| {
        let values = row.values.as_ref()?;
        let (first, last) = ends.unzip();
        let (grouping, games) = (grouping.to_owned(), row.hit.games);
        let (summary, positions) = (values.summary()?, values.count());
        Some(ValueGroup { grouping, label, first, last, games, positions, summary })
    };
    let mut groups: Vec<ValueGroup> = group("", String::from("all"), None, total).into_iter().collect();
    for (name, _) in HISTOGRAMS {
        let short = name.split(':').next().unwrap_or(name);
        if !shown.iter().any(|histogram| histogram.name == short) {
            continue;
        }
        let grouping: Grouping = name.parse().expect("groupings of our own");
        groups.extend(all.rows(&grouping).iter().filter_map(|row| {
            let key = &row.keys[0];
            group(short, group_label(&grouping, key), group_ends(&grouping, key), row)
        }));
    }
    groups
}

/// Returns the first and the last number of a group, or `None` if the group is not a range of numbers.
fn group_ends(grouping: &Grouping, key: &GroupKey) -> Option<(i64, i64)> {
    let step = match grouping.first {
        By::Year => 1,
        By::Decade => 10,
        By::Elo(_, step) | By::Ply(step) => i64::from(step),
        _ => return None,
    };
    if let GroupKey::Number(first) = key { Some((*first, first + step - 1)) } else { None }
}

/// Returns the name of a group. The name of a range consists of its first and last number.
fn group_label(grouping: &Grouping, key: &GroupKey) -> String {
    match group_ends(grouping, key) {
        Some((first, last)) if first < last => format!("{first}-{last}"),
        _ => key.to_string(),
    }
}

fn histogram(name: &str, unit: Unit, all: &stats::Counts) -> Histogram {
    let grouping: Grouping = name.parse().expect("groupings of our own");
    let rows = all.rows(&grouping).into_iter().map(|row| {
        let share = if unit == Unit::Games { row.games() } else { row.positions() };
        let (first, last) = group_ends(&grouping, &row.keys[0]).unzip();
        HistogramRow {
            label: group_label(&grouping, &row.keys[0]),
            first,
            last,
            counts: hit_counts(&row),
            share: share.map(|share| share.value),
            low: share.map(|share| share.low),
            high: share.map(|share| share.high),
        }
    });
    Histogram { name: name.split(':').next().unwrap_or(name).to_owned(), unit, rows: rows.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn folders_of_this_machine_are_not_told() {
        for (sources, shown) in [
            (vec!["games/a.pgn".to_owned(), "-".to_owned()], vec!["games/a.pgn", "-"]),
            (vec!["/data/games/a.pgn".to_owned()], vec!["a.pgn"]),
            (
                vec!["/data/games/a.pgn".to_owned(), "b.pgn".to_owned(), "/data/old/c/a.pgn".to_owned()],
                vec!["games/a.pgn", "b.pgn", "old/c/a.pgn"],
            ),
            (vec![], vec![]),
        ] {
            assert_eq!(without_folders(&sources), shown);
        }
    }
}
