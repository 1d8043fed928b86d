//! Tests the keyword table: every keyword behaves as its row says, and `docs/language.md` agrees with the table.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    path::PathBuf,
};

use orbit_database::StreamOptions;
use orbit_engine::Answer;
use orbit_query::{
    Dialect,
    words::{self, Word, WordGroup, WordStatus, WordValue},
};
use orbit_reel::Block;

use tempfile::TempDir;

use crate::{
    common::{data, every_nth_game, pgn_blocks, pgn_blocks_with},
    differential::{Generator, Rng, query_texts},
    runners::Runner,
};

fn rows() -> impl Iterator<Item = (&'static WordGroup, &'static Word)> {
    words::groups().flat_map(|group| group.words.iter().map(move |&word| (group, word)))
}

/// Returns true if a spelling is a word, not a sign or a single letter. No letter may directly precede or follow a word.
fn is_word(spelling: &str) -> bool {
    spelling.len() > 1 && spelling.starts_with(|first: char| first.is_ascii_alphabetic())
}

/// Returns the first offset at which a query uses a spelling.
fn place(query: &str, spelling: &str) -> Option<usize> {
    let open = if query.starts_with("(position ") { "(position ".len() } else { 0 };
    let letter = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    query[open..].match_indices(spelling).map(|(at, _)| open + at).find(|&at| {
        let (before, behind) = (query[..at].chars().last(), query[at + spelling.len()..].chars().next());
        !is_word(spelling) || !letter(before) && !letter(behind)
    })
}

/// Returns a keyword's example with another spelling in place of the usual one.
fn respelt(word: &Word, spelling: &str) -> String {
    let usual = word.spellings[0];
    let at = place(word.example, usual)
        .unwrap_or_else(|| panic!("the example of `{usual}` does not use it: {}", word.example));
    format!("{}{spelling}{}", &word.example[..at], &word.example[at + usual.len()..])
}

fn hits(answers: &[Answer]) -> usize {
    answers.iter().filter(|answer| answer.is_hit()).count()
}

/// Returns the engine for an example: the CPU engine if the example has a plan (code for the fast engines), and the reference
/// engine otherwise.
fn runner_of(example: &str) -> Runner {
    let cpu = Runner::cpu(0);
    if cpu.refuses(example) { Runner::reference() } else { cpu }
}

/// Returns a folder for the examples that read or write files.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    std::fs::write(folder.path().join("positions.cqo"), format!("{start}\n")).unwrap();
    folder
}

/// Returns the results of an example, which may use files in a folder.
fn answers_of(
    runner: &Runner,
    example: &str,
    folder: &TempDir,
    block: &Block,
) -> Result<Vec<Answer>, String> {
    let mut query = orbit_query::parse(example).map_err(|error| error.to_string())?.query;
    query.header.files = Some(folder.path().to_path_buf());
    runner.answers_of(&query, block)
}

fn sample() -> Vec<Block> {
    pgn_blocks(&std::fs::read_to_string("games/sample.pgn").unwrap())
}

/// A game with features that the sample games lack: tags, side lines, a null move, comments and glyphs.
const TAGGED: &str = r#"[Event "2.p Tourney of orbit"]
[White "Alekhine, A"]
[Black "?"]
[WhiteElo "2500"]
[BlackElo "2400"]
[EventDate "2011.01.01"]
[ECO "B62"]
[Annotator "orbit"]
[Result "1-0"]

1. e4 (1. d4 d5 2. -- e5) 1... c5! {a novelty} 2. Nf3 (2. Nc3 Nc6) 2... Nc6 1-0
"#;

fn tagged() -> Block {
    let mut trees = StreamOptions::default();
    (trees.parse.variations, trees.parse.annotations) = (true, true);
    pgn_blocks_with(TAGGED, trees).remove(0)
}

#[test]
fn no_spelling_stands_twice() {
    let mut seen = BTreeSet::new();
    for (group, word) in rows() {
        for spelling in word.spellings {
            assert!(seen.insert((group.dialect == Dialect::Cql5, spelling)), "`{spelling}` has two rows");
            assert!(std::ptr::eq(words::find(group.dialect, spelling).unwrap(), word), "{spelling}");
        }
        if !matches!(word.status, WordStatus::Refused(_)) {
            let meaning = word.meaning;
            assert!(
                !meaning.is_empty() && !meaning.ends_with('.') && meaning.len() < 160,
                "{:?}",
                word.spellings
            );
        }
    }
    assert!(seen.len() > 350, "{} spellings", seen.len());
}

/// Every keyword in `tests/data/words.txt`, a list made from the manuals independently of the table, must have a row.
#[test]
fn every_word_of_the_manuals_has_a_row() {
    let list = data("words.txt");
    let mut dialect = None;
    let mut count = 0;
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        match line {
            "[CQL 6.2]" => dialect = Some(Dialect::Cql6),
            "[CQL 5]" => dialect = Some(Dialect::Cql5),
            _ => {
                for word in line.split_whitespace() {
                    let dialect = dialect.expect("a list begins with its name");
                    assert!(words::find(dialect, word).is_some(), "`{word}` of {dialect:?} has no row");
                    count += 1;
                }
            }
        }
    }
    assert!(count > 330, "{count} words");
}

/// Each example must have the same results on all engines that support it and in every spelling, and must have a hit in the
/// sample games or in the game with tags.
#[test]
fn examples_answer() {
    let games = sample();
    let blocks = [every_nth_game(&games, 3, 90), tagged()];
    let (reference, folder) = (Runner::reference(), folder());
    let answers = |runner: &Runner, text: &str| -> Result<Vec<Answer>, String> {
        let found: Result<Vec<_>, _> =
            blocks.iter().map(|block| answers_of(runner, text, &folder, block)).collect();
        Ok(found.map_err(|error| format!("{text}: {error}"))?.concat())
    };
    let check = |word: &Word| -> Result<(), String> {
        let example = word.example;
        let runner = runner_of(example);
        let found = answers(&runner, example)?;
        if found != answers(&reference, example)? {
            return Err(format!("{example}: {} and reference differ", runner.name));
        }
        for spelling in word.spellings {
            let text = respelt(word, spelling);
            if answers(&runner, &text)? != found {
                return Err(format!("{text} does not answer as {example}"));
            }
        }
        let finds =
            |block| hits(&answers_of(&runner, example, &folder, block).expect("it was run above")) > 0;
        if hits(&found) == 0 && !games.iter().any(finds) {
            return Err(format!("{example} finds nothing"));
        }
        Ok(())
    };
    let built = rows().filter(|(_, word)| matches!(word.status, WordStatus::Here | WordStatus::Within(_)));
    let outcomes: Vec<Result<(), String>> = built.map(|(_, word)| check(word)).collect();
    let faults: Vec<&String> = outcomes.iter().filter_map(|outcome| outcome.as_ref().err()).collect();
    assert!(faults.is_empty(), "{} faults: {faults:#?}", faults.len());
    assert!(outcomes.len() > 170, "{} examples", outcomes.len());
}

/// The error for a keyword that is not implemented must name it, in every spelling and at every place.
#[test]
fn words_that_are_not_built_are_named() {
    let mut count = 0;
    for (group, word) in rows() {
        let (WordStatus::NotYet | WordStatus::Within(_)) = word.status else { continue };
        assert_eq!(group.dialect, Dialect::Cql5, "{:?}", word.spellings);
        for &spelling in word.spellings {
            let texts =
                [format!("(position :{spelling})"), format!("(position Ra1 :not (position !:{spelling} 3))")];
            for text in texts {
                let error = orbit_query::parse(&text).expect_err(&text);
                assert!(error.message.ends_with(" is not supported yet"), "{text}: {}", error.message);
                assert!(
                    text[error.span.start..error.span.end].ends_with(spelling),
                    "{text}: {:?}",
                    error.span
                );
                let subject = format!("the keyword `:{spelling}`");
                assert!(error.message.starts_with(&subject), "{text}: {}", error.message);
                count += 1;
            }
        }
    }
    assert!(count > 130, "{count} queries");
}

/// Keywords that will never be supported are rejected with a reason. They can be variable names.
#[test]
fn words_that_are_refused_say_why() {
    let refused = rows().filter_map(|(_, word)| match word.status {
        WordStatus::Refused(why) => Some((word.spellings[0], why)),
        _ => None,
    });
    let mut count = 0;
    for (word, why) in refused {
        let error = orbit_query::parse(word).expect_err(word);
        assert_eq!((error.message, &*error.label), (format!("`{word}` is no filter"), why));
        orbit_query::parse(&format!("{{{word} = R {word}}}")).expect(word);
        count += 1;
    }
    assert!(count > 5);
}

/// If a letter is missing from a keyword, the message must suggest the keyword.
#[test]
fn every_word_is_suggested() {
    for (group, word) in rows() {
        for &spelling in word.spellings.iter().filter(|spelling| is_word(spelling) && spelling.len() > 5) {
            let begins =
                matches!(word.status, WordStatus::Refused(_)) || word.form(spelling).starts_with("cql(");
            let misspelt = format!("{}{}", &spelling[..3], &spelling[4..]);
            if begins || words::find(group.dialect, &misspelt).is_some() {
                continue;
            }
            let meant = words::nearest(group.dialect, &misspelt);
            let is_near = |meant: &str| {
                meant == spelling
                    // If several keywords are equally similar, the first one is suggested. For example, the misspelling
                    // `isubound` differs by a single letter from `isunbound`, but also from `isbound`.
                    || (0..misspelt.len()).any(|at| [&misspelt[..at], &misspelt[at + 1..]].concat() == meant)
                    || matches!(word.status, WordStatus::NotYet)
                    || meant.len() + 2 > spelling.len()
            };
            assert!(meant.is_some_and(is_near), "{misspelt} for {spelling}: {meant:?}");
        }
    }
}

/// Every implemented CQL 6 keyword must occur in the output of the query generator.
#[test]
fn generated_queries_use_every_word() {
    let mut rng = Rng::new(23);
    let mut text = String::new();
    for _ in 0..5000 {
        text += &Generator::new(&mut rng).query().text();
        text.push('\n');
    }
    text += &query_texts(30);
    let apart = [
        // These keywords end a run.
        "cql_abort",
        "cql_assertvariations",
        // These keywords need a folder.
        "readfile",
        "writefile",
        // No generated game has won an award.
        "hhdb",
    ];
    let mut unused = Vec::new();
    for (group, word) in rows().filter(|(group, word)| group.dialect == Dialect::Cql6 && is_in_queries(word))
    {
        let is_used = word.spellings.iter().any(|spelling| place(&text, spelling).is_some());
        if !is_used && !apart.contains(&word.spellings[0]) {
            unused.push((group.title, word.spellings[0]));
        }
    }
    assert!(unused.is_empty(), "teach the generator (differential/generate) these words: {unused:?}");
}

/// Returns true if a keyword can occur in a query outside the header.
fn is_in_queries(word: &Word) -> bool {
    matches!(word.status, WordStatus::Here) && !word.form(word.spellings[0]).starts_with("cql(")
}

// ---- docs/language.md

fn in_words(value: WordValue) -> &'static str {
    match value {
        WordValue::NoValue => "",
        WordValue::AsF => "as F",
        WordValue::Condition => "condition",
        WordValue::Squares => "squares",
        WordValue::Number => "number",
        WordValue::Text => "string",
        WordValue::Position => "position",
    }
}

fn code(text: &str) -> String {
    format!("`{}`", text.replace('|', "\\|"))
}

fn spelt(group: &WordGroup, word: &Word, spelling: &str) -> String {
    if word.takes_colon(group.dialect) { format!(":{spelling}") } else { spelling.into() }
}

fn group_page(out: &mut String, group: &WordGroup, games: &[Block], folder: &TempDir) {
    write!(out, "\n## {}\n", group.title).unwrap();
    if !group.about.is_empty() {
        write!(out, "\n{}\n", group.about).unwrap();
    }
    let (mut here, mut later, mut refused) = (String::new(), String::new(), String::new());
    for word in &group.words {
        let names: Vec<String> =
            word.spellings.iter().map(|spelling| code(&spelt(group, word, spelling))).collect();
        let names = names.join(" ");
        let form = code(&word.form(&spelt(group, word, word.spellings[0])));
        let (value, meaning) = (in_words(word.value), word.meaning.replace('|', "\\|"));
        match word.status {
            WordStatus::Here | WordStatus::Within(_) => {
                let runner = runner_of(word.example);
                let of_block = |block| match answers_of(&runner, word.example, folder, block) {
                    Ok(answers) => hits(&answers),
                    Err(error) => panic!("{}: {error}", word.example),
                };
                let hits: usize = games.iter().map(of_block).sum();
                let example = code(word.example);
                writeln!(here, "| {names} | {form} | {value} | {meaning} | {example} | {hits} |").unwrap();
            }
            WordStatus::NotYet => writeln!(later, "| {names} | {form} | {value} | {meaning} |").unwrap(),
            WordStatus::Refused(why) => {
                let why = why.replace('|', "\\|");
                writeln!(refused, "| {names} | {why} |").unwrap();
            }
        }
    }
    for (rows, head, columns) in [
        (here, "| word | form | value | meaning | example | hits |", 6),
        (later, "| not supported yet | form | value | meaning |", 4),
        (refused, "| never supported | why |", 2),
    ] {
        if !rows.is_empty() {
            write!(out, "\n{head}\n{}|\n{rows}", "|---".repeat(columns)).unwrap();
        }
    }
}

fn page() -> String {
    let (games, folder) = (sample(), folder());
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, word) in rows() {
        let status = match word.status {
            WordStatus::Here | WordStatus::Within(_) => "here",
            WordStatus::NotYet => "later",
            WordStatus::Refused(_) => "refused",
        };
        *counts.entry(status).or_default() += 1;
    }
    let mut out = format!(
        "# The query language\n\n\
         This page lists every word of CQL 6.2 and of CQL 5 that `orbit` recognises. `orbit` supports {} of these words. {} are \
         not supported yet, and {} never will be: a query with an unsupported word is refused, and the message names the word. \
         `orbit help language WORD` prints the description of one word.\n\n\
         `tests/suite/language.rs` writes this page from the table in `crates/query/src/words.rs`, and runs every example on the \
         slow *reference engine*. The examples that the faster engine for the processor supports run on both engines. In the \
         tables, the column *hits* is the number of positions in `games/sample.pgn` at which the example matches. These games \
         have no ratings, opening codes, comments, null moves or side lines, so examples that search for one of these have 0 \
         hits. The file `positions.cqo`, which one of the examples reads, contains the FEN of the usual start position.\n\n\
         In the column *form*, F is any *filter*, an expression that can match a position. S, N, T and P are filters whose \
         values are a set of squares (S), a number (N), a string (T) or a position (P). TEXT is a string in quotation marks, and \
         NAME is the name of a variable. RANGE is a number, such as `2`, or the smallest and the largest number of a range, such \
         as `2 4`. Brackets enclose parts that can be left out, and `|` separates alternatives.\n",
        counts["here"], counts["later"], counts["refused"]
    );
    out.push_str(PRECEDENCE);
    for group in words::groups() {
        group_page(&mut out, group, &games, &folder);
    }
    out
}

/// The section of `docs/language.md` about precedence. The test `field::forms_are_read_as_with_parentheses` contains an example
/// for each row.
const PRECEDENCE: &str = "
## Operands and precedence

The operand of a filter is the part of the query to which the filter applies. The table below says how far the operand extends \
to the right. Operators have this precedence, from the tightest to the loosest: `:`, then `T[...]` and `~~`, `attacks` and \
`attackedby`, `&`, `|`, `->` and `<-`, `--` and `[x]`, `* / %`, `+ -`, comparisons, `in`, `not`, `and`, `or`.

| operand | filters |
|---|---|
| everything to the right, including `and` and `or` | transforms, `find`, `if`, `loop`, the bodies of `square`, `piece`, `∊`, `echo` and `while`, `sort`, `assert`, `notransform`, \
`comment`, `message` and `str` without parentheses, `D[k] =` |
| up to comparisons and `in` | `not` |
| sums and products | `abs`, `sqrt`, `position`, `int`, `ascii`, `makesquare` and `#` of a string, assignments, each argument of `max`, `min`, `indexof`, `child(...)` |
| arrows, unions and intersections of sets | `#` of a set, `power`, `rank`, `file`, `type`, `colortype`, `typename`, `piecename`, `pieceid`, `between`, the sets of loops, `focus` |
| `attacks` and `attackedby` | `~` |
| one filter with its `:`, `[...]` and `~~` | directions, `light`, `dark`, `uppercase`, `lowercase`, the parts of `pin` and `move`, `-` before a number |

`P:T` is the value of the string filter T at the position P. `P:T[i]` means `(P:T)[i]`, so the number `i` is evaluated at the \
current position, not at P. The operand of a transform ends before an operator that cannot be applied to the operand: `flip \
count Ra1 * 2` means `(flip count Ra1) * 2`, because the set `Ra1` cannot be multiplied.

A filter may have no value, such as `rank R` if there are two rooks. Then the filter does not match, and a filter of which it is \
an operand has no value either. This rule applies to arithmetic, comparisons, parts of strings, `str F` of a single filter, \
assignments, `settag` and dictionary entries. Two filters can match although an operand has no value: `a != b` matches if a or b \
has no value, and `equal(F G)` matches if both F and G have none. If F and G have different types, a condition that does not \
match and an empty set count as having no value. In a comment, and in `str` of several filters, `<false>` stands for a missing \
value.
";

#[test]
fn the_page_of_the_language_is_up_to_date() {
    let page = page();
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/language.md");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, page).unwrap();
        return;
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(
        kept == page,
        "docs/language.md is not what the table says: run the tests once with UPDATE_GOLDEN=1"
    );
}
