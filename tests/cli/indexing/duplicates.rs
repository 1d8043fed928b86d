//! Tests that a game is dropped as a duplicate if and only if its contents equal those of an earlier game.

use std::collections::HashMap;
use std::fs;
use std::ops::ControlFlow;

use orbit_database::{BlockStream, StreamOptions, Summary};
use orbit_reel::{Alike, Block, GameRow, GameSet, ProblemKind, replay};

use super::{folder, games, hits, info, run};
use crate::common::corpus;

/// Reads a database, and drops duplicates if `is_dropped` is true. Returns the blocks (groups of games) and the summary.
fn blocks(text: &str, chunk_bytes: usize, threads: usize, is_dropped: bool) -> (Vec<Block>, Summary) {
    blocks_without(text, chunk_bytes, threads, is_dropped.then(GameSet::default))
}

/// Reads a database. If `seen` is given, drops games that equal an earlier game or a game in `seen`.
fn blocks_without(
    text: &str,
    chunk_bytes: usize,
    threads: usize,
    seen: Option<GameSet>,
) -> (Vec<Block>, Summary) {
    let mut options = StreamOptions::default();
    options.pgn.chunk_bytes = chunk_bytes;
    let mut database = BlockStream::from_pgn_bytes("games", text.as_bytes().to_vec(), options);
    if let Some(seen) = seen {
        database = database.without_duplicates(seen);
    }
    let mut out = Vec::new();
    let summary = database.for_each_block(
        threads,
        |_| (),
        |taken, ()| {
            out.push(std::sync::Arc::unwrap_or_clone(taken.block));
            ControlFlow::Continue(())
        },
    );
    (out, summary.unwrap())
}

/// Returns the contents of a game that determine if it equals another game.
fn content(game: GameRow<'_>) -> impl Eq + std::hash::Hash + std::fmt::Debug + use<> {
    let mut tags: Vec<(Vec<u8>, Vec<u8>)> =
        game.tags().map(|(name, value)| (name.to_vec(), value.to_vec())).collect();
    tags.sort();
    let start = game.start();
    let moves = format!("{:?}", game.moves());
    (start.board.planes, start.state.0, moves, game.outcome() as u8, game.is_cut(), tags)
}

/// Returns everything that a block contains about a game, except the game's position in the block.
fn row(game: GameRow<'_>) -> String {
    let numbers = (game.number(), game.number_in_source(), game.offset(), game.outcome(), game.is_cut());
    let problems: Vec<_> = game.problems().map(|p| (p.kind, p.offset, p.ply, p.reason.clone())).collect();
    format!("{numbers:?} {:?} {:?} {:?} {problems:?}", game.start(), game.moves(), game.tags_owned())
}

/// Variants of a game, each with the number of the game that it duplicates, if any.
const CASES: &[(&str, Option<u32>)] = &[
    ("[White \"A\"]\n[Black \"B\"]\n\n1. e4 e5 1-0\n\n", None),
    ("[Black \"B\"]\n[White \"A\"]\n\n1. e4 {a comment} e5 (1... c5) 1-0\n\n", Some(1)),
    ("[White \"A\"]\n[Black \"C\"]\n\n1. e4 e5 1-0\n\n", None),
    ("[White \"B\"]\n[Black \"A\"]\n\n1. e4 e5 1-0\n\n", None),
    ("[White \"A\"]\n\n1. e4 e5 1-0\n\n", None),
    ("[White \"A\"]\n[Black \"B\"]\n\n1. e4 e5 0-1\n\n", None),
    ("[White \"A\"]\n[Black \"B\"]\n\n1. e4 e5 2. Nf3 1-0\n\n", None),
    ("[White \"A\"]\n[Black \"B\"]\n\n1. e4 e5 2. Nf9 1-0\n\n", None),
    ("[White \"A\"]\n[Black \"B\"]\n\n1. e4 e5 2. Nf9 1-0\n\n", Some(8)),
    ("[White \"A\"]\n[Variant \"Atomic\"]\n\n1. e4 *\n\n", None),
    ("[White \"A\"]\n[Variant \"Atomic\"]\n\n1. e4 *\n\n", None),
    ("[FEN \"4k3/8/8/8/8/8/4P3/4K1N1 w - - 0 1\"]\n\n1. e4 *\n\n", None),
    ("[FEN \"4k3/8/8/8/8/8/4P3/4K1N1 w - - 0 1\"]\n\n1. e4 *\n\n", Some(12)),
    ("[FEN \"4k3/8/8/8/8/8/4P3/4K2N w - - 0 1\"]\n\n1. e4 *\n\n", None),
    ("[White \"A\"]\n[Black \"B\"]\n\n1. e4 e5 1-0\n\n", Some(1)),
];

#[test]
fn what_is_a_duplicate() {
    let text: String = CASES.iter().map(|case| case.0).collect();
    for chunk_bytes in [1, 200, 1 << 20] {
        let (blocks, summary) = blocks(&text, chunk_bytes, 2, true);
        let mut found: Vec<Option<u32>> = vec![None; CASES.len()];
        for block in &blocks {
            for problem in block.problems() {
                let number = block.number_in_source(problem).1;
                if let Some(first) = problem.reason.strip_prefix("exact duplicate of game ") {
                    assert_eq!(problem.kind, ProblemKind::Skipped);
                    let first = first.strip_suffix(" of games").unwrap();
                    found[number as usize - 1] = Some(first.parse().unwrap());
                }
            }
        }
        assert_eq!(found, CASES.iter().map(|case| case.1).collect::<Vec<_>>(), "{chunk_bytes}");
        assert_eq!((summary.totals.whole, summary.totals.cut, summary.totals.skipped), (8, 1, 6));
        let reason = (ProblemKind::Skipped, String::from("exact duplicate"));
        assert_eq!(summary.totals.reasons[&reason], 4);
        assert_eq!((summary.sources[0].games, summary.sources[0].duplicates), (15, 4));
    }
}

/// Returns a text with many games, about half of which repeat an earlier game, either nearby or far away in the text.
fn repetitive() -> String {
    let mut random = fastrand::Rng::with_seed(5);
    let mut out = String::new();
    for _ in 0..700 {
        out += &games(&random.u64(..300).to_string());
    }
    out
}

#[test]
fn duplicates_are_those_that_a_comparison_finds_however_the_text_is_cut() {
    let text = repetitive();
    let (all, _) = blocks(&text, 1 << 20, 1, false);
    let mut first = HashMap::new();
    let mut expected = Vec::new();
    let mut duplicates = 0;
    for game in all.iter().flat_map(Block::games) {
        match *first.entry(content(game)).or_insert(game.number()) {
            number if number == game.number() => expected.push(row(game)),
            _ => duplicates += 1,
        }
    }
    assert!(duplicates > 600 && expected.len() > 600, "{duplicates}");
    for (chunk_bytes, threads) in [(1 << 20, 1), (1 << 20, 3), (3000, 1), (3000, 4), (1, 2)] {
        let (kept, summary) = blocks(&text, chunk_bytes, threads, true);
        let rows: Vec<String> = kept.iter().flat_map(Block::games).map(row).collect();
        assert!(rows == expected, "{chunk_bytes} {threads}");
        assert_eq!((summary.totals.games(), summary.sources[0].duplicates), (2800, duplicates));
        for block in &kept {
            assert_eq!(replay::check_keys(block), Ok(()));
            assert_eq!(block.source_games().iter().map(|part| part.games).sum::<u32>(), block.games_read());
        }
    }
}

#[test]
fn duplicates_are_dropped_across_files_and_appends() {
    let folder = folder();
    let folder = folder.path();
    fs::write(folder.join("more.pgn"), games("b") + &games("more") + &games("a")).unwrap();
    let paths = ["a.pgn", "b.pgn", "c.pgn.zst", "more.pgn"];
    let index = |args: &[&str], paths: &[&str]| run(folder, 0, &[&["index", "-o"], args, paths].concat()).1;
    let stderr = index(&["once.reel", "--no-duplicates"], &paths);
    // Every fourth game is skipped for another reason, and must not count as a duplicate.
    assert!(stderr.contains("960 skipped: exact duplicate\n"), "{stderr}");
    for path in paths {
        index(&["grown.reel", "--no-duplicates", "--append", "--threads", "2"], &[path]);
    }
    index(&["late.reel"], &paths[..2]);
    index(&["late.reel", "--no-duplicates", "--append"], &paths[2..]);
    let once = hits(folder, "initial", &["once.reel"]);
    assert_eq!(once.lines().count(), 12);
    assert_eq!(hits(folder, "initial", &["grown.reel"]), once);
    assert!(hits(folder, "initial", &["late.reel"]).lines().count() == 12 + 3 * 299);
    for reel in ["once.reel", "grown.reel"] {
        let firsts =
            [(9, "1 of b.pgn"), (1209, "1 of c.pgn.zst"), (1285, "1 of b.pgn"), (1293, "1 of a.pgn")];
        for (game, first) in firsts {
            let stderr = run(folder, 2, &["show", reel, &game.to_string()]).1;
            let expected = format!("game {game} was skipped: exact duplicate of game {first}\n");
            assert!(stderr.ends_with(&expected), "{stderr}");
        }
        let info = info(folder, reel);
        let sources = info["sources"].as_array().unwrap().iter();
        let duplicates: Vec<u64> = sources.map(|source| source["duplicates"].as_u64().unwrap()).collect();
        assert_eq!(duplicates, [0, 3 * 299, 3 * 19, 6]);
        assert_eq!(info["games"]["all"], 4 * (1 + 300 + 20 + 3));
    }
}

#[test]
fn a_shown_duplicate_names_its_first() {
    let folder = folder();
    let folder = folder.path();
    run(folder, 0, &["index", "--no-duplicates", "b.pgn", "-o", "b.reel", "--problems", "problems.txt"]);
    let stderr = run(folder, 2, &["show", "b.reel", "8"]).1;
    assert!(stderr.contains("game 8 was skipped: exact duplicate of game 4 of b.pgn"), "{stderr}");
    let problems = fs::read_to_string(folder.join("problems.txt")).unwrap();
    assert!(problems.contains("b.pgn: game 8, byte "), "{problems}");
    assert_eq!(problems.lines().filter(|line| line.ends_with("(skipped)")).count(), 300 + 3 * 299);
    run(folder, 0, &["index", "b.reel", "-o", "again.reel"]);
    assert_eq!(info(folder, "again.reel")["sources"], info(folder, "b.reel")["sources"]);
}

/// The message about a duplicate must be the same in every reel (packed games), although game numbers over all sources differ
/// from reel to reel.
#[test]
fn what_a_duplicate_repeats_is_named_the_same_in_other_reels() {
    let folder = folder();
    let folder = folder.path();
    let index = |args: &[&str]| run(folder, 0, &[&["index", "-o"], args].concat());
    fs::write(folder.join("b.pgn"), games("b").repeat(2) + &games("x")).unwrap();
    fs::write(folder.join("d.pgn"), games("d") + &games("x")).unwrap();
    index(&["a.reel", "a.pgn"]);
    index(&["bd.reel", "--no-duplicates", "b.pgn", "d.pgn"]);
    index(&["both.reel", "a.reel", "bd.reel"]);
    index(&["grown.reel", "a.pgn"]);
    index(&["grown.reel", "--append", "bd.reel"]);
    let firsts = [(5, "1 of b.pgn"), (6, "2 of b.pgn"), (8, "4 of b.pgn"), (17, "9 of b.pgn")];
    for (reel, before) in [("bd.reel", 0), ("both.reel", 4), ("grown.reel", 4)] {
        for (number, first) in firsts {
            let stderr = run(folder, 2, &["show", reel, &(number + before).to_string()]).1;
            assert!(stderr.ends_with(&format!("exact duplicate of game {first}\n")), "{reel}: {stderr}");
        }
    }
    let list = ["scan", "-q", "--count", "initial", "--problems", "problems.txt", "a.reel", "bd.reel"];
    run(folder, 0, &list);
    let problems = fs::read_to_string(folder.join("problems.txt")).unwrap();
    let told: Vec<&str> = problems
        .lines()
        .filter_map(|line| line.split_once(": exact duplicate of game "))
        .map(|it| it.1)
        .collect();
    let of = |source: &str, numbers: &[u32]| -> Vec<String> {
        numbers.iter().map(|number| format!("{number} of {source} (skipped)")).collect()
    };
    assert_eq!(told, of("b.pgn", &[1, 2, 4, 9, 10, 12]), "{problems}");
}

fn one_game() -> BlockStream {
    BlockStream::from_pgn_bytes("games", b"1. e4 *".to_vec(), StreamOptions::default())
}

#[test]
fn duplicates_are_not_dropped_without_tags() {
    let orders: [fn() -> BlockStream; 3] = [
        || {
            let mut options = StreamOptions { unique: Some(Alike::Tags), ..StreamOptions::default() };
            options.parse.tags = false;
            BlockStream::from_pgn_bytes("games", Vec::new(), options)
        },
        || one_game().without_tags().without_duplicates(GameSet::default()),
        || one_game().without_duplicates(GameSet::default()).without_tags(),
    ];
    for order in orders {
        let payload = std::panic::catch_unwind(order).err().expect("it panics");
        // A panic payload is a `String` if its message has arguments, and otherwise a `&str`.
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let said = text.or(payload.downcast_ref::<&str>().copied()).expect("it says why");
        assert!(said.contains("finding duplicates needs the tags"), "{said}");
    }
}

#[test]
fn a_stream_that_begins_anew_drops_the_same_games() {
    let options = StreamOptions { unique: Some(Alike::Moves), ..StreamOptions::default() };
    let text = b"1. e4 *\n\n1. e4 *\n\n1. d4 *\n".to_vec();
    let stream = BlockStream::from_pgn_bytes("games", text, options);
    for stream in [stream.unread(), stream] {
        let summary = stream.for_each_block(1, |_| (), |_, ()| ControlFlow::Continue(())).unwrap();
        assert_eq!(summary.sources[0].duplicates, 1);
    }
}

#[test]
fn duplicates_of_the_corpus_are_those_that_a_comparison_finds() {
    let corpus = corpus();
    let text = String::from_utf8_lossy(&fs::read(corpus.join("otb.pgn")).unwrap()).into_owned();
    let (all, _) = blocks(&text, 1 << 20, 2, false);
    let mut first = HashMap::new();
    let games = all.iter().flat_map(Block::games);
    let duplicates = games.filter(|game| first.insert(content(*game), ()).is_some()).count();
    let (_, summary) = blocks(&text, 100_000, 2, true);
    assert!(duplicates > 0);
    assert_eq!(summary.sources[0].duplicates, duplicates as u64);
}

/// If only moves are compared, games with different tags can be duplicates. `pgn-extract -s -D` (19-04) keeps 11,233 of these
/// 11,372 games.
#[test]
fn games_with_the_moves_of_an_earlier_one_are_those_of_pgn_extract() {
    let text = String::from_utf8_lossy(&fs::read(corpus().join("otb.pgn")).unwrap()).into_owned();
    let (all, _) = blocks(&text, 1 << 20, 2, false);
    let moves =
        |game: GameRow<'_>| (game.start().board.planes, game.start().state.0, format!("{:?}", game.moves()));
    let mut first = HashMap::new();
    let mut kept: Vec<u32> = Vec::new();
    for game in all.iter().flat_map(Block::games) {
        if *first.entry(moves(game)).or_insert(game.number()) == game.number() {
            kept.push(game.number());
        }
    }
    for (chunk_bytes, threads) in [(1 << 20, 1), (30_000, 3)] {
        let (unique, summary) = blocks_without(&text, chunk_bytes, threads, Some(GameSet::new(Alike::Moves)));
        let numbers: Vec<u32> = unique.iter().flat_map(Block::games).map(|game| game.number()).collect();
        assert_eq!(numbers, kept);
        assert_eq!((numbers.len(), summary.sources[0].duplicates), (11_233, 139));
    }
}

/// The summary of a search contains the number of dropped duplicates. A reel built without the duplicates must give the same
/// results.
#[test]
fn a_search_leaves_out_games_that_an_earlier_one_equals() {
    let folder = folder();
    let folder = folder.path();
    let games = "[White \"A\"]\n\n1. e4 e5 1-0\n\n[White \"A.\"]\n\n1. e4 {x} e5 *\n\n[White \"A\"]\n\n1. e4 e5 1-0\n\n\
                 [White \"A\"]\n\n1. e4 c5 1-0\n\n";
    fs::write(folder.join("twice.pgn"), games).unwrap();
    let count = |args: &[&str]| {
        let all = [&["scan", "--count"][..], args, &["--no-reel", "initial", "twice.pgn"]].concat();
        let (stdout, stderr) = run(folder, 0, &all);
        (stdout.lines().next().unwrap().to_owned(), stderr)
    };
    for (args, games, line) in [
        (&[][..], "games hit 4", None),
        (&["--unique"], "games hit 3", Some("1 games were left out, which equal an earlier game")),
        (&["--unique=tags"], "games hit 3", Some("1 games were left out, which equal an earlier game")),
        (
            &["--unique=moves"],
            "games hit 2",
            Some("2 games were left out, which have the moves of an earlier game"),
        ),
    ] {
        let (found, stderr) = count(args);
        assert_eq!(found, games, "{args:?}");
        assert!(line.is_none_or(|line| stderr.lines().any(|said| said == line)), "{stderr}");
        assert!(line.is_some() || !stderr.contains("left out"), "{stderr}");
    }
    run(folder, 0, &["index", "--no-duplicates=moves", "twice.pgn", "-o", "once.reel"]);
    run(folder, 0, &["index", "--append", "--no-duplicates=moves", "twice.pgn", "-o", "once.reel"]);
    let (stdout, _) = run(folder, 0, &["scan", "--count", "-q", "initial", "once.reel"]);
    assert!(stdout.starts_with("games hit 2\n"));
}
