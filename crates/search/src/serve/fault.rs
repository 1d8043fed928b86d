//! The reasons why a request is not answered.

use std::fmt;

use serde_json::{Value, json};

use crate::library::DatabaseError;
use crate::request::RequestError;
use orbit_core::diagnostic::Diagnostic;
use orbit_engine::EngineError;

/// The kind of an error, for use by programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ErrorCode {
    /// The line is not a request: it is not JSON, or it has an unknown field or a wrong value.
    Request,
    /// The line is too long.
    TooLong,
    /// Too many requests are waiting.
    Busy,
    /// No database of this name is open.
    UnknownDatabase,
    /// No request with this id is running or waiting, and no hits are stored under this id.
    UnknownQuery,
    /// The hits of the query are no longer stored.
    Dropped,
    /// The request was cancelled.
    Cancelled,
    /// The query has an error, or it fails in a game.
    Query,
    /// A database cannot be opened or read.
    Database,
    /// The engine refuses the query or fails.
    Engine,
    /// There is a bug in the program.
    Internal,
}

impl ErrorCode {
    /// All codes.
    pub const ALL: [ErrorCode; 11] = [
        ErrorCode::Request,
        ErrorCode::TooLong,
        ErrorCode::Busy,
        ErrorCode::UnknownDatabase,
        ErrorCode::UnknownQuery,
        ErrorCode::Dropped,
        ErrorCode::Cancelled,
        ErrorCode::Query,
        ErrorCode::Database,
        ErrorCode::Engine,
        ErrorCode::Internal,
    ];

    /// Returns the name.
    pub const fn name(self) -> &'static str {
        match self {
            ErrorCode::Request => "request",
            ErrorCode::TooLong => "too_long",
            ErrorCode::Busy => "busy",
            ErrorCode::UnknownDatabase => "unknown_database",
            ErrorCode::UnknownQuery => "unknown_query",
            ErrorCode::Dropped => "dropped",
            ErrorCode::Cancelled => "cancelled",
            ErrorCode::Query => "query",
            ErrorCode::Database => "database",
            ErrorCode::Engine => "engine",
            ErrorCode::Internal => "internal",
        }
    }
}

/// The reason why a request is not answered. `Display` shows it as one line, without the place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The kind of the error.
    pub code: ErrorCode,
    /// The error and its remedy, as a sentence.
    pub message: String,
    /// The place in a query, with the text of that query.
    place: Option<Box<(Diagnostic, String)>>,
}

impl Fault {
    /// Creates an error that is not about a place in a query.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Fault {
        Fault { code, message: message.into(), place: None }
    }

    pub(super) fn from_query(diagnostic: Diagnostic, text: &str) -> Fault {
        let message = diagnostic.message.clone();
        Fault { code: ErrorCode::Query, message, place: Some(Box::new((diagnostic, text.to_owned()))) }
    }

    pub(super) fn from_database(error: DatabaseError, text: &str) -> Fault {
        match error {
            DatabaseError::Query(error) => {
                let text = if error.text().is_empty() { text } else { error.text() };
                Fault::from_query(error.diagnostic().clone(), text)
            }
            DatabaseError::Request(error) => error.into(),
            DatabaseError::Groupings(error) => Fault::new(ErrorCode::Request, error.to_string()),
            DatabaseError::Engine(error) => Fault::from_engine(error, text),
            DatabaseError::Cancelled => Fault::cancelled(),
            DatabaseError::NoVariations => Fault::new(
                ErrorCode::Database,
                "the query searches side lines, and the database was opened without them: open it with variations",
            ),
            DatabaseError::NoAnnotations => Fault::new(
                ErrorCode::Database,
                "the query, a condition, a grouping or a column needs the comments of games (clocks and evaluations stand in them), \
                 and the database was opened without them: open it with variations",
            ),
            other => Fault::new(ErrorCode::Database, other.to_string()),
        }
    }

    pub(super) fn from_engine(error: EngineError, text: &str) -> Fault {
        match error {
            EngineError::Query { game, place, diagnostic, .. } => {
                let message = format!("game {game}, {place}: {}", diagnostic.message);
                Fault::from_query(Diagnostic { message, ..*diagnostic }, text)
            }
            other => Fault::new(ErrorCode::Engine, other.to_string()),
        }
    }

    pub(super) fn cancelled() -> Fault {
        Fault::new(ErrorCode::Cancelled, "cancelled")
    }

    /// Returns the error as an object with a code and a message. An error in a query also has file, line, column, start,
    /// end, label and help.
    pub fn json(&self) -> Value {
        let Some(place) = &self.place else {
            return json!({ "code": self.code.name(), "message": self.message });
        };
        let (diagnostic, text) = &**place;
        let mut object = diagnostic.json(text, "query", 1);
        if let Some(fields) = object.as_object_mut() {
            fields.remove("kind");
        }
        object
    }

    /// Returns the error as text for people. If the error has a place in a query, the text has several lines, and the place is
    /// marked.
    pub fn render(&self, styled: bool) -> String {
        match &self.place {
            Some(place) => place.0.render(&place.1, "query", styled),
            None => format!("error: {}", self.message),
        }
    }
}

impl From<RequestError> for Fault {
    fn from(error: RequestError) -> Fault {
        Fault::new(ErrorCode::Request, error.to_string())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}
