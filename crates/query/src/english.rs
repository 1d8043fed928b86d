//! Describes a query as an English sentence.
//!
//! The functions in this module translate the typed tree filter by filter; no rule considers the query as a whole. A filter without
//! a rule is quoted from the text, as `a condition: ...`, so the sentence is never wrong.

mod chains;
mod nouns;

use shakmaty::{Bitboard, Color, Role, Square};

use super::tree::{
    Any, Condition, ConditionKeyword, ConditionOp, Control, Counted, GameCondition, GameNumber, GameResult,
    Keyword, Kind as _, Number, NumberKeyword, NumberOp, PositionOp, Ref, Special, Squares, SquaresOp,
    TextOp, TransformKind, TypedQuery, Written,
};

/// Describes a query as a sentence without a full stop, such as `A white knight attacks the black king, anywhere`. `text` is the
/// text of the query.
///
/// ```
/// use orbit_query::{english, parse};
///
/// let text = "flipcolor {Bh7 kg8 btm}";
/// let query = parse(text).unwrap().query;
/// let expected = "A white bishop stands on h7, the black king stands on g8 and Black is to move, and the same with colours swapped";
/// assert_eq!(english::sentence(&query, text), expected);
/// ```
pub fn sentence(query: &TypedQuery, text: &str) -> String {
    let teller = Teller { text };
    let body = query.body.node();
    let told = match body {
        Ref::Number(f) if !is_clause(f) && !body.is_transform() => {
            format!("the value is {}", teller.value(body))
        }
        _ => teller.clause(body),
    };
    let mut letters = told.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Joins words into a list: `a, b and c`.
fn listed(parts: &[String], and: &str) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} {and} {last}", first.join(", ")),
    }
}

/// Describes the filters of one query. `text` is the text of that query.
#[derive(Clone, Copy)]
struct Teller<'a> {
    text: &'a str,
}

impl Teller<'_> {
    /// Quotes the text of a filter from the query, on one line.
    fn quoted(&self, filter: Ref<Written>) -> String {
        let span = filter.mark();
        let source = self.text.get(span.start..span.end).unwrap_or_default();
        format!("`{}`", source.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    fn condition_of(&self, filter: Ref<Written>) -> String {
        format!("a condition: {}", self.quoted(filter))
    }

    /// Returns a clause that states the condition under which a filter matches: `the side to move is in check`.
    fn clause(&self, filter: Ref<Written>) -> String {
        if filter.is_transform() {
            return self.transformed(filter);
        }
        let told = match filter {
            Ref::Condition(f) => self.condition(f),
            Ref::Squares(f) => self.squares(f),
            Ref::Number(f) => self.number(f),
            Ref::Text(f) => match f.op() {
                TextOp::Control(Control::Braces { first, last }) => Some(self.all(first, last.node())),
                _ => None,
            },
            Ref::Position(f) => match f.op() {
                PositionOp::Find { back, of, .. } => Some(found(*back, &self.clause(of.node()))),
                PositionOp::Control(Control::Braces { first, last }) => Some(self.all(first, last.node())),
                _ => None,
            },
        };
        told.unwrap_or_else(|| self.condition_of(filter))
    }

    fn all(&self, first: &[Any<Written>], last: Ref<Written>) -> String {
        let filters = first.iter().map(Any::node).chain([last]);
        listed(&filters.map(|filter| self.clause(filter)).collect::<Vec<_>>(), "and")
    }

    fn condition(&self, f: &Condition) -> Option<String> {
        Some(match f.op() {
            ConditionOp::Bool(true) => "anything is the case".into(),
            ConditionOp::Bool(false) => "nothing is the case".into(),
            ConditionOp::And(left, right) => {
                listed(&[self.clause(left.node()), self.clause(right.node())], "and")
            }
            ConditionOp::Or(left, right) => {
                format!("either {} or {}", self.clause(left.node()), self.clause(right.node()))
            }
            ConditionOp::Not(of) => self.negated(of.node()),
            ConditionOp::Braces(all) => {
                listed(&all.iter().map(|filter| self.clause(filter.node())).collect::<Vec<_>>(), "and")
            }
            ConditionOp::Check => "the side to move is in check".into(),
            ConditionOp::Mate => "the side to move is checkmated".into(),
            ConditionOp::Stalemate => "the side to move is stalemated".into(),
            ConditionOp::Initial => "it is the first position of the game".into(),
            ConditionOp::Terminal => "it is the last position of the game".into(),
            ConditionOp::ToMove(Color::White) => "White is to move".into(),
            ConditionOp::ToMove(Color::Black) => "Black is to move".into(),
            ConditionOp::Result(GameResult::WhiteWins) => "White won the game".into(),
            ConditionOp::Result(GameResult::BlackWins) => "Black won the game".into(),
            ConditionOp::Result(GameResult::Draw) => "the game was drawn".into(),
            ConditionOp::If { condition, then, other: None } => {
                format!("if {}, then {}", self.clause(condition.node()), self.clause(then.node()))
            }
            ConditionOp::Differ(left, right) => {
                format!("{} is not {}", self.value(left.node()), self.value(right.node()))
            }
            ConditionOp::TextIn(left, right) => {
                let (TextOp::Literal(part), name) = (left.op(), nouns::text(right)?) else { return None };
                format!("{name} contains \"{part}\"")
            }
            ConditionOp::Game(op) => return self.game(op),
            ConditionOp::Form(ConditionKeyword::NoTransform(of)) => self.clause(of.node()),
            _ => return None,
        })
    }

    fn game(&self, op: &GameCondition<Written>) -> Option<String> {
        Some(match op {
            GameCondition::Edge { edge, target } => {
                let edge = self.edge_here(edge)?;
                match target {
                    Some(target) => format!("{edge}, after which {}", self.clause(target.node())),
                    None => edge,
                }
            }
            GameCondition::Arrived(Special::Castle) => "the last move was castling".into(),
            GameCondition::Arrived(Special::KingSide) => "the last move was castling short".into(),
            GameCondition::Arrived(Special::QueenSide) => "the last move was castling long".into(),
            GameCondition::Arrived(Special::EnPassant) => "the last move was a capture en passant".into(),
            GameCondition::NullMove => "the last move was a null move".into(),
            GameCondition::Mainline => "the position lies in the main line".into(),
            GameCondition::Variation => "the position lies in a side line".into(),
            _ => return None,
        })
    }

    fn negated(&self, of: Ref<Written>) -> String {
        let told = match of {
            Ref::Condition(f) => match f.op() {
                ConditionOp::Check => Some("the side to move is not in check".to_owned()),
                ConditionOp::Mate => Some("the side to move is not checkmated".into()),
                ConditionOp::Stalemate => Some("the side to move is not stalemated".into()),
                ConditionOp::Initial => Some("it is not the first position of the game".into()),
                ConditionOp::Terminal => Some("it is not the last position of the game".into()),
                _ => None,
            },
            Ref::Squares(f) => match f.op() {
                SquaresOp::Designator { pieces, squares } => nouns::none_stands(*pieces, *squares),
                SquaresOp::Attacks(left, right) => self.no_attack(left, right),
                _ => None,
            },
            _ => None,
        };
        told.unwrap_or_else(|| match of {
            // The condition is described only once, because each description of a nested `not` describes all within it.
            Ref::Condition(f) => match self.condition(f) {
                Some(clause) => format!("it is not the case that {clause}"),
                None => format!("not {}", self.condition_of(of)),
            },
            _ => format!("it is not the case that {}", self.clause(of)),
        })
    }

    fn no_attack(&self, left: &Squares, right: &Squares) -> Option<String> {
        let (SquaresOp::Designator { pieces, squares }, right) = (left.op(), self.noun(right)?) else {
            return None;
        };
        Some(format!("no {} attacks {right}", nouns::bare(*pieces, *squares)?))
    }

    /// Returns a clause that states the condition under which a set of squares is not empty. Returns `None` if there is no rule for
    /// the set.
    fn squares(&self, f: &Squares) -> Option<String> {
        Some(match f.op() {
            SquaresOp::Designator { pieces, squares } => nouns::stands(*pieces, *squares)?,
            SquaresOp::Union(left, right) => {
                format!("either {} or {}", self.clause(left.node()), self.clause(right.node()))
            }
            SquaresOp::Intersect(left, right) => match (left.op(), right.op()) {
                // If two `attacks` filters with the same left side are intersected, one piece attacks both right sides.
                (SquaresOp::Attacks(one, first), SquaresOp::Attacks(other, second))
                    if self.quoted(one.node()) == self.quoted(other.node()) =>
                {
                    format!("{} attacks {} and {}", self.noun(one)?, self.noun(first)?, self.noun(second)?)
                }
                _ => return None,
            },
            SquaresOp::Attacks(left, right) => format!("{} attacks {}", self.noun(left)?, self.noun(right)?),
            SquaresOp::AttackedBy(left, right) => {
                format!("{} attacks {}", self.noun(right)?, self.noun(left)?)
            }
            SquaresOp::Pin { from, through, to, .. } => {
                format!("{} pins {} to {}", self.noun(from)?, self.noun(through)?, self.noun(to)?)
            }
            SquaresOp::Pawns(kind) => format!("there is {}", nouns::pawn(*kind)),
            SquaresOp::Shade { .. } => format!("there is {}", self.noun(f)?),
            SquaresOp::Pure { kind, mate } => nouns::pure(*kind, *mate),
            SquaresOp::Control(Control::Braces { first, last }) => self.all(first, last.node()),
            SquaresOp::Form(Keyword::NoTransform(of)) => self.clause(of.node()),
            _ => return None,
        })
    }

    /// Describes a set of squares with a noun phrase: `the black king`, `a white rook on rank 7`.
    fn noun(&self, f: &Squares) -> Option<String> {
        match f.op() {
            SquaresOp::Designator { pieces, squares } => nouns::designator(*pieces, *squares),
            SquaresOp::Union(left, right) => Some(format!("{} or {}", self.noun(left)?, self.noun(right)?)),
            SquaresOp::Attacks(left, right) => {
                Some(format!("{} that attacks {}", self.noun(left)?, self.noun(right)?))
            }
            SquaresOp::AttackedBy(left, right) => {
                Some(format!("{} that is attacked by {}", self.noun(left)?, self.noun(right)?))
            }
            SquaresOp::Pawns(kind) => Some(nouns::pawn(*kind).into()),
            SquaresOp::Shade { light, of } => {
                Some(format!("{} on a {} square", self.noun(of)?, if *light { "light" } else { "dark" }))
            }
            _ => None,
        }
    }

    /// Returns a clause that states the condition under which a numeric filter, such as a comparison, has a value.
    fn number(&self, f: &Number) -> Option<String> {
        Some(match f.op() {
            NumberOp::Compare(cmp, left, right) => {
                let relation = nouns::relation(*cmp);
                format!("{} is {relation} {}", self.value(left.node()), self.value(right.node()))
            }
            NumberOp::Control(Control::Braces { first, last }) => self.all(first, last.node()),
            NumberOp::Find { back, counted: Counted::Range(low, high), of, .. } => {
                let times = nouns::range(*low, *high);
                let where_ = if *back {
                    "from the start of the game to here"
                } else {
                    "from here to the end of the game"
                };
                format!("{where_} there are {times} positions at which {}", self.clause(of.node()))
            }
            NumberOp::Game(GameNumber::Line(line)) => self.line(line)?,
            NumberOp::Game(GameNumber::Path(path)) => self.path(path)?,
            NumberOp::Form(NumberKeyword::Number(Keyword::NoTransform(of))) => self.clause(of.node()),
            _ => format!("there is a value of {}", self.value_of(f)?),
        })
    }

    /// Describes a number with a noun phrase.
    fn value(&self, filter: Ref<Written>) -> String {
        let told = match filter {
            _ if filter.is_transform() => return self.transformed(filter),
            Ref::Number(f) => match f.op() {
                NumberOp::Game(GameNumber::Line(line)) => {
                    self.line(line).map(|told| format!("the length of this line: {told}"))
                }
                NumberOp::Game(GameNumber::Path(path)) => {
                    self.path(path).map(|told| format!("the length of this path: {told}"))
                }
                _ if is_clause(f) => self.number(f),
                _ => self.value_of(f),
            },
            _ => None,
        };
        told.unwrap_or_else(|| format!("a number: {}", self.quoted(filter)))
    }

    fn value_of(&self, f: &Number) -> Option<String> {
        Some(match f.op() {
            NumberOp::Int(number) => number.to_string(),
            NumberOp::Cardinality(of) => match of.op() {
                SquaresOp::Designator { pieces, squares } => {
                    format!("the number of {}", nouns::plural(*pieces, *squares)?)
                }
                _ => format!("the number of squares of {}", self.quoted(of.node())),
            },
            NumberOp::Power(of) => match of.op() {
                SquaresOp::Designator { pieces, squares } => {
                    format!("the material of {}", nouns::plural(*pieces, *squares)?)
                }
                _ => return None,
            },
            NumberOp::Arith(op, left, right) => {
                format!("{} {} {}", self.value(left.node()), nouns::arithmetic(*op), self.value(right.node()))
            }
            NumberOp::Ply => "the number of half-moves played".into(),
            NumberOp::MoveNumber => "the move number".into(),
            NumberOp::Year => "the year".into(),
            NumberOp::GameNumber => "the number of the game".into(),
            NumberOp::Elo(None) => "the higher rating".into(),
            NumberOp::Elo(Some(Color::White)) => "White's rating".into(),
            NumberOp::Elo(Some(Color::Black)) => "Black's rating".into(),
            NumberOp::Find { back, counted: Counted::All, of, .. } => {
                let where_ = if *back {
                    "from the start of the game to here"
                } else {
                    "from here to the end of the game"
                };
                format!("the number of positions {where_} at which {}", self.clause(of.node()))
            }
            _ => return None,
        })
    }

    /// Describes a transform and the filter to which it applies. Nested transforms whose copies (transformed filters) form a single
    /// orbit are described together.
    fn transformed(&self, filter: Ref<Written>) -> String {
        let (mut kinds, mut at) = (Vec::new(), filter);
        let (base, counted) = loop {
            let Some((kind, counted, inner)) = keyword(at) else {
                return self.condition_of(filter);
            };
            kinds.push(kind);
            match at.fused() {
                Some(next) => at = next,
                None => break (inner, counted),
            }
        };
        let is_anywhere = kinds.contains(&TransformKind::Shift);
        let is_any_way = kinds.contains(&TransformKind::Flip);
        let relation = (is_anywhere && is_any_way).then(|| self.relation(base)).flatten();
        let is_relation = relation.is_some();
        let told = match (relation, base) {
            (Some(relation), _) => relation,
            (None, Ref::Number(f)) if counted.is_none() && !is_clause(f) => {
                format!("the largest value of {} among its copies", self.value(base))
            }
            (None, _) => self.clause(base),
        };
        let mut ways: Vec<&str> = Vec::new();
        for kind in ORDER.into_iter().filter(|kind| kinds.contains(kind)) {
            ways.push(if is_relation && kind == TransformKind::Shift { "anywhere" } else { way(kind) });
        }
        let copies = format!("{told}, {}", ways.join(", "));
        match counted {
            None => copies,
            Some(Counted::All) => format!("how many of these copies match: {copies}"),
            Some(Counted::Range(low, high)) => {
                format!("{} of these copies match: {copies}", nouns::range(low, high))
            }
        }
    }

    /// Describes a knight and the piece that it attacks or defends, without naming their squares. This is correct because the
    /// transforms of the query turn, reflect and shift the squares, and every knight's move is an image of every other. For other
    /// pieces it would be wrong: not all of their moves are images of one move, and the image of a pawn's move need not be a pawn's
    /// move.
    fn relation(&self, base: Ref<Written>) -> Option<String> {
        let is_all = matches!(base, Ref::Condition(f) if matches!(f.op(), ConditionOp::Braces(_)));
        if !is_all && !base.is_braces() {
            return None;
        }
        let mut children = Vec::new();
        base.each_child(&mut |child| children.push(child));
        let [one, other] = children[..] else { return None };
        let man = |filter: Ref<Written>| match filter {
            Ref::Squares(f) => match f.op() {
                SquaresOp::Designator { pieces, squares } => Some((*pieces, squares.single_square()?)),
                _ => None,
            },
            _ => None,
        };
        let (one, other) = (man(one)?, man(other)?);
        let is_knight = |pieces| nouns::single(pieces).is_some_and(|piece| piece.role == Role::Knight);
        let ((knight, from), (prey, to)) = if is_knight(one.0) { (one, other) } else { (other, one) };
        let same_side = nouns::side(knight)? == nouns::side(prey)?;
        let verb = if same_side { "defends" } else { "attacks" };
        let [knight_name, prey_name] = [knight, prey].map(|pieces| nouns::designator(pieces, Bitboard::FULL));
        (is_knight(knight) && is_knight_move(from, to))
            .then(|| Some(format!("{} {verb} {}", knight_name?, prey_name?)))?
    }
}

fn found(back: bool, told: &str) -> String {
    let place = if back { "here or at an earlier position" } else { "here or at a later position" };
    format!("{place}, {told}")
}

fn is_knight_move(from: Square, to: Square) -> bool {
    let files = (to.file() as i32 - from.file() as i32).abs();
    let ranks = (to.rank() as i32 - from.rank() as i32).abs();
    files * ranks == 2
}

/// Returns true if a number is a comparison or a chain (`line` or `path`). These are described with a clause, other numbers with a
/// noun phrase.
fn is_clause(f: &Number) -> bool {
    match f.op() {
        NumberOp::Compare(..) | NumberOp::Game(GameNumber::Line(_) | GameNumber::Path(_)) => true,
        NumberOp::Control(Control::Braces { last, .. }) => is_clause(last),
        _ => false,
    }
}

/// The order in which transforms are described.
const ORDER: [TransformKind; 10] = [
    TransformKind::Shift,
    TransformKind::ShiftHorizontal,
    TransformKind::ShiftVertical,
    TransformKind::Flip,
    TransformKind::FlipVertical,
    TransformKind::FlipHorizontal,
    TransformKind::Rotate90,
    TransformKind::Rotate45,
    TransformKind::ReverseColor,
    TransformKind::FlipColor,
];

fn way(kind: TransformKind) -> &'static str {
    match kind {
        TransformKind::Shift => "shifted anywhere",
        TransformKind::ShiftHorizontal => "shifted left or right by any number of files",
        TransformKind::ShiftVertical => "shifted up or down by any number of ranks",
        TransformKind::Flip => "in any turn or reflection",
        TransformKind::FlipVertical => "as written or mirrored left to right",
        TransformKind::FlipHorizontal => "as written or mirrored top to bottom",
        TransformKind::Rotate90 => "in any quarter turn",
        TransformKind::Rotate45 => "in any eighth of a turn",
        TransformKind::ReverseColor => "with the colours swapped",
        TransformKind::FlipColor => "and the same with colours swapped",
    }
}

/// If a filter is a CQL 6 transform, returns its kind, how its copies (transformed filters) are counted, and its operand. Returns
/// `None` for other filters.
fn keyword(filter: Ref<'_, Written>) -> Option<(TransformKind, Option<Counted>, Ref<'_, Written>)> {
    match filter {
        Ref::Condition(f) => match f.op() {
            ConditionOp::Form(ConditionKeyword::Transform(kind, of)) => Some((*kind, None, of.node())),
            _ => None,
        },
        Ref::Squares(f) => match f.op() {
            SquaresOp::Form(Keyword::Transform(kind, of)) => Some((*kind, None, of.node())),
            _ => None,
        },
        Ref::Number(f) => match f.op() {
            NumberOp::Form(NumberKeyword::Number(Keyword::Transform(kind, of))) => {
                Some((*kind, None, of.node()))
            }
            NumberOp::Form(NumberKeyword::Counted(kind, counted, of)) => {
                Some((*kind, Some(*counted), of.node()))
            }
            _ => None,
        },
        Ref::Text(_) | Ref::Position(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    fn told(text: &str) -> String {
        sentence(&parse(text).unwrap().query, text)
    }

    /// The time grows with the number of negations, and does not double with each of them.
    #[test]
    fn nested_negations_are_told_once() {
        let told = told(&format!("{}check", "not ".repeat(60)));
        assert!(told.ends_with("it is not the case that the side to move is not in check"), "{told}");
        assert_eq!(told.matches("not the case").count(), 59);
    }

    #[test]
    fn queries_are_told_in_english() {
        for (query, expected) in [
            (
                "shift flip flipcolor {Nd4 kf3}",
                "A white knight attacks the black king, anywhere, in any turn or reflection, and the same with colours swapped",
            ),
            (
                "shift flip {kf3 Nd4}",
                "A white knight attacks the black king, anywhere, in any turn or reflection",
            ),
            (
                "shift flip {Nd4 Qf3}",
                "A white knight defends a white queen, anywhere, in any turn or reflection",
            ),
            // The king and the queen stand on adjacent squares of a file. Squares can also be adjacent diagonally, and no turn or
            // reflection converts one case into the other, so the sentence must name the squares.
            (
                "shift flip {Kd4 qd5}",
                "The white king stands on d4 and a black queen stands on d5, shifted anywhere, in any turn or reflection",
            ),
            (
                "shift flip {Pd4 qe5}",
                "A white pawn stands on d4 and a black queen stands on e5, shifted anywhere, in any turn or reflection",
            ),
            // Without rotations and reflections, only one of the eight knight's moves matches, so the sentence names the squares.
            (
                "shift {Nd4 kf3}",
                "A white knight stands on d4 and the black king stands on f3, shifted anywhere",
            ),
            ("Nd4", "A white knight stands on d4"),
            ("N", "There is a white knight"),
            ("[QR]e-h7", "A white queen or rook stands on e7, f7, g7 or h7"),
            ("[Nn]a-h8", "A knight stands on rank 8"),
            ("Pa-h5-7", "A white pawn stands on ranks 5 to 7"),
            ("R[a1-8,h1-8]", "A white rook stands on the files a or h"),
            ("_d4", "D4 is empty"),
            ("not Q", "There is no white queen"),
            ("not {check wtm}", "It is not the case that the side to move is in check and White is to move"),
            ("N attacks k", "A white knight attacks the black king"),
            ("(N attacks k) & (N attacks q)", "A white knight attacks the black king and a black queen"),
            ("not N attacks k", "No white knight attacks the black king"),
            ("k attackedby [QR]", "A white queen or rook attacks the black king"),
            (
                "flipcolor {pin from [rbq] through N to K}",
                "A black queen, rook or bishop pins a white knight to the white king, and the same with colours swapped",
            ),
            ("mate", "The side to move is checkmated"),
            ("stalemate and btm", "The side to move is stalemated and Black is to move"),
            ("check or mate", "Either the side to move is in check or the side to move is checkmated"),
            (
                "flip {Rd8 kg8 not check}",
                "A white rook stands on d8, the black king stands on g8 and the side to move is not \
             in check, in any turn or reflection",
            ),
            (
                "power A - power a",
                "The value is the material of white pieces minus the material of black pieces",
            ),
            ("power A < power a", "The material of white pieces is less than the material of black pieces"),
            ("#P >= 5", "The number of white pawns is at least 5"),
            (
                "flipcolor {result 1-0 terminal power A < power a}",
                "White won the game, it is the last position of the game and the material of white pieces is less than the \
                 material of black pieces, and the same with colours swapped",
            ),
            (
                "flip count Ra1",
                "How many of these copies match: a white rook stands on a1, in any turn or reflection",
            ),
            (
                "flip 2 4 Ra1",
                "2 to 4 of these copies match: a white rook stands on a1, in any turn or reflection",
            ),
            (
                "flipcolor N[x]q",
                "A white knight captures a black queen next, and the same with colours swapped",
            ),
            ("P--a-h8", "A white pawn moves to a square on rank 8 next"),
            (
                "N[x]q(check)",
                "A white knight captures a black queen next, after which the side to move is in check",
            ),
            (
                "line --> check --> not check --> mate",
                "In positions one after the other: the side to move is in check; then the side to move is not in check; then \
                 the side to move is checkmated",
            ),
            (
                "line singlecolor --> check --> true* --> (mate --> check){2}",
                "In positions with the same side to move, one after the other: the side to move is in check; then any number of \
                 times any position; then 2 times (the side to move is checkmated; then the side to move is in check)",
            ),
            (
                "line 3 5 <-- check+",
                "In 3 to 5 positions, one before the other: once or more the side to move is in check",
            ),
            (
                "path N--e5 -- * [x]q(check) mate",
                "In moves one after the other: a white knight moves to e5; then any number of times a piece moves; then a piece \
                 captures a black queen, after which the side to move is in check and \
                 the side to move is checkmated",
            ),
            (
                "path focus Q Q[x]a",
                "In moves one after the other of white queens of this position, whatever moves are between: a white queen \
                 captures a black piece",
            ),
            (
                "path singlecolor nestban --e4 ?",
                "In moves one after the other of the side to move: at most once one of its pieces moves to e4; positions of such a path \
                 begin no other",
            ),
            ("P--a-h8=[QR]", "A white pawn moves to a square on rank 8 and becomes a queen or rook next"),
            ("passedpawns", "There is a passed pawn"),
            ("modelmate", "It is a model mate"),
            ("find mate", "Here or at a later position, the side to move is checkmated"),
            ("player \"Carlsen\"", "The name of a player contains \"Carlsen\""),
            ("elo white > 2700", "White's rating is greater than 2700"),
            ("flipvertical Ra1", "A white rook stands on a1, as written or mirrored left to right"),
        ] {
            assert_eq!(told(query), expected, "{query}");
        }
    }

    /// A filter without a rule is quoted, and the filters around it are described by their rules.
    #[test]
    fn filters_without_a_rule_are_quoted() {
        for (query, expected) in [
            ("{Nd4 k == up 1 K}", "A white knight stands on d4 and a condition: `k == up 1 K`"),
            ("x = 5", "A condition: `x = 5`"),
            ("not x = 5", "Not a condition: `x = 5`"),
            ("ray up (R k)", "A condition: `ray up (R k)`"),
            ("abs (power A - power a)", "The value is a number: `abs (power A - power a)`"),
            ("path max ply --", "A condition: `path max ply --`"),
            ("line secondary --> check", "A condition: `line secondary --> check`"),
            ("d4", "A condition: `d4`"),
            (
                "flip {wtm   square x in N x attacks k}",
                "White is to move and a condition: `square x in N x attacks k`, in any \
             turn or reflection",
            ),
        ] {
            assert_eq!(told(query), expected, "{query}");
        }
    }

    /// For the example query of each word, the sentence is not empty, and everything that it quotes occurs in the query.
    #[test]
    fn every_example_of_the_language_is_told() {
        let examples = crate::words::groups().flat_map(|group| &group.words).map(|word| word.example);
        let mut told_whole = 0;
        for text in examples.filter(|text| !text.is_empty()) {
            let Ok(parsed) = parse(text) else { continue };
            let told = sentence(&parsed.query, text);
            assert!(told.chars().count() > 3, "{text}");
            let plain: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
            for quoted in told.split('`').skip(1).step_by(2) {
                assert!(plain.contains(quoted), "{text}: {told}");
            }
            told_whole += usize::from(!told.contains('`'));
        }
        assert!(told_whole >= 40, "{told_whole}");
    }
}
