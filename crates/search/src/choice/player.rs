//! The player whose games are searched, and the player's side in each game.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use orbit_core::board::Color;
use orbit_core::game::rating::{self, RATING_MAX};
use orbit_core::game::{GameHeader as _, PlayerName, tags};
use orbit_core::named::choices;
use orbit_reel::{Block, GameRow, TagName};

/// The player whose games are searched. Queries are evaluated from the player's side: White in a query means the player, and games
/// in which the player has Black are evaluated with colours swapped. If both players in a game match the name, the query is
/// evaluated from White's side.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Player {
    /// The name.
    pub name: PlayerName,
    /// The side on which the player must play.
    pub side: Side,
    /// The range that must contain the player's rating, if given. Unknown ratings are in no range.
    pub ratings: Option<Ratings>,
    /// The opponent's name, if given.
    pub opponent: Option<PlayerName>,
    /// The range that must contain the opponent's rating, if given.
    pub opponent_ratings: Option<Ratings>,
}

/// The side on which a player must play.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Side {
    /// White.
    White,
    /// Black.
    Black,
    /// Either side.
    #[default]
    Any,
}

choices! { Side, "side",
    Side::White => "white", "White";
    Side::Black => "black", "Black";
    Side::Any => "any", "Either of them";
}

impl Side {
    /// Returns the required colour, or `None` if both colours are allowed.
    pub fn color(self) -> Option<Color> {
        match self {
            Side::White => Some(Color::White),
            Side::Black => Some(Color::Black),
            Side::Any => None,
        }
    }
}

/// A rating range: `2600-2700`, `2600-`, `-2700`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ratings(RangeInclusive<u32>);

/// The error for a string that is not a rating range.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is no range of ratings from 1 to {RATING_MAX}; write it as `2600-2700`, `2600-` or `-2700`")]
pub struct NoRatings(String);

impl FromStr for Ratings {
    type Err = NoRatings;

    fn from_str(text: &str) -> Result<Ratings, NoRatings> {
        let end = |text: &str, missing: u32| match text.trim() {
            "" => Some(missing),
            text => text.parse().ok().filter(|rating| (1..=RATING_MAX).contains(rating)),
        };
        let ends = text.split_once('-').filter(|_| text.trim() != "-");
        let range = ends.and_then(|(low, high)| Some(end(low, 1)?..=end(high, RATING_MAX)?));
        range.filter(|range| !range.is_empty()).map(Ratings).ok_or_else(|| NoRatings(text.to_owned()))
    }
}

impl fmt::Display for Ratings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (low, high) = (self.0.start(), self.0.end());
        match (*low, *high) {
            (1, high) => write!(f, "-{high}"),
            (low, RATING_MAX) => write!(f, "{low}-"),
            (low, high) => write!(f, "{low}-{high}"),
        }
    }
}

impl Player {
    /// Creates a player without restrictions on the side, the ratings or the opponent.
    pub fn new(name: PlayerName) -> Player {
        Player { name, side: Side::Any, ratings: None, opponent: None, opponent_ratings: None }
    }

    /// For each game in a block (a group of whole games), returns the player's side, or `None` if the game is not selected.
    pub fn sides(&self, block: &Block) -> Vec<Option<Color>> {
        let mut own = Color::ALL.map(|side| Fitting::new(block, side, Some(&self.name)));
        let mut other = Color::ALL.map(|side| Fitting::new(block, side, self.opponent.as_ref()));
        let rating = |game: &GameRow, side| game.tag_named(rating::tag(side)).and_then(rating::of_value);
        let in_range = |ratings: &Option<Ratings>, rating: Option<u32>| {
            ratings.as_ref().is_none_or(|ratings| rating.is_some_and(|rating| ratings.0.contains(&rating)))
        };
        let mut fits = |game: &GameRow, side: Color| {
            self.side.color().is_none_or(|wanted| wanted == side)
                && own[side.fold_wb(0, 1)].fits(game)
                && other[side.fold_wb(1, 0)].fits(game)
                && in_range(&self.ratings, rating(game, side))
                && in_range(&self.opponent_ratings, rating(game, !side))
        };
        block.games().map(|game| Color::ALL.into_iter().find(|&side| fits(&game, side))).collect()
    }
}

impl fmt::Display for Player {
    /// Writes a description such as `Carlsen, M as White rated 2800-2900 against Anand`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Player { name, side, ratings, opponent, opponent_ratings } = self;
        write!(f, "{name}")?;
        side.color().map_or(Ok(()), |side| write!(f, " as {}", tags::player_tag(side)))?;
        ratings.as_ref().map_or(Ok(()), |ratings| write!(f, " rated {ratings}"))?;
        opponent.as_ref().map_or(Ok(()), |name| write!(f, " against {name}"))?;
        match (opponent, opponent_ratings) {
            (_, None) => Ok(()),
            (Some(_), Some(ratings)) => write!(f, " rated {ratings}"),
            (None, Some(ratings)) => write!(f, " against opponents rated {ratings}"),
        }
    }
}

/// Tests whether tag values are spellings of a name. Each distinct value in a block (a group of games) is tested only once.
struct Fitting<'a> {
    name: Option<&'a PlayerName>,
    block: &'a Block,
    tag: &'static str,
    tags: Vec<TagName>,
    /// For each tag value of the block, true if it is a spelling of the name, or `None` if it has not been tested yet.
    known: Vec<Option<bool>>,
}

impl<'a> Fitting<'a> {
    fn new(block: &'a Block, side: Color, name: Option<&'a PlayerName>) -> Fitting<'a> {
        let tag = tags::player_tag(side);
        let known = name.map_or(Vec::new(), |_| vec![None; block.tag_values().len()]);
        Fitting { name, block, tag, tags: block.tag_names(tag), known }
    }

    /// Returns true if the name of the player on the tested side is a spelling of `name`, or if no name is given.
    fn fits(&mut self, game: &GameRow) -> bool {
        let Some(name) = self.name else { return true };
        let Some(value) = game.tag_value(&self.tags) else { return false };
        *self.known[value.0 as usize].get_or_insert_with(|| {
            let text =
                self.block.tag_values().get(value.0).and_then(|text| tags::known_value(self.tag, text));
            text.is_some_and(|text| name.fits(&text))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_ratings_are_read_and_written() {
        for text in ["2600-2700", "2600-", "-2700", "2600-2600"] {
            assert_eq!(text.parse::<Ratings>().unwrap().to_string(), text);
        }
        for text in ["", "-", "2600", "2700-2600", "0-1", "-0", "x-", "2600-2700-2800", "2600-99999"] {
            assert!(text.parse::<Ratings>().is_err(), "{text}");
        }
    }
}
