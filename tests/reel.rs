//! The reel against shakmaty, its file against faults, and its stream against the number of
//! threads.

use std::{io::Cursor, ops::ControlFlow, path::PathBuf};

use orbit_chess::{
    board::{PackedMove, Position},
    pgn::{Game, Outcome, Tag},
    reel::{Block, BlockBuilder, SEGMENT_SLOTS, replay},
};
use pgn_reader::{RawTag, Reader, SanPlus, Visitor};
use shakmaty::{CastlingMode, Chess, EnPassantMode, Position as _, PositionError, fen::Fen};

/// A game and its positions as shakmaty has them: nothing here goes through the code under test but
/// the packing of one position and of one move.
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

/// The games of a PGN that shakmaty can play, numbered from 1.
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

/// A file of the corpus, or `None` with a word on stderr where there is no corpus.
fn corpus(name: &str) -> Option<Vec<u8>> {
    let Some(folder) = std::env::var_os("ORBIT_CORPUS") else {
        eprintln!("skipped: ORBIT_CORPUS is not set");
        return None;
    };
    Some(std::fs::read(PathBuf::from(folder).join(name)).expect("the corpus has this file"))
}

fn build(games: &[Played]) -> Block {
    let mut builder = BlockBuilder::new();
    games.iter().for_each(|played| builder.push(0, &played.game));
    builder.finish()
}

/// Compares every slot with what shakmaty has there.
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

/// Castling both ways, en passant, promotion, Chess960 castling and one-position games.
const MIXED: &[u8] = b"[Event \"a\"]\n\n1. e4 a6 2. e5 d5 3. exd6 Nf6 4. Nf3 g6 5. Bd3 Bg7 6. O-O O-O 1-0\n\n\
[Event \"b\"]\n[SetUp \"1\"]\n[FEN \"8/P6k/8/8/8/8/p6K/8 w - - 0 1\"]\n\n1. a8=Q a1=N 2. Qxa1 *\n\n\
[Event \"c\"]\n[FEN \"4k3/8/8/8/8/8/8/RK5R w HA - 0 1\"]\n\n1. O-O Kd7 *\n\n\
[Event \"d\"]\n[FEN \"4k3/8/8/8/8/8/8/RK5R w HA - 0 1\"]\n\n1. O-O-O Kd7 1/2-1/2\n\n\
[Event \"e\"]\n[FEN \"4k3/8/8/8/8/8/8/4K3 b - - 0 1\"]\n\n*\n\n\
[Event \"f\"]\n\n1. d4 Nf6 2. c4 e6 3. Nc3 Bb4 4. Qc2 d5 5. cxd5 Qxd5 6. Nf3 Qf5 7. Qxf5 exf5 8. a3 Be7 9. Bf4 c6 \
10. e3 Nbd7 11. Bd3 Nb6 12. O-O Be6 13. Rfc1 O-O 14. Na4 Nxa4 0-1\n\n";

fn mixed() -> Vec<Played> {
    // Several times over, so that games begin and end at many places of a segment.
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

#[test]
fn replay_equals_shakmaty_on_the_corpus() {
    for (name, games_len, positions) in [("otb.pgn", 11_372, 1_004_819), ("fen.pgn", 9_847, 80_012)] {
        let Some(pgn) = corpus(name) else { return };
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
fn columns_of_many_segments_equal_those_of_one() {
    let block = build(&mixed());
    let mut columns = replay::Columns::default();
    let range = 5..block.segments();
    columns.replay(&block, range.clone());
    let mut one = replay::SegmentColumns::new();
    for (n, seg) in range.enumerate() {
        one.replay(&block, seg);
        let at = n * SEGMENT_SLOTS..(n + 1) * SEGMENT_SLOTS;
        for k in 0..4 {
            assert_eq!(columns.planes[k][at.clone()], one.planes[k]);
        }
        assert_eq!(columns.states[at.clone()], one.states);
        assert_eq!(columns.plies[at], one.plies);
        assert_eq!(columns.masks[n], one.masks);
    }
    let tail = block.slots() % SEGMENT_SLOTS;
    assert_ne!(tail, 0);
    assert_eq!(one.masks.valid, (1 << tail) - 1);
    assert_eq!(one.masks.terminal >> (tail - 1), 1);
}
