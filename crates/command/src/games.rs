//! Writes the games with hits as PGN.

use orbit_database::{GameTexts, StreamedBlock};
use orbit_search::report::PgnSeparator;
use orbit_search::run::{Comment, GamesTaken, TakeError, WrittenGame};

use super::common::ProgressDisplay;
use super::failure::Failure;
use super::sink::Sink;

/// The outputs to which games with hits are written; each game is written to all of them.
pub(super) struct GameOutputs {
    sinks: Vec<Sink>,
    separator: PgnSeparator,
    comment: Comment,
    wanted: GamesTaken,
}

impl GameOutputs {
    pub(super) fn new(comment: Comment, skip: u64, games_max: Option<u64>) -> GameOutputs {
        let (separator, wanted) = (PgnSeparator::default(), GamesTaken::new(skip, games_max));
        GameOutputs { sinks: Vec::new(), separator, comment, wanted }
    }

    pub(super) fn add(&mut self, sink: Sink) {
        self.sinks.push(sink);
    }

    /// Returns whether games are written to any output.
    pub(super) fn are_wanted(&self) -> bool {
        !self.sinks.is_empty()
    }

    /// Returns the comment that is written at each hit.
    pub(super) fn comment(&self) -> &Comment {
        &self.comment
    }

    /// Reads the text of the next game in a block (a group of whole games) and writes it, unless `--skip` or `--limit` excludes the
    /// game.
    pub(super) fn take(
        &mut self,
        streamed: &StreamedBlock,
        mut game: WrittenGame,
        texts: &mut GameTexts,
        progress: &ProgressDisplay,
    ) -> Result<(), Failure> {
        if !self.wanted.takes_next() {
            return Ok(());
        }
        let text = game.read(streamed, texts).map_err(TakeError::Text)?;
        progress.beside_stdout(|| self.write_now(text))
    }

    /// Writes the text of the next game, unless `--skip` or `--limit` excludes the game.
    pub(super) fn write(&mut self, text: &[u8]) -> Result<(), Failure> {
        if self.wanted.takes_next() { self.write_now(text) } else { Ok(()) }
    }

    fn write_now(&mut self, text: &[u8]) -> Result<(), Failure> {
        let between = self.separator.next(text);
        let write =
            |sink: &mut Sink| sink.put(|out| out.write_all(&between).and_then(|()| out.write_all(text)));
        self.sinks.iter_mut().try_for_each(|sink| write(sink).map(drop))
    }

    /// Completes all files and renames them to their final names.
    pub(super) fn finish(&mut self) -> Result<(), Failure> {
        let end = self.separator.end();
        self.sinks.drain(..).try_for_each(|mut sink| {
            sink.put(|out| out.write_all(end).and_then(|()| out.flush()))?;
            sink.finish()
        })
    }

    /// Returns the outputs of games.
    pub(super) fn sinks(&self) -> &[Sink] {
        &self.sinks
    }
}
