//! Requests: what a line of JSON asks for.

use std::num::NonZeroU64;
use std::str::FromStr;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::fault::{Code, Fault};
use crate::choice::{Choice, Condition, Order, Player, Side, SortKey};
use crate::diagnostic::nearest;
use crate::query::Dialect;
use crate::report::Column;
use crate::scan::EngineChoice;
use crate::themes;

/// The rows of a page at most.
pub const PAGE_ROWS_MAX: u64 = 1000;
/// The name of a database that is given none.
pub const MAIN: &str = "main";
/// The longest id that is a string, in bytes.
const ID_BYTES_MAX: usize = 200;

/// What a request is called by: a whole number or a string, as JSON text.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Id(String);

impl Id {
    /// The id as JSON.
    pub fn json(&self) -> &str {
        &self.0
    }

    fn of(value: &Value) -> Result<Id, Fault> {
        let is_id = match value {
            Value::Number(number) => number.is_i64() || number.is_u64(),
            Value::String(text) => text.len() <= ID_BYTES_MAX,
            _ => false,
        };
        match is_id {
            true => Ok(Id(value.to_string())),
            false => Err(Fault::new(
                Code::Request,
                format!("an id is a whole number, or a string of at most {ID_BYTES_MAX} bytes"),
            )),
        }
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Id, D::Error> {
        Id::of(&Value::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// What is asked for.
#[derive(Debug)]
pub enum Request {
    /// Open a database.
    Open(Open),
    /// Close a database.
    Close(Close),
    /// Run a query.
    Query(Box<Ask>),
    /// Some of the hits of a query.
    Hits(Page),
    /// One game.
    Game(Game),
    /// What a query means.
    Explain(Explain),
    /// Stop a request that is under way.
    Cancel(Of),
    /// How far a request has come.
    Progress(Of),
    /// Nothing.
    Ping,
    /// What the greeting said.
    Version,
    /// End.
    Quit,
}

/// `open`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Open {
    /// PGN files, folders and reels, in their order.
    pub paths: Vec<String>,
    /// The name that it gets.
    #[serde(default = "main_name")]
    pub database: String,
    /// Whether side lines and comments are kept.
    #[serde(default)]
    pub variations: bool,
    /// Whether events tell how far it has come.
    #[serde(default)]
    pub progress: bool,
}

/// `close`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Close {
    /// The name of the database.
    #[serde(default = "main_name")]
    pub database: String,
}

/// `query`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// The text of the query.
    pub query: String,
    /// The database that is searched.
    #[serde(default = "main_name")]
    pub database: String,
    #[serde(default)]
    dialect: Option<Dialect>,
    /// Whether side lines are searched.
    #[serde(default)]
    pub variations: bool,
    #[serde(default)]
    engine: EngineChoice,
    #[serde(default, rename = "where")]
    conditions: OneOrMore,
    #[serde(default)]
    player: Option<String>,
    #[serde(default)]
    player_exact: Option<String>,
    #[serde(default, rename = "as")]
    side: Option<Side>,
    #[serde(default)]
    rating: Option<String>,
    #[serde(default)]
    opponent: Option<String>,
    #[serde(default)]
    opponent_rating: Option<String>,
    /// Whether the first hit of each game counts alone.
    #[serde(default)]
    pub first: bool,
    /// Whether the hit of each game with the greatest value counts alone.
    #[serde(default)]
    pub best: bool,
    limit: Option<NonZeroU64>,
    #[serde(default)]
    sort: Option<SortKey>,
    #[serde(default)]
    reverse: bool,
    sample: Option<NonZeroU64>,
    #[serde(default)]
    seed: u64,
    /// Whether hits are only counted.
    #[serde(default)]
    pub count: bool,
    /// Rows of the first page, which comes with the answer.
    #[serde(default)]
    pub rows: u64,
    /// The columns of these rows.
    pub columns: Option<Vec<String>>,
    /// Whether events tell how far it has come.
    #[serde(default)]
    pub progress: bool,
}

/// `hits`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    /// The id of the query.
    pub of: Id,
    /// The first row, from 0.
    #[serde(default)]
    pub from: u64,
    /// How many rows.
    #[serde(default = "usual_rows")]
    pub rows: u64,
    /// Which columns they have.
    pub columns: Option<Vec<String>>,
}

/// `game`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Game {
    /// The database.
    #[serde(default = "main_name")]
    pub database: String,
    /// The number of the game, from 1.
    pub game: u32,
}

/// `explain`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explain {
    /// The text of the query.
    pub query: String,
    #[serde(default)]
    pub(super) dialect: Option<Dialect>,
    /// How many copies are listed.
    #[serde(default = "usual_copies")]
    pub copies: usize,
}

/// `cancel`, `progress`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Of {
    /// The id of the other request.
    pub of: Id,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl Default for OneOrMore {
    fn default() -> OneOrMore {
        OneOrMore::More(Vec::new())
    }
}

fn main_name() -> String {
    MAIN.to_owned()
}

fn usual_rows() -> u64 {
    50
}

fn usual_copies() -> usize {
    10
}

const KINDS: [&str; 11] =
    ["open", "close", "query", "hits", "game", "explain", "cancel", "progress", "ping", "version", "quit"];

impl Request {
    /// Reads a line: its id as far as it has one, and what it asks for.
    pub fn read(line: &[u8]) -> (Option<Id>, Result<Request, Fault>) {
        let wrong = |message: String| Err(Fault::new(Code::Request, message));
        let value: Value = match serde_json::from_slice(line) {
            Ok(value) => value,
            Err(error) => return (None, wrong(format!("the line is no JSON: {error}"))),
        };
        let Value::Object(mut fields) = value else {
            return (
                None,
                wrong("a request is a JSON object, such as {\"id\":1,\"request\":\"ping\"}".into()),
            );
        };
        let id = match fields.remove("id").as_ref().map(Id::of) {
            Some(Ok(id)) => id,
            Some(Err(fault)) => return (None, Err(fault)),
            None => return (None, wrong("the request has no id: give it a number or a string".into())),
        };
        let request = match fields.remove("request") {
            Some(Value::String(kind)) => Request::of_kind(&kind, fields),
            _ => wrong(format!("`request` says what is asked for: one of {}", KINDS.join(", "))),
        };
        (Some(id), request)
    }

    fn of_kind(kind: &str, mut fields: Map<String, Value>) -> Result<Request, Fault> {
        if matches!(kind, "query" | "explain") {
            put_theme(&mut fields)?;
        }
        Ok(match kind {
            "open" => Request::Open(of_fields(fields)?),
            "close" => Request::Close(of_fields(fields)?),
            "query" => Request::Query(Box::new(of_fields(fields)?)),
            "hits" => Request::Hits(of_fields(fields)?),
            "game" => Request::Game(of_fields(fields)?),
            "explain" => Request::Explain(of_fields(fields)?),
            "cancel" => Request::Cancel(of_fields(fields)?),
            "progress" => Request::Progress(of_fields(fields)?),
            "ping" => of_fields(fields).map(|Nothing {}| Request::Ping)?,
            "version" => of_fields(fields).map(|Nothing {}| Request::Version)?,
            "quit" => of_fields(fields).map(|Nothing {}| Request::Quit)?,
            _ => {
                let message = match nearest(kind, KINDS.iter()) {
                    Some(near) => format!("there is no request `{kind}`; did you mean `{near}`?"),
                    None => format!("there is no request `{kind}`: the requests are {}", KINDS.join(", ")),
                };
                return Err(Fault::new(Code::Request, message));
            }
        })
    }
}

/// Puts the query of a theme in the place of its name.
fn put_theme(fields: &mut Map<String, Value>) -> Result<(), Fault> {
    let Some(theme) = fields.remove("theme") else { return Ok(()) };
    let fault = |message: String| Fault::new(Code::Request, message);
    let Value::String(name) = theme else {
        return Err(fault("`theme` is the name of a built-in theme, such as \"greek-gift\"".into()));
    };
    if fields.contains_key("query") {
        return Err(fault("`query` and `theme` exclude each other: leave out one of them".into()));
    }
    let theme = themes::named(&name).map_err(|unknown| fault(unknown.to_string()))?;
    fields.insert("query".into(), theme.query.into());
    Ok(())
}

fn of_fields<T: DeserializeOwned>(fields: Map<String, Value>) -> Result<T, Fault> {
    serde_json::from_value(Value::Object(fields))
        .map_err(|error| Fault::new(Code::Request, error.to_string()))
}

/// A value that is written as text.
fn parsed<T: FromStr<Err: std::fmt::Display>>(field: &str, text: &str) -> Result<T, Fault> {
    text.parse().map_err(|error| Fault::new(Code::Request, format!("`{field}`: {error}")))
}

impl Open {
    /// Some files as the database that has no other name.
    pub fn new(paths: Vec<String>) -> Open {
        Open { paths, database: main_name(), variations: false, progress: false }
    }
}

impl Explain {
    /// A query, with the usual number of copies.
    pub fn new(query: &str) -> Explain {
        Explain { query: query.to_owned(), dialect: None, copies: usual_copies() }
    }
}

impl Ask {
    /// A query with the usual choices.
    pub fn new(query: &str) -> Ask {
        let mut fields = Map::new();
        fields.insert("query".into(), query.into());
        of_fields(fields).expect("a query alone is a request")
    }

    /// Its dialect, if that is chosen.
    pub(super) fn dialect(&self) -> Option<Dialect> {
        self.dialect
    }

    /// The engine of choice.
    pub(super) fn engine(&self) -> EngineChoice {
        self.engine
    }

    /// Which games count, and which of their hits.
    pub(super) fn choice(&self) -> Result<Choice, Fault> {
        let conditions = match &self.conditions {
            OneOrMore::One(condition) => std::slice::from_ref(condition),
            OneOrMore::More(conditions) => conditions,
        };
        let conditions =
            conditions.iter().map(|text| parsed::<Condition>("where", text)).collect::<Result<_, _>>()?;
        if self.first && self.best {
            return Err(Fault::new(
                Code::Request,
                "`first` and `best` exclude each other: leave out one of them",
            ));
        }
        Ok(Choice { conditions, player: self.player()?, first: self.first, best: self.best })
    }

    fn player(&self) -> Result<Option<Player>, Fault> {
        let mut player = match (&self.player, &self.player_exact) {
            (Some(_), Some(_)) => {
                let why = "`player` and `player_exact` exclude each other: leave out one of them";
                return Err(Fault::new(Code::Request, why));
            }
            (Some(name), None) => Player::new(parsed("player", name)?),
            (None, Some(name)) => Player::exact(name),
            (None, None) => {
                let others = [&self.rating, &self.opponent, &self.opponent_rating];
                if self.side.is_some() || others.iter().any(|field| field.is_some()) {
                    let why = "`as`, `rating`, `opponent` and `opponent_rating` are of a player: name him by `player` or `player_exact`";
                    return Err(Fault::new(Code::Request, why));
                }
                return Ok(None);
            }
        };
        player.side = self.side.unwrap_or_default();
        player.ratings = self.rating.as_ref().map(|text| parsed("rating", text)).transpose()?;
        player.opponent = self.opponent.as_ref().map(|text| parsed("opponent", text)).transpose()?;
        player.opponent_ratings =
            self.opponent_rating.as_ref().map(|text| parsed("opponent_rating", text)).transpose()?;
        Ok(Some(player))
    }

    /// The order in which games are listed; `None` for that of the database.
    pub(super) fn order(&self) -> Result<Option<Order>, Fault> {
        let wrong = |why: &str| Err(Fault::new(Code::Request, why));
        match (self.sort, self.sample) {
            (Some(_), Some(_)) => wrong("`sort` and `sample` exclude each other: leave out one of them"),
            (None, None) if self.reverse => wrong("`reverse` turns an order round: give `sort` with it"),
            (None, Some(_)) if self.reverse => {
                wrong("a sample has no order that can be turned round: leave out `reverse`")
            }
            (None, Some(_)) if self.limit.is_some() => {
                wrong("`sample` says how many games are listed: leave out `limit`")
            }
            (None, Some(_)) => Ok(Some(Order::Sampled { seed: self.seed })),
            (Some(key), None) => Ok(Some(Order::Sorted { key, reverse: self.reverse })),
            (None, None) => Ok(None),
        }
    }

    /// The most games that are listed.
    pub(super) fn games_max(&self) -> Option<u64> {
        self.limit.or(self.sample).map(NonZeroU64::get)
    }
}

/// The number of rows of a page, if a page may have so many.
pub(super) fn checked_rows(rows: u64) -> Result<u64, Fault> {
    match rows <= PAGE_ROWS_MAX {
        true => Ok(rows),
        false => Err(Fault::new(
            Code::Request,
            format!("a page has at most {PAGE_ROWS_MAX} rows: ask for several pages"),
        )),
    }
}

/// Columns by their names.
pub(super) fn columns(names: &[String]) -> Result<Vec<Column>, Fault> {
    let column = |name: &String| {
        let found = Column::ALL.into_iter().find(|column| column.name() == name);
        found.ok_or_else(|| {
            let names = Column::ALL.map(Column::name);
            let message = match nearest(name, names.iter()) {
                Some(near) => format!("there is no column `{name}`; did you mean `{near}`?"),
                None => format!("there is no column `{name}`: the columns are {}", names.join(", ")),
            };
            Fault::new(Code::Request, message)
        })
    };
    names.iter().map(column).collect()
}
