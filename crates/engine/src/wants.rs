//! The data that a run has to read and compute.

use std::fmt;
use std::ops::{BitOr, BitOrAssign};

use super::CopyDetail;
use orbit_core::game::Measure;

/// The data that a query, a choice of games or a collector requests from a run in addition to the hits, which are
/// always computed. Wants are joined with `|`, and nothing else decides what is decoded or computed. Engines ignore
/// wants that do not concern answers.
///
/// ```
/// use orbit_engine::Wants;
///
/// let wants = Wants::TAGS | Wants::VALUES.when(false);
/// assert!(wants.contains(Wants::TAGS) && !wants.contains(Wants::VALUES));
/// assert_eq!(format!("{wants:?}"), "TAGS");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Wants(u16);

impl Wants {
    /// The hits, and no more.
    pub const HITS: Wants = Wants(0);
    /// The tags of games.
    pub const TAGS: Wants = Wants(1);
    /// The value at each hit: a number or a set of squares.
    pub const VALUES: Wants = Wants(1 << 1);
    /// The lowest copy of the outermost transform that matches at a hit, and how many do.
    pub const LOWEST_COPY: Wants = Wants(1 << 2);
    /// All copies that match at a hit.
    pub const ALL_COPIES: Wants = Wants(1 << 3);
    /// The number of hits at which each copy matches.
    pub const COPY_COUNTS: Wants = Wants(1 << 4);
    /// The copies as text.
    pub const COPY_NAMES: Wants = Wants(1 << 5);
    /// The text of games as their sources have it.
    pub const GAME_TEXTS: Wants = Wants(1 << 6);
    /// The things that the query writes: comments, values of `sort`, tags and messages.
    pub const COMMENTARY: Wants = Wants(1 << 7);
    /// The positions and moves of which hits consist, if the engine can find them.
    pub const SPANS: Wants = Wants(1 << 8);
    /// The comments of games. Blocks then keep the comments.
    pub const COMMENTS: Wants = Wants(1 << 9);
    /// The sides that have the pattern at a hit, for queries that distinguish sides.
    pub const SIDES: Wants = Wants(1 << 10);
    /// The ranks of games, for queries that define an order.
    pub const RANKS: Wants = Wants(1 << 11);
    /// The transforms of copies. They map moves back to the filter as it is written.
    pub const PLACEMENTS: Wants = Wants(1 << 12);

    const NAMES: [(Wants, &str); 13] = [
        (Wants::TAGS, "TAGS"),
        (Wants::VALUES, "VALUES"),
        (Wants::LOWEST_COPY, "LOWEST_COPY"),
        (Wants::ALL_COPIES, "ALL_COPIES"),
        (Wants::COPY_COUNTS, "COPY_COUNTS"),
        (Wants::COPY_NAMES, "COPY_NAMES"),
        (Wants::GAME_TEXTS, "GAME_TEXTS"),
        (Wants::COMMENTARY, "COMMENTARY"),
        (Wants::SPANS, "SPANS"),
        (Wants::COMMENTS, "COMMENTS"),
        (Wants::SIDES, "SIDES"),
        (Wants::RANKS, "RANKS"),
        (Wants::PLACEMENTS, "PLACEMENTS"),
    ];

    /// Returns the sources that a measure of positions reads: comments, and for the time of a move also the tag with
    /// the increment of the clock.
    pub fn of_measure(measure: Measure) -> Wants {
        Wants::COMMENTS | Wants::TAGS.when(measure == Measure::Spent)
    }

    /// Returns these wants if `is_wanted`, otherwise the hits alone.
    #[must_use]
    pub const fn when(self, is_wanted: bool) -> Wants {
        if is_wanted { self } else { Wants::HITS }
    }

    /// Returns true if all of `others` are wanted.
    pub const fn contains(self, others: Wants) -> bool {
        self.0 & others.0 == others.0
    }

    /// Returns the wants of a run with one filter. The lowest copy is dropped if the filter has only one copy; sides
    /// are dropped if its copies do not distinguish sides.
    pub fn of_filter(self, has_one_copy: bool, has_sides: bool) -> Wants {
        let wants = if has_one_copy { Wants(self.0 & !Wants::LOWEST_COPY.0) } else { self };
        if has_sides { wants } else { Wants(wants.0 & !Wants::SIDES.0) }
    }

    /// Returns the same wants without those about copies.
    pub(super) fn without_copies(self) -> Wants {
        let copies = Wants::LOWEST_COPY | Wants::ALL_COPIES | Wants::COPY_COUNTS | Wants::SIDES;
        Wants(self.0 & !copies.0)
    }

    /// Returns the detail in which copies are recorded, if copies are wanted. `All` includes the data of `Lowest`, and
    /// `Lowest` that of `Counts`.
    pub fn detail(self) -> Option<CopyDetail> {
        let of_copies = Wants::LOWEST_COPY.0 | Wants::ALL_COPIES.0 | Wants::COPY_COUNTS.0;
        if self.contains(Wants::SIDES) {
            let is_alone = self.0 & of_copies == 0;
            return Some(if is_alone { CopyDetail::Sides } else { CopyDetail::All });
        }
        let details = [
            (Wants::ALL_COPIES, CopyDetail::All),
            (Wants::LOWEST_COPY, CopyDetail::Lowest),
            (Wants::COPY_COUNTS, CopyDetail::Counts),
        ];
        details.into_iter().find_map(|(want, detail)| self.contains(want).then_some(detail))
    }
}

impl BitOr for Wants {
    type Output = Wants;

    fn bitor(self, others: Wants) -> Wants {
        Wants(self.0 | others.0)
    }
}

impl BitOrAssign for Wants {
    fn bitor_assign(&mut self, others: Wants) {
        *self = *self | others;
    }
}

impl FromIterator<Wants> for Wants {
    fn from_iter<I: IntoIterator<Item = Wants>>(wants: I) -> Wants {
        wants.into_iter().fold(Wants::HITS, Wants::bitor)
    }
}

impl fmt::Debug for Wants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Wants::NAMES.iter().filter(|(want, _)| self.contains(*want)).map(|(_, name)| *name);
        let names: Vec<&str> = names.collect();
        f.write_str(if names.is_empty() { "HITS" } else { "" })?;
        f.write_str(&names.join(" | "))
    }
}
