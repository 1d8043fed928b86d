//! The novelties in a player's games. A novelty is the first position of a game that does not occur in any earlier game of the
//! database.

use std::cmp::Reverse;

use serde::Serialize;

use super::collect::Record;
use super::scored::Scored;
use crate::choice::{Choice, Player};
use crate::stats::SideResults;
use orbit_core::board::Color;
use orbit_database::{BlockStream, StreamedBlock};
use orbit_reel::{Block, GameRow};
use orbit_visits::{ChosenNovelties, Novelty, TableError, novelties_of};

/// The maximum number of novelties listed.
const LISTED_MAX: usize = 20;

/// The player's novelties, and the player's scores grouped by the side that played the first new move.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PlayerNovelties {
    /// The scores in four sets of games: those in which the player played the first new move, those in which the opponent did,
    /// those without a new position, and those whose start position is new.
    pub games: [Scored; 4],
    /// The number of the player's games that were not examined because of the limit on the number of positions.
    pub left_out: u64,
    /// The player's novelties, at most `LISTED_MAX`. Novelties whose preceding position occurred in more earlier games come first.
    pub listed: Vec<NoveltyRow>,
}

/// A novelty played by the player.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct NoveltyRow {
    /// The number of the game in the database.
    pub game: u32,
    /// The date of the game as given in its tag, if known.
    pub date: Option<String>,
    /// The player's side: `White` or `Black`.
    pub side: &'static str,
    /// The opponent's name.
    pub opponent: Option<String>,
    /// The opponent's rating.
    pub opponent_rating: Option<i64>,
    /// The result from the player's perspective: `won`, `drawn` or `lost`; `None` if it is unknown.
    pub result: Option<&'static str>,
    /// The name of the game's opening.
    pub opening: Option<String>,
    /// The ply of the new position.
    pub ply: u32,
    /// The new move with its move number: `12... Nd5`.
    #[serde(rename = "move")]
    pub label: String,
    /// The new position.
    pub fen: String,
    /// The number of earlier games that reached the position before the new move.
    pub games_before: u64,
    /// The moves that earlier games played in the position before the new move, most frequent first.
    pub before: Vec<MoveGames>,
}

/// A move and the number of games in which it was played.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct MoveGames {
    pub san: String,
    pub games: u64,
}

struct PlayerGame {
    side: Color,
    record: Record,
    opening: Option<String>,
}

impl PlayerGame {
    fn new(game: &GameRow, side: Color) -> PlayerGame {
        let opening = game.opening().map(|opening| opening.name.clone());
        PlayerGame { side, record: Record::from_game(game, side), opening }
    }
}

impl PlayerNovelties {
    /// Finds the novelties in the player's games that meet the conditions in `choice`. Other games count only as earlier games. The
    /// whole database is read several times, and `watch` is called with every block (a group of games). Returns `None` if the
    /// database can be read only once or if the reading was interrupted.
    ///
    /// # Errors
    ///
    /// Fails if a reel cannot be read or is damaged.
    pub fn find(
        database: &BlockStream,
        player: &Player,
        choice: &Choice,
        threads: usize,
        watch: impl FnMut(&StreamedBlock),
    ) -> Result<Option<PlayerNovelties>, TableError> {
        let choice = Choice { player: Some(player.clone()), ..choice.clone() };
        let choose = |block: &Block| -> Vec<Option<PlayerGame>> {
            let sides = choice.sides(block).unwrap_or_default().into_iter().zip(block.games());
            sides.map(|(side, game)| side.map(|side| PlayerGame::new(&game, side))).collect()
        };
        Ok(novelties_of(database, threads, choose, watch)?.map(PlayerNovelties::new))
    }

    fn new(found: ChosenNovelties<PlayerGame>) -> PlayerNovelties {
        let mut records = [Record::default(); 4];
        let mut own = Vec::new();
        for (game, novelty) in found.games {
            let at = match &novelty {
                Some(Novelty { label: None, .. }) => 3,
                Some(novelty) => usize::from(novelty.position.state.turn() == game.side),
                None => 2,
            };
            records[at].add(&game.record);
            let moved = novelty.and_then(|novelty| Some((novelty.label.clone()?, novelty)));
            own.extend(moved.filter(|_| at == 0).map(|(label, novelty)| (game, label, novelty)));
        }
        own.sort_by_key(|(_, _, novelty)| {
            (Reverse(novelty.games_before), novelty.game.order, novelty.game.number)
        });
        own.truncate(LISTED_MAX);
        let names = ["the player", "the opponent", "no new move", "the start position is new"];
        PlayerNovelties {
            games: std::array::from_fn(|at| Scored::new(names[at], &records[at])),
            left_out: found.left_out,
            listed: own
                .into_iter()
                .map(|(game, label, novelty)| NoveltyRow::new(game, label, novelty))
                .collect(),
        }
    }
}

impl NoveltyRow {
    fn new(game: PlayerGame, label: String, novelty: Novelty) -> NoveltyRow {
        let fen = novelty.position.to_epd();
        let (ply, games_before) = (novelty.ply, novelty.games_before);
        let before =
            novelty.before.into_iter().map(|played| MoveGames { san: played.san, games: played.games });
        let opponent = game.side.fold_wb(1, 0);
        let [white, black] = novelty.game.players;
        NoveltyRow {
            game: novelty.game.number,
            date: novelty.game.date,
            side: game.side.fold_wb("White", "Black"),
            opponent: game.side.fold_wb(black, white),
            opponent_rating: novelty.game.ratings[opponent],
            result: result(game.record.results),
            opening: game.opening,
            ply,
            label,
            fen,
            games_before,
            before: before.collect(),
        }
    }
}

fn result(results: SideResults) -> Option<&'static str> {
    match results {
        SideResults { wins: 1, .. } => Some("won"),
        SideResults { draws: 1, .. } => Some("drawn"),
        SideResults { losses: 1, .. } => Some("lost"),
        _ => None,
    }
}
