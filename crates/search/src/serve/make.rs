//! Answers the requests `batch`, `count`, `statistics` and `write`, which compute results from hits.

use std::path::Path;
use std::sync::OnceLock;
use std::time::Instant;

use serde_json::{Value, json};

use super::answer::Response;
use super::ask::{milliseconds, tell_engine};
use super::desk::OpenDatabases;
use super::fault::{ErrorCode, Fault};
use super::folder::refuse_pipes;
use super::request::{Batch, Make, What, is_page, is_picture};
use crate::library::{CancelToken, Database, DatabaseError, Progress, Query, Scan};
use crate::report::findings::{NO_HEAT_MAP, SAMPLE_MAX};
use crate::report::{HitTotals, grouped};
use crate::request::{Request, RequestError};
use crate::stats::{ThemeLabel, ThemeMatrix};
use crate::themes::{self, Theme};
use orbit_engine::{EngineError, EngineInfo};

/// The maximum number of rows in the response to `batch`: one row for each combination of theme and group.
const BATCH_ROWS_MAX: usize = 100_000;

impl OpenDatabases {
    /// Counts, groups or writes the hits of queries. `watch` is called with progress updates.
    ///
    /// # Errors
    ///
    /// Fails if the request or a query has an error, there is no such database, the file cannot be written, or the request was
    /// cancelled.
    pub fn make(
        &self,
        make: &Make,
        cancel: &CancelToken,
        watch: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<Response, Fault> {
        let begun = Instant::now();
        let database = self.database(&make.database)?;
        let (themes, queries) = match &make.what {
            What::Batch(batch) => self.themes(batch, &make.request)?,
            _ => (
                Vec::new(),
                Query::from_request(&make.request).map_err(|error| Fault::from_database(error, ""))?,
            ),
        };
        let fault = |error: DatabaseError| {
            let query = match &error {
                DatabaseError::Engine(EngineError::Query { query, .. }) => *query,
                _ => 0,
            };
            Fault::from_database(error, queries.get(query).map_or("", Query::text))
        };
        let scan =
            database.scan_all(&queries).chosen_by(&make.request).map_err(|error| fault(error.into()))?;
        let ran = OnceLock::new();
        let scan = scan.cancel_token(cancel).progress(watch).in_turn(self.turns()).tells_engine(&ran);
        let mut fields = match &make.what {
            What::Count => {
                let counts = scan.count().map_err(fault)?;
                let count =
                    |count: &HitTotals| json!({ "games_hit": count.games, "positions_hit": count.positions });
                json!({ "counts": counts.iter().map(count).collect::<Vec<Value>>() })
            }
            What::Statistics(groupings) => {
                let mut out = Vec::new();
                let counts = scan.statistics(groupings).map_err(fault)?;
                let written = counts.write_json(queries[0].copies(), &mut out);
                written.map_err(|error| Fault::new(ErrorCode::Internal, error.to_string()))?;
                serde_json::from_slice(&out)
                    .map_err(|error| Fault::new(ErrorCode::Internal, error.to_string()))?
            }
            What::Batch(Batch { by, .. }) => {
                let matrix = scan.matrix(themes, by.as_deref()).map_err(fault)?;
                if matrix.rows() > BATCH_ROWS_MAX {
                    return Err(Fault::new(ErrorCode::Request, too_many_rows(&matrix)));
                }
                serde_json::to_value(&matrix)
                    .map_err(|error| Fault::new(ErrorCode::Internal, error.to_string()))?
            }
            What::File { path, title } => {
                self.check_written(path)?;
                refuse_pipes(path, "name a file")?;
                let _written = self.reserve(path).map_err(|clash| fault(clash.into()))?;
                write(&database, scan, (path, title.as_deref()), &make.request).map_err(fault)?
            }
        };
        fields["ms"] = milliseconds(begun.elapsed()).into();
        let mut answer = Response::from_value(fields);
        let ran: Option<EngineInfo> = ran.into_inner();
        ran.into_iter().for_each(|info| tell_engine(&mut answer, info.name, info.card));
        Ok(answer)
    }

    /// Returns the names and the queries of the themes in a `batch` request.
    fn themes(&self, batch: &Batch, request: &Request) -> Result<(Vec<ThemeLabel>, Vec<Query>), Fault> {
        let wrong = |why: String| Fault::new(ErrorCode::Request, why);
        let check = |path: &Path| match path.metadata() {
            Ok(found) if !found.is_file() => Err("it is a folder, a pipe or a device".to_owned()),
            _ => self.check_read(path).map_err(|fault| fault.message),
        };
        let all = themes::load_allowed(&batch.themes, &check).map_err(|error| wrong(error.to_string()))?;
        let themes =
            themes::choose(all, &batch.only, &batch.group).map_err(|error| wrong(error.to_string()))?;
        let query = |theme: &Theme| match Query::from_theme(theme) {
            Ok(query) if request.variations => Ok(query.with_variations()),
            Ok(query) => Ok(query),
            Err(error) => Err(wrong(theme.fault(error.diagnostic()).to_string())),
        };
        let queries = themes.iter().map(query).collect::<Result<_, _>>()?;
        Ok((themes.iter().map(ThemeLabel::from).collect(), queries))
    }
}

fn too_many_rows(matrix: &ThemeMatrix) -> String {
    let (rows, themes) = (grouped(matrix.rows() as u64), matrix.labels().len());
    let most = grouped(BATCH_ROWS_MAX as u64);
    format!(
        "{themes} themes in these groups have {rows} rows, and at most {most} are sent: choose fewer themes or wider groups"
    )
}

/// Writes a PGN file, a report or a heat map, depending on the file extension. A report can have a title.
fn write(
    database: &Database,
    scan: Scan<'_>,
    (path, title): (&Path, Option<&str>),
    request: &Request,
) -> Result<Value, DatabaseError> {
    if !is_picture(path) {
        return Ok(json!({ "games": scan.pgn(path)? }));
    }
    let mut findings = if is_page(path) { scan.findings(SAMPLE_MAX, request.seed)? } else { scan.heat()? };
    findings.command = request.command_line(&findings.sources).unwrap_or_default();
    findings.title = title.map_or(findings.title, str::to_owned);
    let picture = if is_page(path) { Some(findings.page()) } else { findings.heat_map() };
    database.write_file(path, &picture.ok_or(RequestError::new(NO_HEAT_MAP))?)?;
    Ok(json!({ "games": findings.totals.games_hit }))
}
