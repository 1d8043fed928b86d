//! What is made of hits beside lists of them: counts, statistics, files.

use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use super::answer::Answer;
use super::ask::milliseconds;
use super::desk::Desk;
use super::fault::{Code, Fault};
use super::request::{Make, What};
use crate::report::HitTotals;
use crate::report::findings::NO_HEAT_MAP;
use crate::session::{Cancel, Progress, Query, Search, Session};

/// Positions that a report shows.
const SAMPLE_MAX: usize = 24;

impl Desk {
    /// Counts, groups or writes what queries hit; `watch` sees how far it has come.
    pub(super) fn make(
        &self,
        make: &Make,
        cancel: &Cancel,
        watch: &mut dyn FnMut(Progress),
    ) -> Result<Answer, Fault> {
        let begun = Instant::now();
        let session = self.session(&make.database)?;
        let queries = Query::of_request(&make.request).map_err(|error| Fault::of_session(error, ""))?;
        let text = queries.first().map_or("", Query::text);
        let fault = |error| Fault::of_session(error, text);
        let search =
            session.search_all(&queries).chosen_by(&make.request).map_err(|error| fault(error.into()))?;
        let search = search.cancelled_by(cancel).progress(watch);
        let mut fields = match &make.what {
            What::Count => {
                let counts = search.count().map_err(fault)?;
                let count =
                    |count: &HitTotals| json!({ "games_hit": count.games, "positions_hit": count.positions });
                json!({ "counts": counts.iter().map(count).collect::<Vec<Value>>() })
            }
            What::Statistics(groupings) => {
                let mut out = Vec::new();
                let counts = search.statistics(groupings).map_err(fault)?;
                let written = counts.write_json(queries[0].copies(), &mut out);
                written.map_err(|error| Fault::new(Code::Internal, error.to_string()))?;
                serde_json::from_slice(&out).map_err(|error| Fault::new(Code::Internal, error.to_string()))?
            }
            What::File(path) => write(&session, search, path, make.request.seed, text)?,
        };
        fields["ms"] = milliseconds(begun.elapsed()).into();
        Ok(Answer::of(fields))
    }
}

/// Writes the games that hit, a report or a heat map, as the name of the file says.
fn write(session: &Session, search: Search<'_>, path: &Path, seed: u64, text: &str) -> Result<Value, Fault> {
    let fault = |error| Fault::of_session(error, text);
    let name = path.to_string_lossy().to_ascii_lowercase();
    if name.ends_with(".pgn") || name.ends_with(".pgn.zst") {
        return Ok(json!({ "games": search.pgn(path).map_err(fault)? }));
    }
    let is_page = name.ends_with(".html");
    if !is_page && !name.ends_with(".svg") {
        let why = "`path` ends in .pgn (.zst may follow), .html or .svg: the rows of tables come with `query` and `hits`";
        return Err(Fault::new(Code::Request, why));
    }
    let findings = search.findings(SAMPLE_MAX, seed).map_err(fault)?;
    let picture = if is_page { Some(findings.page()) } else { findings.heat_map() };
    let picture = picture.ok_or_else(|| Fault::new(Code::Request, NO_HEAT_MAP))?;
    session.write_file(path, &picture).map_err(fault)?;
    Ok(json!({ "games": findings.totals.games_hit }))
}
