//! Operations of the game language: moves, other positions of the game, chains of positions and moves, state.
//!
//! [`super::ConditionOp::Game`] and the variants of the same name hold them. The other operations can be evaluated at a position
//! alone; these need the game, or what was evaluated before.

use super::{Any, Assigned, Cmp, Condition, Form, Number, Position, Special, Squares, Text, VarId};
use orbit_core::board::PieceSet;

/// Index into [`super::TypedQuery::dictionaries`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DictionaryId(pub u32);

/// Index into [`super::TypedQuery::sorts`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SortId(pub u32);

operands! {
    /// Conditions of the game language.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "operands are named as CQL names them")]
    pub enum GameCondition<P: Form> {
        /// `P:F`: true if F matches at position P; false if P does not exist.
        At { at: Position<P>, of: Condition<P> },
        /// `L--R`, `L[x]R`, `L--R(T)` with a target whose value is true or false.
        Edge { edge: Edge<P>, target: Option<Any<P>> },
        /// `move ...` without a value.
        Move(Move<P>),
        /// The move that led here is the first one of the parent, or another one. Both are false at the root.
        Sibling(Sibling),
        /// `castle`, `o-o`, `o-o-o`, `enpassant`: the kind of the move that led here.
        Arrived(Special),
        /// `nullmove`: the move that led here was a null move.
        NullMove,
        /// The depth is 0.
        Mainline,
        /// The depth is above 0.
        Variation,
        /// There is no null move on the way from the root, and no alternative that White played.
        VirtualMainline,
        /// Exactly one position from the root to here is reached by an alternative of White.
        Try,
        /// `ancestor(P Q)`; with swapped operands `descendant(P Q)`.
        Ancestor { ancestor: Position<P>, of: Position<P> },
        /// `echo (s t) F` with a body that is not a number.
        Echo(Echo<Any<P>>),
        /// `piece X=S`: binds X to the piece on S if S is one occupied square.
        BindPiece { var: VarId, of: Squares<P> },
        /// `piece all X in S F`.
        PieceAll { var: VarId, domain: Squares<P>, body: Any<P> },
        /// `x=?S`: fails, and leaves x, if S is empty.
        AssignSome { var: VarId, of: Squares<P> },
        /// `D[k]=v`.
        SetEntry { dictionary: DictionaryId, key: Assigned<P>, value: Assigned<P> },
        /// `x[i:j]="..."`, `x[i]="..."`.
        SetSlice { var: VarId, from: Option<Number<P>>, to: Option<Number<P>>, value: Text<P> },
        /// `unbind x`; always true.
        Unbind(VarId),
        /// `unbind D[k]`, `unbind D`; always true.
        Forget { dictionary: DictionaryId, key: Option<Assigned<P>> },
        /// `isbound x`, `isunbound x`.
        IsBound { var: VarId, bound: bool },
        /// `assert F`: ends the run if F fails.
        Assert(Any<P>),
        /// `loop F`: repeats F until it fails; true if F matched at least once.
        Loop(Any<P>),
        /// `while (c) F`; always true.
        While { condition: Any<P>, body: Any<P> },
        /// `while (s ~~ "re") F`: once for each match; always true.
        WhileMatch { text: Text<P>, pattern: String, body: Any<P> },
        /// `x∊D F`, `string x in D F`: true if F matches for a key of D; all keys are visited in ascending order.
        KeyLoop { dictionary: DictionaryId, var: VarId, body: Any<P> },
        /// `comment(...)`, `///`; always true.
        Comment(Vec<Any<P>>),
        /// `message(...)`; always true. With `quiet` only the text is printed.
        Message { quiet: bool, of: Vec<Any<P>> },
        /// `settag("X" s)`; always true.
        SetTag { name: String, value: Text<P> },
        /// `removecomment`; always true.
        RemoveComment,
        /// `writefile(name s)`.
        WriteFile { name: Text<P>, value: Text<P> },
        /// `equal(F G)`: their values are equal.
        Equal(Any<P>, Any<P>),
        /// `originalcomment` with a glyph: the move that led here has it.
        Glyph(u8),
        /// `cql_abort`: ends the run.
        Abort,
    }
}

operands! {
    /// Sets of squares of the game language.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "operands are named as CQL names them")]
    pub enum GameSquares<P: Form> {
        /// The value of a filter that is evaluated elsewhere.
        Elsewhere(Elsewhere<P, Squares<P>>),
        /// `D[k]`.
        Entry { dictionary: DictionaryId, key: Assigned<P> },
        /// `from`: the squares that the move which led here left.
        From,
        /// `to`: the squares that it reached.
        To,
        /// `enpassantsquare`: the square of the pawn that was captured en passant.
        EnPassantSquare,
        /// `move from`, `move to`, `move capture`.
        Move(Move<P>),
        /// A piece variable: the square of its piece at this position.
        Piece(VarId),
        /// `piece X in S F`.
        PieceLoop { var: VarId, domain: Squares<P>, body: Any<P> },
        /// `P & Q`: the squares with equal contents; empty if P or Q does not exist.
        SameContents(Position<P>, Position<P>),
        /// `makesquare s` with a string that is no literal: empty if the string names no square.
        SquareOf(Text<P>),
    }
}

operands! {
    /// Numbers of the game language.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "operands are named as CQL names them")]
    pub enum GameNumber<P: Form> {
        /// The value of a filter that is evaluated elsewhere.
        Elsewhere(Elsewhere<P, Number<P>>),
        /// `D[k]`.
        Entry { dictionary: DictionaryId, key: Assigned<P> },
        /// `sort "n" F`; for a set, the number of its squares.
        Sort { sort: SortId, of: Number<P> },
        /// `countmoves L--R(T)`: the number of moves that qualify.
        CountMoves { edge: Edge<P>, target: Option<Any<P>> },
        /// `move legal count` and `move pseudolegal count`.
        Move(Move<P>),
        /// `line ...`: the number of its positions.
        Line(Line<P>),
        /// `path ...`: the number of its moves, or the largest value of `max`.
        Path(Path<P>),
        /// `pathcount`.
        PathCount,
        /// `pathcountunfocused`.
        PathCountUnfocused,
        /// `positionid`: the number of the position in its game.
        PositionId,
        /// `depth`: the number of alternatives on the way from the root.
        Depth,
        /// `distance(P Q)`: the number of moves between them.
        Distance(Position<P>, Position<P>),
        /// `consecutivemoves [quiet] [range] (v w)`.
        ConsecutiveMoves { first: VarId, second: VarId, quiet: bool, range: Option<[Number<P>; 2]> },
        /// `echo (s t) F` of a number: the largest value.
        Echo(Echo<Number<P>>),
        /// `pieceid X`, `pieceid S`.
        PieceId(Squares<P>),
        /// `#D`: the number of its keys.
        Size(DictionaryId),
        /// `#s`: the number of bytes of a string.
        Length(Text<P>),
        /// `indexof(a b)`: the index, from 0; no value if a does not occur in b.
        IndexOf(Text<P>, Text<P>),
        /// `int s`.
        ToNumber(Text<P>),
        /// `ascii "c"`.
        CodeOf(Text<P>),
        /// `\-1`: the place where a group of the last match began.
        GroupStart(u32),
        /// `lastgamenumber`.
        LastGameNumber,
    }
}

operands! {
    /// Strings of the game language.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "operands are named as CQL names them")]
    pub enum GameText<P: Form> {
        /// The value of a filter that is evaluated elsewhere.
        Elsewhere(Elsewhere<P, Text<P>>),
        /// `D[k]`.
        Entry { dictionary: DictionaryId, key: Assigned<P> },
        /// `sort "n" F`.
        Sort { sort: SortId, of: Text<P> },
        /// `a + b`.
        Joined(Text<P>, Text<P>),
        /// `str(...)`: the values of all filters, joined.
        Written(Vec<Any<P>>),
        /// `s[i:j]`, clamped; negative bounds count from the end.
        Slice { of: Text<P>, from: Option<Number<P>>, to: Option<Number<P>> },
        /// `s[i]`; no value if i is out of range.
        Letter { of: Text<P>, at: Number<P> },
        /// `uppercase s`, `lowercase s`.
        Case { upper: bool, of: Text<P> },
        /// `fen` without a literal.
        Fen,
        /// `originalcomment`: the comment after the move that led here.
        OriginalComment,
        /// `s ~~ "re"`: the text that matched.
        Match { text: Text<P>, pattern: String },
        /// `\1`: a group of the last match.
        Group(u32),
        /// `ascii n`.
        OfCode(Number<P>),
        /// `max`, `min` of strings.
        Extremum { largest: bool, of: Vec<Text<P>> },
        /// `readfile name`.
        ReadFile(Text<P>),
        /// `currenttransform`: the names of the transforms that were applied to this copy, the last one first.
        CurrentTransform(Vec<String>),
    }
}

operands! {
    /// Positions of the game language.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "operands are named as CQL names them")]
    pub enum GamePosition<P: Form> {
        /// The value of a filter that is evaluated elsewhere.
        Elsewhere(Elsewhere<P, Position<P>>),
        /// `D[k]`.
        Entry { dictionary: DictionaryId, key: Assigned<P> },
        /// `currentposition`.
        Current,
        /// `parent`.
        Parent,
        /// `child`, `child(n)`.
        Child(Number<P>),
        /// `position n`, `initialposition`.
        Numbered(Number<P>),
        /// `lca(P Q)`.
        LastCommonAncestor(Position<P>, Position<P>),
        /// `P<Q` and the other comparisons: P, if the relation holds.
        Compare { by: PositionOrder, left: Position<P>, right: Position<P> },
        /// `line lastposition ...`.
        LineEnd(Line<P>),
        /// `path lastposition ...`.
        PathEnd(Path<P>),
        /// `pathstart`.
        PathStart,
        /// `pathlastposition`.
        PathLast,
    }
}

operands! {
    /// Operations that hand on the value of a filter at another position, for every kind but conditions.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "operands are named as CQL names them")]
    pub enum Elsewhere<P: Form, F> {
        /// `P:F`.
        At { at: Position<P>, of: F },
        /// `L--R(T)`: the value of T after the first move that qualifies.
        Edge { edge: Edge<P>, target: F },
    }
}

/// The ways in which two positions are compared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PositionOrder {
    /// By their numbers; `==` and `!=` compare nodes.
    Number(Cmp),
    /// `[<]`: the left one is a proper ancestor.
    Before,
    /// `[<=]`: the left one is an ancestor, or the same.
    NotAfter,
    /// `[>]`: the left one is a proper descendant.
    After,
    /// `[>=]`: the left one is a descendant, or the same.
    NotBefore,
}

/// A choice among the children of a position.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Sibling {
    /// The first child.
    Primary,
    /// All other children.
    Secondary,
}

operands! {
    /// `L--R=P`, `L[x]R=P`: a test of a played move. L and R are evaluated before the move.
    #[derive(Clone, Debug)]
    pub struct Edge<P: Form> {
        /// False for moves that leave this position; true for the one that led here (`currentmove`).
        pub entering: bool,
        /// `[x]`: the move must be a capture; `to` is then tested on the square of the captured piece.
        pub capture: bool,
        /// L, if it is written.
        pub from: Option<Squares<P>>,
        /// R, if it is written.
        pub to: Option<Squares<P>>,
        /// `=P`.
        pub promotion: Option<Promotion<P>>,
    }
}

operands! {
    /// The pieces to which a pawn must promote.
    #[derive(Clone, Debug)]
    pub enum Promotion<P: Form> {
        /// A piece of one of these kinds. The set has both colours, since the colour is ignored.
        Pieces(PieceSet),
        /// A piece that one of the letters of a string names.
        Letters(Text<P>),
    }
}

operands! {
    /// `move ...`.
    #[derive(Clone, Debug)]
    pub struct Move<P: Form> {
        /// The moves at which it looks.
        pub of: MoveOf,
        /// The value that it has.
        pub value: MoveValue,
        /// `from S`.
        pub from: Option<Squares<P>>,
        /// `to S`.
        pub to: Option<Squares<P>>,
        /// `capture S`.
        pub capture: Option<Squares<P>>,
        /// `promote P`.
        pub promote: Option<PieceSet>,
        /// `enpassantsquare S`.
        pub en_passant_square: Option<Squares<P>>,
        /// `castle`, `o-o`, `o-o-o`, `enpassant`, or any.
        pub only: Special,
        /// `null`.
        pub null: bool,
        /// `primary`, `secondary`.
        pub sibling: Option<Sibling>,
        /// `comment(...)`: the comment goes to the child of each qualifying move.
        pub comment: Option<Vec<Any<P>>>,
    }
}

/// The moves at which `move` looks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MoveOf {
    /// The moves that were played from here.
    Played,
    /// The move that led here.
    Previous,
    /// The moves that could be played.
    Legal,
    /// The same, including moves that leave the king in check.
    Pseudolegal,
}

/// The value of `move`, which the word after it determines.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MoveValue {
    /// True if a move qualifies.
    Whether,
    /// The squares that qualifying moves leave.
    From,
    /// The squares that qualifying moves reach.
    To,
    /// The squares on which qualifying moves capture.
    Capture,
    /// The number of qualifying moves.
    Count,
}

/// `echo (s t) F`.
#[derive(Clone, Debug)]
pub struct Echo<F> {
    /// s: the current position.
    pub source: VarId,
    /// The variable for `t`, which takes all positions of the game except the current one in turn.
    pub target: VarId,
    /// `in all`: t may also be the current position.
    pub in_all: bool,
    /// True if it makes no comments.
    pub quiet: bool,
    /// F, evaluated at t.
    pub body: F,
}

/// A regular expression over constituents.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "operands are named as they are")]
pub enum Chain<T> {
    /// One constituent.
    One(T),
    /// All parts, one after the other.
    Sequence(Vec<Chain<T>>),
    /// The part, `min` to `max` times.
    Repeat { of: Box<Chain<T>>, min: u32, max: Option<u32> },
}

impl<T> Chain<T> {
    /// Calls `visit` on the constituents, in order.
    pub fn each<'a>(&'a self, visit: &mut dyn FnMut(&'a T)) {
        match self {
            Chain::One(one) => visit(one),
            Chain::Sequence(all) => all.iter().for_each(|chain| chain.each(visit)),
            Chain::Repeat { of, .. } => of.each(visit),
        }
    }

    /// Maps the constituents, in order.
    ///
    /// # Errors
    ///
    /// The first error of `map`.
    pub fn try_map<U, E>(&self, map: &mut dyn FnMut(&T) -> Result<U, E>) -> Result<Chain<U>, E> {
        Ok(match self {
            Chain::One(one) => Chain::One(map(one)?),
            Chain::Sequence(all) => {
                Chain::Sequence(all.iter().map(|chain| chain.try_map(map)).collect::<Result<_, _>>()?)
            }
            Chain::Repeat { of, min, max } => {
                Chain::Repeat { of: Box::new(of.try_map(map)?), min: *min, max: *max }
            }
        })
    }

    /// Returns true if the chain matches the empty sequence.
    pub fn can_be_empty(&self) -> bool {
        match self {
            Chain::One(_) => false,
            Chain::Sequence(all) => all.iter().all(Chain::can_be_empty),
            Chain::Repeat { of, min, .. } => *min == 0 || of.can_be_empty(),
        }
    }
}

operands! {
    /// `line --> c1 --> c2 ...`.
    #[derive(Clone, Debug)]
    pub struct Line<P: Form> {
        /// The range in which the number of positions must lie.
        pub range: Option<[Number<P>; 2]>,
        /// `<--`: the line runs back from here.
        pub back: bool,
        /// True if positions with the other side to move are skipped.
        pub single_color: bool,
        /// True if no other line begins at a position of a line that was found.
        pub nestban: bool,
        /// True if the first line in the order of the search counts, not the longest one.
        pub first_match: bool,
        /// The line continues only to first children, or only to other children.
        pub sibling: Option<Sibling>,
        /// True if it makes no comments.
        pub quiet: bool,
        /// The constituents.
        pub chain: Chain<LineStep<P>>,
    }
}

operands! {
    /// A constituent of a line.
    #[derive(Clone, Debug)]
    pub struct LineStep<P: Form> {
        /// The filter that must match.
        pub filter: Any<P>,
        /// True if the filter contains a `move` of the future: it is evaluated for each move by which the line may continue.
        pub tied: bool,
    }
}

operands! {
    /// `path ...`.
    #[derive(Clone, Debug)]
    pub struct Path<P: Form> {
        /// The range in which the value must lie.
        pub range: Option<[Number<P>; 2]>,
        /// `focus S`, `focus capture S`, `singlecolor`.
        pub focus: Option<Focus<P>>,
        /// `max N`: the path at whose end N is largest is wanted.
        pub max: Option<Number<P>>,
        /// True if the path continues only to first children.
        pub primary: bool,
        /// True if no other path begins at a position of a path that was found, its last one excepted.
        pub nestban: bool,
        /// True if the first path in the order of the search counts, not the longest one.
        pub first_match: bool,
        /// True if the comments of all paths that are equally good are kept.
        pub keep_all_best: bool,
        /// True if comments name the squares of the pieces in focus.
        pub piece_path: bool,
        /// True if each counted move gets a comment.
        pub verbose: bool,
        /// A title for comments.
        pub title: Option<String>,
        /// True if it makes no comments.
        pub quiet: bool,
        /// The constituents.
        pub chain: Chain<PathStep<P>>,
    }
}

operands! {
    /// The moves of which a path consists.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "operands are named as CQL names them")]
    pub enum Focus<P: Form> {
        /// `focus S`: moves of the pieces that stand on S at the start; with `capture` also moves that capture one of them.
        Pieces { capture: bool, of: Squares<P> },
        /// `singlecolor`: moves of the side to move at the start.
        SideToMove,
    }
}

operands! {
    /// A constituent of a path.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "operands are named as they are")]
    pub enum PathStep<P: Form> {
        /// One move, and filters on the position to which it leads.
        Edge { edge: Edge<P>, targets: Vec<Any<P>> },
        /// A filter on the position that was reached.
        Filter(Any<P>),
    }
}
