//! Transforms expanded into explicit copies, once per query.

use std::collections::{HashMap, HashSet};

use shakmaty::Bitboard;

use super::{
    ReferenceError,
    geometry::{Basic, ListImages},
};
use crate::query::tree::{GameResult, ListTransform, Node, Op, Tally, TransformKind, Type};

/// A filter without transform keywords: each has become the list of its copies.
#[derive(Clone, Debug)]
pub(super) enum Filter {
    /// An operation that is no transform.
    Plain { op: Op, ty: Type, args: Vec<Filter> },
    /// A transform: its distinct surviving copies in declaration order, first of each kind. The
    /// type is that of its value.
    Orbit { tally: Tally, ty: Type, copies: Vec<Filter> },
}

/// The copies of one transform, before they are put into a tree.
struct Orbit {
    tally: Tally,
    ty: Type,
    copies: Vec<Filter>,
}

/// The transformable members of a copy in child order. Two copies of one filter are the same copy
/// if and only if their members are equal.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Member {
    Designator {
        squares: Bitboard,
        all_white: bool,
        all_black: bool,
        list: u16,
    },
    /// The colour or kind of a filter that has two of them: side to move, `white`, `elo white`,
    /// `player white`, `tag "White"`, `result 1-0`, `light`.
    Side(bool),
    Dirs(u8),
    /// A nested orbit: the sorted list of its members.
    Orbit(Vec<Vec<Member>>),
}

/// Builds filters and counts what it builds.
pub(super) struct Expander {
    nodes: usize,
}

impl Expander {
    /// The most nodes that the copies of one query may have, those included that turn out to be
    /// duplicates. Six fused shifts are refused in a second instead of filling memory.
    pub(super) const NODES_MAX: usize = 4_000_000;

    /// Expands all transforms of a tree.
    ///
    /// # Errors
    ///
    /// See [`ReferenceError`].
    pub(super) fn expand(root: &Node) -> Result<Filter, ReferenceError> {
        Expander { nodes: 0 }.filter(root)
    }

    fn filter(&mut self, node: &Node) -> Result<Filter, ReferenceError> {
        if let Op::Transform(kind, tally) = node.op {
            let Orbit { tally, ty, copies } = self.orbit(kind, tally, &node.args[0])?;
            return Ok(Filter::Orbit { tally, ty, copies });
        }
        if let Op::ListTransforms(transforms) = &node.op {
            let base = self.filter(&node.args[0])?;
            let mut copies = Vec::new();
            for images in self.compositions(transforms)? {
                copies.push(self.image(&Basic::List(images), &base)?);
            }
            let copies = distinct_survivors(copies);
            return Ok(Filter::Orbit { tally: Tally::Any, ty: node.ty, copies });
        }
        self.count_node()?;
        let args = node.args.iter().map(|arg| self.filter(arg)).collect::<Result<_, _>>()?;
        Ok(Filter::Plain { op: node.op.clone(), ty: node.ty, args })
    }

    /// The orbit of a transform. Without count or range a transform fuses with one that it is
    /// applied to directly, whose tally then governs: the copies are all products.
    fn orbit(&mut self, kind: TransformKind, tally: Tally, arg: &Node) -> Result<Orbit, ReferenceError> {
        let arg = without_braces(arg);
        let inner = match arg.op {
            Op::Transform(inner_kind, inner_tally) if tally == Tally::Any => {
                self.orbit(inner_kind, inner_tally, &arg.args[0])?
            }
            _ => Orbit { tally, ty: value_type(tally, arg.ty), copies: vec![self.filter(arg)?] },
        };
        if kind == TransformKind::Rotate45 {
            inner.copies.iter().try_for_each(rotates_by_45)?;
        }
        let mut products = Vec::new();
        for basic in Basic::all(kind) {
            for copy in &inner.copies {
                products.push(self.image(&basic, copy)?);
            }
        }
        Ok(Orbit { copies: distinct_survivors(products), ..inner })
    }

    /// All compositions of one element of each keyword of a CQL 5 list, in any order, the first of each
    /// kind; swapped colours after all others.
    fn compositions(&mut self, transforms: &[ListTransform]) -> Result<Vec<ListImages>, ReferenceError> {
        let others: Vec<_> = transforms.iter().copied().filter(|&t| t != ListTransform::FlipColor).collect();
        let mut out = self.in_any_order(&others, &mut HashMap::new())?;
        if others.len() < transforms.len() {
            let swapped: Vec<ListImages> = out.iter().map(|one| one.then(&ListImages::colors())).collect();
            out.extend(swapped);
        }
        Ok(out)
    }

    /// Each keyword in turn is the one that acts last: for each of its elements all compositions of the
    /// others. `known` holds what was found before.
    fn in_any_order(
        &mut self,
        transforms: &[ListTransform],
        known: &mut HashMap<Vec<ListTransform>, Vec<ListImages>>,
    ) -> Result<Vec<ListImages>, ReferenceError> {
        if transforms.is_empty() {
            return Ok(vec![ListImages::identity()]);
        }
        if let Some(found) = known.get(transforms) {
            return Ok(found.clone());
        }
        let (mut out, mut seen) = (Vec::new(), HashSet::new());
        for &last in transforms {
            let others: Vec<_> = transforms.iter().copied().filter(|&t| t != last).collect();
            let others = self.in_any_order(&others, known)?;
            for element in ListImages::all(last) {
                for other in &others {
                    self.count_node()?;
                    let composition = other.then(&element);
                    if seen.insert(composition.clone()) {
                        out.push(composition);
                    }
                }
            }
        }
        known.insert(transforms.to_vec(), out.clone());
        Ok(out)
    }

    /// The image of a filter under one basic transform. Nested orbits lose the members that do not
    /// survive it, and those that become equal to an earlier one.
    fn image(&mut self, basic: &Basic, filter: &Filter) -> Result<Filter, ReferenceError> {
        match filter {
            Filter::Plain { op: Op::NoTransform, .. } => Ok(filter.clone()),
            Filter::Plain { op, ty, args } => {
                self.count_node()?;
                let args = args.iter().map(|arg| self.image(basic, arg)).collect::<Result<_, _>>()?;
                Ok(Filter::Plain { op: image_of_members(basic, op), ty: *ty, args })
            }
            Filter::Orbit { tally, ty, copies } => {
                self.count_node()?;
                let copies = copies.iter().map(|copy| self.image(basic, copy)).collect::<Result<_, _>>()?;
                Ok(Filter::Orbit { tally: *tally, ty: *ty, copies: distinct_survivors(copies) })
            }
        }
    }

    fn count_node(&mut self) -> Result<(), ReferenceError> {
        self.nodes += 1;
        if self.nodes > Expander::NODES_MAX {
            return Err(ReferenceError::TooManyCopies { nodes_max: Expander::NODES_MAX });
        }
        Ok(())
    }
}

/// What stands in braces or parentheses around nothing else.
fn without_braces(node: &Node) -> &Node {
    match (&node.op, node.args.as_slice()) {
        (Op::Compound, [only]) => without_braces(only),
        _ => node,
    }
}

/// The type of a transform's value.
fn value_type(tally: Tally, of_copies: Type) -> Type {
    match (tally, of_copies) {
        (Tally::Count | Tally::Range(..), _) => Type::Num,
        (Tally::Any, Type::Set | Type::Num) => of_copies,
        (Tally::Any, Type::Bool | Type::Str | Type::Position) => Type::Bool,
    }
}

/// The table "how each filter transforms": an operation's own members.
fn image_of_members(basic: &Basic, op: &Op) -> Op {
    let swap = basic.swaps_colors();
    match op {
        Op::Designator { pieces, squares } => {
            Op::Designator { pieces: basic.pieces(*pieces), squares: basic.squares(*squares) }
        }
        Op::Direction { dirs, lo, hi } => Op::Direction { dirs: basic.dirs(*dirs), lo: *lo, hi: *hi },
        Op::DirectionWithin { dirs } => Op::DirectionWithin { dirs: basic.dirs(*dirs) },
        Op::Ray { dirs, attack } => Op::Ray { dirs: basic.dirs(*dirs), attack: *attack },
        Op::Shade { light } => Op::Shade { light: *light != basic.swaps_shades() },
        Op::ToMove(color) if swap => Op::ToMove(!*color),
        Op::ColorValue(color) if swap => Op::ColorValue(!*color),
        Op::Elo(Some(color)) if swap => Op::Elo(Some(!*color)),
        Op::Player(Some(color)) if swap => Op::Player(Some(!*color)),
        Op::Result(GameResult::WhiteWins) if swap => Op::Result(GameResult::BlackWins),
        Op::Result(GameResult::BlackWins) if swap => Op::Result(GameResult::WhiteWins),
        Op::Tag(name) if swap && name == "White" => Op::Tag(String::from("Black")),
        Op::Tag(name) if swap && name == "Black" => Op::Tag(String::from("White")),
        other => other.clone(),
    }
}

/// Drops the copies with an empty designator, then all but the first of each kind.
fn distinct_survivors(copies: Vec<Filter>) -> Vec<Filter> {
    let mut seen = HashSet::new();
    copies.into_iter().filter(|copy| survives(copy) && seen.insert(members(copy))).collect()
}

/// Whether no designator has lost all its squares and no nested orbit all its members, wherever in
/// the tree they stand.
fn survives(filter: &Filter) -> bool {
    match filter {
        Filter::Plain { op: Op::Designator { squares, .. }, .. } => squares.any(),
        Filter::Plain { args, .. } => args.iter().all(survives),
        Filter::Orbit { copies, .. } => !copies.is_empty(),
    }
}

fn members(filter: &Filter) -> Vec<Member> {
    let mut out = Vec::new();
    collect_members(filter, &mut out);
    out
}

fn collect_members(filter: &Filter, out: &mut Vec<Member>) {
    match filter {
        Filter::Plain { op: Op::NoTransform, .. } => {}
        Filter::Plain { op, args, .. } => {
            out.extend(own_member(op));
            args.iter().for_each(|arg| collect_members(arg, out));
        }
        Filter::Orbit { copies, .. } => {
            let mut nested: Vec<Vec<Member>> = copies.iter().map(members).collect();
            nested.sort();
            out.push(Member::Orbit(nested));
        }
    }
}

fn own_member(op: &Op) -> Option<Member> {
    Some(match op {
        Op::Designator { pieces, squares } => Member::Designator {
            squares: *squares,
            all_white: pieces.all_white,
            all_black: pieces.all_black,
            list: pieces.list.0,
        },
        Op::Direction { dirs, .. } | Op::DirectionWithin { dirs } | Op::Ray { dirs, .. } => {
            Member::Dirs(dirs.0)
        }
        Op::Shade { light } => Member::Side(*light),
        Op::ToMove(color) | Op::ColorValue(color) | Op::Elo(Some(color)) | Op::Player(Some(color)) => {
            Member::Side(color.is_white())
        }
        // A draw is a draw in every copy; it says nothing that could differ.
        Op::Result(result) => Member::Side(*result == GameResult::WhiteWins),
        Op::Tag(name) => Member::Side(name == "White"),
        _ => return None,
    })
}

/// Refuses what has no image under an eighth of a turn.
fn rotates_by_45(filter: &Filter) -> Result<(), ReferenceError> {
    match filter {
        Filter::Plain { op: Op::NoTransform, .. } => Ok(()),
        Filter::Plain { op: Op::Shade { .. }, .. } => Err(ReferenceError::Rotate45Shade),
        Filter::Plain { op: Op::Designator { squares, .. }, .. }
            if *squares != Bitboard::FULL && *squares != Bitboard::EMPTY =>
        {
            Err(ReferenceError::Rotate45Squares)
        }
        Filter::Plain { args, .. } => args.iter().try_for_each(rotates_by_45),
        Filter::Orbit { copies, .. } => copies.iter().try_for_each(rotates_by_45),
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::{Color, Square};

    use super::*;
    use crate::{
        board::{Code, PieceSet},
        diagnostic::Span,
        query::tree::{Dirs, Pieces},
    };

    fn node(op: Op, ty: Type, args: Vec<Node>) -> Node {
        Node::new(op, ty, Span::default(), args)
    }

    /// A designator without pieces; `a-h2` is a rank, `a1-8` a file.
    fn at(names: &[&str]) -> Node {
        let mut squares = Bitboard::EMPTY;
        for name in names {
            squares |= match *name {
                "a-h2" => Bitboard(0xff00),
                "a1-8" => Bitboard(0x0101_0101_0101_0101),
                square => square.parse::<Square>().unwrap().into(),
            };
        }
        node(Op::Designator { pieces: Pieces::UNNAMED, squares }, Type::Set, vec![])
    }

    fn of(pieces: Pieces, squares: Bitboard) -> Node {
        node(Op::Designator { pieces, squares }, Type::Set, vec![])
    }

    fn rooks(colors: &[Color]) -> Pieces {
        let rook = |&color| PieceSet::only(Code::of(shakmaty::Piece { color, role: shakmaty::Role::Rook }));
        let list = colors.iter().map(rook).fold(PieceSet::NONE, PieceSet::union);
        Pieces { all_white: false, all_black: false, list }
    }

    fn braces(args: Vec<Node>) -> Node {
        node(Op::Compound, args[args.len() - 1].ty, args)
    }

    fn transform(kind: TransformKind, tally: Tally, arg: Node) -> Node {
        let ty = value_type(tally, arg.ty);
        node(Op::Transform(kind, tally), ty, vec![arg])
    }

    use TransformKind::{
        Flip, FlipColor, FlipHorizontal, ReverseColor, Rotate45, Shift, ShiftHorizontal, ShiftVertical,
    };

    fn any(kind: TransformKind, arg: Node) -> Node {
        transform(kind, Tally::Any, arg)
    }

    fn count(kind: TransformKind, arg: Node) -> Node {
        transform(kind, Tally::Count, arg)
    }

    fn orbit(node: &Node) -> (Tally, Vec<Filter>) {
        match Expander::expand(node).unwrap() {
            Filter::Orbit { tally, copies, .. } => (tally, copies),
            other => panic!("{other:?} is no orbit"),
        }
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
        assert_eq!(size(any(Shift, node(Op::Squares(Bitboard(1)), Type::Set, vec![]))), 1);
    }

    #[test]
    fn empty_designators_kill_wherever_they_stand() {
        let not = |arg| node(Op::Not, Type::Bool, vec![arg]);
        let either = |a, b| node(Op::Or, Type::Bool, vec![a, b]);
        assert_eq!(size(any(Shift, not(at(&["a1"])))), 64);
        assert_eq!(size(any(Shift, either(at(&["a2"]), at(&["b3"])))), 49);
        // As one designator it survives on its own half: a lone a8 or h1 comes from either square.
        assert_eq!(size(any(Shift, at(&["a2", "b3"]))), 49 + 2 * 15 - 2);
    }

    #[test]
    fn copies_are_distinct_by_structure() {
        let union = node(Op::Union, Type::Set, vec![at(&["a1"]), at(&["h8"])]);
        assert_eq!(size(any(Flip, at(&["a1", "h8"]))), 2);
        assert_eq!(size(any(Flip, union)), 4);
        assert_eq!(size(any(Flip, braces(vec![at(&["a1"]), at(&["h8"])]))), 4);
        assert_eq!(size(any(Flip, of(rooks(&[Color::White]), Bitboard::FULL))), 1);
        assert_eq!(size(any(FlipColor, of(rooks(&[Color::White, Color::Black]), Bitboard::FULL))), 1);
        let all_white = Pieces { all_white: true, all_black: false, list: PieceSet::NONE };
        assert_eq!(size(any(FlipColor, of(all_white, Bitboard::FULL))), 2);
        assert_eq!(size(any(FlipColor, at(&["a4"]))), 2);
        assert_eq!(size(any(FlipColor, node(Op::ToMove(Color::White), Type::Bool, vec![]))), 2);
        let up = Op::Direction { dirs: Dirs(4), lo: 1, hi: 1 };
        let kings = of(rooks(&[Color::White]), Bitboard::FULL);
        assert_eq!(size(any(Flip, node(up.clone(), Type::Set, vec![kings.clone()]))), 4);
        assert_eq!(size(any(Rotate45, node(up, Type::Set, vec![kings]))), 8);
    }

    #[test]
    fn directly_nested_transforms_fuse_and_the_inner_count_governs() {
        let a1 = || of(rooks(&[Color::White]), Bitboard(1));
        for query in [
            any(Shift, count(Flip, a1())),
            any(Flip, count(Shift, a1())),
            any(Flip, braces(vec![braces(vec![count(Shift, a1())])])),
        ] {
            let (tally, copies) = orbit(&query);
            assert_eq!((tally, copies.len()), (Tally::Count, 64));
            assert!(copies.iter().all(|copy| matches!(copy, Filter::Plain { .. })));
        }
        assert_eq!(size(any(ReverseColor, any(ReverseColor, a1()))), 1);
        assert_eq!(size(any(FlipColor, any(Flip, a1()))), 8);
        let plus_0 = |arg| {
            let zero = node(Op::Int(0), Type::Num, vec![]);
            node(Op::Arith(crate::query::tree::Arith::Add), Type::Num, vec![arg, zero])
        };
        let (tally, copies) = orbit(&any(FlipHorizontal, plus_0(count(ShiftHorizontal, at(&["a2"])))));
        assert_eq!((tally, copies.len()), (Tally::Any, 2));
    }

    #[test]
    fn a_counted_transform_keeps_its_argument_nested() {
        let (tally, copies) = orbit(&count(Shift, any(Flip, at(&["a1"]))));
        assert_eq!(tally, Tally::Count);
        assert!(copies.iter().all(|copy| matches!(copy, Filter::Orbit { copies, .. } if !copies.is_empty())));
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
        let swapped = |op| image_of_members(&Basic::SwapColors, &op);
        assert_eq!(swapped(Op::ToMove(Color::White)), Op::ToMove(Color::Black));
        assert_eq!(swapped(Op::ColorValue(Color::White)), Op::ColorValue(Color::Black));
        assert_eq!(swapped(Op::Elo(Some(Color::White))), Op::Elo(Some(Color::Black)));
        assert_eq!(swapped(Op::Elo(None)), Op::Elo(None));
        assert_eq!(swapped(Op::Player(Some(Color::Black))), Op::Player(Some(Color::White)));
        assert_eq!(swapped(Op::Result(GameResult::WhiteWins)), Op::Result(GameResult::BlackWins));
        assert_eq!(swapped(Op::Result(GameResult::Draw)), Op::Result(GameResult::Draw));
        assert_eq!(swapped(Op::Tag("White".into())), Op::Tag("Black".into()));
        assert_eq!(swapped(Op::Tag("Site".into())), Op::Tag("Site".into()));
        assert_eq!(swapped(Op::Shade { light: true }), Op::Shade { light: false });
        assert_eq!(swapped(Op::SideToMove), Op::SideToMove);
        let (black, white) = (rooks(&[Color::Black]), rooks(&[Color::White]));
        let squares = Bitboard(1);
        assert_eq!(
            swapped(Op::Designator { pieces: white, squares }),
            Op::Designator { pieces: black, squares: Bitboard(1 << 56) }
        );
    }

    #[test]
    fn notransform_shields_and_rotate45_is_choosy() {
        let shield = |arg| node(Op::NoTransform, Type::Set, vec![arg]);
        let shade = |arg| node(Op::Shade { light: true }, Type::Set, vec![arg]);
        let all = || of(rooks(&[Color::White]), Bitboard::FULL);
        assert_eq!(size(any(Flip, shield(at(&["a1"])))), 1);
        assert_eq!(size(any(Rotate45, shield(at(&["a1"])))), 1);
        let error = |query| Expander::expand(&query).unwrap_err();
        assert_eq!(error(any(Rotate45, at(&["a1"]))), ReferenceError::Rotate45Squares);
        assert_eq!(error(any(Rotate45, shade(all()))), ReferenceError::Rotate45Shade);
        assert_eq!(error(count(Rotate45, any(Shift, at(&["a1"])))), ReferenceError::Rotate45Squares);
        let mut towers = at(&["a1", "b1"]);
        for _ in 0..4 {
            towers = count(Shift, braces(vec![towers, at(&["a1"])]));
        }
        assert!(matches!(error(towers), ReferenceError::TooManyCopies { .. }));
    }
}
