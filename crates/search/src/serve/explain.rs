//! Explains a query. No database is needed.

use serde_json::{Value, json};

use super::answer::{Response, remarks};
use super::ask::only;
use super::fault::Fault;
use super::request::Explain;
use crate::library::Query;
use orbit_query::english;

/// An explanation of a query.
#[derive(Debug)]
pub struct Explained {
    query: Query,
    remarks: Vec<Value>,
    /// The query as an English sentence.
    pub sentence: String,
    /// A description of the type of the query's value.
    pub value: &'static str,
    /// The engines that can run the query.
    pub engines: &'static [&'static str],
    /// The reason why some engines cannot run the query.
    pub reason: Option<String>,
}

impl Explained {
    /// Parses and explains a query.
    ///
    /// # Errors
    ///
    /// Fails if the query has an error; the returned error shows its place.
    pub fn new(explain: &Explain) -> Result<Explained, Fault> {
        let query = only(&explain.request)?;
        let prepared = query.prepared();
        let refusal = prepared.planner.refusal();
        Ok(Explained {
            remarks: remarks(&explain.request, query.text(), query.remarks()),
            sentence: english::sentence(&prepared.query, query.text()),
            value: query.value_type().described(),
            engines: prepared.engines(),
            reason: refusal.map(|refusal| refusal.message.clone()),
            query,
        })
    }

    /// Returns the query, with its remarks and transformed copies.
    pub fn query(&self) -> &Query {
        &self.query
    }

    /// Returns the explanation as a response that lists at most `copies` transformed copies of the query.
    pub(super) fn answer(&self, copies: usize) -> Response {
        let query = &self.query;
        let all = query.copies().iter().zip(query.transforms()).enumerate();
        let listed = all
            .take(copies)
            .map(|(index, (text, transform))| json!({ "copy": index + 1, "text": text, "from": transform }));
        Response::from_value(json!({
            "sentence": self.sentence,
            "type": query.value_type().name(),
            "copies_count": query.copies().len(),
            "copies": listed.collect::<Vec<_>>(),
            "engines": self.engines,
            "reason": self.reason,
            "remarks": self.remarks,
        }))
    }
}
