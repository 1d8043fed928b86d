//! Reads CQL text into a typed tree.
//!
//! There are two dialects: CQL 6.2, and the position lists of CQL 5 ([`Dialect`]). Each has its own lexer and parser. In CQL 6, a
//! check then finds variables that are read before they are assigned. The result is a [`TypedQuery`], which does not depend on the
//! dialect or on the engine that will run it.

#![deny(unsafe_code, missing_docs)]

mod alone;
pub mod answer;
mod arithmetic;
mod assigned;
mod chains;
mod comments;
mod cql5;
pub mod diagram;
mod dictionaries;
mod edges;
pub mod english;
mod filters;
mod functions;
mod game;
mod header;
mod hints;
mod letters;
mod lexer;
mod loops;
mod names;
mod necessary;
mod nodes;
mod notation;
mod parser;
mod patterns;
mod ranges;
mod reader;
mod repeats;
pub mod run;
mod similar;
mod slips;
mod state;
mod strings;
mod tags;
mod token;
pub mod tree;
mod valued;
mod variables;
mod vocabulary;
mod weaker;
pub mod words;

pub use necessary::necessary;
pub use tree::{Node, Type, TypedQuery};
pub use weaker::{Weaker, weaker};

use std::rc::Rc;

use orbit_core::diagnostic::{Diagnostic, Span};
use orbit_core::named::choices;

/// The result of reading a query.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The typed tree.
    pub query: TypedQuery,
    /// Warnings and notes, in the order in which they were found.
    pub remarks: Vec<Diagnostic>,
}

/// The dialects of CQL in which a query may be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// Lists such as `(position Rc3 qg3 :shift)`, alone or in `(match ...)`.
    Cql5,
    /// Filters such as `shift {Rc3 qg3}`.
    Cql6,
}

choices! { Dialect, "dialect",
    Dialect::Cql5 => "cql5", "";
    Dialect::Cql6 => "cql6", "";
}

impl Dialect {
    /// Determines the dialect of a text from its first words: `(position ...)` and `(match ...)` are CQL 5, everything else is
    /// CQL 6. A text such as `(position (Ra1) (kg8))` is CQL 5 if it is not valid in CQL 6. If the text goes on after the list, as
    /// in `(position ply) == currentposition`, it is CQL 6 if it is valid there.
    pub fn detect(text: &str) -> Dialect {
        let [is_cql5, is_cql6] = [cql5::parse, parse_cql6].map(|parse| move || parse(text).is_ok());
        let is_list = match cql5::outer_form(text) {
            Some(_) => !cql5::goes_on(text) || is_cql5() || !is_cql6(),
            None => cql5::may_be_list(text) && !is_cql6() && is_cql5(),
        };
        if is_list { Dialect::Cql5 } else { Dialect::Cql6 }
    }

    /// Returns whether a text begins like a CQL 5 list. It can be CQL 6 all the same: see [`Dialect::detect`].
    pub fn may_be_cql5(text: &str) -> bool {
        cql5::outer_form(text).is_some() || cql5::may_be_list(text)
    }
}

/// Reads a query, or a whole query file with its `cql(...)` header. [`Dialect::detect`] determines the dialect from the first
/// words.
///
/// # Errors
///
/// Returns the first error, with its location in the text. If the query uses a part of CQL that is not supported yet, the error
/// says so.
///
/// ```
/// let parsed = orbit_query::parse("shift flip {Nd4 kf3}").unwrap();
/// assert!(parsed.remarks.is_empty());
/// let parsed = orbit_query::parse("(position Nd4 kf3 :shift :flip)").unwrap();
/// assert!(parsed.remarks.is_empty());
/// ```
pub fn parse(text: &str) -> Result<Parsed, Diagnostic> {
    parse_dialect(text, None)
}

/// Reads a query in a given dialect. If `dialect` is `None`, [`Dialect::detect`] determines the dialect from the first words.
///
/// # Errors
///
/// Fails like [`parse`], and also if the text is written in the other dialect.
pub fn parse_dialect(text: &str, dialect: Option<Dialect>) -> Result<Parsed, Diagnostic> {
    match (dialect.unwrap_or_else(|| Dialect::detect(text)), cql5::outer_form(text)) {
        (Dialect::Cql5, _) => cql5::parse(text),
        (Dialect::Cql6, None) => parse_cql6(text),
        (Dialect::Cql6, Some((start, word))) => parse_cql6(text).map_err(|_| {
            Diagnostic::error(
                Span::new(start, start + 1),
                format!("`({word} ...)` is CQL 5"),
                "expected CQL 6, as was asked for",
            )
            .help("leave out `--dialect cql6`, or write CQL 6: `orbit convert` does")
        }),
    }
}

/// Returns the byte offset at which the filters of a query file begin: after its `cql(...)` header, or 0 if it has none.
///
/// # Errors
///
/// Fails if the header is not closed.
pub fn body_start(text: &str) -> Result<usize, Diagnostic> {
    Ok(header::find(text)?.map_or(0, |header| header.end))
}

fn parse_cql6(text: &str) -> Result<Parsed, Diagnostic> {
    let header = header::find(text)?;
    let mut remarks = Vec::new();
    let (asked, blanked) = match &header {
        None => (header::HeaderRequest::default(), None),
        Some(header) => {
            let asked = header.read(text, &mut remarks)?;
            // The header is replaced with blanks, so that spans in the body remain valid for the whole text.
            (asked, Some(" ".repeat(header.end) + &text[header.end..]))
        }
    };
    let body = blanked.as_deref().unwrap_or(text);
    let (mut query, more) =
        read(body, &asked).map_err(|fault| notation::meant(body, &fault).unwrap_or(fault))?;
    query.variations = asked.variations;
    query.header = asked.header;
    remarks.extend(more);
    query.keeps_state = assigned::check(&query).err();
    query.reads_earlier = !assigned::assigns_first(&query);
    other_meanings(&query.body, text, &mut remarks);
    if remarks.is_empty() {
        remarks.extend(hints::of(&query.body, text));
    }
    Ok(Parsed { query, remarks })
}

/// The maximum number of times that a text is parsed. It is parsed again if the parser assumed the wrong type for a dictionary that
/// the query reads before it writes to it.
const READINGS_MAX: u32 = 64;

/// Reads the filters of a text.
fn read(text: &str, asked: &header::HeaderRequest) -> Result<(TypedQuery, Vec<Diagnostic>), Diagnostic> {
    let tokens: Rc<[token::Token]> = lexer::lex(text)?.into();
    let mut foreseen: Vec<state::Foreseen> = Vec::new();
    let mut first_fault = None;
    for _ in 0..READINGS_MAX {
        let mut parser = parser::Parser::new(text, Rc::clone(&tokens));
        parser.state.foreseen.clone_from(&foreseen);
        parser.state.variations = asked.variations;
        let query = parser.program(asked.filters.clone());
        let found = std::mem::take(&mut parser.state.foreseen);
        let learned = found != foreseen && found.iter().any(|one| one.certain);
        foreseen = found;
        match query {
            Ok(query) if !learned => {
                parser.state.foreseen = foreseen;
                return parser.refuse_unwritten(&query.body).map(|()| (query, parser.remarks));
            }
            Ok(_) => {}
            Err(fault) => {
                let supposed = foreseen.iter_mut().rev().find(|one| !one.certain);
                if !learned && !supposed.is_some_and(state::Foreseen::advance) {
                    return Err(first_fault.unwrap_or(fault));
                }
                first_fault.get_or_insert(fault);
            }
        }
    }
    Err(first_fault.unwrap_or_else(|| {
        Diagnostic::error(
            Span::new(0, 0),
            "too many dictionaries of unknown types",
            "put values in before they are read",
        )
    }))
}

/// Adds notes about signs that have a different meaning in CQL 5.
fn other_meanings(body: &Node, text: &str, remarks: &mut Vec<Diagnostic>) {
    for (sign, side) in [('△', "white"), ('▲', "black")] {
        let mut first = None;
        body.walk(&mut |node| {
            let span = *node.mark();
            let is_sign = matches!(node, tree::Ref::Squares(f) if matches!(f.op(), parser::S::Designator { .. }))
                && text.get(span.start..span.end).is_some_and(|text| text.contains(sign));
            first = first.or(is_sign.then_some(span));
        });
        if let Some(span) = first {
            remarks.push(Diagnostic::note(
                span,
                format!("`{sign}` is any {side} piece in CQL 6"),
                format!("in CQL 5 it is {side} queens and rooks"),
            ));
        }
    }
}
