//! Arguments that choose the games of a player, and what is said of his name.

use std::collections::BTreeMap;

use clap::ValueEnum;
use orbit_chess::internals::board::Color;
use orbit_chess::internals::choice::{Player, Ratings};
use orbit_chess::internals::game::PlayerName;
use orbit_chess::internals::report::grouped;
use orbit_chess::internals::run::{SpellingsCollector, SpellingsPart};
use orbit_chess::internals::stats::Grouping;
use orbit_chess::internals::visible;

use super::Failure;

/// Spellings that the summary lists.
const SPELLINGS_MAX: usize = 12;

#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Choosing a player")]
pub(super) struct PlayerArgs {
    /// Count only games of a player, and ask the query from his side: White of the query is the player.
    ///
    /// In games in which he has Black, the query is asked of the game with colours swapped: the board turned upside down,
    /// White's pieces in the place of Black's, with the results and tags of the sides. What is found is shown in the game
    /// as it was played. Scores and statistics are the player's.
    ///
    /// `Carlsen`, `Carlsen, M` and `Magnus Carlsen` are names. The surname must be the same, and given names as well, of
    /// which each may be an initial; case, accents and points do not matter. The summary lists the spellings that were
    /// taken together.
    #[arg(long, value_name = "NAME")]
    player: Option<PlayerName>,
    /// Count only games in which the player has this side.
    #[arg(
        long = "as",
        value_name = "SIDE",
        requires = "player",
        default_value = "any",
        hide_default_value = true
    )]
    side: SideName,
    /// Count only games in which the player's rating lies in a range, such as `2600-2700`, `2600-` or `-2700`.
    #[arg(long, value_name = "MIN-MAX", requires = "player", allow_hyphen_values = true)]
    rating: Option<Ratings>,
    /// Count only games against an opponent; his name is read as that of the player is.
    #[arg(long, value_name = "NAME", requires = "player")]
    opponent: Option<PlayerName>,
    /// Count only games in which the opponent's rating lies in a range.
    #[arg(long, value_name = "MIN-MAX", requires = "player", allow_hyphen_values = true)]
    opponent_rating: Option<Ratings>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
enum SideName {
    /// White.
    White,
    /// Black.
    Black,
    /// Either of them.
    #[default]
    Any,
}

impl PlayerArgs {
    /// The player, if one is chosen.
    pub(super) fn player(&self) -> Option<Player> {
        let mut player = Player::new(self.player.clone()?);
        player.side = match self.side {
            SideName::White => Some(Color::White),
            SideName::Black => Some(Color::Black),
            SideName::Any => None,
        };
        player.ratings = self.rating.clone();
        player.opponent = self.opponent.clone();
        player.opponent_ratings = self.opponent_rating.clone();
        Some(player)
    }

    /// What lists the spellings of his name, if a player is chosen.
    pub(super) fn collector(&self) -> Option<SpellingsCollector> {
        self.player.as_ref().map(|_| SpellingsCollector)
    }

    /// Refuses groups that only the games of a player have.
    pub(super) fn refuse_idle(&self, groupings: &[Grouping]) -> Result<(), Failure> {
        let mut all = groupings.iter().flat_map(Grouping::properties);
        match all.find(|by| by.is_of_player()).filter(|_| self.player.is_none()) {
            None => Ok(()),
            Some(by) => Err(Failure::Other(format!(
                "`{by}` groups the games of one player: add --player NAME, or choose `player`, `white` or `black`"
            ))),
        }
    }

    /// The games of the player, and the spellings that were taken together.
    pub(super) fn summary(&self, spellings: &SpellingsPart) -> Vec<String> {
        let Some(player) = self.player() else { return Vec::new() };
        let [white, black] = sums(&spellings.player);
        if white + black == 0 {
            return vec![format!("no game of {player}: names are the tags White and Black of the games")];
        }
        let games = format!(
            "{player}: {} games, {} as White, {} as Black; all seen from that side, and scores are the player's",
            grouped(white + black),
            grouped(white),
            grouped(black)
        );
        let mut lines = vec![games];
        lines.extend(list("taken together", &spellings.player));
        lines.extend(
            self.opponent.as_ref().and_then(|_| list("opponents taken together", &spellings.opponent)),
        );
        lines
    }
}

fn sums(spellings: &BTreeMap<String, [u64; 2]>) -> [u64; 2] {
    spellings.values().fold([0; 2], |sum, games| [sum[0] + games[0], sum[1] + games[1]])
}

/// Spellings with their games, the most frequent first; nothing of a single one.
fn list(what: &str, spellings: &BTreeMap<String, [u64; 2]>) -> Option<String> {
    let mut all: Vec<(&String, u64)> =
        spellings.iter().map(|(name, games)| (name, games.iter().sum())).collect();
    all.sort_by_key(|&(_, games)| std::cmp::Reverse(games));
    let shown = all.iter().take(SPELLINGS_MAX);
    let shown: Vec<String> =
        shown.map(|(name, games)| format!("`{}` {}", visible::line(name), grouped(*games))).collect();
    let more = match all.len().saturating_sub(SPELLINGS_MAX) {
        0 => String::new(),
        more => format!(" and {} more", grouped(more as u64)),
    };
    (all.len() > 1).then(|| format!("{what}: {}{more}", shown.join(", ")))
}
