//! Checks the worked examples of the CQL 5 manual, with its errors corrected, and the rules that they illustrate.

use std::collections::BTreeSet;

use evaluators::cql5::*;

const QUIET: Facts =
    Facts { check: false, mate: false, stalemate: false, initial: false, terminal: false, result: "*" };

fn hit(list: &str, fen: &str) -> bool {
    matches(list, &Board::from_fen(fen), &QUIET)
}

/// Returns the items in canonical form.
fn canonical(items: &str) -> String {
    images(&format!("(position {items})")).concat()
}

/// Returns the text of a list after one transformation, given as a sequence of unit steps.
fn after(items: &str, word: &str) -> String {
    let list = Expanded::new(&format!("(position {items})")).images.pop_first().expect("one image");
    format!("(position {})", print_items(&apply_word(&list, word)))
}

fn count_images(items: &str) -> usize {
    images(&format!("(position {items})")).len()
}

/// Asserts that the images (transformed versions) of the list `items` are exactly the expected ones.
fn assert_images(items: &str, expected: &[&str]) {
    let expected: BTreeSet<String> = expected.iter().map(|e| canonical(e)).collect();
    let found: BTreeSet<String> = images(&format!("(position {items})")).into_iter().collect();
    assert_eq!(found, expected, "{items}");
}

#[test]
fn single_transformations_of_the_manual() {
    for (before, word, then) in [
        ("♖a8", "d", "♖h1"),
        ("[○●][a-h1-2,f6,h7]", "d", "[○●][a-b1-8,f6,g8]"),
        ("[○●][ah12,f6,h7]", "d", "[○●][ab18,f6,g8]"),
        ("♖a8", "o", "♖a8"),
        ("♗b2", "o", "♗g7"),
        ("[♗♝][a1-8]", "o", "[♗♝][a-h8]"),
        ("[♗♝][a18]", "o", "[♗♝][ah8]"),
        ("◑f6", "v", "◑c6"),
        ("◑f6", "h", "◑f3"),
        ("♕d4", "R", "♕e4"),
        ("♕[c2,h2]", "R", "♕d2"),
        ("♕[a2,c2,h2]", "R", "♕[a2,b2,d2]"),
        ("♕a4", "RRR", "♕[a4,b4,c4,d4]"),
        ("♕d4", "RRR", "♕g4"),
        ("♕[b3,c4]", "RRU", "♕[d4,e5]"),
        ("[♖♝♟][a2,c2]", "c", "[♜♗♙][a7,c7]"),
        // These rows correct errors in the manual: h8 is on the trailing edge of a shift to the left, b2 moves to b7, and the
        // colours are swapped.
        ("♖c2 ♗h8 :wtm", "L", "♖b2 ♗[g8,h8] :wtm"),
        ("♖b2 ♗g8 :wtm", "h", "♖b7 ♗g1 :wtm"),
        ("♖b2 ♗g8 :wtm", "c", "♜b7 ♝g1 :btm"),
        ("♖[a1,a8,h1,h8]", "U", "♖[a1,a2,h1,h2]"),
        // A full rank, a full file and the whole board do not change. A corner square spreads into a rectangle.
        ("♖?3", "RRR", "♖[a-h3]"),
        ("♖b?", "UUUU", "♖[b1-8]"),
        ("♖", "RULD", "♖"),
        ("♖a1", "RRU", "♖[a-c1-2]"),
        ("♖c1", "UU", "♖[c1-3]"),
    ] {
        assert_eq!(after(before, word), canonical(then), "{before} {word}");
    }
}

#[test]
fn colour_flips_swap_sides_results_and_differences() {
    for (before, then) in [
        (":wtm :result 1-0", ":btm :result 0-1"),
        (":result 1/2-1/2 :check", ":result 1/2-1/2 :check"),
        (":powerdifference ♖a1 -2 5", ":powerdifference ♜a8 -5 2"),
        (":powerdifference U >= 3", ":powerdifference U <= -3"),
        (":power △ 3 5", ":power ▲ 3 5"),
        (":attackcount ○ ▼b2 1", ":attackcount ● ▽b7 1"),
        (":or (♖a1 :not (:btm .c3))", ":or (♜a8 :not (:wtm .c6))"),
        ("!:wtm :ray (♗ ?a1 ♔)", "!:btm :ray (♝ ?a8 ♚)"),
    ] {
        assert_eq!(after(before, "c"), canonical(then), "{before}");
    }
}

#[test]
fn images_of_the_manual() {
    assert_images("♕c2 :flipdihedral", &["♕c2", "♕b3", "♕b6", "♕c7", "♕f7", "♕g6", "♕g3", "♕f2"]);
    assert_images("♖c3 ♛g3 :shifthorizontal", &["♖c3 ♛g3", "♖b3 ♛f3", "♖a3 ♛e3", "♖d3 ♛h3"]);
    assert_images("♖c3 ♛g3 :fliphorizontal", &["♖c3 ♛g3", "♖c6 ♛g6"]);
    assert_images("♖c3 ♛g3 :flipdiagonal", &["♖c3 ♛g3", "♖c3 ♛c7"]);
    assert_images("♖b2 ♗g8 :wtm :flipcolor", &["♖b2 ♗g8 :wtm", "♜b7 ♝g1 :btm"]);
    assert_images(
        "♙c2 ♖c1 :shiftvertical",
        &[
            "♙c2 ♖c1",
            "♙c3 ♖[c1-2]",
            "♙c4 ♖[c1-3]",
            "♙c5 ♖[c1-4]",
            "♙c6 ♖[c1-5]",
            "♙c7 ♖[c1-6]",
            "♙c8 ♖[c1-7]",
        ],
    );
    assert_images(
        "♔a1 :shifthorizontal",
        &["♔a1", "♔[ab1]", "♔[ac1]", "♔[ad1]", "♔[ae1]", "♔[af1]", "♔[ag1]", "♔[ah1]"],
    );
    assert_images(
        "♔b7 ♚d5 :shiftoffdiagonal",
        &["♔a8 ♚c6", "♔b7 ♚d5", "♔c6 ♚e4", "♔d5 ♚f3", "♔e4 ♚g2", "♔f3 ♚h1"],
    );
    for (items, expected) in [
        ("♖c3 ♛g3", 1),
        ("!:piececount ♖c3 0 !:ray (♖ ♛g3) :shifthorizontal", 4),
        ("♖c3 ♛g3 :shiftvertical", 8),
        ("♖c3 ♛g3 :shift", 32),
        ("♙c2 ♖c1 :shift", 56),
        ("♔d4 :shift", 64),
        ("♔b2 ♚c3 :shiftmaindiagonal", 7),
        ("♔d4 :shiftdiagonal", 8 + 7 - 1),
        ("♘d4 ♚f3 :shift :flip", 336),
        ("♘d4 ♚f3 :flip :shift", 336),
        ("♘d4 ♚f3 :shift :flip :flipcolor", 672),
    ] {
        assert_eq!(count_images(items), expected, "{items}");
    }
}

/// Tests a shift along one axis and a flip that exchanges the axes: first in each order alone, then both orders together.
#[test]
fn the_order_of_keywords_does_not_matter() {
    let start = Expanded::new("(position ♘a1 ♚b3)").images;
    let apply = |keywords: &[&str]| keywords.iter().fold(start.clone(), |all, k| apply_set(all, k)).len();
    assert_eq!(apply(&["flip", "shifthorizontal"]), 52);
    assert_eq!(apply(&["shifthorizontal", "flip"]), 56);
    assert_eq!(count_images("♘a1 ♚b3 :shifthorizontal :flip"), 76);
    for keywords in [[":flip", ":shifthorizontal"], [":flipdiagonal", ":fliphorizontal"]] {
        let [a, b] = keywords;
        assert_eq!(images(&format!("(♘a1 ♚b3 {a} {b})")), images(&format!("({b} ♘a1 {a} ♚b3)")));
    }
}

#[test]
fn only_interior_squares_are_reached_by_exactly_one_shift() {
    let reached = |from: &str| {
        let all = images(&format!("(position ♔{from} :shift)"));
        all.iter().filter(|image| hit(image, "7k/8/8/8/8/4K3/8/8 w - -")).count()
    };
    assert_eq!(reached("c6"), 1);
    assert!(reached("a1") > 1);
}

#[test]
fn shifted_and_flipped_knights_are_attackcount() {
    let either = "(position ♘d4 ♚f3 :shift :flip :flipcolor)";
    let expanded = Expanded::new(either);
    let count = Expanded::new("(position :attackcount ♘ ♚ 1 unlimited :flipcolor)");
    let (mut hits, mut misses) = (0, 0);
    for seed in 0..400 {
        let board = board_for(either, seed);
        let attacked = count.matches(&board, &QUIET);
        assert_eq!(expanded.matches(&board, &QUIET), attacked, "{}", board.fen());
        *if attacked { &mut hits } else { &mut misses } += 1;
    }
    assert!(hits > 20 && misses > 20, "{hits} hits, {misses} misses");
}

#[test]
fn designators_match_their_squares() {
    let fen = "4k3/8/8/2nP4/8/8/1R6/Q3K3 w - -";
    for (items, expected) in [
        ("♖b2", true),
        ("Rb3", false),
        ("R?2 R[ac13] [RN]b?", true),
        ("△ △a1 ○ ●c5 ▼ ◑d5", true),
        ("▲", false),
        ("▽", false),
        (".a8 ?a8 ?b2 [.q]c5", false),
        (".a8 ?a8 ?b2 [.n]c5", true),
        (".b2", false),
        ("K[]", false),
        (":or (K[ ] Rb2)", true),
        ("A[d-f5]", true),
        ("A[e-h5]", false),
        (":wtm !:btm", true),
        ("!:wtm", false),
        (":piececount A 4", true),
        (":piececount U 5 6", true),
        (":piececount U >6", false),
        (":piececount U <= 6", true),
        (":piececount a 3 unlimited", false),
        (":power U 18", true),
        (":powerdifference U 12", true),
        (":powerdifference a < -2", true),
        // The queen attacks b2, e1, and ten empty squares. These rows have the resulting counts.
        (":attackcount A A 2", true),
        (":attackcount Q R 1", true),
        (":attackcount Q .[a28] 7", true),
        (":attackcount Q . 10", true),
        (":attackcount P .[ce4] 0", true),
        (":attackcount P .[ce6] 2", true),
        (":attackcount P . 2 :flipcolor", true),
    ] {
        assert_eq!(hit(&format!("(position {items})"), fen), expected, "{items}");
    }
}

#[test]
fn rays_pair_occupied_squares_in_order() {
    let fen = "4k3/8/8/R2n3q/8/1B6/8/R3K3 w - -";
    for (items, expected) in [
        (":ray (R U)", true),
        (":ray (R n)", true),
        (":ray (R n q)", true),
        (":ray (R q)", false),
        (":ray (q n R)", true),
        (":ray (R R) 2", true),
        (":ray (R U) 5", true),
        (":rayvertical (R U) 2", true),
        (":rayhorizontal (R U) 2", true),
        (":raydiagonal (B n)", true),
        (":rayorthogonal (B n)", false),
        (":rayattack (R n)", true),
        (":rayattack (n R)", false),
        (":ray (n k)", false),
        (":ray (n k) 0", true),
    ] {
        assert_eq!(hit(&format!("(position {items})"), fen), expected, "{items}");
    }
}

#[test]
fn facts_come_from_the_caller() {
    let board = Board::from_fen("4k3/8/8/8/8/8/8/4K3 b - -");
    let facts = Facts { check: true, terminal: true, result: "0-1", ..QUIET };
    for (items, expected) in [
        (":check :terminal :btm :result 0-1", true),
        (":result 1-0", false),
        (":result 1-0 :flipcolor", true),
        (":or (:mate :stalemate :initial :wtm)", false),
        ("!:mate !:initial", true),
    ] {
        assert_eq!(matches(&format!("(position {items})"), &board, &facts), expected, "{items}");
    }
}

#[test]
fn nested_lists_are_transformed_with_the_outer_one_and_by_their_own_keywords() {
    // The outer transform also applies to the items of a nested list. If a designator in it becomes empty, the whole outer image
    // (transformed version) is dropped.
    assert_images(":or (♖b3 ♖f3) :flipvertical", &[":or (♖b3 ♖f3)", ":or (♖g3 ♖c3)"]);
    assert_images(":not (♖b3 ♖g3) :shifthorizontal", &[":not (♖b3 ♖g3)", ":not (♖c3 ♖h3)", ":not (♖a3 ♖f3)"]);
    // A nested list's keywords are applied before those of the outer list.
    assert_images(
        "♔e1 :and (♖b3 :flipvertical) :fliphorizontal",
        &["♔e1 :or (:and (♖b3) :and (♖g3))", "♔e8 :or (:and (♖b6) :and (♖g6))"],
    );
    // If the nested list has its own keywords, only the nested images (transformed versions) with an empty designator are
    // dropped. If all nested images are dropped, the outer image is dropped too.
    assert_images(
        "♔g1 :and (♖a3 ♗g3 :flipvertical) :shifthorizontal",
        &[
            "♔h1 :or (:and (♖[ab3] ♗h3))",
            "♔g1 :or (:and (♖a3 ♗g3) :and (♖h3 ♗b3))",
            "♔f1 :or (:and (♖[gh3] ♗a3))",
        ],
    );
    let fen = "4k3/8/8/8/8/6R1/8/4K3 w - -";
    assert!(hit("(position :and (♖b3 :flipvertical))", fen));
    assert!(!hit("(position :not (♖b3 :flipvertical))", fen));
    assert!(hit("(position :not (♖b3 :fliphorizontal))", fen));
    // After a shift by five files to the right, c8 is still on the board, but d8 is not, so its image (transformed version) is
    // dropped.
    assert!(hit("(position ♔a1 :or (♖b3 ♜c8) :shift)", fen));
    assert!(!hit("(position ♔a1 :or (♖b3 ♜d8) :shift)", fen));
}

#[test]
fn printed_images_say_the_same_as_the_list() {
    for (seed, list) in Lists::new(1).take(150).enumerate() {
        let expanded = Expanded::new(&list);
        let images: Vec<Expanded> = images(&list).iter().map(|i| Expanded::new(i)).collect();
        assert_eq!(images.len(), expanded.images.len(), "{list}");
        for n in 0..4 {
            let board = board_for(&list, 1000 * seed as u64 + n);
            let one = images.iter().any(|i| i.matches(&board, &QUIET));
            assert_eq!(one, expanded.matches(&board, &QUIET), "{list} on {}", board.fen());
        }
    }
}

#[test]
fn generated_lists_use_everything_and_hit_at_times() {
    let lists: Vec<String> = Lists::new(2).take(600).collect();
    let keywords = [FACTS, COUNTS, RAYS, NESTINGS, TRANSFORMS, "result !"].join(" ");
    for keyword in keywords.split_whitespace() {
        let written = if keyword == "!" { "!:".to_string() } else { format!(":{keyword} ") };
        let users = lists.iter().filter(|l| l.replace(['\n', ')'], " ").contains(&written)).count();
        assert!(users >= 4, "{keyword} is used in {users} lists");
    }
    let (mut hits, mut plausible) = (0, 0);
    for (seed, list) in lists.iter().enumerate() {
        let expanded = Expanded::new(list);
        assert!(expanded.images.len() <= 4_000, "{list}");
        let board = board_for(list, seed as u64);
        assert_eq!(Board::from_fen(&board.fen()), board);
        hits += usize::from(expanded.matches(&board, &QUIET));
        plausible += usize::from(board.is_plausible());
    }
    assert!((150..450).contains(&hits), "{hits} hits on 600 boards");
    assert!(plausible > 570, "{plausible} plausible boards of 600");
}

#[test]
fn pawns_attack_forwards() {
    let fen = "4k3/8/8/3p4/3P4/8/8/4K3 w - -";
    for (items, expected) in [
        (":attackcount p .[ce4] 2", true),
        (":attackcount p .[ce6] 0", true),
        (":attackcount P .[ce5] 2", true),
        (":attackcount P p 0", true),
    ] {
        assert_eq!(hit(&format!("(position {items})"), fen), expected, "{items}");
    }
}
