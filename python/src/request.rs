//! The native class `Request`: parses the options that Python passes as JSON, runs the search, and returns or writes its results.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use orbit_chess::stats::ThemeLabel;
use orbit_chess::{Column, Database, DatabaseError, Rows, Scan, TableColumns};
use orbit_core::diagnostic::nearest;
use orbit_search::report::findings::SAMPLE_MAX;
use orbit_search::request::read_fields;
use pyo3::prelude::*;
use serde_json::{Map, Value};

use crate::errors;
use crate::game::Hit;
use crate::query::Query;
use crate::stream::{Hits, Kind, Stream};
use crate::wait::{self, Running};

/// The queries and options of a request.
#[pyclass(frozen, module = "orbit_chess._native")]
#[derive(Clone)]
pub struct RequestOptions {
    queries: Vec<orbit_chess::Query>,
    choices: orbit_chess::Request,
    /// True if `limit` or `sample` is 0.
    lists_none: bool,
    blocks: Option<Range<usize>>,
}

/// The request fields that are not search options.
const OTHERS: [&str; 9] =
    ["query", "theme", "board", "similar", "transforms", "dialect", "schema", "count", "columns"];

/// Returns an error if a name is not an option.
fn refuse_unknown(fields: &Map<String, Value>) -> PyResult<()> {
    let all = serde_json::to_value(orbit_chess::Request::default()).map_err(errors::of_option)?;
    let all = all.as_object().into_iter().flat_map(Map::keys).map(String::as_str);
    // `as` is a keyword of Python.
    let named =
        all.filter(|name| !OTHERS.contains(name)).map(|name| if name == "as" { "side" } else { name });
    let names: Vec<&str> = named.collect();
    match fields.keys().find(|name| !names.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => Err(errors::of_option(match nearest(name, names.iter()) {
            Some(near) => format!("there is no option `{name}`; did you mean `{near}`?"),
            None => format!("there is no option `{name}`"),
        })),
    }
}

#[pymethods]
impl RequestOptions {
    /// `choices` is JSON: an object with the fields of `docs/serve.md`.
    #[new]
    #[pyo3(signature = (queries, choices, blocks = None))]
    fn new(queries: Vec<Query>, choices: &str, blocks: Option<(usize, usize)>) -> PyResult<RequestOptions> {
        let queries: Vec<orbit_chess::Query> = queries.into_iter().map(|query| query.0).collect();
        // The JSON is parsed in two steps, so that no error refers to a place in text that the user did not write.
        let mut fields: Map<String, Value> = serde_json::from_str(choices).map_err(errors::of_option)?;
        refuse_unknown(&fields)?;
        let lists_none = ["limit", "sample"].iter().any(|name| fields.get(*name) == Some(&0.into()));
        fields.retain(|name, _| !lists_none || !["limit", "sample"].contains(&name.as_str()));
        let choices: orbit_chess::Request = read_fields(fields, &[]).map_err(errors::of_request)?;
        let chosen = choices.check().map_err(errors::of_request)?;
        for query in &queries {
            chosen.check_query(query.value_type(), query.has_spans()).map_err(errors::of_request)?;
        }
        let splits = queries.iter().all(orbit_chess::Query::splits) && choices.splits();
        if blocks.is_some() && !splits {
            return Err(errors::of_option(
                "a part of a database says nothing of all of it where a query keeps something from game to game or sorts games, \
                 or with `limit`, `skip`, `sort`, `sample` or `unique`: search the database as a whole",
            ));
        }
        let blocks = blocks.map(|(first, end)| first..end);
        Ok(RequestOptions { queries, choices, lists_none, blocks })
    }
}

impl RequestOptions {
    fn scan<'s>(&self, database: &'s Database, running: &'s Running) -> Result<Scan<'s>, DatabaseError> {
        let scan = database.scan_all(&self.queries).cancel_token(&running.cancel);
        let scan = scan.progress(|progress| running.tell(progress)).chosen_by(&self.choices)?;
        let scan = if self.lists_none { scan.limit_games(0) } else { scan };
        Ok(self.blocks.iter().cloned().fold(scan, Scan::blocks))
    }
}

/// A request to a database, which can be run any number of times.
#[pyclass(frozen, module = "orbit_chess._native")]
pub struct Request {
    database: Arc<Database>,
    options: RequestOptions,
}

impl Request {
    pub fn new(database: Arc<Database>, options: RequestOptions) -> Request {
        Request { database, options }
    }

    fn run<T: Send>(
        &self,
        py: Python<'_>,
        progress: Option<&Bound<'_, PyAny>>,
        work: impl FnOnce(Scan<'_>) -> Result<T, DatabaseError> + Send,
    ) -> PyResult<T> {
        let Request { database, options } = self;
        let made = wait::run(py, progress, |running| work(options.scan(database, running)?))?;
        let made = made.map_err(errors::of_database)?;
        errors::warn(py, database)?;
        Ok(made)
    }
}

/// Returns the columns in `only` or, if it is `None`, all columns except those in `without`.
fn columns(only: Option<Vec<String>>, without: &[String]) -> PyResult<TableColumns> {
    let column = |name: &String| name.parse::<Column>().map_err(errors::of_option);
    Ok(match only {
        Some(only) => TableColumns::Only(only.iter().map(column).collect::<PyResult<_>>()?),
        None if without.is_empty() => TableColumns::All,
        None => TableColumns::Without(without.iter().map(column).collect::<PyResult<_>>()?),
    })
}

#[pymethods]
impl Request {
    /// Counts the games and positions at which each query matches.
    #[pyo3(signature = (progress = None))]
    fn count(&self, py: Python<'_>, progress: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<(u64, u64)>> {
        let totals = self.run(py, progress, |scan| scan.count())?;
        Ok(totals.into_iter().map(|total| (total.games, total.positions)).collect())
    }

    /// Returns all hits.
    #[pyo3(signature = (all_copies, spans, progress = None))]
    fn hits(
        &self,
        py: Python<'_>,
        all_copies: bool,
        spans: bool,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<Hit>> {
        let hits = self.run(py, progress, |scan| {
            let scan = if all_copies { scan.all_copies() } else { scan };
            if spans { scan.spans().hits() } else { scan.hits() }
        })?;
        Ok(hits.into_iter().map(Hit).collect())
    }

    /// Returns the hits one by one, while the search runs.
    fn stream_hits(&self, all_copies: bool, spans: bool) -> Hits {
        let (database, options) = (Arc::clone(&self.database), self.options.clone());
        Hits::begin(Arc::clone(&database), move |running, take| {
            let scan = options.scan(&database, running)?;
            let scan = if all_copies { scan.all_copies() } else { scan };
            let scan = if spans { scan.spans() } else { scan };
            scan.for_each(take).map(drop)
        })
    }

    /// Returns the hits as Arrow record batches, one row per hit, game or position. `kind` is `hits`, `games` or `positions`.
    #[pyo3(signature = (kind, columns = None, without = vec![]))]
    fn stream(
        &self,
        py: Python<'_>,
        kind: &str,
        columns: Option<Vec<String>>,
        without: Vec<String>,
    ) -> PyResult<Stream> {
        let kind = match kind {
            "positions" => Kind::Positions,
            rows => Kind::Table(rows.parse::<Rows>().map_err(errors::of_option)?),
        };
        let columns = self::columns(columns, &without)?;
        let (database, options) = (Arc::clone(&self.database), self.options.clone());
        Stream::begin(py, move |running, start, take| {
            let scan = options.scan(&database, running)?;
            let table = match kind {
                Kind::Table(rows) => scan.table(rows, &columns)?,
                Kind::Positions => scan.positions()?,
            };
            start(table.schema());
            table.for_each(take).map(drop)
        })
    }

    /// Returns counts by groups, as JSON.
    #[pyo3(signature = (groupings, progress = None))]
    fn statistics(
        &self,
        py: Python<'_>,
        groupings: &str,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let copies = self.options.queries[0].copies();
        self.run(py, progress, |scan| {
            let mut json = Vec::new();
            scan.statistics(groupings)?.write_json(copies, &mut json)?;
            Ok(String::from_utf8_lossy(&json).into_owned())
        })
    }

    /// Returns the counts of each query, in total and by groups, as JSON. `names` contains the name, title and group of each
    /// query.
    #[pyo3(signature = (names, by = None, progress = None))]
    fn matrix(
        &self,
        py: Python<'_>,
        names: Vec<(String, String, String)>,
        by: Option<&str>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let label = |((theme, title, group), query): (_, &orbit_chess::Query)| {
            let query = query.text().trim().to_owned();
            ThemeLabel { theme, title, group, query }
        };
        let labels: Vec<ThemeLabel> = names.into_iter().zip(&self.options.queries).map(label).collect();
        self.run(py, progress, |scan| {
            Ok(serde_json::to_string(&scan.matrix(labels, by)?).map_err(std::io::Error::from)?)
        })
    }

    /// Writes the games with hits to a file as PGN. Returns the number of games.
    #[pyo3(signature = (path, progress = None))]
    fn pgn(&self, py: Python<'_>, path: PathBuf, progress: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
        self.run(py, progress, |scan| scan.pgn(&path))
    }

    /// Returns a report as HTML.
    #[pyo3(signature = (seed = 0, title = None, progress = None))]
    fn report(
        &self,
        py: Python<'_>,
        seed: u64,
        title: Option<String>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let mut findings = self.run(py, progress, |scan| scan.findings(SAMPLE_MAX, seed))?;
        findings.title = title.unwrap_or(findings.title);
        Ok(findings.page())
    }

    /// Returns the heat map as SVG, if there is one.
    #[pyo3(signature = (progress = None))]
    fn heat(&self, py: Python<'_>, progress: Option<&Bound<'_, PyAny>>) -> PyResult<Option<String>> {
        Ok(self.run(py, progress, |scan| scan.heat())?.heat_map())
    }

    /// Warns about the files that streams of this request could not read completely.
    fn warn(&self, py: Python<'_>) -> PyResult<()> {
        errors::warn(py, &self.database)
    }

    /// Returns the name of the engine that would run the request.
    fn engine(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.run(py, None, |scan| scan.engine_name())
    }
}
