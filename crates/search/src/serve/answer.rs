//! Answers as lines of JSON.

use serde_json::{Map, Value};

use super::fault::Fault;
use super::request::RequestId;
use crate::request::Request;
use orbit_core::diagnostic::Diagnostic;
use orbit_core::visible::{EscapeContext, escape};

/// The version of requests and responses. It is increased when a request or a field is removed or its meaning changes.
pub const SERVE_SCHEMA: u32 = 1;

/// The response to a request. Its rows are already serialized as JSON.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Response {
    /// The fields, without the id and the rows.
    pub fields: Map<String, Value>,
    /// The rows, each as the text of a JSON object, or `None` if this kind of response has no rows.
    pub rows: Option<Vec<String>>,
}

impl Response {
    /// Creates a response from the fields of an object.
    ///
    /// # Panics
    ///
    /// Panics if the value is not an object.
    pub fn from_value(value: Value) -> Response {
        match value {
            Value::Object(fields) => Response { fields, rows: None },
            other => panic!("an answer is an object, and this is none: {other}"),
        }
    }

    /// Returns the response as a line of JSON, without the line end. Terminal control characters are escaped.
    pub fn line(&self, id: Option<&RequestId>) -> String {
        let mut out = format!("{{\"id\":{}", id.map_or("null", RequestId::json));
        for (name, value) in &self.fields {
            out.push_str(&format!(",{}:{value}", Value::from(name.as_str())));
        }
        if let Some(rows) = &self.rows {
            out.push_str(&format!(",\"rows\":[{}]", rows.join(",")));
        }
        out.push('}');
        escape(&out, EscapeContext::Json).into_owned()
    }
}

/// Returns the remarks on a request's boards and on its query, as JSON.
pub(super) fn remarks(request: &Request, query: &str, remarks: &[Diagnostic]) -> Vec<Value> {
    let of_board = request.board_remarks();
    let of_board = of_board.iter().map(|(field, board, remark)| remark.json(board, field, 1));
    of_board.chain(remarks.iter().map(|remark| remark.json(query, "query", 1))).collect()
}

/// Returns an error response as a line of JSON.
pub(super) fn error_line(id: Option<&RequestId>, fault: &Fault) -> String {
    let mut fields = Map::new();
    fields.insert("error".into(), fault.json());
    Response { fields, rows: None }.line(id)
}
