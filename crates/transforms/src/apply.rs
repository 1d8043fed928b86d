//! Applies one transform to a filter, and removes repeated copies. A copy is the image of a filter under transforms.

use std::convert::Infallible;

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use shakmaty::Color;

use super::{
    Condition, Copy, Expanded, FilterRef, Number, NumberOrbit, Orbit, Placement, Position, Squares, Text,
};
use crate::AsOrbit as _;
use orbit_core::board::{self, Code, Dihedral, PieceSet, SquareMap};
use orbit_query::tree::{
    ConditionOp, Dirs, GameResult, Kind, NumberOp, Pieces, Ref, Rewrite, SquaresOp, TextOp, rewrite,
};

/// A composition of transformations for which the keywords of a CQL 5 position list stand. In `(position Nd4 :shift :flip)`, a
/// shift after a reflection is such a composition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Composite {
    /// The map of squares. If the composition swaps colours, the map includes the reflection of ranks that comes with the swap.
    pub map: SquareMap,
    /// The same composition as a placement.
    pub placement: Placement,
}

/// One of the transformations for which a keyword stands. For instance, `flipcolor` stands for two: the identity and the colour
/// swap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum KeywordTransform {
    Symmetry(Dihedral),
    Colors,
    Turn45(u8),
    Shift((i8, i8)),
    Composite(Composite),
}

/// Returns the image of a filter, or `None` if there is no such copy because a designator loses its last square or a nested
/// transform its last copy.
pub(super) fn apply<F: Kind<Expanded, In<Expanded> = F>>(filter: &F, basic: KeywordTransform) -> Option<F> {
    filter.rewritten(&mut Mover(basic)).ok()
}

struct Mover(KeywordTransform);

/// The error for a copy that does not exist, for instance because a designator lost its last square. It ends the rewriting of the
/// filter.
struct Gone;

impl Mover {
    fn dirs(&self, dirs: Dirs) -> Dirs {
        match self.0 {
            KeywordTransform::Symmetry(d) => reflected(dirs, d),
            KeywordTransform::Colors => reflected(dirs, Dihedral::ReflectRanks),
            KeywordTransform::Turn45(k) => Dirs(dirs.0.rotate_left(u32::from(k))),
            // A shift does not change directions. A `Composite` transforms CQL 5 lists, which contain no directions.
            KeywordTransform::Shift(_) | KeywordTransform::Composite(_) => dirs,
        }
    }

    fn swaps_shades(&self) -> bool {
        match self.0 {
            KeywordTransform::Symmetry(d) => d.swaps_shades(),
            KeywordTransform::Colors => Dihedral::ReflectRanks.swaps_shades(),
            KeywordTransform::Shift((dx, dy)) => (dx + dy) % 2 != 0,
            KeywordTransform::Turn45(_) | KeywordTransform::Composite(_) => false,
        }
    }

    fn swaps_colors(&self) -> bool {
        match self.0 {
            KeywordTransform::Colors => true,
            KeywordTransform::Composite(composite) => composite.placement.swap_colors,
            _ => false,
        }
    }

    fn color(&self, color: Color) -> Color {
        if self.swaps_colors() { !color } else { color }
    }

    fn pieces(&self, pieces: Pieces) -> Pieces {
        if self.swaps_colors() { swap_pieces(pieces) } else { pieces }
    }

    fn set(&self, squares: shakmaty::Bitboard) -> shakmaty::Bitboard {
        match self.0 {
            KeywordTransform::Symmetry(d) => d.apply(squares),
            KeywordTransform::Shift(v) => board::shift(squares, v),
            KeywordTransform::Colors => Dihedral::ReflectRanks.apply(squares),
            KeywordTransform::Turn45(_) => squares,
            KeywordTransform::Composite(composite) => composite.map.apply(squares),
        }
    }

    fn orbit<F: Kind<Expanded, In<Expanded> = F>>(&mut self, orbit: &Orbit<F>) -> Result<Orbit<F>, Gone> {
        let copies = orbit.copies.iter().filter_map(|copy| {
            let mut placement = copy.placement.then(self.0);
            // A CQL 5 shift can leave squares in place at the edge from which it moves away; see `Placement::smeared`. Nested
            // copies are not tested for such squares, but assumed to have some.
            placement.smeared |= matches!(self.0, KeywordTransform::Composite(_));
            Some(Copy::new(placement, copy.filter.rewritten(self).ok()?))
        });
        let mut copies = copies.collect();
        drop_repetitions(&mut copies);
        if copies.is_empty() {
            return Err(Gone);
        }
        Ok(Orbit { base: orbit.base.clone(), copies, ..*orbit })
    }
}

impl Rewrite<Expanded, Expanded> for Mover {
    type Stop = Gone;

    fn mark(&mut self, fixed: &bool) -> bool {
        *fixed
    }

    fn condition(&mut self, filter: &Condition) -> Result<Condition, Gone> {
        if filter.mark {
            return Ok(filter.clone());
        }
        let op = match filter.op() {
            ConditionOp::ToMove(color) => ConditionOp::ToMove(self.color(*color)),
            ConditionOp::Result(result) if self.swaps_colors() => ConditionOp::Result(match result {
                GameResult::WhiteWins => GameResult::BlackWins,
                GameResult::BlackWins => GameResult::WhiteWins,
                GameResult::Draw => GameResult::Draw,
            }),
            _ => return rewrite::condition(filter, self),
        };
        Ok(Condition::new(op, false))
    }

    fn squares(&mut self, filter: &Squares) -> Result<Squares, Gone> {
        if filter.mark {
            return Ok(filter.clone());
        }
        let op = match filter.op() {
            SquaresOp::Designator { pieces, squares } => {
                let squares = self.set(*squares);
                if squares.is_empty() {
                    return Err(Gone);
                }
                SquaresOp::Designator { pieces: self.pieces(*pieces), squares }
            }
            SquaresOp::Direction { dirs, lo, hi, of } => {
                SquaresOp::Direction { dirs: self.dirs(*dirs), lo: *lo, hi: *hi, of: self.squares(of)? }
            }
            SquaresOp::DirectionWithin { dirs, lo, hi, of } => SquaresOp::DirectionWithin {
                dirs: self.dirs(*dirs),
                lo: self.number(lo)?,
                hi: self.number(hi)?,
                of: self.squares(of)?,
            },
            SquaresOp::Ray { dirs, attack, sets } => SquaresOp::Ray {
                dirs: self.dirs(*dirs),
                attack: *attack,
                sets: sets.try_map(|set| self.squares(set))?,
            },
            SquaresOp::Shade { light, of } => {
                SquaresOp::Shade { light: *light != self.swaps_shades(), of: self.squares(of)? }
            }
            _ => return rewrite::squares(filter, self),
        };
        Ok(Squares::new(op, false))
    }

    fn number(&mut self, filter: &Number) -> Result<Number, Gone> {
        if filter.mark {
            return Ok(filter.clone());
        }
        let op = match filter.op() {
            NumberOp::ColorValue(color) => NumberOp::ColorValue(self.color(*color)),
            NumberOp::Elo(Some(color)) => NumberOp::Elo(Some(self.color(*color))),
            _ => return rewrite::number(filter, self),
        };
        Ok(Number::new(op, false))
    }

    fn text(&mut self, filter: &Text) -> Result<Text, Gone> {
        if filter.mark {
            return Ok(filter.clone());
        }
        let op = match filter.op() {
            TextOp::Player(Some(color)) => TextOp::Player(Some(self.color(*color))),
            TextOp::Tag(name) if self.swaps_colors() => TextOp::Tag(match name.as_str() {
                "White" => "Black".into(),
                "Black" => "White".into(),
                other => other.into(),
            }),
            _ => return rewrite::text(filter, self),
        };
        Ok(Text::new(op, false))
    }

    fn position(&mut self, filter: &Position) -> Result<Position, Gone> {
        if filter.mark { Ok(filter.clone()) } else { rewrite::position(filter, self) }
    }

    fn of_condition(&mut self, part: &Orbit, fixed: &bool) -> Result<Condition, Gone> {
        Ok(Condition::new(ConditionOp::Form(self.orbit(part)?), *fixed))
    }

    fn of_squares(&mut self, part: &Orbit<Squares>, fixed: &bool) -> Result<Squares, Gone> {
        Ok(Squares::new(SquaresOp::Form(self.orbit(part)?), *fixed))
    }

    fn of_number(&mut self, part: &NumberOrbit, fixed: &bool) -> Result<Number, Gone> {
        let orbit = match part {
            NumberOrbit::Largest(orbit) => NumberOrbit::Largest(self.orbit(orbit)?),
            NumberOrbit::Counted(counted, orbit) => NumberOrbit::Counted(*counted, self.orbit(orbit)?),
        };
        Ok(Number::new(NumberOp::Form(orbit), *fixed))
    }

    fn of_text(&mut self, part: &Infallible, _: &bool) -> Result<Text, Gone> {
        match *part {}
    }

    fn of_position(&mut self, part: &Infallible, _: &bool) -> Result<Position, Gone> {
        match *part {}
    }
}

fn reflected(dirs: Dirs, d: Dihedral) -> Dirs {
    let images = dirs.steps().map(|step| d.step(step));
    Dirs(images.fold(0, |out, step| {
        let index = Dirs::STEPS.iter().position(|&s| s == step);
        out | 1 << index.expect("a symmetry maps the eight steps to themselves")
    }))
}

fn swap_pieces(pieces: Pieces) -> Pieces {
    let mut list = PieceSet::NONE;
    for code in (0..15).map(Code).filter(|&code| pieces.list.contains(code)) {
        let swapped = if code == Code::EMPTY { code } else { Code(code.0 ^ 8) };
        list = list.union(PieceSet::only(swapped));
    }
    Pieces { all_white: pieces.all_black, all_black: pieces.all_white, list }
}

/// The maximum number of filters that one transform keeps in memory, counting its operand and all copies, including nested ones.
/// Because operands are kept besides the copies, `n` nested `flipcolor` keep about 3^n filters.
pub(super) const FILTERS_MAX: usize = 4_000_000;

/// Returns the number of filters in a tree, including the copies of transforms.
pub(super) fn size(filter: FilterRef) -> usize {
    let mut sum = 1;
    filter.each_child(&mut |child| sum += size(child));
    sum
}

/// Returns the number of filters that a tree keeps in memory: the filters that [`size`] counts, and the untransformed operands of
/// transforms.
pub(super) fn filters_in_memory(filter: FilterRef) -> usize {
    let mut sum = 1;
    filter.each_child(&mut |child| sum += filters_in_memory(child));
    sum + filter.orbit().map_or(0, |orbit| filters_in_memory(orbit.base()))
}

/// Keeps only the first of several copies with equal structures, and adds the sides (White, Black or both) of the dropped copies to
/// it.
pub(super) fn drop_repetitions<F: Kind<Expanded>>(copies: &mut Vec<Copy<F>>) {
    let (mut places, mut kept) = (HashMap::new(), Vec::<Copy<F>>::new());
    for copy in copies.drain(..) {
        match places.entry(structure(copy.filter.node())) {
            Entry::Vacant(place) => {
                place.insert(kept.len());
                kept.push(copy);
            }
            Entry::Occupied(place) => {
                let sides = &mut kept[*place.get()].sides;
                *sides = sides.zip(copy.sides).map(|(one, other)| one | other);
            }
        }
    }
    *copies = kept;
}

/// Encodes the parts in which two copies of one filter can differ. These are the parts that transforms can change, in operand
/// order. The copies of a nested transform are encoded as a sorted list.
pub(super) fn structure(filter: FilterRef) -> Vec<u64> {
    let mut out = Vec::new();
    write_structure(filter, &mut out);
    out
}

fn write_structure(filter: FilterRef, out: &mut Vec<u64>) {
    if filter.orbit().is_none() {
        out.extend(member(filter).into_iter().flatten());
        return filter.each_child(&mut |child| write_structure(child, out));
    }
    // The children of a transform are its copies.
    let mut members = Vec::new();
    filter.each_child(&mut |copy| members.push(structure(copy)));
    members.sort_unstable();
    out.push(members.len() as u64);
    for member in members {
        out.push(member.len() as u64);
        out.extend(member);
    }
}

/// Encodes as numbers the part of a filter that transforms can change, so that copies can be compared. Returns `None` if the filter
/// has no such part. The filter's operands are encoded separately.
pub fn member(filter: FilterRef) -> Option<Vec<u64>> {
    let color = |c: Color| c as u64;
    Some(match filter {
        Ref::Squares(f) => match f.op() {
            SquaresOp::Designator { pieces, squares } => vec![
                squares.0,
                u64::from(pieces.all_white)
                    | u64::from(pieces.all_black) << 1
                    | u64::from(pieces.list.0) << 2,
            ],
            SquaresOp::Direction { dirs, .. }
            | SquaresOp::DirectionWithin { dirs, .. }
            | SquaresOp::Ray { dirs, .. } => vec![u64::from(dirs.0)],
            SquaresOp::Shade { light, .. } => vec![u64::from(*light)],
            _ => return None,
        },
        Ref::Condition(f) => match f.op() {
            ConditionOp::ToMove(c) => vec![color(*c)],
            ConditionOp::Result(r) => vec![*r as u64],
            _ => return None,
        },
        Ref::Number(f) => match f.op() {
            NumberOp::ColorValue(c) => vec![color(*c)],
            NumberOp::Elo(c) => vec![c.map_or(2, color)],
            _ => return None,
        },
        Ref::Text(f) => match f.op() {
            TextOp::Player(c) => vec![c.map_or(2, color)],
            TextOp::Tag(name) => vec![match name.as_str() {
                "White" => 0,
                "Black" => 1,
                _ => 2,
            }],
            _ => return None,
        },
        Ref::Position(_) => return None,
    })
}
