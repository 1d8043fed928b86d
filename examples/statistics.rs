//! Statistics of a query: how often it matches by year, by result, or by any other grouping in `docs/statistics.md`.
//!
//! ```sh
//! cargo run --release --example statistics -- games/sample.pgn 'flipcolor {Bh7 kg8}' year,result
//! ```

use std::error::Error;
use std::io::{self, Write};

use orbit_chess::{Database, Query};

pub fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, query, groupings] = &arguments[..] else {
        return Err("usage: statistics FILE QUERY GROUPINGS".into());
    };
    table(path, query, groupings, &mut io::stdout().lock())
}

/// Writes a table for each grouping, and then White's score in the games with a hit.
pub fn table(path: &str, query: &str, groupings: &str, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let (database, query) = (Database::open([path])?, Query::parse(query)?);
    let counts = database.scan(&query).statistics(groupings)?;
    counts.write_text(10, query.copies(), false, &mut *out)?;
    let total = counts.total();
    let (hit, all) = (total.hit.games, total.all.games);
    let score = total.hit.score().map_or(String::from("?"), |score| format!("{:.1} %", 100.0 * score));
    writeln!(out, "{hit} of {all} games hit; White scored {score} in them")?;
    Ok(())
}
