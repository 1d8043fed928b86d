//! Queries and themes for Python.

use std::path::PathBuf;

use orbit_chess::Dialect;
use pyo3::prelude::*;

use crate::errors;

/// A parsed query, which can be run on any number of databases.
#[pyclass(frozen, module = "orbit_chess", from_py_object)]
#[derive(Clone)]
pub struct Query(pub orbit_chess::Query);

#[pymethods]
impl Query {
    #[new]
    #[pyo3(signature = (text, *, variations = false, dialect = None))]
    fn new(py: Python<'_>, text: &str, variations: bool, dialect: Option<&str>) -> PyResult<Query> {
        let dialect = dialect.map(str::parse::<Dialect>).transpose().map_err(errors::of_option)?;
        let read = || match dialect {
            Some(dialect) => orbit_chess::Query::parse_dialect(text, dialect),
            None => orbit_chess::Query::parse(text),
        };
        let query = py.detach(read).map_err(|error| errors::of_query(&error))?;
        Ok(Query(if variations { query.with_variations() } else { query }))
    }

    /// Creates a query that finds the pieces on a board.
    #[staticmethod]
    fn board(board: &str, transforms: Vec<String>) -> PyResult<Query> {
        let transforms: Vec<&str> = transforms.iter().map(String::as_str).collect();
        orbit_chess::Query::board(board, &transforms).map(Query).map_err(|error| errors::of_query(&error))
    }

    /// Creates a query that computes a position's similarity to a board, in percent.
    #[staticmethod]
    fn similar(board: &str, transforms: Vec<String>) -> PyResult<Query> {
        let transforms: Vec<&str> = transforms.iter().map(String::as_str).collect();
        orbit_chess::Query::similar(board, &transforms).map(Query).map_err(|error| errors::of_query(&error))
    }

    /// Creates the query for a position that the option `at` describes. Castling rights and the en passant square are also
    /// compared.
    #[staticmethod]
    fn at(position: &str) -> PyResult<Query> {
        let asked = orbit_chess::Request { at: Some(position.to_owned()), ..Default::default() };
        let mut queries = orbit_chess::Query::from_request(&asked).map_err(errors::of_database)?;
        Ok(Query(queries.remove(0)))
    }

    /// Creates the query of a built-in theme.
    #[staticmethod]
    fn theme(name: &str) -> PyResult<Query> {
        orbit_chess::Query::theme(name).map(Query).map_err(|error| errors::of_query(&error))
    }

    /// Returns a copy of the query that also searches side lines.
    fn with_variations(&self) -> Query {
        Query(self.0.with_variations())
    }

    #[getter]
    fn text(&self) -> &str {
        self.0.text()
    }

    #[getter]
    fn r#type(&self) -> &'static str {
        self.0.value_type().name()
    }

    #[getter]
    fn copies(&self) -> Vec<String> {
        self.0.copies().to_vec()
    }

    #[getter]
    fn transforms(&self) -> Vec<String> {
        self.0.transforms().to_vec()
    }

    #[getter]
    fn remarks(&self) -> Vec<String> {
        let render = |remark: &orbit_chess::Diagnostic| remark.render(self.0.text(), "query", false);
        self.0.remarks().iter().map(|remark| render(remark).trim_end().to_owned()).collect()
    }

    fn __repr__(&self) -> String {
        format!("Query({:?})", self.0.text())
    }
}

/// The name, title, group, query and description of a theme.
type ThemeRow = (String, String, String, String, String);

/// Returns the name, title, group, query and description of each theme in a file or in the catalogue. If names or groups are
/// given, only these themes are returned.
#[pyfunction]
#[pyo3(signature = (path, only = vec![], group = vec![]))]
pub fn load_themes(path: PathBuf, only: Vec<String>, group: Vec<String>) -> PyResult<Vec<ThemeRow>> {
    let themes = orbit_chess::load_themes(&path).map_err(errors::of_option)?;
    let themes = orbit_search::themes::choose(themes, &only, &group).map_err(errors::of_option)?;
    let row =
        |theme: orbit_chess::Theme| (theme.name, theme.title, theme.group, theme.query, theme.description);
    Ok(themes.into_iter().map(row).collect())
}
