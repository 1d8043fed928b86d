//! Counts the games in a database before it is searched.

use std::ops::ControlFlow;

use super::{BlockStream, Input, StreamError};

impl BlockStream {
    /// Returns the number of the last game of the database; skipped games count as well. To count games in PGN text, the files are
    /// opened and read a second time, so this stream is not consumed.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`BlockStream::for_each_block`], and an error if an input cannot be read twice.
    pub fn last_game(&self, threads: usize) -> Result<u32, StreamError> {
        if !self.is_repeatable() {
            return Err(StreamError::ReadOnce);
        }
        if let Some(number) = self.last_game {
            return Ok(number);
        }
        let known = |input: &Input| match input {
            Input::Reel { reel, .. } => u64::from(reel.games_before(reel.blocks())),
            Input::Block(block) => u64::from(block.games_read()),
            Input::Held { held, .. } => {
                held.blocks().iter().map(|streamed| u64::from(streamed.block.games_read())).sum()
            }
            Input::Passed { .. } | Input::Pgn { .. } => 0,
        };
        let known: u64 = self.inputs.iter().map(known).sum();
        let mut texts = self.unread();
        texts.inputs.retain(|input| matches!(input, Input::Pgn { .. }));
        (texts.options.keep_text, texts.options.parse) = (false, Default::default());
        texts.options.parse.tags = false;
        let mut read = 0;
        texts.for_each_block(
            threads,
            |block| u64::from(block.games_read()),
            |_, games| {
                read += games;
                ControlFlow::Continue(())
            },
        )?;
        u32::try_from(u64::from(self.games_before) + known + read).map_err(|_| StreamError::TooManyGames)
    }
}
