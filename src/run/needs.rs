//! What a run has to read and compute.

use std::fmt;
use std::ops::{BitOr, BitOrAssign};

use crate::engine::Outputs;
use crate::game::Measure;

/// What a query, a choice of games or a collector needs of a run. Needs are joined with `|`, and nothing else decides
/// what is decoded or computed.
///
/// ```
/// use orbit_chess::internals::run::Needs;
///
/// let needs = Needs::TAGS | Needs::VALUES.when(false);
/// assert!(needs.include(Needs::TAGS) && !needs.include(Needs::VALUES));
/// assert_eq!(format!("{needs:?}"), "TAGS");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Needs(u16);

impl Needs {
    /// Where the hits are, and no more.
    pub const NOTHING: Needs = Needs(0);
    /// The tags of games.
    pub const TAGS: Needs = Needs(1);
    /// The value of the query at each position: a number or a set of squares.
    pub const VALUES: Needs = Needs(1 << 1);
    /// The lowest copy of the outermost transform that matches at a hit, and how many do.
    pub const LOWEST_COPY: Needs = Needs(1 << 2);
    /// All copies that match at a hit.
    pub const ALL_COPIES: Needs = Needs(1 << 3);
    /// At how many hits each copy matches.
    pub const COPY_COUNTS: Needs = Needs(1 << 4);
    /// The copies as text.
    pub const COPY_NAMES: Needs = Needs(1 << 5);
    /// The text of games as their sources have it.
    pub const GAME_TEXTS: Needs = Needs(1 << 6);
    /// What the query writes: comments, values of `sort`, tags and messages.
    pub const COMMENTARY: Needs = Needs(1 << 7);
    /// The positions and moves of which hits consist.
    pub const SPANS: Needs = Needs(1 << 8);
    /// The comments of games.
    pub const COMMENTS: Needs = Needs(1 << 9);
    /// Which sides have the pattern at a hit, of queries that tell it.
    pub const SIDES: Needs = Needs(1 << 10);

    const NAMES: [(Needs, &str); 11] = [
        (Needs::TAGS, "TAGS"),
        (Needs::VALUES, "VALUES"),
        (Needs::LOWEST_COPY, "LOWEST_COPY"),
        (Needs::ALL_COPIES, "ALL_COPIES"),
        (Needs::COPY_COUNTS, "COPY_COUNTS"),
        (Needs::COPY_NAMES, "COPY_NAMES"),
        (Needs::GAME_TEXTS, "GAME_TEXTS"),
        (Needs::COMMENTARY, "COMMENTARY"),
        (Needs::SPANS, "SPANS"),
        (Needs::COMMENTS, "COMMENTS"),
        (Needs::SIDES, "SIDES"),
    ];

    /// What a measure of positions is read from: comments, and of the time of a move also the tag with the increment of the
    /// clock.
    pub fn of_measure(measure: Measure) -> Needs {
        Needs::COMMENTS | Needs::TAGS.when(measure == Measure::Spent)
    }

    /// These needs, or nothing.
    #[must_use]
    pub const fn when(self, is_needed: bool) -> Needs {
        if is_needed { self } else { Needs::NOTHING }
    }

    /// What an engine has to bring for it. Of a filter with one copy, hits tell which copy it is; of one whose copies are of
    /// sides, the copies tell the sides.
    pub(crate) fn outputs(self, has_one_copy: bool, has_sides: bool) -> Outputs {
        let of_sides = self.include(Needs::SIDES) && has_sides;
        let wanted = |is_wanted: bool, output| if is_wanted { output } else { Outputs::BITS };
        wanted(self.include(Needs::VALUES), Outputs::VALUES)
            | wanted(self.include(Needs::LOWEST_COPY) && !has_one_copy, Outputs::LOWEST_COPY)
            | wanted(self.include(Needs::ALL_COPIES) || of_sides, Outputs::ALL_COPIES)
            | wanted(self.include(Needs::COPY_COUNTS), Outputs::COPY_COUNTS)
            | wanted(self.include(Needs::COMMENTARY), Outputs::COMMENTARY)
            | wanted(self.include(Needs::SPANS), Outputs::SPANS)
            | wanted(self.include(Needs::COMMENTS), Outputs::COMMENTS)
    }

    /// Whether all of `other` is needed.
    pub const fn include(self, other: Needs) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Needs {
    type Output = Needs;

    fn bitor(self, other: Needs) -> Needs {
        Needs(self.0 | other.0)
    }
}

impl BitOrAssign for Needs {
    fn bitor_assign(&mut self, other: Needs) {
        *self = *self | other;
    }
}

impl FromIterator<Needs> for Needs {
    fn from_iter<I: IntoIterator<Item = Needs>>(needs: I) -> Needs {
        needs.into_iter().fold(Needs::NOTHING, Needs::bitor)
    }
}

impl fmt::Debug for Needs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Needs::NAMES.iter().filter(|(need, _)| self.include(*need)).map(|(_, name)| *name);
        let names: Vec<&str> = names.collect();
        f.write_str(if names.is_empty() { "NOTHING" } else { "" })?;
        f.write_str(&names.join(" | "))
    }
}
