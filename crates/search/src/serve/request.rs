//! Requests as lines of JSON.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::fault::{ErrorCode, Fault};
use crate::choice::ExactPosition;
use crate::report::Column;
use crate::request::{Request, check_columns, read_fields, take_field};
use crate::themes::CATALOGUE;
use orbit_core::diagnostic::nearest;

/// The maximum number of rows in a page.
pub const PAGE_ROWS_MAX: u64 = 1000;
/// The default database name.
pub const MAIN: &str = "main";
/// The maximum length of a string id, in bytes.
const ID_BYTES_MAX: usize = 200;

/// The id of a request: a whole number or a string, as JSON text.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct RequestId(String);

impl RequestId {
    /// Returns the id as JSON.
    pub fn json(&self) -> &str {
        &self.0
    }

    fn from_value(value: &Value) -> Result<RequestId, Fault> {
        let is_id = match value {
            Value::Number(number) => number.is_i64() || number.is_u64(),
            Value::String(text) => text.len() <= ID_BYTES_MAX,
            _ => false,
        };
        match is_id {
            true => Ok(RequestId(value.to_string())),
            false => Err(Fault::new(
                ErrorCode::Request,
                format!("an id is a whole number, or a string of at most {ID_BYTES_MAX} bytes"),
            )),
        }
    }
}

impl<'de> Deserialize<'de> for RequestId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RequestId, D::Error> {
        RequestId::from_value(&Value::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// A request.
#[derive(Debug)]
pub enum Message {
    /// Opens a database.
    Open(Open),
    /// Closes a database.
    Close(Close),
    /// Runs a query.
    Query(Box<Ask>),
    /// Counts, groups or writes the hits of queries.
    Make(Box<Make>),
    /// Returns some of the hits of a query.
    Hits(Page),
    /// Returns how often a position occurs.
    Positions(Box<PositionRequest>),
    /// Returns one game.
    Game(GameRequest),
    /// Explains the meaning of a query.
    Explain(Box<Explain>),
    /// Cancels a running or waiting request.
    Cancel(RequestRef),
    /// Returns the progress of a request.
    Progress(RequestRef),
    /// Does nothing.
    Ping,
    /// Returns the content of the greeting.
    Version,
    /// Ends the conversation.
    Quit,
}

/// The fields of a line.
struct LineFields {
    fields: Map<String, Value>,
    /// The name of a field that occurs more than once in the line, if there is one.
    twice: Option<String>,
}

impl<'de> Deserialize<'de> for LineFields {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<LineFields, D::Error> {
        from.deserialize_map(LineFieldsVisitor)
    }
}

struct LineFieldsVisitor;

impl<'de> Visitor<'de> for LineFieldsVisitor {
    type Value = LineFields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<LineFields, A::Error> {
        let mut line = LineFields { fields: Map::new(), twice: None };
        while let Some((name, value)) = from.next_entry::<String, Value>()? {
            if line.fields.insert(name.clone(), value).is_some() {
                line.twice = Some(name);
            }
        }
        Ok(line)
    }
}

/// The request `open`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Open {
    /// The PGN files, folders and reels to open, in this order.
    pub paths: Vec<String>,
    /// The name of the new database.
    #[serde(default = "main_name")]
    pub database: String,
    /// True to keep side lines and comments.
    #[serde(default)]
    pub variations: bool,
    /// True to send progress events.
    #[serde(default)]
    pub progress: bool,
}

/// The request `close`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Close {
    /// The name of the database.
    #[serde(default = "main_name")]
    pub database: String,
}

/// The request `query`.
#[derive(Debug)]
pub struct Ask {
    /// The query, and the selection of games and hits.
    pub request: Request,
    /// The name of the database to search.
    pub database: String,
    /// The number of rows in the first page, which is part of the response.
    pub rows: u64,
    /// True to send rows as they are found instead of keeping them.
    pub stream: bool,
    /// True to send progress events.
    pub progress: bool,
}

/// A request `batch`, `count`, `statistics` or `write`.
#[derive(Debug)]
pub struct Make {
    /// The queries, and the selection of games and hits.
    pub request: Request,
    /// The name of the database to search.
    pub database: String,
    /// The kind of result.
    pub what: What,
    /// True to send progress events.
    pub progress: bool,
}

/// A result that is computed from hits: counts, statistics, or a file.
#[derive(Debug)]
pub enum What {
    /// The number of games and of positions with hits, for each query.
    Count,
    /// Counts for these groupings, such as `year,eco*result`.
    Statistics(String),
    /// Counts for many themes, in total and by groups.
    Batch(Batch),
    /// A file with games as PGN, a report as HTML, or a heat map as SVG.
    File {
        /// The name of the file.
        path: PathBuf,
        /// The title of a report. If it is `None`, the first line of the query is the title.
        title: Option<String>,
    },
}

/// The fields of a `batch` request.
#[derive(Debug)]
pub struct Batch {
    /// The file of themes, or `catalogue` for the built-in themes.
    pub themes: PathBuf,
    /// The names of the themes to count. If this list and `group` are both empty, all themes are counted.
    pub only: Vec<String>,
    /// The names of theme groups to count.
    pub group: Vec<String>,
    /// The groupings of games and positions, or `None` to count only totals.
    pub by: Option<String>,
}

/// The request `hits`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    /// The id of the query.
    pub of: RequestId,
    /// The index of the first row to return, counted from 0.
    #[serde(default)]
    pub from: u64,
    /// The number of rows.
    #[serde(default = "usual_rows")]
    pub rows: u64,
    /// The columns of the rows, or `None` for the default columns.
    pub columns: Option<Vec<Column>>,
}

/// The request `game`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameRequest {
    /// The name of the database.
    #[serde(default = "main_name")]
    pub database: String,
    /// The number of the game, from 1.
    pub game: u32,
}

/// The request `positions`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PositionRequest {
    /// The position, as a FEN or as moves.
    #[serde(deserialize_with = "exact_position")]
    pub at: ExactPosition,
    /// The name of the database.
    #[serde(default = "main_name")]
    pub database: String,
    /// True to send progress events.
    #[serde(default)]
    pub progress: bool,
}

fn exact_position<'de, D: Deserializer<'de>>(from: D) -> Result<ExactPosition, D::Error> {
    String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
}

/// The request `explain`.
#[derive(Debug)]
pub struct Explain {
    /// The query.
    pub request: Request,
    /// The maximum number of the query's transformed copies to list.
    pub copies: usize,
}

/// The requests `cancel` and `progress`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestRef {
    /// The id of the request to which this one refers.
    pub of: RequestId,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

fn main_name() -> String {
    MAIN.to_owned()
}

fn usual_rows() -> u64 {
    50
}

/// The default number of transformed copies that `explain` lists.
const COPIES_USUAL: usize = 10;

const KINDS: [&str; 16] = [
    "open",
    "close",
    "query",
    "batch",
    "count",
    "statistics",
    "write",
    "hits",
    "positions",
    "game",
    "explain",
    "cancel",
    "progress",
    "ping",
    "version",
    "quit",
];

impl Message {
    /// Parses a line. Returns the id and the request.
    ///
    /// # Errors
    ///
    /// Fails if the line is no request. The error comes with the id, if the line has one.
    pub fn read(line: &[u8]) -> Result<(RequestId, Message), (Option<RequestId>, Fault)> {
        let wrong = |message: String| Fault::new(ErrorCode::Request, message);
        let LineFields { mut fields, twice } = match serde_json::from_slice(line) {
            Ok(line) => line,
            Err(error) if error.is_data() => {
                let why = "a request is a JSON object, such as {\"id\":1,\"request\":\"ping\"}";
                return Err((None, wrong(why.into())));
            }
            Err(error) => return Err((None, wrong(format!("the line is no JSON: {error}")))),
        };
        let id = match fields.remove("id").as_ref().map(RequestId::from_value) {
            Some(Ok(id)) => id,
            Some(Err(fault)) => return Err((None, fault)),
            None => return Err((None, wrong("the request has no id: give it a number or a string".into()))),
        };
        let request = match (twice, fields.remove("request")) {
            (Some(name), _) => {
                Err(wrong(format!("the request has the field `{name}` twice: leave out one of them")))
            }
            (None, Some(Value::String(kind))) => Message::from_kind(&kind, fields),
            _ => Err(wrong(format!("`request` says what is asked for: one of {}", KINDS.join(", ")))),
        };
        match request {
            Ok(request) => Ok((id, request)),
            Err(fault) => Err((Some(id), fault)),
        }
    }

    fn from_kind(kind: &str, fields: Map<String, Value>) -> Result<Message, Fault> {
        Ok(match kind {
            "open" => Message::Open(read_fields(fields, &[])?),
            "close" => Message::Close(read_fields(fields, &[])?),
            "query" => Message::Query(Box::new(Ask::from_fields(fields)?)),
            "batch" | "count" | "statistics" | "write" => {
                Message::Make(Box::new(Make::from_fields(kind, fields)?))
            }
            "hits" => {
                let page: Page = read_fields(fields, &[])?;
                check_columns(page.columns.as_deref())?;
                Message::Hits(page)
            }
            "positions" => Message::Positions(Box::new(read_fields(fields, &[])?)),
            "game" => Message::Game(read_fields(fields, &[])?),
            "explain" => Message::Explain(Box::new(Explain::from_fields(fields)?)),
            "cancel" => Message::Cancel(read_fields(fields, &[])?),
            "progress" => Message::Progress(read_fields(fields, &[])?),
            "ping" => read_fields(fields, &[]).map(|Nothing {}| Message::Ping)?,
            "version" => read_fields(fields, &[]).map(|Nothing {}| Message::Version)?,
            "quit" => read_fields(fields, &[]).map(|Nothing {}| Message::Quit)?,
            _ => {
                let message = match nearest(kind, KINDS.iter()) {
                    Some(near) => format!("there is no request `{kind}`; did you mean `{near}`?"),
                    None => format!("there is no request `{kind}`: the requests are {}", KINDS.join(", ")),
                };
                return Err(Fault::new(ErrorCode::Request, message));
            }
        })
    }
}

impl Open {
    /// Creates a request that opens files as a database with the default name.
    pub fn new(paths: Vec<String>) -> Open {
        Open { paths, database: main_name(), variations: false, progress: false }
    }
}

impl Explain {
    /// Creates a request that explains a query, with the default number of copies.
    pub fn new(query: &str) -> Explain {
        Explain { request: Request::new(query), copies: COPIES_USUAL }
    }

    fn from_fields(mut fields: Map<String, Value>) -> Result<Explain, Fault> {
        let copies = take_field(&mut fields, "copies")?.unwrap_or(COPIES_USUAL);
        let names = ["query", "theme", "board", "similar", "transforms", "dialect", "schema"];
        if let Some(name) = fields.keys().find(|name| !names.contains(&name.as_str())) {
            let why = format!("`explain` has no field `{name}`: it has {} and copies", names.join(", "));
            return Err(Fault::new(ErrorCode::Request, why));
        }
        Ok(Explain { request: one_query(fields, &[])?, copies })
    }
}

impl What {
    /// Checks that the output file has a supported extension, and that only reports have a title.
    fn check(&self) -> Result<(), &'static str> {
        match self {
            What::File { path, .. } if !is_picture(path) && !is_games(path) => Err(
                "`path` ends in .pgn (.zst may follow), .html or .svg: the rows of tables come with `query` and `hits`",
            ),
            What::File { path, title: Some(_) } if !is_page(path) => {
                Err("`title` is for reports: let `path` end in .html, or leave `title` out")
            }
            _ => Ok(()),
        }
    }
}

/// The fields that a `batch`, `count`, `statistics` or `write` request has in addition to those of a [`Request`].
const OF_MAKE: [&str; 2] = ["database", "progress"];

impl Make {
    fn from_fields(kind: &str, mut fields: Map<String, Value>) -> Result<Make, Fault> {
        let database = take_field(&mut fields, "database")?.unwrap_or_else(main_name);
        let progress = take_field(&mut fields, "progress")?.unwrap_or_default();
        if let Some(name) = ["count", "columns"].into_iter().find(|name| fields.contains_key(*name)) {
            return Err(Fault::new(
                ErrorCode::Request,
                format!("`{kind}` lists no rows: leave out `{name}`"),
            ));
        }
        let missing = |name| Fault::new(ErrorCode::Request, format!("missing field `{name}`"));
        let (what, request) = match kind {
            "batch" => {
                let batch = Batch::take_from(&mut fields)?;
                (What::Batch(batch), read_fields(fields, &[&OF_MAKE[..], &Batch::FIELDS].concat())?)
            }
            "count" => (What::Count, read_fields(fields, &OF_MAKE)?),
            "statistics" => {
                let groupings = take_field(&mut fields, "groupings")?.ok_or_else(|| missing("groupings"))?;
                (What::Statistics(groupings), one_query(fields, &[&OF_MAKE[..], &["groupings"]].concat())?)
            }
            _ => {
                let path = take_field(&mut fields, "path")?.ok_or_else(|| missing("path"))?;
                let title = take_field(&mut fields, "title")?.flatten();
                (What::File { path, title }, one_query(fields, &[&OF_MAKE[..], &["path", "title"]].concat())?)
            }
        };
        what.check().map_err(|why| Fault::new(ErrorCode::Request, why))?;
        Ok(Make { request, database, what, progress })
    }
}

impl Batch {
    const FIELDS: [&str; 4] = ["themes", "only", "group", "by"];

    /// Removes the fields of a `batch` request and returns them. Fails if other fields specify queries.
    fn take_from(fields: &mut Map<String, Value>) -> Result<Batch, Fault> {
        let of_query = ["query", "theme", "board", "similar", "at", "transforms", "dialect"];
        if let Some(name) = of_query.into_iter().find(|name| fields.contains_key(*name)) {
            let why = format!("`batch` asks the queries of its themes: leave out `{name}`");
            return Err(Fault::new(ErrorCode::Request, why));
        }
        Ok(Batch {
            themes: take_field(fields, "themes")?.unwrap_or_else(|| CATALOGUE.into()),
            only: take_field(fields, "only")?.unwrap_or_default(),
            group: take_field(fields, "group")?.unwrap_or_default(),
            by: take_field(fields, "by")?.flatten(),
        })
    }
}

impl Ask {
    /// Creates a request that runs a query with the default options.
    pub fn new(query: &str) -> Ask {
        Ask { request: Request::new(query), database: main_name(), rows: 0, stream: false, progress: false }
    }

    /// Creates a `query` request from its fields.
    ///
    /// # Errors
    ///
    /// Fails if a field is unknown or has an invalid value.
    pub fn from_fields(mut fields: Map<String, Value>) -> Result<Ask, Fault> {
        let database = take_field(&mut fields, "database")?.unwrap_or_else(main_name);
        let rows = take_field(&mut fields, "rows")?.unwrap_or_default();
        let stream = take_field(&mut fields, "stream")?.unwrap_or_default();
        let progress = take_field(&mut fields, "progress")?.unwrap_or_default();
        let request = one_query(fields, &["database", "rows", "stream", "progress"])?;
        let ask = Ask { request, database, rows, stream, progress };
        let Request { count, sort, sample, .. } = &ask.request;
        if stream && (rows > 0 || *count || sort.is_some() || sample.is_some()) {
            let why = "`stream` sends rows as they are found: leave out `rows`, `count`, `sort` and `sample`";
            return Err(Fault::new(ErrorCode::Request, why));
        }
        if rows > 0 && *count {
            return Err(Fault::new(ErrorCode::Request, "`count` lists no rows: leave out `rows`"));
        }
        Ok(ask)
    }
}

/// Returns whether the extension of a file is that of a report or a heat map.
pub(super) fn is_picture(path: &Path) -> bool {
    ends_in(path, &[".html", ".svg"])
}

/// Returns whether the extension of a file is that of a report.
pub(super) fn is_page(path: &Path) -> bool {
    ends_in(path, &[".html"])
}

/// Returns whether the extension of a file is that of a game file.
fn is_games(path: &Path) -> bool {
    ends_in(path, &[".pgn", ".pgn.zst"])
}

fn ends_in(path: &Path, endings: &[&str]) -> bool {
    let name = path.to_string_lossy().to_ascii_lowercase();
    endings.iter().any(|ending| name.ends_with(ending))
}

/// Reads a request that must have exactly one query. `others` are the names of fields that the caller has already removed.
fn one_query(fields: Map<String, Value>, others: &[&'static str]) -> Result<Request, Fault> {
    let request: Request = read_fields(fields, others)?;
    if request.query.len() > 1 {
        return Err(Fault::new(ErrorCode::Request, "one query is asked: `count` takes several"));
    }
    Ok(request)
}

/// Returns `rows`, or an error if it exceeds the maximum number of rows in a page.
pub(super) fn checked_rows(rows: u64) -> Result<u64, Fault> {
    match rows <= PAGE_ROWS_MAX {
        true => Ok(rows),
        false => Err(Fault::new(
            ErrorCode::Request,
            format!("a page has at most {PAGE_ROWS_MAX} rows: ask for several pages"),
        )),
    }
}
