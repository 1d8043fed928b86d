//! CQL text to typed tree.
//!
//! The dialect is position-level CQL 6.2. The stages are [`lexer`](self), parser and a check that
//! variables are assigned before they are read; the result is a [`Query`], which knows nothing of
//! how it will be run.

mod assigned;
pub mod diagram;
mod filters;
mod game;
mod header;
mod lexer;
mod parser;
pub mod tree;
mod words;

pub use tree::{Node, Op, Query, Type};

use crate::diagnostic::{Diagnostic, Span};

/// A query that was understood.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The typed tree.
    pub query: Query,
    /// Warnings and notes, in order of appearance.
    pub remarks: Vec<Diagnostic>,
}

/// Reads a query, or a whole query file with its `cql(...)` header.
///
/// # Errors
///
/// The first thing that is wrong, with its place in the text. Parts of CQL that are not built yet
/// are errors that say so.
///
/// ```
/// let parsed = orbit_chess::query::parse("shift flip {Nd4 kf3}").unwrap();
/// assert!(parsed.remarks.is_empty());
/// ```
pub fn parse(text: &str) -> Result<Parsed, Diagnostic> {
    other_dialect(text)?;
    let header = header::find(text)?;
    let mut remarks = Vec::new();
    let (mut filters, blanked) = match &header {
        None => (Vec::new(), None),
        Some(header) => {
            let filters = header.filters(text, &mut remarks)?;
            // Blanks in place of the header keep every span of the body true.
            (filters, Some(" ".repeat(header.end) + &text[header.end..]))
        }
    };
    let parser = parser::Parser::new(blanked.as_deref().unwrap_or(text))?;
    let (mut query, more) = parser.program(std::mem::take(&mut filters))?;
    remarks.extend(more);
    parser::settle_letters(&mut query.body);
    assigned::check(&query)?;
    Ok(Parsed { query, remarks })
}

/// Recognises CQL 5 by its outer form.
fn other_dialect(text: &str) -> Result<(), Diagnostic> {
    let start = text.len() - text.trim_start().len();
    for word in ["position", "match"] {
        let rest = text[start..].strip_prefix('(').map(str::trim_start);
        if rest.is_some_and(|rest| {
            rest.strip_prefix(word).is_some_and(|after| !after.starts_with(|c: char| c.is_alphanumeric()))
        }) {
            return Err(Diagnostic::error(
                Span::new(start, start + 1),
                format!("`({word} ...)` is CQL 5, which is not supported yet"),
                "expected CQL 6.2",
            )
            .help("in CQL 6.2 a list of pieces is written in braces: `shift {Rc3 qg3}`"));
        }
    }
    Ok(())
}
