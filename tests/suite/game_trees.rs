//! Tests games with side lines (variations): they are written as text, read into a block (group of games), written to a file and
//! read back. The result is compared with a node tree that is numbered recursively and replayed with shakmaty.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use orbit_core::board::{PackedMove, Position};
use orbit_database::{BlockStream, MemoryBudget, StreamError, StreamOptions, StreamedBlock};
use orbit_engine::{Answers, BlockRequest, PreparedQuery, Wants};
use orbit_pgn::{Game, SideLine};
use orbit_plan::PlanOptions;
use orbit_query::TypedQuery;
use orbit_reel::{Alike, Block, EncodedBlock, GameHash, Reel, ReelSource, ReelWriter, Totals, replay};
use orbit_search::{
    choice::Choice,
    executor::{EngineChoice, EngineOptions, Executor, ScanError},
    found::{BlockResult, Names},
};
use shakmaty::{Chess, EnPassantMode, Position as _, fen::Fen, san::SanPlus};

use crate::{
    common::{
        block_of_games, blocks_with, corpus, data, every_nth_game, harness, length::trials, pgn_blocks,
        pgn_blocks_with,
    },
    differential::Rng,
    golden::{self, Golden},
    runners::{ENGINES, Runner, answer},
};

/// A position and its children. The line continues to the first child; alternative moves lead to the others.
struct Node {
    chess: Chess,
    next: Vec<(Option<shakmaty::Move>, Node)>,
}

pub(crate) fn with_variations() -> StreamOptions {
    let mut options = StreamOptions::default();
    (options.parse.variations, options.parse.annotations) = (true, true);
    options
}

/// Returns a random move and the position after it, or `None` if the game is over. A move of `None` is a null move.
fn random_move(rng: &mut Rng, chess: &Chess) -> Option<(Option<shakmaty::Move>, Chess)> {
    let moves = chess.legal_moves();
    let mv = if rng.percent(4) { None } else { moves.get(rng.below(moves.len().max(1))).copied() };
    let after = match mv {
        Some(mv) => chess.clone().play(mv).ok()?,
        None => chess.clone().swap_turn().ok()?,
    };
    Some((mv, after))
}

/// Returns a random tree: a line with at most `plies` half-moves, and with side lines nested up to `depth` levels.
fn random_tree(rng: &mut Rng, chess: Chess, plies: usize, depth: usize) -> Node {
    let mut next = Vec::new();
    if plies > 0
        && let Some((mv, after)) = random_move(rng, &chess)
    {
        next.push((mv, random_tree(rng, after, plies - 1, depth)));
        let siblings = if depth > 0 && rng.percent(20) { 1 + rng.below(3) } else { 0 };
        for _ in 0..siblings {
            let plies = rng.below(8);
            if let Some((mv, after)) = random_move(rng, &chess) {
                next.push((mv, random_tree(rng, after, plies, depth - 1)));
            }
        }
    }
    Node { chess, next }
}

/// A node with its properties, as listed in the order of node numbers.
#[derive(Clone, PartialEq, Debug)]
struct Numbered {
    parent: Option<u32>,
    /// The index of the node among its parent's children.
    sibling: u32,
    ply: u32,
    is_last: bool,
    position: Position,
}

fn packed(chess: &Chess) -> Position {
    Position::from_setup(&chess.to_setup(EnPassantMode::Always))
}

/// Numbers the nodes of a line, starting at its first node. Its side lines are numbered after the line, starting with those of
/// the last node.
fn number(first: &Node, parent: Option<u32>, sibling: u32, ply: u32, out: &mut Vec<Numbered>) {
    let mut line = vec![(first, parent, sibling)];
    let begin = out.len() as u32;
    while let Some((_, next)) = line[line.len() - 1].0.next.first() {
        line.push((next, Some(begin + line.len() as u32 - 1), 0));
    }
    for (&(node, parent, sibling), ply) in line.iter().zip(ply..) {
        let (is_last, position) = (node.next.is_empty(), packed(&node.chess));
        out.push(Numbered { parent, sibling, ply, is_last, position });
    }
    for (at, (node, ..)) in line.iter().enumerate().rev() {
        for (sibling, (_, other)) in (1..).zip(node.next.iter().skip(1)) {
            number(other, Some(begin + at as u32), sibling, ply + at as u32 + 1, out);
        }
    }
}

fn write_move(chess: &Chess, mv: Option<shakmaty::Move>, out: &mut String) {
    let number = chess.fullmoves();
    let dots = if chess.turn().is_white() { "." } else { "..." };
    match mv {
        Some(mv) => write!(out, "{number}{dots} {} ", SanPlus::from_move(chess.clone(), mv)).unwrap(),
        None => write!(out, "{number}{dots} -- ").unwrap(),
    }
}

/// Writes the moves after a node. An alternative to a move can be written after an earlier alternative, or inside it after its
/// first move.
fn write_line(rng: &mut Rng, node: &Node, out: &mut String) {
    let Some((mv, next)) = node.next.first() else { return };
    write_move(&node.chess, *mv, out);
    write_alternatives(rng, node, 1, out);
    write_line(rng, next, out);
}

fn write_alternatives(rng: &mut Rng, node: &Node, from: usize, out: &mut String) {
    let Some((mv, other)) = node.next.get(from) else { return };
    out.push('(');
    write_move(&node.chess, *mv, out);
    let is_within = rng.percent(30);
    if is_within {
        write_alternatives(rng, node, from + 1, out);
    }
    write_line(rng, other, out);
    out.push_str(") ");
    if !is_within {
        write_alternatives(rng, node, from + 1, out);
    }
}

const STARTS: [&str; 4] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 4 17",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 b - - 0 1",
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 30",
];

pub(crate) struct Made {
    pub(super) text: String,
    /// The nodes of each game.
    nodes: Vec<Vec<Numbered>>,
}

/// Returns random games with side lines, both as text and as nodes.
pub(crate) fn made(seed: u64, games: usize) -> Made {
    let mut rng = Rng::new(seed);
    let (mut text, mut nodes) = (String::new(), Vec::new());
    for _ in 0..games {
        let start = if rng.percent(60) { STARTS[0] } else { *rng.pick(&STARTS) };
        let fen: Fen = start.parse().unwrap();
        let chess: Chess = fen.into_position(shakmaty::CastlingMode::Standard).unwrap();
        let plies = rng.below(70);
        let tree = random_tree(&mut rng, chess, plies, 4);
        writeln!(text, "[Event \"{}\"]", nodes.len()).unwrap();
        if start != STARTS[0] {
            writeln!(text, "[FEN \"{start}\"]").unwrap();
        }
        text.push('\n');
        write_line(&mut rng, &tree, &mut text);
        text.push_str("*\n\n");
        let mut numbered = Vec::new();
        number(&tree, None, 0, 0, &mut numbered);
        nodes.push(numbered);
    }
    Made { text, nodes }
}

/// Returns blocks of games with side lines.
pub fn blocks(seed: u64, games: usize) -> Vec<Block> {
    pgn_blocks_with(&made(seed, games).text, with_variations())
}

/// Returns the nodes of all games in some blocks, computed from the replay and the blocks' tables.
fn nodes_of(blocks: &[Block]) -> Vec<Vec<Numbered>> {
    let mut out = Vec::new();
    for block in blocks {
        assert_eq!(replay::check_keys(block), Ok(()));
        let first = out.len();
        out.resize(first + block.games_len(), Vec::new());
        replay::for_each_slot(block, |slot| {
            let game = block.game(slot.game);
            let node = (slot.slot - game.first_slot()) as u32;
            let line = game.line_of(node).filter(|line| line.first_node() == node);
            assert_eq!(slot.initial, node == 0);
            assert_eq!(slot.last, slot.slot + 1 == game.end_slot());
            assert_eq!((slot.ply, slot.game), (game.ply_of(node), block.game_of_slot(slot.slot)));
            out[first + slot.game].push(Numbered {
                parent: game.parent_of(node),
                sibling: line.map_or(0, |line| line.sibling()),
                ply: slot.ply,
                is_last: slot.terminal,
                position: slot.position,
            });
        });
    }
    out
}

fn through_a_file(blocks: &[Block]) -> Vec<Block> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.reel");
    let mut writer = ReelWriter::create(&path).unwrap();
    writer.keep_variations(true);
    blocks
        .iter()
        .for_each(|block| writer.append(&EncodedBlock::new(block), &Totals::from_block(block)).unwrap());
    let games = blocks.iter().map(|block| u64::from(block.games_read())).sum();
    writer.finish(&[ReelSource { name: "a".into(), games, ..ReelSource::default() }]).unwrap();
    let reel = Reel::open(&path).unwrap();
    assert!(reel.keeps_variations());
    (0..reel.blocks()).for_each(|index| reel.verify(index).unwrap());
    (0..reel.blocks()).map(|index| reel.block(index).unwrap()).collect()
}

#[test]
fn generated_trees_go_through_text_blocks_and_files() {
    let mut lines = 0;
    for seed in trials(80, 20) {
        let Made { text, nodes } = made(seed as u64, 50);
        let mut options = with_variations();
        options.pgn.chunk_bytes = 16 << 10;
        let blocks = pgn_blocks_with(&text, options);
        assert!(blocks.iter().all(|block| block.problems().is_empty()), "{:?}", blocks[0].problems());
        let found = nodes_of(&blocks);
        for (game, (found, expected)) in found.iter().zip(&nodes).enumerate() {
            let place = found.iter().zip(expected).position(|(a, b)| a != b);
            assert_eq!((place, found.len()), (None, expected.len()), "seed {seed}, game {game}");
        }
        assert_eq!(found.len(), nodes.len());
        assert_eq!(through_a_file(&blocks), blocks);
        // A block whose side lines are removed must equal the block that is read without side lines.
        let mut options = StreamOptions::default();
        options.pgn.chunk_bytes = 16 << 10;
        let plain = pgn_blocks_with(&text, options);
        let cut: Vec<Block> = blocks.iter().cloned().map(|block| block.into_main_lines(false)).collect();
        assert_eq!(cut, plain);
        lines += blocks.iter().flat_map(Block::games).map(|game| game.lines().len()).sum::<usize>();
    }
    assert!(lines > 5000, "{lines}");
}

#[test]
fn moves_of_a_game_lead_to_its_nodes() {
    let blocks = pgn_blocks_with(&made(99, 60).text, with_variations());
    for (game, nodes) in blocks.iter().flat_map(Block::games).zip(nodes_of(&blocks)) {
        for (node, Numbered { parent, position, is_last, .. }) in (0..).zip(&nodes) {
            let led = parent.map(|parent| {
                let mut before = nodes[parent as usize].position;
                before.play(game.move_to(node).expect("what has a parent has a move"));
                before
            });
            assert_eq!(led.unwrap_or(*position), *position);
            assert_eq!(game.move_from(node).is_none(), *is_last);
        }
        let Game { moves, lines, .. } = game.to_game();
        let count = 1 + moves.len() + lines.iter().map(|line: &SideLine| line.moves.len()).sum::<usize>();
        assert_eq!(count, nodes.len());
        assert!(!moves.contains(&PackedMove::START_LINE));
    }
}

/// Returns studies with side lines. The files are read only once.
fn studies() -> Arc<[Block]> {
    static STUDIES: OnceLock<Arc<[Block]>> = OnceLock::new();
    let read =
        || blocks_with(&corpus().join("dev-studies-annotated/cql/sample.pgn"), with_variations()).into();
    Arc::clone(STUDIES.get_or_init(read))
}

#[table]
fn cql_answers_on_studies_with_side_lines() -> Vec<harness::Row> {
    let rows = golden::all_rows("golden-game-variations.tsv");
    let planned = golden::planned_rows();
    let count = rows.iter().filter(|row| planned.contains(&row.id)).count();
    assert!(count >= 40, "plans say {count} of {} queries", rows.len());
    let row = |(number, row): (usize, Golden)| {
        let engines = if planned.contains(&row.id) { &ENGINES[..] } else { &ENGINES[..1] };
        let row = Arc::new(row);
        let on_engine = |&engine: &&'static str| {
            let (name, row) = (format!("{}::{engine}", row.id), Arc::clone(&row));
            harness::Row::new(name, move || check_on_studies(&row, engine, number))
        };
        engines.iter().map(on_engine).collect::<Vec<_>>()
    };
    rows.into_iter().enumerate().flat_map(row).collect()
}

fn check_on_studies(row: &Golden, engine: &str, number: usize) {
    let blocks = studies();
    assert_eq!(blocks.iter().map(Block::slots).sum::<usize>(), 24_277);
    // For this query, CQL was run with the command-line option to search side lines, so it is set here too.
    let query = TypedQuery { variations: true, ..row.parsed() };
    for runner in Runner::needed(engine, number) {
        let found = golden::answer(row, &*runner.engine(&query).unwrap(), &blocks);
        assert_eq!(found, *row, "{} on {}", row.query, runner.name);
    }
}

#[test]
fn games_with_other_comments_are_no_duplicates() {
    let games = ["1. e4 e5 *", "1. e4 {a} e5 *", "1. e4 $1 e5 *", "1. e4 e5 (1... c5) *", "1. e4 e5 {a} *"];
    let text = games.map(|game| format!("[Event \"a\"]\n\n{game}\n\n")).concat();
    let hashes = |options, alike| {
        let blocks = pgn_blocks_with(&text, options);
        let all: Vec<_> = blocks.iter().flat_map(|block| GameHash::from_block(block, alike)).collect();
        all.iter().map(|hash| hash.0).collect::<std::collections::BTreeSet<u128>>().len()
    };
    assert_eq!(hashes(with_variations(), Alike::Tags), games.len());
    assert_eq!(hashes(StreamOptions::default(), Alike::Tags), 1);
    assert_eq!(hashes(with_variations(), Alike::Moves), 1);
}

/// When queries over side lines and over main lines run together, each must have the same results as alone.
#[test(part = 1)]
fn each_query_of_a_run_has_its_own_lines() {
    let text = made(7, 200).text;
    let queries = [
        "cql(variations) find check",
        "find check",
        "flipcolor shift {Nd4 Pe4}",
        "cql(variations) {find <-- all Q attacks k}",
        "terminal",
        "line --> .* --> terminal",
        "cql(variations) line --> .* --> terminal",
    ];
    let prepared = |text: &str| {
        PreparedQuery::new(orbit_query::parse(text).unwrap().query, PlanOptions::default()).unwrap()
    };
    let wanted = Wants::VALUES | Wants::ALL_COPIES;
    let mut options = EngineOptions::default();
    options.engine = EngineChoice::Cpu;
    let scan = Executor::new(queries.map(prepared).to_vec(), &options).unwrap();
    let database = |options| BlockStream::from_pgn_bytes("a", text.clone().into_bytes(), options);
    let blocks = pgn_blocks_with(&text, with_variations());
    let plain = pgn_blocks(&text);
    let mut hits = 0;
    let work = |found: BlockResult<'_>, _: &MemoryBudget<'_>| found.answers;
    let mut index = 0;
    let take = |streamed: StreamedBlock, all: Vec<Answers>| {
        assert_eq!(*streamed.block, blocks[index]);
        for (text, found) in queries.iter().zip(&all) {
            let query = orbit_query::parse(text).unwrap().query;
            let of = if query.variations { &blocks[index] } else { &plain[index] };
            let reference = Runner::reference().engine(&query).unwrap();
            let alone = reference.scan(&[of], &BlockRequest::all(&[wanted])).unwrap().remove(0).remove(0);
            let ty = query.body.ty();
            for (game, alone_in) in blocks[index].games().zip(of.games()) {
                for node in 0..game.positions() {
                    let ours = answer(&found.hits, game.first_slot() + node, ty);
                    if node < alone_in.positions() {
                        assert_eq!(ours, answer(&alone.hits, alone_in.first_slot() + node, ty), "{text}");
                        hits += usize::from(ours.is_hit());
                    } else {
                        assert!(!found.hits.contains(game.first_slot() + node), "{text}");
                    }
                }
            }
            let [ours, theirs] = [found, &alone].map(|answers| answers.copies.as_ref().unwrap());
            assert_eq!((ours.sums(), ours.len()), (theirs.sums(), theirs.len()), "{text}");
            assert!((0..ours.len()).all(|hit| ours.at_hit(hit) == theirs.at_hit(hit)), "{text}");
            // Hits in main lines, and the copies (transformed patterns) at these hits, have different slots (position indices)
            // here than in a block without side lines.
            for (game, alone_in) in blocks[index].games().zip(of.games()) {
                let places = (game.first_slot(), alone_in.first_slot());
                assert_eq!(
                    ours.first_in(&found.hits, places.0),
                    theirs.first_in(&alone.hits, places.1),
                    "{text}"
                );
            }
        }
        index += 1;
        ControlFlow::Continue(())
    };
    scan.for_each_block(
        database(with_variations()),
        &[wanted; 7],
        &Choice::default(),
        &Names::default(),
        work,
        take,
    )
    .unwrap();
    assert!(hits > 1000, "{hits}");
    let refused = scan.for_each_block(
        database(StreamOptions::default()),
        &[wanted; 7],
        &Choice::default(),
        &Names::default(),
        |_, _: &MemoryBudget<'_>| (),
        |_, ()| ControlFlow::Continue(()),
    );
    assert!(matches!(refused, Err(ScanError::NoVariations)));
}

#[test]
fn deeper_side_lines_than_any_may_be_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for depth in [255, 256] {
        // The knights move back and forth. Each side line is an alternative to the second move of the line that contains it.
        let squares = [(6, 21), (62, 45), (21, 6), (45, 62)];
        let code = |k: usize| if k.is_multiple_of(2) { 2 } else { 10 };
        let mv = |k: usize| PackedMove(squares[k % 4].0 | squares[k % 4].1 << 6 | code(k) << 12);
        let line =
            |k: usize| SideLine { parent: 2 * k as u32, sibling: 1, moves: vec![mv(k), PackedMove::NULL] };
        let game =
            Game { moves: vec![PackedMove::NULL], lines: (0..depth).map(line).collect(), ..Game::default() };
        let path = folder.path().join("a.reel");
        let mut writer = ReelWriter::create(&path).unwrap();
        let block = block_of_games([game]);
        writer.append(&EncodedBlock::new(&block), &Totals::from_block(&block)).unwrap();
        writer.finish(&[ReelSource { name: "a".into(), games: 1, ..ReelSource::default() }]).unwrap();
        let read = Reel::open(&path).unwrap().block(0);
        assert_eq!(read.is_ok(), depth == 255, "{:?}", read.err());
    }
}

#[test]
fn a_reel_without_side_lines_cannot_be_asked_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.reel");
    let mut writer = ReelWriter::create(&path).unwrap();
    let blocks = pgn_blocks(&data("games/vars.pgn"));
    blocks
        .iter()
        .for_each(|block| writer.append(&EncodedBlock::new(block), &Totals::from_block(block)).unwrap());
    writer.finish(&[ReelSource { name: "a".into(), games: 2, ..ReelSource::default() }]).unwrap();
    let error = BlockStream::open(std::slice::from_ref(&path), with_variations()).err();
    assert!(matches!(error, Some(StreamError::NoVariations { path: at }) if at == path));
    assert!(BlockStream::open(&[path], StreamOptions::default()).is_ok());
}

#[test]
fn some_games_of_a_block_keep_their_side_lines() {
    let blocks = pgn_blocks_with(&made(5, 80).text, with_variations());
    let sample = every_nth_game(&blocks, 1, 3);
    let of_all: Vec<_> = nodes_of(&blocks).into_iter().skip(1).step_by(3).collect();
    assert_eq!(nodes_of(&[sample]), of_all);
}
