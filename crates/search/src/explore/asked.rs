//! Parses explorer requests, which consist of a position and conditions on games.

use std::fmt::{Display, Write as _};
use std::num::{IntErrorKind, ParseIntError};
use std::str::FromStr;

use shakmaty::{Chess, Position as _, Square};

use crate::choice::exact::{self, packed, read_fen};
use crate::choice::{Compare, compare_dates};
use orbit_core::board::{Color, PackedMove, Position, legal};
use orbit_core::game::{Date, Opening, PlayerName, Speed};
use orbit_reel::GameRow;
use orbit_visits::{RATING_GROUPS, TabledFacts};

/// The maximum number of moves or games in a list.
pub const LISTED_MAX: usize = 500;
/// The maximum length of a parameter value in bytes.
const VALUE_BYTES_MAX: usize = 10_000;

/// The parameters of a request, named as in lichess's API. A parameter that was not given is `None`.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "lichess's documentation says what they are, and `docs/explorer.md`")]
pub struct Parameters {
    pub fen: Option<String>,
    /// Moves played from `fen`, in UCI or SAN, separated by blanks or commas. Move numbers are ignored.
    pub play: Option<String>,
    pub since: Option<String>,
    pub until: Option<String>,
    pub ratings: Option<String>,
    pub speeds: Option<String>,
    pub modes: Option<String>,
    pub player: Option<String>,
    pub color: Option<String>,
    pub moves: Option<String>,
    pub top_games: Option<String>,
    pub recent_games: Option<String>,
}

/// The error for an invalid parameter value.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{name}`: {message}")]
pub struct AskError {
    /// The name of the parameter.
    pub name: &'static str,
    /// A description of the error and its remedy.
    pub message: String,
}

/// A request: a position and the conditions that games must meet.
#[derive(Clone, Debug)]
pub struct ExplorerRequest {
    /// The position. It has an en passant square only if a pawn can capture there.
    pub(super) position: Position,
    pub(super) chess: Chess,
    /// The opening of the position, if the position has a name. Otherwise, the opening of the last position with a name before it.
    pub(super) opening: Option<&'static Opening>,
    /// The moves from the standard starting position to the requested position, if the request contains them.
    pub(super) way: Option<Vec<PackedMove>>,
    /// The earliest and the latest date that a game may have.
    since: Option<Date>,
    until: Option<Date>,
    /// The accepted rating groups (of the mean of both ratings), speeds, and modes (true for rated games, false for casual games).
    /// An empty list accepts all games.
    ratings: Vec<u32>,
    speeds: Vec<Speed>,
    modes: Vec<bool>,
    pub(super) player: Option<(PlayerName, Option<Color>)>,
    pub(super) moves_max: usize,
    pub(super) top_max: usize,
    pub(super) recent_max: usize,
}

impl ExplorerRequest {
    /// Reads a request. By default, as at lichess, lists contain up to 12 moves or 4 games.
    ///
    /// # Errors
    ///
    /// Fails if a value is invalid. The error describes the first such value.
    pub fn read(parameters: &Parameters) -> Result<ExplorerRequest, AskError> {
        let Parameters { fen, play, since, until, ratings, speeds, modes, player, color, .. } = parameters;
        let fen = checked("fen", fen.as_deref().unwrap_or_default())?;
        let mut chess = if fen.is_empty() { Chess::new() } else { start(fen)? };
        let mut opening = Opening::from_position(&packed(&chess));
        let is_usual = packed(&chess) == Position::STANDARD;
        let mut way = Vec::new();
        let moves = checked("play", play.as_deref().unwrap_or_default())?;
        exact::play(moves, &mut chess, |mv, after| {
            way.push(mv);
            opening = Opening::from_position(&packed(after)).or(opening);
        })
        .map_err(|message| AskError { name: "play", message })?;
        let ratings = ratings.as_deref().map_or(Ok(Vec::new()), |text| {
            words("ratings", text)?.map(|word| number("ratings", word, u32::MAX).map(group)).collect()
        })?;
        let limit = |name, text: &Option<String>, usual| match text {
            None => Ok(usual),
            Some(text) => number(name, text, usize::MAX).map(|limit| limit.min(LISTED_MAX)),
        };
        Ok(ExplorerRequest {
            position: legal::as_counted(&packed(&chess)),
            chess,
            opening,
            way: Some(way).filter(|way| is_usual && !way.is_empty()),
            since: since.as_deref().map_or(Ok(None), |date| read_date("since", date))?,
            until: until.as_deref().map_or(Ok(None), |date| read_date("until", date))?,
            ratings,
            speeds: any_of("speeds", speeds, &Speed::ALL.map(|speed| (speed.name(), speed)))?,
            modes: any_of("modes", modes, &[("rated", true), ("casual", false)])?,
            player: read_player(player.as_deref(), color.as_deref())?,
            moves_max: limit("moves", &parameters.moves, 12)?,
            top_max: limit("topGames", &parameters.top_games, 4)?,
            recent_max: limit("recentGames", &parameters.recent_games, 4)?,
        })
    }

    /// Returns a query that finds all positions with the same piece placement and side to move.
    pub fn query(&self) -> String {
        let mut text = String::from(self.chess.turn().fold_wb("wtm", "btm"));
        for square in Square::ALL {
            let man = self.chess.board().piece_at(square).map_or('_', |piece| piece.char());
            write!(text, " {man}{square}").expect("writing to a string");
        }
        text
    }

    /// Returns whether a game does not begin with the moves in the request. Returns false if the request has no moves.
    pub(super) fn is_other_way(&self, game: &GameRow) -> bool {
        let is_same =
            |way: &Vec<PackedMove>| game.start() == Position::STANDARD && game.moves().starts_with(way);
        !self.way.as_ref().is_none_or(is_same)
    }

    /// Returns true if the request has conditions on games.
    pub(super) fn has_conditions(&self) -> bool {
        let has_lists = !(self.ratings.is_empty() && self.speeds.is_empty() && self.modes.is_empty());
        has_lists || self.since.or(self.until).is_some() || self.player.is_some()
    }

    /// Returns true if neither bound on the date includes a day. Then the year and month of a game show whether it is within the
    /// bounds.
    pub(super) fn is_by_months(&self) -> bool {
        [self.since, self.until].into_iter().flatten().all(|date| date.day.is_none())
    }

    /// Returns whether a game with these facts meets all conditions in the request other than those on players.
    pub(super) fn takes(&self, facts: &TabledFacts) -> bool {
        let bounds = [(self.since, Compare::GreaterOrEqual), (self.until, Compare::LessOrEqual)];
        let is_within = |(bound, compare): (Option<Date>, Compare)| {
            bound.is_none_or(|bound| facts.date.is_some_and(|date| compare_dates(date, bound, compare)))
        };
        bounds.into_iter().all(is_within) && self.takes_kind(facts)
    }

    /// Returns whether games with these facts meet the conditions on ratings, speeds and modes. Dates and players are not checked.
    pub(super) fn takes_kind(&self, facts: &TabledFacts) -> bool {
        is_among(&self.ratings, || facts.rating_group())
            && is_among(&self.speeds, || facts.speed)
            && is_among(&self.modes, || facts.is_rated)
    }
}

fn start(fen: &str) -> Result<Chess, AskError> {
    let fault = |message| AskError { name: "fen", message };
    let chess = read_fen(fen).map_err(fault)?.to_chess();
    chess.map_err(|error| fault(format!("the position cannot be played from: {error}")))
}

/// Returns `text` without surrounding blanks, or an error if it is too long.
fn checked<'a>(name: &'static str, text: &'a str) -> Result<&'a str, AskError> {
    match text.len() <= VALUE_BYTES_MAX {
        true => Ok(text.trim()),
        false => Err(AskError { name, message: format!("the value is longer than {VALUE_BYTES_MAX} bytes") }),
    }
}

/// Splits a list at commas and blanks.
fn words<'a>(name: &'static str, text: &'a str) -> Result<impl Iterator<Item = &'a str>, AskError> {
    Ok(checked(name, text)?.split([',', ' ', '\n', '\t']).filter(|word| !word.is_empty()))
}

/// Returns whether a list is empty, which means that all values are accepted, or contains the value.
fn is_among<T: PartialEq>(list: &[T], value: impl FnOnce() -> Option<T>) -> bool {
    list.is_empty() || value().is_some_and(|value| list.contains(&value))
}

/// Parses a date. Returns `None` for the year 0, which lichess uses as the default of `since` and which means no bound.
fn read_date(name: &'static str, text: &str) -> Result<Option<Date>, AskError> {
    if text == "0000" || text.starts_with("0000-") {
        let of_leap_year = text.replacen("0000", "2000", 1);
        return match read_date(name, &of_leap_year) {
            Ok(_) => Ok(None),
            Err(error) => Err(AskError { name, message: error.message.replacen(&of_leap_year, text, 1) }),
        };
    }
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'.'));
    // Dates in games may have unreadable parts, but a date in a request may not.
    let is_whole = |date: &Date| date.parts().iter().flatten().count() == text.split(['-', '.']).count();
    let date = Date::parse(text).filter(|date| is_plain && text.len() <= 10 && is_whole(date));
    let message = match date {
        Some(Date { year, month: Some(month), day: Some(day) }) if u32::from(day) > days(year, month) => {
            format!("the month of `{text}` has only {} days", days(year, month))
        }
        Some(date) => return Ok(Some(date)),
        None => format!("`{text}` is no date: write 2015, 2015-03 or 2015-03-07"),
    };
    Err(AskError { name, message })
}

fn days(year: u16, month: u8) -> u32 {
    let is_leap_year = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 => 28 + u32::from(is_leap_year),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Parses a list of words into the values that `known` assigns to them. An empty list means all values, as at lichess.
fn any_of<T: Copy>(
    name: &'static str,
    text: &Option<String>,
    known: &[(&str, T)],
) -> Result<Vec<T>, AskError> {
    let fault = |word: &str| {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        AskError { name, message: format!("`{word}` is none of {}", names.join(", ")) }
    };
    let value = |word: &str| known.iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
    words(name, text.as_deref().unwrap_or_default())?
        .map(|word| value(word).map(|(_, value)| *value).ok_or_else(|| fault(word)))
        .collect()
}

/// Parses a whole number. `max` is the largest value of its type.
fn number<N>(name: &'static str, text: &str, max: N) -> Result<N, AskError>
where
    N: FromStr<Err = ParseIntError> + Display,
{
    text.trim().parse().map_err(|error: ParseIntError| {
        let message = match error.kind() {
            IntErrorKind::PosOverflow => format!("`{text}` is too large: the largest number is {max}"),
            _ => format!("`{text}` is no whole number from 0"),
        };
        AskError { name, message }
    })
}

fn group(mean: u32) -> u32 {
    RATING_GROUPS.into_iter().rev().find(|&low| low <= mean).unwrap_or_default()
}

fn read_player(
    name: Option<&str>,
    color: Option<&str>,
) -> Result<Option<(PlayerName, Option<Color>)>, AskError> {
    let fault = |name, message| Err(AskError { name, message });
    let color = match color {
        None => None,
        Some("white") => Some(Color::White),
        Some("black") => Some(Color::Black),
        Some(other) => return fault("color", format!("`{other}` is neither white nor black")),
    };
    match (name, color) {
        (Some(name), color) => match checked("player", name)?.parse() {
            Ok(name) => Ok(Some((name, color))),
            Err(error) => fault("player", format!("{error}")),
        },
        (None, Some(_)) => fault("color", "it is that of a player: name him by `player`".into()),
        (None, None) => Ok(None),
    }
}
