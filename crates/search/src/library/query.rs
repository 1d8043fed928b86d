//! Prepares queries for execution: parses them and expands their transforms into copies.

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use super::DatabaseError;
use crate::found::Names;
use crate::request::Request;
use crate::stats::ThemeLabel;
use crate::themes::{self, Theme};
use orbit_core::diagnostic::Diagnostic;
use orbit_engine::PreparedQuery;
use orbit_plan::PlanOptions;
use orbit_query::{Dialect, Parsed, Type, diagram};
use orbit_transforms::Filter;

/// A parsed query whose transforms are expanded into copies. It can run on any number of databases. Clones share the prepared
/// query.
///
/// ```
/// use orbit_search::Query;
///
/// let query = Query::parse("flipvertical {Ra8 kg8}")?;
/// assert_eq!(query.copies().len(), 2);
///
/// let fault = Query::parse("flip {Ra8 kg8").unwrap_err();
/// assert!(fault.to_string().contains("^"));
/// # Ok::<(), orbit_search::QueryError>(())
/// ```
#[derive(Clone)]
pub struct Query(Arc<QueryInner>);

struct QueryInner {
    text: String,
    prepared: PreparedQuery,
    remarks: Vec<Diagnostic>,
    names: OnceLock<Names>,
}

impl Query {
    /// Parses a query as CQL 6.2, or as CQL 5 if it is a position list.
    ///
    /// # Errors
    ///
    /// Fails if the query is invalid. The error shows the location.
    pub fn parse(text: &str) -> Result<Query, QueryError> {
        Query::prepare(text, orbit_query::parse(text))
    }

    /// Parses a query in the given dialect.
    ///
    /// # Errors
    ///
    /// Fails if the query is invalid. The error shows the location.
    pub fn parse_dialect(text: &str, dialect: Dialect) -> Result<Query, QueryError> {
        Query::prepare(text, orbit_query::parse_dialect(text, Some(dialect)))
    }

    /// Parses the queries in a request.
    ///
    /// # Errors
    ///
    /// Fails if a field of the request or a query is invalid. Errors in queries show the location.
    pub fn from_request(request: &Request) -> Result<Vec<Query>, DatabaseError> {
        let read = |text: String| {
            let query = Query::prepare(&text, orbit_query::parse_dialect(&text, request.dialect))?;
            Ok(if request.variations { query.with_variations() } else { query })
        };
        request.texts()?.into_iter().map(read).collect()
    }

    /// Returns a query that finds the pieces on a board, as `orbit scan --board` does. `board` is a FEN. A piece letter requires
    /// that piece on its square, `A` any white piece, `a` any black piece, and `_` an empty square; all other squares may be empty
    /// or occupied. `transforms` are CQL keywords, outermost first.
    ///
    /// # Errors
    ///
    /// Fails if the board is invalid. The error shows the location.
    ///
    /// ```
    /// use orbit_search::Query;
    ///
    /// let query = Query::board("8/8/8/8/3N4/5k2/8/8 b", &["shift", "flip"])?;
    /// assert_eq!(query.text(), "shift flip {btm kf3 Nd4}");
    /// # Ok::<(), orbit_search::QueryError>(())
    /// ```
    pub fn board(board: &str, transforms: &[&str]) -> Result<Query, QueryError> {
        let diagram = diagram::query(board, transforms);
        Query::parse(&diagram.map_err(|diagnostic| QueryError::new(board, diagnostic))?.text)
    }

    /// Returns the query of `orbit scan --similar`. Its value is the similarity of a position to the board in percent. If there are
    /// transforms, it is the greatest similarity to any transformed copy of the board.
    ///
    /// # Errors
    ///
    /// Fails if the board is invalid. The error shows the location.
    pub fn similar(board: &str, transforms: &[&str]) -> Result<Query, QueryError> {
        let diagram = diagram::similar(board, transforms);
        Query::parse(&diagram.map_err(|diagnostic| QueryError::new(board, diagnostic))?.text)
    }

    /// Returns the query of a built-in theme: see [`load_themes`](crate::load_themes).
    ///
    /// # Errors
    ///
    /// Fails if no theme has this name. The error suggests a similar one.
    ///
    /// ```
    /// use orbit_search::Query;
    ///
    /// assert!(Query::theme("greek-gift")?.text().contains("[x]ph7"));
    /// let fault = Query::theme("greek-gitf").unwrap_err();
    /// assert!(fault.to_string().contains("did you mean `greek-gift`?"));
    /// # Ok::<(), orbit_search::QueryError>(())
    /// ```
    pub fn theme(name: &str) -> Result<Query, QueryError> {
        Query::from_theme(&themes::named(name).map_err(|diagnostic| QueryError::new(name, diagnostic))?)
    }

    /// Returns the query of a theme.
    ///
    /// # Errors
    ///
    /// Fails if the query's transforms produce too many copies. The error shows the location.
    pub fn from_theme(theme: &Theme) -> Result<Query, QueryError> {
        Query::prepare(&theme.query, Ok(theme.parsed.clone()))
    }

    fn prepare(text: &str, parsed: Result<Parsed, Diagnostic>) -> Result<Query, QueryError> {
        let fault = |diagnostic| QueryError::new(text, diagnostic);
        let Parsed { query, mut remarks } = parsed.map_err(fault)?;
        let prepared = PreparedQuery::new(query, PlanOptions::default()).map_err(fault)?;
        remarks.extend(prepared.planner.warnings());
        let text = text.to_owned();
        Ok(Query(Arc::new(QueryInner { text, prepared, remarks, names: OnceLock::new() })))
    }

    /// Returns a copy of this query that also searches side lines (variations), as if its text contained `cql(variations)`. The
    /// database must keep side lines: see [`DatabaseOptions::variations`](super::DatabaseOptions::variations).
    #[must_use]
    pub fn with_variations(&self) -> Query {
        let QueryInner { text, prepared, remarks, .. } = &*self.0;
        let (text, remarks, mut prepared) = (text.clone(), remarks.clone(), prepared.clone());
        prepared.query.variations = true;
        Query(Arc::new(QueryInner { text, prepared, remarks, names: OnceLock::new() }))
    }

    /// Returns the text of the query as it was given.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Returns warnings and notes about the query. [`Diagnostic::render`] converts one to text.
    pub fn remarks(&self) -> &[Diagnostic] {
        &self.0.remarks
    }

    /// Returns whether the results for parts of a database add up to the result for the whole database. This is the case if the
    /// query carries no state from game to game and does not sort games. See [`Scan::blocks`](super::Scan::blocks).
    pub fn splits(&self) -> bool {
        let query = &self.0.prepared.query;
        !query.outlives_games() && query.sorts.is_empty() && !query.header.sort_match_count
    }

    /// Returns the type of the query's value, such as a condition, a set of squares or a number.
    pub fn value_type(&self) -> Type {
        self.0.prepared.query.body.ty()
    }

    /// Returns whether a hit can have a span of moves or several positions: see [`Scan::spans`](super::Scan::spans).
    pub fn has_spans(&self) -> bool {
        self.0.prepared.query.has_spans()
    }

    /// Returns the query's distinct copies, as CQL. These are produced by its outermost transform. A query without a transform has
    /// one copy, which is the query itself.
    pub fn copies(&self) -> &[String] {
        &self.names().copies
    }

    /// Returns a description of the transform of each copy, in the order of [`Query::copies`].
    pub fn transforms(&self) -> &[String] {
        &self.names().transforms
    }

    fn names(&self) -> &Names {
        self.0.names.get_or_init(|| Names::new(self.filter(), Vec::new()))
    }

    pub(crate) fn filter(&self) -> &Filter {
        self.0.prepared.planner.filter()
    }

    /// Returns the query in all forms that engines use.
    pub(crate) fn prepared(&self) -> &PreparedQuery {
        &self.0.prepared
    }
}

impl From<&Theme> for ThemeLabel {
    fn from(theme: &Theme) -> ThemeLabel {
        ThemeLabel {
            theme: theme.name.clone(),
            title: theme.title.clone(),
            group: theme.group.clone(),
            query: theme.query.trim().to_owned(),
        }
    }
}

/// Parses a query as [`Query::parse`] does.
impl FromStr for Query {
    type Err = QueryError;

    fn from_str(text: &str) -> Result<Query, QueryError> {
        Query::parse(text)
    }
}

/// Writes the text of the query as it was given.
impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}

impl fmt::Debug for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Query").field(&self.text()).finish()
    }
}

/// An error in a query. It is displayed over several lines, with the query and a mark at the location of the error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QueryError {
    text: String,
    diagnostic: Diagnostic,
}

impl QueryError {
    pub(super) fn new(text: &str, diagnostic: Diagnostic) -> QueryError {
        QueryError { text: text.to_owned(), diagnostic }
    }

    /// Returns the text that contains the error.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the message, location and remedy, without the text of the query.
    pub fn diagnostic(&self) -> &Diagnostic {
        &self.diagnostic
    }
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.diagnostic.render(&self.text, "query", false))
    }
}

impl std::error::Error for QueryError {}
