//! The flags that specify which data a search must read and compute.
//!
//! A *copy* is one of the distinct patterns that the outermost transform of a query generates.

use std::fmt;
use std::ops::{BitOr, BitOrAssign};

use super::CopyDetail;
use orbit_core::game::Measure;

/// The data that a query, a choice of games or a collector (code that makes one output from the answers) requests from
/// a search, in addition to the hits. The hits are always computed. Wants are combined with `|`. Only the requested
/// data are decoded and computed. Engines ignore wants that do not concern answers.
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
    /// Only the hits.
    pub const HITS: Wants = Wants(0);
    /// The tags of games.
    pub const TAGS: Wants = Wants(1);
    /// The value at each hit: a number or a set of squares.
    pub const VALUES: Wants = Wants(1 << 1);
    /// For each hit, the lowest copy of the outermost transform that matches, and the number of matching copies.
    pub const LOWEST_COPY: Wants = Wants(1 << 2);
    /// For each hit, all copies of the outermost transform that match.
    pub const ALL_COPIES: Wants = Wants(1 << 3);
    /// The number of hits at which each copy (transformed pattern) matches.
    pub const COPY_COUNTS: Wants = Wants(1 << 4);
    /// The names of copies, as text.
    pub const COPY_NAMES: Wants = Wants(1 << 5);
    /// The text of games, exactly as in their sources.
    pub const GAME_TEXTS: Wants = Wants(1 << 6);
    /// The output of the query: comments, values of `sort`, tags and messages.
    pub const COMMENTARY: Wants = Wants(1 << 7);
    /// The positions and moves that make up hits, if the engine can find them.
    pub const SPANS: Wants = Wants(1 << 8);
    /// The comments in the games' sources. They are stored in blocks only if they are requested.
    pub const COMMENTS: Wants = Wants(1 << 9);
    /// For each hit, the sides whose pieces form the pattern of a matching copy. The copies of the query must have
    /// sides.
    pub const SIDES: Wants = Wants(1 << 10);
    /// The sort keys of games, for queries that define an order.
    pub const RANKS: Wants = Wants(1 << 11);
    /// The transform of each copy. With it, moves at a hit are mapped back to the pattern as it is written in the
    /// query.
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

    /// Returns the data that must be read for a measure, such as a clock time: comments and, for the time spent on a
    /// move, also the tag with the clock's increment.
    pub fn from_measure(measure: Measure) -> Wants {
        Wants::COMMENTS | Wants::TAGS.when(measure == Measure::Spent)
    }

    /// Returns these wants if `is_wanted` is true, otherwise only the hits.
    #[must_use]
    pub const fn when(self, is_wanted: bool) -> Wants {
        if is_wanted { self } else { Wants::HITS }
    }

    /// Returns true if everything in `others` is requested.
    pub const fn contains(self, others: Wants) -> bool {
        self.0 & others.0 == others.0
    }

    /// Returns these wants for a search with one filter. The lowest copy (transformed pattern) is not requested if there is only
    /// one, and sides are not requested if the copies do not distinguish sides.
    pub fn for_filter(self, has_one_copy: bool, has_sides: bool) -> Wants {
        let wants = if has_one_copy { Wants(self.0 & !Wants::LOWEST_COPY.0) } else { self };
        if has_sides { wants } else { Wants(wants.0 & !Wants::SIDES.0) }
    }

    /// Returns these wants without the data about copies and sides.
    pub(super) fn without_copies(self) -> Wants {
        let copies = Wants::LOWEST_COPY | Wants::ALL_COPIES | Wants::COPY_COUNTS | Wants::SIDES;
        Wants(self.0 & !copies.0)
    }

    /// Returns the detail in which matching copies (transformed patterns) must be recorded, or `None` if no copies are
    /// requested. `All` includes the data of `Lowest`, and `Lowest` includes the data of `Counts`.
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
