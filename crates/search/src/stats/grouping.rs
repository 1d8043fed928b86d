//! Defines the properties by which games and positions are grouped, and the strings that name them.

use std::fmt;
use std::str::FromStr;

use orbit_core::board::Color;
use orbit_core::diagnostic::nearest;
use orbit_core::game::known::{known_tag, nearest_tag, tag_named};
use orbit_core::game::measures::{thousandths_of, thousandths_text};
use orbit_core::game::{Measure, Rating};
use orbit_engine::Wants;

/// One property of a game or of a position.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum By {
    /// The year in the tag `Date` or, if that is unknown, in `UTCDate`.
    Year,
    /// The decade of the game, represented by its first year, such as 1990.
    Decade,
    /// The first 1 to 3 characters of the tag `ECO`: `B`, `B9`, `B90`.
    Eco(u8),
    /// The name of the opening, which is determined from the positions of the game.
    OpeningName,
    /// The first 1 to 3 characters of the opening's ECO code, which is determined from the positions of the game.
    OpeningEco(u8),
    /// The result at the end of the movetext.
    Result,
    /// The source of the game: a file, or another origin.
    Source,
    /// The folder of the source file.
    Folder,
    /// A rating, in steps of this size.
    Elo(Rating, u32),
    /// Both players. Each game is in the groups of both, and the score of a group is that of its player.
    Player,
    /// The opponent of the selected player.
    Opponent,
    /// The player of this side.
    PlayerOf(Color),
    /// The side of the selected player.
    Side,
    /// The rating of the selected player, in steps of this size.
    PlayerElo(u32),
    /// The rating of the selected player's opponent, in steps of this size.
    OpponentElo(u32),
    /// The value of a tag.
    Tag(String),
    /// The title of the player of this side. If it is `None`, each game is in the groups of both players' titles.
    Title(Option<Color>),
    /// The speed of the game, based on the tag `TimeControl`.
    Speed,
    /// The way in which the game ended, based on the tag `Termination`.
    Termination,
    /// A measure of a position, which is read from game comments. Groups are steps of this many thousandths, or classes if there is
    /// no step.
    Measure(Measure, Option<u32>),
    /// The number of half-moves played before a position, in steps.
    Ply(u32),
    /// The number of the next move, as in a FEN, in steps.
    Move(u32),
    /// The value of the query at a hit, in steps. For a set, it is the number of squares. Hits of a condition are in the group
    /// `true`.
    Value(u32),
    /// The copies of the query that match at a hit, among those that its outermost transform makes. A hit is counted in the group
    /// of each matching copy.
    Copy,
    /// The number of moves in a hit's span (the moves that matched), rounded to steps.
    Length(u32),
    /// The first move of a hit's span (the moves that matched), in SAN. For `find` and `echo`, it is the move that led to the found
    /// position.
    San,
    /// The position of the hit, no matter which moves led to it.
    Position,
    /// The moves after a hit. A hit is in up to `plies` groups: its next move, its next two moves, and so on. Moves are transformed
    /// back to fit the original pattern, unless `is_played` is true: then they are shown as they were played.
    #[expect(missing_docs, reason = "the sentence before says what they are")]
    Next { plies: u8, is_played: bool },
    /// The move that led to a hit. It is transformed back to fit the original pattern, unless `is_played` is true: then it is shown
    /// as it was played.
    #[expect(missing_docs, reason = "the sentence before says what it is")]
    Previous { is_played: bool },
}

/// A grouping by one property, or a cross table of two properties.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Grouping {
    /// The property or, in a cross table, the property of the rows.
    pub first: By,
    /// The property of the columns in a cross table, or `None` if there is only one property.
    pub second: Option<By>,
}

/// The reason why a string is not a grouping.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GroupingError {
    /// There is no grouping with this name.
    #[error("there is no grouping `{name}`{}; there are {}", did_you_mean(name), list())]
    #[expect(missing_docs, reason = "the message says what they are")]
    Unknown { name: String },
    /// A grouping is missing.
    #[error("a grouping is missing in `{0}`; write them as `year,eco,year*result`")]
    Missing(String),
    /// A step is not a number in the allowed range.
    #[error("`{0}`: a step is a whole number from 1 to {STEP_MAX}, as in `elo:100`")]
    Step(String),
    /// A step of a measure is not a number in the allowed range.
    #[error(
        "`{0}`: a step is a number from 0.001 to {STEP_MAX}, as in `clock:10` or `eval:0.5`; of `eval` and `loss` a multiple of 0.01"
    )]
    Thousandths(String),
    /// A number of ECO characters other than 1, 2 or 3 was given for a grouping by opening.
    #[error("`{0}`: openings are grouped by `{name}:1` (B), `{name}:2` (B9) or `{name}` (B90)", name = .0.split(':').next().unwrap_or_default())]
    Eco(String),
    /// The name after `tag:` is similar to the name of a known tag.
    #[error(
        "`tag:{name}` is no known tag (did you mean `tag:{hint}`?); write `tag::{name}` for a tag of exactly this name"
    )]
    #[expect(missing_docs, reason = "the message says what they are")]
    Resembles { name: String, hint: &'static str },
    /// The name after `tag:` is not a possible tag name.
    #[error("`{0}`: the name of a tag is letters, digits and `_`, as in `tag:Annotator`")]
    Tag(String),
    /// A step is given for a grouping that has no steps.
    #[error("`{0}`: this grouping takes nothing after a colon: leave out the colon and what follows")]
    NoArgument(String),
    /// The text after `next:` or `previous:` is invalid.
    #[error(
        "`{0}`: after a colon stands `played` for moves as they were played, after `next` also how many, 1 to {NEXT_MAX}, as in \
         `next:3` or `next:3:played`"
    )]
    Moves(String),
    /// A cross table has more than two groupings.
    #[error("`{0}`: a cross table has two groupings, as in `year*result`")]
    TooMany(String),
    /// A cross table has the same property twice.
    #[error("`{0}`: a cross table has two different groupings, as in `year*result`")]
    Itself(String),
}

/// The maximum number of moves in a `next` grouping. With n moves, a hit is in up to n groups.
pub(super) const NEXT_MAX: u8 = 12;

/// The largest step.
const STEP_MAX: u32 = 1_000_000;

/// The groupings by a tag that are written without `tag:`, each with the name of the tag.
const TAGS: &[(&str, &str)] = &[
    ("event", "Event"),
    ("site", "Site"),
    ("round", "Round"),
    ("opening", "Opening"),
    ("timecontrol", "TimeControl"),
    ("variant", "Variant"),
];

/// The names of all groupings, in the order of messages.
const NAMES: &[&str] = &[
    "year",
    "decade",
    "eco",
    "opening-name",
    "opening-eco",
    "result",
    "source",
    "folder",
    "elo",
    "meanelo",
    "whiteelo",
    "blackelo",
    "elodiff",
    "player",
    "opponent",
    "side",
    "playerelo",
    "opponentelo",
    "event",
    "site",
    "round",
    "white",
    "black",
    "opening",
    "timecontrol",
    "variant",
    "title",
    "white-title",
    "black-title",
    "time-control",
    "termination",
    "tag",
    "clock",
    "spent",
    "eval",
    "loss",
    "ply",
    "move",
    "value",
    "copy",
    "length",
    "san",
    "position",
    "next",
    "previous",
];

fn did_you_mean(name: &str) -> String {
    let tag = || known_tag(name).or_else(|| nearest_tag(name)).map(|tag| format!("tag:{tag}"));
    let hint = nearest(name, NAMES.iter()).map(|hint| (*hint).to_owned()).or_else(tag);
    hint.map_or(String::new(), |hint| format!(" (did you mean `{hint}`?)"))
}

fn list() -> String {
    let names: Vec<String> = NAMES.iter().map(|name| name.replace("tag", "tag:Name")).collect();
    names.join(", ")
}

impl Grouping {
    /// Parses a list of groupings, separated by commas. Duplicates are dropped.
    ///
    /// # Errors
    ///
    /// Fails if an entry of the list is not a grouping. The error describes the first such entry.
    pub fn list(text: &str) -> Result<Vec<Grouping>, GroupingError> {
        let mut out = Vec::new();
        for word in text.split(',') {
            if word.trim().is_empty() {
                return Err(GroupingError::Missing(text.into()));
            }
            let grouping = word.parse()?;
            if !out.contains(&grouping) {
                out.push(grouping);
            }
        }
        Ok(out)
    }

    /// Iterates over the property of the rows and, in a cross table, the property of the columns.
    pub fn properties(&self) -> impl Iterator<Item = &By> {
        std::iter::once(&self.first).chain(&self.second)
    }
}

impl From<By> for Grouping {
    fn from(first: By) -> Grouping {
        Grouping { first, second: None }
    }
}

impl FromStr for Grouping {
    type Err = GroupingError;

    fn from_str(text: &str) -> Result<Grouping, GroupingError> {
        let properties = text.split('*').map(|word| match word.trim() {
            "" => Err(GroupingError::Missing(text.into())),
            word => word.parse::<By>(),
        });
        let mut properties = properties.collect::<Result<Vec<By>, _>>()?.into_iter();
        match (properties.next(), properties.next(), properties.next()) {
            (Some(first), None, _) => Ok(first.into()),
            (Some(first), Some(second), None) if first == second => Err(GroupingError::Itself(text.into())),
            (Some(first), second, None) => Ok(Grouping { first, second }),
            _ => Err(GroupingError::TooMany(text.into())),
        }
    }
}

impl fmt::Display for Grouping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.second {
            None => self.first.fmt(f),
            Some(second) => write!(f, "{}*{second}", self.first),
        }
    }
}

impl By {
    /// Returns whether groups are sorted by their number of games with hits. Groups of other properties have a natural order, such
    /// as that of years.
    pub fn is_ranked(&self) -> bool {
        matches!(self, By::Eco(_) | By::Tag(_) | By::Copy | By::San | By::Position)
            || self.is_of_openings()
            || matches!(self, By::Title(_) | By::Termination)
            || self.is_of_names()
            || self.is_of_moves()
    }

    /// Returns whether text tables show only the groups with the most games.
    pub fn is_limited(&self) -> bool {
        self.is_ranked() || matches!(self, By::Source | By::Folder)
    }

    /// Returns whether each game is in one group at most, so that the games of two groups are different games.
    pub fn divides_games(&self) -> bool {
        !matches!(self, By::Player | By::Title(None) | By::Measure(..) | By::Ply(_) | By::Move(_))
            && !self.is_of_hits()
    }

    /// Returns whether groups are names rather than numbers.
    pub fn is_named(&self) -> bool {
        matches!(self, By::Result | By::Source | By::Folder | By::Side | By::Eco(_) | By::Position)
            || matches!(self, By::Tag(_) | By::Title(_) | By::Speed | By::Termination)
            || self.is_of_openings()
            || self.is_of_names()
            || self.is_of_moves()
    }

    /// Returns true if groups are openings that are determined from a game's positions.
    fn is_of_openings(&self) -> bool {
        matches!(self, By::OpeningName | By::OpeningEco(_))
    }

    /// Returns whether groups are players, whose names can have several spellings.
    pub fn is_of_names(&self) -> bool {
        matches!(self, By::Player | By::Opponent | By::PlayerOf(_))
    }

    /// Returns whether only hits have the property. A group of such a property contains only hits, so its counts are compared with
    /// those of all games, not with those of the group's games.
    pub fn is_of_hits(&self) -> bool {
        matches!(self, By::Value(_) | By::Copy | By::Position) || self.is_of_spans() || self.is_of_moves()
    }

    /// Returns true if groups are moves before or after a hit.
    pub fn is_of_moves(&self) -> bool {
        matches!(self, By::Next { .. } | By::Previous { .. })
    }

    /// Returns whether the property requires that a player is selected.
    pub fn is_of_player(&self) -> bool {
        matches!(self, By::Opponent | By::Side | By::PlayerElo(_) | By::OpponentElo(_))
    }

    /// Returns whether groups are based on spans (the moves that matched) of hits.
    pub fn is_of_spans(&self) -> bool {
        matches!(self, By::Length(_) | By::San)
    }

    /// Returns the facts about games and hits that the property needs.
    pub fn wants(&self) -> Wants {
        match self {
            By::Year | By::Decade | By::Eco(_) | By::Elo(..) | By::Player | By::Tag(_) => Wants::TAGS,
            By::Title(_) | By::Speed | By::Termination => Wants::TAGS,
            By::Measure(measure, _) => Wants::from_measure(*measure),
            By::PlayerOf(_) | By::Opponent | By::Side | By::PlayerElo(_) | By::OpponentElo(_) => Wants::TAGS,
            // Move numbers depend on the `FEN` tag.
            By::Move(_) => Wants::TAGS,
            By::Value(_) => Wants::VALUES,
            By::Copy => Wants::ALL_COPIES | Wants::COPY_NAMES,
            By::Length(_) | By::San => Wants::SPANS,
            By::Next { is_played, .. } | By::Previous { is_played } => {
                let frames = Wants::LOWEST_COPY | Wants::PLACEMENTS;
                Wants::TAGS | Wants::SPANS | frames.when(!is_played)
            }
            By::Result | By::Source | By::Folder | By::Ply(_) | By::Position => Wants::HITS,
            By::OpeningName | By::OpeningEco(_) => Wants::HITS,
        }
    }
}

impl FromStr for By {
    type Err = GroupingError;

    fn from_str(text: &str) -> Result<By, GroupingError> {
        let (name, argument) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
        let name = name.to_ascii_lowercase();
        let step = |usual: u32| match argument.map(str::parse) {
            None => Ok(usual),
            Some(Ok(step @ 1..=STEP_MAX)) => Ok(step),
            Some(_) => Err(GroupingError::Step(text.into())),
        };
        if let Some(measure) = Measure::named(&name) {
            let step = argument.map(|argument| {
                let step = thousandths_of(argument).and_then(|step| u32::try_from(step).ok());
                let step = step
                    .filter(|step| (1..=STEP_MAX * 1000).contains(step) && step % measure.resolution() == 0);
                step.ok_or_else(|| GroupingError::Thousandths(text.into()))
            });
            return Ok(By::Measure(measure, step.transpose()?));
        }
        Ok(match name.as_str() {
            "elo" => By::Elo(Rating::Higher, step(100)?),
            "meanelo" => By::Elo(Rating::Mean, step(100)?),
            "whiteelo" => By::Elo(Rating::White, step(100)?),
            "blackelo" => By::Elo(Rating::Black, step(100)?),
            "elodiff" => By::Elo(Rating::Difference, step(100)?),
            "playerelo" => By::PlayerElo(step(100)?),
            "opponentelo" => By::OpponentElo(step(100)?),
            "ply" => By::Ply(step(10)?),
            "move" => By::Move(step(10)?),
            "value" => By::Value(step(1)?),
            "length" => By::Length(step(1)?),
            "eco" | "opening-eco" => {
                let letters = match argument {
                    None | Some("3") => 3,
                    Some("2") => 2,
                    Some("1") => 1,
                    Some(_) => return Err(GroupingError::Eco(text.into())),
                };
                if name == "eco" { By::Eco(letters) } else { By::OpeningEco(letters) }
            }
            "tag" => match argument {
                Some(tag) if is_tag(tag.strip_prefix(':').unwrap_or(tag)) => match tag_named(tag) {
                    Ok(tag) => By::Tag(tag.to_owned()),
                    Err(hint) => return Err(GroupingError::Resembles { name: tag.into(), hint }),
                },
                _ => return Err(GroupingError::Tag(text.into())),
            },
            "next" => {
                let (plies, is_played) =
                    moves_of(argument).ok_or_else(|| GroupingError::Moves(text.into()))?;
                By::Next { plies: plies.unwrap_or(1), is_played }
            }
            "previous" => match moves_of(argument) {
                Some((None, is_played)) => By::Previous { is_played },
                _ => return Err(GroupingError::Moves(text.into())),
            },
            name if !NAMES.contains(&name) => return Err(GroupingError::Unknown { name: name.into() }),
            _ if argument.is_some() => return Err(GroupingError::NoArgument(text.into())),
            "title" => By::Title(None),
            "white-title" => By::Title(Some(Color::White)),
            "black-title" => By::Title(Some(Color::Black)),
            "time-control" => By::Speed,
            "termination" => By::Termination,
            "opening-name" => By::OpeningName,
            "year" => By::Year,
            "decade" => By::Decade,
            "result" => By::Result,
            "source" => By::Source,
            "folder" => By::Folder,
            "player" => By::Player,
            "opponent" => By::Opponent,
            "white" => By::PlayerOf(Color::White),
            "black" => By::PlayerOf(Color::Black),
            "side" => By::Side,
            "copy" => By::Copy,
            "san" => By::San,
            "position" => By::Position,
            name => {
                let tag = TAGS.iter().find(|(short, _)| *short == name);
                By::Tag(tag.expect("all other names are tags").1.to_owned())
            }
        })
    }
}

/// Parses the argument of a grouping by moves. Returns the number of moves, if given, and whether moves are shown as they were
/// played. Returns `None` if the argument is invalid.
fn moves_of(argument: Option<&str>) -> Option<(Option<u8>, bool)> {
    let Some(argument) = argument else { return Some((None, false)) };
    let (plies, rest) = match argument.split_once(':') {
        Some((plies, rest)) => (Some(plies), Some(rest)),
        None if argument == PLAYED => (None, Some(argument)),
        None => (Some(argument), None),
    };
    let plies = match plies.map(str::parse) {
        None => None,
        Some(Ok(plies @ 1..=NEXT_MAX)) => Some(plies),
        Some(_) => return None,
    };
    rest.is_none_or(|rest| rest == PLAYED).then_some((plies, rest.is_some()))
}

/// The argument of groupings by moves that asks for moves as they were played, not transformed back.
const PLAYED: &str = "played";

fn is_tag(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            By::Year => f.write_str("year"),
            By::Decade => f.write_str("decade"),
            By::Eco(3) => f.write_str("eco"),
            By::Eco(length) => write!(f, "eco:{length}"),
            By::OpeningName => f.write_str("opening-name"),
            By::OpeningEco(3) => f.write_str("opening-eco"),
            By::OpeningEco(length) => write!(f, "opening-eco:{length}"),
            By::Result => f.write_str("result"),
            By::Source => f.write_str("source"),
            By::Folder => f.write_str("folder"),
            By::Elo(Rating::Higher, step) => write!(f, "elo:{step}"),
            By::Elo(Rating::Mean, step) => write!(f, "meanelo:{step}"),
            By::Elo(Rating::White, step) => write!(f, "whiteelo:{step}"),
            By::Elo(Rating::Black, step) => write!(f, "blackelo:{step}"),
            By::Elo(Rating::Difference, step) => write!(f, "elodiff:{step}"),
            By::Player => f.write_str("player"),
            By::Opponent => f.write_str("opponent"),
            By::PlayerOf(Color::White) => f.write_str("white"),
            By::PlayerOf(Color::Black) => f.write_str("black"),
            By::Side => f.write_str("side"),
            By::PlayerElo(step) => write!(f, "playerelo:{step}"),
            By::OpponentElo(step) => write!(f, "opponentelo:{step}"),
            By::Tag(tag) => match TAGS.iter().find(|(_, known)| known == tag) {
                Some((short, _)) => f.write_str(short),
                // If a tag's name is similar to that of a known tag, it is written with a second colon, so that it can be parsed
                // again.
                None if tag_named(tag).is_err() => write!(f, "tag::{tag}"),
                None => write!(f, "tag:{tag}"),
            },
            By::Title(None) => f.write_str("title"),
            By::Title(Some(Color::White)) => f.write_str("white-title"),
            By::Title(Some(Color::Black)) => f.write_str("black-title"),
            By::Speed => f.write_str("time-control"),
            By::Termination => f.write_str("termination"),
            By::Measure(measure, None) => f.write_str(measure.name()),
            By::Measure(measure, Some(step)) => {
                write!(f, "{}:{}", measure.name(), thousandths_text((*step).into()))
            }
            By::Ply(step) => write!(f, "ply:{step}"),
            By::Move(step) => write!(f, "move:{step}"),
            By::Value(1) => f.write_str("value"),
            By::Value(step) => write!(f, "value:{step}"),
            By::Copy => f.write_str("copy"),
            By::Length(1) => f.write_str("length"),
            By::Length(step) => write!(f, "length:{step}"),
            By::San => f.write_str("san"),
            By::Position => f.write_str("position"),
            By::Next { plies, is_played } => {
                f.write_str("next")?;
                if *plies > 1 {
                    write!(f, ":{plies}")?;
                }
                played(*is_played, f)
            }
            By::Previous { is_played } => {
                f.write_str("previous")?;
                played(*is_played, f)
            }
        }
    }
}

fn played(is_played: bool, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if is_played { write!(f, ":{PLAYED}") } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_and_written() {
        for name in NAMES.iter().filter(|name| **name != "tag") {
            let grouping: Grouping = name.parse().unwrap();
            assert_eq!(grouping.to_string().parse(), Ok(grouping.clone()), "{name}");
            assert_eq!(grouping.to_string().split(':').next(), Some(*name));
        }
        for text in [
            "elo:50",
            "tag:Annotator",
            "eco:1*result",
            "opening-name*opening-eco:2",
            "value:8",
            "copy*elodiff:25",
            "length:4",
            "san*length",
            "clock:10",
            "eval:0.5*time-control",
            "spent:0.25",
            "loss:0.5",
            "next:3",
            "next:played*year",
            "next:12:played",
            "previous:played",
        ] {
            assert_eq!(text.parse::<Grouping>().unwrap().to_string(), text);
        }
        assert_eq!("next:1".parse::<By>(), "next".parse());
        assert_eq!("tag:Event".parse::<By>(), "EVENT".parse());
        // `tag:White` means the tag itself, not the player.
        assert_eq!("tag:White".parse::<By>().unwrap().to_string(), "tag:White");
        assert_eq!(Grouping::list("year, eco:3,eco").unwrap().len(), 2);
    }

    #[test]
    fn what_is_no_grouping_is_refused() {
        for (text, message) in [
            ("yaar", "there is no grouping `yaar` (did you mean `year`?); there are year, decade, eco, "),
            ("zzz", "there is no grouping `zzz`; there are year, "),
            ("year,", "a grouping is missing in `year,`"),
            ("", "a grouping is missing in ``"),
            ("year*", "a grouping is missing in `year*`"),
            ("clock:0", "`clock:0`: a step is a number from 0.001"),
            ("clock:x", "`clock:x`: a step is a number from 0.001"),
            ("eval:0.005", "`eval:0.005`: a step is a number from 0.001"),
            ("loss:0.005", "`loss:0.005`: a step is a number from 0.001"),
            ("spent:-1", "`spent:-1`: a step is a number"),
            ("time-control:5", "`time-control:5`: this grouping takes nothing"),
            ("elo:0", "`elo:0`: a step is a whole number from 1 to 1000000"),
            ("ply:x", "`ply:x`: a step"),
            ("eco:4", "`eco:4`: openings are grouped by"),
            ("tag", "`tag`: the name of a tag"),
            ("tag:a b", "`tag:a b`: the name of a tag"),
            ("next:0", "`next:0`: after a colon stands `played`"),
            ("next:13", "`next:13`: after a colon"),
            ("next:played:3", "`next:played:3`: after a colon"),
            ("previous:2", "`previous:2`: after a colon"),
            ("year:5", "`year:5`: this grouping takes nothing"),
            ("white:5", "`white:5`: this grouping takes nothing"),
            ("year*eco*result", "`year*eco*result`: a cross table has two groupings"),
            ("event*tag:Event", "`event*tag:Event`: a cross table has two different groupings"),
        ] {
            let error = Grouping::list(text).unwrap_err().to_string();
            assert!(error.starts_with(message), "{text}: {error}");
        }
    }
}
