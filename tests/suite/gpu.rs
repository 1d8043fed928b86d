//! Tests the GPU engine at the boundaries of blocks (groups of games), chunks and limits, and after a device failure.
//!
//! The results are compared with those of `cpu`.

use std::sync::Arc;

use orbit_core::board::{Board, Code, PackedMove, Position, Square};
use orbit_engine::{
    Answer, Answers, BlockRequest, CopyHits, Engine, EngineError, PreparedQuery, Wants,
    gpu::{AdapterChoice, Gpu, GpuDevice, GpuError, GpuLimits, GpuOptions, InjectedFault},
};
use orbit_pgn::Game;
use orbit_plan::PlanOptions;
use orbit_reel::{Block, SEGMENT_SLOTS};

use crate::{
    common::{block_of, block_of_games, harness::GPU, pgn_blocks},
    differential::{Rng, positions},
    runners::{Runner, TIGHT, device_options, open_device},
};

/// Queries of many kinds: a condition, a set, numbers, columns with a value for each game, whole positions, the ends of games,
/// many copies (transformed patterns), and other positions of the game.
const QUERIES: [&str; 10] = [
    "Ra1",
    "#(P | n)",
    "ply",
    "gamenumber",
    "{initial or terminal}",
    "legal --",
    "shift flip flipcolor {Nd4 Pe4}",
    "flip count shift P[a-c2]",
    "find <-- count Nf3 > 2",
    "shift find {Nd4 Pe4}",
];

pub fn prepared(text: &str) -> PreparedQuery {
    let query = orbit_query::parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).query;
    PreparedQuery::new(query, PlanOptions::default()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Asserts that an engine has the same results as `cpu` on some blocks: hits, values and the numbers of matching copies
/// (transformed patterns).
pub fn check(text: &str, gpu: &dyn Engine, blocks: &[&Block]) {
    check_named(text, text, gpu, blocks);
}

/// Does the same as [`check`], but failure messages begin with `text`.
pub fn check_named(text: &str, query: &str, gpu: &dyn Engine, blocks: &[&Block]) {
    let cpu = prepared(query).cpu().unwrap();
    let wanted = Wants::VALUES | Wants::ALL_COPIES;
    let found =
        gpu.scan(blocks, &BlockRequest::all(&[wanted])).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(found.len(), blocks.len(), "{text}");
    for (index, (block, found)) in blocks.iter().zip(&found).enumerate() {
        let Answers { hits: expected, copies, .. } = cpu.answer(block, wanted).unwrap();
        let Answers { hits: found, copies: found_copies, .. } = &found[0];
        assert_eq!(found.bits, expected.bits, "{text}: hits in block {index}");
        for slot in 0..block.slots() {
            let (found, expected) = (found.answer(slot), expected.answer(slot));
            assert_eq!(found, expected, "{text}: block {index}, slot {slot}");
        }
        assert_eq!(*found_copies, copies, "{text}: copies in block {index}");
        let counts = gpu.answer(block, Wants::COPY_COUNTS).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(counts.hits.bits, expected.bits, "{text}: hits alone in block {index}");
        let sums = |copies: &Option<CopyHits>| copies.as_ref().map(|copies| copies.sums().to_vec());
        assert_eq!(sums(&counts.copies), sums(&copies), "{text}: counts of copies in block {index}");
    }
}

/// Checks every query on the two shared devices: one with the usual limits, and one with limits so small that all work is split.
fn check_all(blocks: &[&Block]) {
    for runner in Runner::both_gpus() {
        for text in QUERIES {
            let query = orbit_query::parse(text).unwrap().query;
            let gpu = runner.engine(&query).unwrap_or_else(|error| panic!("{text}: {error}"));
            check(text, &*gpu, blocks);
        }
    }
}

/// Returns a game in which knights move back and forth.
pub fn long_game(plies: usize) -> Game {
    let (white, black) = (Code(2), Code(10));
    let tour = [
        PackedMove::piece(Square::G1, Square::F3, white),
        PackedMove::piece(Square::B8, Square::C6, black),
        PackedMove::piece(Square::F3, Square::D4, white),
        PackedMove::piece(Square::G8, Square::F6, black),
        PackedMove::piece(Square::D4, Square::F3, white),
        PackedMove::piece(Square::F6, Square::G8, black),
        PackedMove::piece(Square::F3, Square::G1, white),
        PackedMove::piece(Square::C6, Square::B8, black),
    ];
    Game { moves: tour.into_iter().cycle().take(plies).collect(), ..Game::default() }
}

/// Returns games with at most one move, each from a different position.
pub fn short_games(count: usize) -> Vec<Game> {
    let mut rng = Rng::new(11);
    let starts = positions::random_games(&mut rng, count);
    let game = |start: &Position| {
        let moves = positions::random_moves(&mut rng, start, 1);
        Game { start: Some(*start), moves, ..Game::default() }
    };
    starts.iter().map(game).collect()
}

/// Returns blocks with many short games, and a block with one long game.
pub fn some_blocks() -> Vec<Block> {
    let mut blocks: Vec<Block> =
        short_games(600).chunks(100).map(|games| block_of_games(games.to_vec())).collect();
    blocks.push(block_of_games([long_game(300)]));
    blocks
}

#[test]
fn a_block_without_games_has_no_hits() {
    check_all(&[&Block::default()]);
}

#[test]
fn one_game_is_a_block() {
    check_all(&[&block_of_games([long_game(5)])]);
    check_all(&[&block_of_games([Game::default()])]);
}

#[test]
fn a_game_of_many_segments_keeps_its_plies() {
    let block = block_of_games([long_game(650)]);
    assert!(block.segments() > 20);
    check_all(&[&block]);
}

#[test]
fn thousands_of_short_games_are_told_apart() {
    let games = short_games(4000);
    let blocks: Vec<Block> = games.chunks(900).map(|games| block_of_games(games.to_vec())).collect();
    let blocks: Vec<&Block> = blocks.iter().collect();
    assert!(blocks.len() == 5 && blocks.iter().all(|block| block.starts.len() > 200));
    check_all(&blocks);
}

#[test]
fn the_last_segment_may_be_short_or_full() {
    for slots in [1, 31, 32, 33, 63, 64, 65] {
        let block = block_of(&vec![Position::STANDARD; slots]);
        assert_eq!(block.slots(), slots);
        check_all(&[&block, &block_of_games([long_game(slots - 1)])]);
    }
}

/// Tests castling and en passant rights, which can be computed only by replaying the moves.
#[test]
fn rights_are_lost_as_games_go_on() {
    let text = "1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. Kf1 Kf8 5. Ke1 Ke8 6. d4 d5 7. a4 a5 *\n\n\
                1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. Rf1 Rf8 5. Rh1 Rh8 6. d4 d5 7. a4 a5 *\n\n\
                1. d4 d5 2. Nc3 Nc6 3. Bf4 Bf5 4. Qd2 Qd7 5. O-O-O O-O-O 6. a4 a5 *\n\n\
                1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. O-O O-O 5. e4 d6 *\n\n\
                1. e4 a6 2. e5 d5 3. h4 g5 4. exd6 gxh4 5. g4 hxg3 *\n\n\
                1. f3 e5 2. g4 Qh4# *\n\n";
    let blocks = pgn_blocks(text);
    let blocks: Vec<&Block> = blocks.iter().collect();
    assert_eq!(blocks.iter().map(|block| block.games_len()).sum::<usize>(), 6);
    let texts =
        ["legal --(castle)", "pseudolegal --(castle)", "legal --(enpassant)", "legal --", "mate", "check"];
    for runner in Runner::both_gpus() {
        for text in texts {
            let query = orbit_query::parse(text).unwrap().query;
            check(text, &*runner.engine(&query).unwrap(), &blocks);
        }
    }
}

/// Returns a position with white kings on the given squares and a black king on h8.
pub fn kings(white: &[Square]) -> Position {
    let mut board = Board::default();
    white.iter().for_each(|&king| board.put(king, Code(6)));
    board.put(Square::H8, Code(14));
    Position { board, ..Position::STANDARD }
}

/// A kernel contains the code for several kings only if a game starts from a position in which a side has several kings.
#[test]
fn sides_with_several_kings_move_as_on_the_processor() {
    let (several, alone) = (kings(&[Square::C1, Square::E1]), kings(&[Square::C1]));
    let runner = GPU.met(Runner::gpu(0));
    // The two games of the block start from different positions.
    for positions in [[several, alone], [alone, several]] {
        let block = block_of(&positions);
        // One king reaches five squares; two kings together reach eight.
        let due = positions.map(|position| Answer::Num(Some(if position == several { 8 } else { 5 })));
        assert_eq!(Runner::reference().answers("#(legal --)", &block).unwrap(), due);
        for text in ["legal --", "#(legal --) > 5", "#(legal --)", "move count legal"] {
            let query = orbit_query::parse(text).unwrap().query;
            check(text, &*runner.engine(&query).unwrap(), &[&block]);
        }
    }
}

/// The kernel cache must not confuse similar queries.
#[test]
fn queries_that_differ_in_little_are_told_apart() {
    let runner = GPU.met(Runner::gpu(0));
    let block = block_of_games(short_games(200));
    let texts = ["Ra1", "Rb1", "Rc1", "Ba1", "Pa1", "Ra1 & Rb1", "Rb1 & Rc1", "#P > 7", "#P > 6"];
    for text in texts.iter().chain(&texts) {
        let query = orbit_query::parse(text).unwrap().query;
        check(text, &*runner.engine(&query).unwrap(), &[&block]);
    }
}

#[test]
fn blocks_scanned_together_keep_their_answers_and_empty_ones_have_none() {
    let (empty, blocks) = (Block::default(), some_blocks());
    let mut mixed = vec![&empty];
    for block in &blocks {
        mixed.extend([block, &empty]);
    }
    mixed.push(&empty);
    check_all(&mixed);
    check_all(&[&empty, &empty]);
    check_all(&[]);
    // A value that is constant within a game, such as a rating, must be read from the block that is being searched.
    let [low, high] =
        [1000, 2000].map(|elo| pgn_blocks(&format!("[WhiteElo \"{elo}\"]\n\n1. e4 e5 *\n")).remove(0));
    for runner in Runner::both_gpus() {
        let query = orbit_query::parse("elo > 1500").unwrap().query;
        check("elo > 1500", &*runner.engine(&query).unwrap(), &[&low, &high]);
    }
}

#[test]
fn what_stays_on_the_device_is_answered_as_what_comes_each_time() {
    let blocks = some_blocks();
    let empty = Block::default();
    let blocks: Vec<&Block> = [&empty].into_iter().chain(&blocks).chain([&empty]).collect();
    for limits in [GpuLimits::default(), GpuLimits { binding_bytes: 16 << 10, ..TIGHT }] {
        let device = open_device(device_options(limits));
        let resident = device.upload(&blocks).unwrap();
        let moves: usize = blocks.iter().map(|block| block.segments() * SEGMENT_SLOTS).sum();
        assert!(resident.bytes() > 2 * moves as u64);
        for text in QUERIES {
            let gpu = prepared(text).gpu(&device).unwrap();
            let expected = gpu.hits(&blocks).unwrap().remove(0);
            for _ in 0..2 {
                assert_eq!(gpu.scan_resident(&resident).unwrap().0[0], expected, "{text}");
            }
            check(text, &gpu, &blocks);
        }
        assert_eq!(device.upload(&[]).unwrap().bytes(), 0);
    }
}

/// Returns a device that will fail.
fn faulty(fault: InjectedFault) -> Arc<GpuDevice> {
    let mut options = device_options(GpuLimits::default());
    options.fault = Some(fault);
    open_device(options)
}

const MANY: &str = "shift flip {Nd4 Pe4}";

#[test(part = 1)]
fn a_device_that_is_lost_once_is_opened_again() {
    let blocks = some_blocks();
    let blocks: Vec<&Block> = blocks.iter().collect();
    // The fault occurs before the pass for hits, values or matching copies (transformed patterns), before a step in between, or
    // never.
    for at in [0, 1, 2, 3, 4, 5, 10, 1000] {
        let device = faulty(InjectedFault::DestroyedOnce(at));
        check("legal --", &prepared("legal --").gpu(&device).unwrap(), &blocks);
        check(MANY, &prepared(MANY).gpu(&device).unwrap(), &blocks);
    }
}

#[test]
fn a_device_that_is_lost_again_and_again_is_an_error() {
    let block = block_of_games([long_game(100)]);
    for at in [0, 1, 2, 3, 10] {
        let device = faulty(InjectedFault::Destroyed(at));
        let gpu = prepared("legal --").gpu(&device).unwrap();
        let mut scans = 0;
        let error = loop {
            match gpu.answer(&block, Wants::VALUES) {
                Ok(answers) => assert_eq!(answers.hits.count(), block.slots() as u64),
                Err(error) => break error,
            }
            scans += 1;
            assert!(scans <= 20, "the fault at {at} never comes");
        };
        assert!(matches!(error, EngineError::Gpu(GpuError::Lost { .. })), "{error}");
        let text = error.to_string();
        assert!(text.starts_with("the GPU was lost") && text.contains("--engine cpu"), "{text}");
        // The device stays lost.
        let again = gpu.answer(&block, Wants::HITS).unwrap_err();
        assert!(matches!(again, EngineError::Gpu(GpuError::Lost { .. })), "{again}");
    }
}

#[test]
fn a_map_that_fails_is_done_again_on_a_new_device() {
    let blocks = some_blocks();
    let blocks: Vec<&Block> = blocks.iter().collect();
    for at in [0, 1, 2, 3, 7] {
        let device = faulty(InjectedFault::MapFails(at));
        check("legal --", &prepared("legal --").gpu(&device).unwrap(), &blocks);
        check(MANY, &prepared(MANY).gpu(&device).unwrap(), &blocks);
    }
}

#[test]
fn a_loss_with_blocks_on_the_device_is_an_error() {
    let block = block_of_games([long_game(100)]);
    // The first submission uploads the block, and the second runs the query.
    let device = faulty(InjectedFault::DestroyedOnce(1));
    let gpu = prepared("Ra1").gpu(&device).unwrap();
    let resident = device.upload(&[&block]).unwrap();
    let error = gpu.scan_resident(&resident).unwrap_err();
    assert!(matches!(error, GpuError::Lost { .. }), "{error}");
    // A new scan uses a new device.
    check("Ra1", &gpu, &[&block]);
    let device = faulty(InjectedFault::DestroyedOnce(0));
    let error = device.upload(&[&block]).map(|_| ()).unwrap_err();
    assert!(matches!(error, GpuError::Lost { .. }), "{error}");
}

/// Threads that run queries on the same blocks take turns, and none waits forever.
#[test]
fn threads_share_blocks_on_the_device() {
    let device = open_device(device_options(GpuLimits::default()));
    let block = block_of_games([long_game(100), long_game(700)]);
    let resident = device.upload(&[&block]).unwrap();
    let expected = prepared(MANY).cpu().unwrap().answer(&block, Wants::HITS).unwrap().hits;
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                let gpu = prepared(MANY).gpu(&device).unwrap();
                for _ in 0..5 {
                    let (hits, _) = gpu.scan_resident(&resident).unwrap();
                    assert_eq!(hits[0][0], expected);
                    assert_eq!(gpu.answer(&block, Wants::HITS).unwrap().hits, expected);
                }
            });
        }
    });
}

/// Returns the error of a scan that cannot run within the limits.
fn refusal(limits: GpuLimits, text: &str, block: &Block, want: Wants) -> GpuError {
    let device = open_device(device_options(limits));
    match prepared(text).gpu(&device).unwrap().answer(block, want) {
        Ok(_) => panic!("{text} runs within {limits:?}"),
        Err(EngineError::Gpu(error)) => error,
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn too_little_memory_is_an_error() {
    let block = block_of_games(short_games(500));
    for memory_bytes in [0, 1, 64, 512, 1024, 2048, 4096] {
        for (text, want) in [("Ra1", Wants::HITS), ("Ra1", Wants::VALUES), ("gamenumber", Wants::VALUES)] {
            let limits = GpuLimits { memory_bytes, ..GpuLimits::default() };
            let error = refusal(limits, text, &block, want);
            let is_clear = match &error {
                GpuError::TooSmall { what, needed, .. } => !what.contains("find") && *needed > 0,
                other => matches!(other, GpuError::OutOfMemory { .. }),
            };
            assert!(is_clear, "{memory_bytes} bytes, {text}: {error}");
            assert!(error.to_string().contains("--engine cpu"), "{error}");
        }
    }
}

#[test]
fn whatever_the_memory_answers_are_right_or_refused() {
    let blocks = some_blocks();
    let blocks: Vec<&Block> = blocks.iter().collect();
    let cpu = prepared("Pe4").cpu().unwrap();
    let mut answered = 0;
    for power in 12..=21 {
        for memory_bytes in [1u64 << power, 3 << (power - 1)] {
            let limits = GpuLimits { memory_bytes, ..GpuLimits::default() };
            let device = open_device(device_options(limits));
            match prepared("Pe4").gpu(&device).unwrap().scan(&blocks, &BlockRequest::all(&[Wants::VALUES])) {
                Ok(found) => {
                    answered += 1;
                    for (block, found) in blocks.iter().zip(found) {
                        assert_eq!(
                            found,
                            [cpu.answer(block, Wants::VALUES).unwrap()],
                            "{memory_bytes} bytes"
                        );
                    }
                }
                Err(EngineError::Gpu(GpuError::OutOfMemory { .. } | GpuError::TooSmall { .. })) => {
                    assert_eq!(answered, 0, "{memory_bytes} bytes are too few, less were enough");
                }
                Err(error) => panic!("{memory_bytes} bytes: {error}"),
            }
        }
    }
    assert!(answered >= 4, "{answered} limits are enough");
}

#[test]
fn bindings_too_small_for_a_segment_are_an_error() {
    let short = block_of_games(short_games(500));
    let cases = [
        (63, "Ra1", Wants::HITS),
        (64, "Ra1", Wants::HITS),
        (64, "Ra1", Wants::VALUES),
        (1, "ply", Wants::HITS),
    ];
    for (binding_bytes, text, want) in cases {
        let limits = GpuLimits { binding_bytes, ..GpuLimits::default() };
        let error = refusal(limits, text, &short, want);
        assert!(matches!(error, GpuError::TooSmall { .. }), "{binding_bytes} bytes, {text}: {error}");
        assert!(error.to_string().contains("--engine cpu"), "{error}");
    }
    // The values of a segment (32 positions) need more memory than its moves.
    let long = block_of_games([long_game(100)]);
    let limits = GpuLimits { binding_bytes: 64, ..GpuLimits::default() };
    let error = refusal(limits, "Ra1", &long, Wants::VALUES);
    assert!(matches!(error, GpuError::TooSmall { .. }), "{error}");
    let device = open_device(device_options(limits));
    let hits = prepared("Ra1").gpu(&device).unwrap().answer(&long, Wants::HITS).unwrap().hits;
    assert_eq!(hits, prepared("Ra1").cpu().unwrap().answer(&long, Wants::HITS).unwrap().hits);
}

#[test]
fn an_adapter_that_is_not_there_is_named_with_those_that_are() {
    GPU.met(Runner::gpu(0));
    for choice in [AdapterChoice::Named("Voodoo 2".into()), AdapterChoice::Index(999)] {
        let mut options = GpuOptions::default();
        options.adapter = choice.clone();
        match GpuDevice::open(options) {
            Err(GpuError::NoSuchAdapter { wanted, known }) => {
                assert_eq!(wanted, choice.to_string());
                assert!(known.first().is_some_and(|first| first.starts_with("0 ")), "{known:?}");
            }
            Err(other) => panic!("{other}"),
            Ok(device) => panic!("{device:?}"),
        }
    }
}

/// Runs scans on four threads in parallel.
fn check_on_threads(device: &Arc<GpuDevice>) {
    let blocks = some_blocks();
    let engines: Vec<(&str, Gpu)> =
        ["Ra1", "ply", MANY].map(|text| (text, prepared(text).gpu(device).unwrap())).into_iter().collect();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (engines, blocks) = (&engines, &blocks);
            scope.spawn(move || {
                for k in 0..6 {
                    let (text, gpu) = &engines[(thread + k) % engines.len()];
                    check(text, gpu, &[&blocks[(thread + 3 * k) % blocks.len()]]);
                }
            });
        }
    });
}

#[test]
fn threads_share_a_device() {
    let device = open_device(device_options(GpuLimits::default()));
    check_on_threads(&device);
}

#[test]
fn threads_whose_device_is_lost_all_go_on() {
    for at in [0, 1, 2, 3, 5, 8, 13, 21] {
        let device = faulty(InjectedFault::DestroyedOnce(at));
        check_on_threads(&device);
    }
}

#[test]
fn a_device_that_does_not_report_its_loss_is_replaced() {
    let blocks = some_blocks();
    for at in [0, 1, 2] {
        let gpu = prepared(MANY).gpu(&faulty(InjectedFault::DestroyedUnreported(at))).unwrap();
        blocks.iter().for_each(|block| check(MANY, &gpu, &[block]));
    }
}

/// A software adapter ends every loop of an invocation after 65,535 iterations. A query that needs more iterations for the 32
/// slots (positions) of a segment runs on a few slots at a time. A query that needs more for a single slot is rejected.
#[test]
fn queries_of_many_turns_are_right_or_refused() {
    let runner = GPU.met(Runner::gpu(0));
    let mut positions = positions::random_games(&mut Rng::new(3), 4);
    positions.truncate(100);
    let block = block_of(&positions);
    let text = "shift (sqrt (sqrt (sqrt (sqrt (type [PpNn]g-h2)))))";
    let query = orbit_query::parse(text).unwrap().query;
    let device = open_device(device_options(GpuLimits::default()));
    let gpu = prepared(text).gpu(&device).unwrap();
    assert!(gpu.kernel().turns > 65_535 / SEGMENT_SLOTS as u64, "{} turns", gpu.kernel().turns);
    check(text, &*runner.engine(&query).unwrap(), &[&block]);
    // These queries need slightly fewer and slightly more iterations than are available for 32 slots (positions).
    check(
        "shift (sqrt (sqrt (type [bN]g-h2)))",
        &prepared("shift (sqrt (sqrt (type [bN]g-h2)))").gpu(&device).unwrap(),
        &[&block],
    );
    // If there are more segments than invocations in a workgroup, one invocation evaluates several segments, which share the
    // available iterations. This query loops in the kernel that computes the hits.
    let text = "shift {(sqrt (sqrt (sqrt (sqrt (type [PpNn]g-h2))))) == 1}";
    let many = vec![&block; 40];
    let expected = prepared(text).cpu().unwrap().answer(&block, Wants::HITS).unwrap().hits;
    for name in ["wg32,segments8", "lanes2,wg32,segments4"] {
        let variant = name.parse().unwrap_or_else(|error| panic!("{error}"));
        let found = prepared(text).gpu_with(&device, variant).unwrap().hits(&many).unwrap().remove(0);
        assert!(found.iter().all(|found| *found == expected), "{name}");
    }
    // No driver unrolls loops over moves, but drivers could unroll loops with a fixed number of iterations.
    let count = |kind: &str, to: &str| format!("(countmoves {kind} --[{to}])");
    let [a, b, c] = [("legal", "a-c1-4"), ("legal", "a-c1-3"), ("pseudolegal", "a-b1-4")]
        .map(|(kind, to)| count(kind, to));
    let text = &format!("shift flip {{{a} + {b} + {c} >= 9}}");
    let query = orbit_query::parse(text).unwrap().query;
    let expected = prepared(text).cpu().unwrap().answer(&block, Wants::HITS).unwrap().hits;
    match runner.engine(&query).unwrap().answer(&block, Wants::HITS) {
        Ok(found) => assert_eq!(found.hits, expected),
        Err(error) => assert!(matches!(error, EngineError::Gpu(GpuError::TooLong { .. })), "{error}"),
    }
}
