//! Tests the FEN parser and writer: the results are compared with shakmaty, and the fields of variants and the error positions
//! are checked.

use std::num::NonZeroU32;

use orbit_core::board::Square;
use orbit_core::fen::{FenRecord, Leniency, RookLetters};
use orbit_core::positions::without_impossible_rights;
use shakmaty::Setup;
use shakmaty::fen::Fen;

use super::random::position;
use super::{read, setup};
use crate::differential::rng::Rng;

#[test]
fn shakmaty_reads_and_writes_the_same() {
    let mut rng = Rng::new(7);
    for _ in 0..20_000 {
        let fen = position(&mut rng);
        let ours = read(fen.as_bytes()).unwrap();
        let theirs = Fen::from_ascii(fen.as_bytes()).unwrap();
        assert_eq!(ours.setup, *theirs.as_setup(), "{fen}");
        assert_eq!(ours.to_string(), theirs.to_string(), "{fen}");
        assert_eq!(FenRecord::new(ours.setup).to_string(), theirs.to_string(), "{fen}");
    }
}

#[test]
fn a_damaged_fen_is_refused_by_both_or_by_neither() {
    let mut rng = Rng::new(8);
    let letters = b"PNBRQKpnbrqk12345678/ []~+-wbahx09\xff";
    let mut refused = 0;
    for _ in 0..50_000 {
        let mut fen = position(&mut rng).into_bytes();
        for _ in 0..1 + rng.below(2) {
            let at = rng.below(fen.len());
            match rng.below(3) {
                0 => fen[at] = *rng.pick(letters),
                1 => fen.insert(at, *rng.pick(letters)),
                _ => drop(fen.remove(at)),
            }
        }
        let shown = String::from_utf8_lossy(&fen).into_owned();
        match (read(&fen), Fen::from_ascii(&fen)) {
            (Ok(ours), Ok(theirs)) => assert_eq!(ours.setup, *theirs.as_setup(), "{shown}"),
            (Err(error), theirs) => {
                refused += 1;
                assert!(error.start < error.end && error.end <= fen.len(), "{shown}: {error:?}");
                // shakmaty accepts a sign before the number of checks in a variant's field.
                assert!(theirs.is_err() || shown.contains('+'), "{shown}: {error}");
            }
            // Only orbit's parser accepts EPD operations, and a capital letter for the side to move.
            (Ok(ours), Err(_)) => assert!(
                !ours.operations.is_empty() || shown.contains(" B ") || shown.contains(" W "),
                "{shown}"
            ),
        }
    }
    assert!((10_000..45_000).contains(&refused), "{refused}");
}

#[test]
fn random_bytes_never_bring_it_down() {
    let mut rng = Rng::new(9);
    for _ in 0..50_000 {
        let bytes: Vec<u8> =
            (0..rng.below(100)).map(|_| *rng.pick(b"8/8/pP~[]+ wb-K1_\t\xc3\xa9z")).collect();
        if let Err(error) = read(&bytes) {
            // If something is missing at the end of the text, the error's span may end one byte after it.
            assert!(error.end <= bytes.len() + 1, "{bytes:?}: {error:?}");
        }
    }
}

#[test]
fn as_many_fields_are_written_as_were_read() {
    let board = "8/8/8/8/8/8/8/R3K2k";
    for (fen, written) in [
        (board.into(), board.into()),
        (format!("{board} b"), format!("{board} b")),
        (format!("{board} W Q"), format!("{board} w Q")),
        (format!("{board} w A e3"), format!("{board} w Q e3")),
        (format!("  {board}\tw  -  - \r"), format!("{board} w - -")),
        (format!("{board}_w_-_-_3_4"), format!("{board} w - - 3 4")),
        (format!("{board} w - - 3 0"), format!("{board} w - - 3 1")),
        (format!("{board} w - - 99999999999 1"), format!("{board} w - - 4294967295 1")),
        (format!("{board} w - - 0 1 +1+2"), format!("{board} w - - 2+1 0 1")),
        (format!("{board} w - - 3+0"), format!("{board} w - - 3+0")),
        (format!("{board}/Qqp w - -"), format!("{board}[Qpq] w - -")),
        (format!("{board}[] w - -"), format!("{board}[] w - -")),
        (format!("{board} w - - bm Ra8+; id \"a _ b\";  "), format!("{board} w - - bm Ra8+; id \"a _ b\";")),
        (format!("{board} w - - 5 6 c0 \"x\";"), format!("{board} w - - 5 6 c0 \"x\";")),
    ] {
        assert_eq!(read(fen.as_bytes()).unwrap().to_string(), written, "{fen}");
    }
}

#[test]
fn faults_are_placed() {
    let board = "8/8/8/8/8/8/8/R3K2k";
    for (fen, span, message) in [
        ("", (0, 1), "the FEN is empty"),
        ("  ", (0, 1), "the FEN is empty"),
        ("8/8/8/8/8/8/8", (12, 13), "only 7 ranks"),
        ("8/8/8/7/8/8/8/8 w", (6, 7), "rank 5 has 7 squares"),
        ("8/8/8//8/8/8/8 w", (6, 7), "rank 5 has 0 squares"),
        ("8/ppppppppp/8/8/8/8/8/8", (2, 11), "rank 7 has more than 8 squares"),
        ("8/8/8/8/8/8/8/p8 w", (14, 16), "rank 1 has more than 8 squares"),
        ("8/8/8/8/8/8/8/7 w", (14, 15), "rank 1 has 7 squares"),
        ("8/8/8/8/8/8/8/7x w", (15, 16), "`x` is no piece"),
        ("8/8/8/8/8/8/8/7é w", (15, 17), "`é` is no piece"),
        ("8/8/8/8/8/8/8/9", (14, 15), "`9` is no piece"),
        ("8/8/8/8/8/8/8/1~7", (15, 16), "`~` follows no piece"),
        ("~8/8/8/8/8/8/8/8", (0, 1), "`~` follows no piece"),
        ("8/8/8/8[p]/8/8/8/8", (7, 8), "pockets before the last rank"),
        ("8/8/8/8/8/8/8/8[p w - -", (15, 16), "the pockets are not closed"),
        ("8/8/8/8/8/8/8/8[px] w - -", (17, 18), "this is no piece"),
        (&format!("{board} x"), (20, 21), "this is no side to move"),
        (&format!("{board} w KX"), (23, 24), "this is no castling right"),
        (&format!("{board} w ABC"), (22, 25), "more than two castling rights of one side"),
        (&format!("{board} w - e9"), (24, 26), "this is no en passant square"),
        (&format!("{board} w - - 4+1"), (26, 29), "these are no remaining checks"),
        (&format!("{board} w - - 1x"), (26, 28), "this is no number"),
        (&format!("{board} w - - 1 2 3"), (30, 31), "this field is out of place"),
        (&format!("{board} w - - ;"), (26, 27), "this field is out of place"),
    ] {
        let error = read(fen.as_bytes()).unwrap_err();
        assert_eq!((error.message.as_str(), error.start, error.end), (message, span.0, span.1), "{fen}");
        assert!(!error.label.is_empty());
    }
    let long = format!("8/8/8/8/8/8/8/8[{}] w - -", "p".repeat(65));
    let error = read(long.as_bytes()).unwrap_err();
    assert_eq!(error.message, "more than 64 pieces in the pockets");
}

#[test]
fn a_fen_says_whether_it_could_tell_all_rights() {
    let mut record = read(b"8/8/8/8/8/8/8/R3K2k w Q - 0 1").unwrap();
    assert!(record.write(RookLetters::XFen, &mut Vec::new()));
    record.setup.castling_rights = Square::A2.into();
    let mut out = Vec::new();
    assert!(!record.write(RookLetters::XFen, &mut out));
    assert_eq!(out, b"8/8/8/8/8/8/8/R3K2k w - - 0 1");
}

#[test]
fn impossible_rights_can_be_dropped() {
    for (fen, kept) in [
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "KQkq -"),
        ("r3k2r/8/8/8/8/8/8/R3K1R1 w KQkq - 0 1", "KQkq -"),
        ("r3k2r/8/8/8/8/8/8/R2K2N1 w KQkq - 0 1", "Qkq -"),
        ("8/8/8/8/8/8/4k3/R2K3R w KQkq - 0 1", "KQ -"),
        ("4k3/8/8/8/4P3/8/8/4K3 b - e3 0 1", "- e3"),
        ("4k3/8/8/8/4P3/8/8/4K3 w - e3 0 1", "- -"),
        ("4k3/8/8/8/4P3/8/4P3/4K3 b - e3 0 1", "- -"),
        ("4k3/8/8/8/3P4/8/8/4K3 b - e3 0 1", "- -"),
        ("4k3/8/8/8/4P3/4N3/8/4K3 b - e3 0 1", "- -"),
        ("4k3/8/8/8/8/8/8/4K3 b - e8 0 1", "- -"),
    ] {
        let mut record = read(fen.as_bytes()).unwrap();
        record.setup = without_impossible_rights(&setup(fen));
        let text = record.to_string();
        let fields: Vec<&str> = text.split(' ').skip(2).take(2).collect();
        assert_eq!(fields.join(" "), kept, "{fen}");
    }
}

/// Each leniency accepts some lines that are rejected without it. The leniencies are for variants, operations, unclear castling
/// rights and arbitrary trailing text.
#[test]
fn each_leniency_takes_what_it_names() {
    let none = Leniency::NONE;
    let alone = [
        Leniency { variants: true, ..none },
        Leniency { operations: true, ..none },
        Leniency { unclear_rights: true, ..none },
        Leniency { any_rest: true, ..none },
    ];
    let board = "8/8/8/8/8/8/8/R3K2k";
    for (fen, by_none, by_each) in [
        (format!("{board} w A e3 3 4"), true, [true; 4]),
        (format!("{board}_W_-"), true, [true; 4]),
        (format!("{board}[Q] w - -"), false, [true, false, false, false]),
        (format!("{board}/Q w - -"), false, [true, false, false, false]),
        (format!("{board} w - - 3+0"), false, [true, false, false, true]),
        (format!("{board} w - - 0 1 bm Ra8+;"), false, [false, true, false, true]),
        (format!("{board} w -- -"), false, [false, false, true, false]),
        (format!("{board} w KX e9"), false, [false, false, true, false]),
        (format!("{board} w - - 1 2 3"), false, [false, false, false, true]),
        (format!("{board} w - - ?"), false, [false, false, false, true]),
        (format!("{board} x"), false, [false; 4]),
        (format!("{board}7 w"), false, [false; 4]),
    ] {
        let takes = |leniency| FenRecord::read(fen.as_bytes(), leniency).is_ok();
        assert_eq!((takes(none), alone.map(takes)), (by_none, by_each), "{fen}");
    }
    let unclear = format!("{board} w KX e9");
    let record = FenRecord::read(unclear.as_bytes(), alone[2]).unwrap();
    assert!(record.setup.castling_rights.is_empty() && record.setup.ep_square.is_none());
    assert_eq!((record.castling, record.en_passant), (&b"KX"[..], &b"e9"[..]));
}

/// On plain FENs, the parser with the leniencies for games must agree with shakmaty.
#[test]
fn leniencies_read_what_shakmaty_reads() {
    let games = Leniency { unclear_rights: true, any_rest: true, ..Leniency::NONE };
    let mut rng = Rng::new(10);
    for _ in 0..20_000 {
        let fen = position(&mut rng);
        let theirs = Fen::from_ascii(fen.as_bytes()).unwrap().into_setup();
        if theirs.pockets.is_some() {
            assert!(FenRecord::read(fen.as_bytes(), games).is_err(), "{fen}");
            continue;
        }
        let ours = FenRecord::read(fen.as_bytes(), games).unwrap().setup;
        let read =
            Setup { halfmoves: 0, fullmoves: NonZeroU32::MIN, remaining_checks: None, ..theirs.clone() };
        assert_eq!(ours, read, "{fen}");
        match FenRecord::read(fen.as_bytes(), Leniency::NONE) {
            Ok(record) => assert_eq!(record.setup, theirs, "{fen}"),
            Err(error) => assert!(theirs.remaining_checks.is_some(), "{fen}: {error}"),
        }
    }
}
