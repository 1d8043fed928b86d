//! Defines the arguments that select games and hits, and the arguments that sort and limit the listed games.

use std::num::NonZeroU64;

use orbit_core::game::{Eval, Measure, PlayerName};
use orbit_search::Request;
use orbit_search::choice::{Choice, Condition, SortKey, WholeText};
use orbit_search::request::SIMILAR_GAMES;
use orbit_search::run::{WholeTextsCollector, WholeTextsPart};

use super::common::{choice, counted, from_one};
use super::failure::Failure;
use super::players::PlayerArgs;

#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Choosing games")]
pub(super) struct ChoosingArgs {
    /// Count only games that meet a condition, such as `elo>=2600`, or hits at positions that meet it, such as `clock<30`.
    ///
    /// This option may be given several times; then all conditions must be met. `and`, `or` and parentheses join
    /// conditions, and `and` binds tighter: `elo>=2600 and (eco=B9* or eco=C*)`. Write a value that contains these words in
    /// quotation marks: `event~"now or never"`. A condition is a name, an operator and a value: `date>=2015`, `eco=B9*`,
    /// `eco=B90-B99`, `result=1-0`. The name is that of a common tag, in upper or lower case; `tag:Name` for any other tag;
    /// `player` (White or Black), `elo` (the higher rating), `year`, `result`, `title` (of White or Black), `white-title`,
    /// `black-title`, `opening-name` and `opening-eco` (determined from the moves, not from the tags), `moves` (the number
    /// of moves in the game), or `time-control` (ultrabullet, bullet, blitz, rapid, classical, correspondence). The
    /// operators are `=` and `!=` (`*` in the value stands for any characters), `~` and `!~` (the tag contains the value,
    /// or does not), `<`, `<=`, `>` and `>=`.
    ///
    /// `clock` (seconds left to the player who just moved), `spent` (seconds that the move took), `eval` (pawns by which
    /// White is ahead) and `loss` (pawns that the move lost) are properties of positions: only hits at positions that meet
    /// the condition are counted. They are read from the comments of the games, as lichess and cutechess write them.
    #[arg(short = 'w', long = "where", value_name = "CONDITION")]
    conditions: Vec<Condition>,
    #[command(flatten)]
    pub(super) player: PlayerArgs,
    /// Count only the first hit of each game.
    #[arg(long)]
    first: bool,
    /// Count only the hit of each game with the greatest value.
    #[arg(long)]
    best: bool,
    /// Leave out the first N games that hit.
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    skip: u64,
    /// Stop after N games that hit.
    #[arg(short = 'n', long, value_name = "N", value_parser = from_one::<NonZeroU64>)]
    limit: Option<NonZeroU64>,
    /// List the games that hit in the order of KEY, highest first.
    ///
    /// Games for which KEY is unknown come last. All games are searched, and those that hit are kept in memory until the
    /// end; with --limit N, only the first N in the order are kept and listed.
    #[arg(long, value_parser = choice::<SortKey>(), value_name = "KEY")]
    sort: Option<SortKey>,
    /// With --sort, list the lowest first.
    #[arg(long)]
    reverse: bool,
    /// List N games, chosen at random, of those that hit.
    ///
    /// The choice depends on the games and on --seed alone: it is the same with any number of threads, any engine, and
    /// any distribution of the games over files. Of games with the same moves, only the first can be chosen.
    #[arg(long, value_name = "N", value_parser = from_one::<NonZeroU64>)]
    sample: Option<NonZeroU64>,
    /// Set the random seed of --sample, and of the hits that a report shows [default: 0].
    #[arg(long, value_name = "S", default_value_t = 0, hide_default_value = true)]
    pub(super) seed: u64,
}

impl ChoosingArgs {
    /// Copies these arguments into a request.
    pub(super) fn put(&self, request: &mut Request) {
        request.conditions = texts(&self.conditions);
        self.player.put(request);
        (request.first, request.best, request.skip) = (self.first, self.best, self.skip);
        (request.limit, request.sort, request.reverse) = (self.limit, self.sort, self.reverse);
        (request.sample, request.seed) = (self.sample, self.seed);
    }
}

/// Returns the text of each condition, as the user wrote it.
pub(super) fn texts(conditions: &[Condition]) -> Vec<String> {
    conditions.iter().map(Condition::to_string).collect()
}

/// Sets the fields of a request for a search for similar positions: only the best hit in each game counts, and games are sorted by
/// this hit, best first.
pub(super) fn choose_similar(request: &mut Request) -> Result<(), Failure> {
    if request.sort.is_some() || request.reverse || request.sample.is_some() || request.first {
        let why = "--similar lists the best position of each game, the best games first: leave out --sort, --reverse, \
                   --sample and --first";
        return Err(Failure::Other(why.into()));
    }
    request.best = true;
    request.sort = Some(SortKey::Value);
    request.limit = request.limit.or(NonZeroU64::new(SIMILAR_GAMES));
    Ok(())
}

/// Returns hints about possible mistakes in conditions that no game meets.
pub(super) fn hints(choice: &Choice) -> impl Iterator<Item = String> {
    choice.conditions.iter().flat_map(Condition::comparisons).filter_map(|compared| {
        if let Some(field) = compared.field_of_moves() {
            return Some(format!(
                "`{compared}` compares a tag: `{field}` compares the opening that orbit recognises by the moves"
            ));
        }
        let name = compared.own_tag()?;
        Some(format!("`{compared}` needs a tag `{name}`: check its spelling, and whether the games have it"))
    })
}

/// Returns hints for a search without hits that has conditions on clocks or evaluations. Such values are read from comments, and
/// games may have none.
pub(super) fn measure_hints(choice: &Choice) -> impl Iterator<Item = String> {
    choice.conditions.iter().flat_map(Condition::comparisons).filter_map(|compared| {
        let command = match compared.measure()? {
            Measure::Clock => "[%clk 0:00:30]",
            Measure::Spent => "[%clk 0:00:30] or [%emt 0:00:05]",
            Measure::Eval | Measure::Loss => "[%eval 0.17]",
        };
        if compared.measure() == Some(Measure::Loss)
            && compared.bound().is_some_and(|bound| bound > Eval::LOSS_MAX)
        {
            return Some(format!(
                "`{compared}` is in pawns, and a move loses at most {}: `loss>2` is a loss of 2 pawns",
                Eval::LOSS_MAX / 1000
            ));
        }
        Some(format!(
            "`{compared}` needs comments such as `{command}` in the games: check whether they have them"
        ))
    })
}

/// Returns a note for each condition such as `white=Carlsen` that no game meets, although the string is part of a tag value in some
/// games. The note suggests the operator `~`, which matches parts of values.
pub(super) fn missed_lines<'a>(
    collector: &'a WholeTextsCollector,
    part: &'a WholeTextsPart,
) -> impl Iterator<Item = String> + 'a {
    collector.missed(part).filter_map(|(compared, games)| {
        let WholeText { tags, name, value } = compared.whole_text().filter(|whole| !whole.value.is_empty())?;
        // Quotation marks keep the words `and` and `or` from ending the value.
        let quoted = format!("\"{value}\"");
        let written = if value.contains([' ', '(', ')']) { &quoted } else { value };
        let is_name = tags.iter().all(|tag| ["White", "Black"].contains(tag));
        let or_player = match is_name && value.parse::<PlayerName>().is_ok() {
            true => format!(", or --player \"{value}\" for all spellings of a name"),
            false => String::new(),
        };
        Some(format!(
            "note: `{compared}` is true of no game, since `=` compares whole values, but `{name}~{written}` is of {}: write \
             that for a part of the value{or_player}",
            counted(games as usize, "game", "games")
        ))
    })
}
