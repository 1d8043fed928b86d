//! Tests the command `orbit transform` end to end.

use super::{orbit, refused, stdout, text};

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

#[test]
fn positions_from_arguments_and_from_standard_input() {
    let fens = ["4k3/8/8/8/8/8/P7/R3K3 w Q - 0 1", "8/8/8/8/8/8/8/K6k b - - 3 40"];
    let expected = "3k3r/7p/8/8/8/8/8/3K4 b k - 0 1\nK6k/8/8/8/8/8/8/8 w - - 3 40\n";
    let names = "flip-files,flip-colors";
    assert_eq!(stdout(&["transform", names, fens[0], fens[1]], None), expected);
    let lines = fens.join("\r\n\n  \n") + "\n";
    let out = orbit(&["transform", names], Some(lines.as_bytes()));
    assert_eq!(text(&out.stdout), expected);
    assert!(text(&out.stderr).starts_with("2 positions, 0 wrong lines; "), "{}", text(&out.stderr));
    let out = orbit(&["transform", "-q", names, "-"], Some(lines.trim_end().as_bytes()));
    assert_eq!((text(&out.stdout), text(&out.stderr)), (expected.into(), String::new()));
}

#[test]
fn the_names_of_cql_and_chessops_are_opposite_and_one_warning_says_so() {
    let fen = "8/8/8/8/8/8/8/K7 w - - 0 1";
    for (name, image, label) in [
        ("flip-ranks", "K7/8/8/8/8/8/8/8 w - - 0 1\n", ""),
        ("flip-vertical", "K7/8/8/8/8/8/8/8 w - - 0 1\n", "taken as in chessops: it reflects ranks, 1 <-> 8"),
        ("flipVertical", "K7/8/8/8/8/8/8/8 w - - 0 1\n", "taken as in chessops: it reflects ranks, 1 <-> 8"),
        ("flipvertical", "8/8/8/8/8/8/8/7K w - - 0 1\n", "taken as in CQL: it reflects files, a <-> h"),
        ("fliphorizontal", "K7/8/8/8/8/8/8/8 w - - 0 1\n", "taken as in CQL: it reflects ranks, 1 <-> 8"),
    ] {
        let out = orbit(&["transform", name, fen, fen], None);
        assert_eq!(text(&out.stdout), image.repeat(2), "{name}");
        let message = text(&out.stderr);
        assert_eq!(message.matches("warning").count(), usize::from(!label.is_empty()), "{message}");
        assert!(message.contains(label), "{message}");
    }
    let out = orbit(&["transform", "flipvertical,flipVertical,flip-horizontal", fen], None);
    assert_eq!(text(&out.stderr).matches("warning").count(), 1, "once");
}

#[test]
fn sets_of_squares() {
    for (args, expected) in [
        (&["rotate90", "--squares", "a1,b3"][..], "[h1,f2]\n"),
        (&["shift:1:0", "--squares", "[a-h2,c4,h5]"], "[a2,b2,c2,d2,e2,f2,g2,h2,d4]\n"),
        (&["--cql5", "shift:2:1", "--squares", "a3,c4"], "[a4,b4,c4,e5]\n"),
        (&["smear:-1:0", "--squares", "c2,h8"], "[b2,g8,h8]\n"),
        (&["shiftLeft", "--squares", "a4"], "h4\n"),
        (&["shift:7:7", "--squares", "b2"], "[]\n"),
        (&["flip-colors", "--squares", "a1"], "a8\n"),
    ] {
        let args: Vec<&str> = [&["transform"], args].concat();
        assert_eq!(stdout(&args, None), expected, "{args:?}");
    }
    let drawn = stdout(&["transform", "flip-files", "--squares", "a1,b2", "--show"], None);
    assert!(drawn.ends_with(". . . . . . 1 .\n. . . . . . . 1\n[h1,g2]\n"), "{drawn}");
}

#[test]
fn canonical_forms_and_symmetries() {
    let fens = "8/8/8/8/8/k7/8/QN6 w - - 0 1\n8/8/8/8/8/8/7N/5k1Q w - - 0 1\n2K5/8/8/8/8/8/n7/q7 b - - 0 1\n";
    let forms = stdout(&["transform", "--canonical", "dihedral", "-q"], Some(fens.as_bytes()));
    let forms: Vec<&str> = forms.lines().collect();
    assert_eq!(forms[0], forms[1]);
    let forms = stdout(&["transform", "--canonical", "all", "-q"], Some(fens.as_bytes()));
    let forms: Vec<&str> = forms.lines().collect();
    assert_eq!(forms[0], forms[1]);
    assert!(forms.iter().all(|form| form.ends_with(" w - - 0 1")), "{forms:?}");
    let colors = stdout(&["transform", "--canonical", "colour", "4k3/8/8/8/8/8/8/4K2r b - - 0 1"], None);
    assert_eq!(colors, "4k2R/8/8/8/8/8/8/4K3 w - - 0 1\n");
    let own = stdout(&["transform", "--symmetries", START], None);
    assert_eq!(own, format!("{START}\tidentity flip-colors\n"));
    let own = stdout(&["transform", "--symmetries=dihedral", START], None);
    assert_eq!(own, format!("{START}\tidentity\n"));
}

#[test]
fn boards_are_drawn() {
    let drawn = stdout(&["transform", "flip-colors", "--show", "8/8/8/8/8/8/8/KQ5r w - - 0 1"], None);
    let empty = ". . . . . . . .\n".repeat(7);
    assert_eq!(drawn, format!("k q . . . . . R\n{empty}Black to move\nkq5R/8/8/8/8/8/8/8 b - - 0 1\n"));
}

#[test]
fn rights_are_kept_told_or_dropped() {
    let fen = "1r2k1r1/8/8/8/8/8/8/1R2K1R1 w GBgb - 0 1";
    let out = orbit(&["transform", "flip-diagonal", fen], None);
    assert_eq!(text(&out.stdout), "8/R6r/8/K6k/8/8/R6r/8 w - - 0 1\n");
    assert!(text(&out.stderr).contains("note: 1 position lost castling rights"), "{}", text(&out.stderr));
    let turned = stdout(&["transform", "rotate180", START], None);
    assert_eq!(turned, "RNBKQBNR/PPPPPPPP/8/8/8/8/pppppppp/rnbkqbnr w HAha - 0 1\n");
    let legal = stdout(&["transform", "--legal", "rotate180", START], None);
    assert_eq!(legal, "RNBKQBNR/PPPPPPPP/8/8/8/8/pppppppp/rnbkqbnr w - - 0 1\n");
    let out = orbit(&["transform", "flip-files", "8/8/8/8/8/8/8/K6k w - - bm Kb2;"], None);
    assert_eq!(text(&out.stdout), "8/8/8/8/8/8/8/k6K w - - bm Kb2;\n");
    assert!(text(&out.stderr).contains("moves and squares in them were not transformed"));
}

#[test]
fn wrong_lines_are_placed_and_counted_and_do_not_stop_the_rest() {
    let lines = format!("{START}\n8/8/8/7/8/8/8/8 w - - 0 1\nrubbish\n\n{START} x\n{START}");
    let out = orbit(&["transform", "identity"], Some(lines.as_bytes()));
    assert_eq!(out.status.code(), Some(0));
    assert_eq!(text(&out.stdout).lines().count(), 3, "{}", text(&out.stdout));
    let message = text(&out.stderr);
    for part in [
        "error: rank 5 has 7 squares\n --> standard input:2:7\n",
        "error: `u` is no piece\n --> standard input:3:2\n",
        "3 positions, 2 wrong lines; ",
    ] {
        assert!(message.contains(part), "{part}\n{message}");
    }
    let many = "x\n".repeat(50);
    let listed = |args: &[&str]| text(&orbit(args, Some(many.as_bytes())).stderr);
    let message = listed(&["transform", "identity"]);
    assert_eq!(message.matches("error: ").count(), 20);
    assert!(message.contains("30 more wrong lines are not listed: -v lists all"), "{message}");
    assert_eq!(listed(&["transform", "identity", "-v"]).matches("error: ").count(), 50);
}

#[test]
fn long_lines_and_lines_across_reads() {
    let mut input = format!("{START}\n{}\n{START}\n", "p".repeat(1 << 20)).into_bytes();
    input.extend(format!("{START}\n").repeat(20_000).into_bytes());
    let out = orbit(&["transform", "flip-colors"], Some(&input));
    let expected = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1\n".repeat(20_002);
    assert!(text(&out.stdout) == expected);
    let message = text(&out.stderr);
    assert!(message.contains("error: line 2 has 262144 bytes or more"), "{message}");
    assert!(message.contains("20,002 positions, 1 wrong lines"), "{message}");
}

#[test]
fn wrong_arguments_are_refused_with_a_remedy() {
    // The invalid character may be more than one byte long.
    for fen in ["8/8/8/8/8/8/8/8 w é", "8/8/8/8/8/8/8/8[é]", "8/8/8/8/8/8/8/8 w Ké - 0 1"] {
        refused(&["transform", "flip-ranks", fen], &["error: ", "é"]);
    }
    for squares in ["K", "a", "[R]a1"] {
        refused(&["transform", "flip-ranks", "--squares", squares], &["this is no list of squares"]);
    }
    refused(&["transform", "flip", START], &["--> transform:1:1", "choose one"]);
    refused(
        &["transform", "flip-ranks,rotat90", START],
        &["--> transform:1:12", "there is no transform `rotat90`"],
    );
    refused(&["transform", "shift-left", START], &["`shift:-1:0`", "`wrap-left`"]);
    refused(&["transform", START], &["the transform is missing"]);
    refused(&["transform"], &["the transform is missing"]);
    refused(&["transform", "flip-ranks", "8/8/8/8/8/8/8/K6x w"], &["--> FEN:1:17", "`x` is no piece"]);
    refused(&["transform", "flip-ranks", "8/8/8/8/8/8/8/K6k", "w"], &["put quotes around it"]);
    refused(&["transform", "flip-ranks", "Cargo.toml"], &["write `< Cargo.toml`"]);
    refused(&["transform", "smear:1:0", START], &["does not apply to positions", "--squares"]);
    refused(&["transform", "--cql5", "shift:1:0", START], &["does not apply to positions"]);
    refused(&["transform", "normalize-chess960", "--squares", "a1"], &["does not apply to a set of squares"]);
    refused(&["transform", "flip-ranks", "--squares", "a9"], &["--squares:1:"]);
    refused(&["transform", "flip-ranks", "--squares", "a1", START], &["--squares takes no positions"]);
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_is_success() {
    let script = format!(
        "{{ yes '{START}' | '{}' transform flip-ranks; echo code $? >&2; }} | head -n 1",
        env!("CARGO_BIN_EXE_orbit")
    );
    let out = std::process::Command::new("bash").args(["-c", &script]).output().unwrap();
    assert_eq!(text(&out.stderr), "code 0\n");
    assert_eq!(text(&out.stdout).lines().count(), 1);
}

#[cfg(unix)]
#[test]
fn standard_input_that_breaks_off_exits_with_3() {
    // A folder can be opened like a file, but not read.
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_orbit"));
    let folder = std::fs::File::open(env!("CARGO_MANIFEST_DIR")).unwrap();
    let out = command.args(["transform", "flip-ranks"]).stdin(folder).output().unwrap();
    assert_eq!(out.status.code(), Some(3), "{}", text(&out.stderr));
    assert!(text(&out.stderr).contains("standard input was not read to its end"));
}
