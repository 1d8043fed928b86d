//! Tests queries as people write them: precedence and grouping, and queries that are rejected with a suggested remedy.

use orbit_search::executor::EngineChoice;
use orbit_transforms::{AsText, expand};

use crate::{
    common::{data, harness},
    game_vectors::{Row, answer, check},
};

/// Returns a query with all parentheses written, so that precedence rules no longer matter.
fn told(text: &str) -> String {
    let parsed = orbit_query::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    AsText(&expand(&parsed.query.body).unwrap_or_else(|error| panic!("{text}: {error}"))).to_string()
}

#[table]
fn forms_are_read_as_with_parentheses() -> Vec<harness::Row> {
    let rows: Vec<(String, String)> = data("field.tsv")
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .map(|(form, same)| (form.to_string(), same.to_string()))
        .collect();
    assert!(rows.len() >= 46);
    let row = |(form, same): (String, String)| {
        harness::Row::new(form.clone(), move || assert_eq!(told(&form), told(&same), "{form}"))
    };
    rows.into_iter().map(row).collect()
}

/// A number or a string in place of a condition is rejected with a suggested remedy. CQL 6.2 reports that such a query was
/// probably parsed in an unexpected way.
#[test]
fn numbers_and_texts_alone_are_refused_with_a_remedy() {
    for (query, help) in [
        ("year 2010", "`year == 2010`"),
        ("year 2000 2010", "`year >= 2000 year <= 2010`"),
        ("movenumber 10 20 check", "`movenumber >= 10 movenumber <= 20`"),
        ("power A 30 39", "`power A >= 30 power A <= 39`"),
        ("[RQ] 2", "`[RQ] == 2`"),
        ("{ply 3 check}", "`ply == 3`"),
        ("path [x] {3 9}", "`{3,9}`"),
        ("line --> check {2 5} --> mate", "`{2,5}`"),
        ("white \"Carlsen\"", "`player white \"Carlsen\"`"),
        ("fen 8/8", "quotation marks"),
        ("check or 3", ""),
        ("not 3", ""),
        ("if 3 check", ""),
        ("check and \"x\"", ""),
        ("check \"x\" wtm", ""),
        ("find 3", ""),
        ("loop 3", ""),
        ("square s in R 3", ""),
        ("flip count -3", ""),
        ("check str(ply) wtm", "`str(ply) == ...`"),
        ("typename e4 check", "`typename e4 == ...`"),
        ("max(#R #r) check", "`max(#R #r) == ...`"),
        ("player white == \"Carlsen\" or \"Anand\"", ""),
    ] {
        let fault = orbit_query::parse(query).expect_err(query);
        assert!(
            fault.message.contains(" as a condition") || fault.message.contains("only numbers"),
            "{query}: {fault}"
        );
        assert!(fault.help.unwrap_or_default().contains(help), "{query}: no {help}");
    }
    // In these queries, numbers and strings are values in lists or operands of filters, so they are accepted.
    for query in
        ["ply", "2 + 3", "{check 3} > 2", "x = 3", "{x = 3 x == 3}", "if check 3 else 4", "\"x\" in fen"]
    {
        assert!(orbit_query::parse(query).is_ok(), "{query}");
    }
    for query in ["fen", "str(ply)", "check str(ply)", "max(#R #r)"] {
        let remarks = orbit_query::parse(query).expect(query).remarks;
        assert!(remarks.iter().any(|remark| remark.label.contains("CQL 6.2 refuses")), "{query}");
    }
}

/// Queries, each with numbers of games in `main.pgn`. The query matches at every position of the listed games, and nowhere in the
/// other games.
const ANSWERS: [(&str, &[usize]); 21] = [
    // A string filter without a value assigns nothing, so the variable keeps its old value.
    ("vv=eco", &[1]),
    ("{vv=tag \"Annotator\" true}", &[2]),
    ("{vv=\"ab\" {vv=eco or true} vv==\"ab\"}", &[2, 3, 4]),
    // The arguments of a comment are evaluated, so the assignments in them take effect.
    ("{nn=0 comment({nn+=1 A or true}) nn==1}", &[1, 2, 3, 4]),
    ("{nn=0 comment(\"x\" {nn+=2 K}) nn==2}", &[1, 2, 3, 4]),
    // Two filters without a value are equal.
    ("equal(parent parent)", &[1, 2, 3, 4]),
    ("equal(1/0 1/0)", &[1, 2, 3, 4]),
    ("equal(originalcomment tag \"Zoo\")", &[1, 2, 3, 4]),
    ("equal(1/0 eco)", &[2, 3, 4]),
    // A loop over keys matches even if its body does not.
    ("{nn=0 {local dictionary D D[1]=ply D[2]=ply t∊D {nn+=1 false}} nn==2}", &[1, 2, 3, 4]),
    ("{while (tag \"Annotator\" ~~ \"m\") true}", &[2]),
    ("settag(\"Foo\" tag \"Annotator\")", &[2]),
    ("{local dictionary D D[\"a\"]=ply unbind D[eco]}", &[1]),
    // A character beyond the end of a string cannot be set.
    ("{vv=\"abc\" vv[3]=\"Z\"}", &[]),
    ("{vv=\"abc\" vv[-4]=\"Z\"}", &[]),
    ("{vv=\"abc\" vv[-3]=\"Z\" vv==\"Zbc\"}", &[1, 2, 3, 4]),
    ("{local dictionary D[\"a\"]=ply D[\"a\"]==ply}", &[1, 2, 3, 4]),
    ("str(eco) == \"C50\"", &[1]),
    // The empty set is a key like any other.
    ("{local dictionary D D[[]]=1 D[k&K]==1 #D==1}", &[1, 2, 3, 4]),
    ("{local dictionary D D[[]]=1 D[A]}", &[]),
    // An `if` is a condition if the values of its branches have different types.
    ("if (A) then (gamenumber) <= 2 else ancestor(child initialposition)", &[1, 2]),
];

/// Queries whose expected results come from the reference engine, which does not use plans.
const ALIKE: [&str; 6] = [
    "piece X in R {X attacks s∊[Kk] s}",
    "piece X in [Rr] {X attacked by s∊[Qq] s}",
    "piece X in R {X->s∊[Aa] s}",
    "square t in R {t attacks s∊[Kkq] s}",
    "parent:fen[ply]",
    "str(check) == \"<true>\" or str(check 1) == \"<false>1\"",
];

const ENGINES: [(&str, EngineChoice); 2] =
    [("reference", EngineChoice::Reference), ("cpu", EngineChoice::Cpu)];

fn row(query: &str, due: String) -> Row {
    Row { id: "b".into(), query: query.into(), file: "main.pgn".into(), due }
}

#[table]
fn each_engine_answers() -> Vec<harness::Row> {
    let positions = [21, 5, 18, 1];
    let due = |games: &[usize]| {
        let of_game = |game: usize| (0..positions[game - 1]).map(move |slot| format!("{game}:{slot}"));
        games.iter().copied().flat_map(of_game).collect::<Vec<String>>().join(" ")
    };
    let on_engines = |(query, games): &(&'static str, &[usize])| {
        let (query, due) = (*query, due(games));
        ENGINES.map(|(name, engine)| {
            let due = due.clone();
            harness::Row::new(format!("{query}::{name}"), move || check(&row(query, due.clone()), engine))
        })
    };
    ANSWERS.iter().flat_map(on_engines).collect()
}

#[table]
fn plans_answer_as_the_reference_engine() -> Vec<harness::Row> {
    let on_cpu = |query: &'static str| {
        harness::Row::new(query, move || {
            let due = answer(&row(query, String::new()), EngineChoice::Reference).unwrap();
            assert!(!due.is_empty(), "{query} matches nowhere");
            check(&row(query, due), EngineChoice::Cpu);
        })
    };
    ALIKE.into_iter().map(on_cpu).collect()
}

/// Tests the prizes of the studies. In order, those of `awards.pgn` are `1.p`, `2.p`, `1/3.p`, `.p`, `sp.p` twice, `1.hm`,
/// `com`, `sp.hm`, `3/4.p`, and none. Those of `spellings.pgn` are `2.p.`, `2.p,`, `1.p=`, and `1.sp.p`.
#[test]
fn awards_of_studies_are_read() {
    for (query, due, due_of_spellings) in [
        ("hhdb prize", "1: 2: 3: 4: 5: 6: 10:", "1: 2: 3: 4:"),
        ("hhdb prize == 1", "1: 3: 4:", "3:"),
        ("hhdb prize == 2", "2:", "1: 2:"),
        ("hhdb prize == 0", "5: 6:", "4:"),
        ("hhdb special prize", "5: 6:", "4:"),
        ("hhdb hm", "7: 9:", ""),
        ("hhdb commendation", "", ""),
        ("hhdb award", "1: 2: 3: 4: 5: 6: 7: 9: 10:", "1: 2: 3: 4:"),
    ] {
        for (file, due) in [("awards.pgn", due), ("spellings.pgn", due_of_spellings)] {
            let row = Row { id: "g".into(), query: query.into(), file: file.into(), due: due.into() };
            check(&row, EngineChoice::Reference);
        }
    }
}
