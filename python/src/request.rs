//! Requests: queries, which games and hits count, and what is wanted of them.

use std::ops::Range;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use orbit_chess::{
    Column, Condition, EngineChoice, Order, Player, PlayerName, Rows, Sample, Search, Session, SessionError,
    SortKey, TableColumns, Type,
};
use pyo3::prelude::*;

use crate::errors;
use crate::game::Hit;
use crate::query::Query;
use crate::stream::{Hits, Kind, Stream};
use crate::wait::{self, Running};

/// Positions that a report shows.
const SAMPLE_MAX: usize = 24;

/// Queries and choices of a request.
#[pyclass(frozen, module = "orbit_chess._native")]
#[derive(Clone)]
pub struct RequestOptions {
    queries: Vec<orbit_chess::Query>,
    conditions: Vec<Condition>,
    player: Option<Player>,
    first: bool,
    best: bool,
    engine: Option<EngineChoice>,
    verify: bool,
    limit: Option<u64>,
    order: Option<Order>,
    blocks: Option<Range<usize>>,
}

fn parsed<T: FromStr<Err: std::fmt::Display>>(text: &str) -> PyResult<T> {
    text.parse().map_err(errors::of_option)
}

#[pymethods]
impl RequestOptions {
    #[new]
    #[pyo3(signature = (
        queries, *, r#where, player, player_exact, side, rating, opponent, opponent_rating, first, best, engine, verify, limit, sort,
        reverse, sample, seed, blocks
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are the keywords of the caller")]
    fn new(
        queries: Vec<Query>,
        r#where: Vec<String>,
        player: Option<&str>,
        player_exact: Option<&str>,
        side: Option<&str>,
        rating: Option<&str>,
        opponent: Option<&str>,
        opponent_rating: Option<&str>,
        first: bool,
        best: bool,
        engine: Option<&str>,
        verify: bool,
        limit: Option<u64>,
        sort: Option<&str>,
        reverse: bool,
        sample: Option<u64>,
        seed: u64,
        blocks: Option<(usize, usize)>,
    ) -> PyResult<RequestOptions> {
        let queries: Vec<orbit_chess::Query> = queries.into_iter().map(|query| query.0).collect();
        let conditions = r#where.iter().map(|text| parsed(text)).collect::<PyResult<_>>()?;
        let of_player = [side, rating, opponent, opponent_rating].iter().any(Option::is_some);
        if player.is_some() && player_exact.is_some() {
            return Err(errors::of_option("`player` and `player_exact` name two players: give one"));
        }
        if player.is_none() && player_exact.is_none() && of_player {
            return Err(errors::of_option(
                "`side`, `rating`, `opponent` and `opponent_rating` say which games of a player count: give `player` or `player_exact` as well",
            ));
        }
        let side = side.map(parsed).transpose()?.unwrap_or_default();
        let name = player.map(parsed).transpose()?.or(player_exact.map(PlayerName::exact));
        let player = match name {
            None => None,
            Some(name) => Some(Player {
                name,
                side,
                ratings: rating.map(parsed).transpose()?,
                opponent: opponent.map(parsed).transpose()?,
                opponent_ratings: opponent_rating.map(parsed).transpose()?,
            }),
        };
        let order = match (sort, sample) {
            (None, None) => None,
            (Some(_), Some(_)) => {
                return Err(errors::of_option("`sort` and `sample` are two orders: give one"));
            }
            (Some(key), None) => Some(Order::Sorted { key: parsed::<SortKey>(key)?, reverse }),
            (None, Some(_)) => Some(Order::Sampled { seed }),
        };
        if first && best {
            return Err(errors::of_option("`first` and `best` choose different hits: give one"));
        }
        let ty = queries.first().map(orbit_chess::Query::value_type);
        let has_value = matches!(ty, Some(Type::Num | Type::Set | Type::Position) | None);
        let by_value = matches!(order, Some(Order::Sorted { key: SortKey::Value, .. }));
        if (best || by_value) && !has_value {
            let option = if best { "best" } else { "sort='value'" };
            return Err(errors::of_option(format!(
                "`{option}` needs a query whose value is a number or a set of squares, and this query has none: leave it \
                 out, or choose `first`"
            )));
        }
        let engine = engine.map(parsed).transpose()?;
        let limit = match (limit, sample) {
            (Some(limit), Some(sample)) => Some(limit.min(sample)),
            (limit, sample) => limit.or(sample),
        };
        let splits = queries.iter().all(orbit_chess::Query::splits) && limit.is_none() && order.is_none();
        if blocks.is_some() && !splits {
            return Err(errors::of_option(
                "a part of a database says nothing of all of it where a query keeps something from game to game or sorts games, \
                 or with `limit`, `sort` or `sample`: search the database as a whole",
            ));
        }
        let blocks = blocks.map(|(first, end)| first..end);
        Ok(RequestOptions { queries, conditions, player, first, best, engine, verify, limit, order, blocks })
    }
}

impl RequestOptions {
    fn search<'s>(&self, session: &'s Session, running: &'s Running) -> Search<'s> {
        let search = session.search_all(&self.queries).cancelled_by(&running.cancel);
        let search = search.progress(|progress| running.tell(progress));
        let search = self.conditions.iter().cloned().fold(search, Search::condition);
        let search = self.player.iter().cloned().fold(search, Search::player);
        let search = if self.first { search.first_of_game() } else { search };
        let search = if self.best { search.best_of_game() } else { search };
        let search = self.engine.into_iter().fold(search, Search::engine);
        let search = self.limit.into_iter().fold(search, Search::games_max);
        let search = if self.verify { search.verify(Sample::All) } else { search };
        let search = self.blocks.iter().cloned().fold(search, Search::blocks);
        self.order.into_iter().fold(search, |search, order| search.order(order, usize::MAX))
    }
}

/// A request to a session, to be made any number of times.
#[pyclass(frozen, module = "orbit_chess._native")]
pub struct Request {
    session: Arc<Session>,
    options: RequestOptions,
}

impl Request {
    pub fn new(session: Arc<Session>, options: RequestOptions) -> Request {
        Request { session, options }
    }

    fn run<T: Send>(
        &self,
        py: Python<'_>,
        progress: Option<&Bound<'_, PyAny>>,
        work: impl FnOnce(Search<'_>) -> Result<T, SessionError> + Send,
    ) -> PyResult<T> {
        let Request { session, options } = self;
        let made = wait::run(py, progress, |running| work(options.search(session, running)))?;
        made.map_err(errors::of_session)
    }
}

/// The columns that are wanted.
fn columns(only: Option<Vec<String>>, without: &[String]) -> PyResult<TableColumns> {
    let column = |name: &String| {
        let found = Column::ALL.into_iter().find(|column| column.name() == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = Column::ALL.iter().map(|column| column.name()).collect();
            errors::of_option(format!("there is no column `{name}`; there are {}", names.join(", ")))
        })
    };
    Ok(match only {
        Some(only) => TableColumns::Only(only.iter().map(column).collect::<PyResult<_>>()?),
        None if without.is_empty() => TableColumns::All,
        None => TableColumns::Without(without.iter().map(column).collect::<PyResult<_>>()?),
    })
}

#[pymethods]
impl Request {
    /// How many games and positions each query hits.
    #[pyo3(signature = (progress = None))]
    fn count(&self, py: Python<'_>, progress: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<(u64, u64)>> {
        let totals = self.run(py, progress, |search| search.count())?;
        Ok(totals.into_iter().map(|total| (total.games, total.positions)).collect())
    }

    /// All hits.
    #[pyo3(signature = (all_copies, spans, progress = None))]
    fn hits(
        &self,
        py: Python<'_>,
        all_copies: bool,
        spans: bool,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<Hit>> {
        let hits = self.run(py, progress, |search| {
            let search = if all_copies { search.all_copies() } else { search };
            if spans { search.spans().hits() } else { search.hits() }
        })?;
        Ok(hits.into_iter().map(Hit).collect())
    }

    /// The hits one after the other, while the search runs.
    fn stream_hits(&self, all_copies: bool, spans: bool) -> Hits {
        let (session, options) = (Arc::clone(&self.session), self.options.clone());
        Hits::begin(move |running, take| {
            let search = options.search(&session, running);
            let search = if all_copies { search.all_copies() } else { search };
            let search = if spans { search.spans() } else { search };
            search.for_each(take).map(drop)
        })
    }

    /// The hits as Arrow record batches: of `kind` `hits`, `games` or `positions`.
    #[pyo3(signature = (kind, columns = None, without = vec![]))]
    fn stream(
        &self,
        py: Python<'_>,
        kind: &str,
        columns: Option<Vec<String>>,
        without: Vec<String>,
    ) -> PyResult<Stream> {
        let kind = match kind {
            "hits" => Kind::Table(Rows::Hits),
            "games" => Kind::Table(Rows::Games),
            "positions" => Kind::Positions,
            other => {
                return Err(errors::of_option(format!("`{other}` are no rows: choose `hits` or `games`")));
            }
        };
        let columns = self::columns(columns, &without)?;
        let (session, options) = (Arc::clone(&self.session), self.options.clone());
        Stream::begin(py, move |running, start, take| {
            let search = options.search(&session, running);
            let table = match kind {
                Kind::Table(rows) => search.table(rows, &columns)?,
                Kind::Positions => search.positions()?,
            };
            start(table.schema());
            table.for_each(take).map(drop)
        })
    }

    /// Counts by groups, as JSON.
    #[pyo3(signature = (groupings, progress = None))]
    fn statistics(
        &self,
        py: Python<'_>,
        groupings: &str,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let copies = self.options.queries[0].copies();
        self.run(py, progress, |search| {
            let mut json = Vec::new();
            search.statistics(groupings)?.write_json(copies, &mut json)?;
            Ok(String::from_utf8_lossy(&json).into_owned())
        })
    }

    /// Writes the games that hit; tells how many.
    #[pyo3(signature = (path, progress = None))]
    fn pgn(&self, py: Python<'_>, path: PathBuf, progress: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
        if self.options.order.is_some() {
            return Err(errors::of_option(
                "`pgn` writes games in the order of the database: leave out `sort` and `sample`",
            ));
        }
        self.run(py, progress, |search| search.pgn(&path))
    }

    /// A report as HTML, and a heat map as SVG if there is one.
    #[pyo3(signature = (seed = 0, progress = None))]
    fn report(
        &self,
        py: Python<'_>,
        seed: u64,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(String, Option<String>)> {
        let findings = self.run(py, progress, |search| search.findings(SAMPLE_MAX, seed))?;
        Ok((findings.page(), findings.heat_map()))
    }

    /// The name of the engine that is to answer.
    fn engine(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.run(py, None, |search| search.engine_name())
    }
}
