//! Opens the outputs of a command: standard output, and files that are renamed to their final names when they are complete.

use std::io::{self, Write};
use std::path::Path;

use orbit_core::files::{OutputFile, refuse_clashes};
use orbit_database::BlockStream;
#[cfg(feature = "parquet")]
use orbit_search::report::{Columns, ParquetWriter};

use super::common::unfinished;
use super::failure::Failure;
use super::terminal::Stdout;

/// An output of a command.
pub(super) enum Sink {
    /// An output that discards everything, because the reader of standard output closed the pipe, or because the results are stored
    /// in a part of a job.
    Closed,
    Stdout(Stdout),
    File(OutputFile),
    /// A file of rows in the format [`Format::Parquet`](orbit_search::report::Format::Parquet).
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetWriter<OutputFile>>),
}

impl Sink {
    /// Creates a file, which is removed if the run is interrupted before the file is complete. Commands that read a database must
    /// first check that the file differs from all inputs, as [`OutputFiles`] does.
    pub(super) fn create(path: &Path) -> Result<Sink, Failure> {
        let file = OutputFile::create(path)?;
        file.temporary_path().into_iter().for_each(|path| unfinished().add(path));
        Ok(Sink::File(file))
    }

    /// Like [`Sink::create`], but opens standard output if there is no path or the path is `-`.
    pub(super) fn open(path: Option<&Path>) -> Result<Sink, Failure> {
        named(path).map_or_else(|| Ok(Sink::Stdout(Stdout::new())), Sink::create)
    }

    /// Converts an output file to one that receives rows and writes them as Parquet.
    #[cfg(feature = "parquet")]
    pub(super) fn parquet(self, columns: Columns) -> Result<Sink, Failure> {
        let Sink::File(file) = self else { return Ok(self) };
        Ok(Sink::Parquet(Box::new(ParquetWriter::new(file, columns).map_err(Failure::File)?)))
    }

    /// Writes to the output with `write`. A closed pipe on standard output is not an error: the sink is then closed, and the
    /// function returns `None`, as it does for every closed sink.
    pub(super) fn put<T>(
        &mut self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<T>,
    ) -> Result<Option<T>, Failure> {
        let written = match self {
            Sink::Closed => return Ok(None),
            Sink::Stdout(out) => write(out).map_err(Failure::from_stdout),
            Sink::File(file) => write(file).map_err(Failure::File),
            #[cfg(feature = "parquet")]
            Sink::Parquet(table) => write(table).map_err(Failure::File),
        };
        match written {
            Err(Failure::Closed) => {
                *self = Sink::Closed;
                Ok(None)
            }
            written => written.map(Some),
        }
    }

    /// Writes the complete output of a command at once. A closed pipe ends the command.
    pub(super) fn write_whole(mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.put(|out| out.write_all(bytes))?.ok_or(Failure::Closed)?;
        self.finish()
    }

    /// Completes the output. Only now does a file get its final name.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        match self {
            Sink::File(file) => Ok(file.finish()?),
            #[cfg(feature = "parquet")]
            Sink::Parquet(table) => Ok(table.finish().map_err(Failure::File)?.finish()?),
            Sink::Stdout(_) | Sink::Closed => self.put(|out| out.flush()).map(drop),
        }
    }

    /// Returns whether the sink discards all further output.
    pub(super) fn is_closed(&self) -> bool {
        matches!(self, Sink::Closed)
    }

    /// Returns the path of a file, as it was given.
    pub(super) fn path(&self) -> Option<&Path> {
        match self {
            Sink::File(file) => Some(file.path()),
            #[cfg(feature = "parquet")]
            Sink::Parquet(table) => Some(table.out().path()),
            Sink::Stdout(_) | Sink::Closed => None,
        }
    }
}

/// Returns the path of an output file, or `None` for `-`, which means standard output.
pub(super) fn named(path: Option<&Path>) -> Option<&Path> {
    path.filter(|path| path.as_os_str() != "-")
}

/// A creator of the files that a search writes while it reads a database. For each file, it checks that the file does not replace
/// an input. If `are_written` is false, it makes only this check.
#[derive(Clone, Copy)]
pub(super) struct OutputFiles<'a> {
    pub(super) database: &'a BlockStream,
    /// True if files are written. Parts of a job write none.
    pub(super) are_written: bool,
}

impl<'a> OutputFiles<'a> {
    pub(super) fn new(database: &'a BlockStream) -> OutputFiles<'a> {
        OutputFiles { database, are_written: true }
    }

    /// Creates a file.
    pub(super) fn begin(self, path: &Path) -> Result<Sink, Failure> {
        refuse_clashes(self.database.files(), [path])?;
        if !self.are_written {
            return Ok(Sink::Closed);
        }
        Sink::create(path)
    }

    /// Creates a file, or opens standard output if there is no path or the path is `-`.
    pub(super) fn open(self, path: Option<&Path>) -> Result<Sink, Failure> {
        named(path).map_or_else(|| Ok(self.stdout(Stdout::new())), |path| self.begin(path))
    }

    /// Opens standard output. If files are not to be written, the sink discards everything.
    pub(super) fn stdout(self, out: Stdout) -> Sink {
        if self.are_written { Sink::Stdout(out) } else { Sink::Closed }
    }
}
