//! Defines the arguments that select a player's games, and composes messages about the player's name.

use std::collections::{BTreeMap, BTreeSet};

use clap::ArgGroup;
use orbit_core::game::{PlayerName, are_alike};
use orbit_core::visible;
use orbit_search::Request;
use orbit_search::choice::{Choice, Player, Ratings, Side};
use orbit_search::report::grouped;
use orbit_search::run::{SpellingsCollector, SpellingsPart};
use serde_json::{Value, json};

use super::common::{choice, counted};
use super::terminal::Remark;

/// The maximum number of name spellings that the summary lists.
const SPELLINGS_MAX: usize = 12;

/// The maximum number of name spellings that are compared pairwise for the summary.
const UNDECIDED_MAX: usize = 200;

#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Choosing a player", group(ArgGroup::new("whose").multiple(true)))]
pub(super) struct PlayerArgs {
    /// Count only games of a player, and evaluate the query from his side: White in the query is the player.
    ///
    /// If he has Black, the query is evaluated on the game with swapped colours: the board is reflected top to bottom, and
    /// the pieces, results and tags of the sides are exchanged. The output shows the game as it was played. Scores and
    /// statistics are the player's.
    ///
    /// `Carlsen`, `Carlsen, M` and `Magnus Carlsen` are names. The surname must be the same, and so must the given names,
    /// each of which may be shortened; case, accents and points do not matter. The summary lists the spellings that count
    /// as this player, and similar names that do not.
    #[arg(long, value_name = "NAME", group = "whose")]
    player: Option<PlayerName>,
    /// Count only games of the player whose name has exactly this spelling; otherwise like --player.
    #[arg(long, value_name = "NAME", group = "whose")]
    player_exact: Option<String>,
    /// Count only games in which the player has this side.
    #[arg(long = "as", value_name = "SIDE", value_parser = choice::<Side>(), group = "whose")]
    side: Option<Side>,
    /// Count only games in which the player's rating is in a range, such as `2600-2700`, `2600-` or `-2700`.
    #[arg(long, value_name = "MIN-MAX", allow_hyphen_values = true, group = "whose")]
    rating: Option<Ratings>,
    /// Count only games against this opponent, whose name may be spelt in any of the ways that --player accepts.
    #[arg(long, value_name = "NAME", group = "whose")]
    opponent: Option<PlayerName>,
    /// Count only games in which the opponent's rating is in a range.
    #[arg(long, value_name = "MIN-MAX", allow_hyphen_values = true, group = "whose")]
    opponent_rating: Option<Ratings>,
}

impl PlayerArgs {
    /// Copies the player's name into a request.
    pub(super) fn put(&self, request: &mut Request) {
        let text = |name: &Option<PlayerName>| name.as_ref().map(PlayerName::to_string);
        let ratings = |ratings: &Option<Ratings>| ratings.as_ref().map(Ratings::to_string);
        (request.player, request.player_exact) = (text(&self.player), self.player_exact.clone());
        (request.side, request.rating) = (self.side, ratings(&self.rating));
        (request.opponent, request.opponent_rating) = (text(&self.opponent), ratings(&self.opponent_rating));
    }
}

/// Returns a collector for spellings of the player's name, if a player is selected.
pub(super) fn spellings(choice: &Choice) -> Option<SpellingsCollector> {
    choice.player.as_ref().map(|player| SpellingsCollector::new(player.name.clone()))
}

/// Returns lines about the player's games, the spellings that were accepted as the player's name, and similar spellings that were
/// not. `is_whole` is true if all games were read.
pub(super) fn summary(choice: &Choice, spellings: &SpellingsPart, is_whole: bool) -> Vec<Remark> {
    let Some(player) = &choice.player else { return Vec::new() };
    let name = &player.name;
    let [white, black] = sums(&spellings.player);
    let (taken, near) = (spellings.taken(), spellings.nearest(name));
    let fields = json!({ "player": {
        "name": name.to_string(),
        "games": white + black,
        "as_white": white,
        "as_black": black,
        "is_whole": is_whole,
        "together": objects(&taken),
        "left_out": objects(&near),
    }});
    let until = if is_whole { "" } else { " in the games that were read" };
    let first = match white + black {
        0 => format!("no game of {player}{until}: names are the tags White and Black of the games"),
        games => format!(
            "{player}: {}{until}, {} as White, {} as Black; all seen from that side, and scores are the player's",
            counted(games as usize, "game", "games"),
            grouped(white),
            grouped(black)
        ),
    };
    let mut remarks = vec![Remark::from((first, fields))];
    let mut say = |text: Option<String>| {
        remarks.extend(text.map(Remark::from));
    };
    say((taken.len() > 1).then(|| format!("taken together: {}", list(&taken))));
    let is_found = white + black > 0;
    let heading = if is_found { "near, and left out" } else { "did you mean" };
    let end = if is_found { "" } else { "?" };
    say((!near.is_empty()).then(|| format!("{heading}: {}{end}", list(&near))));
    if name.has_given_names() {
        for (one, others) in undecided(&taken, &near) {
            say(Some(format!(
                "`{}` was taken, and may be {} as well: --player-exact takes one spelling alone",
                visible::line(one),
                others.iter().map(|name| format!("`{}`", visible::line(name))).collect::<Vec<_>>().join(", ")
            )));
        }
    }
    if spellings.numbers.len() > 1 {
        let of_number = |(number, names): (&u32, &BTreeSet<String>)| {
            let names: Vec<String> = names.iter().map(|name| format!("`{}`", visible::line(name))).collect();
            format!("{number} {}", names.join(", "))
        };
        let shown: Vec<String> = spellings.numbers.iter().take(SPELLINGS_MAX).map(of_number).collect();
        say(Some(format!(
            "these are {} players by their FIDE numbers: {}",
            grouped(spellings.numbers.len() as u64),
            shown.join("; ")
        )));
    }
    let opponents = player.opponent.as_ref().map(|_| spellings.opponents());
    say(opponents.filter(|all| all.len() > 1).map(|all| format!("opponents taken together: {}", list(&all))));
    remarks
}

/// Returns the message that no game has the player's name or, if `--where` is given, that none of the player's games meets the
/// conditions. The message lists similar names.
pub(super) fn none_of(player: &Player, choice: &Choice, spellings: &SpellingsPart) -> String {
    let near = spellings.nearest(&player.name);
    let near = if near.is_empty() { String::new() } else { format!("; did you mean {}?", list(&near)) };
    let tags = "names are the tags White and Black of the games";
    match choice.conditions.is_empty() {
        true => format!("no game of {player}: {tags}{near}"),
        false => {
            format!(
                "no game of {player} meets the conditions of --where: change them, or the name; {tags}{near}"
            )
        }
    }
}

fn sums(spellings: &BTreeMap<String, [u64; 2]>) -> [u64; 2] {
    spellings.values().fold([0; 2], |sum, games| [sum[0] + games[0], sum[1] + games[1]])
}

fn list(all: &[(&str, u64)]) -> String {
    let shown = all.iter().take(SPELLINGS_MAX);
    let shown: Vec<String> =
        shown.map(|(name, games)| format!("`{}` {}", visible::line(name), grouped(*games))).collect();
    match all.len().saturating_sub(SPELLINGS_MAX) {
        0 => shown.join(", "),
        more => format!("{} and {} more", shown.join(", "), grouped(more as u64)),
    }
}

fn objects(all: &[(&str, u64)]) -> Vec<Value> {
    all.iter().map(|(name, games)| json!({ "name": name, "games": games })).collect()
}

/// Returns the doubtful spellings: those that were accepted as the player's name but may mean another player. Each has a list of
/// the spellings that cause the doubt. A spelling is doubtful if it matches a spelling that was not accepted, or two accepted
/// spellings that contradict each other.
fn undecided<'a>(taken: &[(&'a str, u64)], near: &[(&'a str, u64)]) -> Vec<(&'a str, Vec<&'a str>)> {
    let taken: Vec<&str> = taken.iter().take(UNDECIDED_MAX).map(|(name, _)| *name).collect();
    let near: Vec<&str> = near.iter().take(UNDECIDED_MAX).map(|(name, _)| *name).collect();
    let others = |one: &str| -> Vec<&'a str> {
        let near = near.iter().copied().filter(|other| are_alike(one, other));
        let fitting: Vec<&str> = taken.iter().copied().filter(|other| are_alike(one, other)).collect();
        let differs = |other: &&str| fitting.iter().any(|third| !are_alike(other, third));
        near.chain(fitting.iter().copied().filter(|other| *other != one).filter(differs)).collect()
    };
    let all = taken.iter().map(|&one| (one, others(one))).filter(|(_, others)| !others.is_empty());
    all.take(SPELLINGS_MAX)
        .map(|(one, others)| (one, others.into_iter().take(SPELLINGS_MAX).collect()))
        .collect()
}
