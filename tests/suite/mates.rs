//! Tests pure mates and stalemates on random positions. Positions of real games rarely have the features that make pure mates
//! difficult to recognise: a second check, pinned men, or opening lines.

use orbit_core::board::{Board, Code, Position, Square, State, legal};
use orbit_engine::Answer;
use orbit_reel::Block;

use crate::{
    common::block_of,
    differential::Rng,
    runners::{Runner, print, reading},
};

const WORDS: [&str; 6] =
    ["puremate", "modelmate", "idealmate", "purestalemate", "modelstalemate", "idealstalemate"];

/// Returns a position with a king, some of its own men nearby, and some enemies. A few positions have no enemy king, or two kings
/// of one side.
fn made(rng: &mut Rng) -> Position {
    let mut board = Board::default();
    let us = 8 * rng.below(2) as u8;
    let king = Square::new(match rng.below(3) {
        0 => *rng.pick(&[0, 7, 56, 63]),
        1 => *rng.pick(&[2, 4, 6, 24, 39, 58, 60, 61]),
        _ => rng.below(64) as u32,
    });
    for _ in 0..rng.within(0, 5) {
        let (file, rank) = (king.file() as i32 + rng.within(-2, 2), king.rank() as i32 + rng.within(-2, 2));
        if (0..8).contains(&file) && (0..8).contains(&rank) {
            board.put(Square::new((8 * rank + file) as u32), Code(*rng.pick(&[1, 1, 2, 3, 4, 5]) | us));
        }
    }
    let anywhere = |rng: &mut Rng| Square::new(rng.below(64) as u32);
    for _ in 0..rng.within(0, 3) {
        board.put(anywhere(rng), Code(*rng.pick(&[1, 2, 3, 4, 5]) | us));
    }
    for _ in 0..rng.within(2, 6) {
        board.put(anywhere(rng), Code(*rng.pick(&[1, 1, 2, 2, 3, 3, 4, 4, 5]) | us ^ 8));
    }
    for _ in 0..[1, 1, 1, 1, 1, 1, 1, 1, 0, 2][rng.below(10)] {
        board.put(anywhere(rng), Code(6 | us ^ 8));
    }
    if rng.percent(3) {
        board.put(anywhere(rng), Code(6 | us));
    }
    board.put(king, Code(6 | us));
    let passed = if us == 0 { 40 } else { 16 } + rng.below(8) as u32;
    let passed = rng.percent(30).then(|| Square::new(passed));
    let turn = if us == 0 { State(64 << 8) } else { State(64 << 8 | 1) };
    Position { board, state: turn.with_en_passant(passed) }
}

/// Returns positions with the given numbers of mates and stalemates. The positions are the same on every machine.
fn finals(mates: usize, stalemates: usize) -> Vec<Position> {
    let (mut rng, mut out, mut left) = (Rng::new(12), Vec::new(), [stalemates, mates]);
    while left != [0, 0] {
        let position = made(&mut rng);
        if legal::no_moves(&position) {
            let left = &mut left[usize::from(legal::in_check(&position))];
            if *left > 0 {
                *left -= 1;
                out.push(position);
            }
        }
    }
    out
}

fn hits(runner: &Runner, query: &str, block: &Block) -> Vec<Answer> {
    runner.answers(query, block).unwrap_or_else(|error| panic!("{query}: {error}"))
}

#[test(part = 3)]
fn engines_agree_on_made_mates() {
    let positions = finals(30_000, 3_000);
    let block = block_of(&positions);
    let [reference, others @ ..] = &Runner::engines()[..] else { panic!("there are engines") };
    for word in WORDS {
        let due = hits(reference, word, &block);
        for other in others {
            let found = hits(other, word, &block);
            if let Some(k) = (0..due.len()).find(|&k| due[k] != found[k]) {
                let text = |answer: Answer| print(answer, reading(answer));
                panic!(
                    "{word} on {}: reference {}, {} {}",
                    positions[k].to_fen(),
                    text(due[k]),
                    other.name,
                    text(found[k])
                );
            }
        }
    }
    // The minimum number of positions at which each filter must match.
    for (query, least) in [
        ("puremate", 1000),
        ("modelmate", 300),
        ("idealmate", 10),
        ("purestalemate", 100),
        ("modelstalemate", 60),
        ("idealstalemate", 5),
        ("flipcolor {btm puremate #(A attacks k) > 1}", 20),
        ("flipcolor {btm mate #(A attacks k) > 1 not puremate}", 100),
        ("flipcolor {btm puremate pin through a to k anydirection 1 k}", 20),
        ("flipcolor {btm puremate pin through A from a to K}", 20),
    ] {
        let found = hits(reference, query, &block).iter().filter(|answer| answer.is_hit()).count();
        assert!(found >= least, "{query}: {found}");
    }
}
