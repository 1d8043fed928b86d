//! Answers requests for one game with all its positions, and requests for the games in which a position occurs.

use serde_json::{Value, json};

use super::answer::Response;
use super::desk::OpenDatabases;
use super::fault::{ErrorCode, Fault};
use super::request::{GameRequest, PositionRequest};
use crate::library::{CancelToken, GameRef, Progress};
use crate::report::NodeWalk;
use orbit_core::text::decode;

impl OpenDatabases {
    /// Returns a game by its number.
    ///
    /// # Errors
    ///
    /// Fails if there is no such database or game, or the game cannot be read.
    pub fn game(&self, name: &str, number: u32) -> Result<GameRef, Fault> {
        let database = self.database(name)?;
        let found = database.game(number).map_err(|error| Fault::from_database(error, ""))?;
        found.ok_or_else(|| {
            let games = database.summary().map(|summary| summary.totals.games());
            let of = games.map_or(String::new(), |games| format!(" of {games}"));
            let message = format!(
                "`{name}` has no game {number}{of}: games are numbered from 1, and one without a position is \
                         skipped"
            );
            Fault::new(ErrorCode::Request, message)
        })
    }

    pub(super) fn answer_game(&self, game: &GameRequest) -> Result<Response, Fault> {
        Ok(answer(&self.game(&game.database, game.game)?))
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
