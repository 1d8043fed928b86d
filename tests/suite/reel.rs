//! Compares the positions in reels (packed games) with shakmaty, and tests faulty files and streams of blocks with different
//! numbers of threads.

use std::{io::Cursor, ops::ControlFlow, path::Path};

use fastrand::Rng;
use orbit_core::board::{PackedMove, Position};
use orbit_database::{BlockStream, StreamOptions, Summary};
use orbit_pgn::{Game, GameStatus, Outcome, ReadFault, Stamp, Tag};
use orbit_reel::{
    Block, BlockBuilder, Contents, EncodedBlock, GameRow, Problem, Reel, ReelError, ReelSource, ReelWriter,
    SEGMENT_SLOTS, Totals,
    lanes::{LANES, LaneMoves},
    replay,
};
use pgn_reader::{RawTag, Reader, SanPlus, Visitor};
use shakmaty::{CastlingMode, Chess, EnPassantMode, Position as _, PositionError, fen::Fen};

/// A game and its positions according to shakmaty. The code under test is used only to pack single positions and moves.
struct Played {
    game: Game,
    positions: Vec<Position>,
}

struct Player {
    chess: Chess,
    played: Played,
    stopped: bool,
}

fn packed(chess: &Chess) -> Position {
    Position::from_setup(&chess.to_setup(EnPassantMode::Always))
}

struct Play;

impl Visitor for Play {
    type Tags = Game;
    type Movetext = Player;
    type Output = Option<Played>;

    fn begin_tags(&mut self) -> ControlFlow<Self::Output, Game> {
        ControlFlow::Continue(Game::default())
    }

    fn tag(&mut self, game: &mut Game, name: &[u8], value: RawTag<'_>) -> ControlFlow<Self::Output> {
        game.tags.push(Tag { name: name.to_vec(), value: value.decode().into_owned() });
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, mut game: Game) -> ControlFlow<Self::Output, Player> {
        let fen = game.tags.iter().find(|tag| tag.name == b"FEN");
        let chess = match fen.map(|tag| Fen::from_ascii(&tag.value)) {
            None => Chess::new(),
            Some(Ok(fen)) => {
                let strict = fen.into_position::<Chess>(CastlingMode::Chess960);
                let lenient = strict
                    .or_else(PositionError::ignore_invalid_castling_rights)
                    .or_else(PositionError::ignore_invalid_ep_square)
                    .or_else(PositionError::ignore_too_much_material)
                    .or_else(PositionError::ignore_impossible_check);
                match lenient {
                    Ok(chess) => chess,
                    Err(_) => return ControlFlow::Break(None),
                }
            }
            Some(Err(_)) => return ControlFlow::Break(None),
        };
        game.start = fen_start(&game, &chess);
        let positions = vec![packed(&chess)];
        ControlFlow::Continue(Player { chess, played: Played { game, positions }, stopped: false })
    }

    fn san(&mut self, player: &mut Player, san: SanPlus) -> ControlFlow<Self::Output> {
        if player.stopped {
            return ControlFlow::Continue(());
        }
        let Ok(mv) = san.san.to_move(&player.chess) else {
            player.stopped = true;
            return ControlFlow::Continue(());
        };
        player.played.game.moves.push(PackedMove::from_shakmaty(mv, player.chess.turn()));
        player.chess.play_unchecked(mv);
        player.played.positions.push(packed(&player.chess));
        ControlFlow::Continue(())
    }

    fn outcome(&mut self, player: &mut Player, outcome: shakmaty::Outcome) -> ControlFlow<Self::Output> {
        player.played.game.outcome = match outcome.to_string().as_str() {
            "1-0" => Outcome::WhiteWins,
            "0-1" => Outcome::BlackWins,
            "1/2-1/2" => Outcome::Draw,
            _ => Outcome::Unknown,
        };
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, player: Player) -> Self::Output {
        Some(player.played)
    }
}

fn fen_start(game: &Game, chess: &Chess) -> Option<Position> {
    game.tags.iter().any(|tag| tag.name == b"FEN").then(|| packed(chess))
}

/// Returns the games of a PGN text that shakmaty can replay, numbered from 1.
fn played(pgn: &[u8]) -> Vec<Played> {
    let mut reader = Reader::new(Cursor::new(pgn));
    let mut out = Vec::new();
    while let Some(played) = reader.read_game(&mut Play).expect("reading memory") {
        out.extend(played);
    }
    for (i, played) in out.iter_mut().enumerate() {
        played.game.number = i as u32 + 1;
    }
    out
}

fn corpus_file(name: &str) -> Vec<u8> {
    std::fs::read(crate::common::corpus().join(name)).expect("the corpus has this file")
}

fn build(games: &[Played]) -> Block {
    let mut builder = BlockBuilder::new();
    games.iter().for_each(|played| builder.push(0, &played.game));
    builder.finish()
}

/// Compares every slot (position) of a block (group of games) with the position according to shakmaty. Returns the number of
/// slots.
fn compare(block: &Block, games: &[Played]) -> Result<usize, String> {
    let mut expected = games.iter().enumerate().flat_map(|(game, played)| {
        let last = played.positions.len() - 1;
        played.positions.iter().enumerate().map(move |(ply, position)| replay::Slot {
            slot: 0,
            position: *position,
            ply: ply as u32,
            game,
            initial: ply == 0,
            terminal: ply == last,
            last: ply == last,
        })
    });
    let (mut slots, mut fault) = (0, None);
    replay::for_each_slot(block, |slot| {
        let expected = expected.next().map(|expected| replay::Slot { slot: slots, ..expected });
        if expected != Some(slot) || block.game_of_slot(slot.slot) != slot.game {
            fault.get_or_insert(format!("{slot:?} instead of {expected:?}"));
        }
        slots += 1;
    });
    match (fault, expected.next()) {
        (Some(fault), _) => Err(fault),
        (None, Some(missing)) => Err(format!("no slot for {missing:?}")),
        (None, None) => Ok(slots),
    }
}

/// Games with castling on both sides, en passant, promotion and castling in Chess960, and games with a single position.
const MIXED: &[u8] = b"[Event \"a\"]\n\n1. e4 a6 2. e5 d5 3. exd6 Nf6 4. Nf3 g6 5. Bd3 Bg7 6. O-O O-O 1-0\n\n\
[Event \"b\"]\n[SetUp \"1\"]\n[FEN \"8/P6k/8/8/8/8/p6K/8 w - - 0 1\"]\n\n1. a8=Q a1=N 2. Qxa1 *\n\n\
[Event \"c\"]\n[FEN \"4k3/8/8/8/8/8/8/RK5R w HA - 0 1\"]\n\n1. O-O Kd7 *\n\n\
[Event \"d\"]\n[FEN \"4k3/8/8/8/8/8/8/RK5R w HA - 0 1\"]\n\n1. O-O-O Kd7 1/2-1/2\n\n\
[Event \"e\"]\n[FEN \"4k3/8/8/8/8/8/8/4K3 b - - 0 1\"]\n\n*\n\n\
[Event \"f\"]\n\n1. d4 Nf6 2. c4 e6 3. Nc3 Bb4 4. Qc2 d5 5. cxd5 Qxd5 6. Nf3 Qf5 7. Qxf5 exf5 8. a3 Be7 9. Bf4 c6 \
10. e3 Nbd7 11. Bd3 Nb6 12. O-O Be6 13. Rfc1 O-O 14. Na4 Nxa4 0-1\n\n";

/// Games in which kings and rooks with castling rights move.
const KINGS: &[u8] = b"[Event \"g\"]\n\n1. e4 e5 2. Ke2 Nf6 3. Nf3 a6 4. Nxe5 Ra7 5. Ke3 Ke7 6. Ng4 *\n\n";

fn mixed() -> Vec<Played> {
    // The games are repeated, so that games begin and end at many places within a segment (32 positions).
    played(&[&MIXED.repeat(40)[..], b"[Event \"z\"]\n\n1. e4 e5 *\n\n"].concat())
}

#[test]
fn replay_equals_shakmaty() {
    let games = mixed();
    let block = build(&games);
    assert_eq!(games.len(), 241);
    assert_eq!(compare(&block, &games), Ok(block.slots()));
    assert_eq!(replay::check_keys(&block), Ok(()));
    for (row, played) in block.games().zip(&games) {
        assert_eq!(row.start(), played.positions[0]);
        assert_eq!(row.moves(), played.game.moves);
        assert_eq!(row.tags_owned(), played.game.tags);
        assert_eq!(row.outcome(), played.game.outcome);
        assert_eq!(row.number_in_source(), played.game.number);
        assert_eq!(row.tag("Event"), Some(&played.game.tags[0].value[..]));
        assert_eq!(row.tag("event"), None);
    }
}

/// A builder that receives the positions of a game does not replay its moves. The block must equal that of a builder that replays
/// them.
#[test]
fn positions_that_are_told_make_the_same_block() {
    let mut games = mixed();
    let block = build(&games);
    for played in &mut games {
        played.game.positions = played.positions.clone();
        assert_eq!(played.game.positions.len(), played.game.moves.len() + 1);
    }
    assert_eq!(build(&games), block);
}

#[test]
fn replay_equals_shakmaty_on_the_corpus() {
    for (name, games_len, positions) in [("otb.pgn", 11_372, 1_004_819), ("fen.pgn", 9_847, 80_012)] {
        let pgn = corpus_file(name);
        let games = played(&pgn);
        let block = build(&games);
        assert_eq!((block.games_len(), block.slots()), (games_len, positions), "{name}");
        assert_eq!(compare(&block, &games), Ok(positions), "{name}");
        assert_eq!(replay::check_keys(&block), Ok(()), "{name}");
    }
}

#[test]
fn a_lost_last_slot_of_a_segment_is_noticed() {
    let games = mixed();
    let mut block = build(&games);
    block.moves.remove(SEGMENT_SLOTS - 1);
    assert!(compare(&block, &games).is_err());
    let mut block = build(&games);
    block.moves.pop();
    assert!(compare(&block, &games).unwrap_err().starts_with("no slot for"));
}

#[test]
fn a_swapped_plane_is_noticed() {
    let games = mixed();
    for (a, b) in [(0, 1), (1, 2), (2, 3)] {
        let mut block = build(&games);
        block.keys[3].board.planes.swap(a, b);
        assert!(compare(&block, &games).is_err());
        assert_eq!(replay::check_keys(&block), Err(3));
    }
}

#[test]
fn a_wrong_base_into_a_table_is_noticed() {
    let games = mixed();
    let mut block = build(&games);
    block.keys[2].first_start += 1;
    assert!(compare(&block, &games).is_err());
    let mut block = build(&games);
    block.keys[2].first_game += 1;
    assert!(compare(&block, &games).is_err());
    let mut block = build(&games);
    block.keys[2].ply += 1;
    assert!(compare(&block, &games).is_err());
}

#[test]
fn eight_segments_at_once_equal_each_alone() {
    let mut games = mixed();
    games.extend(played(&KINGS.repeat(20)));
    let block = build(&games);
    let mut moves = LaneMoves::new_boxed();
    let mut planes = [[[0; LANES]; SEGMENT_SLOTS]; 4];
    let mut states = [[0; LANES]; SEGMENT_SLOTS];
    let mut one = replay::SegmentColumns::new();
    let tail = block.slots() % SEGMENT_SLOTS;
    assert!(tail != 0 && !block.segments().is_multiple_of(LANES) && block.segments() > LANES);
    // Every segment (32 positions) is replayed in every lane, both next to its neighbours and with segments skipped in between.
    let firsts = || 0..block.segments() as u32;
    for (step, first) in [3, 1].into_iter().flat_map(|step| firsts().map(move |first| (step, first))) {
        let segments: Vec<u32> = firsts().skip(first as usize).step_by(step).take(LANES).collect();
        let masks = moves.replay(&block, &segments, planes.each_mut(), Some(&mut states));
        for (n, &segment) in segments.iter().enumerate() {
            one.replay(&block, segment as usize);
            assert_eq!(masks[n], one.masks);
            for i in 0..one.masks.valid.count_ones() as usize {
                assert_eq!(planes.map(|plane| plane[i][n]), one.planes.map(|plane| plane[i]));
                assert_eq!(states[i][n], one.states[i], "segment {segment}, slot {i}");
            }
        }
        assert!(masks[segments.len()..].iter().all(|masks| *masks == replay::Masks::default()));
    }
    assert_eq!(one.masks.valid, (1 << tail) - 1);
    assert_eq!(one.masks.terminal >> (tail - 1), 1);
    assert!(one.planes[0][tail..].iter().chain(&one.planes[1][tail..]).all(|&plane| plane == 0));
}

/// Writes blocks to a reel.
fn write(path: &Path, blocks: &[Block]) {
    let mut writer = ReelWriter::create(path).unwrap();
    for block in blocks {
        writer.append(&EncodedBlock::new(block), &Totals::from_block(block)).unwrap();
    }
    let stamp = Stamp { bytes: Some(7), modified_ns: Some(1), hash: Some(2) };
    let sources = ReelSource { name: "a.pgn".into(), stamp, games: 9, ..ReelSource::default() };
    writer.finish(&[sources]).unwrap();
}

fn blocks(database: BlockStream, threads: usize) -> (Vec<Block>, Summary) {
    let mut blocks = Vec::new();
    let summary = database.for_each_block(
        threads,
        |block| block.slots(),
        |taken, slots| {
            assert_eq!(slots, taken.block.slots());
            blocks.push(std::sync::Arc::unwrap_or_clone(taken.block));
            ControlFlow::Continue(())
        },
    );
    (blocks, summary.unwrap())
}

fn small_chunks() -> StreamOptions {
    let mut options = StreamOptions::default();
    options.pgn.chunk_bytes = 4096;
    options
}

/// Returns blocks that together contain everything that blocks can contain.
fn varied_blocks() -> Vec<Block> {
    let fault = |reason: &str| ReadFault { offset: 99, ply: 3, reason: reason.into() };
    let mut first = BlockBuilder::new();
    for (i, played) in mixed().into_iter().enumerate() {
        let mut game = played.game;
        game.offset = 100 * i as u64;
        match i % 11 {
            3 => game.status = GameStatus::Cut(fault("Nd7 is ambiguous (b8, f6)")),
            5 => game.status = GameStatus::Skipped(fault("variant Atomic is not supported")),
            7 => game.notes = vec![fault("the FEN's castling rights KQ were dropped")],
            8 => game.tags.push(Tag { name: b"FEN".to_vec(), value: b"\xff no FEN".to_vec() }),
            9 => game.tags.clear(),
            _ => {}
        }
        first.push(0, &game);
    }
    let mut second = BlockBuilder::new();
    let skipped =
        Game { status: GameStatus::Skipped(fault("variant Atomic is not supported")), ..Game::default() };
    second.push(0, &skipped);
    vec![first.finish(), second.finish(), BlockBuilder::new().finish(), build(&mixed())]
}

#[test]
fn blocks_come_back_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.reel");
    let written = varied_blocks();
    write(&path, &written);
    let reel = Reel::open(&path).unwrap();
    assert_eq!(reel.blocks(), written.len());
    let mut games_before = 0;
    for (index, mut block) in written.into_iter().enumerate() {
        block.games_before = games_before;
        games_before += block.games_read();
        let read = reel.block(index).unwrap();
        assert!(read == block, "block {index}");
        assert_eq!(EncodedBlock::new(&read), EncodedBlock::new(&block));
        reel.verify(index).unwrap();
    }
    assert_eq!(reel.totals().skipped, 22 + 1);
    assert_eq!(reel.totals().cut, 22);
    assert_eq!(reel.sections().total(), std::fs::metadata(&path).unwrap().len());
    assert_eq!((reel.block_of_game(1), reel.block_of_game(242)), (Some(0), Some(1)));
    assert_eq!((reel.block_of_game(0), reel.block_of_game(10_000)), (None, None));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "the temporary file is gone");
}

/// Returns everything that a block contains, except tags.
fn all_but_tags(block: &Block) -> impl PartialEq + std::fmt::Debug + use<'_> {
    let game = |game: GameRow<'_>| {
        let numbers = (game.index(), game.number(), game.source(), game.number_in_source(), game.offset());
        let problems: Vec<Problem> = game.problems().cloned().collect();
        (
            numbers,
            game.first_slot(),
            game.outcome(),
            game.is_cut(),
            game.start(),
            game.moves().to_vec(),
            problems,
        )
    };
    let games: Vec<_> = block.games().map(game).collect();
    (
        &block.keys,
        &block.moves,
        &block.starts,
        block.games_before,
        block.source_games(),
        block.problems(),
        games,
    )
}

#[test]
fn blocks_without_tags_lack_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.reel");
    let written = varied_blocks();
    write(&path, &written);
    let reel = Reel::open(&path).unwrap();
    for index in 0..written.len() {
        let (whole, bare) = (
            reel.block(index).unwrap(),
            reel.block_with(index, Contents { tags: false, annotations: true }).unwrap(),
        );
        assert_eq!(all_but_tags(&bare), all_but_tags(&whole), "block {index}");
        assert!(bare.games().all(|game| game.tags().len() == 0 && game.tag("White").is_none()));
        assert!(whole.games_len() < 2 || whole.games().any(|game| game.tags().len() > 0));
    }
}

#[test]
fn an_unfinished_reel_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.reel");
    std::fs::write(&path, "older").unwrap();
    let mut writer = ReelWriter::create(&path).unwrap();
    writer.append(&EncodedBlock::new(&build(&mixed())), &Totals::from_block(&build(&mixed()))).unwrap();
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2);
    drop(writer);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    assert_eq!(std::fs::read(&path).unwrap(), b"older");
}

/// Reads a whole file, which may be faulty. Returns its blocks, or an error.
fn read_all(path: &Path) -> Result<Vec<Block>, ReelError> {
    let reel = Reel::open(path)?;
    (0..reel.blocks()).map(|index| reel.block(index)).collect()
}

#[test]
fn a_cut_or_altered_reel_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("a.reel"), folder.path().join("b.reel"));
    write(&path, &varied_blocks());
    let whole = std::fs::read(&path).unwrap();
    let expected = read_all(&path).unwrap();
    let mut random = Rng::with_seed(1);
    for _ in 0..1000 {
        let len = random.usize(..whole.len());
        std::fs::write(&copy, &whole[..len]).unwrap();
        let error = read_all(&copy).expect_err("a part is no reel");
        assert!(matches!(error, ReelError::Truncated { .. } | ReelError::NotAReel { .. }), "{error}");
        assert!(!matches!(error, ReelError::NotAReel { .. }) || len < 8);
    }
    let mut refused = 0;
    for _ in 0..1000 {
        let mut bytes = whole.clone();
        let at = random.usize(..bytes.len());
        bytes[at] ^= 1 << random.u32(..8);
        std::fs::write(&copy, bytes).unwrap();
        match read_all(&copy) {
            Err(_) => refused += 1,
            Ok(blocks) => assert!(blocks == expected, "byte {at}"),
        }
    }
    assert_eq!(refused, 1000);
    // An interrupted append leaves bytes after the end of the reel that the header gives. These bytes must be ignored.
    std::fs::write(&copy, [&whole[..], b"x"].concat()).unwrap();
    assert!(read_all(&copy).unwrap() == expected);
    let mut newer = whole.clone();
    newer[8] = 9;
    std::fs::write(&copy, newer).unwrap();
    assert!(matches!(read_all(&copy), Err(ReelError::NewerVersion { found: 9, .. })));
    std::fs::write(&copy, b"[Event \"a\"]").unwrap();
    assert!(matches!(read_all(&copy), Err(ReelError::NotAReel { .. })));
    assert!(matches!(read_all(&folder.path().join("none")), Err(ReelError::Io { .. })));
}

/// Corrects the checksums of the given blocks (as offset and length), of the directory and of the header, so that a reel with
/// altered bytes is not rejected because of them.
fn forge(bytes: &mut [u8], blocks: &[(usize, usize)]) {
    for &(offset, len) in blocks {
        let crc = crc32fast::hash(&bytes[offset + 4..offset + len]);
        bytes[offset..offset + 4].copy_from_slice(&crc.to_le_bytes());
    }
    let number = |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    let (directory, len) = (number(bytes, 24), number(bytes, 32));
    if let Some(directory) = bytes.get(directory..directory.saturating_add(len)) {
        let crc = crc32fast::hash(directory);
        bytes[44..48].copy_from_slice(&crc.to_le_bytes());
    }
    bytes[12..16].fill(0);
    let crc = crc32fast::hash(&bytes[..64]);
    bytes[12..16].copy_from_slice(&crc.to_le_bytes());
}

/// Reads everything that a block offers.
fn use_all(block: &Block) -> usize {
    let mut slots = 0;
    replay::for_each_slot(block, |slot| {
        assert!(slot.game < block.games_len());
        slots += block.game_of_slot(slot.slot) & 1;
    });
    let _ = replay::check_keys(block);
    for game in block.games() {
        let tags: usize = game.tags().map(|(name, value)| name.len() + value.len()).sum();
        let facts = (game.number(), game.number_in_source(), game.source(), game.outcome(), game.tag("FEN"));
        let start = game.start();
        slots += tags + game.plies() + game.problems().count() + format!("{facts:?} {start:?}").len();
    }
    for game in block.games() {
        let tree = game.to_game();
        slots += tree.lines.len() + tree.annotations.len();
        for line in game.lines() {
            assert!(line.parent() < line.first_node() && line.depth() < 256 && line.ply() > 0);
            assert_eq!(game.line_of(line.first_node()).map(|found| found.index()), Some(line.index()));
        }
    }
    slots += block.clone().into_main_lines(false).slots();
    block.problems().iter().for_each(|problem| slots += block.number_in_source(problem).1 as usize);
    slots + EncodedBlock::new(block).bytes().len()
}

#[test(part = 0)]
fn a_forged_reel_does_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("a.reel"), folder.path().join("b.reel"));
    let mut small = BlockBuilder::new();
    mixed()[..30].iter().for_each(|played| small.push(0, &played.game));
    write(
        &path,
        &[small.finish(), varied_blocks().swap_remove(1), crate::game_trees::blocks(3, 12).swap_remove(0)],
    );
    let whole = std::fs::read(&path).unwrap();
    let reel = Reel::open(&path).unwrap();
    let first = reel.block_bytes(0) as usize;
    let second = reel.block_bytes(1) as usize;
    let places = [(64, first), (64 + first, second), (64 + first + second, reel.block_bytes(2) as usize)];
    let (mut random, mut accepted) = (Rng::with_seed(7), 0);
    for round in 0..8000 {
        let mut bytes = whole.clone();
        for _ in 0..1 + round % 3 {
            let at = random.usize(..bytes.len());
            bytes[at] = random.u8(..);
        }
        forge(&mut bytes, &places);
        std::fs::write(&copy, bytes).unwrap();
        if let Ok(blocks) = read_all(&copy) {
            accepted += 1;
            blocks.iter().for_each(|block| assert!(use_all(block) > 0));
        }
    }
    // If almost all files were rejected, the forged checksums would be wrong, and the later checks would not be tested.
    assert!(accepted > 1000, "{accepted}");
}

/// In these files, a size is wrong but the checksums are right. Each row has the expected message. No memory may be allocated for
/// a claimed size before it is checked.
#[test]
fn a_reel_claims_no_more_than_it_may_hold() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("a.reel"), folder.path().join("b.reel"));
    write(&path, &[build(&mixed())]);
    let whole = std::fs::read(&path).unwrap();
    let len = Reel::open(&path).unwrap().block_bytes(0) as usize;
    let refused = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = whole.clone();
        change(&mut bytes);
        forge(&mut bytes, &[(64, len)]);
        std::fs::write(&copy, bytes).unwrap();
        match read_all(&copy) {
            Err(ReelError::Inconsistent { what, .. }) => what,
            other => panic!("{:?}", other.err()),
        }
    };
    let set = |at: usize, value: u32| {
        move |bytes: &mut Vec<u8>| bytes[at..at + 4].copy_from_slice(&value.to_le_bytes())
    };
    // The block's header contains, for each of its four frames (starts, games, tags and problems), a stored and a decompressed
    // size.
    let frame = |section: usize| 64 + 32 + 8 * section + 4;
    let claims = "a frame claims to hold more than any may";
    for (section, largest) in [(0, 45 * 1000), (1, 1 << 20), (2, 128 << 20), (3, 128 << 20)] {
        for value in [largest + 1, 256 << 20, u32::MAX] {
            assert_eq!(refused(&set(frame(section), value)), claims, "{section} {value}");
        }
        let length = "a frame has another length than its header says";
        if section < 3 {
            assert_eq!(refused(&set(frame(section), 1)), length, "{section}");
        }
    }
    // These fields contain the number of games that begin from the start table (the block's list of start positions), and the
    // number of games that have slots (positions).
    for (at, value) in [(64 + 12, u32::MAX), (64 + 16, u32::MAX), (64 + 16, 0)] {
        assert!(refused(&set(at, value)).contains("more games than slots"), "{at} {value}");
    }
    assert_eq!(refused(&set(64 + 20, u32::MAX)), "there are more side lines than slots");
    assert_eq!(refused(&set(64 + 28, u32::MAX)), claims, "annotations");
    let directory = u64::from_le_bytes(whole[24..32].try_into().unwrap()) as usize;
    for (at, value) in [(directory + 12, 1), (directory + 24, u32::MAX)] {
        assert_eq!(refused(&set(at, value)), "a block is larger than any may be", "{at}");
    }
}

/// Tests a sparse file, which can have any length but takes no disk space.
#[cfg(unix)]
#[test]
fn a_directory_of_forty_gigabytes_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.reel");
    write(&path, &[build(&mixed())]);
    let mut head = std::fs::read(&path).unwrap();
    let directory = u64::from_le_bytes(head[24..32].try_into().unwrap());
    for bytes in [40u64 << 30, (128 << 20) + 1] {
        head[16..24].copy_from_slice(&(directory + bytes).to_le_bytes());
        head[32..40].copy_from_slice(&bytes.to_le_bytes());
        forge(&mut head[..64], &[]);
        std::fs::write(&path, &head).unwrap();
        std::fs::File::options().write(true).open(&path).unwrap().set_len(directory + bytes).unwrap();
        let error = Reel::open(&path).unwrap_err();
        assert!(error.to_string().contains("the directory is longer than any may be"), "{error}");
    }
}

#[test]
fn a_forged_key_is_found_by_verification() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.reel");
    write(&path, &[build(&mixed())]);
    let mut bytes = std::fs::read(&path).unwrap();
    let len = Reel::open(&path).unwrap().block_bytes(0) as usize;
    // Changes the second key (the first position of the second segment): the pawn on e2 becomes a queen.
    let key = 64 + 64 + 48;
    bytes[key + 16 + 1] ^= 1 << 4;
    forge(&mut bytes, &[(64, len)]);
    std::fs::write(&path, bytes).unwrap();
    let reel = Reel::open(&path).unwrap();
    assert!(reel.block(0).is_ok());
    assert!(matches!(reel.verify(0), Err(ReelError::Inconsistent { .. })));
}

#[test]
fn blocks_do_not_depend_on_threads() {
    let pgn = MIXED.repeat(300);
    let database = || BlockStream::from_pgn_bytes("a.pgn", pgn.clone(), small_chunks());
    let (one, summary) = blocks(database(), 1);
    assert!(one.len() > 10, "{}", one.len());
    assert_eq!(summary.totals.games(), 1800);
    assert!(summary.finished && summary.bytes == pgn.len() as u64);
    for threads in [2, 5] {
        let (many, same) = blocks(database(), threads);
        assert!(many == one);
        assert_eq!(same, summary);
    }
    let numbers = one.iter().flat_map(|block| block.games().map(|game| game.number()).collect::<Vec<_>>());
    assert!(numbers.eq(1..=1800));
}

#[test]
fn a_reel_gives_the_blocks_of_its_pgn() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name| folder.path().join(name);
    std::fs::write(path("a.pgn"), MIXED.repeat(50)).unwrap();
    std::fs::write(path("b.pgn"), MIXED.repeat(20)).unwrap();
    let open = |names: &[&str]| {
        let paths: Vec<_> = names.iter().map(|name| folder.path().join(name)).collect();
        BlockStream::open(&paths, small_chunks()).unwrap()
    };
    let (of_a, _) = blocks(open(&["a.pgn"]), 2);
    write(&path("a.reel"), &of_a);
    let (of_reel, summary) = blocks(open(&["a.reel"]), 2);
    assert!(of_reel == of_a);
    assert_eq!(summary.totals.games(), 300);
    let (mixed, summary) = blocks(open(&["b.pgn", "a.reel", "b.pgn"]), 2);
    let rows = |blocks: &[Block]| -> Vec<(u32, u32, u32)> {
        let games = blocks.iter().flat_map(Block::games);
        games.map(|game| (game.source(), game.number_in_source(), game.number())).collect()
    };
    let expected = [(0, 120), (1, 300), (2, 120)];
    let expected = expected.iter().flat_map(|&(source, games)| (1..=games).map(move |game| (source, game)));
    let expected: Vec<_> = expected.zip(1..).map(|((source, game), all)| (source, game, all)).collect();
    assert_eq!(rows(&mixed), expected);
    assert_eq!(summary.sources.iter().map(|source| source.games).collect::<Vec<_>>(), [120, 300, 120]);
}

#[test]
fn totals_and_sizes_of_the_corpus() {
    let cases = [("otb.pgn", 11_372, 1_004_819, 4.0), ("fen.pgn", 9_847, 80_012, 10.0)];
    for (name, games, positions, bytes_max) in cases {
        let pgn = corpus_file(name);
        let (one, summary) = blocks(BlockStream::from_pgn_bytes(name, pgn.clone(), Default::default()), 1);
        let (two, _) = blocks(BlockStream::from_pgn_bytes(name, pgn, Default::default()), 2);
        assert!(one == two);
        let totals = &summary.totals;
        assert_eq!((totals.whole + totals.cut, totals.positions), (games, positions), "{name}");
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join("a.reel"), &one);
        let reel = Reel::open(&folder.path().join("a.reel")).unwrap();
        let sections = reel.sections();
        let besides_tags = (sections.total() - sections.tags - sections.problems) as f64 / positions as f64;
        eprintln!("{name}: {sections:?}, {besides_tags:.2} bytes a position beside tags");
        assert!(besides_tags <= bytes_max, "{name}: {besides_tags}");
        assert!(read_all(&folder.path().join("a.reel")).unwrap() == one);
    }
}

/// Returns a list (EPD) of distinct positions with many pieces.
fn epds(len: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let (mut random, mut lines) = (Rng::with_seed(3), 0);
    while lines < len {
        let mut chess = Chess::new();
        for ply in 0..60 {
            let moves = chess.legal_moves();
            if moves.is_empty() || lines == len {
                break;
            }
            chess.play_unchecked(moves[random.usize(..moves.len())]);
            if ply > 8 {
                let fen = Fen::from_position(&chess, EnPassantMode::Legal).to_string();
                out.extend(format!("{fen}\n").into_bytes());
                lines += 1;
            }
        }
    }
    out
}

#[test]
fn a_list_of_positions_is_small() {
    let len = 100_000;
    let (blocks, summary) = blocks(BlockStream::from_pgn_bytes("a.epd", epds(len), Default::default()), 2);
    assert_eq!((summary.totals.whole, summary.totals.positions), (len as u64, len as u64));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.reel");
    write(&path, &blocks);
    let bytes = std::fs::metadata(&path).unwrap().len() as f64 / len as f64;
    eprintln!("{:?}, {bytes:.1} bytes a position", Reel::open(&path).unwrap().sections());
    assert!(bytes <= 40.0, "{bytes}");
    assert!(read_all(&path).unwrap() == blocks);
}
