//! Runs the library's example programs on `games/sample.pgn`, and compares their output with the hits.

use std::error::Error;

use orbit_chess::{Database, Query};
use shakmaty::{CastlingMode, Chess, Color, Position as _, Role, fen::Fen};

use super::database::SAMPLE;

#[path = "../../examples/collector.rs"]
mod collector;
#[path = "../../examples/gui.rs"]
mod gui;
#[path = "../../examples/statistics.rs"]
mod statistics;

type Main = fn() -> Result<(), Box<dyn Error>>;

/// The `main` functions of the example programs that read arguments.
const MAINS: [Main; 3] = [collector::main, gui::main, statistics::main];

fn text(run: impl FnOnce(&mut Vec<u8>) -> Result<(), Box<dyn Error>>) -> String {
    let mut out = Vec::new();
    run(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn hits(query: &str) -> Vec<orbit_chess::Hit> {
    Database::open([SAMPLE]).unwrap().scan(&Query::parse(query).unwrap()).hits().unwrap()
}

#[test]
fn gui_lists_hits_of_one_query_after_the_other() {
    let queries = ["shift flip flipcolor {Nd4 kf3}", "flipcolor {Bh7 kg8}"].map(String::from);
    let listed = text(|out| gui::list(SAMPLE, &queries, out));
    for query in &queries {
        let mut all = hits(query);
        all.dedup_by_key(|hit| hit.game().number());
        assert!(listed.contains(&format!("\n{query}: {} of 1000 games\n", all.len())), "{listed}");
        for hit in all {
            let begins = format!("{:6}  ", hit.game().number());
            let mut lines = listed.lines().filter(|line| line.starts_with(&begins));
            let line = lines.find(|line| line.ends_with(&hit.fen())).unwrap();
            assert!(line.contains(&hit.san_before().unwrap()), "{line}");
        }
    }
    let fault = gui::list(SAMPLE, &["flip {".into()], &mut Vec::new()).unwrap_err();
    assert!(fault.to_string().contains('^'), "{fault}");
    assert_eq!(MAINS.len(), 3);
}

#[test]
fn statistics_are_those_of_the_hits() {
    let table = text(|out| statistics::table(SAMPLE, "check", "result", out));
    let mut games: Vec<u32> = hits("check").iter().map(|hit| hit.game().number()).collect();
    games.dedup();
    assert!(table.contains(&format!("\n{} of 1000 games hit; White scored ", games.len())), "{table}");
    assert!(table.contains("1-0"), "{table}");
}

#[test]
fn a_collector_of_ones_own_counts_what_hits_say() {
    let board = text(|out| collector::map(SAMPLE, "mate", out));
    let ranks = board.lines().map(|line| line.split_whitespace().map(|count| count.parse().unwrap()));
    let found: Vec<u64> = ranks.rev().flatten().collect();
    let mut expected = vec![0; 64];
    for hit in hits("mate") {
        let position: Chess =
            hit.fen().parse::<Fen>().unwrap().into_position(CastlingMode::Chess960).unwrap();
        let king = position.board().by_piece(Role::King.of(position.turn())).first().unwrap();
        expected[usize::from(king)] += 1;
        assert!(position.is_checkmate() && matches!(position.turn(), Color::White | Color::Black));
    }
    assert!(expected.iter().sum::<u64>() > 10);
    assert_eq!(found, expected);
}
