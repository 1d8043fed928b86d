//! From one form of the tree to another, or to another tree of the same form.
//!
//! A [`Rewrite`] says what becomes of the filters that it is about, and of what only its first form has. The
//! functions of this module make the rest: the same operation on operands that were rewritten, in their order.

use super::{
    Any, Condition, ConditionOp, Control, Form, Kind, Moves, Number, NumberOp, Position, PositionOp, Squares,
    SquaresOp, Text, TextOp,
};

mod game;

/// A rewriting of trees. Where it says nothing filters stay what they are, and their operands are rewritten.
pub trait Rewrite<P: Form, Q: Form>: Sized {
    /// What ends the rewriting early.
    type Stop;

    /// The mark of a filter that stays what it is.
    fn mark(&mut self, mark: &P::Mark) -> Q::Mark;

    /// What a condition of the first form alone becomes.
    fn of_condition(&mut self, part: &P::OfCondition, mark: &P::Mark) -> Result<Condition<Q>, Self::Stop>;

    /// What a set of the first form alone becomes.
    fn of_squares(&mut self, part: &P::OfSquares, mark: &P::Mark) -> Result<Squares<Q>, Self::Stop>;

    /// What a number of the first form alone becomes.
    fn of_number(&mut self, part: &P::OfNumber, mark: &P::Mark) -> Result<Number<Q>, Self::Stop>;

    /// What a string of the first form alone becomes.
    fn of_text(&mut self, part: &P::OfText, mark: &P::Mark) -> Result<Text<Q>, Self::Stop>;

    /// What a position of the first form alone becomes.
    fn of_position(&mut self, part: &P::OfPosition, mark: &P::Mark) -> Result<Position<Q>, Self::Stop>;

    /// What a condition becomes.
    fn condition(&mut self, filter: &Condition<P>) -> Result<Condition<Q>, Self::Stop> {
        condition(filter, self)
    }

    /// What a set becomes.
    fn squares(&mut self, filter: &Squares<P>) -> Result<Squares<Q>, Self::Stop> {
        squares(filter, self)
    }

    /// What a number becomes.
    fn number(&mut self, filter: &Number<P>) -> Result<Number<Q>, Self::Stop> {
        number(filter, self)
    }

    /// What a string becomes.
    fn text(&mut self, filter: &Text<P>) -> Result<Text<Q>, Self::Stop> {
        text(filter, self)
    }

    /// What a position becomes.
    fn position(&mut self, filter: &Position<P>) -> Result<Position<Q>, Self::Stop> {
        position(filter, self)
    }

    /// What a filter of any kind becomes.
    fn any(&mut self, filter: &Any<P>) -> Result<Any<Q>, Self::Stop> {
        Ok(match filter {
            Any::Condition(f) => Any::Condition(self.condition(f)?),
            Any::Squares(f) => Any::Squares(self.squares(f)?),
            Any::Number(f) => Any::Number(self.number(f)?),
            Any::Text(f) => Any::Text(self.text(f)?),
            Any::Position(f) => Any::Position(self.position(f)?),
        })
    }
}

/// The same condition of operands that were rewritten.
///
/// # Errors
///
/// What ends the rewriting.
pub fn condition<P: Form, Q: Form, R: Rewrite<P, Q>>(
    filter: &Condition<P>,
    by: &mut R,
) -> Result<Condition<Q>, R::Stop> {
    use ConditionOp as C;
    let mark = by.mark(&filter.mark);
    let op = match filter.op() {
        C::Bool(value) => C::Bool(*value),
        C::And(a, b) => C::And(by.any(a)?, by.any(b)?),
        C::Or(a, b) => C::Or(by.any(a)?, by.any(b)?),
        C::Not(of) => C::Not(by.any(of)?),
        C::If { condition, then, other } => C::If {
            condition: by.any(condition)?,
            then: by.any(then)?,
            other: other.as_ref().map(|other| by.any(other)).transpose()?,
        },
        C::Braces(all) => C::Braces(all.iter().map(|f| by.any(f)).collect::<Result<_, _>>()?),
        C::Subset(a, b) => C::Subset(by.squares(a)?, by.squares(b)?),
        C::SetEq { equal, left, right } => {
            C::SetEq { equal: *equal, left: by.squares(left)?, right: by.squares(right)? }
        }
        C::Check => C::Check,
        C::Mate => C::Mate,
        C::Stalemate => C::Stalemate,
        C::Initial => C::Initial,
        C::Terminal => C::Terminal,
        C::ToMove(color) => C::ToMove(*color),
        C::Result(result) => C::Result(*result),
        C::Assign(var, value) => C::Assign(*var, game::assigned(value, by)?),
        C::ContentIs { contents, of, spelt } => {
            C::ContentIs { contents: *contents, of: by.squares(of)?, spelt: *spelt }
        }
        C::SquareAll { var, domain, body } => {
            C::SquareAll { var: *var, domain: by.squares(domain)?, body: by.any(body)? }
        }
        C::Differ(a, b) => C::Differ(by.number(a)?, by.number(b)?),
        C::TextCompare(cmp, a, b) => C::TextCompare(*cmp, by.text(a)?, by.text(b)?),
        C::TextIn(a, b) => C::TextIn(by.text(a)?, by.text(b)?),
        C::Game(op) => C::Game(game::condition(op, by)?),
        C::Form(part) => return by.of_condition(part, &filter.mark),
    };
    Ok(Condition::new(op, mark))
}

/// The same set of operands that were rewritten.
///
/// # Errors
///
/// What ends the rewriting.
pub fn squares<P: Form, Q: Form, R: Rewrite<P, Q>>(
    filter: &Squares<P>,
    by: &mut R,
) -> Result<Squares<Q>, R::Stop> {
    use SquaresOp as S;
    let mark = by.mark(&filter.mark);
    let op = match filter.op() {
        S::Designator { pieces, squares } => S::Designator { pieces: *pieces, squares: *squares },
        S::Constant(squares) => S::Constant(*squares),
        S::Union(a, b) => S::Union(by.squares(a)?, by.squares(b)?),
        S::Intersect(a, b) => S::Intersect(by.squares(a)?, by.squares(b)?),
        S::Complement(of) => S::Complement(by.squares(of)?),
        S::Attacks(x, y) => S::Attacks(by.squares(x)?, by.squares(y)?),
        S::AttackedBy(y, x) => S::AttackedBy(by.squares(y)?, by.squares(x)?),
        S::Xray { forward, sets } => S::Xray { forward: *forward, sets: sets.try_map(|f| by.squares(f))? },
        S::Between(x, y) => S::Between(by.squares(x)?, by.squares(y)?),
        S::Ray { dirs, attack, sets } => {
            S::Ray { dirs: *dirs, attack: *attack, sets: sets.try_map(|f| by.squares(f))? }
        }
        S::Pin { value, from, through, to } => S::Pin {
            value: *value,
            from: by.squares(from)?,
            through: by.squares(through)?,
            to: by.squares(to)?,
        },
        S::Direction { dirs, lo, hi, of } => {
            S::Direction { dirs: *dirs, lo: *lo, hi: *hi, of: by.squares(of)? }
        }
        S::DirectionWithin { dirs, lo, hi, of } => {
            S::DirectionWithin { dirs: *dirs, lo: by.number(lo)?, hi: by.number(hi)?, of: by.squares(of)? }
        }
        S::Shade { light, of } => S::Shade { light: *light, of: by.squares(of)? },
        S::Pawns(kind) => S::Pawns(*kind),
        S::Pure { kind, mate } => S::Pure { kind: *kind, mate: *mate },
        S::MakeSquare { file, rank } => S::MakeSquare { file: by.number(file)?, rank: by.number(rank)? },
        S::SquareLoop { var, domain, body } => {
            S::SquareLoop { var: *var, domain: by.squares(domain)?, body: by.any(body)? }
        }
        S::Legal(of) => S::Legal(moves(of, by)?),
        S::Control(of) => S::Control(control(of, by)?),
        S::Game(op) => S::Game(game::squares(op, by)?),
        S::Form(part) => return by.of_squares(part, &filter.mark),
    };
    Ok(Squares::new(op, mark))
}

/// The same number of operands that were rewritten.
///
/// # Errors
///
/// What ends the rewriting.
pub fn number<P: Form, Q: Form, R: Rewrite<P, Q>>(
    filter: &Number<P>,
    by: &mut R,
) -> Result<Number<Q>, R::Stop> {
    use NumberOp as N;
    let mark = by.mark(&filter.mark);
    let op = match filter.op() {
        N::Int(value) => N::Int(*value),
        N::Cardinality(of) => N::Cardinality(by.squares(of)?),
        N::AttackCount(x, y) => N::AttackCount(by.squares(x)?, by.squares(y)?),
        N::RayCount { dirs, attack, sets } => {
            N::RayCount { dirs: *dirs, attack: *attack, sets: sets.try_map(|f| by.squares(f))? }
        }
        N::Power(of) => N::Power(by.squares(of)?),
        N::Rank(of) => N::Rank(by.squares(of)?),
        N::File(of) => N::File(by.squares(of)?),
        N::ContentType { signed, of } => N::ContentType { signed: *signed, of: by.squares(of)? },
        N::Arith(arith, a, b) => N::Arith(*arith, by.number(a)?, by.number(b)?),
        N::Neg(of) => N::Neg(by.number(of)?),
        N::Abs(of) => N::Abs(by.number(of)?),
        N::Sqrt(of) => N::Sqrt(by.number(of)?),
        N::InRange { lo, hi, of } => {
            N::InRange { lo: by.number(lo)?, hi: by.number(hi)?, of: by.number(of)? }
        }
        N::Max(all) => N::Max(all.try_map(|f| by.number(f))?),
        N::Min(all) => N::Min(all.try_map(|f| by.number(f))?),
        N::Compare(cmp, a, b) => N::Compare(*cmp, by.number(a)?, by.number(b)?),
        N::ColorValue(color) => N::ColorValue(*color),
        N::SideToMove => N::SideToMove,
        N::Ply => N::Ply,
        N::MoveNumber => N::MoveNumber,
        N::GameNumber => N::GameNumber,
        N::Year => N::Year,
        N::Elo(color) => N::Elo(*color),
        N::LegalCount(of) => N::LegalCount(moves(of, by)?),
        N::Find { back, quiet, counted, of } => {
            N::Find { back: *back, quiet: *quiet, counted: *counted, of: by.any(of)? }
        }
        N::Control(of) => N::Control(control(of, by)?),
        N::Game(op) => N::Game(game::number(op, by)?),
        N::Form(part) => return by.of_number(part, &filter.mark),
    };
    Ok(Number::new(op, mark))
}

/// The same string of operands that were rewritten.
///
/// # Errors
///
/// What ends the rewriting.
pub fn text<P: Form, Q: Form, R: Rewrite<P, Q>>(filter: &Text<P>, by: &mut R) -> Result<Text<Q>, R::Stop> {
    use TextOp as T;
    let mark = by.mark(&filter.mark);
    let op = match filter.op() {
        T::Literal(text) => T::Literal(text.clone()),
        T::Tag(name) => T::Tag(name.clone()),
        T::Player(color) => T::Player(*color),
        T::ContentName { contents, spelt, of } => {
            T::ContentName { contents: *contents, spelt: *spelt, of: by.squares(of)? }
        }
        T::Compare(cmp, a, b) => T::Compare(*cmp, by.text(a)?, by.text(b)?),
        T::Control(of) => T::Control(control(of, by)?),
        T::Game(op) => T::Game(game::text(op, by)?),
        T::Form(part) => return by.of_text(part, &filter.mark),
    };
    Ok(Text::new(op, mark))
}

/// The same position of operands that were rewritten.
///
/// # Errors
///
/// What ends the rewriting.
pub fn position<P: Form, Q: Form, R: Rewrite<P, Q>>(
    filter: &Position<P>,
    by: &mut R,
) -> Result<Position<Q>, R::Stop> {
    let mark = by.mark(&filter.mark);
    let op = match filter.op() {
        PositionOp::Find { back, quiet, of } => {
            PositionOp::Find { back: *back, quiet: *quiet, of: by.any(of)? }
        }
        PositionOp::Control(of) => PositionOp::Control(control(of, by)?),
        PositionOp::Game(op) => PositionOp::Game(game::position(op, by)?),
        PositionOp::Form(part) => return by.of_position(part, &filter.mark),
    };
    Ok(Position::new(op, mark))
}

fn moves<P: Form, Q: Form, R: Rewrite<P, Q>>(of: &Moves<P>, by: &mut R) -> Result<Moves<Q>, R::Stop> {
    Ok(Moves { pseudo: of.pseudo, only: of.only, from: by.squares(&of.from)?, to: by.squares(&of.to)? })
}

fn control<P: Form, Q: Form, F: Kind<P>, R: Rewrite<P, Q>>(
    of: &Control<P, F>,
    by: &mut R,
) -> Result<Control<Q, F::In<Q>>, R::Stop> {
    Ok(match of {
        Control::Var(var) => Control::Var(*var),
        Control::If { condition, then, other } => Control::If {
            condition: by.any(condition)?,
            then: then.rewritten(by)?,
            other: other.rewritten(by)?,
        },
        Control::Braces { first, last } => Control::Braces {
            first: first.iter().map(|f| by.any(f)).collect::<Result<_, _>>()?,
            last: last.rewritten(by)?,
        },
    })
}
