//! Tests the state that queries pass from filter to filter (strings, dictionaries, regular expression groups), and the errors
//! that end a run. The queries report their values with `message`.

use std::ops::ControlFlow;

use orbit_database::{BlockStream, StreamOptions};
use orbit_engine::Wants;
use orbit_search::{
    choice::Choice,
    executor::{EngineChoice, EngineOptions, Executor},
    found::{BlockResult, Names},
};

const GAMES: &str =
    "[White \"Réti\"]\n\n1. e4 (1. d4 Nf6) 1... c5 2. e5 d5 3. Ke2 *\n\n[White \"B\"]\n\n1. Nf3 *\n";

/// Returns the messages of a query, or the reason why it is rejected or fails.
fn told(text: &str) -> Result<Vec<String>, String> {
    let parsed = orbit_query::parse(text).map_err(|error| error.to_string())?;
    let mut options = StreamOptions::default();
    (options.parse.variations, options.parse.annotations) = (parsed.query.variations, true);
    let mut engine = EngineOptions::default();
    engine.engine = EngineChoice::Reference;
    let scan = Executor::with_query(parsed, &engine).map_err(|error| error.to_string())?;
    let mut out = Vec::new();
    scan.threads(1)
        .for_each_block(
            BlockStream::from_pgn_bytes("test", GAMES.as_bytes().to_vec(), options),
            &[Wants::COMMENTARY],
            &Choice::default(),
            &Names::default(),
            |found: BlockResult<'_>, _| found.answers,
            |_, answers| {
                let messages = answers.into_iter().filter_map(|answer| answer.commentary);
                out.extend(messages.flat_map(|told| told.messages));
                ControlFlow::Continue(())
            },
        )
        .map_err(|error| error.to_string())?;
    Ok(out.into_iter().map(|line| String::from_utf8_lossy(&line).into_owned()).collect())
}

/// Returns the message that a query writes at the first position of the first game.
fn first(before: &str, told_of: &str) -> String {
    let query = format!("if {{initial gamenumber==1}} {{{before} message quiet({told_of})}}");
    told(&query).unwrap_or_else(|error| panic!("{query}: {error}")).concat()
}

#[test]
fn strings_are_bytes() {
    for (before, of, due) in [
        ("ss=\"abcdef\"", "ss[-1] ss[0] ss[6] ss[-7]", "fa<false><false>"),
        (
            "ss=\"abcdef\"",
            "ss[1:3] \",\" ss[-2:] \",\" ss[:-4] \",\" ss[4:2] \",\" ss[2:99]",
            "bc,ef,ab,,cdef",
        ),
        ("ss=\"abcdef\" ss[-1]=\"XY\"", "ss", "abcdeXY"),
        ("ss=\"abcdef\" ss[4:2]=\"-\"", "ss", "abcd-ef"),
        ("", "#(player white) \" \" #\"é\"", "5 2"),
        (
            "",
            "int \"-12\" \" \" int \"1x\" \" \" int \"-\" \" \" int \"99999999999\"",
            "-12 <false> <false> <false>",
        ),
        ("", "ascii 65 ascii 0 ascii 256 ascii \"a\" ascii \"ab\"", "A<false><false>97<false>"),
        ("", "uppercase \"aéz\"", "AéZ"),
        ("", "indexof(\"c\" \"abc\") indexof(\"\" \"\") indexof(\"x\" \"abc\")", "20<false>"),
        ("", "max(\"b\" \"a\") min(\"b\" \"a\" \"ab\")", "ba"),
        (
            "",
            "a1 \" \" [a1,b2] \" \" [] \" \" (1/0) \" \" check \" \" initial",
            "a1 [a1,b2] [] <false> <false> <true>",
        ),
        ("", "\"b\">\"a\" \" \" \"a\">\"b\"", "b <false>"),
        ("", "typename e1 piecename e8 typename e4 typename [e1,e8]", "Kk_<false>"),
        ("yy=1 unbind yy", "yy isbound yy isunbound yy", "<unbound: yy><false><true>"),
        ("", "equal(1/0 1/0) equal(K e1) equal(\"a\" \"a\")", "<true><true><true>"),
    ] {
        assert_eq!(first(before, of), due, "{before} {of}");
    }
}

#[test]
fn regular_expressions_match_bytes_and_keep_groups() {
    for (before, of, due) in [
        ("\"xaab\" ~~ \"(a+)(b)\"", "\\0 \" \" \\1 \\2 \" \" \\-1 \\-2", "aab aab 13"),
        // The letter é is two bytes long.
        ("player white ~~ \"R(..)(t)\"", "#\\1 \\-2 \\1", "23é"),
        ("\"b\" ~~ \"(a)?b\"", "\\0 \\1", "b<false>"),
        ("\"abab\" ~~ \"(ab)\\1\"", "\\0", "abab"),
        ("\"ab\" ~~ \"a(?=b)\"", "\\0", "a"),
        ("nn=\"\" while (\"a1b22\" ~~ \"[0-9]+\") nn+=\\0+\"@\"+str(\\-0)+\" \"", "nn", "1@1 22@3 "),
        ("nn=0 while (\"abc\" ~~ \"x*\") nn+=1", "nn", "4"),
    ] {
        assert_eq!(first(before, of), due, "{before} {of}");
    }
}

#[test]
fn dictionaries_visit_their_keys_in_order() {
    for (before, of, due) in [
        ("dictionary D D[10]=1 D[-2]=2 D[9]=3 nn=\"\" x∊D {nn+=str(x \" \")}", "nn #D", "-2 9 10 3"),
        (
            "dictionary D D[\"b\"]=a1 D[\"B\"]=[] D[\"ab\"]=b2 nn=\"\" string x in D {nn+=x}",
            "nn D[\"B\"]",
            "Babb[]",
        ),
        ("dictionary D D[a1]=1 unbind D[a1]", "#D D[a1]", "0<false>"),
        ("dictionary D D[1]=2 D[1]=3 unbind D D[2]=4", "#D D[1] D[2]", "1<false>4"),
        // The loop does not visit keys that its body adds.
        ("local dictionary D D[1]=1 nn=0 if x∊D {D[x+1]=1 nn+=1 false} true", "nn #D", "12"),
        ("local dictionary D D[1]=currentposition", "D[1]", "move 1(wtm)"),
    ] {
        assert_eq!(first(before, of), due, "{before} {of}");
    }
}

#[test]
fn variables_live_for_a_game_and_persistent_ones_for_a_run() {
    let lines = |query: &str| told(query).unwrap().join(" ");
    assert_eq!(lines("if isunbound xx xx=0 xx+=1 if terminal message quiet(xx)"), "6 2");
    assert_eq!(lines("persistent quiet xx+=1 if terminal message quiet(xx)"), "6 8");
    assert_eq!(lines("dictionary D D[fen]=1 if terminal message quiet(#D)"), "6 7");
    assert_eq!(lines("local dictionary D D[fen]=1 if terminal message quiet(#D)"), "6 2");
}

#[test]
fn messages_name_games_and_positions() {
    assert_eq!(told("message(ply) terminal").unwrap().last().unwrap(), "Game: 2 move 1(btm): 1");
    let side = told("cql(variations) secondary message(currentposition)").unwrap();
    assert_eq!(side, ["Game: 1 move 1(btm)[6]: move 1(btm)[6]"]);
}

#[test]
fn fen_tells_rights_and_double_steps() {
    let fens = told("gamenumber==1 message quiet(fen)").unwrap();
    assert_eq!(
        fens,
        [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1",
            "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq c6 0 1",
            "rnbqkbnr/pp1ppppp/8/2p1P3/8/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
            "rnbqkbnr/pp2pppp/8/2ppP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 1",
            "rnbqkbnr/pp2pppp/8/2ppP3/8/8/PPPPKPPP/RNBQ1BNR b kq - 0 1",
        ]
    );
}

#[test]
fn what_goes_wrong_ends_the_run_and_names_what_did() {
    for (query, due) in [
        ("{if ply==2 xx=1} xx", "variable `xx` holds nothing"),
        ("{if initial xx=1} if ply==1 unbind xx xx", "variable `xx` holds nothing"),
        ("{if ply==9 piece X=e1} X", "variable `X` holds nothing"),
        ("assert ply<3", "an assertion fails"),
        ("if ply==2 cql_abort", "the query ends the run"),
        ("\"a\" ~~ \"b\" or \\0", "there is no group 0"),
        ("\"a\" ~~ \"a\" \\1", "there is no group 1 in the last match"),
        ("loop true", "`loop` does not end"),
        ("while (true) false", "`while` does not end"),
        ("ss=\"0123456789abcdef\" loop ss+=ss", "a string grows too long"),
    ] {
        let error = told(query).expect_err(query);
        assert!(error.contains(due), "{query}: {error}");
        assert!(error.starts_with("game 1"), "{query}: {error}");
    }
}
