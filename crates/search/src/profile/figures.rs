//! The figures in a profile: percentages, scores and confidence intervals, computed from sums.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use super::collect::{
    LossTallies, LossTally, PositionRecord, ProfileCollector, ProfilePart, REMAINING_TIMES, Record,
    ThemeTally,
};
use super::novelties::PlayerNovelties;
use super::scored::Scored;
use super::{ENDINGS, THEMES, titles};
use crate::choice::Choice;
use crate::stats::{MoveTally, Share, ShareDifference};

/// The maximum number of openings listed per colour.
const OPENINGS_MAX: usize = 10;
/// The maximum number of gaps listed. A gap is a position in which the player scores less than expected.
const GAPS_MAX: usize = 10;
/// The minimum number of rated games that a position needs to be listed as a gap.
const GAP_GAMES_MIN: u64 = 5;
/// The maximum number of similar names listed.
const NEAR_MAX: usize = 10;

/// A player's profile.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Profile {
    /// The player as given, with any restrictions on the side, the ratings and the opponent.
    pub player: String,
    /// A description of the conditions on games, or an empty string if there are none.
    pub chosen: String,
    /// The names of the sources.
    pub sources: Vec<String>,
    /// The spellings that were recognized as the player's name, most frequent first.
    pub names: Vec<NameGames>,
    /// Similar names whose games were not counted, most similar first.
    pub near: Vec<NameGames>,
    /// The number of games without the player.
    pub others: u64,
    /// The first and the last year of the player's games.
    pub years: Option<[u16; 2]>,
    /// The results as White, as Black, and in all games.
    pub sides: [SideRow; 3],
    /// The openings as White and as Black.
    pub openings: [OpeningTable; 2],
    /// The positions in which the player's score is furthest below expectation.
    pub gaps: Vec<GapRow>,
    /// The novelties. `None` if the games cannot be read several times, which is necessary to find novelties.
    pub novelties: Option<PlayerNovelties>,
    /// The themes.
    pub themes: Vec<ThemeRow>,
    /// The score in games that reach each type of ending, followed by the score in games that reach any of them.
    pub endings: Vec<Scored>,
    /// True if the comments of the games were read. They contain the clock times and the evaluations.
    pub comments_read: bool,
    /// The figures about time trouble, or `None` if there are no clock times.
    pub clock: Option<ClockShare>,
    /// The evaluation lost by moves, or `None` if there are no evaluations.
    pub losses: Option<Losses>,
}

/// A spelling of a name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct NameGames {
    /// The spelling.
    pub name: String,
    /// The number of games with this spelling.
    pub games: u64,
}

/// The player's results with White, with Black, or in all games.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct SideRow {
    /// The results.
    #[serde(flatten)]
    pub scored: Scored,
    /// The player's mean rating.
    pub rating: Option<u64>,
    /// The opponents' mean rating, in games with a result.
    pub opponent_rating: Option<u64>,
    /// The performance rating.
    pub performance: Option<i64>,
}

/// The results by opening, for one colour.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct OpeningTable {
    /// The most frequent openings.
    pub openings: Vec<Scored>,
    /// The number of openings that are not listed.
    pub more: usize,
    /// The results in all openings that are not listed.
    pub rest: Scored,
}

/// A position, named by its opening, in which the player scores less than expected.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct GapRow {
    /// The player's side: `White` or `Black`.
    pub side: &'static str,
    /// The score.
    #[serde(flatten)]
    pub scored: Scored,
}

/// The share of games with a theme.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct ThemeShare {
    /// The number of games with the theme.
    pub games: u64,
    /// The number of all games, with and without the theme.
    pub of: u64,
    /// The share with its confidence interval.
    pub share: Option<Share>,
}

/// The share of games with a theme, for the player and for the other players (the field).
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ThemeRow {
    /// The name of the theme in the catalogue.
    pub theme: String,
    /// The title of the theme.
    pub title: String,
    /// The share of the player's games with the theme. If the database contains no games of other players, only games in which the
    /// pattern of the player's side matched are counted.
    pub player: ThemeShare,
    /// The share of other players' games with the theme. If the database contains no such games and the theme tells the patterns of
    /// both sides apart, this is the share of the player's games in which the pattern of the opponent's side matched.
    pub field: Option<ThemeShare>,
    /// The player's share minus the share in the field.
    pub difference: Option<ShareDifference>,
    /// The number of the player's games in which the pattern of the player's side matched, and the number in which the pattern of
    /// the opponent's side matched, if the theme tells these patterns apart.
    pub has_pattern: Option<[u64; 2]>,
}

/// The share of games in which the player and the opponents were in time trouble.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ClockShare {
    /// The number of games with clock times.
    pub games: u64,
    /// The share of games in which the player was in time trouble.
    pub player: ThemeShare,
    /// The share of games in which the opponent was in time trouble.
    pub opponent: ThemeShare,
    /// The score in games in which the player was in time trouble.
    pub short: Scored,
}

/// The evaluation lost by moves.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Losses {
    /// The number of games in which the loss of at least one move is known.
    pub games: u64,
    /// The player's moves: one row per class of remaining time, followed by a row for all moves.
    pub player: Vec<LossRow>,
    /// The opponents' moves: one row per class of remaining time, followed by a row for all moves.
    pub opponents: Vec<LossRow>,
}

/// The losses of one side's moves in one class of remaining time. The class is determined by the fraction of the starting time that
/// is left after the move.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct LossRow {
    /// The name of the class of remaining time.
    pub remaining_time: &'static str,
    /// The number of moves.
    pub moves: u64,
    /// The mean loss in pawns.
    pub mean_loss: f64,
    /// The share of moves that lost at least half a pawn in evaluation.
    pub half_pawn: Option<Share>,
    /// The share of moves that lost at least one pawn in evaluation.
    pub one_pawn: Option<Share>,
    /// The share of moves that lost at least two pawns in evaluation.
    pub two_pawns: Option<Share>,
}

/// The names of the classes of remaining time.
const TIME_NAMES: [&str; REMAINING_TIMES] = [
    "half of the starting time or more",
    "a tenth to half",
    "less than a tenth",
    "no clock or starting time",
];

impl Losses {
    fn new(tallies: &LossTallies) -> Losses {
        let rows = |tallies: &[LossTally]| {
            let all = LossTally::sum(tallies);
            let named = TIME_NAMES.into_iter().zip(tallies).chain([("all moves", &all)]);
            named
                .filter(|(_, tally)| tally.moves > 0)
                .map(|(name, tally)| LossRow::new(name, tally))
                .collect()
        };
        Losses { games: tallies.games, player: rows(&tallies.moves[0]), opponents: rows(&tallies.moves[1]) }
    }
}

impl LossRow {
    fn new(remaining_time: &'static str, tally: &LossTally) -> LossRow {
        let [half_pawn, one_pawn, two_pawns] = tally.at_least.map(|moves| Share::new(moves, tally.moves));
        let mean_loss = tally.lost as f64 / 1e3 / tally.moves as f64;
        LossRow { remaining_time, moves: tally.moves, mean_loss, half_pawn, one_pawn, two_pawns }
    }
}

impl ThemeShare {
    fn new(games: u64, of: u64) -> ThemeShare {
        ThemeShare { games, of, share: Share::new(games, of) }
    }
}

impl SideRow {
    fn new(name: &str, record: &Record, tally: &MoveTally) -> SideRow {
        SideRow {
            scored: Scored::new(name, record),
            rating: tally.rating(),
            opponent_rating: tally.opponent_rating(),
            performance: tally.performance(),
        }
    }
}

impl OpeningTable {
    fn new(openings: &BTreeMap<Option<String>, Record>) -> OpeningTable {
        let mut all: Vec<(&Option<String>, &Record)> = openings.iter().collect();
        all.sort_by_key(|(_, record)| Reverse(record.games));
        let (listed, others) = all.split_at(all.len().min(OPENINGS_MAX));
        let mut rest = Record::default();
        others.iter().for_each(|(_, record)| rest.add(record));
        let scored = |(name, record): &(&Option<String>, &Record)| {
            Scored::new(name.as_deref().unwrap_or("(no name)"), record)
        };
        OpeningTable {
            openings: listed.iter().map(scored).collect(),
            more: others.len(),
            rest: Scored::new("more", &rest),
        }
    }
}

impl ThemeRow {
    fn new((theme, title): (&str, String), tally: &ThemeTally, games: u64, others: u64) -> ThemeRow {
        let has_pattern = tally.tells_sides.then_some([tally.own, tally.opponent]);
        let (player, field) = match (others, has_pattern) {
            (1.., _) => (ThemeShare::new(tally.player, games), Some(ThemeShare::new(tally.others, others))),
            (0, Some([own, opponent])) => {
                (ThemeShare::new(own, games), Some(ThemeShare::new(opponent, games)))
            }
            (0, None) => (ThemeShare::new(tally.player, games), None),
        };
        let shares = player.share.zip(field.and_then(|field| field.share));
        let difference = shares.map(|(one, other)| ShareDifference::between(one, other));
        ThemeRow { theme: theme.to_owned(), title, player, field, difference, has_pattern }
    }
}

impl Profile {
    /// Computes the figures of a profile, except novelties. Those are added later, because finding them requires reading the games
    /// again.
    pub fn new(
        collector: &ProfileCollector,
        choice: &Choice,
        sources: Vec<String>,
        part: &ProfilePart,
    ) -> Profile {
        let names = |all: Vec<(&str, u64)>| -> Vec<NameGames> {
            all.into_iter().map(|(name, games)| NameGames { name: name.to_owned(), games }).collect()
        };
        let (mut both, mut tally) = (part.records[0], part.tallies[0].clone());
        both.add(&part.records[1]);
        tally.add(part.tallies[1].clone());
        let themes = THEMES.into_iter().zip(titles()).zip(&part.themes);
        let endings = ENDINGS.iter().map(|ending| ending.0).chain(["any of these"]).zip(&part.endings);
        let side = |at: usize, name| SideRow::new(name, &part.records[at], &part.tallies[at]);
        let mut near = names(part.spellings.nearest(&collector.player().name));
        near.truncate(NEAR_MAX);
        Profile {
            player: collector.player().to_string(),
            chosen: choice.in_words(),
            sources,
            names: names(part.spellings.taken()),
            near,
            others: part.others,
            years: tally.years,
            sides: [side(0, "White"), side(1, "Black"), SideRow::new("all", &both, &tally)],
            openings: [0, 1].map(|at| OpeningTable::new(&part.openings[at])),
            gaps: gaps(part),
            novelties: None,
            themes: themes
                .map(|(theme, tally)| ThemeRow::new(theme, tally, both.games, part.others))
                .collect(),
            endings: endings
                .filter(|(_, record)| record.games > 0)
                .map(|(name, record)| Scored::new(name, record))
                .collect(),
            comments_read: collector.reads_comments(),
            clock: (part.clocks.games > 0).then(|| {
                let share = |at: usize| ThemeShare::new(part.clocks.short[at], part.clocks.known[at]);
                let short = Scored::new("short of time", &part.clocks.record);
                ClockShare { games: part.clocks.games, player: share(0), opponent: share(1), short }
            }),
            losses: (part.losses.games > 0).then(|| Losses::new(&part.losses)),
        }
    }

    /// Returns the number of games of the player.
    pub fn games(&self) -> u64 {
        self.sides[2].scored.games
    }
}

/// Returns the positions in which the score is furthest below expectation. Of several positions that the same games reached,
/// only the one with the longest name is listed.
fn gaps(part: &ProfilePart) -> Vec<GapRow> {
    let mut all = Vec::new();
    for (side, positions) in ["White", "Black"].into_iter().zip(&part.positions) {
        let mut named: Vec<(&String, &PositionRecord)> =
            positions.iter().filter(|(_, position)| position.record.rated >= GAP_GAMES_MIN).collect();
        named.sort_by_key(|(name, _)| Reverse(name.len()));
        let mut seen: Vec<&PositionRecord> = Vec::new();
        for (name, position) in named {
            if !seen.contains(&position) {
                seen.push(position);
                all.push(GapRow { side, scored: Scored::new(name, &position.record) });
            }
        }
    }
    let below = |row: &GapRow| row.scored.difference.map_or(0.0, |difference| difference.value);
    all.retain(|row| below(row) < 0.0);
    all.sort_by(|a, b| below(a).total_cmp(&below(b)).then_with(|| a.scored.name.cmp(&b.scored.name)));
    all.truncate(GAPS_MAX);
    all
}
