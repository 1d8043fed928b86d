//! Operations of the game language: moves, other positions of the game, chains of positions and moves, state.
//!
//! [`super::ConditionOp::Game`] and its kin hold them. What stands beside them in the operations of one position can
//! be told from a position alone; these need the game, or what was evaluated before.

use super::{Any, Assigned, Cmp, Condition, Form, Number, Position, Special, Squares, Text, VarId};
use orbit_core::board::PieceSet;

/// Index into [`super::Query::dictionaries`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DictionaryId(pub u32);

/// Index into [`super::Query::sorts`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SortId(pub u32);

operands! {
    /// Conditions of the game language.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "operands are named as CQL names them")]
    pub enum GameCondition<P: Form> {
        /// `P:F`: whether F matches at position P; false without P.
        At { at: Position<P>, of: Condition<P> },
        /// `L--R`, `L[x]R`, `L--R(T)` of a target whose value is true or false.
        Edge { edge: Edge<P>, target: Option<Any<P>> },
        /// `move ...` without a value.
        Move(Move<P>),
        /// The move that led here is the first of its parent, or another one. Both false at the root.
        Sibling(Sibling),
        /// `castle`, `o-o`, `o-o-o`, `enpassant`: the move that led here.
        Arrived(Special),
        /// `nullmove`: so was the move that led here.
        NullMove,
        /// Depth 0.
        Mainline,
        /// Depth above 0.
        Variation,
        /// No null move on the way from the root, and no alternative that White played.
        VirtualMainline,
        /// Exactly one position from the root to here is reached by an alternative of White.
        Try,
        /// `ancestor(P Q)`; with its operands swapped `descendant(P Q)`.
        Ancestor { ancestor: Position<P>, of: Position<P> },
        /// `echo (s t) F` of a body that is no number.
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
        /// `loop F`: repeats F until it fails; whether it matched at least once.
        Loop(Any<P>),
        /// `while (c) F`; always true.
        While { condition: Any<P>, body: Any<P> },
        /// `while (s ~~ "re") F`: once for each match; always true.
        WhileMatch { text: Text<P>, pattern: String, body: Any<P> },
        /// `x∊D F`, `string x in D F`: whether F matches for a key of D, all of which are visited in ascending order.
        KeyLoop { dictionary: DictionaryId, var: VarId, body: Any<P> },
        /// `comment(...)`, `///`; always true.
        Comment(Vec<Any<P>>),
        /// `message(...)`; always true. With `quiet` the text stands alone.
        Message { quiet: bool, of: Vec<Any<P>> },
        /// `settag("X" s)`; always true.
        SetTag { name: String, value: Text<P> },
        /// `removecomment`; always true.
        RemoveComment,
        /// `writefile(name s)`.
        WriteFile { name: Text<P>, value: Text<P> },
        /// `equal(F G)`: their values compare equal.
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
        /// What hands on the value of a filter that is evaluated elsewhere.
        Elsewhere(Elsewhere<P, Squares<P>>),
        /// `D[k]`.
        Entry { dictionary: DictionaryId, key: Assigned<P> },
        /// `from`: of the move that led here.
        From,
        /// `to`.
        To,
        /// `enpassantsquare`: of the pawn that was captured in passing.
        EnPassantSquare,
        /// `move from`, `move to`, `move capture`.
        Move(Move<P>),
        /// A piece variable: the square of its piece at this position.
        Piece(VarId),
        /// `piece X in S F`.
        PieceLoop { var: VarId, domain: Squares<P>, body: Any<P> },
        /// `P & Q`: the squares with equal contents; empty without one of the two.
        SameContents(Position<P>, Position<P>),
        /// `makesquare s` of a string that is no literal: empty if it names no square.
        SquareOf(Text<P>),
    }
}

operands! {
    /// Numbers of the game language.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "operands are named as CQL names them")]
    pub enum GameNumber<P: Form> {
        /// What hands on the value of a filter that is evaluated elsewhere.
        Elsewhere(Elsewhere<P, Number<P>>),
        /// `D[k]`.
        Entry { dictionary: DictionaryId, key: Assigned<P> },
        /// `sort "n" F`; of a set it is the number of its squares.
        Sort { sort: SortId, of: Number<P> },
        /// `countmoves L--R(T)`: how many moves qualify.
        CountMoves { edge: Edge<P>, target: Option<Any<P>> },
        /// `move legal count` and its kin.
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
        /// `distance(P Q)`: how many moves lie between.
        Distance(Position<P>, Position<P>),
        /// `consecutivemoves [quiet] [range] (v w)`.
        ConsecutiveMoves { first: VarId, second: VarId, quiet: bool, range: Option<[Number<P>; 2]> },
        /// `echo (s t) F` of a number: the largest value.
        Echo(Echo<Number<P>>),
        /// `pieceid X`, `pieceid S`.
        PieceId(Squares<P>),
        /// `#D`: how many keys it has.
        Size(DictionaryId),
        /// `#s`: the bytes of a string.
        Length(Text<P>),
        /// `indexof(a b)`: from 0, none if absent.
        IndexOf(Text<P>, Text<P>),
        /// `int s`.
        ToNumber(Text<P>),
        /// `ascii "c"`.
        CodeOf(Text<P>),
        /// `\-1`: where a group of the last match began.
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
        /// What hands on the value of a filter that is evaluated elsewhere.
        Elsewhere(Elsewhere<P, Text<P>>),
        /// `D[k]`.
        Entry { dictionary: DictionaryId, key: Assigned<P> },
        /// `sort "n" F`.
        Sort { sort: SortId, of: Text<P> },
        /// `a + b`.
        Joined(Text<P>, Text<P>),
        /// `str(...)`: the values of all, joined.
        Written(Vec<Any<P>>),
        /// `s[i:j]`, clamped; negative bounds count from the end.
        Slice { of: Text<P>, from: Option<Number<P>>, to: Option<Number<P>> },
        /// `s[i]`; none out of range.
        Letter { of: Text<P>, at: Number<P> },
        /// `uppercase s`, `lowercase s`.
        Case { upper: bool, of: Text<P> },
        /// `fen` without a literal.
        Fen,
        /// `originalcomment`: the comment behind the move that led here.
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
        /// `currenttransform`: the names of the transforms that were applied to it, the last one first.
        CurrentTransform(Vec<String>),
    }
}

operands! {
    /// Positions of the game language.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "operands are named as CQL names them")]
    pub enum GamePosition<P: Form> {
        /// What hands on the value of a filter that is evaluated elsewhere.
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
        /// `P<Q` and its kin: P, if the relation holds.
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
    /// What hands on the value of a filter that is evaluated at another position, for every kind but conditions.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "operands are named as CQL names them")]
    pub enum Elsewhere<P: Form, F> {
        /// `P:F`.
        At { at: Position<P>, of: F },
        /// `L--R(T)`: the value of T behind the first move that qualifies.
        Edge { edge: Edge<P>, target: F },
    }
}

/// How two positions are compared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PositionOrder {
    /// By their numbers; `==` and `!=` ask for the same node.
    Number(Cmp),
    /// `[<]`: a proper ancestor.
    Before,
    /// `[<=]`: an ancestor, or the same.
    NotAfter,
    /// `[>]`: a proper descendant.
    After,
    /// `[>=]`: a descendant, or the same.
    NotBefore,
}

/// Which children of a position.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Sibling {
    /// The first.
    Primary,
    /// All others.
    Secondary,
}

operands! {
    /// `L--R=P`, `L[x]R=P`: a test of a move that was played. L and R are evaluated before the move.
    #[derive(Clone, Debug)]
    pub struct Edge<P: Form> {
        /// The moves that leave this position, or, of `currentmove`, the one that led here.
        pub entering: bool,
        /// `[x]`: a capture; `to` is then tested on the square of the captured piece.
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
    /// What a pawn must become.
    #[derive(Clone, Debug)]
    pub enum Promotion<P: Form> {
        /// A piece of one of these kinds; of both colours, since the colour is ignored.
        Pieces(PieceSet),
        /// A piece of one of the letters of a string.
        Letters(Text<P>),
    }
}

operands! {
    /// `move ...`.
    #[derive(Clone, Debug)]
    pub struct Move<P: Form> {
        /// Which moves it looks at.
        pub of: MoveOf,
        /// What its value is.
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
        /// `comment(...)`: goes to the child of each qualifying move.
        pub comment: Option<Vec<Any<P>>>,
    }
}

/// Which moves `move` looks at.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MoveOf {
    /// Those that were played from here.
    Played,
    /// The one that led here.
    Previous,
    /// Those that could be played.
    Legal,
    /// The same whatever becomes of the king.
    Pseudolegal,
}

/// What the value of `move` is: the word that follows decides.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MoveValue {
    /// Whether a move qualifies.
    Whether,
    /// The squares that qualifying moves leave.
    From,
    /// The squares that they reach.
    To,
    /// The squares on which they capture.
    Capture,
    /// How many qualify.
    Count,
}

/// `echo (s t) F`.
#[derive(Clone, Debug)]
pub struct Echo<F> {
    /// s: the current position.
    pub source: VarId,
    /// t: each other position of the game in turn.
    pub target: VarId,
    /// `in all`: t is the current position as well.
    pub in_all: bool,
    /// Without comments.
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
    /// All, one after the other.
    Sequence(Vec<Chain<T>>),
    /// `min` to `max` times.
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

    /// The same of constituents that became something else.
    ///
    /// # Errors
    ///
    /// The first that `map` reports.
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

    /// Whether it matches nothing at all.
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
        /// `<--`: from here back.
        pub back: bool,
        /// Positions of the other side to move are skipped.
        pub single_color: bool,
        /// Positions of a line begin no other one.
        pub nestban: bool,
        /// The first line in the order of the search, not the longest one.
        pub first_match: bool,
        /// Only first children, or only others.
        pub sibling: Option<Sibling>,
        /// Without comments.
        pub quiet: bool,
        /// The constituents.
        pub chain: Chain<LineStep<P>>,
    }
}

operands! {
    /// A constituent of a line.
    #[derive(Clone, Debug)]
    pub struct LineStep<P: Form> {
        /// What must match.
        pub filter: Any<P>,
        /// It contains a `move` of the future: it is asked of each move by which the line may go on.
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
        /// `max N`: the walk at whose end N is largest.
        pub max: Option<Number<P>>,
        /// Only first children.
        pub primary: bool,
        /// Positions of a path but its last begin no other one.
        pub nestban: bool,
        /// The first walk in the order of the search, not the longest one.
        pub first_match: bool,
        /// Comments of all walks that are equally good stay.
        pub keep_all_best: bool,
        /// Comments name the squares of the pieces in focus.
        pub piece_path: bool,
        /// Each counted move gets a comment.
        pub verbose: bool,
        /// A title for comments.
        pub title: Option<String>,
        /// Without comments.
        pub quiet: bool,
        /// The constituents.
        pub chain: Chain<PathStep<P>>,
    }
}

operands! {
    /// Whose moves a path consists of.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "operands are named as CQL names them")]
    pub enum Focus<P: Form> {
        /// `focus S`: the pieces that stand on S at the start; with `capture` also moves that capture one of them.
        Pieces { capture: bool, of: Squares<P> },
        /// `singlecolor`: the pieces of the side to move at the start.
        SideToMove,
    }
}

operands! {
    /// A constituent of a path.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "operands are named as they are")]
    pub enum PathStep<P: Form> {
        /// One move, and filters on the position that it leads to.
        Edge { edge: Edge<P>, targets: Vec<Any<P>> },
        /// A filter on the position that was reached.
        Filter(Any<P>),
    }
}
