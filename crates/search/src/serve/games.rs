//! Answers requests for one game with all its positions, and requests for the games in which a position occurs.

use serde_json::{Value, json};

use super::answer::Response;
use super::desk::OpenDatabases;
use super::fault::{ErrorCode, Fault};
use super::request::{GameRequest, PositionRequest};
use crate::library::{CancelToken, Database, GameRef, Progress};
use crate::report::NodeWalk;
use orbit_core::text::decode;

/// A function that answers a request for a game.
pub(super) type GameAnswer = Box<dyn Fn() -> Result<Response, Fault> + Send>;

impl OpenDatabases {
    /// Returns a game by its number.
    ///
    /// # Errors
    ///
    /// Fails if there is no such database or game, or the game cannot be read.
    pub fn game(&self, name: &str, number: u32) -> Result<GameRef, Fault> {
        let database = self.database(name)?;
        game_of(&database, name, number)
    }

    /// Looks up the database of a request for a game. Returns a function that answers the request, even if the database was closed
    /// meanwhile.
    pub(super) fn game_answer(&self, game: &GameRequest) -> Result<GameAnswer, Fault> {
        let GameRequest { database: name, game: number } = game.clone();
        let database = self.database(&name)?;
        Ok(Box::new(move || Ok(answer(&game_of(&database, &name, number)?))))
    }

    /// Looks up a position. `watch` is called with progress updates.
    pub(super) fn answer_position(
        &self,
        PositionRequest { at, database, .. }: &PositionRequest,
        cancel: &CancelToken,
        watch: &mut dyn FnMut(Progress),
    ) -> Result<Response, Fault> {
        let seen = self.database(database)?.seen(at, (Some(self.turns()), cancel), watch);
        Ok(Response::from_value(seen.map_err(|error| Fault::from_database(error, ""))?.json()))
    }
}

/// Returns a game of a database by its number. `name` is the name of the database.
fn game_of(database: &Database, name: &str, number: u32) -> Result<GameRef, Fault> {
    let found = database.game(number).map_err(|error| Fault::from_database(error, ""))?;
    found.ok_or_else(|| {
        let games = database.summary().map(|summary| summary.totals.games());
        let of = games.map_or(String::new(), |games| format!(" of {games}"));
        let message = format!(
            "`{name}` has no game {number}{of}: games are numbered from 1, and one without a position is skipped"
        );
        Fault::new(ErrorCode::Request, message)
    })
}

/// Returns the response: the tags, the moves with their positions, and the PGN.
fn answer(game: &GameRef) -> Response {
    let row = game.row();
    let mut walk = NodeWalk::from_game(&row);
    let node = |node: u32| -> Value {
        walk.to(node);
        json!({
            "node": node,
            "parent": row.parent_of(node),
            "ply": walk.ply(),
            "san": walk.san(),
            "fen": walk.fen(),
        })
    };
    let nodes: Vec<Value> = (0..game.nodes()).map(node).collect();
    let tags: Vec<_> = game.tags().map(|(name, value)| json!([name, value])).collect();
    Response::from_value(json!({
        "game": game.number(),
        "source": game.source(),
        "number_in_source": game.number_in_source(),
        "tags": tags,
        "result": row.outcome().text(),
        "plies": game.plies(),
        "nodes": nodes,
        "pgn": decode(&game.pgn()),
    }))
}
