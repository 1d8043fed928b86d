//! Tests `orbit cql`: the command-line options of CQL, and the games that it writes.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::data;

/// A folder with `main.pgn` and a script.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new(script: &str) -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        folder.write("main.pgn", &data("games/main.pgn"));
        folder.write("s.cql", script);
        folder
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.path().join(name)).unwrap()
    }

    fn has(&self, name: &str) -> bool {
        self.0.path().join(name).exists()
    }

    /// Runs `orbit cql` with blank-separated arguments. Underscores in an argument stand for blanks.
    fn run(&self, words: &str) -> Output {
        let words = words.split_whitespace().map(|word| word.replace('_', " "));
        let mut orbit = Command::new(env!("CARGO_BIN_EXE_orbit"));
        orbit.arg("cql").args(words).current_dir(self.0.path()).output().unwrap()
    }

    /// Returns the standard output of a run. Panics if the run fails.
    #[track_caller]
    fn stdout(&self, words: &str) -> String {
        let output = self.run(words);
        assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    fn stderr(&self, words: &str) -> String {
        let output = self.run(words);
        assert_eq!(output.status.code(), Some(2), "{words}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stderr).unwrap()
    }

    /// Returns the games that a run writes, without tags, one per line.
    #[track_caller]
    fn games(&self, words: &str) -> Vec<String> {
        self.stdout(&format!("-o out.pgn {words}"));
        games(&self.read("out.pgn"))
    }
}

/// Returns each game as its movetext, preceded by its tag Foo if it has one. Runs of blanks are collapsed, and blanks next to
/// parentheses and braces and after move numbers are removed.
fn games(text: &str) -> Vec<String> {
    let mut games: Vec<String> = Vec::new();
    for line in text.lines() {
        if line.starts_with("[Event ") {
            games.push(String::new());
        }
        let game = games.last_mut().expect("games begin with their event");
        if !line.starts_with('[') || line.starts_with("[Foo ") {
            game.push_str(line);
            game.push(' ');
        }
    }
    games.iter().map(|game| plain(game)).collect()
}

fn plain(game: &str) -> String {
    let mut out = String::new();
    for word in game.split_whitespace() {
        let is_bracket = |letter: Option<char>| letter.is_some_and(|letter| "(){}".contains(letter));
        let last = out.chars().last();
        let is_numbered =
            last == Some('.') && out.trim_end_matches('.').ends_with(|c: char| c.is_ascii_digit());
        if last.is_some() && !is_bracket(last) && !is_bracket(word.chars().next()) && !is_numbered {
            out.push(' ');
        }
        out.push_str(word);
    }
    for bracket in ["(", ")", "{", "}"] {
        out = out.replace(&format!("{bracket} "), bracket).replace(&format!(" {bracket}"), bracket);
    }
    out
}

/// Compares the written games with those of CQL 6.2. Each row of `tests/data/game-outputs.tsv` has an id, a query, a file of games,
/// and the games that CQL 6.2 writes.
#[test]
fn games_are_written_as_cql_writes_them() {
    let table = data("game-outputs.tsv");
    let (mut rows, mut wrong) = (0, Vec::new());
    for line in table.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        let &[id, query, file, due] = &columns[..] else { panic!("{line}: four columns") };
        rows += 1;
        let folder = Folder::new(query);
        folder.write("games.pgn", &data(&format!("games/{file}")));
        let output = folder.run("-i games.pgn -o out.pgn s.cql");
        let found = match output.status.success() {
            true => games(&folder.read("out.pgn")),
            false => vec![String::from_utf8(output.stderr).unwrap()],
        };
        let due: Vec<String> = due.split(" || ").filter(|game| !game.is_empty()).map(plain).collect();
        if found != due {
            wrong.push(format!("{id} {query}\n  found {found:#?}\n  due   {due:#?}"));
        }
    }
    assert_eq!(rows, 73);
    assert!(wrong.is_empty(), "{} rows differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_header_names_files_and_options_override_it() {
    let folder = Folder::new("cql(input main output a.pgn matchstring \"x\") mate");
    folder.stdout("s");
    assert_eq!(games(&folder.read("a.pgn")), ["{Game number 2}1.f3 e5 2.g4 Qh4#{x}0-1"]);
    fs::create_dir(folder.0.path().join("sub")).unwrap();
    folder.write("sub/t.cql", "cql(input ../main.pgn) mate");
    folder.stdout("-matchstring y -noheader sub/t.cql");
    assert!(folder.has("t-out.pgn"));
    let mate = ["{Game number 2}1.f3 e5 2.g4 Qh4# 0-1"];
    assert_eq!(folder.games("-i main s.cql -quiet"), mate);
    assert_eq!(folder.games("-i main s.cql -quiet -noheader"), ["1.f3 e5 2.g4 Qh4# 0-1"]);
    assert_eq!(folder.games("--input main.pgn -silent s.cql"), ["1.f3 e5 2.g4 Qh4# 0-1"]);
}

/// The output file is written even if no game matches.
#[test]
fn a_search_without_matches_writes_an_empty_file() {
    let folder = Folder::new("cql() mate");
    folder.stdout("-i main.pgn -year 1900 s.cql");
    assert_eq!(folder.read("s-out.pgn"), "");
    assert!(!folder.has("out.pgn"));
    folder.stdout("-i main.pgn -cql mate");
    assert!(folder.has("cql-out.pgn"));
}

#[test]
fn options_add_filters() {
    let folder = Folder::new("cql(quiet)\ncheck // the end");
    let numbers = |words: &str| -> Vec<String> {
        let games = folder.games(&format!("-i main.pgn {words} s.cql"));
        games.iter().map(|game| game.split(['}', ' ']).nth(2).unwrap().into()).collect()
    };
    assert_eq!(numbers(""), ["2", "3"]);
    assert_eq!(numbers("-white Tal"), ["3"]);
    assert_eq!(numbers("-player Karpov"), ["2"]);
    assert_eq!(numbers("-year 1990 2000"), ["2"]);
    assert_eq!(numbers("-year 2001"), ["3"]);
    assert_eq!(numbers("-g 1 2"), ["2"]);
    assert_eq!(numbers("-result 1/2-1/2"), ["3"]);
    assert_eq!(numbers("-matchcount 2 5"), ["3"]);
    assert_eq!(numbers("-cql mate_//_really"), ["2"]);
    assert_eq!(numbers("-btm"), Vec::<String>::new());
    // The main line has a black queen on e6. The query for a white queen on e3 also finds it, through a colour flip.
    assert_eq!(numbers("-cql qe6"), ["3"]);
    assert_eq!(numbers("-cql Qe3"), Vec::<String>::new());
    assert_eq!(numbers("-flipcolor -cql Qe3"), ["3"]);
}

/// If parameters or filters contradict each other, CQL 6.2 uses the first one. It evaluates `sort matchcount` after all other
/// `sort` filters.
#[test]
fn what_comes_first_counts() {
    let game = |header: &str| {
        Folder::new(&format!("{header} ply==1 comment(\"z\")")).games("-i main.pgn s.cql").remove(1)
    };
    assert_eq!(game("cql(quiet silent)"), "{Game number 2}1.f3{z}1...e5 2.g4 Qh4# 0-1");
    assert_eq!(game("cql(silent quiet)"), "1.f3 e5 2.g4 Qh4# 0-1");
    let sorted = Folder::new("cql(sort matchcount 1 100) check sort min \"n\" gamenumber");
    let games = sorted.games("-i main.pgn s.cql");
    let starts = games.iter().map(|game| &game[..33]).collect::<Vec<&str>>();
    assert_eq!(starts, ["{Game number 2 n: 2 matchcount: 1", "{Game number 3 n: 3 matchcount: 2"]);
}

#[test]
fn the_virtual_main_line_has_side_lines() {
    let folder = Folder::new("cql() secondary");
    folder.write("vars.pgn", &data("games/vars.pgn"));
    assert_eq!(folder.games("-i vars.pgn s.cql"), Vec::<String>::new());
    assert_eq!(folder.games("-i vars.pgn -virtualmainline s.cql").len(), 2);
}

/// In PGN, a comment can contain line breaks anywhere, so a line break counts as a blank. Empty braces are not a comment.
#[test]
fn comments_are_read_as_one_line() {
    let folder = Folder::new("cql(silent) originalcomment \"gambit style\" comment(\"x\")");
    let moves = "1. e4 {gambit\n style} c6 {} 2. d4 { } *";
    folder.write("c.pgn", &format!("[Event \"a\"]\n\n{moves}\n"));
    assert_eq!(folder.games("-i c.pgn s.cql").len(), 1);
    folder.write("s.cql", "cql(silent) {ply > 1 hascomment}");
    assert_eq!(folder.games("-i c.pgn s.cql"), Vec::<String>::new());
}

/// `consecutivemoves` adds comments to the moves that two lines have in common. The comments contain the names of its variables.
#[test]
fn shared_moves_are_marked_with_the_names_of_the_variables() {
    let folder =
        Folder::new("cql(variations) echo (source target) {source<target consecutivemoves(source target)}");
    folder.write("v.pgn", &data("games/vars.pgn"));
    let games = folder.games("-i v.pgn s.cql");
    let comment = |game: &str, word: &str| {
        let at = game.find(word).unwrap_or_else(|| panic!("{word}: {game}"));
        game[..at].rfind('{').map(|from| game[..from].rsplit(' ').next().unwrap().to_owned())
    };
    for (word, mv) in [("source-move[1]", "Nf3"), ("target-move[1]", "Nf3")] {
        assert!(comment(&games[0], word).is_some_and(|found| found.ends_with(mv)), "{}", games[0]);
    }
    for (word, mv) in [("source-move[2]", "e6"), ("target-move[2]", "e6"), ("source-move[3]", "Nc3")] {
        assert!(comment(&games[1], word).is_some_and(|found| found.ends_with(mv)), "{}", games[1]);
    }
}

#[test]
fn variables_get_values() {
    let folder = Folder::new("cql(quiet) ply==nn comment(ss \" \" nn)");
    let games = folder.games("-i main.pgn -assign nn 3 -assign ss here s.cql");
    assert_eq!(games[1], "{Game number 2}1.f3 e5 2.g4{here 3}2...Qh4# 0-1");
    assert_eq!(folder.games("-i main.pgn -assign nn +3 -assign ss here s.cql"), games);
    let stderr = folder.stderr("-i main.pgn -assign nn -2147483648 -assign ss x s.cql");
    assert!(stderr.contains("-assign nn -2147483648: the least number is -2147483647"), "{stderr}");
}

#[test]
fn comments_of_copies_are_in_the_order_of_their_squares() {
    let game = |script: &str| Folder::new(script).games("-i main.pgn s.cql").remove(3);
    let flipped = game("cql(quiet) initial flip {(a2 or true) comment(currenttransform)}");
    let copies = "<reflect_a1h8> <counterclockwise90> <> <reflect_v> <reflect_h> <rotate180> <clockwise90> <reflect_a8h1>";
    assert_eq!(flipped, format!("{{Game number 4 {copies}}}*"));
    // The copies (transformed patterns) have a2 replaced by b1, g1, a2, h2, a7, h7, b8 and g8, in this order, each for White and
    // then for Black. A comment that occurs twice is written only once.
    let ranks = game("cql(quiet) initial flip flipcolor {(Ka2 or true) comment(rank a2)}");
    assert_eq!(ranks, "{Game number 4 1 2 7 8}*");
    let light = game("cql(quiet) initial flipcolor {(light a2 or true) comment(\"rank \" rank a2)}");
    assert_eq!(light, "{Game number 4 rank 7 rank 2}*");
}

#[test]
fn tags_and_comments_stay_where_an_option_says_so() {
    let folder = Folder::new("cql(quiet) ply==1 settag(\"Foo\" \"x\") removecomment");
    folder.write("c.pgn", &data("games/comm.pgn"));
    let first = |words: &str| folder.games(&format!("-i c.pgn s.cql {words}")).remove(0);
    assert!(first("").starts_with("[Foo \"x\"]{Start Game number 1}1.e4 e5 $1 2."), "{}", first(""));
    assert!(first("-nosettag").starts_with("{Start Game number 1}1.e4 e5"));
    assert!(first("-noremovecomment").contains("1.e4{best by test}1...e5"));
}

#[test]
fn messages_are_printed_at_once_and_variables_at_the_end() {
    let folder = Folder::new("cql() persistent cc+=1 terminal message(\"end \" ply) mate");
    let printed = "Game: 1 move 11(wtm): end 20\nGame: 2 move 3(wtm): end 4\nGame: 3 move 9(btm): end 17\n\
                   Game: 4 move 1(wtm): end 0\ncc: 45\n";
    assert_eq!(folder.stdout("-i main.pgn s.cql"), printed);
    assert_eq!(folder.stdout("-i main.pgn s.cql -showmatches").lines().nth(4), Some("2"));
    let output = folder.run("-i main.pgn -o - s.cql");
    assert_eq!(games(&String::from_utf8(output.stdout).unwrap()).len(), 1);
    assert!(String::from_utf8(output.stderr).unwrap().contains(printed));
    let folder = Folder::new("cql() {message quiet(\"no\") false} or mate");
    assert_eq!(folder.stdout("-i main.pgn -s s.cql").lines().count(), 45);
}

/// Games whose numbers are outside the requested range are never found, whatever the query is. Games after the range are not even
/// read.
#[test]
fn games_by_number_are_found_and_no_others() {
    let folder = Folder::new("cql(quiet) check");
    let asked = "-i main.pgn -matchcount 0";
    assert_eq!(folder.games(&format!("{asked} s.cql")).len(), 2);
    assert_eq!(folder.games(&format!("{asked} -gamenumber 1 3 s.cql")).len(), 1);
    assert_eq!(folder.games(&format!("{asked} -gamenumber 2 s.cql")), Vec::<String>::new());
    folder.write("t.cql", "cql(quiet gamenumber 4 matchcount 0) check");
    assert_eq!(folder.games("-i main.pgn t.cql"), ["{Game number 4}*"]);
    // A filter on the command line is also evaluated only in games within the requested range.
    let messages = "-i main.pgn -cql initial_message_quiet(gamenumber) s.cql";
    assert_eq!(folder.stdout(messages), "1\n2\n3\n4\n");
    assert_eq!(folder.stdout(&format!("-g 2 {messages}")), "2\n");
    // Reading must stop after the first few of these many games.
    let many = data("games/main.pgn").repeat(4_000);
    folder.write("many.pgn", &many);
    let output = folder.run("-i many.pgn -o few.pgn -g 3 s.cql");
    let summary = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{summary}");
    assert_eq!(games(&folder.read("few.pgn")).len(), 1);
    let read = summary.split(" games (").next().unwrap().rsplit('\n').next().unwrap();
    let read: u32 = read.replace(',', "").parse().expect(&summary);
    assert!((3..16_000).contains(&read), "{summary}");
}

/// The numbers of matching games are printed during the search, in file order. The games are written in the order that the query
/// defines.
#[test]
fn numbers_of_matches_are_those_of_the_games() {
    let folder = Folder::new("cql(quiet) check sort \"ply\" ply");
    assert_eq!(folder.stdout("-i main.pgn -showmatches -o out.pgn s.cql"), "2\n3\n");
    let written = games(&folder.read("out.pgn"));
    assert!(written[0].starts_with("{Game number 3 ply: "), "{written:?}");
    assert!(written[1].starts_with("{Game number 2 ply: 4}"), "{written:?}");
}

#[test]
fn files_are_used_below_a_folder_alone() {
    let folder =
        Folder::new("cql() mate writefile(\"m.cqo\" player white) readfile \"m.cqo\"==\"Polgar, J\"");
    let error = folder.stderr("-i main.pgn s.cql");
    assert!(error.contains("a query may use no files") && error.contains("--files"), "{error}");
    fs::create_dir(folder.0.path().join("f")).unwrap();
    assert_eq!(folder.games("-i main.pgn -files f s.cql").len(), 1);
    assert_eq!(folder.read("f/m.cqo"), "Polgar, J");
    folder.write("s.cql", "cql() mate writefile(\"../m.cqo\" \"x\")");
    let error = folder.stderr("-i main.pgn -files f s.cql");
    assert!(error.contains("is no name of a file below f"), "{error}");
    assert!(!folder.has("m.cqo"));
}

#[test]
fn mistakes_are_named_where_they_are() {
    let folder = Folder::new("cql()\n\nmate chekc");
    for (words, parts) in [
        ("-i main.pgn s.cql", &["s.cql:3:6", "chekc"][..]),
        ("-i main.pgn -flip -cql check s.cql", &["s.cql:3:6", "chekc"]),
        ("-i main.pgn -cql stalmate s.cql", &["options of orbit cql:2:1", "stalmate"]),
        ("-i none.pgn -cql mate", &["none.pgn"]),
        ("-cql mate", &["there are no games to search", "-input"]),
        ("none.cql", &["none.cql", "cannot be read"]),
        ("-i main.pgn -o main.pgn -cql mate", &["main.pgn"]),
        ("-i main.pgn -o s.cql s.cql", &["s.cql"]),
        ("-i main.pgn -imput x", &["CQL has no option -imput; did you mean -input?"]),
        ("-i main.pgn -gui s.cql", &["CQL's -gui is not supported"]),
    ] {
        let error = folder.stderr(words);
        parts.iter().for_each(|part| assert!(error.contains(part), "{words}: {error}"));
    }
    assert_eq!(folder.read("main.pgn"), data("games/main.pgn"));
    // The braces of a transform neither close a brace of the script nor complete one.
    folder.write("open.cql", "cql()\n{check\nwtm");
    folder.write("shut.cql", "cql()\ncheck } { wtm");
    for (script, place) in [("open.cql", "open.cql:2:1"), ("shut.cql", "shut.cql:2:7")] {
        for option in ["", "-flip", "-flipcolor -cql check"] {
            let error = folder.stderr(&format!("-i main.pgn {option} {script}"));
            assert!(error.contains(place), "{option}: {error}");
        }
    }
    folder.write("t.cql", "cql(input gone.pgn) mate");
    assert!(folder.stderr("t.cql").contains("gone.pgn: the script's header names this file"));
    folder.write("5.cql", "(position Ra1)");
    assert!(folder.stderr("-i main.pgn -cql mate 5.cql").contains("options can add no filters"));
    assert!(folder.stdout("-i main.pgn 5.cql").is_empty());
}

#[test]
fn help_lists_the_options() {
    let folder = Folder::new("");
    for words in ["-help", "--help", "-h"] {
        let help = folder.stdout(words);
        for part in ["-input, -i GAMES.pgn", "-noremovecomment", "-matchcount N [M]"] {
            assert!(help.contains(part), "{words}: {help}");
        }
    }
    assert!(folder.stdout("-version").starts_with("orbit "));
}

/// The side lines and comments of matching games are written for every kind of source, even if side lines are not searched.
#[test]
fn reels_and_streams_are_searched() {
    let folder = Folder::new("cql(quiet) initial sort \"p\" player white");
    folder.write("games.pgn", &data("games/vars.pgn"));
    let due = folder.games("-i games.pgn s.cql");
    assert!(due[0].contains("(1...c5 2.Nf3(2.Nc3 Nc6 3.f4)2...d6)"), "{due:?}");
    let index = ["index", "games.pgn", "-o", "g.reel", "-q"];
    let orbit = || Command::new(env!("CARGO_BIN_EXE_orbit"));
    assert!(orbit().args(index).current_dir(folder.0.path()).status().unwrap().success());
    assert_eq!(folder.games("-i g.reel s.cql"), due);
    let input = fs::File::open(Path::new(folder.0.path()).join("games.pgn")).unwrap();
    let words = ["cql", "-guipgnstdin", "-guipgnstdout", "s.cql"];
    let output = orbit().args(words).stdin(input).current_dir(folder.0.path()).output().unwrap();
    assert_eq!(games(&String::from_utf8(output.stdout).unwrap()), due);
}
