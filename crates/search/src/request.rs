//! Requests to a database. The command line, `serve`, the Python package and Rust programs all convert their input to a
//! [`Request`].
//!
//! Invariant: this module contains all rules about fields that exclude each other, and about fields that need a query of a certain
//! type. A caller itself rejects only the fields that it does not support at all: for example, counting hits does not support
//! limits.

mod command_line;
mod fields;

use std::num::NonZeroU64;
use std::str::FromStr;
use std::{error, fmt};

use serde::{Deserialize, Deserializer, Serialize};

pub use self::command_line::SIMILAR_GAMES;
pub use self::fields::read_fields;
pub(crate) use self::fields::take_field;
use crate::choice::{Choice, ExactPosition, Order, Player, Ratings, Side, SortKey};
use crate::executor::EngineChoice;
use crate::report::Column;
use crate::stats::{By, Grouping};
use crate::themes;
use orbit_core::diagnostic::Diagnostic;
use orbit_core::game::PlayerName;
use orbit_engine::Wants;
use orbit_engine::verify::Sample;
use orbit_query::{Dialect, Type, diagram};
use orbit_reel::Alike;

/// The version of [`Request`] as JSON. It is increased when a field is removed or its meaning changes.
pub const REQUEST_SCHEMA: u32 = 1;

/// A request: the queries, the selection of games and hits, and the order in which games are listed. `docs/serve.md` describes its
/// JSON form. Missing fields have default values; unknown fields are errors.
///
/// ```
/// use orbit_search::Request;
///
/// let request: Request = serde_json::from_str(r#"{"query":"mate","where":"elo>=2600","sort":"date","limit":5}"#)?;
/// assert_eq!(request.check()?.games_max, Some(5));
/// let wrong: Request = serde_json::from_str(r#"{"query":"mate","first":true,"best":true}"#)?;
/// assert_eq!(wrong.check().unwrap_err().to_string(), "`first` and `best` exclude each other: leave out one of them");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Request {
    /// The version, which is [`REQUEST_SCHEMA`].
    pub schema: u32,
    /// The queries as strings. In JSON, this is one string or a list of strings.
    #[serde(deserialize_with = "one_or_more")]
    pub query: Vec<String>,
    /// The name of a built-in theme whose query is used.
    pub theme: Option<String>,
    /// A board with the pieces to search for: see [`Query::board`](crate::Query::board).
    pub board: Option<String>,
    /// A board with which positions are compared: see [`Query::similar`](crate::Query::similar).
    pub similar: Option<String>,
    /// The position that every hit must have, as a FEN or as moves: see [`ExactPosition`]. It replaces the query.
    pub at: Option<String>,
    /// The transforms of `board` or `similar`, outermost first.
    pub transforms: Vec<String>,
    /// The dialect of the queries. If it is `None`, it is recognized from their text.
    pub dialect: Option<Dialect>,
    /// True if side lines are searched.
    pub variations: bool,
    /// The data by which duplicate games are recognized; only the first of several duplicates is kept. If it is `None`, all games
    /// are kept.
    pub unique: Option<Alike>,
    /// The engine. If it is `None`, the engine of the database is used.
    pub engine: Option<EngineChoice>,
    /// The sample of positions for which a second engine verifies the results of the first. In JSON, this is `true` for all
    /// positions, or a number of segments of 32 positions.
    #[serde(with = "verification")]
    pub verify: Option<Sample>,
    /// Conditions that must all be met. In JSON, this is one string or a list of strings. See
    /// [`Condition`](crate::choice::Condition).
    #[serde(rename = "where", deserialize_with = "one_or_more")]
    pub conditions: Vec<String>,
    /// The player whose games are selected: see [`PlayerName`].
    pub player: Option<String>,
    /// The player's name in exactly this spelling.
    pub player_exact: Option<String>,
    /// The side that the player must have. In Python, the field is named `side`, because `as` is a keyword.
    #[serde(rename = "as", alias = "side")]
    pub side: Option<Side>,
    /// The range of the player's rating: see [`Ratings`].
    pub rating: Option<String>,
    /// The name of the opponent.
    pub opponent: Option<String>,
    /// The range of the opponent's rating.
    pub opponent_rating: Option<String>,
    /// True if only the first hit of each game is selected.
    pub first: bool,
    /// True if only the hit with the greatest value in each game is selected.
    pub best: bool,
    /// The number of games with hits to skip before the first listed game.
    pub skip: u64,
    /// The maximum number of games to list.
    pub limit: Option<NonZeroU64>,
    /// The order of games.
    pub sort: Option<SortKey>,
    /// True to reverse the order.
    pub reverse: bool,
    /// The number of games in a random sample, or `None` for no sample.
    pub sample: Option<NonZeroU64>,
    /// The seed of the random sample.
    pub seed: u64,
    /// True to count hits without listing them.
    pub count: bool,
    /// The columns of each row, or `None` for the default columns.
    pub columns: Option<Vec<Column>>,
}

impl Default for Request {
    fn default() -> Request {
        Request {
            schema: REQUEST_SCHEMA,
            query: Vec::new(),
            theme: None,
            board: None,
            similar: None,
            at: None,
            transforms: Vec::new(),
            dialect: None,
            variations: false,
            unique: None,
            engine: None,
            verify: None,
            conditions: Vec::new(),
            player: None,
            player_exact: None,
            side: None,
            rating: None,
            opponent: None,
            opponent_rating: None,
            first: false,
            best: false,
            skip: 0,
            limit: None,
            sort: None,
            reverse: false,
            sample: None,
            seed: 0,
            count: false,
            columns: None,
        }
    }
}

/// The selection of games and hits in a request, and the order of games. The request's fields have been checked.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Chosen {
    /// The selection of games and hits.
    pub choice: Choice,
    /// The order in which games are listed, or `None` for database order.
    pub order: Option<Order>,
    /// The number of games with hits to skip before the first listed game.
    pub skip: u64,
    /// The maximum number of games to list.
    pub games_max: Option<u64>,
}

impl Request {
    /// Creates a request with one query and default values for all other fields.
    pub fn new(query: &str) -> Request {
        Request { query: vec![query.to_owned()], ..Request::default() }
    }

    /// Returns the queries as text. If the request has a theme, a board or a position instead of queries, returns the query that
    /// the theme, the board or the position stands for.
    ///
    /// # Errors
    ///
    /// Fails if the request has neither a query nor one of these fields, or more than one of them, if no theme has the given name,
    /// if a board cannot be read, or if there are transforms without a board.
    pub fn texts(&self) -> Result<Vec<String>, RequestError> {
        let fault = |field| move |error: Diagnostic| RequestError::about(field, error);
        let transforms: Vec<&str> = self.transforms.iter().map(String::as_str).collect();
        if self.board.is_none() && self.similar.is_none() && !transforms.is_empty() {
            return Err(RequestError::new(
                "{transforms} are those of a board: give {board} or {similar} with them",
            ));
        }
        if self.theme.is_some() && self.dialect.is_some() {
            return Err(RequestError::new("{theme} has a dialect of its own: leave out {dialect}"));
        }
        let in_place = [&self.theme, &self.board, &self.similar, &self.at].into_iter().flatten().count();
        if in_place + usize::from(!self.query.is_empty()) > 1 {
            return Err(RequestError::new(
                "{query}, {theme}, {board}, {similar} and {at} exclude each other: leave out all but one",
            ));
        }
        let mut texts = self.query.clone();
        if let Some(name) = &self.theme {
            texts.push(themes::named(name).map_err(fault("{theme}"))?.query);
        }
        if let Some(board) = &self.board {
            texts.push(diagram::query(board, &transforms).map_err(fault("{board}"))?.text);
        }
        if let Some(board) = &self.similar {
            texts.push(diagram::similar(board, &transforms).map_err(fault("{similar}"))?.text);
        }
        if let Some(position) = self.exact()? {
            let board = diagram::query(&position.board(), &[]).map_err(fault("{at}"))?.text;
            // `true` comes last because the value of the query is that of its last filter. Otherwise a report would highlight the
            // pieces of the position as squares that the query finds.
            texts.push(format!("{{{board} true}}"));
        }
        match texts.is_empty() {
            true => {
                Err(RequestError::new("{query} is missing: write a query, or give a {theme} or a {board}"))
            }
            false => Ok(texts),
        }
    }

    /// Returns notes about parts of boards that have no effect. Each has the name of the field and the text of the board. There are
    /// no notes about boards that cannot be parsed.
    pub(crate) fn board_remarks(&self) -> Vec<(&'static str, &str, Diagnostic)> {
        let board = self.board.iter().map(|text| ("board", text, diagram::query(text, &[])));
        let similar = self.similar.iter().map(|text| ("similar", text, diagram::similar(text, &[])));
        let mut remarks = Vec::new();
        for (field, text, diagram) in board.chain(similar) {
            let of_board = diagram.map_or(Vec::new(), |diagram| diagram.remarks);
            remarks.extend(of_board.into_iter().map(|remark| (field, text.as_str(), remark)));
        }
        remarks
    }

    /// Returns whether the results for parts of a database add up to the result for the whole database, as far as the order and the
    /// limits of this request are concerned. [`Query::splits`](crate::Query::splits) checks the query.
    pub fn splits(&self) -> bool {
        let is_ordered = self.sort.is_some() || self.sample.is_some();
        !is_ordered && self.limit.is_none() && self.skip == 0 && self.unique.is_none()
    }

    /// Parses the fields that are strings, and checks that all fields are compatible.
    pub fn check(&self) -> Result<Chosen, RequestError> {
        if self.schema != REQUEST_SCHEMA {
            let why = format!("{{schema}} is {REQUEST_SCHEMA} in this version: leave it out");
            return Err(RequestError::new(why));
        }
        if self.first && self.best {
            return Err(RequestError::new("{first} and {best} exclude each other: leave out one of them"));
        }
        if self.count && self.columns.is_some() {
            return Err(RequestError::new("{count} lists no rows: leave out {columns}"));
        }
        check_columns(self.columns.as_deref())?;
        let conditions =
            self.conditions.iter().map(|text| parsed("{where}", text)).collect::<Result<_, _>>()?;
        let (first, best) = (self.first, self.best);
        let choice = Choice { conditions, player: self.player()?, position: self.exact()?, first, best };
        let games_max = self.limit.or(self.sample).map(NonZeroU64::get);
        Ok(Chosen { choice, order: self.order()?, skip: self.skip, games_max })
    }

    fn exact(&self) -> Result<Option<ExactPosition>, RequestError> {
        self.at.as_deref().map(|text| parsed("{at}", text)).transpose()
    }

    fn player(&self) -> Result<Option<Player>, RequestError> {
        let mut player = match (&self.player, &self.player_exact) {
            (Some(_), Some(_)) => {
                let why = "{player} and {player_exact} exclude each other: leave out one of them";
                return Err(RequestError::new(why));
            }
            (Some(name), None) => Player::new(parsed("{player}", name)?),
            (None, Some(name)) => Player::new(
                PlayerName::exact(name).map_err(|error| RequestError::about("{player_exact}", error))?,
            ),
            (None, None) => {
                let others = [&self.rating, &self.opponent, &self.opponent_rating];
                if self.side.is_some() || others.iter().any(|field| field.is_some()) {
                    let why = "{as}, {rating}, {opponent} and {opponent_rating} are of a player: name him by {player} or {player_exact}";
                    return Err(RequestError::new(why));
                }
                return Ok(None);
            }
        };
        let ratings = |field, text: &Option<String>| {
            text.as_ref().map(|text| parsed::<Ratings>(field, text)).transpose()
        };
        player.side = self.side.unwrap_or_default();
        player.ratings = ratings("{rating}", &self.rating)?;
        player.opponent_ratings = ratings("{opponent_rating}", &self.opponent_rating)?;
        let opponent = self.opponent.as_ref();
        player.opponent = opponent.map(|text| parsed::<PlayerName>("{opponent}", text)).transpose()?;
        Ok(Some(player))
    }

    fn order(&self) -> Result<Option<Order>, RequestError> {
        let is_cut = self.limit.is_some() || self.skip > 0;
        let why = match (self.sort, self.sample) {
            (Some(_), Some(_)) => "{sort} and {sample} exclude each other: leave out one of them",
            (Some(_), None) | (None, Some(_)) if self.count => {
                "{sort} and {sample} choose which games are listed, and {count} lists none: leave out one of them"
            }
            (None, None) if self.reverse => "{reverse} turns an order round: give {sort} with it",
            (None, Some(_)) if self.reverse => {
                "a sample has no order that can be turned round: leave out {reverse}"
            }
            (None, Some(_)) if is_cut => {
                "{sample} says how many games are listed: leave out {limit} and {skip}"
            }
            (None, Some(_)) => return Ok(Some(Order::Sampled { seed: self.seed })),
            (Some(key), None) => return Ok(Some(Order::Sorted { key, reverse: self.reverse })),
            (None, None) => return Ok(None),
        };
        Err(RequestError::new(why))
    }
}

impl Chosen {
    /// Returns the facts about games and hits that this selection and order need.
    pub fn wants(&self) -> Wants {
        self.choice.wants() | self.order.map_or(Wants::HITS, Order::wants)
    }

    /// Returns true if every hit counts, every game with a hit is listed, and the games are listed in database order.
    pub fn is_all(&self) -> bool {
        let Choice { conditions, player, position, first, best } = &self.choice;
        let is_all_hits = conditions.is_empty() && player.is_none() && position.is_none() && !first && !best;
        is_all_hits && self.order.is_none() && self.skip == 0 && self.games_max.is_none()
    }

    /// Checks that a query meets the needs of the selection and the order. `ty` is the type of the query's value. `has_spans` is
    /// true if its hits can have spans (the moves that the query matched).
    ///
    /// # Errors
    ///
    /// Fails if `best` or the order needs values or spans that the query does not have.
    pub fn check_query(&self, ty: Type, has_spans: bool) -> Result<(), RequestError> {
        let wants = self.order.map_or(Wants::HITS, Order::wants);
        let why = if self.choice.best && !ty.has_value() {
            "{best} needs a query whose value is a number or a set of squares, and this query has none: leave out {best}, or \
             choose {first}"
        } else if wants.contains(Wants::VALUES) && !ty.has_value() {
            "{sort value} needs a query whose value is a number or a set of squares, and this query has none: leave out {sort}, \
             or choose elo or date"
        } else if wants.contains(Wants::SPANS) && !has_spans {
            "{sort length} needs a query whose hits consist of moves, such as `line`, `path` or `--`: leave out {sort}, or choose \
             value, elo or date"
        } else {
            return Ok(());
        };
        Err(RequestError::new(why))
    }
}

impl Choice {
    /// Checks that the games and hits have the properties by which they are grouped. `has_spans` is true if hits can have spans
    /// (the moves that the query matched).
    ///
    /// # Errors
    ///
    /// Fails if hits without spans are grouped by their moves, or if games are grouped by a property of a player, such as the
    /// opponent, but no player is selected.
    pub fn check_groupings(&self, groupings: &[Grouping], has_spans: bool) -> Result<(), RequestError> {
        for by in groupings.iter().flat_map(Grouping::properties) {
            if by.is_of_spans() && !has_spans {
                return Err(RequestError::new(format!(
                    "{{groupings {by}}} counts the moves of which hits consist, and hits of this query are single positions: leave \
                     out {by}, or search with `line`, `path`, `find`, `echo`, `--`, `[x]` or `move`"
                )));
            }
            if by.is_of_player() && self.player.is_none() {
                return Err(RequestError::new(format!(
                    "`{by}` groups the games of one player: add {{player NAME}}, or choose `player`, `white` or `black`"
                )));
            }
        }
        Ok(())
    }

    /// Checks that themes can be compared by these groupings. Hits of different themes have no common properties, so groupings by
    /// properties of hits are rejected.
    ///
    /// # Errors
    ///
    /// Fails if a grouping is a cross table or uses a property that only hits have. Also returns the errors of
    /// [`Choice::check_groupings`].
    pub fn check_theme_groupings(&self, groupings: &[Grouping]) -> Result<(), RequestError> {
        match groupings.iter().find(|by| by.second.is_some() || by.properties().any(By::is_of_hits)) {
            Some(other) => Err(RequestError::new(format!(
                "`{other}` is no grouping for themes: choose a property of games or positions, such as year, eco \
                 or ply; `year,eco` makes a table by year and one by eco. The hits of one theme have other properties, too: \
                 `orbit scan --theme NAME --stats {other} games.pgn`"
            ))),
            None => self.check_groupings(groupings, false),
        }
    }
}

/// Checks that a list of columns, if given, is not empty.
pub(crate) fn check_columns(columns: Option<&[Column]>) -> Result<(), RequestError> {
    match columns {
        Some([]) => Err(RequestError::new("{columns} names no column: name one, or leave out {columns}")),
        _ => Ok(()),
    }
}

/// An error in the fields of a request: fields exclude each other, or a string cannot be parsed. The message suggests a remedy.
/// `Display` shows field names as in JSON: `` `sort` ``.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RequestError {
    /// The sentence of the message. Field names in it are in braces, possibly with a value: `{sort value}`.
    sentence: String,
    /// The text after the sentence.
    detail: String,
}

impl RequestError {
    pub(crate) fn new(sentence: impl Into<String>) -> RequestError {
        RequestError { sentence: sentence.into(), detail: String::new() }
    }

    fn about(field: impl Into<String>, why: impl fmt::Display) -> RequestError {
        RequestError { sentence: field.into(), detail: format!(": {why}") }
    }

    /// Returns the message with command line options in place of field names: `--sort value`.
    pub fn in_options(&self) -> String {
        self.said(|field| format!("--{}", field.replacen("groupings", "stats", 1).replace('_', "-")))
    }

    /// Returns the message in which `name` replaces each field name. The argument of `name` is the JSON field name, followed by a
    /// blank and the value if there is one.
    pub fn said(&self, name: impl Fn(&str) -> String) -> String {
        let mut out = String::new();
        for (number, part) in self.sentence.split(['{', '}']).enumerate() {
            match number % 2 {
                0 => out.push_str(part),
                _ => out.push_str(&name(part)),
            }
        }
        out + &self.detail
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said(|field| format!("`{}`", field.replacen(' ', ": ", 1))))
    }
}

impl error::Error for RequestError {}

/// Parses the string in a field.
fn parsed<T: FromStr<Err: fmt::Display>>(field: &'static str, text: &str) -> Result<T, RequestError> {
    text.parse().map_err(|error| RequestError::about(field, error))
}

fn one_or_more<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a text or a list of texts")]
    enum RequestTexts {
        One(String),
        More(Vec<String>),
    }
    Ok(match RequestTexts::deserialize(from)? {
        RequestTexts::One(text) => vec![text],
        RequestTexts::More(texts) => texts,
    })
}

/// Converts the field `verify` to and from JSON: `true`, `false` or a number of segments.
mod verification {
    use serde::{Deserialize, Deserializer, Serialize as _, Serializer};

    use orbit_engine::verify::Sample;

    pub(super) fn serialize<S: Serializer>(sample: &Option<Sample>, to: S) -> Result<S::Ok, S::Error> {
        match sample {
            None => false.serialize(to),
            Some(Sample::All) => true.serialize(to),
            Some(Sample::Segments(segments)) => segments.serialize(to),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Sample>, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected true, false, or a number of segments of 32 positions")]
        enum Amount {
            All(bool),
            Segments(usize),
        }
        Ok(match Amount::deserialize(from)? {
            Amount::All(false) => None,
            Amount::All(true) => Some(Sample::All),
            Amount::Segments(segments) => Some(Sample::Segments(segments)),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, from_value, json};

    use super::*;

    fn read(fields: Value) -> Result<Request, String> {
        from_value(fields).map_err(|error| error.to_string())
    }

    fn refusal(fields: Value) -> String {
        read(fields).unwrap().check().unwrap_err().to_string()
    }

    #[test]
    fn json_of_a_request_is_read_as_it_was() {
        let fields = json!({
            "query": ["mate", "check"], "dialect": "cql6", "variations": true, "unique": "moves", "engine": "cpu", "verify": 7,
            "where": "elo>=2600", "player": "Carlsen, M", "as": "white", "rating": "2600-", "opponent": "Anand",
            "opponent_rating": "-2700", "first": true, "skip": 2, "limit": 5, "sort": "date", "reverse": true, "seed": 3,
            "columns": ["game", "fen"],
        });
        let request = read(fields).unwrap();
        assert_eq!(request.verify, Some(Sample::Segments(7)));
        assert_eq!(request.conditions, ["elo>=2600"]);
        let json = serde_json::to_value(&request).unwrap();
        assert_eq!(json["schema"], 1);
        assert_eq!(json.as_object().unwrap().len(), 29, "a new field is written as well");
        assert_eq!(read(json).unwrap(), request);
        for verify in [None, Some(Sample::All)] {
            let request = Request { verify, ..Request::new("mate") };
            assert_eq!(read(serde_json::to_value(&request).unwrap()).unwrap(), request);
        }
    }

    #[test]
    fn fields_choose_what_they_say() {
        let chosen =
            read(json!({"player_exact": "Carlsen,M", "as": "black", "sample": 4, "seed": 9})).unwrap();
        let chosen = chosen.check().unwrap();
        let player = chosen.choice.player.unwrap();
        assert_eq!((player.name, player.side), (PlayerName::exact("Carlsen,M").unwrap(), Side::Black));
        assert_eq!((chosen.order, chosen.games_max), (Some(Order::Sampled { seed: 9 }), Some(4)));
        let sorted =
            read(json!({"sort": "elo", "reverse": true, "limit": 3, "skip": 1})).unwrap().check().unwrap();
        assert_eq!(sorted.order, Some(Order::Sorted { key: SortKey::Elo, reverse: true }));
        assert_eq!((sorted.skip, sorted.games_max), (1, Some(3)));
        let first =
            read(json!({"first": true, "where": ["elo>=2600", "year=2015"]})).unwrap().check().unwrap();
        assert!(first.choice.first && !first.choice.best && first.choice.conditions.len() == 2);
    }

    #[test]
    fn fields_that_exclude_each_other_are_refused() {
        let cases = [
            (json!({"schema": 2}), "`schema` is 1"),
            (json!({"first": true, "best": true}), "`first` and `best` exclude"),
            (json!({"player": "a", "player_exact": "a"}), "`player` and `player_exact` exclude"),
            (json!({"as": "white"}), "`as`, `rating`, `opponent` and `opponent_rating` are of a player"),
            (json!({"opponent_rating": "2600-"}), "are of a player"),
            (json!({"sort": "elo", "sample": 2}), "`sort` and `sample` exclude"),
            (json!({"reverse": true}), "`reverse` turns an order round"),
            (json!({"sample": 2, "reverse": true}), "leave out `reverse`"),
            (json!({"sample": 2, "limit": 2}), "leave out `limit` and `skip`"),
            (json!({"sample": 2, "skip": 1}), "leave out `limit` and `skip`"),
            (json!({"sample": 2, "count": true}), "`count` lists none"),
            (json!({"count": true, "columns": ["fen"]}), "leave out `columns`"),
            (json!({"columns": []}), "`columns` names no column"),
            (json!({"where": ["elo"]}), "`where`: "),
            (json!({"player": ""}), "`player`: "),
            (json!({"player": "a", "rating": "x"}), "`rating`: `x` is no range of ratings"),
        ];
        for (fields, why) in cases {
            let said = refusal(fields.clone());
            assert!(said.contains(why), "{fields}: {said}");
        }
    }

    #[test]
    fn queries_have_what_is_chosen_by() {
        let chosen = |fields| read(fields).unwrap().check().unwrap();
        let best = chosen(json!({"best": true}));
        assert!(best.check_query(Type::Num, false).is_ok());
        let refused = best.check_query(Type::Bool, false).unwrap_err();
        assert!(
            refused.in_options().starts_with("--best needs a query whose value is"),
            "{}",
            refused.in_options()
        );
        let value = chosen(json!({"sort": "value"}));
        let refused = value.check_query(Type::Str, false).unwrap_err();
        assert!(refused.in_options().starts_with("--sort value needs"), "{}", refused.in_options());
        assert!(refused.to_string().starts_with("`sort: value` needs"), "{refused}");
        let length = chosen(json!({"sort": "length"}));
        assert!(length.check_query(Type::Bool, true).is_ok());
        assert!(length.check_query(Type::Num, false).unwrap_err().to_string().contains("consist of moves"));
    }

    #[test]
    fn queries_come_from_texts_themes_and_boards() {
        let texts = |fields| read(fields).unwrap().texts().map_err(|error| error.to_string());
        assert_eq!(texts(json!({"query": ["mate", "check"]})).unwrap(), ["mate", "check"]);
        assert_eq!(
            texts(json!({"board": "8/8/8/8/3N4/8/8/8", "transforms": ["flip"]})).unwrap(),
            ["flip Nd4"]
        );
        assert!(texts(json!({"theme": "greek-gift"})).unwrap()[0].contains("[x]ph7"));
        let similar = texts(json!({"similar": "8/8/8/8/3N4/8/8/8"})).unwrap();
        assert!(similar[0].contains("similar \""), "{similar:?}");
        for (fields, why) in [
            (
                json!({"theme": "greek-gitf"}),
                "`theme`: there is no theme `greek-gitf`: did you mean `greek-gift`?",
            ),
            (json!({"theme": "greek-gift", "dialect": "cql6"}), "leave out `dialect`"),
            (json!({"board": "9"}), "`board`: "),
            (json!({"similar": ""}), "`similar`: the board is empty"),
            (json!({"query": "mate", "transforms": ["flip"]}), "give `board` or `similar` with them"),
            (json!({"query": "mate", "at": "e4"}), "`similar` and `at` exclude each other"),
            (json!({"theme": "greek-gift", "board": "8/8/8/8/3N4/8/8/8"}), "exclude each other"),
        ] {
            let said = texts(fields).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
    }

    #[test]
    fn unknown_fields_and_values_are_refused() {
        for fields in [
            json!({"quer": "mate"}),
            json!({"engine": "gpux"}),
            json!({"query": 5}),
            json!({"verify": "some"}),
            json!({"limit": 0}),
            json!({"columns": ["gmae"]}),
        ] {
            assert!(read(fields.clone()).is_err(), "{fields}");
        }
    }
}
