//! Tests the arguments and messages of `orbit explore`, and the ways to specify a position.

use std::path::Path;

use serde_json::Value;

use crate::program::{run, run_in, stdout};

const GAMES: &str = "games/sample.pgn";
const CASTLED: &str = "r1bqk1nr/pppp1ppp/2n5/2b1p3/2B1P3/5N2/PPPP1PPP/RNBQ1RK1 b kq - 5 4";

#[test]
fn a_position_is_read_in_the_same_forms_by_all_commands() {
    let forms = [
        "e4 e5 Nf3 Nc6 Bc4 Bc5 O-O",
        "1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. O-O",
        "1.e4! e5 2.Nf3!? Nc6?! 3.Bc4 Bc5 4.0-0",
        "e2e4,e7e5,g1f3,b8c6,f1c4,f8c5,e1g1",
        "e4 e5 Nf3 Nc6 Bc4 Bc5 0-0!",
        CASTLED,
        &CASTLED[..CASTLED.len() - 4],
    ];
    let answers = |command: &dyn Fn(&str) -> Vec<String>| -> Vec<String> {
        let answer = |form: &&str| {
            let words = command(form);
            stdout(&words.iter().map(String::as_str).collect::<Vec<_>>())
        };
        forms.iter().map(answer).collect()
    };
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let explored = answers(&|form| words(&["explore", "-q", "--json", GAMES, form]));
    // If the position is specified by moves, the response also contains the number of games that reached it by other moves.
    assert!(explored[..5].iter().all(|answer| *answer == explored[0]), "{explored:?}");
    assert_eq!(explored[5], explored[6]);
    assert!(explored[5].contains(r#""san":"Nf6""#), "{explored:?}");
    let positions = answers(&|form| words(&["positions", "-q", GAMES, form]));
    assert!(positions[0].contains("games   ") && positions.iter().all(|answer| *answer == positions[0]));
    let scanned = answers(&|form| words(&["scan", "-q", "--at", form, GAMES]));
    assert!(scanned[0].lines().count() > 3 && scanned.iter().all(|answer| *answer == scanned[0]));
    // The value of a search with `--at` is not a set of squares, so the hit must not mention a piece, as in `knight on d4`.
    assert!(scanned[0].contains("4. O-O, next ") && !scanned[0].contains(" on "), "{}", scanned[0]);
    for command in [&["positions", "-q", GAMES][..], &["scan", "-c", "-q", GAMES, "--at"]] {
        let start = |form: &'static str| stdout(&[command, &[form]].concat());
        assert_eq!(start("start"), start("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"));
    }
}

#[test]
fn options_may_stand_between_the_games_and_the_position() {
    let due = stdout(&["explore", "-q", "--since", "2010", "--json", GAMES, "e4 c5"]);
    assert_eq!(stdout(&["explore", "-q", GAMES, "--json", "--since", "2010", "e4 c5"]), due);
    assert_eq!(stdout(&["explore", "-q", GAMES, "e4 c5", "--json", "--since", "2010"]), due);
    // Empty conditions and the year 0 match all games, as on lichess.
    let all = ["--since", "0000-01", "--speeds", "", "--modes", "", "--ratings", ""];
    let all = stdout(&[&["explore", "-q", "--json", GAMES, "e4 c5"], &all[..]].concat());
    assert_eq!(all, stdout(&["explore", "-q", "--json", GAMES, "e4 c5"]));
}

#[test]
fn errors_name_the_arguments() {
    let bare = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";
    for (args, message) in [
        (
            &["explore", GAMES, "e4 e9"][..],
            "the position `e4 e9`: `e9` is no move: write moves in SAN or UCI",
        ),
        (&["explore", GAMES, "e4 e4"], "the position `e4 e4`: `e4` is no legal move there"),
        (&["explore", GAMES, "8/8 w"], "the position `8/8 w`: only 2 ranks, at character 3"),
        (
            &["explore", "e4", GAMES],
            "games/sample.pgn is a file, and the last argument of `orbit explore` is",
        ),
        (&["explore", GAMES], "the position is missing: write `orbit explore games/sample.pgn start`"),
        (&["explore", "e4 c5"], "the games are missing: write `orbit explore games.pgn 'e4 c5'`"),
        (&["explore", GAMES, "--since", "2020-13-45", "e4"], "--since: `2020-13-45` is no date"),
        (&["explore", GAMES, "--since", "0000-13", "e4"], "--since: `0000-13` is no date"),
        (
            &["explore", GAMES, "--until", "2015-02-30", "e4"],
            "--until: the month of `2015-02-30` has only 28",
        ),
        (
            &["explore", GAMES, "--since", "1900-02-29", "e4"],
            "--since: the month of `1900-02-29` has only 28",
        ),
        (&["explore", GAMES, "--since", "2015-04-31", "e4"], "has only 30 days"),
        (&["explore", GAMES, "--top-games", "x", "e4"], "--top-games: `x` is no whole number"),
        (&["positions", GAMES, "e4 f5 Qh5 0000"], "`0000` is no legal move there"),
        (&["positions", GAMES, &format!("{bare} w KQkq - 0 1 | e4")], "at character "),
        (&["scan", "--at", "e4 e9", GAMES], "`e9` is no move"),
        (
            &["scan", "-q", "--at", "e4", "mate", GAMES],
            "`mate` does not exist: with --at the query comes from",
        ),
    ] {
        let (code, stdout, stderr) = run(args);
        assert_eq!((code, stdout), (Some(2), String::new()), "{args:?}");
        assert!(stderr.contains(message), "{args:?}: {stderr}");
    }
    assert!(stdout(&["explore", "-q", GAMES, "e4", "--since", "2016-02-29"]).contains("total"));
    // If a FEN lacks the castling field, castling is not allowed.
    for args in [&["explore", "-q", GAMES, bare], &["positions", "-q", GAMES, bare]] {
        let text = stdout(args);
        assert!(text.contains("neither side may castle in this position: "), "{text}");
    }
    let text = stdout(&["explore", "-q", GAMES, "8/8/8/4k3/4P3/4K3/8/8 w - -"]);
    assert!(text.ends_with("\nno game comes to this position\n"), "{text}");
    // The games that come to this position may only be excluded by the conditions.
    for condition in
        [&["--since", "2100"][..], &["--until", "1800"], &["--modes", "casual"], &["--player", "Xyzzy"]]
    {
        let text = stdout(&[&["explore", "-q", GAMES, "e4"], condition].concat());
        let due = "\nno game that meets the conditions comes to this position\n";
        assert!(text.ends_with(due), "{condition:?}: {text}");
    }
}

/// A null move in an answer can be part of the next request.
#[test]
fn null_moves_are_read_as_they_are_written() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("games.pgn"), "[Result \"1-0\"]\n\n1. e4 -- 2. d4 d5 1-0\n\n").unwrap();
    let moves = |position: &str| {
        let (code, json, stderr) = run_in(folder.path(), &["explore", "-q", "--json", "games.pgn", position]);
        assert_eq!(code, Some(0), "{position}: {stderr}");
        let answer: Value = serde_json::from_str(&json).unwrap();
        let moves = answer["moves"].as_array().unwrap().iter();
        moves.map(|mv| mv["uci"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(moves("e4"), ["0000"]);
    for position in ["e4 0000", "e4 --", "1. e4 --", "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -"]
    {
        assert_eq!(moves(position), ["d2d4"], "{position}");
    }
    assert_eq!(moves("e2e4,0000,d2d4"), ["d7d5"]);
}

/// Only the address of a game contains the id of a game. Other games are named by their numbers.
#[test]
fn ids_are_those_of_games_of_lichess() {
    let folder = tempfile::tempdir().unwrap();
    let addresses = [
        ("https://lichess.org/AbCdEf12", "AbCdEf12"),
        ("https://lichess.org/AbCdEf12wxyz/black#30", "AbCdEf12"),
        ("https://lichess.org/", "3"),
        ("https://lichess.org/abc", "4"),
        ("https://lichess.org/broadcast/norway-chess/round-1/abcdefgh/XyZxYzXy", "5"),
        ("https://lichess.org/study/AbCdEfGh/IjKlMnOp", "6"),
        ("https://lichess.org/training", "7"),
        ("https://lichess.org/analysis", "8"),
        ("Oslo", "9"),
    ];
    let game =
        |(site, _): &(&str, &str)| format!("[Site \"{site}\"]\n[Date \"2020.01.01\"]\n\n1. e4 1-0\n\n");
    std::fs::write(folder.path().join("a.pgn"), addresses.iter().map(game).collect::<String>()).unwrap();
    let (code, _, stderr) = run_in(folder.path(), &["index", "-q", "--positions", "a.pgn", "-o", "a.reel"]);
    assert_eq!(code, Some(0), "{stderr}");
    for games in ["a.pgn", "a.reel"] {
        let args = ["explore", "-q", "--json", "--recent-games", "20", games, "start"];
        let (code, json, stderr) = run_in(folder.path(), &args);
        assert_eq!(code, Some(0), "{games}: {stderr}");
        let answer: Value = serde_json::from_str(&json).unwrap();
        let recent = answer["recentGames"].as_array().unwrap().iter();
        let ids: Vec<&str> = recent.rev().map(|game| game["id"].as_str().unwrap()).collect();
        assert_eq!(ids, addresses.map(|(_, id)| id), "{games}");
    }
}

#[test]
fn games_that_a_table_tells_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join(GAMES);
    let in_folder = |args: &[&str]| {
        let (code, _, stderr) = run_in(folder.path(), args);
        assert_eq!(code, Some(0), "{stderr}");
        stderr
    };
    in_folder(&["index", "-q", "--positions", sample.to_str().unwrap(), "-o", "a.reel"]);
    let stderr = in_folder(&["explore", "a.reel", "e4 c5"]);
    assert!(stderr.ends_with("\n152 games are counted\n"), "{stderr}");
}
