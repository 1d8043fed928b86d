//! Arguments that choose among what hits.

use std::num::NonZeroU64;

use clap::ValueEnum;
use orbit_chess::choice::{Choice, Condition, Order, SortKey};

use super::Failure;

#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Choosing")]
pub(super) struct ChoosingArgs {
    /// Count only games of which this is true: `white~Carlsen`, `elo>=2600`, `date>=2015`, `eco=B9*`,
    /// `result=1-0`. May be given several times; all must be true. Names are those of common tags, in any case, `tag:Name` for
    /// any other tag, and `player` (either side), `elo` (the higher rating), `year`, `result`; `=` takes `*` for any letters, `~` finds a part, and `!=`, `!~`, `<`, `<=`, `>`
    /// and `>=` are there too.
    #[arg(long = "where", value_name = "CONDITION")]
    conditions: Vec<Condition>,
    /// Count only the first hit of each game.
    #[arg(long)]
    first: bool,
    /// Pass over the first N games with hits.
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    skip: u64,
    /// Stop after N games with hits.
    #[arg(long, value_name = "N")]
    limit: Option<NonZeroU64>,
    /// List the games with hits by value (the greatest at a hit of the game; of sets, the number of squares), by
    /// rating (the higher one) or by date, the greatest first, what is unknown last. With --limit, only these
    /// are held in memory.
    #[arg(long, value_enum, value_name = "KEY", conflicts_with = "sample")]
    sort: Option<SortName>,
    /// Turn the order of --sort round.
    #[arg(long, requires = "sort")]
    reverse: bool,
    /// List N games with hits that chance picks: always the same ones, whatever the threads, the engine or the
    /// files in which the games are. Of games with the same moves the first alone can be picked.
    #[arg(long, value_name = "N", conflicts_with_all = ["skip", "limit"])]
    sample: Option<NonZeroU64>,
    /// Another number picks another sample.
    #[arg(long, value_name = "S", default_value_t = 0, hide_default_value = true)]
    seed: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum SortName {
    Value,
    Elo,
    Date,
}

impl ChoosingArgs {
    pub(super) fn choice(&self) -> Choice {
        Choice { conditions: self.conditions.clone(), first: self.first }
    }

    /// Whether anything is left out or put in another order.
    pub(super) fn chooses(&self) -> bool {
        let is_all = self.conditions.is_empty() && !self.first && self.skip == 0 && self.limit.is_none();
        !is_all || self.order().is_some()
    }

    /// Which games and hits count, in words; nothing if all do.
    pub(super) fn in_words(&self) -> String {
        let conditions: Vec<String> = self.conditions.iter().map(Condition::to_string).collect();
        let games = match conditions.is_empty() {
            true => String::from("games"),
            false => format!("games with {}", conditions.join(" and ")),
        };
        match (conditions.is_empty(), self.first) {
            (true, false) => String::new(),
            (_, false) => games,
            (_, true) => format!("the first hit of {games}"),
        }
    }

    /// What may be wrong with conditions that fit no game.
    pub(super) fn hints(&self) -> impl Iterator<Item = String> {
        self.conditions.iter().filter_map(|condition| {
            let name = condition.own_tag()?;
            Some(format!(
                "`{condition}` asks for a tag `{name}`: check that games have it, and how it is spelt"
            ))
        })
    }

    /// The order, if games do not come as they stand in the database.
    pub(super) fn order(&self) -> Option<Order> {
        let key = self.sort.map(|name| match name {
            SortName::Value => SortKey::Value,
            SortName::Elo => SortKey::Elo,
            SortName::Date => SortKey::Date,
        });
        let sorted = key.map(|key| Order::Sorted { key, reverse: self.reverse });
        sorted.or(self.sample.map(|_| Order::Sampled { seed: self.seed }))
    }

    /// Games that are passed over.
    pub(super) fn skip(&self) -> u64 {
        self.skip
    }

    /// What settles a sample.
    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    /// Games that are listed at most.
    pub(super) fn games_max(&self) -> Option<u64> {
        self.limit.or(self.sample).map(NonZeroU64::get)
    }

    /// Refuses what would change nothing where there is no list.
    pub(super) fn refuse_order(&self, why: &str) -> Result<(), Failure> {
        match self.order() {
            Some(_) => Err(Failure::Other(format!("--sort and --sample choose what is listed, but {why}"))),
            None => Ok(()),
        }
    }
}
