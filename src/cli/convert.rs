//! `orbit convert`.

use std::path::PathBuf;

use orbit_chess::diagnostic::Diagnostic;
use orbit_chess::orbit;
use orbit_chess::query::{self, Dialect};

use super::common::{Out, grouped};
use super::query_text::QueryText;
use super::{Exit, Failure};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Transforms stay transforms where those of CQL 6 make the same copies. Where squares at the edge
of the board stay behind, or CQL 6 has no such transform, the copies are written out, and a note
says so.

Examples:
  orbit convert '(position Nd4 kf3 :shift :flip :flipcolor)'
  orbit convert '(position Pc2 Rc1 :shiftvertical)'
  orbit scan \"$(orbit convert -f list.cql)\" games.pgn")]
pub(super) struct Args {
    /// The list.
    #[arg(required_unless_present = "file", conflicts_with = "file")]
    query: Option<String>,
    /// Read the list from a file.
    #[arg(short, long, value_name = "FILE.cql")]
    file: Option<PathBuf>,
    /// Write out so many copies at most.
    #[arg(long, value_name = "N", default_value_t = 400)]
    copies: usize,
}

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    let query = QueryText::alone(args.file.as_deref(), None, args.query.as_deref())?;
    if Dialect::of(&query.text) == Dialect::Cql6 {
        return Err(Failure::Other(
            "only lists of CQL 5 are converted, and this is none: such a list is `(position ...)` or \
             `(match (position ...))`"
                .into(),
        ));
    }
    let parsed = query::parse(&query.text).map_err(|error| query.failure(&error))?;
    query.print_remarks(&parsed.remarks, false);
    let converted = orbit::to_cql6(&parsed.query, args.copies).map_err(|error| query.failure(&error))?;
    // What is written must be read: queries have limits of length and depth.
    if let Err(error) = query::parse_dialect(&converted.text, Some(Dialect::Cql6)) {
        let error = Diagnostic::error(
            parsed.query.body.span(),
            "the list becomes too long or too deep a query of CQL 6",
            format!("its {} bytes are not read: {}", grouped(converted.text.len() as u64), error.message),
        );
        return Err(query.failure(&error.help(
            "attacks and lines are counted by sums over directions, in each copy, and `not` takes a level",
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
    query.print_remarks(&notes, true);
    let mut out = Out::new();
    out.line(converted.text)?;
    out.finish()?;
    Ok(Exit::Done)
}
