//! Checks with shakmaty that all accepted moves are legal, and that no legal move is rejected.

use orbit_core::board::{PackedMove, Position};
use orbit_pgn::GameStatus;
use shakmaty::{CastlingMode, Chess, EnPassantMode, Position as _, Role, Square, fen::Fen, san::San};

use super::*;

/// Tests tokens for the moves of all pieces and pawns to every square, without check signs, in positions with checks, pins,
/// promotions and castling.
#[test]
fn every_word_is_taken_or_refused_as_by_shakmaty() {
    let mut counts = [0; 2];
    for fen in [
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "r3k2r/p1pp1pb1/bn2Qnp1/3PN3/1p2P3/2N5/PPPBBPPP/R3K2R b KQkq - 0 1",
        "8/8/3p4/KPp4r/1R3p1k/8/4P1P1/8 w - c6 0 1",
        "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
        "4r1k1/8/8/b7/8/2N1B3/8/q2QK2R w K - 0 1",
        "Q2qk2r/8/2n1b3/8/B7/8/8/4R1K1 b k - 0 1",
        "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
    ] {
        let setup: Fen = fen.parse().unwrap();
        let chess: Chess = setup.into_position(CastlingMode::Chess960).unwrap();
        for word in words() {
            let wanted = readings(&word).into_iter().find_map(|san| san.to_move(&chess).ok());
            let wanted = wanted.map(|mv| PackedMove::from_shakmaty(mv, chess.turn()));
            let text = format!("[FEN \"{fen}\"]\n\n1. {word} *\n");
            let [game] = &games(text.as_bytes())[..] else { panic!("{text}") };
            assert_eq!(game.moves.first().copied(), wanted, "{word} in {fen}");
            assert_eq!(game.status == GameStatus::Whole, wanted.is_some(), "{word} in {fen}");
            counts[usize::from(wanted.is_some())] += 1;
        }
    }
    assert!(counts.iter().all(|&count| count > 100), "{counts:?}");
}

/// Tests move tokens that are neither the first in the game nor among the last in the text, so the parser's fastest path handles
/// them.
#[test]
fn words_amid_others_are_taken_or_refused_as_by_shakmaty() {
    let mut counts = [0; 2];
    for fen in [
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "8/8/3p4/KPp4r/1R3p1k/8/4P1P1/8 w - - 0 1",
        "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
        "6k1/8/8/b7/1r2r3/2N1B3/8/3QK2R w K - 0 1",
        "3qk2r/8/2n1b3/8/B7/8/8/3RR1K1 b k - 0 1",
    ] {
        let setup: Fen = fen.parse().unwrap();
        let chess: Chess = setup.into_position(CastlingMode::Chess960).unwrap();
        let passed = Fen::from_position(&chess.clone().swap_turn().unwrap(), EnPassantMode::Legal);
        for word in words() {
            let wanted = readings(&word).into_iter().find_map(|san| san.to_move(&chess).ok());
            let wanted = wanted.map(|mv| PackedMove::from_shakmaty(mv, chess.turn()));
            let remark =
                "{ a remark that is so long that the word before it is not among the last ones of the text }";
            let text = format!("[FEN \"{passed}\"]\n\n1. -- {word} {remark} *\n");
            let [game] = &games(text.as_bytes())[..] else { panic!("{text}") };
            assert_eq!(game.moves.get(1).copied(), wanted, "{word} in {fen}");
            assert_eq!(game.status == GameStatus::Whole, wanted.is_some(), "{word} in {fen}");
            counts[usize::from(wanted.is_some())] += 1;
        }
    }
    assert!(counts.iter().all(|&count| count > 50), "{counts:?}");
}

/// Returns the SAN moves that a token can denote. A piece move has two, because a wrong or missing `x` is accepted.
fn readings(word: &str) -> Vec<San> {
    let san: San = word.parse().unwrap();
    let mut other = san;
    if let San::Normal { role, capture, .. } = &mut other
        && *role != Role::Pawn
    {
        *capture = !*capture;
    }
    vec![san, other]
}

fn words() -> impl Iterator<Item = String> {
    let of_square = |to: Square| {
        let pieces = ["N", "B", "R", "Q", "K", "Na", "Nc", "N3", "Ne2", "Rh", "R1"];
        let mut words: Vec<String> = pieces.iter().map(|piece| format!("{piece}{to}")).collect();
        let last = matches!(to.rank() as u32, 0 | 7);
        for promotion in if last { &["=Q", "=N"][..] } else { &[""] } {
            words.push(format!("{to}{promotion}"));
            let beside = [to.offset(1), to.offset(-1)].into_iter().flatten();
            let beside = beside.filter(|from| from.rank() == to.rank());
            words.extend(beside.map(|from| format!("{}x{to}{promotion}", from.file().char())));
        }
        words
    };
    let castling = ["O-O", "O-O-O"].map(String::from);
    Square::ALL.into_iter().flat_map(of_square).chain(castling)
}

/// Replays the accepted moves of every game in the packages with shakmaty, and compares the positions.
#[test]
fn what_is_kept_of_real_files_is_legal() {
    for (name, path) in corpus_files() {
        for game in games_of_file(&path) {
            if matches!(game.status, GameStatus::Skipped(_)) {
                continue;
            }
            let game_name = format!("{name} {}", game.number);
            let mut position = game.start.unwrap_or(Position::STANDARD);
            let mut chess = position.to_chess().ok();
            assert_eq!(game.positions.len(), game.moves.len() + 1, "{game_name}");
            assert_eq!(game.positions[0], position, "{game_name}");
            for (&mv, &next) in game.moves.iter().zip(&game.positions[1..]) {
                position.play(mv);
                assert_eq!(position, next, "{game_name}");
                chess = match chess {
                    // shakmaty does not allow null moves in check, so it cannot check the moves from here on.
                    Some(chess) if mv == PackedMove::NULL => chess.swap_turn().ok(),
                    Some(mut chess) => {
                        let legal = mv.to_shakmaty(&chess);
                        chess.play_unchecked(legal.unwrap_or_else(|| panic!("{game_name}: {mv:?}")));
                        Some(chess)
                    }
                    None => None,
                };
            }
        }
    }
}
