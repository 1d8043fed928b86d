//! Defines [`Collector`], which computes a result from hits, and [`Collectors`], the list of all collectors.

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
use super::{CannotSplit, TakeError};
use crate::found::BlockResult;
use orbit_database::{GameTexts, MemoryBudget, StreamedBlock};
use orbit_engine::Wants;
use serde::{Deserialize, Serialize};

/// A collector computes a partial result (a part) for each block (a group of games), on any thread, and adds up the parts in
/// database order. The result depends only on the blocks, so a collector keeps no state that could affect it.
pub trait Collector: Sync {
    /// The type of its parts.
    type Part: Part;

    /// Returns the facts about games and hits that the collector needs.
    fn wants(&self) -> Wants;

    /// Checks that the result of this collector can be computed in pieces: if a database is split, the merged parts must equal the
    /// part of a single run.
    ///
    /// # Errors
    ///
    /// Returns the reason why it cannot be split.
    fn splits(&self) -> Result<(), CannotSplit> {
        Ok(())
    }

    /// Computes the partial result for one block, on any thread. Memory for a large result must be reserved in `room` before the
    /// result is created.
    fn look(&self, result: &BlockResult, room: &MemoryBudget) -> Self::Part;

    /// Returns whether this collector could have computed the part. A part that was read from a file may be the result of another
    /// search.
    fn could_make(&self, _: &Self::Part) -> bool {
        true
    }

    /// Adds the part for the next block to the sum of all earlier parts, while the block is still in memory. Data that must be read
    /// in database order, such as the text of games, is read here.
    ///
    /// # Errors
    ///
    /// Fails if the text of a game cannot be read, or parts cannot be merged.
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

/// A collector that may be missing. Without a collector, no facts are needed and there is no part.
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

/// Declares [`Collectors`] and [`Parts`] from one list of collectors. The tests of parts use this list, too.
macro_rules! collectors {
    ($($(#[doc = $doc:literal])+ $name:ident: $collector:ty,)+) => {
        /// The collectors of a run, each of which is optional.
        #[derive(Default)]
        pub struct Collectors {
            $($(#[doc = $doc])+ pub $name: Option<$collector>,)+
        }

        /// The results (parts) that [`Collectors`] computed from some blocks.
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
    /// Returns true if `listed` games complete the lists and no other collector needs more games.
    pub fn are_enough(&self, listed: u64) -> bool {
        let games_max = self.lists.as_ref().and_then(|lists| lists.reach().games_max());
        games_max.is_some_and(|max| listed >= max) && !self.take_all()
    }

    /// Returns whether all games are needed, no matter how many are listed. Statistics and reports cover all games.
    pub fn take_all(&self) -> bool {
        self.statistics.is_some() || self.findings.is_some()
    }
}

collectors! {
    /// The totals of games, positions and hits.
    totals: TotalsCollector,
    /// The games that were truncated, skipped or repaired.
    problems: ProblemsCollector,
    /// The number of positions that match each transformed copy of the query.
    copies: CopiesCollector,
    /// The hits as lists in various formats.
    lists: ListsCollector,
    /// The games as PGN.
    games: GamesCollector,
    /// The hits and games of lists that are sorted or sampled.
    ordered: OrderedCollector,
    /// The counts for groups of games and positions.
    statistics: StatisticsCollector,
    /// The messages that the first query prints while it runs.
    messages: MessagesCollector,
    /// The spellings of a player's name.
    spellings: SpellingsCollector,
    /// The games that conditions such as `white=Carlsen` miss because these compare whole strings.
    whole_texts: WholeTextsCollector,
    /// The content of a report.
    findings: FindingsCollector,
}
