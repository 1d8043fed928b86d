//! Reads a list of queries, one per line.

use std::path::Path;

use orbit_core::diagnostic::Severity;
use orbit_engine::PreparedQuery;
use orbit_plan::PlanOptions;

use super::failure::Failure;
use super::query_text::{self, DialectArgs, QueryText};

/// One of several queries.
pub struct NamedQuery {
    /// The name of the query, which precedes a tab in the line, or the query text if there is no name.
    pub name: String,
    /// The text of the query.
    pub text: String,
    /// The query, prepared for all engines.
    pub prepared: PreparedQuery,
}

/// Reads `name<TAB>query` or `query` from each line of a file, or of `text` if no file is given. Empty lines and lines that begin
/// with `#` are skipped.
pub fn read(
    file: Option<&Path>,
    text: &str,
    dialect: DialectArgs,
    least: Severity,
) -> Result<Vec<NamedQuery>, Failure> {
    let (text, origin) = match file {
        Some(file) => (query_text::read(file)?, file.display().to_string()),
        None => (text.to_string(), "built in".into()),
    };
    let mut out = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, query) = line.split_once('\t').unwrap_or((line, line));
        let whole = QueryText::named(query, format!("{origin}, line {number}"));
        let parsed = whole.parse(dialect)?;
        whole.print_remarks(&parsed.remarks, least);
        let prepared = PreparedQuery::new(parsed.query, PlanOptions::default())
            .map_err(|error| whole.failure(&error))?;
        whole.print_remarks(&prepared.planner.warnings(), least);
        out.push(NamedQuery { name: name.trim().into(), text: query.trim().into(), prepared });
    }
    if out.is_empty() {
        return Err(Failure::Other(format!(
            "{origin} contains no query: write one a line, or a name, a tab and the query"
        )));
    }
    Ok(out)
}
