//! Parses the requested position and the conditions on games from strings.

use std::fmt::Write as _;

use shakmaty::san::SanPlus;
use shakmaty::uci::UciMove;
use shakmaty::{Chess, EnPassantMode, Move, Position as _, Square};

use crate::choice::{Compare, compare_dates};
use orbit_core::board::{Color, PackedMove, Position, legal};
use orbit_core::fen::{FenRecord, Leniency};
use orbit_core::game::{Date, Opening, PlayerName, Speed};
use orbit_reel::GameRow;
use orbit_visits::{RATING_GROUPS, TabledFacts};

/// The maximum number of games and of moves in each list.
pub const LISTED_MAX: usize = 500;
/// The maximum number of half-moves that lead to a position.
const PLIES_MAX: usize = 1000;
/// The maximum number of bytes of one value.
const VALUE_BYTES_MAX: usize = 10_000;

/// The parameters of a request, with the names that lichess uses. A parameter that is `None` was not given.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "lichess's documentation says what they are, and `docs/explorer.md`")]
pub struct Parameters {
    pub fen: Option<String>,
    /// Moves from `fen`, in UCI or SAN, separated by blanks or commas. Move numbers are skipped.
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

/// The error for a parameter whose value cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{name}`: {message}")]
pub struct AskError {
    /// The name of the parameter.
    pub name: &'static str,
    /// The fault and its remedy.
    pub message: String,
}

/// A request: a position, and the conditions by which games are selected.
#[derive(Clone, Debug)]
pub struct ExplorerRequest {
    /// The position. It has an en passant square only if a pawn can capture there.
    pub(super) position: Position,
    pub(super) chess: Chess,
    /// The opening of this position or, if the position has no name, of the last named position before it.
    pub(super) opening: Option<&'static Opening>,
    /// The moves that lead to the position from the usual start, if the request has such moves.
    pub(super) way: Option<Vec<PackedMove>>,
    /// The first and the last date of the selected games.
    since: Option<Date>,
    until: Option<Date>,
    /// The groups of mean ratings, the speeds, and true for rated and false for casual games. If a list is empty, all games are
    /// selected.
    ratings: Vec<u32>,
    speeds: Vec<Speed>,
    modes: Vec<bool>,
    pub(super) player: Option<(PlayerName, Option<Color>)>,
    pub(super) moves_max: usize,
    pub(super) top_max: usize,
    pub(super) recent_max: usize,
}

impl ExplorerRequest {
    /// Reads a request. If the parameters do not set the lengths of lists, these are lichess's: 12 moves, and 4 games in each
    /// list.
    ///
    /// # Errors
    ///
    /// Fails if a value cannot be read. The error is about the first such value.
    pub fn read(parameters: &Parameters) -> Result<ExplorerRequest, AskError> {
        let Parameters { fen, play, since, until, ratings, speeds, modes, player, color, .. } = parameters;
        let mut chess = fen.as_deref().map_or(Ok(Chess::new()), start)?;
        let mut opening = Opening::from_position(&packed(&chess));
        let is_usual = packed(&chess) == Position::STANDARD;
        let mut way = Vec::new();
        for word in words("play", play.as_deref().unwrap_or_default())? {
            let Some(mv) = read_move(word, &chess)? else { continue };
            way.push(PackedMove::from_shakmaty(mv, chess.turn()));
            chess.play_unchecked(mv);
            opening = Opening::from_position(&packed(&chess)).or(opening);
        }
        let ratings = ratings.as_deref().map_or(Ok(Vec::new()), |text| {
            words("ratings", text)?.into_iter().map(|word| number("ratings", word).map(group)).collect()
        })?;
        let limit = |name, text: &Option<String>, usual| match text {
            None => Ok(usual),
            Some(text) => number::<usize>(name, text).map(|limit| limit.min(LISTED_MAX)),
        };
        Ok(ExplorerRequest {
            position: legal::as_counted(&packed(&chess)),
            chess,
            opening,
            way: Some(way).filter(|way| is_usual && !way.is_empty()),
            since: since.as_deref().map(|date| read_date("since", date)).transpose()?,
            until: until.as_deref().map(|date| read_date("until", date)).transpose()?,
            ratings,
            speeds: any_of("speeds", speeds, &Speed::ALL.map(|speed| (speed.name(), speed)))?,
            modes: any_of("modes", modes, &[("rated", true), ("casual", false)])?,
            player: read_player(player.as_deref(), color.as_deref())?,
            moves_max: limit("moves", &parameters.moves, 12)?,
            top_max: limit("topGames", &parameters.top_games, 4)?,
            recent_max: limit("recentGames", &parameters.recent_games, 4)?,
        })
    }

    /// Returns a query that finds all positions with the same pieces on the same squares and the same side to move.
    pub fn query(&self) -> String {
        let mut text = String::from(self.chess.turn().fold_wb("wtm", "btm"));
        for square in Square::ALL {
            let man = self.chess.board().piece_at(square).map_or('_', |piece| piece.char());
            write!(text, " {man}{square}").expect("writing to a string");
        }
        text
    }

    /// Returns true if a game reaches the position by moves other than those in the request.
    pub(super) fn is_other_way(&self, game: &GameRow) -> bool {
        let is_same =
            |way: &Vec<PackedMove>| game.start() == Position::STANDARD && game.moves().starts_with(way);
        !self.way.as_ref().is_none_or(is_same)
    }

    /// Returns true if the bounds on dates contain no day, so that the year and month of a game decide.
    pub(super) fn is_by_months(&self) -> bool {
        [self.since, self.until].into_iter().flatten().all(|date| date.day.is_none())
    }

    /// Returns true if a game with these facts meets the conditions of the request, except those on players.
    pub(super) fn takes(&self, facts: &TabledFacts) -> bool {
        let bounds = [(self.since, Compare::GreaterOrEqual), (self.until, Compare::LessOrEqual)];
        let is_within = |(bound, compare): (Option<Date>, Compare)| {
            bound.is_none_or(|bound| facts.date.is_some_and(|date| compare_dates(date, bound, compare)))
        };
        bounds.into_iter().all(is_within) && self.takes_kind(facts)
    }

    /// Returns true if games with these facts meet the conditions on ratings, speeds and modes. Dates and players are not compared.
    pub(super) fn takes_kind(&self, facts: &TabledFacts) -> bool {
        is_among(&self.ratings, || facts.rating_group())
            && is_among(&self.speeds, || facts.speed)
            && is_among(&self.modes, || facts.is_rated)
    }
}

/// Returns the position in the packed form in which blocks store positions.
fn packed(chess: &Chess) -> Position {
    Position::from_setup(&chess.to_setup(EnPassantMode::Always))
}

fn start(fen: &str) -> Result<Chess, AskError> {
    let fault = |message| AskError { name: "fen", message };
    let fen = checked("fen", fen)?;
    let record = FenRecord::read(fen.as_bytes(), Leniency::NONE);
    let record =
        record.map_err(|error| fault(format!("{}, at character {}", error.message, error.start + 1)))?;
    let chess = Position::from_setup(&record.setup).to_chess();
    chess.map_err(|error| fault(format!("the position cannot be played from: {error}")))
}

/// Returns a value without the blanks around it. If the value is too long, returns an error.
fn checked<'a>(name: &'static str, text: &'a str) -> Result<&'a str, AskError> {
    match text.len() <= VALUE_BYTES_MAX {
        true => Ok(text.trim()),
        false => Err(AskError { name, message: format!("the value is longer than {VALUE_BYTES_MAX} bytes") }),
    }
}

fn words<'a>(name: &'static str, text: &'a str) -> Result<Vec<&'a str>, AskError> {
    let words: Vec<&str> =
        checked(name, text)?.split([',', ' ', '\n', '\t']).filter(|word| !word.is_empty()).collect();
    match words.len() <= PLIES_MAX {
        true => Ok(words),
        false => {
            Err(AskError { name, message: format!("there are more than {PLIES_MAX} words: leave some out") })
        }
    }
}

/// Reads a move in SAN or UCI, which may follow its number. Returns `None` for a number alone.
fn read_move(word: &str, chess: &Chess) -> Result<Option<Move>, AskError> {
    let is_numbered = word.starts_with(|letter: char| letter.is_ascii_digit()) && !word.starts_with("0-0");
    let bare = match is_numbered {
        true => word.trim_start_matches(|letter: char| letter.is_ascii_digit()).trim_start_matches('.'),
        false => word,
    };
    if bare.is_empty() {
        return Ok(None);
    }
    let san = bare.parse::<SanPlus>().ok().and_then(|san| san.san.to_move(chess).ok());
    let read = san.or_else(|| bare.parse::<UciMove>().ok().and_then(|uci| uci.to_move(chess).ok()));
    read.map(Some).ok_or_else(|| AskError {
        name: "play",
        message: format!(
            "`{word}` is no legal move there: write moves in SAN or UCI from the start, such as `e4 c5` or `e2e4,c7c5`"
        ),
    })
}

/// Returns true if the list is empty, which stands for all values, or contains the value.
fn is_among<T: PartialEq>(list: &[T], value: impl FnOnce() -> Option<T>) -> bool {
    list.is_empty() || value().is_some_and(|value| list.contains(&value))
}

fn read_date(name: &'static str, text: &str) -> Result<Date, AskError> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'.'));
    // A date of a game may have parts that cannot be read. The date of a request may not.
    let is_whole = |date: &Date| date.parts().iter().flatten().count() == text.split(['-', '.']).count();
    let date = Date::parse(text).filter(|date| is_plain && text.len() <= 10 && is_whole(date));
    date.ok_or_else(|| AskError {
        name,
        message: format!("`{text}` is no date: write 2015, 2015-03 or 2015-03-07"),
    })
}

/// Reads a list of values, each of which is named by one of the `known` words. A list that is given must have at least one value.
fn any_of<T: Copy>(
    name: &'static str,
    text: &Option<String>,
    known: &[(&str, T)],
) -> Result<Vec<T>, AskError> {
    let Some(text) = text else { return Ok(Vec::new()) };
    let fault = |word: &str| {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        AskError { name, message: format!("`{word}` is none of {}", names.join(", ")) }
    };
    let value = |word: &str| known.iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
    let values = words(name, text)?
        .into_iter()
        .map(|word| value(word).map(|(_, value)| *value).ok_or_else(|| fault(word)))
        .collect::<Result<Vec<T>, _>>()?;
    if values.is_empty() { Err(fault("")) } else { Ok(values) }
}

fn number<N: std::str::FromStr>(name: &'static str, text: &str) -> Result<N, AskError> {
    text.trim().parse().map_err(|_| AskError { name, message: format!("`{text}` is no whole number from 0") })
}

/// Returns the group of a mean rating.
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
