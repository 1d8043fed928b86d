//! A player's score in a group of games, compared with the score predicted by the ratings.

use serde::Serialize;

use super::collect::Record;
use crate::stats::{Share, ShareDifference, SideResults};

/// The player's score in a group of games.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Scored {
    /// The name of the group of games, such as an opening or an ending.
    pub name: String,
    /// The number of games.
    pub games: u64,
    /// The results from the player's perspective.
    #[serde(flatten)]
    pub results: SideResults,
    /// The player's points per game, in games with a result.
    pub score: Option<Share>,
    /// The number of games with a result and known ratings of both sides. The next three fields refer only to these games.
    pub rated: u64,
    /// The points per rated game.
    pub rated_score: Option<Share>,
    /// The expected points per rated game.
    pub expected: Option<f64>,
    /// The points per rated game minus the expected points.
    pub difference: Option<ShareDifference>,
}

impl Scored {
    pub(super) fn new(name: impl Into<String>, record: &Record) -> Scored {
        let SideResults { wins, draws, losses } = record.results;
        let expected =
            (record.rated > 0).then(|| record.expected_millionths as f64 / 1e6 / record.rated as f64);
        let rated_score = Share::from_points(record.half_points, record.rated);
        // The expected score is computed from given ratings, not estimated from a sample, so it has no uncertainty. The interval of
        // the difference is therefore the interval of the score, shifted by the expected score.
        let difference = rated_score.zip(expected).map(|(Share { value, low, high }, expected)| {
            ShareDifference { value: value - expected, low: low - expected, high: high - expected }
        });
        Scored {
            name: name.into(),
            games: record.games,
            results: record.results,
            score: Share::from_points(2 * wins + draws, wins + draws + losses),
            rated: record.rated,
            rated_score,
            expected,
            difference,
        }
    }
}
