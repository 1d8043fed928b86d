//! Defines the errors with which requests fail.

use std::fmt;

use serde_json::{Value, json};

use crate::library::DatabaseError;
use crate::request::RequestError;
use orbit_core::diagnostic::Diagnostic;
use orbit_engine::EngineError;

/// The kind of an error, for client programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ErrorCode {
    /// The line is not a valid request: it is not JSON, or it has an unknown field or an invalid value.
    Request,
    /// The line is too long.
    TooLong,
    /// Too many requests are waiting.
    Busy,
    /// No open database has this name.
    UnknownDatabase,
    /// No running or waiting request has this id, and no hits are stored under it.
    UnknownQuery,
    /// The hits of the query are no longer stored.
    Dropped,
    /// The request was cancelled.
    Cancelled,
    /// The query has an error, or its evaluation fails in a game.
    Query,
    /// A database cannot be opened or read.
    Database,
    /// The engine rejects the query or fails.
    Engine,
    /// The program has a bug.
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

/// The error with which a request fails. `Display` shows it as one line, without the place in the query.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The kind of the error.
    pub code: ErrorCode,
    /// A sentence that describes the error and its remedy.
    pub message: String,
    /// The place in a query, and the text of that query.
    place: Option<Box<(Diagnostic, String)>>,
}

impl Fault {
    /// Creates an error that does not refer to a place in a query.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Fault {
        Fault { code, message: message.into(), place: None }
    }

    pub(super) fn from_query(diagnostic: Diagnostic, text: &str) -> Fault {
        let message = diagnostic.message.clone();
        Fault { code: ErrorCode::Query, message, place: Some(Box::new((diagnostic, text.to_owned()))) }
    }

    pub(super) fn from_database(error: DatabaseError, text: &str) -> Fault {
        match error {
            DatabaseError::Query(error) => Fault::from_query(error.diagnostic().clone(), error.text()),
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

    /// Returns the error as a JSON object with a code and a message. For an error in a query, the object also has file, line,
    /// column, start, end, label and help.
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

    /// Returns the error as text for people. If the error refers to a place in a query, the text has several lines and marks the
    /// place.
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
