//! Looks up the number of times a position occurs, and the first and last games with it.

use serde_json::{Value, json};

use super::{CancelToken, Database, DatabaseError, Progress};
use crate::choice::ExactPosition;
use orbit_core::board::Position;
use orbit_database::{BlockStream, Turns};
use orbit_visits::{PositionFacts, SeenGame, TabledPosition};

/// A position and the number of its occurrences in the main lines of a database.
#[derive(Clone, Debug)]
pub struct SeenPosition {
    /// The position.
    pub position: Position,
    /// The facts about its occurrences.
    pub facts: PositionFacts,
}

impl SeenPosition {
    /// Returns the JSON that `orbit positions --json` prints and `orbit serve` sends.
    pub fn json(&self) -> Value {
        let [first, last] = match &self.facts.ends {
            Some(ends) => ends.each_ref().map(seen_game_json),
            None => [Value::Null, Value::Null],
        };
        json!({
            "fen": self.position.to_epd(),
            "games": self.facts.games,
            "visits": self.facts.visits,
            "first": first,
            "last": last,
        })
    }
}

/// Returns a game in which the position occurs, as JSON.
pub fn seen_game_json(game: &SeenGame) -> Value {
    json!({
        "game": game.number,
        "date": game.date,
        "white": game.players[0],
        "black": game.players[1],
        "white_elo": game.ratings[0],
        "black_elo": game.ratings[1],
        "moves": game.moves,
    })
}

impl Database {
    /// Looks up a position in the main lines of all games. `turns` are the threads that this request shares with others. Tables of
    /// positions stay open for later requests.
    ///
    /// # Errors
    ///
    /// Fails if a file has changed or cannot be read, or if the request is cancelled.
    #[doc(hidden)]
    pub fn seen(
        &self,
        at: &ExactPosition,
        (turns, cancel): (Option<&Turns>, &CancelToken),
        watch: &mut dyn FnMut(Progress),
    ) -> Result<SeenPosition, DatabaseError> {
        let stream = |from_files| -> Result<BlockStream, DatabaseError> {
            Ok(self.stream(cancel, from_files)?.in_turn(turns).without_variations(false))
        };
        let held = |game| self.held_block(game);
        let look_up = |stream| TabledPosition::new(stream, at.position(), &self.tables, held);
        // Tables of positions belong to the files, so a stream from the files is tried first. If a file has changed or no table can
        // be used, the blocks in memory are searched instead.
        let tabled = match stream(true).map(look_up) {
            Ok(tabled) if !tabled.used.is_empty() => tabled,
            _ => look_up(stream(false)?),
        };
        let mut progress = Progress { bytes_total: tabled.rest.bytes_total(), ..Progress::default() };
        let (facts, summary) = tabled.with_rest(self.threads, |streamed| {
            progress.add(streamed);
            watch(progress);
        })?;
        if cancel.is_cancelled() && !summary.finished {
            return Err(DatabaseError::Cancelled);
        }
        progress.finish(&summary);
        watch(progress);
        Ok(SeenPosition { position: *at.position(), facts })
    }
}
