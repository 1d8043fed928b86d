//! The core of a graphical user interface. It opens databases once, runs queries one after the other, and lists each query's
//! hits.
//!
//! ```sh
//! cargo run --release --example gui -- games/sample.pgn 'shift flip flipcolor {Nd4 kf3}' 'flipcolor {Bh7 kg8}'
//! ```

use std::error::Error;
use std::io::{self, Write};

use orbit_chess::{Database, Hit, Query};

pub fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, queries @ ..] = &arguments[..] else { return Err("usage: gui FILE QUERY...".into()) };
    list(path, queries, &mut io::stdout().lock())
}

/// Lists the first hit of each game, for each query in turn.
pub fn list(path: &str, queries: &[String], out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let database = Database::open([path])?;
    writeln!(out, "{} positions, {}", database.positions(), database.residence())?;
    for text in queries {
        // The message for an invalid query marks the place of the error.
        let query = Query::parse(text)?;
        let mut done = 0;
        let hits = database.scan(&query).first_per_game().progress(|so_far| done = so_far.games).hits()?;
        writeln!(out, "\n{text}: {} of {done} games", hits.len())?;
        hits.iter().try_for_each(|hit| writeln!(out, "{}", line(hit)))?;
    }
    Ok(())
}

/// Formats a hit as one line of a list.
fn line(hit: &Hit) -> String {
    let game = hit.game();
    let name = |player: Option<String>| player.unwrap_or_else(|| "?".into());
    let (white, black) = (name(game.white()), name(game.black()));
    let last_move = hit.san_before().unwrap_or_default();
    format!("{:6}  {white} - {black}  {} {last_move}  {}", game.number(), hit.label(), hit.fen())
}
