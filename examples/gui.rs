//! What a graphical front end would do: run a query over a database and list the games that hit.
//!
//! ```sh
//! cargo run --release --example gui -- games/sample.pgn 'shift flip flipcolor {Nd4 kf3}'
//! ```

use std::{borrow::Cow, error::Error, ops::ControlFlow, path::PathBuf};

use orbit_chess::{
    database::{Database, DatabaseOptions},
    reel::GameRow,
    scan::{Scan, ScanError},
    text::decode,
};

/// A game with hits, as a list on a screen would show it.
struct Row {
    number: u32,
    players: String,
    plies: Vec<u32>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = <[String; 2]>::try_from(std::env::args().skip(1).collect::<Vec<_>>());
    let [path, query] = arguments.map_err(|_| "usage: gui FILE QUERY")?;
    let scan = match Scan::new(&query) {
        Ok(scan) => scan,
        Err(ScanError::Query(fault)) => {
            eprintln!("{}", fault.render(&query, "query", false));
            std::process::exit(2);
        }
        Err(other) => return Err(other.into()),
    };
    let database = Database::open(&[PathBuf::from(path)], DatabaseOptions::default())?;
    let mut rows: Vec<Row> = Vec::new();
    let summary = scan.for_each_hit(database, |hit| {
        let number = hit.game.number();
        match rows.last_mut() {
            Some(row) if row.number == number => row.plies.push(hit.ply),
            _ => rows.push(Row { number, players: players(&hit.game), plies: vec![hit.ply] }),
        }
        ControlFlow::Continue(())
    })?;
    for Row { number, players, plies } in rows {
        println!("{number:6}  {players}  {plies:?}");
    }
    eprintln!("{} games, {} positions", summary.totals.games(), summary.totals.positions);
    Ok(())
}

/// Tags are bytes as found: many databases are older than UTF-8.
fn players(game: &GameRow) -> String {
    let tag = |name| game.tag(name).map_or(Cow::Borrowed("?"), decode);
    format!("{} - {}", tag("White"), tag("Black"))
}
