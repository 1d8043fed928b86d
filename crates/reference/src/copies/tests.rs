//! Checks that transforms make as many copies (transformed filters) as the specification requires.

use shakmaty::{Color, Square};

use super::*;
use orbit_core::board::{Code, PieceSet};
use orbit_query::tree::{Arith, Dirs, Of, Pieces};

fn node<O>(op: O) -> Node
where
    Of<O, Written>: Into<Node>,
{
    Of::new(op, Span::default()).into()
}

fn set(op: SquaresOp<Written>) -> Squares {
    Squares::new(op, Span::default())
}

/// Creates a designator with squares but no piece. `a-h2` is a rank, and `a1-8` is a file.
fn at(names: &[&str]) -> Node {
    let mut squares = Bitboard::EMPTY;
    for name in names {
        squares |= match *name {
            "a-h2" => Bitboard(0xff00),
            "a1-8" => Bitboard(0x0101_0101_0101_0101),
            square => square.parse::<Square>().unwrap().into(),
        };
    }
    of(Pieces::UNNAMED, squares).into()
}

fn of(pieces: Pieces, squares: Bitboard) -> Squares {
    set(SquaresOp::Designator { pieces, squares })
}

fn rooks(colors: &[Color]) -> Pieces {
    let rook =
        |&color| PieceSet::only(Code::from_piece(shakmaty::Piece { color, role: shakmaty::Role::Rook }));
    let list = colors.iter().map(rook).fold(PieceSet::NONE, PieceSet::union);
    Pieces { all_white: false, all_black: false, list }
}

/// Puts braces around filters. The last filter determines the kind of value: a set, a number or a condition.
fn braces(mut first: Vec<Node>) -> Node {
    match first.pop().unwrap() {
        Any::Squares(last) => node::<SquaresOp<Written>>(SquaresOp::Control(Control::Braces { first, last })),
        Any::Number(last) => node::<NumberOp<Written>>(NumberOp::Control(Control::Braces { first, last })),
        last => {
            first.push(last);
            node::<ConditionOp<Written>>(ConditionOp::Braces(first))
        }
    }
}

use TransformKind::{
    Flip, FlipColor, FlipHorizontal, ReverseColor, Rotate45, Shift, ShiftHorizontal, ShiftVertical,
};

fn any(kind: TransformKind, of: impl Into<Node>) -> Node {
    match of.into() {
        Any::Squares(of) => node::<SquaresOp<Written>>(SquaresOp::Form(Keyword::Transform(kind, of))),
        Any::Number(of) => {
            node::<NumberOp<Written>>(NumberOp::Form(NumberKeyword::Number(Keyword::Transform(kind, of))))
        }
        of => node::<ConditionOp<Written>>(ConditionOp::Form(ConditionKeyword::Transform(kind, of))),
    }
}

fn count(kind: TransformKind, of: impl Into<Node>) -> Node {
    node::<NumberOp<Written>>(NumberOp::Form(NumberKeyword::Counted(kind, Counted::All, of.into())))
}

/// Returns the copies that a transform makes of its operand. The flag is true if the transform counts them.
fn orbit(node: &Node) -> (bool, Vec<PlainFilter>) {
    match &CopyBuilder::expand(node, CopyOrder::Declared).unwrap() {
        Any::Condition(f) if let ConditionOp::Form(Copies::Orbit(copies)) = f.op() => (false, copies.clone()),
        Any::Squares(f) if let SquaresOp::Form(Copies::Orbit(copies)) = f.op() => {
            (false, copies.iter().cloned().map(Any::from).collect())
        }
        Any::Number(f) if let NumberOp::Form(NumberCopies::Largest(Copies::Orbit(copies))) = f.op() => {
            (false, copies.iter().cloned().map(Any::from).collect())
        }
        Any::Number(f) if let NumberOp::Form(NumberCopies::Counted(_, copies)) = f.op() => {
            (true, copies.clone())
        }
        other => panic!("{other:?} is no orbit"),
    }
}

fn is_orbit(filter: &PlainFilter) -> bool {
    matches!(Standing::from_filter(filter.node()), Standing::Orbit(copies) if !copies.is_empty())
}

fn size(node: Node) -> usize {
    orbit(&node).1.len()
}

#[test]
fn shift_orbits_have_the_documented_sizes() {
    assert_eq!(size(any(Shift, at(&["a1"]))), 64);
    assert_eq!(size(any(Shift, braces(vec![at(&["a1"]), at(&["a8"])]))), 8);
    assert_eq!(size(any(ShiftHorizontal, braces(vec![at(&["a1"]), at(&["g1"])]))), 2);
    assert_eq!(size(any(Shift, at(&["a1-8"]))), 8);
    assert_eq!(size(any(Shift, at(&["a-h2"]))), 8);
    assert_eq!(size(any(Shift, at(&["a-h2", "c4"]))), 72);
    assert_eq!(size(any(Shift, braces(vec![at(&["a-h2", "c4"]), at(&["a1-8"])]))), 76);
    assert_eq!(size(any(ShiftHorizontal, at(&["a-h2", "c4"]))), 9);
    assert_eq!(size(any(ShiftVertical, at(&["a1-8", "b1"]))), 9);
    assert_eq!(size(any(Shift, of(rooks(&[Color::White]), Bitboard::FULL))), 1);
    assert_eq!(size(any(Shift, set(SquaresOp::Constant(Bitboard(1))))), 1);
}

#[test]
fn empty_designators_kill_wherever_they_stand() {
    let not = |of| node::<ConditionOp<Written>>(ConditionOp::Not(of));
    let either = |a, b| node::<ConditionOp<Written>>(ConditionOp::Or(a, b));
    assert_eq!(size(any(Shift, not(at(&["a1"])))), 64);
    assert_eq!(size(any(Shift, either(at(&["a2"]), at(&["b3"])))), 49);
    // A single designator with two squares survives if one of them stays on the board. An image with only one of the corners a8 and
    // h1 can come from either square.
    assert_eq!(size(any(Shift, at(&["a2", "b3"]))), 49 + 2 * 15 - 2);
}

#[test]
fn copies_are_distinct_by_structure() {
    let union =
        set(SquaresOp::Union(of(Pieces::UNNAMED, Square::A1.into()), of(Pieces::UNNAMED, Square::H8.into())));
    assert_eq!(size(any(Flip, at(&["a1", "h8"]))), 2);
    assert_eq!(size(any(Flip, union)), 4);
    assert_eq!(size(any(Flip, braces(vec![at(&["a1"]), at(&["h8"])]))), 4);
    assert_eq!(size(any(Flip, of(rooks(&[Color::White]), Bitboard::FULL))), 1);
    assert_eq!(size(any(FlipColor, of(rooks(&[Color::White, Color::Black]), Bitboard::FULL))), 1);
    let all_white = Pieces { all_white: true, all_black: false, list: PieceSet::NONE };
    assert_eq!(size(any(FlipColor, of(all_white, Bitboard::FULL))), 2);
    assert_eq!(size(any(FlipColor, at(&["a4"]))), 2);
    assert_eq!(size(any(FlipColor, node::<ConditionOp<Written>>(ConditionOp::ToMove(Color::White)))), 2);
    let rooks = of(rooks(&[Color::White]), Bitboard::FULL);
    let up = || set(SquaresOp::Direction { dirs: Dirs(4), lo: 1, hi: 1, of: rooks.clone() });
    assert_eq!(size(any(Flip, up())), 4);
    assert_eq!(size(any(Rotate45, up())), 8);
}

#[test]
fn directly_nested_transforms_fuse_and_the_inner_count_governs() {
    let a1 = || of(rooks(&[Color::White]), Bitboard(1));
    for query in [
        any(Shift, count(Flip, a1())),
        any(Flip, count(Shift, a1())),
        any(Flip, braces(vec![braces(vec![count(Shift, a1())])])),
    ] {
        let (counted, copies) = orbit(&query);
        assert_eq!((counted, copies.len()), (true, 64));
        assert!(!copies.iter().any(is_orbit));
    }
    assert_eq!(size(any(ReverseColor, any(ReverseColor, a1()))), 1);
    assert_eq!(size(any(FlipColor, any(Flip, a1()))), 8);
    let number = |op| Number::new(op, Span::default());
    let counted = number(NumberOp::Form(NumberKeyword::Counted(ShiftHorizontal, Counted::All, at(&["a2"]))));
    let plus_0 = number(NumberOp::Arith(Arith::Add, counted, number(NumberOp::Int(0))));
    let (counted, copies) = orbit(&any(FlipHorizontal, plus_0));
    assert_eq!((counted, copies.len()), (false, 2));
}

#[test]
fn a_counted_transform_keeps_its_argument_nested() {
    let (counted, copies) = orbit(&count(Shift, any(Flip, at(&["a1"]))));
    assert!(counted);
    assert!(copies.iter().all(is_orbit));
    let sets: std::collections::BTreeSet<u64> =
        (-7..=7i32).flat_map(|i| (-7..=7i32).map(move |j| corners_moved(i, j))).collect();
    assert_eq!(copies.len(), sets.len());
    assert_eq!(orbit(&count(Flip, any(Shift, at(&["a1"])))).1.len(), 1);
}

fn corners_moved(i: i32, j: i32) -> u64 {
    let on = |n: i32| (0..8).contains(&n);
    let corners = [(0, 0), (7, 0), (0, 7), (7, 7)];
    let moved = corners.into_iter().map(|(x, y)| (x + i, y + j)).filter(|&(x, y)| on(x) && on(y));
    moved.fold(0, |set, (x, y)| set | 1 << (8 * y + x))
}

#[test]
fn colours_swap_in_every_member_that_has_one() {
    fn swapped(node: &Node) -> String {
        let mut expander = CopyBuilder { nodes: 0, order: CopyOrder::Declared };
        let filter = expander.any(node).unwrap();
        format!("{:?}", expander.image(&BasicTransform::SwapColors, &filter).unwrap())
    }
    fn same(node: &Node) -> String {
        format!("{:?}", CopyBuilder { nodes: 0, order: CopyOrder::Declared }.any(node).unwrap())
    }
    let condition = |op: ConditionOp<Written>| node(op);
    let number = |op: NumberOp<Written>| node(op);
    let text = |op: TextOp<Written>| node(op);
    let shade =
        |light| node::<SquaresOp<Written>>(SquaresOp::Shade { light, of: of(rooks(&[]), Bitboard::FULL) });
    let (black, white) = (rooks(&[Color::Black]), rooks(&[Color::White]));
    for (before, after) in [
        (condition(ConditionOp::ToMove(Color::White)), condition(ConditionOp::ToMove(Color::Black))),
        (
            condition(ConditionOp::Result(GameResult::WhiteWins)),
            condition(ConditionOp::Result(GameResult::BlackWins)),
        ),
        (condition(ConditionOp::Result(GameResult::Draw)), condition(ConditionOp::Result(GameResult::Draw))),
        (number(NumberOp::ColorValue(Color::White)), number(NumberOp::ColorValue(Color::Black))),
        (number(NumberOp::Elo(Some(Color::White))), number(NumberOp::Elo(Some(Color::Black)))),
        (number(NumberOp::Elo(None)), number(NumberOp::Elo(None))),
        (number(NumberOp::SideToMove), number(NumberOp::SideToMove)),
        (text(TextOp::Player(Some(Color::Black))), text(TextOp::Player(Some(Color::White)))),
        (text(TextOp::Tag("White".into())), text(TextOp::Tag("Black".into()))),
        (text(TextOp::Tag("Site".into())), text(TextOp::Tag("Site".into()))),
        (shade(true), shade(false)),
        (of(white, Bitboard(1)).into(), of(black, Bitboard(1 << 56)).into()),
    ] {
        assert_eq!(swapped(&before), same(&after));
    }
}

#[test]
fn notransform_shields_and_rotate45_is_choosy() {
    let a1 = || of(Pieces::UNNAMED, Square::A1.into());
    let shield = |of| set(SquaresOp::Form(Keyword::NoTransform(of)));
    let shade = |of| set(SquaresOp::Shade { light: true, of });
    let all = || of(rooks(&[Color::White]), Bitboard::FULL);
    assert_eq!(size(any(Flip, shield(a1()))), 1);
    assert_eq!(size(any(Rotate45, shield(a1()))), 1);
    let error = |query| CopyBuilder::expand(&query, CopyOrder::Declared).unwrap_err();
    assert_eq!(error(any(Rotate45, at(&["a1"]))), ReferenceError::Rotate45Squares);
    assert_eq!(error(any(Rotate45, shade(all()))), ReferenceError::Rotate45Shade);
    assert_eq!(error(count(Rotate45, any(Shift, at(&["a1"])))), ReferenceError::Rotate45Squares);
    let mut towers = at(&["a1", "b1"]);
    for _ in 0..4 {
        towers = count(Shift, braces(vec![towers, at(&["a1"])]));
    }
    assert!(matches!(error(towers), ReferenceError::TooManyCopies { .. }));
}
