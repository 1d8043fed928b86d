//! Expands the transforms of a query into explicit copies. A copy is the image of a filter under one transformation. Each query is
//! expanded once.

use std::{
    cmp::Ordering,
    collections::{HashMap, HashSet},
};

use shakmaty::{Bitboard, Color};

use super::{
    ReferenceError,
    geometry::{BasicTransform, ListImages},
};

use orbit_query::tree::{
    Any, Condition, ConditionKeyword, ConditionOp, Control, Counted, Extension, Form, GameResult, GameText,
    Keyword, Kind, ListTransform, NoTransform, Node, Number, NumberKeyword, NumberOp, Position, PositionOp,
    Ref, Rewrite, Squares, SquaresOp, Text, TextOp, TransformKind, Written, rewrite,
};

/// The span of a filter in the query text.
type Span = <Written as Form>::Mark;

/// The form of a tree in which each transform keyword is replaced by the list of its copies.
#[derive(Clone, Copy, Debug)]
pub(super) enum ExplicitForm {}

impl Form for ExplicitForm {
    /// The span of a filter in the query text, for error messages during evaluation.
    type Mark = Span;
    type OfCondition = Copies<Condition<ExplicitForm>, PlainFilter>;
    type OfSquares = Copies<Squares<ExplicitForm>, Squares<ExplicitForm>>;
    type OfNumber = NumberCopies;
    type OfText = NoTransform<Text<ExplicitForm>>;
    type OfPosition = NoTransform<Position<ExplicitForm>>;
}

/// A filter without transform keywords.
pub(super) type PlainFilter = Any<ExplicitForm>;

/// The copies of a transform, or the operand of `notransform`, which transforms do not change. The list contains only copies in
/// which every designator still has a square ([`survives`]), in the order given by [`CopyOrder`]. Of several equal copies, it
/// contains only the one that the transform makes first.
#[derive(Clone, Debug)]
pub(super) enum Copies<F, C> {
    Orbit(Vec<C>),
    NoTransform(F),
}

/// The transformed copies of a filter whose value is a number. The result is the largest value of any copy, or the number of copies
/// that match.
#[derive(Clone, Debug)]
pub(super) enum NumberCopies {
    Largest(Copies<Number<ExplicitForm>, Number<ExplicitForm>>),
    Counted(Counted, Vec<PlainFilter>),
}

impl<F: Kind<ExplicitForm>, C: Kind<ExplicitForm>> Extension<ExplicitForm> for Copies<F, C> {
    fn each_child<'a>(&'a self, visit: &mut dyn FnMut(Ref<'a, ExplicitForm>)) {
        match self {
            Copies::Orbit(copies) => copies.iter().for_each(|copy| visit(copy.node())),
            Copies::NoTransform(of) => visit(of.node()),
        }
    }
}

impl Extension<ExplicitForm> for NumberCopies {
    fn each_child<'a>(&'a self, visit: &mut dyn FnMut(Ref<'a, ExplicitForm>)) {
        match self {
            NumberCopies::Largest(copies) => copies.each_child(visit),
            NumberCopies::Counted(_, copies) => copies.iter().for_each(|copy| visit(copy.node())),
        }
    }
}

/// The treatment of a filter when a transform is applied to it, or when copies are compared.
enum Standing<'a> {
    /// An operation that is not a transform.
    Plain,
    /// The operand of `notransform`, which transforms do not change.
    Still,
    Orbit(Vec<Ref<'a, ExplicitForm>>),
}

impl<'a> Standing<'a> {
    fn from_filter(filter: Ref<'a, ExplicitForm>) -> Standing<'a> {
        let orbit = || Standing::Orbit(filter.children());
        match filter {
            Ref::Condition(f) => match f.op() {
                ConditionOp::Form(Copies::Orbit(_)) => orbit(),
                ConditionOp::Form(Copies::NoTransform(_)) => Standing::Still,
                _ => Standing::Plain,
            },
            Ref::Squares(f) => match f.op() {
                SquaresOp::Form(Copies::Orbit(_)) => orbit(),
                SquaresOp::Form(Copies::NoTransform(_)) => Standing::Still,
                _ => Standing::Plain,
            },
            Ref::Number(f) => match f.op() {
                NumberOp::Form(NumberCopies::Largest(Copies::NoTransform(_))) => Standing::Still,
                NumberOp::Form(_) => orbit(),
                _ => Standing::Plain,
            },
            Ref::Text(f) if let TextOp::Form(_) = f.op() => Standing::Still,
            Ref::Position(f) if let PositionOp::Form(_) = f.op() => Standing::Still,
            _ => Standing::Plain,
        }
    }
}

/// A part of a copy that transforms can change. The members of a copy are listed in the order of its child filters. Two copies of a
/// filter are equal if and only if their members are equal.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum CopyMember {
    Designator {
        squares: Squarewise,
        not_all_white: bool,
        not_all_black: bool,
        list: Vec<u16>,
    },
    /// The side, square colour or result that a filter names, as in `wtm`, `white`, `elo white`, `player white`, `tag "White"`,
    /// `result 1-0` or `light`. It is false for White, for a win by White and for dark squares.
    Side(bool),
    /// The directions that a filter names, in ascending order. A direction is stored as the number of the next square in this
    /// direction minus the number of the square itself.
    Dirs(Vec<i8>),
    /// The copies of a nested transform, as a sorted list of their members.
    Orbit(Vec<Vec<CopyMember>>),
}

/// A set of squares. Two sets are compared as ascending lists of squares.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Squarewise(Bitboard);

impl Ord for Squarewise {
    fn cmp(&self, other: &Squarewise) -> Ordering {
        self.0.into_iter().cmp(other.0)
    }
}

impl PartialOrd for Squarewise {
    fn partial_cmp(&self, other: &Squarewise) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Builds the copies of a query. It counts the tree nodes of all filters it builds, to limit their number.
pub(super) struct CopyBuilder {
    nodes: usize,
    order: CopyOrder,
}

/// The order of the copies of a transform.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CopyOrder {
    /// The order in which the language declares the transformations. Copies are numbered in this order.
    Declared,
    /// The order of evaluation: ascending by the members of the copies. Of equal copies, `currenttransform` names the first in the
    /// order of [`BasicTransform::in_turn`].
    Evaluated,
}

impl CopyBuilder {
    /// The maximum number of tree nodes in all copies of a query, including copies that turn out to be duplicates. Without this
    /// limit, six shifts, one inside the other, would exhaust the memory; with it, they are rejected within a second.
    pub(super) const NODES_MAX: usize = 4_000_000;

    /// Expands all transforms of a filter.
    ///
    /// # Errors
    ///
    /// Fails if the transforms cannot be expanded; see [`ReferenceError`].
    pub(super) fn expand(root: &Node, order: CopyOrder) -> Result<PlainFilter, ReferenceError> {
        CopyBuilder { nodes: 0, order }.any(root)
    }

    /// Returns all distinct images of the given copies under a transform.
    fn products<F>(&mut self, kind: TransformKind, copies: &[F]) -> Result<Vec<F>, ReferenceError>
    where
        F: Kind<ExplicitForm, In<ExplicitForm> = F>,
    {
        if kind == TransformKind::Rotate45 {
            copies.iter().try_for_each(|copy| rotates_by_45(copy.node()))?;
        }
        let mut products = Vec::new();
        let basics = match self.order {
            CopyOrder::Declared => BasicTransform::all(kind),
            CopyOrder::Evaluated => BasicTransform::in_turn(kind),
        };
        for basic in basics {
            for copy in copies {
                products.push(self.image(&basic, copy)?);
            }
        }
        Ok(self.distinct_survivors(products))
    }

    /// Removes duplicates, and copies that do not survive the transform ([`survives`]). Returns the remaining copies in order.
    fn distinct_survivors<F: Kind<ExplicitForm>>(&self, copies: Vec<F>) -> Vec<F> {
        let mut seen = HashSet::new();
        let is_new = |copy: &F| survives(copy.node()) && seen.insert(members(copy.node()));
        let mut distinct: Vec<F> = copies.into_iter().filter(is_new).collect();
        if self.order == CopyOrder::Evaluated {
            distinct.sort_by_cached_key(|copy| members(copy.node()));
        }
        distinct
    }

    /// Returns the copies of a set filter under a transform. If the filter is itself a transform, the two fuse: the copies are the
    /// images under all compositions of the two.
    fn sets(
        &mut self,
        kind: TransformKind,
        of: &Squares,
    ) -> Result<Vec<Squares<ExplicitForm>>, ReferenceError> {
        let of = without_braces(of);
        let inner = match of.op() {
            SquaresOp::Form(Keyword::Transform(kind, of)) => self.sets(*kind, of)?,
            _ => vec![self.squares(of)?],
        };
        self.products(kind, &inner)
    }

    /// Returns the copies of a filter under a transform. The filter is a condition, or is used as one.
    fn conditions(&mut self, kind: TransformKind, of: &Node) -> Result<Vec<PlainFilter>, ReferenceError> {
        let of = without_condition_braces(of);
        let inner = match of {
            Any::Condition(inner)
                if let ConditionOp::Form(ConditionKeyword::Transform(kind, of)) = inner.op() =>
            {
                self.conditions(*kind, of)?
            }
            _ => vec![self.any(of)?],
        };
        self.products(kind, &inner)
    }

    /// Returns the copies of a number under a transform. If the number is itself a transform that counts its copies, the two fuse:
    /// the images under all compositions of the two are counted.
    fn numbers(&mut self, kind: TransformKind, of: &Number) -> Result<NumberCopies, ReferenceError> {
        let of = without_braces(of);
        let copies = match of.op() {
            NumberOp::Form(NumberKeyword::Counted(inner, counted, of)) => {
                let copies = self.counted(*inner, of)?;
                return Ok(NumberCopies::Counted(*counted, self.products(kind, &copies)?));
            }
            NumberOp::Form(NumberKeyword::Number(Keyword::Transform(inner, of))) => {
                match self.numbers(*inner, of)? {
                    NumberCopies::Counted(counted, copies) => {
                        return Ok(NumberCopies::Counted(counted, self.products(kind, &copies)?));
                    }
                    NumberCopies::Largest(Copies::Orbit(copies)) => copies,
                    NumberCopies::Largest(Copies::NoTransform(one)) => vec![one],
                }
            }
            _ => vec![self.number(of)?],
        };
        Ok(NumberCopies::Largest(Copies::Orbit(self.products(kind, &copies)?)))
    }

    /// Returns the copies of a filter under a transform with `count`. The transform does not fuse with a transform inside it.
    fn counted(&mut self, kind: TransformKind, of: &Node) -> Result<Vec<PlainFilter>, ReferenceError> {
        let copy = self.any(of)?;
        self.products(kind, &[copy])
    }

    /// Returns the copies of a CQL 5 position list, such as `(position Nd4 :shift :flip)`: the images of its contents under its
    /// transforms.
    fn list(&mut self, transforms: &[ListTransform], of: &Node) -> Result<Vec<PlainFilter>, ReferenceError> {
        let base = self.any(of)?;
        let mut copies = Vec::new();
        for images in self.compositions(transforms)? {
            copies.push(self.image(&BasicTransform::List(images), &base)?);
        }
        Ok(self.distinct_survivors(copies))
    }

    /// Returns all distinct compositions of the transforms in a CQL 5 position list. A composition applies one transformation of
    /// each keyword, with the keywords in any order. Compositions that swap colours come last.
    fn compositions(&mut self, transforms: &[ListTransform]) -> Result<Vec<ListImages>, ReferenceError> {
        let others: Vec<_> = transforms.iter().copied().filter(|&t| t != ListTransform::FlipColor).collect();
        let mut out = self.in_any_order(&others, &mut HashMap::new())?;
        if others.len() < transforms.len() {
            let swapped: Vec<ListImages> = out.iter().map(|one| one.then(&ListImages::colors())).collect();
            out.extend(swapped);
        }
        Ok(out)
    }

    /// Returns the compositions of some keywords in any order. Each keyword takes its turn as the last one applied: each of its
    /// transformations is composed with all compositions of the other keywords. `known` caches results.
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

    /// Returns the image of a filter under one basic transform, such as one rotation.
    fn image<F>(&mut self, basic: &BasicTransform, filter: &F) -> Result<F, ReferenceError>
    where
        F: Kind<ExplicitForm, In<ExplicitForm> = F>,
    {
        filter.rewritten(&mut Image { basic, expander: self })
    }

    fn count_node(&mut self) -> Result<(), ReferenceError> {
        self.nodes += 1;
        if self.nodes > CopyBuilder::NODES_MAX {
            return Err(ReferenceError::TooManyCopies { nodes_max: CopyBuilder::NODES_MAX });
        }
        Ok(())
    }
}

impl Rewrite<Written, ExplicitForm> for CopyBuilder {
    type Stop = ReferenceError;

    fn mark(&mut self, mark: &Span) -> Span {
        *mark
    }

    fn condition(&mut self, filter: &Condition) -> Result<Condition<ExplicitForm>, ReferenceError> {
        self.count_node()?;
        rewrite::condition(filter, self)
    }

    fn squares(&mut self, filter: &Squares) -> Result<Squares<ExplicitForm>, ReferenceError> {
        self.count_node()?;
        rewrite::squares(filter, self)
    }

    fn number(&mut self, filter: &Number) -> Result<Number<ExplicitForm>, ReferenceError> {
        self.count_node()?;
        rewrite::number(filter, self)
    }

    fn text(&mut self, filter: &Text) -> Result<Text<ExplicitForm>, ReferenceError> {
        self.count_node()?;
        rewrite::text(filter, self)
    }

    fn position(&mut self, filter: &Position) -> Result<Position<ExplicitForm>, ReferenceError> {
        self.count_node()?;
        rewrite::position(filter, self)
    }

    fn of_condition(
        &mut self,
        part: &ConditionKeyword,
        mark: &Span,
    ) -> Result<Condition<ExplicitForm>, ReferenceError> {
        let copies = match part {
            ConditionKeyword::Transform(kind, of) => Copies::Orbit(self.conditions(*kind, of)?),
            ConditionKeyword::Lists(transforms, of) => Copies::Orbit(self.list(transforms, of)?),
            ConditionKeyword::NoTransform(of) => Copies::NoTransform(self.condition(of)?),
        };
        Ok(Condition::new(ConditionOp::Form(copies), *mark))
    }

    fn of_squares(
        &mut self,
        part: &Keyword<Squares>,
        mark: &Span,
    ) -> Result<Squares<ExplicitForm>, ReferenceError> {
        let copies = match part {
            Keyword::Transform(kind, of) => Copies::Orbit(self.sets(*kind, of)?),
            Keyword::NoTransform(of) => Copies::NoTransform(self.squares(of)?),
        };
        Ok(Squares::new(SquaresOp::Form(copies), *mark))
    }

    fn of_number(
        &mut self,
        part: &NumberKeyword,
        mark: &Span,
    ) -> Result<Number<ExplicitForm>, ReferenceError> {
        let copies = match part {
            NumberKeyword::Counted(kind, counted, of) => {
                NumberCopies::Counted(*counted, self.counted(*kind, of)?)
            }
            NumberKeyword::Number(Keyword::Transform(kind, of)) => self.numbers(*kind, of)?,
            NumberKeyword::Number(Keyword::NoTransform(of)) => {
                NumberCopies::Largest(Copies::NoTransform(self.number(of)?))
            }
        };
        Ok(Number::new(NumberOp::Form(copies), *mark))
    }

    fn of_text(
        &mut self,
        part: &NoTransform<Text>,
        mark: &Span,
    ) -> Result<Text<ExplicitForm>, ReferenceError> {
        Ok(Text::new(TextOp::Form(NoTransform(self.text(&part.0)?)), *mark))
    }

    fn of_position(
        &mut self,
        part: &NoTransform<Position>,
        mark: &Span,
    ) -> Result<Position<ExplicitForm>, ReferenceError> {
        Ok(Position::new(PositionOp::Form(NoTransform(self.position(&part.0)?)), *mark))
    }
}

/// The computation of a filter's image under one basic transform. The language defines the image of each kind of filter. In the
/// image, a nested transform keeps only copies that survive and differ from earlier ones.
struct Image<'a> {
    basic: &'a BasicTransform,
    expander: &'a mut CopyBuilder,
}

impl Image<'_> {
    fn color(&self, color: Color) -> Color {
        if self.basic.swaps_colors() { !color } else { color }
    }

    fn copies<F: Kind<ExplicitForm, In<ExplicitForm> = F>>(
        &mut self,
        copies: &[F],
    ) -> Result<Vec<F>, ReferenceError> {
        let images = copies.iter().map(|copy| copy.rewritten(self)).collect::<Result<_, _>>()?;
        Ok(self.expander.distinct_survivors(images))
    }
}

impl Rewrite<ExplicitForm, ExplicitForm> for Image<'_> {
    type Stop = ReferenceError;

    fn mark(&mut self, mark: &Span) -> Span {
        *mark
    }

    fn condition(
        &mut self,
        filter: &Condition<ExplicitForm>,
    ) -> Result<Condition<ExplicitForm>, ReferenceError> {
        self.expander.count_node()?;
        let op = match filter.op() {
            ConditionOp::ToMove(color) => ConditionOp::ToMove(self.color(*color)),
            ConditionOp::Result(GameResult::WhiteWins) if self.basic.swaps_colors() => {
                ConditionOp::Result(GameResult::BlackWins)
            }
            ConditionOp::Result(GameResult::BlackWins) if self.basic.swaps_colors() => {
                ConditionOp::Result(GameResult::WhiteWins)
            }
            _ => return rewrite::condition(filter, self),
        };
        Ok(Condition::new(op, filter.mark))
    }

    fn squares(&mut self, filter: &Squares<ExplicitForm>) -> Result<Squares<ExplicitForm>, ReferenceError> {
        self.expander.count_node()?;
        let op = match filter.op() {
            SquaresOp::Designator { pieces, squares } => SquaresOp::Designator {
                pieces: self.basic.pieces(*pieces),
                squares: self.basic.squares(*squares),
            },
            SquaresOp::Direction { dirs, lo, hi, of } => {
                let dirs = self.basic.dirs(*dirs);
                SquaresOp::Direction { dirs, lo: *lo, hi: *hi, of: self.squares(of)? }
            }
            SquaresOp::DirectionWithin { dirs, lo, hi, of } => {
                let dirs = self.basic.dirs(*dirs);
                let (lo, hi) = (self.number(lo)?, self.number(hi)?);
                SquaresOp::DirectionWithin { dirs, lo, hi, of: self.squares(of)? }
            }
            SquaresOp::Ray { dirs, attack, sets } => {
                let dirs = self.basic.dirs(*dirs);
                SquaresOp::Ray { dirs, attack: *attack, sets: sets.try_map(|set| self.squares(set))? }
            }
            SquaresOp::Shade { light, of } => {
                SquaresOp::Shade { light: *light != self.basic.swaps_shades(), of: self.squares(of)? }
            }
            _ => return rewrite::squares(filter, self),
        };
        Ok(Squares::new(op, filter.mark))
    }

    fn number(&mut self, filter: &Number<ExplicitForm>) -> Result<Number<ExplicitForm>, ReferenceError> {
        self.expander.count_node()?;
        let op = match filter.op() {
            NumberOp::ColorValue(color) => NumberOp::ColorValue(self.color(*color)),
            NumberOp::Elo(Some(color)) => NumberOp::Elo(Some(self.color(*color))),
            _ => return rewrite::number(filter, self),
        };
        Ok(Number::new(op, filter.mark))
    }

    fn text(&mut self, filter: &Text<ExplicitForm>) -> Result<Text<ExplicitForm>, ReferenceError> {
        self.expander.count_node()?;
        let swap = self.basic.swaps_colors();
        let op = match filter.op() {
            TextOp::Player(Some(color)) => TextOp::Player(Some(self.color(*color))),
            TextOp::Tag(name) if swap && name == "White" => TextOp::Tag(String::from("Black")),
            TextOp::Tag(name) if swap && name == "Black" => TextOp::Tag(String::from("White")),
            TextOp::Game(GameText::CurrentTransform(names)) => {
                let names = self.basic.name().into_iter().chain(names.iter().cloned());
                TextOp::Game(GameText::CurrentTransform(names.collect()))
            }
            _ => return rewrite::text(filter, self),
        };
        Ok(Text::new(op, filter.mark))
    }

    fn position(
        &mut self,
        filter: &Position<ExplicitForm>,
    ) -> Result<Position<ExplicitForm>, ReferenceError> {
        self.expander.count_node()?;
        rewrite::position(filter, self)
    }

    fn of_condition(
        &mut self,
        part: &Copies<Condition<ExplicitForm>, PlainFilter>,
        mark: &Span,
    ) -> Result<Condition<ExplicitForm>, ReferenceError> {
        let copies = match part {
            Copies::Orbit(copies) => Copies::Orbit(self.copies(copies)?),
            Copies::NoTransform(_) => part.clone(),
        };
        Ok(Condition::new(ConditionOp::Form(copies), *mark))
    }

    fn of_squares(
        &mut self,
        part: &Copies<Squares<ExplicitForm>, Squares<ExplicitForm>>,
        mark: &Span,
    ) -> Result<Squares<ExplicitForm>, ReferenceError> {
        let copies = match part {
            Copies::Orbit(copies) => Copies::Orbit(self.copies(copies)?),
            Copies::NoTransform(_) => part.clone(),
        };
        Ok(Squares::new(SquaresOp::Form(copies), *mark))
    }

    fn of_number(
        &mut self,
        part: &NumberCopies,
        mark: &Span,
    ) -> Result<Number<ExplicitForm>, ReferenceError> {
        let copies = match part {
            NumberCopies::Largest(Copies::Orbit(copies)) => {
                NumberCopies::Largest(Copies::Orbit(self.copies(copies)?))
            }
            NumberCopies::Largest(Copies::NoTransform(_)) => part.clone(),
            NumberCopies::Counted(counted, copies) => NumberCopies::Counted(*counted, self.copies(copies)?),
        };
        Ok(Number::new(NumberOp::Form(copies), *mark))
    }

    fn of_text(
        &mut self,
        part: &NoTransform<Text<ExplicitForm>>,
        mark: &Span,
    ) -> Result<Text<ExplicitForm>, ReferenceError> {
        Ok(Text::new(TextOp::Form(part.clone()), *mark))
    }

    fn of_position(
        &mut self,
        part: &NoTransform<Position<ExplicitForm>>,
        mark: &Span,
    ) -> Result<Position<ExplicitForm>, ReferenceError> {
        Ok(Position::new(PositionOp::Form(part.clone()), *mark))
    }
}

/// Removes braces around a single filter.
fn without_braces<F: Braced>(filter: &F) -> &F {
    filter.only().map_or(filter, without_braces)
}

fn without_condition_braces(node: &Node) -> &Node {
    match node {
        Any::Condition(f)
            if let ConditionOp::Braces(all) = f.op()
                && let [only] = &all[..] =>
        {
            without_condition_braces(only)
        }
        _ => node,
    }
}

/// A type of filter that can consist of braces around a single filter. The method then returns the filter inside the braces.
trait Braced {
    fn only(&self) -> Option<&Self>;
}

impl Braced for Squares {
    fn only(&self) -> Option<&Squares> {
        match self.op() {
            SquaresOp::Control(Control::Braces { first, last }) if first.is_empty() => Some(last),
            _ => None,
        }
    }
}

impl Braced for Number {
    fn only(&self) -> Option<&Number> {
        match self.op() {
            NumberOp::Control(Control::Braces { first, last }) if first.is_empty() => Some(last),
            _ => None,
        }
    }
}

/// Returns true if a filter survives a transform. It does not if one of its designators has lost all squares, or if one of its
/// nested transforms has lost all copies.
fn survives(filter: Ref<ExplicitForm>) -> bool {
    match (Standing::from_filter(filter), filter) {
        (Standing::Orbit(copies), _) => !copies.is_empty(),
        (_, Ref::Squares(f)) if let SquaresOp::Designator { squares, .. } = f.op() => squares.any(),
        _ => filter.children().into_iter().all(survives),
    }
}

/// For each copy in `evaluated`, returns its number: the index of the equal copy in `declared`. The two lists contain the same
/// copies in different orders.
pub(super) fn numbers<F: Kind<ExplicitForm>>(evaluated: &[F], declared: &[F]) -> Vec<usize> {
    let number = |(number, copy): (usize, &F)| (members(copy.node()), number);
    let numbers: HashMap<_, _> = declared.iter().enumerate().map(number).collect();
    evaluated.iter().map(|copy| numbers[&members(copy.node())]).collect()
}

fn members(filter: Ref<ExplicitForm>) -> Vec<CopyMember> {
    let mut out = Vec::new();
    collect_members(filter, &mut out);
    out
}

fn collect_members(filter: Ref<ExplicitForm>, out: &mut Vec<CopyMember>) {
    match Standing::from_filter(filter) {
        Standing::Still => {}
        Standing::Plain => {
            out.extend(own_member(filter));
            filter.each_child(&mut |child| collect_members(child, out));
        }
        Standing::Orbit(copies) => {
            let mut nested: Vec<Vec<CopyMember>> = copies.into_iter().map(members).collect();
            nested.sort();
            out.push(CopyMember::Orbit(nested));
        }
    }
}

fn own_member(filter: Ref<ExplicitForm>) -> Option<CopyMember> {
    Some(match filter {
        Ref::Squares(f) => match f.op() {
            SquaresOp::Designator { pieces, squares } => CopyMember::Designator {
                squares: Squarewise(*squares),
                not_all_white: !pieces.all_white,
                not_all_black: !pieces.all_black,
                list: (0..16).filter(|code| pieces.list.0 >> code & 1 != 0).collect(),
            },
            SquaresOp::Direction { dirs, .. }
            | SquaresOp::DirectionWithin { dirs, .. }
            | SquaresOp::Ray { dirs, .. } => {
                let mut steps: Vec<i8> = dirs.steps().map(|(x, y)| x + 8 * y).collect();
                steps.sort_unstable();
                CopyMember::Dirs(steps)
            }
            SquaresOp::Shade { light, .. } => CopyMember::Side(*light),
            _ => return None,
        },
        Ref::Condition(f) => match f.op() {
            ConditionOp::ToMove(color) => CopyMember::Side(color.is_black()),
            // A draw is `false` in every copy, because no transform changes it. So it never distinguishes two copies.
            ConditionOp::Result(result) => CopyMember::Side(*result == GameResult::BlackWins),
            _ => return None,
        },
        Ref::Number(f) => match f.op() {
            NumberOp::ColorValue(color) | NumberOp::Elo(Some(color)) => CopyMember::Side(color.is_black()),
            _ => return None,
        },
        Ref::Text(f) => match f.op() {
            TextOp::Player(Some(color)) => CopyMember::Side(color.is_black()),
            TextOp::Tag(name) => CopyMember::Side(name == "Black"),
            _ => return None,
        },
        Ref::Position(_) => return None,
    })
}

/// Returns an error if a filter has no image under a rotation by 45 degrees.
fn rotates_by_45(filter: Ref<ExplicitForm>) -> Result<(), ReferenceError> {
    if let Standing::Still = Standing::from_filter(filter) {
        return Ok(());
    }
    if let Ref::Squares(f) = filter {
        match f.op() {
            SquaresOp::Shade { .. } => return Err(ReferenceError::Rotate45Shade),
            SquaresOp::Designator { squares: Bitboard::FULL | Bitboard::EMPTY, .. } => {}
            SquaresOp::Designator { .. } => return Err(ReferenceError::Rotate45Squares),
            _ => {}
        }
    }
    filter.children().into_iter().try_for_each(rotates_by_45)
}

#[cfg(test)]
mod tests;
