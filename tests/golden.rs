//! What CQL 6.2 answers to 122 queries on two sets of real games.
//!
//! `tests/data/golden-*.tsv` hold, for each query, the games, the games and positions hit, and the
//! first 16 hex digits of the SHA-256 of the hit list: `game ply` a line, or `game ply value` for
//! the queries named `v..`.

use std::{fmt::Write as _, ops::ControlFlow, path::PathBuf};

use orbit_chess::{
    database::{Database, DatabaseOptions},
    engine::{Engine, Hits, Job, Values, Want},
    plan::Options,
    query,
    reel::Block,
};
use sha2::{Digest, Sha256};

#[derive(Clone, PartialEq, Eq, Debug)]
struct Golden {
    id: String,
    query: String,
    games: u64,
    games_hit: u64,
    positions_hit: u64,
    digest: String,
}

fn rows(name: &str) -> Vec<Golden> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .skip(1)
        .map(|line| {
            let f: Vec<&str> = line.split('\t').collect();
            Golden {
                id: f[0].into(),
                query: f[1].into(),
                games: f[2].parse().unwrap(),
                games_hit: f[3].parse().unwrap(),
                positions_hit: f[4].parse().unwrap(),
                digest: f[5].into(),
            }
        })
        .collect()
}

fn blocks(name: &str) -> Option<Vec<Block>> {
    let Some(corpus) = std::env::var_os("ORBIT_CORPUS") else {
        eprintln!("ignored: ORBIT_CORPUS is not set");
        return None;
    };
    let paths = [PathBuf::from(corpus).join(name)];
    let database = Database::open(&paths, DatabaseOptions::default()).unwrap();
    let mut blocks = Vec::new();
    database
        .for_each_block(2, Block::clone, |_, block| {
            blocks.push(block);
            ControlFlow::Continue(())
        })
        .unwrap();
    Some(blocks)
}

fn answer(golden: &Golden, engine: &dyn Engine, blocks: &[Block]) -> Golden {
    let mut out =
        Golden { games: 0, games_hit: 0, positions_hit: 0, digest: String::new(), ..golden.clone() };
    let mut hash = Sha256::new();
    let values = golden.id.starts_with('v');
    for block in blocks {
        let hits = engine.scan(block, if values { Want::Values } else { Want::Bits }).unwrap();
        let mut text = String::new();
        for game in block.games() {
            out.games += 1;
            let before = out.positions_hit;
            for slot in hits.slots(game.first_slot()..game.end_slot()) {
                out.positions_hit += 1;
                write!(text, "{} {}", game.number(), slot - game.first_slot()).unwrap();
                write_value(&mut text, &hits, slot);
                text.push('\n');
            }
            out.games_hit += u64::from(out.positions_hit > before);
        }
        hash.update(&text);
    }
    out.digest = hash.finalize().iter().take(8).fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    });
    out
}

fn write_value(text: &mut String, hits: &Hits, slot: usize) {
    match &hits.values {
        Values::None => {}
        Values::Numbers(numbers) => write!(text, " {}", numbers[slot]).unwrap(),
        Values::Sets(_) => panic!("no golden query of kind v has a set"),
    }
}

fn check(table: &str, games: &str) {
    let Some(blocks) = blocks(games) else { return };
    let mut wrong = Vec::new();
    for golden in rows(table) {
        let query = query::parse(&golden.query).unwrap().query;
        let engine = Job::new(query, Options::default()).unwrap().cpu();
        let start = std::time::Instant::now();
        let ours = answer(&golden, &engine, &blocks);
        eprintln!("{} {:?} {}", golden.id, start.elapsed(), golden.query);
        if ours != golden {
            wrong.push(format!("{golden:?}\n{ours:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} rows differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn cpu_answers_as_cql_on_tournament_games() {
    check("golden-otb.tsv", "otb.pgn");
}

#[test]
fn cpu_answers_as_cql_on_problems() {
    check("golden-fen.tsv", "fen.pgn");
}
