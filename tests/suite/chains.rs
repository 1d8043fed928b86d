//! Tests lines, paths and played moves in cases that the tables of CQL 6.2 results hardly cover: limits, castling in Chess960,
//! null moves, and hit comments.

use orbit_database::StreamOptions;
use orbit_engine::{Answer, Answers, Engine, EngineError, PreparedQuery, Wants, reference::Bulk};
use orbit_plan::PlanOptions;

use crate::common::pgn_blocks_with;

/// Returns a game of `plies` half-moves in which knights move back and forth.
fn long_game(plies: usize) -> String {
    let moves = ["Nf3", "Nf6", "Ng1", "Ng8"];
    (0..plies).map(|ply| moves[ply % 4]).collect::<Vec<_>>().join(" ") + " *\n"
}

const SIDE_LINES: &str = "1. e4 e5 (1... c5 2. Nf3 (2. Nc3 Nc6 3. f4) 2... d6) 2. Nf3 Nc6 *\n";

fn asked(text: &str, pgn: &str, outputs: Wants) -> Result<Answers, EngineError> {
    let query = orbit_query::parse(text).unwrap_or_else(|error| panic!("{text}: {}", error.message)).query;
    let mut options = StreamOptions::default();
    (options.parse.variations, options.parse.annotations) = (query.variations, true);
    let blocks = pgn_blocks_with(pgn, options);
    Bulk::new([&query]).unwrap_or_else(|error| panic!("{text}: {error}")).answer(&blocks[0], outputs)
}

/// Returns the nodes (position numbers) at which a query has a value, with that value.
fn values(text: &str, pgn: &str) -> Vec<(usize, i32)> {
    let hits = asked(text, pgn, Wants::VALUES).unwrap_or_else(|error| panic!("{text}: {error}")).hits;
    let value = |slot: usize| match hits.answer(slot) {
        Answer::Num(value) => value.expect("it is a hit"),
        Answer::Set(squares) => squares.0.trailing_zeros() as i32,
        Answer::Bool(_) => 1,
    };
    (0..32 * hits.bits.len()).filter(|&slot| hits.contains(slot)).map(|slot| (slot, value(slot))).collect()
}

/// Returns the comments in the first game, each after its position number.
fn comments(text: &str, pgn: &str) -> Vec<String> {
    let answers = asked(text, pgn, Wants::COMMENTARY).unwrap_or_else(|error| panic!("{text}: {error}"));
    let commentary = answers.commentary.expect("it was asked for");
    let of_game = &commentary.games[0];
    of_game.comments.iter().map(|(at, text)| format!("{at} {}", String::from_utf8_lossy(text))).collect()
}

/// Returns the message of the error that a query causes.
fn fault(text: &str, pgn: &str) -> String {
    match asked(text, pgn, Wants::VALUES) {
        Err(EngineError::Query { diagnostic, .. }) => diagnostic.message,
        Err(error) => panic!("{text}: {error}"),
        Ok(_) => panic!("{text} has no fault"),
    }
}

/// The search for a `line` tries each pair of a position and a place in the compiled `line` only once. Trying every way through
/// nested repetitions would exceed the step limit.
#[test]
fn nested_repeats_take_no_longer_than_their_places() {
    let game = long_game(400);
    for (text, value) in [
        ("line --> (true* --> true*){3}", 401),
        ("line --> (true* --> true* --> true*){12}", 401),
        ("line --> ((true* --> true*)+ --> true*){4}", 401),
        ("path (-- * -- *){3}", 400),
        ("path focus A (-- * -- *){3}", 200),
    ] {
        assert_eq!(values(&format!("initial {text}"), &game), [(0, value)], "{text}");
    }
}

#[test]
fn long_games_are_searched() {
    let game = format!("{{{}}} {}", "x".repeat(1_000_001), long_game(60_000));
    assert_eq!(values("terminal {find <-- all true}", &game), [(60_000, 60_001)]);
}

#[test]
fn chains_that_keep_state_are_searched_up_to_a_limit() {
    let chain = "line --> ({xx=ply true}* --> {xx=ply true}*){3}";
    assert_eq!(values(&format!("initial {chain}"), &long_game(6)), [(0, 7)]);
    let message = fault(&format!("initial {chain}"), &long_game(400));
    assert_eq!(message, "this `line` has more than 2000000 ways to be tried in game 1");
    let message = fault("initial path ({atomic xx=ply} -- * -- *){4}", &long_game(400));
    assert_eq!(message, "this `path` has more than 2000000 ways to be tried in game 1");
    let message = fault("line --> (true{300}){300}", &long_game(400));
    assert_eq!(message, "counted repeats lead to more than 20000 constituents");
}

#[test]
fn castling_of_chess960_is_a_move_of_the_king() {
    let game = "[Variant \"Chess960\"]\n[FEN \"5k2/8/8/8/8/8/8/RK4R1 w GA - 0 1\"]\n[SetUp \"1\"]\n\n1. O-O-O Ke8 *\n";
    for (text, due) in [
        ("K--c1", vec![(0, 1)]),
        ("--(castle)", vec![]),
        ("R--", vec![]),
        ("b1--(#from)", vec![(0, 1)]),
        // The move is castling, so the rook on a1 has also moved.
        ("initial piece X=Ra1 child:X", vec![(0, 3)]),
    ] {
        assert_eq!(values(text, game), due, "{text}");
    }
}

#[test]
fn null_moves_belong_to_the_king() {
    let game = "1. -- e5 2. Nf3 *\n";
    for (text, due) in [
        ("K--e1(nullmove)", vec![(0, 1)]),
        ("[x]", vec![]),
        ("path focus K --", vec![(0, 1)]),
        ("path focus N --", vec![(2, 1)]),
        ("line --> move null --> true", vec![(0, 2)]),
    ] {
        assert_eq!(values(text, game), due, "{text}");
    }
}

#[test]
fn what_from_and_to_name_is_the_part_that_the_nearest_dash_selects() {
    let game = "1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. O-O O-O *\n";
    let (f1, h1, g1) = (5, 7, 6);
    for (text, due) in [
        ("R--(from)", vec![(6, h1)]),
        ("wtm K--(to)", vec![(6, g1)]),
        // Castling moves the king and the rook. In the parentheses of a dash filter (`L--R`), `from` and `to` mean the squares of
        // the piece that the filter selects, and at any other position the squares of both pieces. A dash filter inside the
        // parentheses does not change this, and each move of a path selects its own piece.
        ("wtm R--(currentposition:(from & e1))", vec![(6, 4)]),
        ("wtm R--({--(castle)} to & g1)", vec![]),
        ("wtm R--({--(castle)} to)", vec![(6, f1)]),
        ("wtm path R-- from==h1", vec![(6, 1)]),
        ("wtm path K-- from==h1", vec![]),
        ("initial path -- + R-- to==f1", vec![(0, 7)]),
    ] {
        assert_eq!(values(text, game), due, "{text}");
    }
}

#[test]
fn each_copy_bans_its_own_starts() {
    // The pattern for White excludes positions 2 to 4 as starts. The pattern for Black can still start at 3.
    let found = values("flipcolor line nestban --> {wtm Nf3} --> true --> true", &long_game(5));
    assert_eq!(found, [(2, 3), (3, 3)]);
}

#[test]
fn comments_of_branches_that_lose_are_dropped() {
    let line = "cql(quiet variations) initial line --> {comment(ply)}* --> {nc6 comment(\"end\")}";
    assert_eq!(comments(line, SIDE_LINES), ["0 0", "1 1", "5 2", "8 3", "9 4", "10 end"]);
    let path = "cql(quiet variations) initial path {comment(ply)} -- * -- {nc6 comment(\"end\")}";
    assert_eq!(comments(path, SIDE_LINES), ["0 0", "10 end"]);
}

#[test]
fn ends_of_lines_and_paths_name_each_other() {
    let game = "1. e4 e5 *\n";
    assert_eq!(
        comments("cql(matchstring \"\") initial path -- --", game),
        ["2 End path of length 2 that starts at move 1(wtm)", "0 Start path that ends at move 2(wtm)",]
    );
    assert_eq!(
        comments("cql(matchstring \"\") initial line --> true --> btm", game),
        ["1 End line of length 2 that starts at move 1(wtm)", "0 Start line that ends at move 1(btm)",]
    );
    let asked = "cql(quiet) initial path title \"T\" verbose -- -- comment(\"x\")";
    assert_eq!(comments(asked, game), ["2 x", "0 T", "1 T: move 1 of 2", "2 T: move 2 of 2"]);
}

#[test]
fn the_squares_of_pieces_in_focus_are_named() {
    let game = "1. Nf3 d5 2. Nd4 e6 3. Nb5 d4 4. Nxd4 *\n";
    let found = comments("cql(quiet) initial path focus Ng1|pd7 piecepath -- +", game);
    assert_eq!(found, ["0 Focus path: Ng1-f3-d4-b5-d4 pd7-d5-d4(xd4)"]);
}

/// The last constituent of a `line` may test a move over which the `line` must not continue.
#[test]
fn a_line_of_side_lines_may_end_with_a_test_of_a_main_move() {
    let mut options = StreamOptions::default();
    options.parse.variations = true;
    let block = &pgn_blocks_with(SIDE_LINES, options)[0];
    for (text, hits) in [
        ("cql(variations) line secondary --> true --> move primary", 2),
        ("cql(variations) line secondary --> true --> move from [NP]", 1),
        ("cql(variations) line secondary --> move primary", 8),
        ("cql(variations) line primary --> true --> move secondary", 1),
        ("cql(variations) line primary --> true --> move primary", 5),
    ] {
        let query = orbit_query::parse(text).unwrap().query;
        let prepared = PreparedQuery::new(query, PlanOptions::default()).unwrap();
        let (reference, cpu) = (prepared.reference().unwrap(), prepared.cpu().unwrap());
        let [due, found] =
            [&reference as &dyn Engine, &cpu].map(|it| it.answer(block, Wants::VALUES).unwrap().hits);
        assert_eq!((found.bits, found.values), (due.bits.clone(), due.values.clone()), "{text}");
        assert_eq!(due.count(), hits, "{text}");
    }
}
