//! Games that hit, written as PGN.

use std::io::{self, Write};

use orbit_chess::internals::database::{GameTexts, StreamedBlock};
use orbit_chess::internals::files::OutputFile;
use orbit_chess::internals::report::PgnWriter;
use orbit_chess::internals::run::{Comment, GameText, GamesTaken, TakeError};

use super::common::Progress;
use super::failure::Failure;
use super::terminal::Stdout;

/// Where games are written to.
pub(super) enum Target {
    Stdout(Stdout),
    File(OutputFile),
    /// A part of a job keeps its games and writes none.
    Nowhere,
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Target::Stdout(out) => out.write(bytes),
            Target::File(file) => file.write(bytes),
            Target::Nowhere => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Target::Stdout(out) => out.flush(),
            Target::File(file) => file.flush(),
            Target::Nowhere => Ok(()),
        }
    }
}

impl Target {
    fn failure(&self, error: io::Error) -> Failure {
        match self {
            Target::Stdout(_) => Failure::Stdout(error),
            Target::File(_) | Target::Nowhere => Failure::File(error),
        }
    }
}

/// Games that hit, and all places that they are written to.
pub(super) struct Games {
    writers: Vec<PgnWriter<Target>>,
    comment: Comment,
    wanted: GamesTaken,
    is_closed: bool,
}

impl Games {
    pub(super) fn new(comment: Comment, skip: u64, games_max: Option<u64>) -> Games {
        Games { writers: Vec::new(), comment, wanted: GamesTaken::new(skip, games_max), is_closed: false }
    }

    pub(super) fn add(&mut self, target: Target) {
        self.writers.push(PgnWriter::new(target));
    }

    /// Whether games are written anywhere.
    pub(super) fn are_wanted(&self) -> bool {
        !self.writers.is_empty()
    }

    /// What is put at hits.
    pub(super) fn comment(&self) -> &Comment {
        &self.comment
    }

    /// Reads and writes the next game of a block, if it is among those that are wanted.
    pub(super) fn take(
        &mut self,
        streamed: &StreamedBlock,
        mut game: GameText,
        texts: &mut GameTexts,
        progress: &Progress,
    ) -> Result<(), Failure> {
        if !self.wanted.takes_next() {
            return Ok(());
        }
        let text = game.read(streamed, texts).map_err(TakeError::Text)?;
        progress.beside_stdout(|| self.write_now(text))
    }

    /// Writes the next game, if it is among those that are wanted.
    pub(super) fn write(&mut self, text: &[u8]) -> Result<(), Failure> {
        if self.wanted.takes_next() { self.write_now(text) } else { Ok(()) }
    }

    fn write_now(&mut self, text: &[u8]) -> Result<(), Failure> {
        let mut fault = None;
        self.writers.retain_mut(|writer| match writer.write(text) {
            Err(error)
                if matches!(writer.out(), Target::Stdout(_)) && error.kind() == io::ErrorKind::BrokenPipe =>
            {
                self.is_closed = true;
                false
            }
            Err(error) => {
                fault = Some(writer.out().failure(error));
                true
            }
            Ok(()) => true,
        });
        fault.map_or(Ok(()), Err)
    }

    /// Whether the reader of standard output closed the pipe.
    pub(super) fn are_closed(&self) -> bool {
        self.is_closed
    }

    /// Ends all files and gives them their names.
    pub(super) fn finish(&mut self) -> Result<(), Failure> {
        for writer in self.writers.drain(..) {
            let is_stdout = matches!(writer.out(), Target::Stdout(_));
            let ended = writer.finish().and_then(|mut target| target.flush().map(|()| target));
            match ended {
                // The reader of standard output closed the pipe.
                Err(error) if is_stdout && error.kind() == io::ErrorKind::BrokenPipe => {}
                Err(error) if is_stdout => return Err(Failure::Stdout(error)),
                Err(error) => return Err(Failure::File(error)),
                Ok(Target::Stdout(_) | Target::Nowhere) => {}
                Ok(Target::File(file)) => file.finish()?,
            }
        }
        Ok(())
    }

    /// The files that are not finished.
    pub(super) fn files(&self) -> impl Iterator<Item = &OutputFile> {
        self.writers.iter().filter_map(|writer| match writer.out() {
            Target::File(file) => Some(file),
            Target::Stdout(_) | Target::Nowhere => None,
        })
    }
}
