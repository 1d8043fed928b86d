//! Compares CQL 5 position lists with an evaluator that was written directly from the rules and shares nothing with the library.

use orbit_core::board::Position;
use orbit_engine::{Outcome, Wants};
use orbit_pgn::Game;
use orbit_reel::Block;
use orbit_transforms::OutermostOrbit as _;
use orbit_transforms::expand;

mod manual;

use crate::{
    common::{block_of_games, length::trials, position},
    runners::{NONE, Runner},
};
use evaluators::cql5::{self, Board, Expanded, Facts};

const BOARDS: u64 = 40;

/// Returns a block (group of games) with a game for each board. Each game has one position, and the game results vary.
fn games(boards: &[Board], seed: u64) -> Block {
    let outcomes = [Outcome::WhiteWins, Outcome::BlackWins, Outcome::Draw, Outcome::Unknown];
    block_of_games(boards.iter().zip(seed..).map(|(board, k)| Game {
        start: Some(start(board)),
        outcome: outcomes[k as usize % outcomes.len()],
        ..Game::default()
    }))
}

fn start(board: &Board) -> Position {
    position(&board.fen())
}

/// Returns the facts that the evaluator needs for each position, because it does not generate moves.
fn facts(block: &Block) -> Vec<Facts> {
    let column = |text: &str| {
        let query = orbit_query::parse(text).expect("a filter").query;
        let hits = Runner::reference().engine(&query).unwrap().answer(block, Wants::HITS).unwrap().hits;
        (0..block.slots()).map(|slot| hits.contains(slot)).collect::<Vec<bool>>()
    };
    let (check, mate, stalemate) = (column("check"), column("mate"), column("stalemate"));
    let result = |game: usize| match block.game(game).outcome() {
        Outcome::WhiteWins => "1-0",
        Outcome::BlackWins => "0-1",
        Outcome::Draw => "1/2-1/2",
        _ => "*",
    };
    let facts = |slot: usize| Facts {
        check: check[slot],
        mate: mate[slot],
        stalemate: stalemate[slot],
        initial: true,
        terminal: true,
        result: result(slot),
    };
    (0..block.slots()).map(facts).collect()
}

#[test]
fn an_evaluator_from_the_rules_alone_agrees() {
    let runners = [Some(Runner::reference()), Some(Runner::cpu(0)), Some(Runner::cpu(NONE))];
    let runners: Vec<Runner> = runners.into_iter().flatten().collect();
    let (mut lists, mut hits, mut faults) = (0, 0, Vec::new());
    for seed in trials(500, 100).map(|seed| seed as u64) {
        lists += 1;
        let text = cql5::random_list(seed);
        let second = Expanded::new(&text);
        let boards: Vec<Board> = (0..BOARDS).map(|k| cql5::board_for(&text, seed * BOARDS + k)).collect();
        let block = games(&boards, seed);
        let facts = facts(&block);
        let query = match orbit_query::parse(&text) {
            Ok(parsed) => parsed.query,
            Err(error) => {
                faults.push(format!("{text}: {error}"));
                continue;
            }
        };
        if let Some(orbit) = expand(&query.body).ok().and_then(|filter| filter.outermost()) {
            let images = cql5::images(&text).len();
            // The number of images (in the evaluator) must equal the number of copies (in the library), with one exception: the
            // numbers differ if the only item of a list is a list with transforms, because the library treats the outer list as
            // equal to the inner one. Then there is a single image, so lists with a single image are not compared.
            if images > 1 && images != orbit.copies.len() {
                faults.push(format!("{text}: {images} images, {} copies", orbit.copies.len()));
            }
        }
        // Software drivers are slow, so only a few lists run on `gpu`.
        let gpu = if lists % 25 == 1 { Runner::gpu(0) } else { None };
        for runner in runners.iter().chain(&gpu) {
            let found = runner.engine(&query).unwrap().answer(&block, Wants::HITS).unwrap().hits;
            let differs =
                |slot: &usize| second.matches(&boards[*slot], &facts[*slot]) != found.contains(*slot);
            if let Some(slot) = (0..boards.len()).find(differs) {
                faults.push(format!("{text} on {}: {} differs", boards[slot].fen(), runner.name));
            }
            hits += found.count();
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    let positions = 3 * lists * BOARDS;
    assert!((20..80).contains(&(100 * hits / positions)), "{hits} hits of {positions}");
}
