//! Implements `orbit convert`, which converts a CQL 5 position list to a CQL 6 query.

use std::path::PathBuf;

use orbit_core::diagnostic::{Diagnostic, Severity};
use orbit_query::Dialect;

use super::common::{Out, grouped};
use super::failure::{Exit, Failure};
use super::query_text::QueryText;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The CQL 6 query has the same hits as the list. A transform of the list becomes a transform of
CQL 6 if both make the same copies. Otherwise the copies are written out one by one, joined by
`or`, and a note on stderr says why: a shift of CQL 5 keeps squares at the edge of the board that
it moves away from, and CQL 6 has no `flipdiagonal`, no `flipoffdiagonal` and no diagonal shifts.

Examples:
  orbit convert '(position Nd4 kf3 :shift :flip :flipcolor)'
  orbit convert '(position Pc2 Rc1 :shiftvertical)'
  orbit scan \"$(orbit convert -f list.cql)\" games.pgn")]
pub(super) struct Args {
    /// The list, such as `(position Nd4 kf3 :shift)`.
    #[arg(required_unless_present_any = ["given", "file"], conflicts_with_all = ["given", "file"])]
    query: Option<String>,
    /// Take LIST as the list, whatever it begins with.
    #[arg(
        short = 'e',
        long = "query",
        value_name = "LIST",
        allow_hyphen_values = true,
        conflicts_with = "file"
    )]
    given: Option<String>,
    /// Read the list from a file.
    #[arg(short, long, value_name = "FILE.cql")]
    file: Option<PathBuf>,
    /// Write out at most N copies in all; a list that needs more is an error.
    #[arg(long, value_name = "N", default_value_t = 400)]
    copies: usize,
}

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    let given = args.given.as_deref().or(args.query.as_deref());
    let query = QueryText::alone(args.file.as_deref(), None, given)?;
    if !Dialect::may_be_cql5(&query.text) {
        return Err(Failure::Other(
            "only lists of CQL 5 are converted: write one that begins with `(position` or `(match (position`"
                .into(),
        ));
    }
    let parsed = orbit_query::parse_dialect(&query.text, Some(Dialect::Cql5))
        .map_err(|error| query.failure(&error))?;
    query.print_remarks(&parsed.remarks, Severity::Hint);
    let converted =
        orbit_transforms::to_cql6(&parsed.query, args.copies).map_err(|error| query.failure(&error))?;
    // The converted query may exceed the limits on length and nesting, so it is parsed as a check.
    if let Err(error) = orbit_query::parse_dialect(&converted.text, Some(Dialect::Cql6)) {
        let error = Diagnostic::error(
            parsed.query.body.span(),
            "the list becomes a query of CQL 6 that is too long or too deep",
            format!(
                "{} bytes, which cannot be read: {}",
                grouped(converted.text.len() as u64),
                error.message
            ),
        );
        return Err(query.failure(&error.help(
            "split the list: each copy counts attacks and lines by a sum over directions, and each `not` is a level",
        )));
    }
    let notes: Vec<Diagnostic> = converted
        .written_out
        .iter()
        .map(|list| {
            let copies = grouped(list.copies as u64);
            Diagnostic::note(list.span, format!("written out as {copies} copies"), list.reason.clone())
        })
        .collect();
    query.print_remarks(&notes, Severity::Note);
    let mut out = Out::new();
    out.line(converted.text)?;
    out.finish()?;
    Ok(Exit::Done)
}
