//! Groups as table rows, with shares and confidence intervals, and the order of rows.

use std::cmp::{Ordering, Reverse};
use std::fmt;

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use super::grouping::{By, Grouping};
use super::{Counts, GroupKey, MoveTally, SideResults, Tally, TallyTable, columns};
use crate::report::Distribution;
use orbit_core::game::Speed;
use orbit_engine::Outcome;

/// One group, or one cell of a cross table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GroupRow {
    /// The group of the first property, and the group of the second property, or [`GroupKey::Whole`] if there is none.
    pub keys: [GroupKey; 2],
    /// The tally of all games and positions in the group, with or without hits.
    pub all: Tally,
    /// The tally of games and positions with hits.
    pub hit: Tally,
    /// The side or player for whom scores are computed.
    pub score_of: ScoreOf,
    /// The results of games with hits for the side whose pattern matched, or `None` if the query does not determine this side.
    pub sides: Option<SideResults>,
    /// The values at hits, or `None` if the query's value is not a number or values are not counted.
    pub values: Option<Distribution>,
    /// Additional numbers about games with hits, if the group consists of moves.
    pub moves: Option<MoveRow>,
}

/// The numbers in a row of a grouping by adjacent moves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MoveRow {
    /// The sums over games with hits.
    pub tally: MoveTally,
    /// The number of games in which the last move of the group could have been played. If the group is a single move, these are all
    /// games with hits or, in a cross table, those in the group of the other property. If it is a sequence of moves, these are the
    /// games in which the earlier moves of the sequence were played.
    pub games_before: u64,
}

/// The side or player for whom a score is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScoreOf {
    /// White.
    #[default]
    White,
    /// The selected player. In a grouping by players, it is the player of each group.
    Player,
}

impl ScoreOf {
    /// Returns the name as a heading.
    pub fn heading(self) -> &'static str {
        match self {
            ScoreOf::White => "White's score",
            ScoreOf::Player => "player's score",
        }
    }
}

impl MoveRow {
    /// Returns the mean score of the sides that play the moves, with its confidence interval.
    pub fn score(&self) -> Option<Share> {
        let SideResults { wins, draws, losses } = self.tally.results;
        Share::from_points(2 * wins + draws, wins + draws + losses)
    }
}

impl GroupRow {
    /// Returns the share of the group's games that have hits.
    pub fn games(&self) -> Option<Share> {
        Share::new(self.hit.games, self.all.games)
    }

    /// Returns the share of games in which the group's move was played, among games in which it could have been played. Returns
    /// `None` if groups are not moves.
    pub fn move_share(&self) -> Option<Share> {
        Share::new(self.hit.games, self.moves.as_ref()?.games_before)
    }

    /// Returns the share of the group's positions that are hits. Positions of one game are similar, so the interval is narrower
    /// than it should be.
    pub fn positions(&self) -> Option<Share> {
        Share::new(self.hit.positions, self.all.positions)
    }

    /// Returns the share of the group's hits among all hits, of which there are `hits`. Returns `None` if there are none.
    pub fn hits_share(&self, hits: u64) -> Option<f64> {
        (hits > 0).then(|| self.hit.positions as f64 / hits as f64)
    }

    /// Returns the share of the group's games that have hits, minus the corresponding share of another group.
    pub fn difference_from(&self, other: &GroupRow) -> Option<ShareDifference> {
        Some(ShareDifference::between(self.games()?, other.games()?))
    }
}

/// The 97.5 % quantile of the standard normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// A share between 0 and 1, and its 95 % confidence interval.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Share {
    /// The share itself.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

impl Share {
    /// Returns the share `part / whole` with Wilson's confidence interval, or `None` if `whole` is 0.
    ///
    /// Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the American
    /// Statistical Association 22 (1927), 209-212.
    pub fn new(part: u64, whole: u64) -> Option<Share> {
        if whole == 0 {
            return None;
        }
        let (part, whole) = (part as f64, whole as f64);
        Some(Share::with_interval(part / whole, whole))
    }

    /// Returns the mean score in some games, given their total half points, or `None` if there are no games. The interval is
    /// computed like that of a share of games, so it is wider than necessary if games were drawn.
    pub fn from_points(half_points: u64, games: u64) -> Option<Share> {
        let (points, games) = (half_points as f64 / 2.0, games as f64);
        (games > 0.0).then(|| Share::with_interval(points / games, games))
    }

    fn with_interval(value: f64, whole: f64) -> Share {
        let scale = 1.0 + Z * Z / whole;
        let middle = (value + Z * Z / (2.0 * whole)) / scale;
        let half = Z / scale * (value * (1.0 - value) / whole + Z * Z / (4.0 * whole * whole)).sqrt();
        Share { value, low: (middle - half).clamp(0.0, value), high: (middle + half).clamp(value, 1.0) }
    }
}

/// The difference between two shares, from -1 to 1, and its 95 % confidence interval.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct ShareDifference {
    /// The difference itself.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

impl ShareDifference {
    /// Returns the difference between the shares in two disjoint sets of games. The interval is computed from the intervals of both
    /// shares.
    ///
    /// Source: R. G. Newcombe, "Interval estimation for the difference between independent proportions: comparison of eleven
    /// methods", Statistics in Medicine 17 (1998), 873-890, method 10.
    pub fn between(one: Share, other: Share) -> ShareDifference {
        let value = one.value - other.value;
        let below = (one.value - one.low).hypot(other.high - other.value);
        let above = (one.high - one.value).hypot(other.value - other.low);
        ShareDifference { value, low: value - below, high: value + above }
    }
}

/// Writes the difference in percentage points with its interval: `+3.1 (-2.0 to +8.2)`.
impl fmt::Display for ShareDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A difference that rounds to 0 has no sign.
        let signed = |share: f64| match format!("{:+.1}", 100.0 * share) {
            zero if zero == "-0.0" || zero == "+0.0" => "0.0".to_owned(),
            text => text,
        };
        write!(f, "{} ({} to {})", signed(self.value), signed(self.low), signed(self.high))
    }
}

/// Returns, for each of the two properties, whether only hits have it. The second value is false if there is no second property.
fn of_hits(grouping: &Grouping) -> [bool; 2] {
    let mut properties = grouping.properties().map(By::is_of_hits);
    [properties.next(), properties.next()].map(|found| found == Some(true))
}

/// Returns the keys of the baseline for the group `keys`: the games, with or without hits, to which the group's hits are related.
/// If only hits have a property (the number of a copy, for example), its key becomes [`GroupKey::Whole`], because games cannot be
/// grouped by this property.
pub(super) fn base(grouping: &Grouping, keys: &[GroupKey; 2]) -> [GroupKey; 2] {
    let of_hits = of_hits(grouping);
    [0, 1].map(|k: usize| if of_hits[k] { GroupKey::Whole } else { keys[k].clone() })
}

/// Returns a row for each group, or for each cell of a cross table, in arbitrary order.
pub(super) fn group_rows(table: &TallyTable, grouping: &Grouping, counts: &Counts) -> Vec<GroupRow> {
    let stats = &counts.stats;
    let sides = |hit: &Tally| counts.tells_sides.then_some(hit.sides);
    let is_by_player = grouping.properties().any(|by| *by == By::Player);
    let score_of = if is_by_player { ScoreOf::Player } else { stats.score_of };
    let values = |keys: &[GroupKey; 2]| {
        stats.tells_values.then(|| table.values.get(keys).cloned().unwrap_or_default())
    };
    let tally = |tallies: &HashMap<[GroupKey; 2], Tally>, keys: &[GroupKey; 2]| {
        tallies.get(keys).copied().unwrap_or_default()
    };
    if of_hits(grouping) == [false; 2] {
        let row = |(keys, &all): (&[GroupKey; 2], &Tally)| {
            let hit = tally(&table.hit, keys);
            let (keys, values) = (keys.clone(), values(keys));
            GroupRow { keys, all, hit, score_of, sides: sides(&hit), values, moves: None }
        };
        return table.all.iter().map(row).collect();
    }
    let moves = MoveRows::from_grouping(grouping, counts);
    let row = |(keys, &hit): (&[GroupKey; 2], &Tally)| {
        let all = tally(&table.all, &base(grouping, keys));
        let moves = moves.as_ref().map(|moves| moves.row(table, keys));
        let (keys, values) = (keys.clone(), values(keys));
        GroupRow { keys, all, hit, score_of, sides: sides(&hit), values, moves }
    };
    table.hit.iter().map(row).collect()
}

/// The numbers of games from which [`MoveRow::games_before`] is computed.
struct MoveRows<'a> {
    /// The index of the property whose groups are moves.
    place: usize,
    /// In a cross table, the games with hits by the groups of the other property.
    others: Option<&'a HashMap<[GroupKey; 2], Tally>>,
    /// The total number of games with hits.
    games: u64,
}

impl<'a> MoveRows<'a> {
    /// Collects the numbers from which [`MoveRow::games_before`] is computed. Returns `None` if the grouping is not by adjacent
    /// moves.
    fn from_grouping(grouping: &Grouping, counts: &'a Counts) -> Option<MoveRows<'a>> {
        let place = grouping.properties().position(By::is_of_moves)?;
        let other = grouping.properties().nth(1 - place);
        let margin = other.map(|other| Grouping::from(other.clone()));
        let index = counts.stats.groupings.iter().position(|grouping| Some(grouping) == margin.as_ref());
        let others = index.map(|index| &counts.tables[index].hit);
        Some(MoveRows { place, others, games: counts.total[1].games })
    }

    fn row(&self, table: &TallyTable, keys: &[GroupKey; 2]) -> MoveRow {
        let games = |found: Option<&Tally>| found.map_or(0, |tally| tally.games);
        let before = match &keys[self.place] {
            GroupKey::Text(path) => path.rsplit_once(' ').map(|(before, _)| before),
            _ => None,
        };
        let games_before = match (before, self.others) {
            (Some(before), _) => {
                let mut group = keys.clone();
                group[self.place] = GroupKey::Text(before.to_owned());
                games(table.hit.get(&group))
            }
            (None, Some(others)) => games(others.get(&[keys[1 - self.place].clone(), GroupKey::Whole])),
            (None, None) => self.games,
        };
        MoveRow { tally: table.moves.get(keys).cloned().unwrap_or_default(), games_before }
    }
}

/// Sorts rows as a tree: each move is followed by its continuations, and moves with more games come first.
pub(super) fn sort_tree(rows: Vec<GroupRow>) -> Vec<GroupRow> {
    let paths: Vec<String> = rows.iter().map(|row| row.keys[0].to_string()).collect();
    let with_paths = paths.iter().map(String::as_str).zip(&rows);
    let games: HashMap<&str, u64> = with_paths.map(|(path, row)| (path, row.hit.games)).collect();
    let places = paths.iter().map(|path| {
        let ends = path.match_indices(' ').map(|(end, _)| end).chain([path.len()]);
        ends.map(|end| (Reverse(games.get(&path[..end]).copied()), &path[..end])).collect::<Vec<_>>()
    });
    let mut sorted: Vec<_> = places.zip(rows).collect();
    sorted.sort_by(|(one, _), (other, _)| one.cmp(other));
    sorted.into_iter().map(|(_, row)| row).collect()
}

/// Compares two rows by one property.
pub(super) fn order(by: &By, a: &GroupRow, b: &GroupRow) -> Ordering {
    let own = compare(by, &a.keys[0], &b.keys[0]);
    if by.is_ranked() { b.hit.games.cmp(&a.hit.games).then(own) } else { own }
}

/// Returns the rank of a game result in the usual order: 1-0, draw, 0-1, unknown.
fn result_rank(key: &GroupKey) -> usize {
    let order = [Outcome::WhiteWins, Outcome::Draw, Outcome::BlackWins, Outcome::Unknown];
    let is =
        |outcome: Outcome, text: &str| outcome.text() == text || columns::result_of_player(outcome) == text;
    let place = |text: &String| order.iter().position(|&outcome| is(outcome, text));
    if let GroupKey::Text(text) = key { place(text).unwrap_or(order.len()) } else { order.len() }
}

/// Returns the rank of a time control class, from fastest to slowest.
fn speed_rank(key: &GroupKey) -> usize {
    let is = |speed: &Speed| matches!(key, GroupKey::Text(text) if text == speed.name());
    Speed::ALL.iter().position(is).unwrap_or(Speed::ALL.len())
}

/// Returns a sort key for groups of a measure. Their order is: Black's mates, values below the lowest class boundary, numbers by
/// size, White's mates, and unknown values.
fn measure_rank(key: &GroupKey) -> (i8, i64) {
    match key {
        GroupKey::Text(text) if text == columns::BLACK_MATES => (0, 0),
        GroupKey::Text(text) if text == columns::WHITE_MATES => (3, 0),
        GroupKey::Text(_) => (1, 0),
        GroupKey::Thousandths(number) => (2, *number),
        _ => (4, 0),
    }
}

/// Compares two groups of one property in the property's natural order.
fn compare(by: &By, a: &GroupKey, b: &GroupKey) -> Ordering {
    match by {
        By::Result => result_rank(a).cmp(&result_rank(b)),
        By::Speed => speed_rank(a).cmp(&speed_rank(b)),
        By::Measure(..) => measure_rank(a).cmp(&measure_rank(b)),
        _ => a.cmp(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected values are from R. G. Newcombe, "Two-sided confidence intervals for the single proportion: comparison of seven
    /// methods", Statistics in Medicine 17 (1998), 857-872, table I, method 3 (Wilson's score without correction), to four decimal
    /// places.
    #[test]
    fn intervals_are_those_of_the_literature() {
        for (part, whole, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let share = Share::new(part, whole).unwrap();
            let close = |a: f64, b: f64| (a - b).abs() <= 0.000_05;
            assert!(close(share.low, low) && close(share.high, high), "{part} of {whole}: {share:?}");
        }
    }

    /// The expected values are from R. G. Newcombe, "Interval estimation for the difference between independent proportions:
    /// comparison of eleven methods", Statistics in Medicine 17 (1998), 873-890, table II, method 10, to four decimal places.
    #[test]
    fn intervals_of_differences_are_those_of_the_literature() {
        for (one, other, value, low, high) in [
            ((56, 70), (48, 80), 0.2000, 0.0524, 0.3339),
            ((9, 10), (3, 10), 0.6000, 0.1705, 0.8090),
            ((6, 7), (2, 7), 0.5714, 0.0582, 0.8062),
            ((5, 56), (0, 29), 0.0893, -0.0381, 0.1926),
            ((0, 10), (0, 10), 0.0, -0.2775, 0.2775),
            ((10, 10), (0, 10), 1.0, 0.6075, 1.0),
        ] {
            let [a, b] = [one, other].map(|(part, whole)| Share::new(part, whole).unwrap());
            let found = ShareDifference::between(a, b);
            let close = |a: f64, b: f64| (a - b).abs() <= 0.000_05;
            let is_due = close(found.value, value) && close(found.low, low) && close(found.high, high);
            assert!(is_due, "{one:?} less {other:?}: {found:?}");
        }
    }

    /// The observed share is exactly 1.96 standard deviations away from each end of its interval.
    #[test]
    fn intervals_solve_their_equation() {
        for (part, whole) in [(1, 3), (7, 11_372), (5_000, 11_372), (1, 1_000_004_819), (999, 1_000)] {
            let share = Share::new(part, whole).unwrap();
            for end in [share.low, share.high] {
                let deviation = (end * (1.0 - end) / whole as f64).sqrt();
                assert!(
                    ((share.value - end).abs() / deviation - Z).abs() < 1e-6,
                    "{part} of {whole}: {share:?}"
                );
            }
        }
    }

    #[test]
    fn intervals_stay_within_bounds() {
        assert_eq!(Share::new(0, 0), None);
        // Beyond 2^53, an interval is so narrow that an `f64` cannot distinguish its end from 1.
        for whole in [1, 10, 1_000_000, 1 << 50] {
            let (none, all) = (Share::new(0, whole).unwrap(), Share::new(whole, whole).unwrap());
            assert_eq!((none.value, none.low, all.value, all.high), (0.0, 0.0, 1.0, 1.0));
            assert!(none.high > 0.0 && all.low < 1.0, "{whole}");
        }
    }
}
