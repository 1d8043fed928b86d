//! What a collector is, and the list of all there are.

use super::copies::CopiesCollector;
use super::findings::FindingsCollector;
use super::games::GamesCollector;
use super::lists::ListsCollector;
use super::messages::MessagesCollector;
use super::ordered::OrderedCollector;
use super::part::{Part, PartError};
use super::players::SpellingsCollector;
use super::problems::ProblemsCollector;
use super::statistics::StatisticsCollector;
use super::totals::TotalsCollector;
use super::whole::WholeTextsCollector;
use super::{BlockResult, CannotSplit, TakeError};
use orbit_database::{GameTexts, MemoryBudget, StreamedBlock};
use orbit_engine::Wants;
use serde::{Deserialize, Serialize};

/// Makes a part of each block, on any thread, and adds parts up in the order of the database. It keeps no state: what it makes
/// depends on the blocks alone.
pub trait Collector: Sync {
    /// What it makes.
    type Part: Part;

    /// What it needs of a run.
    fn wants(&self) -> Wants;

    /// Whether the parts of a database that is split make the same as one run does.
    ///
    /// # Errors
    ///
    /// Why not.
    fn splits(&self) -> Result<(), CannotSplit> {
        Ok(())
    }

    /// Looks at what was found in one block, on any thread. Memory for parts that are large is reserved first.
    fn look(&self, result: &BlockResult, room: &MemoryBudget) -> Self::Part;

    /// Tells whether it could have made a part. One that was read from a file may be of another search.
    fn could_make(&self, _: &Self::Part) -> bool {
        true
    }

    /// Adds the part of the next block to the sum of those before it, while the block is still there: what is read in the
    /// order of the database, such as the text of games, is read now.
    ///
    /// # Errors
    ///
    /// Texts that cannot be read, and parts that cannot be merged.
    fn take(
        &self,
        sum: &mut Self::Part,
        part: Self::Part,
        _: &StreamedBlock,
        _texts: &mut GameTexts,
    ) -> Result<(), TakeError> {
        Ok(sum.merge(part)?)
    }
}

/// A collector that may be wanted.
impl<C: Collector> Collector for Option<C> {
    type Part = Option<C::Part>;

    fn wants(&self) -> Wants {
        self.iter().map(C::wants).collect()
    }

    fn splits(&self) -> Result<(), CannotSplit> {
        self.iter().try_for_each(C::splits)
    }

    fn look(&self, result: &BlockResult, room: &MemoryBudget) -> Option<C::Part> {
        self.as_ref().map(|collector| collector.look(result, room))
    }

    fn could_make(&self, part: &Option<C::Part>) -> bool {
        self.as_ref().zip(part.as_ref()).is_none_or(|(collector, part)| collector.could_make(part))
    }

    fn take(
        &self,
        sum: &mut Self::Part,
        part: Self::Part,
        streamed: &StreamedBlock,
        texts: &mut GameTexts,
    ) -> Result<(), TakeError> {
        match (self, part) {
            (Some(collector), Some(part)) => {
                collector.take(sum.get_or_insert_default(), part, streamed, texts)
            }
            _ => Ok(()),
        }
    }
}

/// Lists all collectors of a run, each once. The tests of parts go through the same list.
macro_rules! collectors {
    ($($(#[doc = $doc:literal])+ $name:ident: $collector:ty,)+) => {
        /// All that a run may collect.
        #[derive(Default)]
        pub struct Collectors {
            $($(#[doc = $doc])+ pub $name: Option<$collector>,)+
        }

        /// What [`Collectors`] make of some blocks.
        #[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
        pub struct Parts {
            $($(#[doc = $doc])+ pub $name: Option<<$collector as Collector>::Part>,)+
        }

        impl Collectors {
            /// The names of all collectors.
            pub const NAMES: &[&str] = &[$(stringify!($name)),+];
        }

        impl Collector for Collectors {
            type Part = Parts;

            fn wants(&self) -> Wants {
                [$(self.$name.wants()),+].into_iter().collect()
            }

            fn splits(&self) -> Result<(), CannotSplit> {
                $(self.$name.splits()?;)+
                Ok(())
            }

            fn look(&self, result: &BlockResult, room: &MemoryBudget) -> Parts {
                Parts { $($name: self.$name.look(result, room),)+ }
            }

            fn could_make(&self, part: &Parts) -> bool {
                [$(self.$name.could_make(&part.$name)),+].iter().all(|could| *could)
            }

            fn take(
                &self,
                sum: &mut Parts,
                part: Parts,
                streamed: &StreamedBlock,
                texts: &mut GameTexts,
            ) -> Result<(), TakeError> {
                $(self.$name.take(&mut sum.$name, part.$name, streamed, texts)?;)+
                Ok(())
            }
        }

        impl Part for Parts {
            fn merge(&mut self, next: Parts) -> Result<(), PartError> {
                $(self.$name.merge(next.$name)?;)+
                Ok(())
            }

            fn check(&self, most: u64) -> Result<(), &'static str> {
                $(self.$name.check(most)?;)+
                Ok(())
            }
        }
    };
}

impl Collectors {
    /// Whether lists with so many games have all that they may have, and nothing else is collected beyond them.
    pub fn are_enough(&self, listed: u64) -> bool {
        let games_max = self.lists.as_ref().and_then(|lists| lists.reach().games_max());
        games_max.is_some_and(|max| listed >= max) && !self.take_all()
    }

    /// Whether all games are taken, however many are listed: statistics and pictures are of all games.
    pub fn take_all(&self) -> bool {
        self.statistics.is_some() || self.findings.is_some()
    }
}

collectors! {
    /// Games, positions and hits.
    totals: TotalsCollector,
    /// Games that were cut, skipped or repaired.
    problems: ProblemsCollector,
    /// The positions that each copy hits.
    copies: CopiesCollector,
    /// Hits in the formats in which they are listed.
    lists: ListsCollector,
    /// Games as PGN.
    games: GamesCollector,
    /// Hits and games that do not come in the order of the database.
    ordered: OrderedCollector,
    /// Counts by groups of games and positions.
    statistics: StatisticsCollector,
    /// What the query prints while it runs.
    messages: MessagesCollector,
    /// How the names of a player are spelt.
    spellings: SpellingsCollector,
    /// What conditions on whole texts miss.
    whole_texts: WholeTextsCollector,
    /// What a report shows.
    findings: FindingsCollector,
}
