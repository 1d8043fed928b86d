//! Tests the plans of queries: the conditions that leave loops, the loops that become straight-line code, and the reasons why a query
//! has no plan.

use orbit_plan::{Op, PlanOptions, Planner, Program, Step};

#[test]
fn filters_leave_the_loops_on_which_they_do_not_depend() {
    for (text, by_hand) in [
        (
            "square x in A {square y in a {square z in A {z attacks y x attacks y z!=x}}}",
            "square x in A {square y in a {x attacks y square z in A {z attacks y z!=x}}}",
        ),
        (
            "piece X in A {square y in a {square z in a {power X>2 y attacks z}}}",
            "piece X in A {power X>2 square y in a {square z in a {y attacks z}}}",
        ),
    ] {
        let [time, due] = [text, by_hand].map(|text| {
            let query = orbit_query::parse(text).expect("a query").query;
            let planner = Planner::new(&query, PlanOptions::default()).expect("the query is short");
            assert!(planner.is_program(), "{text}");
            planner.hits().program.time()
        });
        assert!(10 * time <= 11 * due, "{text}: {time}, {due} if a person takes the filter out");
    }
}

/// Queries whose run times were measured. The flag is true if the flat program was faster than the tables.
const MEASURED: [(&str, bool); 12] = [
    ("square x in A {square y in a {x attacks y}}", true),
    ("square x in R {square y in R {x!=y rank x==rank y #(between(x y) & _)>2}}", true),
    ("flip flipcolor {square x in Ra1-4 {square y in ka5-8 {x attacks y}}}", true),
    ("shift {square x in Pa2 {square y in pb3 {x attacks y}}}", true),
    ("flip shift flipcolor {square x in Na1 {square y in qb3 {x attacks y}}}", true),
    ("square all x in R {square y in a {x attacks y}}", true),
    ("square x in Pa2 {square y in . {x attacks y}}", true),
    ("square x in A {square y in (a attackedby x) {y attacks x}}", true),
    ("square x in A {square y in . {x attacks y}}", false),
    ("square x in . {square y in . {x attacks y}}", false),
    ("square x in A {square y in a {power x==power y}}", false),
    ("square x in A {square y in A #(A & between (x y)) == 6}", false),
];

#[test]
fn nested_loops_become_programs_where_that_is_faster() {
    for (text, is_program) in MEASURED {
        let query = orbit_query::parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}")).query;
        let planner = Planner::new(&query, PlanOptions::default()).expect("the query is short");
        assert_eq!(planner.is_program(), is_program, "{text}");
    }
}

#[test]
fn a_query_looks_for_masks_ahead() {
    for (text, looks) in [
        ("piece X in Q {path X-- --* mate}", true),
        ("piece X in Q {path X-- --(mate)}", true),
        ("piece X in Q {line --> X-- --> true* --> {mate wtm}}", true),
        ("piece X in Q {path X-- mate?}", false),
        ("piece X in Q {line <-- X==d1 <-- check}", false),
        ("{if initial x=[] piece X in Q {path X-- x|=X mate}}", false),
    ] {
        let query = orbit_query::parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}")).query;
        let planner = Planner::new(&query, PlanOptions::default()).expect("a plan");
        assert!(planner.refusal().is_none(), "{text}");
        let plan = planner.hits().program.to_string();
        assert_eq!(plan.contains(" ahead"), looks, "{text}\n{plan}");
    }
}

fn program(text: &str, unrolling: bool) -> Program {
    let query = orbit_query::parse(text).expect("a query").query;
    let options = PlanOptions { unrolling, programs: false, ..PlanOptions::default() };
    Planner::new(&query, options).expect("it can be planned").hits().program
}

fn loops(program: &Program) -> usize {
    program.steps.iter().filter(|step| matches!(step, Step::Begin { .. })).count()
}

#[test]
fn loops_over_lines_of_a_length_become_these_lines() {
    let text = "square x in A square y in A #(A & between (x y)) == 6";
    let (looped, written) = (program(text, false), program(text, true));
    assert!(looped.cost() > 100_000, "{}", looped.cost());
    assert_eq!(loops(&written), 0);
    // Only 18 lines have six squares between their ends: the files, the ranks and the two long diagonals. The code for each of
    // these lines computes the squares at its ends.
    assert!(written.cost() < 250, "{}", written.cost());
}

#[test]
fn loops_whose_rows_differ_stay() {
    let text = "square x in A square y in A #(A & between (x y)) == 2";
    assert_eq!(loops(&program(text, true)), 2);
}

#[test]
fn steps_on_the_square_of_a_loop_alone_become_columns_of_its_table() {
    let text = "square all x in a-h1-8 {makesquare(file x 9-rank x) & A}";
    let program = program(text, true);
    let tables: Vec<_> = program.tables.iter().filter(|table| !table[0].is_empty()).collect();
    assert_eq!(tables.len(), 1);
    // The row for square 10 contains the square itself (bit 10), and the square on the same file at the same distance from the
    // other edge (bit 50).
    assert_eq!(tables[0][10], [1 << 10, 1 << 50]);
    let on_one_square =
        |step: &Step| matches!(step, Step::Do { op: Op::MakeSquare { .. } | Op::Rank(_), .. });
    assert!(!program.steps.iter().any(on_one_square));
}

#[test]
fn the_reason_is_a_filter_that_no_program_has() {
    for (text, filter, what) in [
        ("piece X in Q {X attacks k message(X)}", "message(X)", "what writes"),
        ("echo (s t) {s<t message(\"x\")}", "message(\"x\")", "what writes"),
        ("x=0 loop {x<3 x+=1 settag(\"a\" \"b\")}", "settag(\"a\" \"b\")", "what writes"),
        ("x=0 while (x<3) {x+=1 originalcomment \"a\"}", "originalcomment", "`originalcomment`"),
    ] {
        let query = orbit_query::parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}")).query;
        let planner = Planner::new(&query, PlanOptions::default()).expect("the query is short");
        let refusal = planner.refusal().unwrap_or_else(|| panic!("{text} has a plan"));
        assert_eq!(&text[refusal.span.start..refusal.span.end], filter);
        assert!(refusal.message.ends_with(&format!("lack {what}")), "{text}: {}", refusal.message);
    }
}
