//! How the names of a player and of his opponent are spelt in the games that count.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{BlockResult, Collector, Needs, Part, PartError};
use crate::board::Color;
use crate::database::Room;
use crate::game::tags;
use crate::reel::GameRow;

/// Lists spellings, for runs whose choice has a player.
#[derive(Clone, Copy, Debug, Default)]
pub struct SpellingsCollector;

/// Spellings with the games in which they occur.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SpellingsPart {
    /// Of the player: games as White, and games as Black.
    pub player: BTreeMap<String, [u64; 2]>,
    /// Of the other side: games as White, and games as Black.
    pub opponent: BTreeMap<String, [u64; 2]>,
}

impl Collector for SpellingsCollector {
    type Part = SpellingsPart;

    fn needs(&self) -> Needs {
        Needs::TAGS
    }

    fn look(&self, result: &BlockResult, _: &Room) -> SpellingsPart {
        let mut part = SpellingsPart::default();
        for game in result.block.games() {
            let Some(side) = result.sides.and_then(|sides| sides[game.index()]) else { continue };
            add(&mut part.player, &game, side);
            add(&mut part.opponent, &game, !side);
        }
        part
    }
}

fn add(sums: &mut BTreeMap<String, [u64; 2]>, game: &GameRow, side: Color) {
    let name = tags::player(game, side).unwrap_or_default();
    let sums = match sums.get_mut(&*name) {
        Some(sums) => sums,
        None => sums.entry(name.into_owned()).or_default(),
    };
    sums[side.fold_wb(0, 1)] += 1;
}

impl Part for SpellingsPart {
    fn merge(&mut self, next: SpellingsPart) -> Result<(), PartError> {
        for (sums, more) in [(&mut self.player, next.player), (&mut self.opponent, next.opponent)] {
            for (name, games) in more {
                let sum = sums.entry(name).or_default();
                sum.iter_mut().zip(games).for_each(|(sum, games)| *sum += games);
            }
        }
        Ok(())
    }
}
