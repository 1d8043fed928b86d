//! Tests the reference engine in cases that do not fit into tables.

use orbit_core::record::{Annotation, GameFacts, Outcome};
use orbit_engine::{Answer, Interrupt};
use orbit_reference::{Reference, ReferenceError, Spot};

use crate::common::position;

/// The facts about a game with the number 3 in its database. Nothing else is known about it.
struct Nameless;

impl GameFacts for Nameless {
    fn number(&self) -> u32 {
        3
    }

    fn outcome(&self) -> Outcome {
        Outcome::Unknown
    }

    fn tag(&self, _name: &str) -> Option<&[u8]> {
        None
    }

    fn annotations(&self) -> &[Annotation] {
        &[]
    }
}

fn reference(text: &str) -> Reference {
    let parsed = orbit_query::parse(text).unwrap_or_else(|error| panic!("{text}: {}", error.message));
    Reference::new(&parsed.query).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn spot(fen: &str, ply: u32) -> Spot<'static> {
    let position = position(fen);
    Spot { position, ply, initial: ply == 0, terminal: false, parent: None, arrival: None, game: &Nameless }
}

#[test]
fn move_numbers_count_from_the_start_of_the_game() {
    let number = |fen: &str, ply: u32| {
        let mut number = None;
        let told = |_: usize, answer: Answer| number = Some(answer);
        reference("movenumber").answers(&[spot(fen, ply)], &Interrupt::default(), told).unwrap();
        number.unwrap()
    };
    let (white, black) = ("4k3/8/8/8/8/8/8/4K3 w - - 0 40", "4k3/8/8/8/8/8/8/4K3 b - - 0 40");
    for (ply, expected) in [(0, 1), (1, 1), (2, 2), (3, 2), (4, 3)] {
        assert_eq!(number(if ply % 2 == 0 { white } else { black }, ply), Answer::Num(Some(expected)));
    }
    for (ply, expected) in [(0, 1), (1, 2), (2, 2), (3, 3), (4, 3)] {
        assert_eq!(number(if ply % 2 == 0 { black } else { white }, ply), Answer::Num(Some(expected)));
    }
}

#[test]
fn copies_come_in_declaration_order() {
    let hits = |text: &str| {
        let mut hits = Vec::new();
        let (start, never) = ([spot("startpos", 0)], Interrupt::default());
        reference(text).matching_copies(&start, |_| true, &never, |_, matching| hits = matching).unwrap();
        hits
    };
    assert_eq!(hits("flip Ra1"), [true, true, false, false]);
    assert_eq!(hits("{{flip count Ra1}}"), [true, true, false, false]);
    assert_eq!(hits("rotate90 ra1"), [false, false, true, true]);
    assert_eq!(hits("flipcolor ra8"), [true, true]);
    assert_eq!(hits("shiftvertical P[a2,b2]"), [false, true, false, false, false, false, false, false]);
    assert_eq!(hits("Ra1"), [true]);
    assert_eq!(reference("shift flip {Nd4 kf3}").copies(), 336);
    assert_eq!(reference("flipcolor shift flip {Nd4 kf3}").copies(), 672);
    assert_eq!(reference("notransform flip Ra1").copies(), 1);
}

#[test]
fn what_cannot_be_transformed_is_refused() {
    let error =
        |text: &str| Reference::new(&orbit_query::parse(text).expect("it is well formed").query).err();
    assert_eq!(error("rotate45 Ra1"), Some(ReferenceError::Rotate45Squares));
    assert_eq!(error("rotate45 light ."), Some(ReferenceError::Rotate45Shade));
    assert_eq!(error("rotate45 shift R"), None);
    let towers = "shift count {a1 b1 ".repeat(6) + "c1" + &"}".repeat(6);
    assert!(matches!(error(&towers), Some(ReferenceError::TooManyCopies { .. })));
}
