//! What a graphical front end would do: run a query over a database and list the games that hit.
//!
//! ```sh
//! cargo run --release --example gui -- games/sample.pgn 'shift flip flipcolor {Nd4 kf3}'
//! ```

use std::{borrow::Cow, error::Error, ops::ControlFlow, path::PathBuf};

use orbit_chess::{
    database::{Database, DatabaseOptions},
    engine::{Engine as _, Job, Want},
    plan::Options,
    query,
    reel::GameRow,
};

fn main() -> Result<(), Box<dyn Error>> {
    let [path, text] =
        std::env::args().skip(1).collect::<Vec<_>>().try_into().map_err(|_| "usage: gui FILE QUERY")?;
    let shown = |found: orbit_chess::diagnostic::Diagnostic| found.render(&text, "query", false);
    let query = query::parse(&text).map_err(shown)?.query;
    let engine = Job::new(query, Options::default()).map_err(shown)?.cpu();

    let database = Database::open(&[PathBuf::from(path)], DatabaseOptions::default())?;
    let threads = std::thread::available_parallelism()?.get();
    let scan = |block: &_| engine.scan(block, Want::Bits);
    let mut failure = None;
    let summary = database.for_each_block(threads, scan, |taken, hits| {
        let hits = match hits {
            Ok(hits) => hits,
            Err(error) => {
                failure = Some(error);
                return ControlFlow::Break(());
            }
        };
        for game in taken.block.games() {
            let slots = hits.slots(game.first_slot()..game.end_slot());
            let plies: Vec<usize> = slots.map(|slot| slot - game.first_slot()).collect();
            if !plies.is_empty() {
                let (number, white, black) = (game.number(), tag(&game, "White"), tag(&game, "Black"));
                println!("{number:6}  {white} - {black}  {plies:?}");
            }
        }
        ControlFlow::Continue(())
    })?;
    failure.map_or(Ok(()), Err)?;
    eprintln!("{} games, {} positions", summary.totals.games(), summary.totals.positions);
    Ok(())
}

/// Tags are bytes as found: many databases are older than UTF-8.
fn tag<'a>(game: &GameRow<'a>, name: &str) -> Cow<'a, str> {
    game.tag(name).map_or("?".into(), String::from_utf8_lossy)
}
