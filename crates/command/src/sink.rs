//! Opens the outputs of a command: standard output, and files that get their names when they are complete.

use std::io::{self, Write};
use std::path::Path;

use orbit_core::files::{OutputFile, refuse_clashes};
use orbit_database::BlockStream;
#[cfg(feature = "parquet")]
use orbit_search::report::{Columns, ParquetWriter};

use super::common::CtrlC;
use super::failure::Failure;
use super::terminal::Stdout;

/// An output of a command.
pub(super) enum Sink {
    /// An output that writes nothing, because the reader of standard output closed the pipe, or because the results are stored in a
    /// part of a job.
    Closed,
    Stdout(Stdout),
    File(OutputFile),
    /// Takes rows, which are written as [`Format::Parquet`](orbit_search::report::Format::Parquet).
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetWriter<OutputFile>>),
}

impl Sink {
    /// Begins a file, without comparing its name with inputs. This is for commands that read no database.
    pub(super) fn create(path: &Path) -> Result<Sink, Failure> {
        Ok(Sink::File(OutputFile::create(path)?))
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

    /// Writes a part of the output. If the reader of standard output closed the pipe, this is not a failure: the sink is closed,
    /// and the function returns `None`, as it does for a sink that was closed before.
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

    /// Writes the only output of a command as a whole. A closed pipe ends the command.
    pub(super) fn write_whole(mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.put(|out| out.write_all(bytes))?.ok_or(Failure::Closed)?;
        self.finish()
    }

    /// Completes the output. A file gets its final name only now.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        match self {
            Sink::File(file) => Ok(file.finish()?),
            #[cfg(feature = "parquet")]
            Sink::Parquet(table) => Ok(table.finish().map_err(Failure::File)?.finish()?),
            Sink::Stdout(_) | Sink::Closed => self.put(|out| out.flush()).map(drop),
        }
    }

    /// Returns whether the sink writes nothing any more.
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

/// Returns the path of an output file. Returns `None` for `-`, which is standard output.
pub(super) fn named(path: Option<&Path>) -> Option<&Path> {
    path.filter(|path| path.as_os_str() != "-")
}

/// A factory for the files that a search writes while it reads a database. It checks that no output replaces an input. If files are
/// not to be written, it does nothing else.
#[derive(Clone, Copy)]
pub(super) struct OutputFiles<'a> {
    pub(super) database: &'a BlockStream,
    pub(super) interrupt: &'a CtrlC,
    /// True if the files are written. Parts of a job write none.
    pub(super) are_written: bool,
}

impl<'a> OutputFiles<'a> {
    pub(super) fn new(database: &'a BlockStream, interrupt: &'a CtrlC) -> OutputFiles<'a> {
        OutputFiles { database, interrupt, are_written: true }
    }

    /// Begins a file. The file is removed if the run is interrupted before the file is complete.
    pub(super) fn begin(self, path: &Path) -> Result<Sink, Failure> {
        refuse_clashes(self.database.files(), [path])?;
        if !self.are_written {
            return Ok(Sink::Closed);
        }
        let file = OutputFile::create(path)?;
        file.temporary_path().into_iter().for_each(|path| self.interrupt.unfinished.add(path));
        Ok(Sink::File(file))
    }

    /// Begins a file. If there is no path or the path is `-`, opens standard output.
    pub(super) fn open(self, path: Option<&Path>) -> Result<Sink, Failure> {
        named(path).map_or_else(|| Ok(self.stdout(Stdout::new())), |path| self.begin(path))
    }

    /// Opens standard output. If files are not to be written, the output writes nothing.
    pub(super) fn stdout(self, out: Stdout) -> Sink {
        if self.are_written { Sink::Stdout(out) } else { Sink::Closed }
    }
}
