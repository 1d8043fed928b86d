//! Operations that need more of the game than the current position: moves, other positions, sequences of positions and moves, and
//! values that are kept from one evaluation to the next.
//!
//! The operations in this module are called *the game language*. Each kind of operation has a variant `Game` for them, such as
//! [`super::ConditionOp::Game`]. All other operations except `find` can be evaluated at a single position.

use super::{Any, Assigned, Cmp, Condition, Form, Number, Position, Special, Squares, Text, VarId};
use orbit_core::board::PieceSet;

/// The number of a dictionary, which is an index into [`super::TypedQuery::dictionaries`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DictionaryId(pub u32);

/// The number of a sort, which is an index into [`super::TypedQuery::sorts`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SortId(pub u32);

operands! {
    /// Conditions that need more of the game than the current position; see the [module](self).
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "operands are named as CQL names them")]
    pub enum GameCondition<P: Form> {
        /// `P:F`: true if F matches at position P. It is false if P does not exist.
        At { at: Position<P>, of: Condition<P> },
        /// A test of moves: `L--R`, `L[x]R`, or `L--R(T)` with a target T that is a condition.
        Edge { edge: Edge<P>, target: Option<Any<P>> },
        /// `move ...` used as a condition: true if some move satisfies the filter.
        Move(Move<P>),
        /// `primary`: the move that led to the position is the first move from the parent position. `secondary`: it is not the
        /// first move. Both are false at the start of the game.
        Sibling(Sibling),
        /// `castle`, `o-o`, `o-o-o`, `enpassant`: the move that led to the position is of this kind.
        Arrived(Special),
        /// `nullmove`: the move that led to the position was a null move.
        NullMove,
        /// `mainline`: the position is on the main line, that is, its depth is 0.
        Mainline,
        /// `variation`: the position is in a side line, that is, its depth is above 0.
        Variation,
        /// `virtualmainline`: the moves from the start of the game to the position include no null move, and no move by White that
        /// begins a side line.
        VirtualMainline,
        /// `try`: exactly one of the moves from the start of the game to the position is a move by White that begins a side line.
        Try,
        /// `ancestor(P Q)`, or `descendant(Q P)`: P is an ancestor of Q.
        Ancestor { ancestor: Position<P>, of: Position<P> },
        /// `echo (s t) F`, where F is not a number: true if F matches at some position `t`.
        Echo(Echo<Any<P>>),
        /// `piece X=S`. If S is a single occupied square, X becomes the piece on that square.
        BindPiece { var: VarId, of: Squares<P> },
        /// `piece all X in S F`: true if F matches for the piece on each occupied square of S.
        PieceAll { var: VarId, domain: Squares<P>, body: Any<P> },
        /// `x=?S`. If S is empty, the filter fails and x keeps its value.
        AssignSome { var: VarId, of: Squares<P> },
        /// `D[k]=v`: writes an entry of a dictionary.
        SetEntry { dictionary: DictionaryId, key: Assigned<P>, value: Assigned<P> },
        /// `x[i:j]="..."`, `x[i]="..."`: replaces a part of a string.
        SetSlice { var: VarId, from: Option<Number<P>>, to: Option<Number<P>>, value: Text<P> },
        /// `unbind x`: removes the value of a variable. It is always true.
        Unbind(VarId),
        /// `unbind D[k]`, `unbind D`: removes one or all entries of a dictionary. It is false only if k has no value.
        Forget { dictionary: DictionaryId, key: Option<Assigned<P>> },
        /// `isbound x`, or `isunbound x` if `bound` is false.
        IsBound { var: VarId, bound: bool },
        /// `assert F`: ends the run if F fails.
        Assert(Any<P>),
        /// `loop F`: repeats F until F fails. It is true if F matched at least once.
        Loop(Any<P>),
        /// `while (c) F`: repeats F while c matches. It is always true.
        While { condition: Any<P>, body: Any<P> },
        /// `while (s ~~ "re") F`: evaluates F once for each match of the regular expression. It is true if s has a value.
        WhileMatch { text: Text<P>, pattern: String, body: Any<P> },
        /// `x∊D F`, `string x in D F`: evaluates F for each key of D, in ascending order. It is always true.
        KeyLoop { dictionary: DictionaryId, var: VarId, body: Any<P> },
        /// `comment(...)`, `///`: writes a comment at the position. It is always true.
        Comment(Vec<Any<P>>),
        /// `message(...)`: prints a string. It is always true. With `quiet`, the game and the position are not printed.
        Message { quiet: bool, of: Vec<Any<P>> },
        /// `settag("X" s)`: sets a tag of the game. It is true if s has a value.
        SetTag { name: String, value: Text<P> },
        /// `removecomment`: removes the comment of the last move when the game is written. It is always true.
        RemoveComment,
        /// `writefile(name s)`: writes a string to a file.
        WriteFile { name: Text<P>, value: Text<P> },
        /// `equal(F G)`: true if F and G have equal values.
        Equal(Any<P>, Any<P>),
        /// `originalcomment` with a glyph such as `"!"`: the move that led to the position has this annotation glyph.
        Glyph(u8),
        /// `cql_abort`: ends the run.
        Abort,
    }
}

operands! {
    /// Sets of squares that need more of the game than the current position; see the [module](self).
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "operands are named as CQL names them")]
    pub enum GameSquares<P: Form> {
        /// A filter that is evaluated at another position, such as F in `P:F`.
        Elsewhere(Elsewhere<P, Squares<P>>),
        /// `D[k]`: the value of a dictionary entry.
        Entry { dictionary: DictionaryId, key: Assigned<P> },
        /// `from`: the origin square of the last move; two squares for castling.
        From,
        /// `to`: the target square of the last move; two squares for castling.
        To,
        /// `enpassantsquare`: the square of the pawn that the last move captured en passant.
        EnPassantSquare,
        /// `move from`, `move to`, `move capture`: the origin, target or capture squares of the moves that satisfy the filter.
        Move(Move<P>),
        /// A piece variable: the square on which its piece stands in this position.
        Piece(VarId),
        /// `piece X in S F`: the squares of S for whose pieces F matches.
        PieceLoop { var: VarId, domain: Squares<P>, body: Any<P> },
        /// `P & Q`: the squares that have the same content in both positions. The set is empty if P or Q does not exist.
        SameContents(Position<P>, Position<P>),
        /// `makesquare s`, where s is not a literal. The set is empty if the string names no square.
        SquareOf(Text<P>),
    }
}

operands! {
    /// Numbers that need more of the game than the current position; see the [module](self).
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "operands are named as CQL names them")]
    pub enum GameNumber<P: Form> {
        /// A filter that is evaluated at another position, such as F in `P:F`.
        Elsewhere(Elsewhere<P, Number<P>>),
        /// `D[k]`: the value of a dictionary entry.
        Entry { dictionary: DictionaryId, key: Assigned<P> },
        /// `sort "n" F`: the value by which games are sorted. The value of a set is the number of its squares.
        Sort { sort: SortId, of: Number<P> },
        /// `countmoves L--R(T)`: the number of moves that pass the test and after which T matches.
        CountMoves { edge: Edge<P>, target: Option<Any<P>> },
        /// `move legal count` and `move pseudolegal count`: the number of these moves that satisfy the filter.
        Move(Move<P>),
        /// `line ...`: the number of positions of the line.
        Line(Line<P>),
        /// `path ...`: the number of moves in the path, or the largest value of its option `max`.
        Path(Path<P>),
        /// `pathcount`: the number of moves in the current path so far. Moves that are out of focus are not counted.
        PathCount,
        /// `pathcountunfocused`: the number of moves so far that the current path skipped, because they are out of focus.
        PathCountUnfocused,
        /// `positionid`: the number of the position in its game.
        PositionId,
        /// `depth`: the number of moves from the start of the game to the position that begin a side line.
        Depth,
        /// `distance(P Q)`: the number of moves between the positions.
        Distance(Position<P>, Position<P>),
        /// `consecutivemoves [quiet] [range] (v w)`: compares two sequences of moves, which lead from the last common ancestor of v
        /// and w to v and to w. The value is the length of the longest run of moves that occurs in both.
        ConsecutiveMoves { first: VarId, second: VarId, quiet: bool, range: Option<[Number<P>; 2]> },
        /// `echo (s t) F`, where F is a number: the largest value of F.
        Echo(Echo<Number<P>>),
        /// `pieceid X`, `pieceid S`: the number that identifies a piece.
        PieceId(Squares<P>),
        /// `#D`: the number of keys of a dictionary.
        Size(DictionaryId),
        /// `#s`: the number of bytes of a string.
        Length(Text<P>),
        /// `indexof(a b)`: the index, counted from 0, at which a begins in b. There is no value if a does not occur in b.
        IndexOf(Text<P>, Text<P>),
        /// `int s`: a string, parsed as a number.
        ToNumber(Text<P>),
        /// `ascii "c"`: the code of a character.
        CodeOf(Text<P>),
        /// `\-1`: the index at which a group began in the last match of a regular expression.
        GroupStart(u32),
        /// `lastgamenumber`: the number of the last game in the database.
        LastGameNumber,
    }
}

operands! {
    /// Strings that need more of the game than the current position; see the [module](self).
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "operands are named as CQL names them")]
    pub enum GameText<P: Form> {
        /// A filter that is evaluated at another position, such as F in `P:F`.
        Elsewhere(Elsewhere<P, Text<P>>),
        /// `D[k]`: the value of a dictionary entry.
        Entry { dictionary: DictionaryId, key: Assigned<P> },
        /// `sort "n" F`: the string by which games are sorted.
        Sort { sort: SortId, of: Text<P> },
        /// `a + b`: both strings, one after the other.
        Joined(Text<P>, Text<P>),
        /// `str(...)`: the values of all the filters, joined into one string.
        Written(Vec<Any<P>>),
        /// `s[i:j]`: a part of a string. A bound outside the string is clamped to the nearest end. Negative bounds count from the
        /// end.
        Slice { of: Text<P>, from: Option<Number<P>>, to: Option<Number<P>> },
        /// `s[i]`: one letter of a string. There is no value if there is no such letter.
        Letter { of: Text<P>, at: Number<P> },
        /// `uppercase s`, `lowercase s`: the string with all letters in upper or lower case.
        Case { upper: bool, of: Text<P> },
        /// `fen` without a literal: the FEN of the position.
        Fen,
        /// `originalcomment`: the comment after the move that led to the position.
        OriginalComment,
        /// `s ~~ "re"`: the part of the string that matched the regular expression.
        Match { text: Text<P>, pattern: String },
        /// `\1`: the text that a group matched in the last match of a regular expression.
        Group(u32),
        /// `ascii n`: the character with a given code.
        OfCode(Number<P>),
        /// `max` and `min` with strings: the last or the first string in bytewise order.
        Extremum { largest: bool, of: Vec<Text<P>> },
        /// `readfile name`: the contents of a file.
        ReadFile(Text<P>),
        /// `currenttransform`: the names of the transforms that produced the copy (transformed filter) that contains this word. The
        /// transform that was applied last comes first.
        CurrentTransform(Vec<String>),
    }
}

operands! {
    /// Filters whose value is a position of the game; see the [module](self).
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "operands are named as CQL names them")]
    pub enum GamePosition<P: Form> {
        /// A filter that is evaluated at another position, such as F in `P:F`.
        Elsewhere(Elsewhere<P, Position<P>>),
        /// `D[k]`: the value of a dictionary entry.
        Entry { dictionary: DictionaryId, key: Assigned<P> },
        /// `currentposition`: the position at which the query is being evaluated.
        Current,
        /// `parent`: the position before the last move.
        Parent,
        /// `child`, `child(n)`: a child of the current position, that is, a position after one more move.
        Child(Number<P>),
        /// `position n`, `initialposition`: the position with a given number.
        Numbered(Number<P>),
        /// `lca(P Q)`: the last position from which both P and Q can be reached.
        LastCommonAncestor(Position<P>, Position<P>),
        /// `P<Q` and other comparisons. The value is P if the comparison is true; otherwise there is no value.
        Compare { by: PositionOrder, left: Position<P>, right: Position<P> },
        /// `line lastposition ...`: the last position of the line.
        LineEnd(Line<P>),
        /// `path lastposition ...`: the last position of the path.
        PathEnd(Path<P>),
        /// `pathstart`: the position at which the path began.
        PathStart,
        /// `pathlastposition`: the last position of the most recent path that matched. While a path is being searched, it is the
        /// last position of the best path found so far.
        PathLast,
    }
}

operands! {
    /// Operations whose value is the value of a filter at another position. They exist for every kind except conditions.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "operands are named as CQL names them")]
    pub enum Elsewhere<P: Form, F> {
        /// `P:F`: the value of F at P.
        At { at: Position<P>, of: F },
        /// `L--R(T)`: the value of T after the first move that passes the test and after which T matches.
        Edge { edge: Edge<P>, target: F },
    }
}

/// The ways in which two positions are compared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PositionOrder {
    /// Compares the numbers of the positions. `==` and `!=` test if they are the same position of the game.
    Number(Cmp),
    /// `[<]`: the left position is a proper ancestor of the right one.
    Before,
    /// `[<=]`: the left position is an ancestor of the right one, or the same position.
    NotAfter,
    /// `[>]`: the left position is a proper descendant of the right one.
    After,
    /// `[>=]`: the left position is a descendant of the right one, or the same position.
    NotBefore,
}

/// A choice among the children of a position, which are the positions after one more move.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Sibling {
    /// The first child. It continues the line.
    Primary,
    /// All other children. They begin side lines.
    Secondary,
}

operands! {
    /// A test of a move that was played: `L--R=P`, `L[x]R=P`. The filters L and R are evaluated at the position before the move.
    #[derive(Clone, Debug)]
    pub struct Edge<P: Form> {
        /// True if the test applies to the move that led to the current position (`currentmove`). False if it applies to the moves
        /// that were played from there.
        pub entering: bool,
        /// `[x]`: the move must be a capture. `to` then applies to the square of the captured piece.
        pub capture: bool,
        /// The filter L of `L--R`. `None` if the query leaves it out.
        pub from: Option<Squares<P>>,
        /// The filter R of `L--R`. `None` if the query leaves it out.
        pub to: Option<Squares<P>>,
        /// `=P`: the pieces to which a pawn must promote.
        pub promotion: Option<Promotion<P>>,
    }
}

operands! {
    /// The pieces to which a pawn must promote.
    #[derive(Clone, Debug)]
    pub enum Promotion<P: Form> {
        /// A pawn must promote to a piece of one of these kinds. The set contains both colours of each kind, because the colour
        /// does not matter.
        Pieces(PieceSet),
        /// A pawn must promote to a piece whose letter occurs in this string.
        Letters(Text<P>),
    }
}

operands! {
    /// A `move` filter. It selects moves to test, and lists the conditions that a move must satisfy.
    #[derive(Clone, Debug)]
    pub struct Move<P: Form> {
        /// The moves that are tested.
        pub of: MoveOf,
        /// The kind of value that the filter has.
        pub value: MoveValue,
        /// `from S`: the origin square of the move is in S.
        pub from: Option<Squares<P>>,
        /// `to S`: the target square of the move is in S.
        pub to: Option<Squares<P>>,
        /// `capture S`: the move captures a piece on S.
        pub capture: Option<Squares<P>>,
        /// `promote P`: the move is a promotion to one of these pieces.
        pub promote: Option<PieceSet>,
        /// `enpassantsquare S`: the move captures en passant a pawn on S.
        pub en_passant_square: Option<Squares<P>>,
        /// The kind of moves to which the filter is restricted: `castle`, `o-o`, `o-o-o` or `enpassant`. `Special::Any` if there
        /// is no such restriction.
        pub only: Special,
        /// `null`: the move is a null move.
        pub null: bool,
        /// `primary`: the move is the first move from its position. `secondary`: it is not the first move.
        pub sibling: Option<Sibling>,
        /// `comment(...)`: the comment is written at the position after each move that satisfies the filter.
        pub comment: Option<Vec<Any<P>>>,
    }
}

/// The moves that `move` tests.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MoveOf {
    /// The moves played from the current position.
    Played,
    /// The move that led to the current position.
    Previous,
    /// The legal moves of the current position.
    Legal,
    /// The pseudolegal moves of the current position, which may leave the king in check.
    Pseudolegal,
}

/// The kind of value of a `move` filter, which a word in the filter determines.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MoveValue {
    /// True if some move satisfies the filter.
    Whether,
    /// The origin squares of the moves that satisfy the filter.
    From,
    /// The target squares of the moves that satisfy the filter.
    To,
    /// The squares on which the moves that satisfy the filter capture.
    Capture,
    /// The number of moves that satisfy the filter.
    Count,
}

/// The filter `echo (s t) F`, which compares the current position with other positions of the game.
#[derive(Clone, Debug)]
pub struct Echo<F> {
    /// The variable `s`, which is bound to the current position.
    pub source: VarId,
    /// The variable `t`, which is bound in turn to every position of the game except the current one.
    pub target: VarId,
    /// `in all`: the values of `t` include the current position.
    pub in_all: bool,
    /// True if the filter writes no comments.
    pub quiet: bool,
    /// The filter F, which is evaluated at position `t`.
    pub body: F,
}

/// A regular expression over positions or moves. Its constituents, which take the place of letters, are the filters of a line, or
/// the moves and filters of a path.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "operands are named as they are")]
pub enum Chain<T> {
    /// One constituent: a filter of a line, or a move or a filter of a path.
    One(T),
    /// All parts, one after the other.
    Sequence(Vec<Chain<T>>),
    /// The part `of`, repeated `min` to `max` times. Without `max`, there is no upper limit.
    Repeat { of: Box<Chain<T>>, min: u32, max: Option<u32> },
}

impl<T> Chain<T> {
    /// Calls `visit` on each constituent (filter or move), in order.
    pub fn each<'a>(&'a self, visit: &mut dyn FnMut(&'a T)) {
        match self {
            Chain::One(one) => visit(one),
            Chain::Sequence(all) => all.iter().for_each(|chain| chain.each(visit)),
            Chain::Repeat { of, .. } => of.each(visit),
        }
    }

    /// Calls `visit` on each constituent (filter or move) that occurs in every match of the chain, in order.
    pub fn each_needed<'a>(&'a self, visit: &mut dyn FnMut(&'a T)) {
        match self {
            Chain::One(one) => visit(one),
            Chain::Sequence(all) => all.iter().for_each(|chain| chain.each_needed(visit)),
            Chain::Repeat { of, min, .. } if *min > 0 => of.each_needed(visit),
            Chain::Repeat { .. } => {}
        }
    }

    /// Applies `map` to each constituent (filter or move), in order.
    ///
    /// # Errors
    ///
    /// Returns the first error that `map` returns.
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
    /// A line of positions: `line --> c1 --> c2 ...`.
    #[derive(Clone, Debug)]
    pub struct Line<P: Form> {
        /// The range in which the number of positions must lie. `None` if any number is allowed.
        pub range: Option<[Number<P>; 2]>,
        /// `<--`: the line runs backwards, from the current position to earlier ones.
        pub back: bool,
        /// `singlecolor`: the line skips the positions at which the side to move is not the side that is to move where the line
        /// begins.
        pub single_color: bool,
        /// True if no later line may begin at a position of a line that was already found.
        pub nestban: bool,
        /// True if the first line that the search finds determines the value. Otherwise the longest line does.
        pub first_match: bool,
        /// `primary` or `secondary`: the line continues only to first children, or only to children that are not the first.
        pub sibling: Option<Sibling>,
        /// True if the filter writes no comments.
        pub quiet: bool,
        /// The constituents of the line, that is, its filters.
        pub chain: Chain<LineStep<P>>,
    }
}

operands! {
    /// A constituent of a line: a filter on a position.
    #[derive(Clone, Debug)]
    pub struct LineStep<P: Form> {
        /// The filter that must match at this position of the line.
        pub filter: Any<P>,
        /// True if the filter contains a `move` filter that tests the moves played from the position. The search then evaluates the
        /// filter once for each move by which the line can continue.
        pub tied: bool,
    }
}

operands! {
    /// A path of moves: `path ...`.
    #[derive(Clone, Debug)]
    pub struct Path<P: Form> {
        /// The range in which the value of the path must lie. `None` if every value is allowed.
        pub range: Option<[Number<P>; 2]>,
        /// `focus S`, `focus capture S` or `singlecolor`: the moves that count. All other moves are skipped. `None` if every move
        /// counts.
        pub focus: Option<Focus<P>>,
        /// `max N`: among the matching paths, the one with the largest N at its end is the result.
        pub max: Option<Number<P>>,
        /// True if the path continues only to first children.
        pub primary: bool,
        /// True if no later path may begin at a position of a path that was already found, except at its last position.
        pub nestban: bool,
        /// True if the first path that the search finds determines the value. Otherwise the longest path does.
        pub first_match: bool,
        /// True if comments are written for all equally good paths, not only for one of them.
        pub keep_all_best: bool,
        /// True if comments name the squares of the pieces in focus.
        pub piece_path: bool,
        /// True if each move that counts (see `focus`) gets a comment.
        pub verbose: bool,
        /// A title for comments.
        pub title: Option<String>,
        /// True if the filter writes no comments.
        pub quiet: bool,
        /// The constituents of the path, that is, its moves and filters.
        pub chain: Chain<PathStep<P>>,
    }
}

operands! {
    /// The moves that count as moves of a path.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "operands are named as CQL names them")]
    pub enum Focus<P: Form> {
        /// `focus S`: moves of the pieces that stand on S when the path begins. With `capture`, also moves that capture one of
        /// these pieces.
        Pieces { capture: bool, of: Squares<P> },
        /// `singlecolor`: moves of the side that is to move when the path begins.
        SideToMove,
    }
}

operands! {
    /// A constituent of a path: a move or a filter.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "operands are named as they are")]
    pub enum PathStep<P: Form> {
        /// One move, and filters that must match at the position after it.
        Edge { edge: Edge<P>, targets: Vec<Any<P>> },
        /// A filter that must match at the position that the path has reached.
        Filter(Any<P>),
    }
}
