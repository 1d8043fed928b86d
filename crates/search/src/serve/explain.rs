//! What a query means, without a database.

use serde_json::{Value, json};

use super::answer::{Response, remarks};
use super::ask::only;
use super::fault::Fault;
use super::request::Explain;
use crate::library::Query;
use orbit_query::english;

/// What a query means.
#[derive(Debug)]
pub struct Explained {
    query: Query,
    remarks: Vec<Value>,
    /// In English.
    pub sentence: String,
    /// What its value is, in words.
    pub value: &'static str,
    /// The engines that can run it.
    pub engines: &'static [&'static str],
    /// Why not all can.
    pub reason: Option<String>,
}

impl Explained {
    /// Reads a query.
    ///
    /// # Errors
    ///
    /// What is wrong with it, and where.
    pub fn new(explain: &Explain) -> Result<Explained, Fault> {
        let query = only(&explain.request)?;
        let prepared = query.prepared();
        let refusal = prepared.planner.refusal();
        Ok(Explained {
            remarks: remarks(&explain.request, query.text(), query.remarks()),
            sentence: english::sentence(&prepared.query, query.text()),
            value: query.value_type().described(),
            engines: if refusal.is_none() { &["cpu", "gpu", "reference"] } else { &["reference"] },
            reason: refusal.map(|refusal| refusal.message.clone()),
            query,
        })
    }

    /// The query, with its copies and remarks.
    pub fn query(&self) -> &Query {
        &self.query
    }

    /// The answer, with so many copies.
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
