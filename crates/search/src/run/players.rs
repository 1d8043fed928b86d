//! Collects the spellings of the player's and the opponents' names in the selected games, and names that are similar to the
//! player's.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use super::{Collector, Part, PartError};
use crate::found::BlockResult;
use orbit_core::board::Color;
use orbit_core::game::{PlayerName, fide, tags};
use orbit_database::MemoryBudget;
use orbit_engine::Wants;
use orbit_reel::{Block, GameRow};

/// Lists the spellings of names, for runs that select a player's games.
#[derive(Clone, Debug)]
pub struct SpellingsCollector {
    player: PlayerName,
}

/// The spellings of names, and the number of games with each.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SpellingsPart {
    /// The spellings of the player's name, and the number of games with each as White and as Black.
    pub player: BTreeMap<String, [u64; 2]>,
    /// The spellings of the opponents' names, and the number of games with each as White and as Black.
    pub opponent: BTreeMap<String, [u64; 2]>,
    /// The player's FIDE numbers, and the spellings of the name that occur with each.
    pub numbers: BTreeMap<u32, BTreeSet<String>>,
    /// The names in all read games that are similar to the player's name but do not match it, and the number of games with each.
    pub near: BTreeMap<String, u64>,
}

impl SpellingsCollector {
    /// Creates a collector for the spellings of a name.
    pub fn new(player: PlayerName) -> SpellingsCollector {
        SpellingsCollector { player }
    }

    /// Returns the spellings in a block (a group of games). `sides` contains the player's side in each game, or `None` for games
    /// that are not selected. It may be empty if no game is selected.
    pub(crate) fn of_block(&self, block: &Block, sides: &[Option<Color>]) -> SpellingsPart {
        let mut part = SpellingsPart::default();
        let numbers = [Color::White, Color::Black].map(|side| block.tag_names(fide::tag(side)));
        for (game, side) in block.games().zip(sides) {
            let Some(side) = *side else { continue };
            add(&mut part.player, &game, side);
            add(&mut part.opponent, &game, !side);
            let tags = &numbers[side.fold_wb(0, 1)];
            let number = game.tag_value(tags).and_then(|value| block.tag_values().get(value.0));
            if let Some(number) = number.and_then(fide::of_value) {
                let name = tags::player(&game, side).unwrap_or_default();
                part.numbers.entry(number).or_default().insert(name.into_owned());
            }
        }
        self.add_near(block, &mut part.near);
        part
    }

    fn add_near(&self, block: &Block, near: &mut BTreeMap<String, u64>) {
        let mut known: HashMap<u32, Option<String>> = HashMap::new();
        for side in Color::ALL {
            let tag = tags::player_tag(side);
            let names = block.tag_names(tag);
            for value in block.games().filter_map(|game| game.tag_value(&names)) {
                let name = known.entry(value.0).or_insert_with(|| {
                    let name = tags::known_value(tag, block.tag_values().get(value.0)?)?;
                    self.player.nearness(&name).map(|_| name.into_owned())
                });
                if let Some(name) = name {
                    match near.get_mut(name) {
                        Some(games) => *games += 1,
                        None => drop(near.insert(name.clone(), 1)),
                    }
                }
            }
        }
    }
}

impl Collector for SpellingsCollector {
    type Part = SpellingsPart;

    fn wants(&self) -> Wants {
        Wants::TAGS
    }

    fn look(&self, result: &BlockResult, _: &MemoryBudget) -> SpellingsPart {
        self.of_block(&result.block, result.sides.as_deref().unwrap_or_default())
    }
}

impl SpellingsPart {
    /// Returns the spellings of the player's name with their numbers of games, most frequent first.
    pub fn taken(&self) -> Vec<(&str, u64)> {
        by_games(&self.player)
    }

    /// Returns the spellings of the opponents' names with their numbers of games, most frequent first.
    pub fn opponents(&self) -> Vec<(&str, u64)> {
        by_games(&self.opponent)
    }

    /// Returns the similar names with their numbers of games, most similar first.
    pub fn nearest(&self, name: &PlayerName) -> Vec<(&str, u64)> {
        let mut all: Vec<(&str, u64)> =
            self.near.iter().map(|(name, games)| (name.as_str(), *games)).collect();
        all.sort_by_cached_key(|&(near, games)| (name.nearness(near), Reverse(games)));
        all
    }
}

fn by_games(spellings: &BTreeMap<String, [u64; 2]>) -> Vec<(&str, u64)> {
    let mut all: Vec<(&str, u64)> =
        spellings.iter().map(|(name, games)| (name.as_str(), games.iter().sum())).collect();
    all.sort_by_key(|&(_, games)| Reverse(games));
    all
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
        next.numbers.into_iter().for_each(|(number, mut names)| {
            self.numbers.entry(number).or_default().append(&mut names);
        });
        next.near.into_iter().for_each(|(name, games)| *self.near.entry(name).or_default() += games);
        Ok(())
    }

    fn check(&self, most: u64) -> Result<(), &'static str> {
        let SpellingsPart { player, opponent, near, .. } = self;
        let counts = player.values().chain(opponent.values()).flatten().chain(near.values());
        counts.into_iter().try_for_each(|games| games.check(most))
    }
}
