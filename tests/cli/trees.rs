//! Tests games with side lines in the output of commands.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::common::corpus;

const TREE: &str = "[Event \"E\"]\n[White \"A\"]\n[Black \"B\"]\n[Result \"1-0\"]\n\n{Hello} 1.e4 e5 $1 {good} ({or} 1...c5\n\
    2. Nf3 (2. Nc3 Nc6)d6{end}) (1... e6) 2. Bc4 Nc6 3.Qh5 Nf6 ( 3...g6\n4. Qf3 Nf6 )4.Qxf7# 1-0\n";

/// A folder with a game. Nodes 0-7 are the main line, 8-10 are 3...g6, 11-13 are 1...c5, 14-15 are 2.Nc3, and 16 is 1...e6.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        fs::write(folder.path("a.pgn"), TREE).unwrap();
        folder
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn run(&self, words: &str) -> Output {
        let words = words.split_whitespace().map(|word| word.replace('_', " "));
        Command::new(env!("CARGO_BIN_EXE_orbit")).args(words).current_dir(self.0.path()).output().unwrap()
    }

    #[track_caller]
    fn stdout(&self, words: &str) -> String {
        let output = self.run(words);
        assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    fn stderr(&self, words: &str) -> String {
        let output = self.run(words);
        assert!(!output.status.success(), "{words}");
        String::from_utf8(output.stderr).unwrap()
    }
}

/// In PGN, any blank can be a line break, even within comments, so a phrase may be split across two lines.
#[test]
fn a_phrase_that_a_line_end_breaks_is_found() {
    let folder = Folder::new();
    let text =
        "1. e4 {in gambit\r\n \t style} e5 {} 2. Nf3 { } Nc6 ; gambit  style\n3. Bb5 {gambit} {\nstyle } *\n";
    fs::write(folder.path("b.pgn"), text).unwrap();
    let found = |query: &str| folder.stdout(&format!("scan -q --format plain {query} b.pgn"));
    assert_eq!(found("cql(variations)_originalcomment_\"gambit_style\""), "1 1\n1 4\n1 5\n");
    assert_eq!(found("cql(variations)_originalcomment"), "1 1\n1 4\n1 5\n");
    // In the written game, the comment must have its original blanks and line breaks.
    let written = folder.stdout("scan -q --format pgn cql(variations)_originalcomment b.pgn");
    assert!(written.contains("{in gambit\r\n \t style} e5 {}"), "{written}");
}

#[test]
fn lists_name_lines_and_nodes() {
    let folder = Folder::new();
    let queens = "scan -q {Qf3_or_nc6_or_check} a.pgn";
    assert_eq!(folder.stdout(queens), "1  A - B  1-0  E  2... Nc6 to 4. Qxf7#  (4)\n");
    assert_eq!(
        folder.stdout(&format!("{queens} --variations")),
        "1  A - B  1-0  E  2... Nc6 to 4. Qxf7#; (3...g6: 3... g6 to 4... Nf6); (1...c5 2.Nc3: 2... Nc6)  (8)\n"
    );
    let plain = "1 4\n1 5\n1 6\n1 7\n1 8\n1 9\n1 10\n1 15\n";
    assert_eq!(folder.stdout(&format!("{queens} --variations --format plain")), plain);
    let variations = queens.replace('{', "cql(variations)_{");
    assert_eq!(folder.stdout(&format!("{variations} --format plain")), plain);
    let csv = folder.stdout(&format!("{queens} --variations --format csv"));
    assert!(csv.lines().next().unwrap().ends_with(",hits,url,node,line"), "{csv}");
    assert!(csv.lines().last().unwrap().ends_with(",8,,15,1...c5 2.Nc3"), "{csv}");
    let csv = folder.stdout(&format!("{queens} --format csv"));
    assert!(csv.lines().next().unwrap().ends_with(",hits,url"), "{csv}");
    let jsonl = folder.stdout(&format!("{queens} --variations --format jsonl"));
    let rows: Vec<Value> = jsonl.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let row = |index: usize, name: &str| rows[index][name].clone();
    assert_eq!((row(0, "node"), row(0, "ply"), row(0, "line")), (4.into(), 4.into(), Value::Null));
    assert_eq!((row(7, "node"), row(7, "ply"), row(7, "line")), (15.into(), 4.into(), "1...c5 2.Nc3".into()));
    assert!(!folder.stdout(&format!("{queens} --format jsonl")).contains("\"node\""));
    assert_eq!(
        folder.stdout("scan -q --variations {find_Qf3}_and_btm a.pgn --format plain"),
        "1 1\n1 3\n1 5\n1 9\n"
    );
    folder.stdout("scan -q --variations --verify check a.pgn");
}

#[test]
fn statistics_count_side_lines_by_ply() {
    let folder = Folder::new();
    let counted = |words: &str| {
        let stats = folder.stdout(&format!("scan -q check a.pgn --stats ply:4 --stats-format csv {words}"));
        let rows = stats.lines().skip(1);
        rows.map(|row| row.split(',').take(7).collect::<Vec<_>>().join(",")).collect::<Vec<_>>()
    };
    assert_eq!(counted(""), ["total,,,1,1,8,1", "ply:4,0,,1,0,4,0", "ply:4,4,,1,1,4,1"]);
    assert_eq!(
        counted("--variations"),
        ["total,,,1,1,17,1", "ply:4,0,,1,0,8,0", "ply:4,4,,1,1,8,1", "ply:4,8,,1,0,1,0"]
    );
}

/// A theme's percentages are relative to the positions in which it is searched: only those of main lines, or also those of side
/// lines.
#[test]
fn a_batch_of_both_kinds_has_shares_of_each() {
    let folder = Folder::new();
    let themes = "[[theme]]\nname = \"main\"\ntitle = \"m\"\ngroup = \"g\"\nquery = \"wtm\"\n\
        [[theme]]\nname = \"whole\"\ntitle = \"w\"\ngroup = \"g\"\nquery = \"cql(variations) wtm\"\n";
    fs::write(folder.path("themes.toml"), themes).unwrap();
    let json = folder.stdout("batch -q themes.toml a.pgn --by ply:4 --format json");
    let batch: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(batch["positions"], 17);
    let theme = |index: usize| {
        let theme = &batch["themes"][index];
        let groups = theme["groupings"]["ply:4"].as_array().unwrap().iter();
        let groups = groups
            .map(|group| (group["positions_hit"].as_u64().unwrap(), group["positions"].as_u64().unwrap()));
        (
            theme["positions_hit"].as_u64().unwrap(),
            theme["positions"].as_u64().unwrap(),
            groups.collect::<Vec<_>>(),
        )
    };
    assert_eq!(theme(0), (4, 8, vec![(2, 4), (2, 4)]));
    assert_eq!(theme(1), (10, 17, vec![(4, 8), (5, 8), (1, 1)]));
}

#[test]
fn comments_stand_in_side_lines() {
    let folder = Folder::new();
    let marked = TREE
        .replace("Nc6 3.Qh5 Nf6 (", "Nc6 {X} 3.Qh5 {X} Nf6 {X} (")
        .replace("3...g6\n4. Qf3 Nf6 )4.Qxf7#", "3...g6 {X}\n4. Qf3 {X} Nf6 {X} )4.Qxf7# {X}")
        .replace("Nc6)d6", "Nc6 {X})d6");
    let index = folder.run("index --variations a.pgn -o b.reel");
    assert!(index.status.success(), "{}", String::from_utf8_lossy(&index.stderr));
    for from in ["a.pgn", "b.reel"] {
        folder.stdout(&format!(
            "scan -q --variations {{Qf3_or_nc6_or_check}} {from} -o {from}.pgn --comment=X"
        ));
        assert_eq!(fs::read_to_string(folder.path(&format!("{from}.pgn"))).unwrap(), marked, "{from}");
    }
    // Without `--variations`, only the main lines of the reel (packed games) are searched.
    folder.stdout("scan -q check b.reel -o c.pgn --comment=X");
    assert_eq!(
        fs::read_to_string(folder.path("c.pgn")).unwrap(),
        TREE.replace("4.Qxf7# 1-0", "4.Qxf7# {X} 1-0")
    );
    // Games with equal main lines but different side lines are different games.
    let other = TREE.replace("(1... e6)", "(1... d6)");
    fs::write(folder.path("a.pgn"), other).unwrap();
    let error = folder.stderr("scan -q --variations check b.reel -o d.pgn");
    assert!(error.contains("a.pgn"), "{error}");
}

#[test]
fn show_prints_the_tree() {
    let folder = Folder::new();
    let plain = folder.stdout("show a.pgn 1");
    assert!(
        plain.contains(
            "\n\n1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0\n\ngame 1, ply 7 of 7, after 4. Qxf7#\n"
        ),
        "{plain}"
    );
    let shown = folder.stdout("show --variations a.pgn 1:15");
    let tree = "\n\n{Hello} 1. e4 e5 $1 {good} ({or} 1... c5 2. Nf3 (2. Nc3 >Nc6<) 2... d6 {end})\n\
        (1... e6) 2. Bc4 Nc6 3. Qh5 Nf6 (3... g6 4. Qf3 Nf6) 4. Qxf7# 1-0\n\n\
        game 1, node 15, ply 4 of (1...c5 2.Nc3), after 2... Nc6\n8  r . b q k b n r\n";
    assert!(shown.contains(tree), "{shown}");
    assert!(
        shown.ends_with("\nr1bqkbnr/pp1ppppp/2n5/2p5/4P3/2N5/PPPP1PPP/R1BQKBNR w KQkq - 2 3\n"),
        "{shown}"
    );
    let json: Value = serde_json::from_str(&folder.stdout("show --variations --json a.pgn 1:15")).unwrap();
    assert_eq!((&json["node"], &json["ply"], &json["line"]), (&15.into(), &4.into(), &"1...c5 2.Nc3".into()));
    assert_eq!(json["moves"].as_array().unwrap().len(), 7);
    assert_eq!(
        json["lines"][2],
        serde_json::json!({ "node": 14, "parent": 11, "line": "1...c5 2.Nc3", "moves": ["Nc3", "Nc6"] })
    );
    assert_eq!(json["annotations"][3], serde_json::json!({ "node": 11, "comment_before": "or" }));
    let json: Value = serde_json::from_str(&folder.stdout("show --json a.pgn 1")).unwrap();
    assert!(json.get("lines").is_none() && json.get("node").is_none(), "{json}");
    let beyond = folder.stderr("show --variations a.pgn 1:17");
    assert!(beyond.contains("the last node of game 1 is 16: there is no node 17"), "{beyond}");
    assert!(folder.stderr("show a.pgn 1:8").contains("game 1 has 7 plies: there is no ply 8"));
    // A reel keeps the comments on moves.
    assert!(folder.run("index --variations a.pgn -o b.reel").status.success());
    assert_eq!(folder.stdout("show --variations b.reel 1:15"), shown);
}

#[test]
fn pages_name_lines() {
    let folder = Folder::new();
    folder.stdout("scan -q --variations {Nc3_nc6} a.pgn -o a.html");
    let page = fs::read_to_string(folder.path("a.html")).unwrap();
    assert!(page.contains("after 2... Nc6 (1...c5 2.Nc3)"), "{page}");
    assert!(page.contains("\"node\":15,\"line\":\"1...c5 2.Nc3\""), "{page}");
}

/// Studies that were written with comments must have hits at the same nodes when searched again.
#[test]
fn studies_make_the_round_trip() {
    let folder = Folder::new();
    let studies = corpus().join("dev-studies-annotated/cql/sample.pgn");
    fs::copy(&studies, folder.path("s.pgn")).unwrap();
    for query in ["check", "{find_stalemate}", "cql(variations)_terminal"] {
        let plain = |from: &str| {
            let lines = folder.stdout(&format!("scan -q --variations {query} {from} --format plain"));
            let (mut number, mut last) = (0, "");
            let mut hits = Vec::new();
            for (game, node) in lines.lines().map(|line| line.split_once(' ').unwrap()) {
                number += usize::from(game != last);
                last = game;
                hits.push((number, node.to_owned()));
            }
            hits
        };
        folder.stdout(&format!("scan -q --variations {query} s.pgn -o t.pgn --comment=HERE"));
        let (before, after) = (plain("s.pgn"), plain("t.pgn"));
        assert!(before == after && before.len() > 100, "{query}");
        let text = fs::read(Path::new(&folder.path("t.pgn"))).unwrap();
        assert_eq!(memchr::memmem::find_iter(&text, b"{HERE}").count(), before.len());
        assert!(folder.run("index --variations t.pgn -o t.reel").status.success());
        assert_eq!(plain("t.reel"), before, "{query}");
    }
}
