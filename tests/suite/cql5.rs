//! Tests CQL 5 position lists: the worked examples of the manual, and rules for which the manual has no examples.
//!
//! Source of the examples: CQL 5 manual, position list: transforms. If an example contradicts the rules of the manual, the
//! expected result follows the rules, and a comment says "erratum".

use orbit_engine::{Answer, Engine, PreparedQuery, Wants};
use orbit_plan::PlanOptions;
use orbit_query::{Dialect, Node, Type};
use orbit_reference::Reference;
use orbit_transforms::OutermostOrbit as _;
use orbit_transforms::{AsText, expand, to_cql6};

use crate::{
    common::{
        block_of,
        length::{least, trials},
        position,
    },
    differential::{Rng, operation},
    runners::{NONE, OPTIMISATIONS, Runner},
};

/// Returns the copies (transformed versions) of a list as CQL 6 text, sorted.
fn copies(text: &str) -> Vec<String> {
    let parsed = orbit_query::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let orbit = expand(&parsed.query.body).unwrap().outermost();
    let orbit = orbit.unwrap_or_else(|| panic!("{text} has no transform"));
    let reference = Reference::new(&parsed.query).unwrap();
    assert_eq!(reference.copies(), orbit.copies.len(), "{text}: the two ways to expand differ");
    let mut copies: Vec<String> = orbit.copies.iter().map(|copy| AsText(&copy.filter).to_string()).collect();
    copies.sort_unstable();
    copies
}

fn list(text: &str) -> Vec<String> {
    let mut list: Vec<String> = text.split("; ").map(String::from).collect();
    list.sort_unstable();
    list
}

#[test]
fn images_of_the_manual() {
    for (text, images) in [
        ("(position [○●][a-h1-2,f6,h7] :flipdiagonal)", "{[Aa][a-h1-2,f6,h7]}; {[Aa][a-b1-8,f6,g8]}"),
        ("(position ♖a8 :flipoffdiagonal)", "{Ra8}"),
        ("(position ♗b2 :flipoffdiagonal)", "{Bb2}; {Bg7}"),
        ("(position [♗♝][a18] :flipoffdiagonal)", "{[Bb]a1-8}; {[Bb]a-h8}"),
        ("(position ◑f6 :flipvertical)", "{[Aa]f6}; {[Aa]c6}"),
        ("(position ◑f6 :fliphorizontal)", "{[Aa]f6}; {[Aa]f3}"),
        ("(position ♕c2 :flip)", "{Qc2}; {Qb3}; {Qb6}; {Qc7}; {Qf7}; {Qg6}; {Qg3}; {Qf2}"),
        (
            "(position ♕a4 :shifthorizontal)",
            "{Qa4}; {Qa-b4}; {Qa-c4}; {Qa-d4}; {Qa-e4}; {Qa-f4}; {Qa-g4}; {Qa-h4}",
        ),
        ("(position [♖♝♟][a2,c2] :flipcolor)", "{[Rbp][a2,c2]}; {[BPr][a7,c7]}"),
        // Erratum: the manual shifts to Rb2 Bg8, but h8 is at the edge and stays.
        ("(position ♖c2 ♗h8 :wtm :shifthorizontal)", "{Rc2 Bh8 wtm}; {Rb2 Bg-h8 wtm}; {Ra2 Bf-h8 wtm}"),
        // Erratum: the manual has Rb8.
        ("(position ♖b2 ♗g8 :wtm :fliphorizontal)", "{Rb2 Bg8 wtm}; {Rb7 Bg1 wtm}"),
        // Errata: the manual does not swap the colours, and has b8 instead of b7.
        ("(position ♖b2 ♗g8 :wtm :flipcolor)", "{Rb2 Bg8 wtm}; {rb7 bg1 btm}"),
        ("(position ♖c3 ♛g3 :shifthorizontal)", "{Rc3 qg3}; {Rb3 qf3}; {Ra3 qe3}; {Rd3 qh3}"),
        ("(position ♖c3 ♛g3 :fliphorizontal)", "{Rc3 qg3}; {Rc6 qg6}"),
        ("(position ♖c3 ♛g3 :flipdiagonal)", "{Rc3 qg3}; {Rc3 qc7}"),
        (
            "(position ♙c2 ♖c1 :shiftvertical)",
            "{Pc2 Rc1}; {Pc3 Rc1-2}; {Pc4 Rc1-3}; {Pc5 Rc1-4}; {Pc6 Rc1-5}; {Pc7 Rc1-6}; {Pc8 Rc1-7}",
        ),
    ] {
        let printed = |copy: String| if copy.starts_with('{') { copy } else { format!("{{{copy}}}") };
        assert_eq!(copies(text).into_iter().map(printed).collect::<Vec<_>>(), list(images), "{text}");
    }
    // Erratum: the manual's second a8 should be h8.
    let up = copies("(position ♖[a1,a8,h1,h8] :shiftvertical)");
    assert!(up.contains(&"{R[a1-2,h1-2]}".into()), "{up:?}");
}

#[test]
fn numbers_of_images() {
    for (text, count) in [
        ("(position ♖c3 ♛g3 :shiftvertical)", 8),
        ("(position ♖c3 ♛g3 :shift)", 32),
        ("(position ♙c2 ♖c1 :shiftvertical)", 7),
        ("(position ♙c2 ♖c1 :shift)", 56),
        ("(position ♘d4 ♚f3 :shift :flip)", 336),
        ("(position ♘d4 ♚f3 :flip :shift)", 336),
        ("(position ♘d4 ♚f3 :shift :flip :flipcolor)", 672),
        ("(position ♖ :shift :flip)", 1),
        ("(position ♖a1 ♗b3 :shifthorizontal :flip)", 76),
        ("(position ♖a1 ♗b3 :flip :shifthorizontal)", 76),
        ("(position ♔a1 :shifthorizontal)", 8),
        ("(position ♕b2 :shiftdiagonal)", 8 + 3 - 1),
        ("(position :result 1-0 :flipcolor)", 2),
        ("(position :result 1/2-1/2 :flipcolor)", 1),
    ] {
        assert_eq!(copies(text).len(), count, "{text}");
    }
}

/// A CQL 5 position list, a position, and true if the list matches there. Each row is tested on every engine, and with each
/// optimisation disabled.
const ROWS: &[(&str, &str, bool)] = &[
    // A shift moves all pieces of a list by the same distance.
    ("(position ♙c2 ♖c1 :shiftvertical)", "8/2P5/2R5/8/8/8/8/K6k w - - 0 1", true),
    ("(position ♙c2 ♖c1 :shiftvertical)", "8/2R5/2P5/8/8/8/8/K6k w - - 0 1", false),
    ("(position ♕a4 ♚e8 :shifthorizontal)", "5k2/8/8/8/Q7/8/8/K7 w - - 0 1", true),
    ("(position ♕h4 ♚d8 :shifthorizontal)", "2k5/8/8/8/7Q/8/8/K7 w - - 0 1", true),
    ("(position ♕h4 ♚d8 :shifthorizontal)", "4k3/8/8/8/7Q/8/8/K7 w - - 0 1", false),
    ("(position :not (position ♕[]))", "startpos", true),
    ("(position ♕[])", "startpos", false),
    // An empty designator removes every image (transformed version), even the untransformed one.
    ("(position :not (position ♕[]) :flip)", "startpos", false),
    // If all images (transformed versions) of a nested list are removed, the image of the outer list that contains it is also
    // removed.
    ("(position :not (position ♕b1) :shifthorizontal)", "k7/8/8/8/8/8/8/QQQQQQQQ w - - 0 1", false),
    (
        "(position :not (position ♕b1 :shiftvertical) :shifthorizontal)",
        "k7/8/8/8/8/8/8/QQQQQQQQ w - - 0 1",
        false,
    ),
    ("(position :not (position ♕b1) :shifthorizontal)", "k7/8/8/8/8/8/8/QQQQQQ1Q w - - 0 1", true),
    ("(position ♙[ah2] :piececount ♙ 8)", "startpos", true),
    ("(position :piececount ♙[ad2] 4)", "startpos", true),
    ("(position :piececount ♙ 3 7)", "startpos", false),
    ("(position :piececount . 32)", "startpos", true),
    ("(position :piececount ? 64)", "startpos", true),
    ("(position :piececount ○ >15)", "startpos", true),
    ("(position :piececount ○ > 16)", "startpos", false),
    ("(position :piececount ○ <=16)", "startpos", true),
    ("(position :piececount ▽ 4 :piececount △ 3 unlimited)", "startpos", true),
    ("(position !:piececount ▼ 4)", "startpos", false),
    ("(position :power ○ 39)", "startpos", true),
    ("(position :power [♕♜] 19)", "startpos", true),
    ("(position :powerdifference ◑ 0)", "startpos", true),
    ("(position :powerdifference [♕♜] -1)", "startpos", true),
    ("(position :powerdifference [♕♜] 1)", "startpos", false),
    ("(position :powerdifference [♕♜] 1 :flipcolor)", "startpos", false),
    ("(position :powerdifference ◑ 5 unlimited)", "4k3/8/8/8/8/8/8/r3K3 w - - 0 1", false),
    ("(position :powerdifference ◑ 5 unlimited :flipcolor)", "4k3/8/8/8/8/8/8/r3K3 w - - 0 1", true),
    ("(position :powerdifference ◑ >4 :flipcolor)", "4k3/8/8/8/8/8/8/R3K3 w - - 0 1", true),
    // The count is the number of attacking pairs, not of attackers or attacked pieces: here, two knights both attack two rooks,
    // which makes four pairs.
    ("(position :attackcount ♘ ♜ 3)", "k7/8/2r5/4N3/1N6/3r4/8/K7 w - - 0 1", false),
    ("(position :attackcount ♘ ♜ 4)", "k7/8/2r5/4N3/1N6/3r4/8/K7 w - - 0 1", true),
    ("(position :attackcount ♖ . 14)", "k7/8/8/8/3R4/8/8/K7 w - - 0 1", true),
    ("(position :attackcount ♖ ? 14)", "k7/8/8/8/3R4/8/8/K7 w - - 0 1", true),
    // The farther rook attacks only the nearer one, which blocks its line to the king.
    ("(position :attackcount ♖ ♚ 1)", "8/8/8/8/R2R3k/8/8/K7 w - - 0 1", true),
    ("(position :attackcount ♖ ♖ 2)", "8/8/8/8/R2R3k/8/8/K7 w - - 0 1", true),
    ("(position :attackcount ♙ ○ 0)", "startpos", true),
    ("(position :attackcount ♙ . 14)", "startpos", true),
    ("(position :attackcount ♟ .[ah6] 14)", "startpos", true),
    ("(position :attackcount ○ ○ 20)", "startpos", true),
    ("(position :attackcount ♘ ♚ 1 unlimited :flipcolor)", "8/8/8/8/8/1n6/8/K6k w - - 0 1", true),
    ("(position :attackcount ♘ ♚ 1 unlimited :flipcolor)", "k7/8/1n6/8/8/8/8/K7 w - - 0 1", false),
    ("(position :ray (♖ ♞ ♚))", "k7/8/8/n7/8/8/8/R6K w - - 0 1", true),
    ("(position :ray (♖ ♚))", "k7/8/8/n7/8/8/8/R6K w - - 0 1", false),
    ("(position :ray (♖ ? ♚))", "k7/8/8/n7/8/8/8/R6K w - - 0 1", true),
    ("(position :ray (♖ ? ♚))", "k7/8/8/8/8/8/8/R6K w - - 0 1", false),
    ("(position :rayhorizontal (♖ ♚))", "k7/8/8/8/8/8/8/R6K w - - 0 1", false),
    ("(position :rayvertical (♖ ♚))", "k7/8/8/8/8/8/8/R6K w - - 0 1", true),
    // The keyword `rayvertical` keeps its direction when a transform rotates the pieces.
    ("(position :rayvertical (♖a1 ♚a8) :flipdiagonal)", "7K/8/8/8/8/8/8/R6k b - - 0 1", false),
    ("(position :rayhorizontal (♖ ♚) :flip)", "k7/8/8/8/8/8/8/R6K w - - 0 1", false),
    ("(position :raydiagonal (♖ ♚))", "k7/8/8/8/8/8/8/K6R w - - 0 1", true),
    ("(position :rayattack (♖ ♚))", "k7/8/8/8/8/8/8/K6R w - - 0 1", false),
    ("(position :rayattack (♗ ♚))", "k7/8/8/8/8/8/8/K6B w - - 0 1", true),
    // Each line is counted once for each direction in which the pieces match.
    ("(position :ray (♖ ♖) 2)", "k7/8/8/8/8/8/8/RK5R w - - 0 1", false),
    ("(position :ray (♖ ♖) 2)", "k7/8/8/8/8/8/8/R6R w - - 0 1", true),
    ("(position :ray (♔ ♚) 0)", "startpos", true),
    ("(position :rayorthogonal (♙ ♟) 8)", "startpos", true),
    ("(position :or ((position ♖a2) (position ♖a1)))", "startpos", true),
    ("(position :or (position ♖a2) (position ♖a1))", "startpos", true),
    ("(position :or (♖a2 ♖a1))", "startpos", true),
    ("(position :or (♖a2 ♖a3))", "startpos", false),
    ("(position :and ((position ♖a1) (position ♖h1)))", "startpos", true),
    ("(position :and (♖a1 ♖h2))", "startpos", false),
    ("(position :not (♖a1 ♖h2))", "startpos", true),
    ("(position !:and (♖a1 ♖h1))", "startpos", false),
    ("(position (position ♖a1) (position ♜a8) :wtm !:check !:btm)", "startpos", true),
    ("(position :check)", "k7/8/8/8/8/8/8/R6K b - - 0 1", true),
    ("(position :mate)", "k7/1Q6/1K6/8/8/8/8/8 b - - 0 1", true),
    ("(position :stalemate)", "k7/8/1Q6/8/8/8/8/7K b - - 0 1", true),
    ("(position :initial :terminal)", "startpos", true),
    ("(position :result 1-0)", "startpos", false),
    ("; a comment\n ( position\n ♖a1 ; another\n)", "startpos", true),
    ("(match (position ♖a1))", "startpos", true),
    ("(match !:result 1-0 (position ♖a1))", "startpos", true),
    ("(match :result 1-0 (position ♖a1))", "startpos", false),
    // A nested list's keywords are applied before those of the outer list.
    ("(position (position ♖a1 :shifthorizontal) ♚h8 :fliphorizontal)", "3R4/8/8/8/8/8/8/K6k w - - 0 1", true),
    ("(position (position ♖a1 :shifthorizontal) ♚h8 :fliphorizontal)", "7k/8/8/8/8/8/8/K2R4 w - - 0 1", true),
    (
        "(position (position ♖a1 :shifthorizontal) ♚h8 :fliphorizontal)",
        "3R3k/8/8/8/8/8/8/K7 w - - 0 1",
        false,
    ),
    ("(position (position ♖b1 :shifthorizontal :flipcolor) ♚h8)", "r6k/8/8/8/8/8/8/K7 w - - 0 1", true),
];

#[test(part = 2)]
fn lists_match_as_the_rules_say() {
    for (number, &(text, fen, expected)) in ROWS.iter().enumerate() {
        for runner in Runner::all(number) {
            let answers = runner.answers(text, &block_of(&[position(fen)]));
            assert_eq!(answers, Ok(vec![Answer::Bool(expected)]), "{}: {text} on {fen}", runner.name);
        }
    }
}

/// A position list is always a condition, whatever it contains.
#[test]
fn lists_are_conditions() {
    for &(text, ..) in ROWS {
        assert_eq!(orbit_query::parse(text).unwrap().query.body.ty(), Type::Bool, "{text}");
    }
}

#[test]
fn dialects_are_told_by_their_form() {
    for (text, dialect) in [
        ("(position Ra1)", Dialect::Cql5),
        ("  ; words\n( match (position Ra1))", Dialect::Cql5),
        ("/* a */ // b\n(position)", Dialect::Cql5),
        ("(positionid)", Dialect::Cql6),
        ("(position (ply-1))", Dialect::Cql6),
        ("(position (positionid+2))", Dialect::Cql6),
        ("(position (position Ra1))", Dialect::Cql5),
        ("(position ply) == currentposition", Dialect::Cql6),
        ("(position positionid-1):check", Dialect::Cql6),
        ("(position Ra9)", Dialect::Cql5),
        ("(Ra1)", Dialect::Cql6),
        ("flip Ra1", Dialect::Cql6),
    ] {
        assert_eq!(Dialect::detect(text), dialect, "{text}");
    }
    assert!(orbit_query::parse_dialect("Ra1", Some(Dialect::Cql5)).is_err());
    assert!(orbit_query::parse_dialect("(position Ra1)", Some(Dialect::Cql6)).is_err());
    assert!(orbit_query::parse_dialect("(Ra1)", Some(Dialect::Cql6)).is_ok());
    assert!(orbit_query::parse_dialect("(position ply) == currentposition", Some(Dialect::Cql6)).is_ok());
}

/// Messages quote the query with hidden characters made visible.
#[test]
fn messages_show_what_cannot_be_seen() {
    let error = orbit_query::parse("(position ♖[a2\t,x])").unwrap_err();
    assert_eq!(error.message, "`[a2\\t,x]` is no set of squares");
    let error = orbit_query::parse("(position \u{200b}R)").unwrap_err();
    assert_eq!(error.message, "`\\u{200b}R` is no piece designator");
}

/// In CQL 5, a shift moves a square on the trailing edge and also leaves it in place. If a list has no such squares, the planner
/// combines its shifts, as for CQL 6 queries.
#[test]
fn shifts_that_leave_nothing_behind_are_planned_together() {
    let plan = |text: &str| {
        let prepared =
            PreparedQuery::new(orbit_query::parse(text).unwrap().query, PlanOptions::default()).unwrap();
        prepared.planner.hits().notes[0]
    };
    let inner = plan("(position ♘d4 ♚f3 :shift :flip :flipcolor)");
    assert_eq!((inner.anchored, inner.in_tables), (672, 0));
    let edge = plan("(position ♘a4 ♚f3 :shift)");
    assert!(edge.anchored > 0 && edge.in_tables > 0, "{edge:?}");
}

/// A filter that exists in both dialects is parsed to the same kind of node in the query tree.
#[test]
fn lists_use_the_nodes_of_cql_6() {
    fn ops(node: &Node) -> Vec<String> {
        let mut out = Vec::new();
        node.walk(&mut |node| {
            if !node.is_braces() {
                out.push(operation(node));
            }
        });
        out
    }
    for (list, filter) in [
        ("(position ♖a1 ♚h8 :wtm)", "{Ra1 kh8 wtm}"),
        ("(position :not (position ♖a1 :check))", "not {Ra1 check}"),
        ("(position :or (♖[a-h1] ♚h8))", "Ra-h1 or kh8"),
    ] {
        let of = |text: &str| ops(&orbit_query::parse(text).unwrap().query.body);
        assert_eq!(of(list), of(filter), "{list}");
    }
}

/// CQL 5 lists, each with its conversion to CQL 6.
#[test]
fn lists_are_converted() {
    for (text, converted, written_out) in [
        ("(position ♘d4 ♚f3 :shift :flip)", "shift flip {Nd4 kf3}", 0),
        ("(position ♘d4 ♚f3 :shift :flip :flipcolor)", "flipcolor shift flip {Nd4 kf3}", 0),
        ("(position ♖a1)", "{Ra1}", 0),
        ("(position △ ▲[a-h8] .a1 :wtm)", "{[QR] [qr]a-h8 _a1 wtm}", 0),
        ("(position :or (♖a1 ♖h1) !:check)", "{({Ra1} or {Rh1}) (not check)}", 0),
        ("(position ♖a1 ♚h8 :flipdiagonal)", "{Ra1 kh8}", 0),
        ("(position ♖a1 ♚g8 :flipdiagonal)", "{Ra1 kg8} or {Ra1 kh7}", 2),
        ("(position ♕a4 ♚e8 :shifthorizontal)", "{Qa4 ke8} or {Qa-b4 kf8} or {Qa-c4 kg8} or {Qa-d4 kh8}", 4),
        ("(position :attackcount ♘ ♚ 1 unlimited :flipcolor)", "flipcolor {(N attacks k)}", 0),
        ("(position :attackcount ♖a1 ♚ 2)", "{((#(k attackedby Ra1)) == 2)}", 0),
        ("(position :rayvertical (♖ ♚))", "{(((#(ray up (R k))) + (#(ray down (R k)))) >= 1)}", 0),
        ("(position :not (position ♕[]) :flip)", "false", 0),
        ("(match :result 1-0 (position ♖a1))", "{result 1-0 {Ra1}}", 0),
    ] {
        let query = orbit_query::parse(text).unwrap().query;
        let found = to_cql6(&query, 100).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(found.text, converted, "{text}");
        let copies: usize = found.written_out.iter().map(|list| list.copies).sum();
        assert_eq!(copies, written_out, "{text}");
    }
    let query = orbit_query::parse("(position ♖c1 ♚g4 :shift :flip)").unwrap().query;
    let error = to_cql6(&query, 5).unwrap_err();
    assert!(error.label.contains("stay behind"), "{error}");
}

/// Lists and their conversions must have the same hits at random positions, for the rows above and for generated lists.
#[test]
fn converted_lists_answer_as_the_lists_do() {
    let generated = |seed: usize| (random_list(&mut Rng::new(1505 + seed as u64), 2), seed);
    let rows = ROWS.iter().enumerate().map(|(number, (text, ..))| (text.to_string(), number));
    let texts: Vec<(String, usize)> = rows.chain(trials(400, 100).map(generated)).collect();
    let (mut transforms, mut written_out, mut hits, mut misses, mut unread) = (0, 0, 0, 0, 0);
    for (text, seed) in &texts {
        let mut rng = Rng::new(505 + *seed as u64);
        let query = orbit_query::parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).query;
        let Ok(converted) = to_cql6(&query, 1500) else { continue };
        // `orbit convert` rejects lists whose conversion would be too long to parse. Any other conversion that cannot
        // be parsed is a fault.
        if let Err(error) = orbit_query::parse(&converted.text) {
            assert!(error.message.contains("too "), "{text}\n{}: {}", converted.text, error.message);
            unread += 1;
            continue;
        }
        let block = block_of(&(0..40).map(|_| random_position(&mut rng)).collect::<Vec<_>>());
        let answers = |runner: Runner, text: &str| -> Vec<bool> {
            let answers = runner.answers(text, &block).unwrap_or_else(|error| panic!("{text}: {error}"));
            answers.into_iter().map(Answer::is_hit).collect()
        };
        let list = answers(Runner::cpu(0), text);
        assert_eq!(list, answers(Runner::cpu(0), &converted.text), "{text}\n{}", converted.text);
        assert_eq!(list, answers(Runner::reference(), &converted.text), "{text}\n{}", converted.text);
        transforms += usize::from(converted.written_out.is_empty() && text.contains(":shift"));
        written_out += usize::from(!converted.written_out.is_empty());
        hits += list.iter().filter(|hit| **hit).count();
        misses += list.iter().filter(|hit| !**hit).count();
    }
    eprintln!("{transforms} with shifts, {written_out} written out, {hits} hits, {misses} misses");
    assert!(20 * unread < texts.len(), "{unread} are not read");
    assert!(transforms >= least(20, 5) && written_out >= least(50, 12));
    assert!(hits >= least(1000, 250) && misses >= least(1000, 250));
}

/// Compares the engines on generated lists: the hits, and the number of hits per copy (transformed list).
#[test]
fn engines_agree_on_generated_lists() {
    let (mut rounds, mut ran, mut several, mut hits, mut misses) = (0, 0, 0, 0, 0);
    for seed in trials(160, 40) {
        let mut rng = Rng::new(506 + seed as u64);
        rounds += 1;
        let text = random_list(&mut rng, 2);
        let block = block_of(&(0..32).map(|_| random_position(&mut rng)).collect::<Vec<_>>());
        let query = orbit_query::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}")).query;
        let reference = Runner::reference().engine(&query);
        let (Ok(reference), Ok(_)) = (reference, PreparedQuery::new(query.clone(), PlanOptions::default()))
        else {
            continue;
        };
        let expected = reference.answer(&block, Wants::VALUES).unwrap().hits;
        let counts = |engine: &dyn Engine| {
            engine
                .answer(&block, Wants::COPY_COUNTS)
                .unwrap()
                .copies
                .map_or(Vec::new(), |it| it.sums().to_vec())
        };
        let expected_counts = counts(&*reference);
        let mut runners =
            vec![Runner::cpu(0), Runner::cpu(1 << rng.below(OPTIMISATIONS.len())), Runner::cpu(NONE)];
        runners.extend(if rounds % 20 == 1 { Runner::gpu(0) } else { None });
        for runner in runners {
            let engine = runner.engine(&query).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(
                engine.answer(&block, Wants::VALUES).unwrap().hits,
                expected,
                "{}: {text}",
                runner.name
            );
            assert_eq!(counts(&*engine), expected_counts, "{}: {text}", runner.name);
        }
        ran += 1;
        several += u64::from(expected_counts.iter().filter(|count| **count > 0).count() > 1);
        hits += expected.count();
        misses += block.slots() as u64 - expected.count();
    }
    eprintln!("{ran} lists, of {several} several copies match; {hits} hits, {misses} misses");
    assert!(ran >= rounds * 7 / 8 && several >= rounds / 4 && hits >= 6 * rounds && misses >= 6 * rounds);
}

/// Returns a list with a few items and transforms.
fn random_list(rng: &mut Rng, depth: usize) -> String {
    let mut text = String::from("(position");
    for _ in 0..rng.within(1, 2) {
        text += &match rng.below(if depth > 0 { 10 } else { 7 }) {
            0 => format!(" :attackcount {} {} {}", random_pieces(rng), random_pieces(rng), random_range(rng)),
            1 => format!(
                " :ray{} ({} {}) {}",
                rng.pick(&["", "attack", "diagonal", "vertical"]),
                random_pieces(rng),
                random_pieces(rng),
                random_range(rng)
            ),
            2 => format!(" :piececount {} {}", random_pieces(rng), random_range(rng)),
            3 => format!(" :powerdifference {} {}", random_pieces(rng), random_range(rng)),
            4..=6 => format!(" {}", random_pieces(rng)),
            7 => format!(" :not {}", random_list(rng, depth - 1)),
            8 => format!(" :or ({} {})", random_list(rng, depth - 1), random_list(rng, depth - 1)),
            _ => format!(" {}", random_list(rng, depth - 1)),
        };
    }
    for _ in 0..rng.below(3) {
        let words = [
            "flip",
            "flipdiagonal",
            "fliphorizontal",
            "flipcolor",
            "shifthorizontal",
            "shiftvertical",
            "shiftmaindiagonal",
            "shift",
        ];
        text += &format!(" :{}", rng.pick(&words));
    }
    text + ")"
}

fn random_pieces(rng: &mut Rng) -> String {
    let pieces = rng.pick(&["♖", "♜", "♘", "♟", "♚", "○", "●", "◑", "△", "▼", ".", "[♕♟]", "[♗.]", "?"]);
    let squares = match rng.below(5) {
        0 => String::new(),
        1 | 2 => square_name(rng),
        3 => format!("[{},{}]", square_name(rng), square_name(rng)),
        _ => rng.pick(&["[a-c1]", "[cf26]", "[b18]", "?4"]).to_string(),
    };
    format!("{pieces}{squares}")
}

fn square_name(rng: &mut Rng) -> String {
    orbit_core::board::Square::new(rng.below(64) as u32).to_string()
}

fn random_range(rng: &mut Rng) -> String {
    rng.pick(&["1 unlimited", "0", "1", "2 5", ">2", "<=3", "-2 2", ">=1"]).to_string()
}

/// Returns a position with pieces on random squares.
fn random_position(rng: &mut Rng) -> orbit_core::board::Position {
    let filled = rng.within(8, 70) as usize;
    let mut fen = String::new();
    for rank in 0..8 {
        for _ in 0..8 {
            fen.push(if rng.percent(filled) { *rng.pick(b"RrNpkQqBnPK") as char } else { '1' });
        }
        fen.push(if rank < 7 { '/' } else { ' ' });
    }
    fen += if rng.percent(50) { "w - - 0 1" } else { "b - - 0 1" };
    position(&fen)
}
