//! Finds near misses of conditions that compare whole strings. A near miss is a value that contains the condition's string but does
//! not equal it.

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use super::{Collector, Part, PartError};
use crate::choice::{Choice, Comparison};
use crate::found::BlockResult;
use orbit_core::game::tags;
use orbit_database::MemoryBudget;
use orbit_engine::Wants;

/// Counts the games in which a tag value equals a condition's string, and those in which it contains the string.
#[derive(Clone, Debug)]
pub struct WholeTextsCollector {
    compared: Vec<Comparison>,
}

/// The counts of [`WholeTextsCollector`].
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct WholeTextsPart {
    /// For each comparison, the number of games whose value equals the string, and the number whose value contains it.
    pub games: Vec<[u64; 2]>,
}

impl WholeTextsCollector {
    /// Creates a collector for the conditions of a selection. Returns `None` if none of them compares a whole string.
    pub fn new(choice: &Choice) -> Option<WholeTextsCollector> {
        let compared = choice.conditions.iter().flat_map(|condition| condition.comparisons());
        let compared: Vec<Comparison> =
            compared.filter(|compared| compared.whole_text().is_some()).cloned().collect();
        (!compared.is_empty()).then_some(WholeTextsCollector { compared })
    }

    /// Returns the comparisons that no game meets although some values contain the string. Each comparison comes with the number of
    /// games that have such a value.
    pub fn missed<'a>(&'a self, part: &'a WholeTextsPart) -> impl Iterator<Item = (&'a Comparison, u64)> {
        let games = self.compared.iter().zip(&part.games);
        games.filter(|(_, games)| games[0] == 0 && games[1] > 0).map(|(compared, games)| (compared, games[1]))
    }
}

impl Collector for WholeTextsCollector {
    type Part = WholeTextsPart;

    fn wants(&self) -> Wants {
        Wants::TAGS
    }

    fn look(&self, result: &BlockResult, _: &MemoryBudget) -> WholeTextsPart {
        let block = &result.block;
        let games = self.compared.iter().map(|compared| {
            let mut sums = [0, 0];
            let Some(whole) = compared.whole_text() else { return sums };
            let (wanted, mut known) = (whole.value.to_lowercase(), HashMap::new());
            let names: Vec<_> = whole.tags.iter().map(|tag| block.tag_names(tag)).collect();
            for game in block.games() {
                let found = names.iter().filter_map(|names| game.tag_value(names)).map(|value| {
                    *known.entry(value.0).or_insert_with(|| {
                        let text =
                            block.tag_values().get(value.0).map(|value| tags::text(value).to_lowercase());
                        text.map_or([false; 2], |text| [text == wanted, text.contains(&wanted)])
                    })
                });
                let found = found.fold([false; 2], |sum, found| [sum[0] | found[0], sum[1] | found[1]]);
                sums.iter_mut().zip(found).for_each(|(sum, is)| *sum += u64::from(is));
            }
            sums
        });
        WholeTextsPart { games: games.collect() }
    }
}

impl Part for WholeTextsPart {
    fn merge(&mut self, next: WholeTextsPart) -> Result<(), PartError> {
        self.games.resize(self.games.len().max(next.games.len()), [0, 0]);
        for (sums, more) in self.games.iter_mut().zip(next.games) {
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        }
        Ok(())
    }

    fn check(&self, most: u64) -> Result<(), &'static str> {
        self.games.iter().flatten().try_for_each(|games| games.check(most))
    }
}
