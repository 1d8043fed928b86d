//! Games that hit, written as PGN.

use orbit_chess::internals::database::{GameTexts, StreamedBlock};
use orbit_chess::internals::report::PgnWriter;
use orbit_chess::internals::run::{Comment, GameText, GamesTaken, TakeError};

use super::common::Progress;
use super::failure::Failure;
use super::sink::Sink;

/// Games that hit, and all places that they are written to.
pub(super) struct Games {
    sinks: Vec<Sink>,
    /// The next game, with what keeps it apart from the one before.
    writer: PgnWriter<Vec<u8>>,
    comment: Comment,
    wanted: GamesTaken,
}

impl Games {
    pub(super) fn new(comment: Comment, skip: u64, games_max: Option<u64>) -> Games {
        let (writer, wanted) = (PgnWriter::new(Vec::new()), GamesTaken::new(skip, games_max));
        Games { sinks: Vec::new(), writer, comment, wanted }
    }

    pub(super) fn add(&mut self, sink: Sink) {
        self.sinks.push(sink);
    }

    /// Whether games are written anywhere.
    pub(super) fn are_wanted(&self) -> bool {
        !self.sinks.is_empty()
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
        self.writer.write(text).expect("memory takes everything");
        let text = std::mem::take(self.writer.out_mut());
        self.put(&text)
    }

    fn put(&mut self, text: &[u8]) -> Result<(), Failure> {
        self.sinks.iter_mut().try_for_each(|sink| sink.put(|out| out.write_all(text)).map(drop))
    }

    /// Ends all files and gives them their names.
    pub(super) fn finish(&mut self) -> Result<(), Failure> {
        let writer = std::mem::replace(&mut self.writer, PgnWriter::new(Vec::new()));
        self.put(&writer.finish().expect("memory takes everything"))?;
        self.sinks.drain(..).try_for_each(Sink::finish)
    }

    /// The places that games are written to.
    pub(super) fn sinks(&self) -> &[Sink] {
        &self.sinks
    }
}
