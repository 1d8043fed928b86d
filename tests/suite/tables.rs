//! Runs the tables of the language on every runner (engine with options). Each row has a query, a position, a reading (the type
//! as which the answer is interpreted) and a value.

use std::collections::BTreeSet;
use std::sync::Arc;

use orbit_core::board::{Bitboard, Position, Square};
use orbit_engine::{Answer, Outcome};
use orbit_reel::Block;

use crate::{
    common::{block_of, block_of_games, data, game_with_tags, harness, pgn_blocks, position},
    runners::{ENGINES, Runner, print, reading},
};

/// A row: the query; the position, as a FEN or `startpos`; the reading (the type of the answer), which is `bool`, `set` or `num`;
/// and the value.
struct Row {
    line: usize,
    query: String,
    fen: String,
    reading: String,
    expected: String,
}

fn rows(name: &str) -> Vec<Row> {
    data(name)
        .lines()
        .zip(1..)
        .filter(|(text, _)| !text.starts_with("# "))
        .map(|(text, line)| {
            let columns: Vec<&str> = text.split('\t').collect();
            let &[query, fen, reading, expected, ..] = columns.as_slice() else {
                panic!("{name}, line {line}: {} columns", columns.len());
            };
            let [query, fen, reading, expected] = [query, fen, reading, expected].map(String::from);
            Row { line, query, fen, reading, expected }
        })
        .collect()
}

/// Returns the reason if a row of `vectors.tsv` is not tested, or if its answer is known to differ from the expected one.
fn exception(row: &Row) -> Option<&'static str> {
    match (row.query.as_str(), row.fen.as_str()) {
        ("legal --(castle)", "r3k2r/8/8/8/8/8/8/R3K2R w - - 0 1") => Some(
            "the peer derives castling from the moves played; the FEN grants no right, so nobody castles",
        ),
        ("legal --(enpassant)", "rnbqkbnr/ppp1pppp/8/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3") => {
            Some("the peer derives en passant from the moves played; the FEN names d6, so exd6 is legal")
        }
        _ => None,
    }
}

/// Returns the rows of a table as tests on each engine. For example, `017::cpu` is the row in line 17 on `cpu`.
fn on_engines(rows: Vec<Row>) -> Vec<harness::Row> {
    let rows: Vec<Arc<Row>> = rows.into_iter().map(Arc::new).collect();
    let of_engine = |engine: &'static str| {
        rows.iter().map(move |row| {
            let (name, row) = (format!("{:03}::{engine}", row.line), Arc::clone(row));
            harness::Row::new(name, move || check(&row, engine))
        })
    };
    ENGINES.into_iter().flat_map(of_engine).collect()
}

fn check(row: &Row, engine: &str) {
    let block = block_of(&[position(&row.fen)]);
    for runner in Runner::needed(engine, row.line) {
        let found = match runner.answers(&row.query, &block) {
            Ok(answers) => print(answers[0], &row.reading),
            Err(error) => format!("error: {error}"),
        };
        assert_eq!(found, row.expected, "{}: {} on {}", runner.name, row.query, row.fen);
    }
}

#[table]
fn vectors_of_the_language() -> Vec<harness::Row> {
    on_engines(rows("vectors.tsv").into_iter().filter(|row| exception(row).is_none()).collect())
}

#[table]
fn further_rows() -> Vec<harness::Row> {
    on_engines(rows("rows.tsv"))
}

#[test]
fn tables_have_their_rows() {
    let vectors = rows("vectors.tsv");
    let reasons: BTreeSet<&str> = vectors.iter().filter_map(exception).collect();
    assert_eq!((vectors.len(), reasons.len()), (420, 2), "rows, and those of them that are not run");
    assert!(rows("rows.tsv").len() >= 155);
}

/// In these two rows, the expected values in the table differ from those of `orbit`. The program that created the table uses the
/// moves that were played instead of the castling and en passant rights in the position.
#[test]
fn rights_come_from_the_position() {
    let castle = ("legal --(castle)", "r3k2r/8/8/8/8/8/8/R3K2R w - - 0 1");
    let en_passant = ("legal --(enpassant)", "rnbqkbnr/ppp1pppp/8/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3");
    for runner in Runner::all(0) {
        let answer = |(query, fen): (&str, &str)| runner.answers(query, &block_of(&[position(fen)]));
        assert_eq!(answer(castle), Ok(vec![Answer::Set(Bitboard::EMPTY)]), "{}", runner.name);
        assert_eq!(answer(en_passant), Ok(vec![Answer::Set(Square::D6.into())]), "{}", runner.name);
    }
}

/// Checks queries about a game's tags. Each row has a query and its value, printed according to its type.
fn check_facts(block: &Block, rows: &[(&str, &str)]) {
    for runner in Runner::all(1) {
        for &(query, expected) in rows {
            let answers = runner.answers(query, block).unwrap_or_else(|error| panic!("{query}: {error}"));
            let last = *answers.last().expect("a block has a slot");
            assert_eq!(print(last, reading(last)), expected, "{}: {query}", runner.name);
        }
    }
}

/// Queries are always in UTF-8, but tags may be in another encoding.
#[test]
fn texts_in_another_encoding() {
    let tags = [("White", ""), ("Black", "Müller"), ("Event", "")];
    let mut game = game_with_tags(Position::STANDARD, &tags, Outcome::Unknown);
    game.tags[0].value = b"M\xfcller,A \x96".to_vec();
    // The value contains the bytes of an é and a byte that is invalid in UTF-8.
    game.tags[2].value = b"\xff caf\xc3\xa9".to_vec();
    let block = block_of_games(vec![game]);
    check_facts(
        &block,
        &[
            ("player white \"Müller\"", "T"),
            ("player \"Müller,A –\"", "T"),
            ("player white == \"Müller, A –\"", "T"),
            ("player white != \"Müller, A –\"", "F"),
            ("player white > \"Mz\"", "T"),
            ("\"–\" in tag \"White\"", "T"),
            ("{x={player white} x==\"Müller, A –\"}", "T"),
            ("{x={player white} \"ü\" in x}", "T"),
            // A string is normalised like a name only if it is compared directly with the name itself.
            ("{x={player white} x==\"Müller,A –\"}", "F"),
            ("{if true player white else player black}==\"Müller,A –\"", "F"),
            ("{true player white}==\"Müller,A –\"", "T"),
            ("player white \"Möller\"", "F"),
            ("player black == \"Müller\"", "T"),
            ("player black \"Ã\"", "F"),
            ("event \"café\"", "T"),
            ("event \"ÿ cafÃ©\"", "T"),
            ("event == \"ÿ café\"", "F"),
        ],
    );
    // The query builds this string from a name and an exclamation mark.
    let made = "{x={player white} x+=\"!\" x==\"Müller, A –!\" \"ü\" in x}";
    for runner in Runner::all(2).iter().filter(|runner| !runner.refuses(made)) {
        assert_eq!(runner.answers(made, &block), Ok(vec![Answer::Bool(true)]), "{}", runner.name);
    }
    let equal = "{x={player white} equal(x \"Müller, A –\")}";
    for runner in Runner::all(2).iter().filter(|runner| !runner.refuses(equal)) {
        assert_eq!(runner.answers(equal, &block), Ok(vec![Answer::Bool(true)]), "{}", runner.name);
    }
}

#[test]
fn facts_of_a_game() {
    let tags = [
        ("White", "Karpov, A"),
        ("WhiteElo", "1500"),
        ("Black", "Fischer, R"),
        ("BlackElo", "2100?"),
        ("Date", "1970.??.??"),
        ("Result", "1-0"),
    ];
    let start = Position::STANDARD;
    let game = game_with_tags(start, &tags, Outcome::BlackWins);
    // The block (group of games) has two other games before the tested game, so reading a tag of the wrong game makes the test
    // fail.
    let other = game_with_tags(start, &[("White", "Tal, M"), ("WhiteElo", "2900")], Outcome::WhiteWins);
    let block = block_of_games(vec![other.clone(), other, game]);
    check_facts(
        &block,
        &[
            ("result 1-0", "F"),
            ("result 0-1", "T"),
            ("flipcolor result 1-0", "T"),
            ("reversecolor result 0-1", "F"),
            ("flipcolor result 1/2-1/2", "F"),
            ("elo", "2100"),
            ("elo white", "1500"),
            ("flipcolor elo white", "2100"),
            ("reversecolor elo white", "2100"),
            ("flipcolor player white \"Fischer\"", "T"),
            ("player white \"Fischer\"", "F"),
            ("player \"Fischer\"", "T"),
            ("player \"fischer\"", "F"),
            ("flipcolor {tag \"White\" == \"Fischer, R\"}", "T"),
            ("reversecolor player \"Fischer\"", "T"),
            ("player == \"Karpov, A\"", "F"),
            ("year", "1970"),
            ("gamenumber", "3"),
            ("tag \"Annotator\"", "F"),
            ("tag \"Annotator\" != \"me\"", "T"),
            ("tag \"Annotator\" == \"me\"", "F"),
            ("flipcolor count elo white > 2000", "1"),
        ],
    );
    let nameless = [("WhiteElo", "0"), ("BlackElo", "?"), ("Date", "19.??.??")];
    let block = block_of_games(vec![game_with_tags(start, &nameless, Outcome::Unknown)]);
    check_facts(&block, &["elo", "elo white", "elo black", "year"].map(|query| (query, "nomatch")));
    let queries = ["result 1-0", "result 0-1", "result 1/2-1/2", "eco", "eco \"\"", "player \"a\""];
    check_facts(&block, &queries.map(|query| (query, "F")));
    // A missing player name is read as `?`.
    let queries = ["player white", "player", "player white \"\"", "player white == \"?\""];
    check_facts(&block, &queries.map(|query| (query, "T")));
}

/// Checks blocks whose last slot (position) is just before, at or just after the end of a segment (32 positions) or batch.
#[test]
fn every_slot_is_answered() {
    for slots in [1, 31, 32, 33, 63, 64, 255, 256, 257, 300] {
        let block = block_of(&vec![Position::STANDARD; slots]);
        for runner in Runner::engines() {
            let answers = runner.answers("#P", &block).unwrap();
            assert_eq!(answers, vec![Answer::Num(Some(8)); slots], "{}", runner.name);
            let query = orbit_query::parse("Ra1").unwrap().query;
            let engine = runner.engine(&query).unwrap();
            let answers = engine.answer(&block, orbit_engine::Wants::COPY_COUNTS).unwrap();
            assert_eq!(answers.hits.count(), slots as u64, "{}: {slots} slots", runner.name);
            assert_eq!(answers.copies.unwrap().sums(), [slots as u64], "{}: {slots} slots", runner.name);
        }
    }
}

/// The expected starts and ends of games are computed from the slots (positions) of the block's games, not by an engine.
#[test]
fn initial_and_terminal_are_the_ends_of_games() {
    let text: String = (0..200)
        .map(|k| {
            format!("[Event \"{k}\"]\n\n{}*\n\n", ["", "1. e4 ", "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 "][k % 3])
        })
        .collect();
    for block in pgn_blocks(&text) {
        for runner in Runner::engines() {
            for (query, end) in [("initial", false), ("terminal", true), ("ply == 0", false)] {
                let found: Vec<usize> = runner
                    .answers(query, &block)
                    .unwrap()
                    .iter()
                    .enumerate()
                    .filter_map(|(slot, answer)| answer.is_hit().then_some(slot))
                    .collect();
                let expected: Vec<usize> = block
                    .games()
                    .map(|game| if end { game.end_slot() - 1 } else { game.first_slot() })
                    .collect();
                assert_eq!(found, expected, "{}: {query}", runner.name);
            }
        }
    }
}
