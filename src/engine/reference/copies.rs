//! Transforms expanded into explicit copies, once per query.

use std::collections::HashSet;

use shakmaty::Bitboard;

use super::{ReferenceError, geometry::Basic};
use crate::query::tree::{GameResult, Node, Op, Tally, TransformKind, Type};

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
                products.push(self.image(basic, copy)?);
            }
        }
        Ok(Orbit { copies: distinct_survivors(products), ..inner })
    }

    /// The image of a filter under one basic transform. Nested orbits lose the members that do not
    /// survive it, and those that become equal to an earlier one.
    fn image(&mut self, basic: Basic, filter: &Filter) -> Result<Filter, ReferenceError> {
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
        (Tally::Any, Type::Bool | Type::Str) => Type::Bool,
    }
}

/// The table "how each filter transforms": an operation's own members.
fn image_of_members(basic: Basic, op: &Op) -> Op {
    let swap = basic.swaps_colors();
    match op {
        Op::Designator { pieces, squares } => {
            Op::Designator { pieces: basic.pieces(*pieces), squares: basic.squares(*squares) }
        }
        Op::Direction { dirs, lo, hi } => Op::Direction { dirs: basic.dirs(*dirs), lo: *lo, hi: *hi },
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
        Op::Direction { dirs, .. } | Op::Ray { dirs, .. } => Member::Dirs(dirs.0),
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
