//! The facts about a game that a table of positions stores. They let games be selected and counted without reading their tags.

use bytemuck::{Pod, Zeroable};

use orbit_core::game::{Date, Rating, Speed, tags};
use orbit_core::record::Outcome;
use orbit_reel::GameRow;

/// The rating groups by which games are selected, as on lichess. A game's group depends on its mean rating. Each group is named by
/// its lowest rating.
pub const RATING_GROUPS: [u32; 9] = [0, 1000, 1200, 1400, 1600, 1800, 2000, 2200, 2500];

/// The facts about a game that an opening explorer sums up or uses to select games.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TabledFacts {
    /// The date, if its year is known.
    pub date: Option<Date>,
    /// The ratings of White and Black, if they are known.
    pub ratings: [Option<u32>; 2],
    /// The result, read from the end of the movetext.
    pub outcome: Outcome,
    /// The speed according to the time control, if it is known.
    pub speed: Option<Speed>,
    /// True for rated and false for casual games, if the first word of the event name says so, as on lichess; otherwise `None`.
    pub is_rated: Option<bool>,
}

impl TabledFacts {
    /// Reads the facts from the tags of a game.
    pub fn from_game(game: &GameRow) -> TabledFacts {
        let rating = |rating: Rating| rating.of_game(game).and_then(|rating| u32::try_from(rating).ok());
        let event = tags::known(game, "Event").unwrap_or_default();
        let first = event.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
        let begins = |word: &str| first.eq_ignore_ascii_case(word);
        TabledFacts {
            date: Date::from_game(game),
            ratings: [rating(Rating::White), rating(Rating::Black)],
            outcome: game.outcome(),
            speed: Speed::from_game(game),
            is_rated: begins("rated").then_some(true).or(begins("casual").then_some(false)),
        }
    }

    /// Returns the mean of both ratings, or the only known rating.
    pub fn mean_rating(&self) -> Option<u32> {
        let [white, black] = self.ratings;
        Rating::Mean.of_players(white, black).and_then(|mean| u32::try_from(mean).ok())
    }

    /// Returns the rating group of the mean rating, named by the group's lowest rating.
    pub fn rating_group(&self) -> Option<u32> {
        let mean = self.mean_rating()?;
        RATING_GROUPS.into_iter().rev().find(|&low| low <= mean)
    }

    /// Returns true if the ratings of both players are known.
    pub fn are_both_rated(&self) -> bool {
        self.ratings.iter().all(Option::is_some)
    }

    /// Returns the rank of the game in a list sorted by mean rating. Games with two known ratings rank above games with one, since
    /// a strong player's game against an unrated opponent should not count as a top game. Among equal games, the one with the
    /// lowest number ranks highest.
    pub fn rank_by_rating(&self, number: u32) -> Option<u64> {
        let both = u64::from(self.are_both_rated()) << 48;
        Some(both | u64::from(self.mean_rating()?) << 32 | u64::from(!number))
    }

    /// Returns the rank of the game in a list sorted by date, latest first. Among equal games, the one with the highest number
    /// ranks highest.
    pub fn rank_by_date(&self, number: u32) -> Option<u64> {
        let [year, month, day] = self.date?.parts().map(|part| u64::from(part.unwrap_or(0)));
        Some(((year * 16 + month) * 32 + day) << 32 | u64::from(number))
    }
}

/// The facts about a game in the form in which tables store them. In each field, 0 means that the fact is unknown.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(super) struct PackedFacts {
    pub(super) ratings: [u16; 2],
    pub(super) outcome: u8,
    /// One more than the index of the speed in `Speed::ALL`.
    pub(super) speed: u8,
    /// 1 for casual games, 2 for rated ones.
    pub(super) mode: u8,
    /// 1 if the game starts from the usual start position. It is 0 in facts about several games.
    pub(super) usual_start: u8,
}

impl PackedFacts {
    pub(super) fn new(facts: &TabledFacts) -> PackedFacts {
        let index = |speed| Speed::ALL.iter().position(|known| *known == speed);
        PackedFacts {
            // No rating has more than four digits.
            ratings: facts.ratings.map(|rating| rating.map_or(0, |rating| rating as u16)),
            outcome: facts.outcome as u8,
            speed: facts.speed.and_then(index).map_or(0, |index| index as u8 + 1),
            mode: facts.is_rated.map_or(0, |is_rated| u8::from(is_rated) + 1),
            usual_start: 0,
        }
    }

    pub(super) fn facts(&self, date: Option<Date>) -> TabledFacts {
        let outcomes = [Outcome::Unknown, Outcome::WhiteWins, Outcome::BlackWins, Outcome::Draw];
        let outcome = outcomes.into_iter().find(|outcome| *outcome as u8 == self.outcome);
        TabledFacts {
            date,
            ratings: self.ratings.map(|rating| (rating > 0).then_some(rating.into())),
            outcome: outcome.unwrap_or_default(),
            speed: Speed::ALL.get(usize::from(self.speed).wrapping_sub(1)).copied(),
            is_rated: [Some(false), Some(true)]
                .get(usize::from(self.mode).wrapping_sub(1))
                .copied()
                .flatten(),
        }
    }
}
