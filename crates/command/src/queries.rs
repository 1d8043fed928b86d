//! Reads several queries, one on each line.

use std::path::Path;

use orbit_core::diagnostic::Severity;
use orbit_engine::PreparedQuery;
use orbit_plan::PlanOptions;

use super::failure::Failure;
use super::query_text::{self, DialectArgs, QueryText};

/// One of several queries.
pub struct NamedQuery {
    /// The name of the query, which precedes a tab in the line. Without a name, it is the text of the query.
    pub name: String,
    /// The query as it is written.
    pub text: String,
    /// The query in all the forms that engines read.
    pub prepared: PreparedQuery,
}

/// Reads `name<TAB>query` or `query` from each line of a file; empty lines and lines that begin with `#` are skipped. If no file
/// is given, `text` is read in the same way.
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
