//! Games and hits that Python can keep.

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
    /// The game's number over all sources, counted from 1.
    #[getter]
    fn number(&self) -> u32 {
        self.0.number()
    }

    /// The path of the file that contains the game, as it was given.
    #[getter]
    fn source(&self) -> &str {
        self.0.source()
    }

    /// The game's number in its source, counted from 1.
    #[getter]
    fn number_in_source(&self) -> u32 {
        self.0.number_in_source()
    }

    /// The tags, in the order of the file.
    #[getter]
    fn tags<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let tags = PyDict::new(py);
        for (name, value) in self.0.tags() {
            // If several tags have the same name, the first one counts, as in queries.
            if !tags.contains(&name)? {
                tags.set_item(name, value)?;
            }
        }
        Ok(tags)
    }

    /// The name of White, or None.
    #[getter]
    fn white(&self) -> Option<String> {
        self.0.white()
    }

    /// The name of Black, or None.
    #[getter]
    fn black(&self) -> Option<String> {
        self.0.black()
    }

    /// The date in PGN form, such as `2013.05.??`, or None.
    #[getter]
    fn date(&self) -> Option<String> {
        self.0.date()
    }

    /// The result of the game: `1-0`, `0-1`, `1/2-1/2` or `*`.
    #[getter]
    fn result(&self) -> &'static str {
        self.0.outcome().text()
    }

    /// The number of half-moves in the main line.
    #[getter]
    fn plies(&self) -> u32 {
        self.0.plies()
    }

    /// The number of positions in the game, including those of side lines.
    #[getter]
    fn nodes(&self) -> u32 {
        self.0.nodes()
    }

    /// The main-line moves as SAN.
    fn sans(&self) -> Vec<String> {
        self.0.sans()
    }

    /// The tags, moves and result as PGN. Side lines and comments are included if the database keeps them.
    fn pgn(&self) -> String {
        self.0.pgn_text()
    }

    /// The position at a node as FEN, with the halfmove clock and the move number that it has in the game.
    #[pyo3(signature = (node = 0))]
    fn fen(&self, node: u32) -> PyResult<String> {
        Ok(self.0.fen(self.checked(node)?))
    }

    /// The position at a node as a `chess.Board`.
    #[pyo3(signature = (node = 0))]
    fn board<'py>(&self, py: Python<'py>, node: u32) -> PyResult<Bound<'py, PyAny>> {
        boards(py)?.call_method1("board", (self.fen(node)?,))
    }

    /// The game as a `chess.pgn.Game`.
    fn chess<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        boards(py)?.call_method1("game", (self.pgn(),))
    }

    /// The last main-line position as SVG.
    fn _repr_svg_(&self) -> String {
        orbit_chess::board_svg(&self.__repr__(), &self.0.fen(self.0.plies()), Bitboard::EMPTY, &[])
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

/// Returns the module that creates objects of the package `chess`. Fails if `chess` is not installed.
fn boards(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import("orbit_chess._boards")
}

fn squares(set: Bitboard) -> Vec<String> {
    set.into_iter().map(|square| square.to_string()).collect()
}

#[pymethods]
impl Hit {
    /// The game.
    #[getter]
    fn game(&self) -> Game {
        Game(self.0.game().clone())
    }

    /// The number of the position in its game, counted from 0. On the main line, this is the ply.
    #[getter]
    fn node(&self) -> u32 {
        self.0.node()
    }

    /// The number of half-moves played before the position.
    #[getter]
    fn ply(&self) -> u32 {
        self.0.ply()
    }

    /// The position as FEN, with the halfmove clock and the move number that it has in the game.
    #[getter]
    fn fen(&self) -> String {
        self.0.fen()
    }

    /// The number of the move that led to the position: `24.` for White's move, `23...` for Black's, and
    /// `start` for the first position.
    #[getter]
    fn label(&self) -> String {
        self.0.label()
    }

    /// The move that led to the position, or None.
    #[getter]
    fn san(&self) -> Option<String> {
        self.0.san_before()
    }

    /// The next move of the position's line, or None.
    #[getter]
    fn next(&self) -> Option<String> {
        self.0.san_after()
    }

    /// The value of the query: True, a number, or the names of squares.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.0.value() {
            Answer::Bool(value) => Ok(value.into_pyobject(py)?.to_owned().into_any()),
            Answer::Num(value) => Ok(value.into_pyobject(py)?.into_any()),
            Answer::Set(set) => Ok(squares(set).into_pyobject(py)?.into_any()),
        }
    }

    /// The squares that the query finds.
    #[getter]
    fn squares(&self) -> Vec<String> {
        squares(self.0.squares())
    }

    /// The number of the first matching copy (transformed pattern), counted from 1 as in tables, or None.
    #[getter]
    fn copy(&self) -> Option<u32> {
        self.0.copy().map(|copy| copy.index + 1)
    }

    /// The first matching copy (transformed pattern) as CQL, or None.
    #[getter]
    fn pattern(&self) -> Option<String> {
        self.0.copy().map(|copy| copy.text.to_owned())
    }

    /// The transform that produces the first matching copy, in words, or None.
    #[getter]
    fn transform(&self) -> Option<String> {
        self.0.copy().map(|copy| copy.transform.to_owned())
    }

    /// The number of copies (transformed patterns) that match.
    #[getter]
    fn copies_count(&self) -> usize {
        self.0.copies_len()
    }

    /// All matching copies if `copies="all"` was requested; otherwise only the first one. Each entry contains the number, the CQL
    /// and the transform of a copy.
    #[getter]
    fn copies(&self) -> Vec<(u32, String, String)> {
        let row = |copy: orbit_chess::MatchedCopy<'_>| {
            (copy.index + 1, copy.text.to_owned(), copy.transform.to_owned())
        };
        self.0.copies().map(row).collect()
    }

    /// The nodes that a line or path matched, by number, or None.
    #[getter]
    fn span_nodes(&self) -> Option<Vec<u32>> {
        self.0.span().map(|span| span.nodes().to_vec())
    }

    /// The moves that a line or path matched, as text, or None.
    #[getter]
    fn span_text(&self) -> Option<String> {
        self.0.span().map(|span| span.text())
    }

    /// The position as a `chess.Board`.
    fn board<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        boards(py)?.call_method1("board", (self.fen(),))
    }

    /// The position as SVG. The squares of the value are highlighted, and the moves that matched are arrows.
    fn svg(&self) -> String {
        self.0.svg()
    }

    fn _repr_svg_(&self) -> String {
        self.0.svg()
    }

    fn __repr__(&self) -> String {
        let san = self.0.san_before().unwrap_or_default();
        let place = format!("{} {san}", self.0.label());
        format!("Hit(game {}, {}, {:?})", self.0.game().number(), place.trim_end(), self.0.fen())
    }
}
