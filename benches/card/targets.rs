//! Compares a card's results with its targets.

use serde_json::{Value, json};

use super::TARGET_QUERY;

const GIGA: f64 = 1e9;
/// The target for the query with 672 copies (transformed patterns), in positions per second, with the games in the card's memory.
const RESIDENT: f64 = 20.0 * GIGA;
/// The stricter target that applies once [`RESIDENT`] is reached: this number of positions per second, or
/// [`ROOF_SHARE`] of the measured limit, whichever is lower.
const RESIDENT_THEN: f64 = 50.0 * GIGA;
const ROOF_SHARE: f64 = 0.6;
/// The two targets for streamed games. The speed must reach this share of the fastest upload speed, and
/// [`STREAMED_BYTES`] bytes per second.
const STREAMED_SHARE: f64 = 0.8;
const STREAMED_BYTES: f64 = 10.0 * GIGA;

/// Returns each target with the measured value, if there is one, and true if the target is met. Software adapters are not judged.
pub fn judge(document: &Value) -> Value {
    let rows = document["rows"].as_array().map_or(&[][..], Vec::as_slice);
    let of = |kind: &str| {
        rows.iter()
            .filter(move |row| row["kind"] == *kind && row["query"] == TARGET_QUERY && row["agree"] == true)
            .collect::<Vec<_>>()
    };
    let highest =
        |kind: &str, field: &str| of(kind).iter().filter_map(|row| row[field].as_f64()).reduce(f64::max);
    let resident = highest("resident", "positions_s");
    let roof = highest("resident", "roof_positions_s");
    let then = roof.map_or(RESIDENT_THEN, |roof| RESIDENT_THEN.min(ROOF_SHARE * roof));
    let is_judged = document["software"] == false;
    let target = |name: &str, unit: &str, target: f64, measured: Option<f64>| {
        json!({
            "name": name,
            "unit": unit,
            "target": target,
            "measured": measured,
            "met": measured.filter(|_| is_judged).map(|measured| measured >= target),
        })
    };
    json!([
        target("672 copies, resident", "positions/s", RESIDENT, resident),
        target("672 copies, resident, then (or 60 % of the roof)", "positions/s", then, resident),
        target(
            "672 copies, streamed: share of the best upload",
            "share",
            STREAMED_SHARE,
            highest("streamed", "share_upload")
        ),
        target("672 copies, streamed", "bytes/s", STREAMED_BYTES, highest("streamed", "bytes_s")),
    ])
}
