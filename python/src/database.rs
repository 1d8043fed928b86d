//! Databases that Python opens.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use orbit_chess::{Bitboard, DatabaseOptions, EngineChoice, GpuOptions, Square};
use orbit_search::choice::ExactPosition;
use orbit_search::job::divide;
use pyo3::prelude::*;

use crate::errors;
use crate::game::Game;
use crate::request::{Request, RequestOptions};
use crate::wait;

/// An open database.
#[pyclass(frozen, module = "orbit_chess._native")]
pub struct Database(Arc<orbit_chess::Database>);

/// The source of a database.
enum Input {
    Paths(Vec<PathBuf>),
    Text(String, Vec<u8>),
}

/// The engine of a database, and the options for the graphics card if one may be used.
struct ChosenEngine {
    choice: EngineChoice,
    gpu: Option<GpuOptions>,
}

impl ChosenEngine {
    fn new(engine: &str, card: &str, card_memory: Option<u64>) -> PyResult<ChosenEngine> {
        let choice = engine.parse().map_err(errors::of_option)?;
        let mut gpu = GpuOptions::from_name(card);
        if choice == EngineChoice::Gpu && gpu.is_none() {
            return Err(errors::of_option(
                "`engine` \"gpu\" and `gpu` \"none\" exclude each other: leave out one of them",
            ));
        }
        if card_memory == Some(0) {
            return Err(errors::of_option(
                "`gpu_memory` is 0, but the card needs memory to search: give some, or set `gpu` to \"none\" to use no card",
            ));
        }
        if let (Some(gpu), Some(bytes)) = (&mut gpu, card_memory) {
            gpu.limits.memory_bytes = bytes;
        }
        Ok(ChosenEngine { choice, gpu })
    }
}

impl Database {
    fn open_input(
        py: Python<'_>,
        input: Input,
        (variations, memory, engine, threads, reels): (bool, Option<u64>, ChosenEngine, Option<usize>, bool),
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Database> {
        let opened = wait::run(py, progress, |running| {
            let options = DatabaseOptions::new()
                .variations(variations)
                .engine(engine.choice)
                .gpu(engine.gpu)
                .substitute_reels(reels)
                .cancel_token(&running.cancel)
                .progress(|progress| running.tell(progress));
            let options = match memory {
                Some(bytes) => options.resident_bytes_max(bytes),
                None => options,
            };
            let options = match threads {
                Some(threads) => options.threads(threads),
                None => options,
            };
            match input {
                Input::Paths(paths) => options.open(paths),
                Input::Text(name, text) => options.open_bytes(&name, text),
            }
        })?;
        opened.map(|database| Database(Arc::new(database))).map_err(errors::of_database)
    }
}

#[pymethods]
impl Database {
    /// Opens files, folders and reels.
    #[staticmethod]
    #[pyo3(signature = (paths, *, variations, memory, engine, gpu, gpu_memory, threads, reels, progress))]
    #[expect(clippy::too_many_arguments, reason = "they are the keywords of the caller")]
    fn open(
        py: Python<'_>,
        paths: Vec<PathBuf>,
        variations: bool,
        memory: Option<u64>,
        engine: &str,
        gpu: &str,
        gpu_memory: Option<u64>,
        threads: Option<usize>,
        reels: bool,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Database> {
        if paths.iter().any(|path| path.as_os_str() == "-") {
            return Err(errors::of_option(
                "`-` is no file: read standard input and hand its text to `loads`",
            ));
        }
        let engine = ChosenEngine::new(engine, gpu, gpu_memory)?;
        let options = (variations, memory, engine, threads, reels);
        Database::open_input(py, Input::Paths(paths), options, progress)
    }

    /// Opens one PGN text in memory.
    #[staticmethod]
    #[pyo3(signature = (name, text, *, variations, engine, threads))]
    fn open_bytes(
        py: Python<'_>,
        name: String,
        text: Vec<u8>,
        variations: bool,
        engine: &str,
        threads: Option<usize>,
    ) -> PyResult<Database> {
        let engine = ChosenEngine::new(engine, "auto", None)?;
        let options = (variations, Some(u64::MAX), engine, threads, false);
        Database::open_input(py, Input::Text(name, text), options, None)
    }

    /// Creates a request with these queries and options.
    fn request(&self, options: &Bound<'_, RequestOptions>) -> PyResult<Request> {
        Ok(Request::new(Arc::clone(&self.0), options.get().clone()))
    }

    /// Divides the blocks into ranges with about the same number of positions. A range consists of its first block, the block
    /// after its last one, and its number of positions. Returns `None` if the database cannot be divided.
    #[pyo3(signature = (parts = None))]
    fn parts(&self, py: Python<'_>, parts: Option<NonZeroUsize>) -> Option<Vec<(usize, usize, u64)>> {
        let blocks = py.detach(|| self.0.positions_of_blocks())?;
        let parts = divide(&blocks, parts.map(NonZeroUsize::get)).into_iter();
        Some(parts.filter_map(|part| Some((part.blocks?.0, part.blocks?.1, part.positions?))).collect())
    }

    /// Returns the game with this number.
    fn game(&self, py: Python<'_>, number: u32) -> PyResult<Option<Game>> {
        let database = &self.0;
        let game = wait::run(py, None, |_| database.game(number))?;
        Ok(game.map_err(errors::of_database)?.map(Game))
    }

    /// Looks up a position. Returns the answer as JSON.
    fn seen(&self, py: Python<'_>, at: &str) -> PyResult<String> {
        let (database, at) = (&self.0, at.parse::<ExactPosition>().map_err(errors::of_option)?);
        let seen = wait::run(py, None, |running| database.seen(&at, (None, &running.cancel), &mut |_| ()))?;
        Ok(seen.map_err(errors::of_database)?.json().to_string())
    }

    /// Writes a file, which gets its name only when it is complete.
    fn write_file(&self, py: Python<'_>, path: PathBuf, text: &str) -> PyResult<()> {
        py.detach(|| self.0.write_file(&path, text)).map_err(errors::of_database)
    }

    #[getter]
    fn sources(&self) -> Vec<String> {
        self.0.sources().to_vec()
    }

    #[getter]
    fn positions(&self) -> u64 {
        self.0.positions()
    }

    /// The number of games, if known.
    #[getter]
    fn games(&self) -> Option<u64> {
        self.0.summary().map(|summary| summary.totals.games())
    }

    #[getter]
    fn residence(&self) -> String {
        self.0.residence().to_string()
    }

    #[getter]
    fn variations(&self) -> bool {
        self.0.keeps_variations()
    }

    /// Messages about files that could not be read completely, about bytes after the end of a reel, and about reels built by
    /// another version of orbit.
    #[getter]
    fn problems(&self) -> Vec<String> {
        self.0.problems()
    }
}

/// Draws a board as SVG. Squares are numbers from 0 (a1) to 63 (h8).
#[pyfunction]
pub fn board_svg(title: &str, placement: &str, lit: Vec<u32>, arrows: Vec<(u32, u32)>) -> PyResult<String> {
    let square = |number: u32| {
        Square::try_from(number).map_err(|_| {
            errors::of_option(format!("{number} is no square: squares are numbered from 0 (a1) to 63 (h8)"))
        })
    };
    let lit = lit.into_iter().map(square).collect::<PyResult<Bitboard>>()?;
    let arrow = |(from, to)| Ok([square(from)?, square(to)?]);
    let arrows = arrows.into_iter().map(arrow).collect::<PyResult<Vec<_>>>()?;
    Ok(orbit_chess::board_svg(title, placement, lit, &arrows))
}
