//! Tests `orbit scan --board` and `orbit explain --board`. The hits must equal those of the query to which the board is
//! converted.

use super::{orbit, refused, stdout, text};

const SAMPLE: &str = "games/sample.pgn";

fn hits(args: &[&str]) -> String {
    stdout(&[&["scan", "-q", "--format", "values"], args, &[SAMPLE]].concat(), None)
}

#[test]
fn a_board_finds_what_the_query_by_hand_finds() {
    let knight = "8/8/8/8/3N4/5k2/8/8";
    let castled = "8/8/8/8/8/8/5PPP/5RK1";
    let empty = "8/8/8/8/8/8/_?_5/R3K3";
    let any = "8/8/8/8/8/8/5P1a/6KA";
    for (args, query) in [
        (&["--board", castled][..], "{Rf1 Kg1 Pf2 Pg2 Ph2}"),
        (&["--board", "8/8/8/8/8/8/8/7K"], "Kh1"),
        (&["--board", &format!("{castled} w")], "{wtm Rf1 Kg1 Pf2 Pg2 Ph2}"),
        (&["--board", &format!("{castled} b - - 0 1")], "{btm Rf1 Kg1 Pf2 Pg2 Ph2}"),
        (&["--board", castled, "--flipcolor"], "flipcolor {Rf1 Kg1 Pf2 Pg2 Ph2}"),
        (&["--board", &format!("{castled} w"), "--flipcolor"], "flipcolor {wtm Rf1 Kg1 Pf2 Pg2 Ph2}"),
        (&["--board", castled, "--reversecolor"], "reversecolor {Rf1 Kg1 Pf2 Pg2 Ph2}"),
        (&["--board", castled, "--flipvertical"], "flipvertical {Rf1 Kg1 Pf2 Pg2 Ph2}"),
        (&["--board", castled, "--fliphorizontal"], "fliphorizontal {Rf1 Kg1 Pf2 Pg2 Ph2}"),
        (&["--board", castled, "--shifthorizontal"], "shifthorizontal {Rf1 Kg1 Pf2 Pg2 Ph2}"),
        (
            &["--board", castled, "--shiftvertical", "--flipcolor"],
            "shiftvertical flipcolor {Rf1 Kg1 Pf2 Pg2 Ph2}",
        ),
        (&["--board", knight, "--shift", "--flip", "--flipcolor"], "shift flip flipcolor {kf3 Nd4}"),
        (&["--board", knight, "--shift", "--flipdihedral"], "shift flip {kf3 Nd4}"),
        (&["--board", knight, "--rotate90"], "rotate90 {kf3 Nd4}"),
        (&["--board", empty], "{Ra1 Ke1 _a2 _c2}"),
        (&["--board", any, "--flipcolor"], "flipcolor {Kg1 Ah1 Pf2 ah2}"),
    ] {
        let board = hits(args);
        assert_eq!(board, hits(&[query]), "{args:?}");
        assert!(!board.is_empty(), "{args:?} hits nothing, which shows nothing");
        let explained = stdout(&[&["explain", "--copies", "0"], args].concat(), None);
        let shown = explained.lines().find(|line| line.starts_with("query "));
        assert_eq!(shown, Some(&*format!("query   {query}")), "{args:?}");
    }
}

#[test]
fn every_piece_must_be_there() {
    // A single designator with all these squares would match if a pawn were on any one of them.
    let pawns = hits(&["--board", "8/8/8/8/8/8/PPP5/8"]);
    assert_ne!(pawns, hits(&["P[a2,b2,c2]"]));
    assert_eq!(pawns, hits(&["{Pa2 Pb2 Pc2}"]));
}

#[test(part = 1)]
fn options_of_scans_work_with_boards() {
    let board = "8/8/8/8/3N4/5k2/8/8";
    let flags = ["--shift", "--flip", "--flipcolor"];
    let run =
        |more: &[&str]| stdout(&[&["scan", "--board", board], &flags[..], more, &[SAMPLE]].concat(), None);
    let by_hand = |more: &[&str]| {
        stdout(&[&["scan", "shift flip flipcolor {kf3 Nd4}"], more, &[SAMPLE]].concat(), None)
    };
    for more in
        [&["--count"][..], &["--limit", "3"], &["--copies=4"], &["--engine", "reference", "--limit", "2"]]
    {
        assert_eq!(run(more), by_hand(more), "{more:?}");
    }
    let out = orbit(&["scan", "--board", board, "--flip", "--fail-if-none", "-q", SAMPLE], None);
    assert!(matches!(out.status.code(), Some(0 | 1)));
    let sample = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/games/sample.pgn")).unwrap();
    let piped = stdout(&["scan", "--board", board, "--shift", "--count", "-"], Some(&sample));
    assert_eq!(piped, stdout(&["scan", "shift {kf3 Nd4}", "--count", SAMPLE], None));
}

#[test]
fn what_is_wrong_is_said_with_caret_and_remedy() {
    for (args, parts) in [
        (&["scan", "--board", "8/8/8/8/8/8/8/7x", SAMPLE][..], &["--> --board:1:16", "`x` is no piece"][..]),
        (&["scan", "--board", "8/8/8/8/8/8/8/8", SAMPLE], &["demands nothing", "^^^", "expected a piece"]),
        (&["scan", "--board", "8/8/8/8/8/8/R6/8", SAMPLE], &["rank 2 has 7 squares"]),
        (
            &["scan", "--board", "8/8/8/8/8/8/R7/8", "Kh1", SAMPLE],
            &["with --board every argument is a path", "Ra2"],
        ),
        (&["scan", "--board", "8/8/8/8/8/8/R7/8"], &["there are no games to search"]),
        (&["scan", "--flip", "Ra1", SAMPLE], &["--board <FEN>"]),
        (&["scan", "--board", "8/8/8/8/8/8/R7/8", "-f", "Cargo.toml", SAMPLE], &["cannot be used with"]),
        (
            &["scan", "--board", "8/8/8/8/8/8/R7/8", "--queries", "Cargo.toml", SAMPLE],
            &["cannot be used with"],
        ),
        (&["explain", "--board", "8/8/8/8/8/8/R7/8", "Ra1"], &["cannot be used with"]),
        (&["explain", "--board", "Ra1"], &["--> --board:1:1", "rank 8 has 3 squares"]),
    ] {
        refused(args, parts);
    }
    let out = orbit(&["scan", "--board", "8/8/8/8/8/8/8/7K w KQ - 0 1", "--count", SAMPLE], None);
    assert!(text(&out.stderr).contains("note: these fields have no effect"), "{}", text(&out.stderr));
}
