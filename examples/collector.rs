//! A custom collector that counts, for each square, the hits at which the king of the side to move is on it.
//!
//! ```sh
//! cargo run --release --example collector -- games/sample.pgn 'mate'
//! ```

use std::error::Error;
use std::io::{self, Write};

use orbit_chess::{
    BlockResult, Collector, Color, Database, MemoryBudget, Part, PartError, Query, Role, Rows, Wants,
};
use serde::{Deserialize, Serialize};

/// Counts, for each hit, the square of the king of the side to move.
struct KingsCollector;

/// For each square from a1 to h8, the number of times that it was counted in a part of the database. Counts can be merged with
/// those of the following blocks (groups of games), and serialised, so several runs can each search a part of a database.
#[derive(Default, Serialize, Deserialize)]
struct KingsPart {
    squares: Vec<u64>,
}

impl Part for KingsPart {
    fn merge(&mut self, next: KingsPart) -> Result<(), PartError> {
        self.squares.merge(next.squares)
    }

    fn check(&self, most: u64) -> Result<(), &'static str> {
        self.squares.check(most)
    }
}

impl Collector for KingsCollector {
    type Part = KingsPart;

    /// Only the positions of the hits are needed.
    fn wants(&self) -> Wants {
        Wants::HITS
    }

    /// Examines one block, on any thread.
    fn look(&self, result: &BlockResult, _: &MemoryBudget) -> KingsPart {
        let (found, mut squares) = (result.first(), vec![0; 64]);
        for game in result.block.games() {
            found.rows(&game, Rows::Hits, |row| {
                let turn: Color = row.position.state.turn();
                let setup = row.position.to_setup();
                let king = setup.board.by_piece(Role::King.of(turn)).first();
                king.iter().for_each(|&square| squares[usize::from(square)] += 1);
            });
        }
        KingsPart { squares }
    }
}

pub fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, query] = &arguments[..] else { return Err("usage: collector FILE QUERY".into()) };
    map(path, query, &mut io::stdout().lock())
}

/// Writes the counts as a board, with rank 8 first.
pub fn map(path: &str, query: &str, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let (part, _) = Database::open([path])?.scan(&Query::parse(query)?).collect(&KingsCollector)?;
    for rank in part.squares.chunks(8).rev() {
        let counts: Vec<String> = rank.iter().map(|count| format!("{count:6}")).collect();
        writeln!(out, "{}", counts.concat())?;
    }
    Ok(())
}
