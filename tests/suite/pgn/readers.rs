//! Compares two PGN readers: orbit's own parser, and a second reader that is based on pgn-reader and shakmaty.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use orbit_database::{BlockStream, StreamOptions};
use orbit_reel::Block;
use orbit_search::report::grouped;
use orbit_witness::{Agreement, Readers, Rule};

use super::*;
use crate::common::{
    data,
    length::{least, trials},
};

fn options(readers: Readers) -> StreamOptions {
    StreamOptions { readers, ..StreamOptions::default() }
}

/// Returns options for reading games with side lines and annotations. `readers` selects one PGN reader or both.
fn with_lines(readers: Readers) -> StreamOptions {
    let mut options = options(readers);
    (options.parse.variations, options.parse.annotations) = (true, true);
    options
}

/// Reads a PGN text with both readers. Returns a summary of their agreement, or a description of their first difference.
fn compare(text: &[u8], options: &StreamOptions) -> Result<Agreement, String> {
    let database = BlockStream::from_pgn_bytes("test", text.to_vec(), options.clone());
    let summary = database.for_each_block(1, |_| (), |_, ()| ControlFlow::Continue(()));
    summary.map(|summary| summary.agreement).map_err(|error| error.to_string())
}

/// Returns the names of the rules that explain how the two readers differ on a PGN text.
fn rules(text: &str) -> Vec<&'static str> {
    let agreement = compare(text.as_bytes(), &with_lines(Readers::Both))
        .unwrap_or_else(|error| panic!("{text:?}: {error}"));
    agreement.by_rule().map(|(rule, _)| rule.name()).collect()
}

/// Returns the table in `docs/reading.md`. For each rule, it contains the number of corpus games to which the rule applies,
/// without and with side lines.
fn table(sums: &[Agreement; 2]) -> String {
    let row = |name: &str, count: &dyn Fn(&Agreement) -> u64| {
        let [plain, with_lines] = sums.each_ref().map(count);
        format!("{name}\t{plain}\t{with_lines}\n")
    };
    let head = String::from("rule\tgames\twith side lines\n");
    let all = row("all", &|sum| sum.games) + &row("by some rule", &|sum| sum.differing);
    let rules = Rule::ALL.iter().map(|&rule| {
        let count =
            |sum: &Agreement| sum.by_rule().find(|(other, _)| *other == rule).map_or(0, |found| found.1);
        row(rule.name(), &count)
    });
    head + &all + &rules.collect::<String>()
}

#[test(part = 1)]
fn every_difference_on_real_files_has_a_rule() {
    let found = table(&[options, with_lines].map(|options| compare_files(&options(Readers::Both))));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/readers.tsv"), &found).unwrap();
    }
    assert_eq!(found, data("readers.tsv"));
}

/// Reads every file with both readers.
fn compare_files(options: &StreamOptions) -> Agreement {
    let root = corpus();
    let mut files: Vec<PathBuf> = corpus_files().into_iter().map(|(_, path)| path).collect();
    files.extend(["otb.pgn", "fen.pgn"].map(|name| root.join(name)));
    let mut sum = Agreement::default();
    let mut faults = Vec::new();
    for file in files {
        let database = BlockStream::open(&[file], options.clone()).unwrap();
        match database.for_each_block(1, |_| (), |_, ()| ControlFlow::Continue(())) {
            Ok(summary) => sum.add(&summary.agreement),
            Err(error) => faults.push(error.to_string()),
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    sum
}

/// The lines in `docs/reading.md` that enclose the table of rules.
const MARKS: [&str; 2] =
    ["<!-- rules: written by tests/suite/pgn/readers.rs -->\n", "<!-- end of rules -->\n"];

#[test]
fn the_document_lists_the_rules() {
    let counts = data("readers.tsv");
    let row = |name: &str| {
        let row = counts.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('\t'));
        let cells = row.unwrap_or_else(|| panic!("no row for {name}")).split('\t');
        cells.map(|cell| grouped(cell.parse().unwrap())).collect::<Vec<String>>().join(" | ")
    };
    let mut table = String::from(
        "\n| rule | what orbit's reader does | games | with side lines |\n|---|---|---:|---:|\n",
    );
    for rule in Rule::ALL {
        writeln!(table, "| {} | {} | {} |", rule.name(), rule.text(), row(rule.name())).unwrap();
    }
    writeln!(table, "| | games that need some rule | {} |", row("by some rule")).unwrap();
    writeln!(table, "| | all games | {} |", row("all")).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reading.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let [begin, end] = MARKS.map(|mark| page.find(mark).unwrap_or_else(|| panic!("{mark}")));
    let begin = begin + MARKS[0].len();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, format!("{}{table}\n{}", &page[..begin], &page[end..])).unwrap();
        return;
    }
    assert_eq!(&page[begin..end], format!("{table}\n"), "run the tests once with UPDATE_GOLDEN=1");
}

#[test]
fn odd_texts_are_read_alike() {
    for options in [options(Readers::Both), with_lines(Readers::Both)] {
        let difference =
            |text: &str| Some(format!("{text:?}\n  {}", compare(text.as_bytes(), &options).err()?));
        let faults: Vec<String> =
            super::cases::GAMES.iter().filter_map(|(text, _)| difference(text)).collect();
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }
}

/// Checks which rules explain the differences between the two readers on the PGN text of each row. Every rule must occur in some
/// row.
#[test]
fn each_rule_is_told_by_its_name() {
    const ROWS: &[(&str, &[&str])] = &[
        ("[White \"a\"]\n\n1. e4 e5 (1... c5) 2. Nf3 $1 {fine} -- 1-0\n\n[White \"b\"]\n\n*\n", &[]),
        ("1. e4 e5\n\n2. d4 *", &["empty line"]),
        ("[White \"a\"]\n\n[White \"b\"]\n\n1. e4 *\n", &["tags alone"]),
        ("[White \"a\"] 1. e4 e5 * [White \"c\"] 1. d4 *", &["tag place"]),
        ("[White \"Paul \"Bob\" Smith\"]\n\n1. e4 *", &["tag form"]),
        ("1. e4\n[%csl Ra1] e5 *", &["bracket"]),
        ("1. e4 e5 1-0\n1. d4 0-1\n", &["after result"]),
        ("{heading}\n\n[ECO \"A00\"]\n\n1. b4 *", &["outside"]),
        ("1. e4 {open\n[Event \"b\"]\n\n1. d4 *", &["open comment"]),
        ("1. e4 (1. d4 d5\n[White \"b\"]\n\n*", &["open side line"]),
        ("1. e4 (1. d4 1-0)\n", &["inner result"]),
        ("1. e4\x0be5 *", &["blanks"]),
        ("1.\u{a0}e4\u{3000}e5 *", &["blanks"]),
        ("[Event \"a\"]\n\n1. e4 e5\n %foo 2. Nf3 1-0\n2. d4 *\n", &["blanks"]),
        ("1. e4 e5 2. Nf30-1", &["glued"]),
        ("1. e4$1e5 *", &["glued"]),
        ("1. e4 1…e5 *", &["glued"]),
        ("1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. O-OO-O *", &["glued"]),
        ("1. e4 1/2\n", &["results"]),
        ("1. e4 \"1-0\"\n", &["results"]),
        ("1. e4 0 - 1\n", &["results"]),
        ("1. e4 １－０\n", &["results"]),
        ("[White \"a[White \"b\"]\n\n1. e4 *\n", &["tags alone", "tag form", "open tag pair"]),
        ("1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. O–O *", &["dashes"]),
        ("1. e4 hite e5 *", &["no move"]),
        ("e2e4 e7-e5 *", &["coordinates", "move sign"]),
        ("g1f3 g8f6 *", &["coordinates"]),
        ("1. e4 d5 2. ed5 *", &["move sign"]),
        ("1. xe4 d5 2. xd5 *", &["move sign"]),
        ("[FEN \"8/P6k/8/8/8/8/p6K/8 w - - 0 1\"]\n\na8Q a1(N) *", &["promotion"]),
        ("1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. OO o-o *", &["castling"]),
        ("1. e4 <> 2. d4 null *", &["null sign"]),
        ("1. e4 e5 2. Qh5 Nc6 3. Qxf7 -- 4. Nf3 *", &["null in check"]),
        ("1. e4 e5 2. Qh5 Nc6 3. Qxf7 (3. Qxe5 --) Kxf7 *", &["null in check"]),
        ("1. e4 (1. e4 e5 2. Bc4 Qh4 3. Nf3 Qxf2+ 4. --) 1... e5 2. zz *", &["no move", "null in check"]),
        ("1. ♘f3 ♞f6 *", &["figurines"]),
        ("1. e4 d5 2. e5 f5 3. exf6ep *", &["suffix"]),
        ("[FEN \"4k3/8/8/8/4P3/8/8/4K3 b - - x y\"]\n\n1... Kd7 *", &["FEN fields"]),
        ("[FEN \"r2k3r/8/8/8/8/8/4K3/R6R w KQkq - 0 1\"]\n\n1. Kf2 *", &["rights"]),
    ];
    let mut wrong = Vec::new();
    for (text, wanted) in ROWS {
        let found = rules(text);
        if found != *wanted {
            wrong.push(format!("{text:?}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // The rule `TooLong` is tested elsewhere.
    for rule in Rule::ALL.iter().filter(|rule| **rule != Rule::TooLong) {
        let is_told = |(_, rules): &&(&str, &[&str])| rules.contains(&rule.name());
        assert!(ROWS.iter().any(|row| is_told(&row)), "no text needs `{}`", rule.name());
    }
}

#[test]
fn deep_and_many_side_lines_are_read_alike() {
    let many = "1. e4 ".to_owned() + &"(1. d4) ".repeat(65_540) + "e5 *";
    let deep =
        "1. Nf3 Nf6".to_owned() + &" (Nc6 a3 (Nc3 a6 (Nb8 a3 (Nb1 a6".repeat(65) + &")".repeat(260) + " *";
    let empty = "1. e4 ".to_owned() + &"(".repeat(500_000) + &")".repeat(500_000) + " e5 *";
    for text in [many, deep, empty] {
        assert_eq!(rules(&text), [""; 0]);
    }
}

#[test]
fn lists_of_positions_are_read_alike() {
    const ROWS: &[(&str, &[&str])] = &[
        (
            "4k3/8/8/8/8/8/8/4K3 w - - 3 17 id \"a; b\"; dm 2;\n# none\n4k3/8/8/8/8/8/8/4K3 b - - bm Kd7;\n",
            &[],
        ),
        ("\u{feff}4k3/8/8/8/8/8/8/4K3\r\n\r\n  4k3/8/8/8/8/8/8/R3K3 w Q - 0 1\r4k3/8/8/8/8/8/8/4K3 w\n", &[]),
        ("4k3/8/8/8/8/8/8/4K3 w - - c0 \"say \\\"no\\\"\"; 7 x; acd 3\nnonsense\n", &[]),
        ("4k3/8/8/8/8/8/8/4K3 w - -\n4k3/8/8/8/8/8/8/4K3 W - -\n", &["FEN fields"]),
        ("r2k3r/8/8/8/8/8/4K3/R6R w KQkq -\n", &["rights"]),
    ];
    for (text, wanted) in ROWS {
        assert_eq!(rules(text), *wanted, "{text:?}");
        assert_eq!(
            blocks(text.as_bytes(), options(Readers::Second)),
            blocks(text.as_bytes(), options(Readers::First)),
            "{text:?}"
        );
    }
}

#[test]
fn a_game_that_is_too_long_is_cut_alike() {
    let filler = "Nf3 Nf6 Ng1 Ng8 ".repeat(40);
    let comment = "x".repeat(400);
    for (text, wanted) in [
        (format!("[White \"a\"]\n\n{filler}1-0\n[Black \"x\"]\n\n1. e4 *\n"), &["too long"][..]),
        (
            format!("[White \"a\"]\n\n1. e4 {{{comment}}} e5 *\n\n[Black \"x\"]\n\n*\n"),
            &["open comment", "too long"],
        ),
        (format!("[White \"a\"]\n\n1. e4 (1. d4 {filler}) *\n"), &["open side line", "too long"]),
        (format!("1. e4 * \n {comment}\n[White \"b\"]\n1. d4 *\n"), &[]),
    ] {
        let mut options = options(Readers::Both);
        options.pgn.game_bytes_max = 333;
        let database = BlockStream::from_pgn_bytes("test", text.clone().into_bytes(), options);
        let summary = database.for_each_block(1, |_| (), |_, ()| ControlFlow::Continue(())).unwrap();
        let found: Vec<&str> = summary.agreement.by_rule().map(|(rule, _)| rule.name()).collect();
        assert_eq!(found, wanted, "{text}");
    }
}

/// Returns the blocks (groups of games) of a PGN text, read by the reader that the options select.
fn blocks(text: &[u8], options: StreamOptions) -> Vec<Block> {
    let mut blocks = Vec::new();
    let database = BlockStream::from_pgn_bytes("test", text.to_vec(), options);
    let taken = database.for_each_block(
        1,
        |_| (),
        |streamed, ()| {
            blocks.push(streamed.block);
            ControlFlow::Continue(())
        },
    );
    taken.unwrap();
    blocks.into_iter().map(std::sync::Arc::unwrap_or_clone).collect()
}

/// Both PGN readers must create the same blocks, although the second one computes moves and keys with shakmaty.
#[test]
fn the_second_reader_makes_the_same_blocks() {
    let mut texts: Vec<Vec<u8>> =
        super::cases::GAMES.iter().map(|(text, _)| text.as_bytes().to_vec()).collect();
    texts.push(include_bytes!("../../../games/sample.pgn").to_vec());
    for text in texts {
        let name = String::from_utf8_lossy(&text[..text.len().min(200)]).into_owned();
        for options in [options, with_lines] {
            let [first, second] =
                [Readers::First, Readers::Second].map(|readers| blocks(&text, options(readers)));
            assert_eq!(second, first, "{name:?}");
        }
    }
}

/// Pieces of text that are joined into unusual games.
const PIECES: &[&str] = &[
    "[Event \"a\"]\n",
    "[White \"b\"]\n",
    "[Black \"c",
    "[FEN \"8/P6k/8/8/8/8/p6K/8 w - - 0 1\"]\n",
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    "\n",
    "\n\n",
    "\r\n\r\n",
    "\r",
    " ",
    "1. ",
    "1... ",
    "2.",
    "12",
    "e4 ",
    "e5 ",
    "Nf3 ",
    "Nc6 ",
    "d2d4 ",
    "g8f6 ",
    "O-O ",
    "0-0 ",
    "a8Q ",
    "a8=N ",
    "a1(Q) ",
    "exd5 ",
    "ed5 ",
    "-- ",
    "<> ",
    "$1",
    "$",
    "!",
    "?! ",
    "+-",
    "1-0",
    "0-1 ",
    "1/2-1/2\n",
    "1/2 ",
    "*",
    ";",
    "%",
    "\"",
    "\\",
    "x",
    "N ",
    "ep ",
    "the ",
    "\u{feff}",
    "\0",
    "♘f3 ",
    "½–½ ",
    "…",
    "é ",
];

/// Tests random texts, most of which contain nothing that a PGN reader expects.
#[test]
fn texts_at_random_are_read_alike() {
    let mut faults = Vec::new();
    let mut games = 0;
    let (plain, with_lines) = (options(Readers::Both), with_lines(Readers::Both));
    let seeds = trials(2_000, 200).flat_map(|trial| (0..100).map(move |k| 100 * trial as u64 + k));
    for mut random in seeds.map(fastrand::Rng::with_seed) {
        let mut text = String::from("[Event \"first\"]\n\n");
        for _ in 0..random.usize(1..24) {
            text += PIECES[random.usize(..PIECES.len())];
        }
        let mut text = text.into_bytes();
        if random.u8(..4) == 0 {
            let at = random.usize(16..text.len());
            text[at] = random.u8(..);
        }
        let options = if random.bool() { &with_lines } else { &plain };
        match compare(&text, options) {
            Ok(agreement) => games += agreement.games,
            Err(error) => faults.push(format!("{}\n  {error}", text.escape_ascii())),
        }
    }
    faults.sort_by_key(String::len);
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults[..faults.len().min(12)].join("\n"));
    assert!(games > least(200_000, 20_000) as u64, "{games}");
}
