//! Games and hits that can be kept.

use orbit_chess::{Answer, Bitboard, GameRef};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A game of a database.
#[pyclass(frozen, module = "orbit_chess", from_py_object)]
#[derive(Clone)]
pub struct Game(pub GameRef);

/// A position that a query hits.
#[pyclass(frozen, module = "orbit_chess", from_py_object)]
#[derive(Clone)]
pub struct Hit(pub orbit_chess::Hit);

impl Game {
    fn checked(&self, node: u32) -> PyResult<u32> {
        let nodes = self.0.nodes();
        if node < nodes {
            return Ok(node);
        }
        Err(PyIndexError::new_err(format!(
            "game {} has {nodes} nodes, numbered from 0: there is no node {node}",
            self.0.number()
        )))
    }
}

#[pymethods]
impl Game {
    #[getter]
    fn number(&self) -> u32 {
        self.0.number()
    }

    #[getter]
    fn source(&self) -> &str {
        self.0.source()
    }

    #[getter]
    fn number_in_source(&self) -> u32 {
        self.0.number_in_source()
    }

    #[getter]
    fn tags<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let tags = PyDict::new(py);
        for (name, value) in self.0.tags() {
            // Of several tags of one name the first counts, as in queries.
            if !tags.contains(&name)? {
                tags.set_item(name, value)?;
            }
        }
        Ok(tags)
    }

    #[getter]
    fn white(&self) -> Option<String> {
        self.0.white()
    }

    #[getter]
    fn black(&self) -> Option<String> {
        self.0.black()
    }

    #[getter]
    fn date(&self) -> Option<String> {
        self.0.date()
    }

    #[getter]
    fn result(&self) -> &'static str {
        self.0.outcome().text()
    }

    #[getter]
    fn plies(&self) -> u32 {
        self.0.plies()
    }

    #[getter]
    fn nodes(&self) -> u32 {
        self.0.nodes()
    }

    fn sans(&self) -> Vec<String> {
        self.0.sans()
    }

    fn pgn(&self) -> String {
        self.0.pgn_text()
    }

    #[pyo3(signature = (node = 0))]
    fn fen(&self, node: u32) -> PyResult<String> {
        Ok(self.0.fen(self.checked(node)?))
    }

    fn __repr__(&self) -> String {
        let name = |name: Option<String>| name.unwrap_or_else(|| "?".into());
        format!(
            "Game({}: {} - {} {})",
            self.0.number(),
            name(self.0.white()),
            name(self.0.black()),
            self.0.outcome().text()
        )
    }
}

fn squares(set: Bitboard) -> Vec<String> {
    set.into_iter().map(|square| square.to_string()).collect()
}

#[pymethods]
impl Hit {
    #[getter]
    fn game(&self) -> Game {
        Game(self.0.game().clone())
    }

    #[getter]
    fn node(&self) -> u32 {
        self.0.node()
    }

    #[getter]
    fn ply(&self) -> u32 {
        self.0.ply()
    }

    #[getter]
    fn fen(&self) -> String {
        self.0.fen()
    }

    #[getter]
    fn label(&self) -> String {
        self.0.label()
    }

    #[getter]
    fn san(&self) -> Option<String> {
        self.0.san_before()
    }

    #[getter]
    fn next(&self) -> Option<String> {
        self.0.san_after()
    }

    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.0.value() {
            Answer::Bool(value) => Ok(value.into_pyobject(py)?.to_owned().into_any()),
            Answer::Num(value) => Ok(value.into_pyobject(py)?.into_any()),
            Answer::Set(set) => Ok(squares(set).into_pyobject(py)?.into_any()),
        }
    }

    #[getter]
    fn squares(&self) -> Vec<String> {
        squares(self.0.squares())
    }

    #[getter]
    fn copy(&self) -> Option<u32> {
        self.0.copy().map(|copy| copy.index + 1)
    }

    #[getter]
    fn pattern(&self) -> Option<String> {
        self.0.copy().map(|copy| copy.text.to_owned())
    }

    #[getter]
    fn transform(&self) -> Option<String> {
        self.0.copy().map(|copy| copy.transform.to_owned())
    }

    #[getter]
    fn copies_count(&self) -> usize {
        self.0.copies_len()
    }

    #[getter]
    fn copies(&self) -> Vec<(u32, String, String)> {
        let row = |copy: orbit_chess::MatchedCopy<'_>| {
            (copy.index + 1, copy.text.to_owned(), copy.transform.to_owned())
        };
        self.0.copies().map(row).collect()
    }

    #[getter]
    fn span_nodes(&self) -> Option<Vec<u32>> {
        self.0.span().map(|span| span.nodes().to_vec())
    }

    #[getter]
    fn span_text(&self) -> Option<String> {
        self.0.span().map(|span| span.text())
    }

    fn svg(&self) -> String {
        self.0.svg()
    }

    fn __repr__(&self) -> String {
        let san = self.0.san_before().unwrap_or_default();
        let place = format!("{} {san}", self.0.label());
        format!("Hit(game {}, {}, {:?})", self.0.game().number(), place.trim_end(), self.0.fen())
    }
}
