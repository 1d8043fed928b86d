//! What moves do: a record for each position, of the move that led there.

use shakmaty::Square;

use super::Source;
use crate::{
    board::{Board, Code, MoveKind, PackedMove, PieceSet, Position},
    plan::{CastlingPart, EdgeTest, Leaf, Sibling, Special, SquareTest},
    reel::{
        Block, SEGMENT_SLOTS,
        replay::{SegmentColumns, position_at},
    },
};

/// The move that led to a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct MoveTo {
    /// Of castling the king's.
    from: u8,
    to: u8,
    /// The rook's, of castling.
    rook_from: u8,
    rook_to: u8,
    /// What moved, before the move.
    piece: u8,
    /// What stands on the square of arrival afterwards; of castling the rook.
    becomes: u8,
    /// What was captured, and where.
    taken: u8,
    taken_on: u8,
    kind: Kind,
    secondary: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Kind {
    /// The root of a game has none.
    #[default]
    None,
    Plain,
    Castle,
    EnPassant,
    Null,
}

/// The moves of a block.
#[derive(Debug)]
pub(super) struct Moves(Vec<MoveTo>);

impl Moves {
    pub(super) fn new(block: &Block) -> Moves {
        let mut out = vec![MoveTo::default(); block.slots()];
        let mut columns = SegmentColumns::new();
        for segment in 0..block.segments() {
            columns.replay(block, segment);
            let first = segment * SEGMENT_SLOTS;
            let moves = &block.moves[first..block.slots().min(first + SEGMENT_SLOTS)];
            for (i, &mv) in moves.iter().enumerate().filter(|(_, mv)| !mv.is_start()) {
                let board = Board { planes: columns.planes.map(|plane| plane[i]) };
                let white = columns.masks.white >> i & 1 != 0;
                if let Some(to) = out.get_mut(first + i + 1) {
                    *to = MoveTo::new(mv, board, white);
                }
            }
        }
        if block.has_lines() {
            for game in block.games() {
                for line in game.lines() {
                    let before = game.first_slot() + line.parent() as usize;
                    let Position { board, state } = position_at(block, before);
                    let mv = MoveTo::new(line.edge(), board, state.turn().is_white());
                    out[game.first_slot() + line.first_node() as usize] = MoveTo { secondary: true, ..mv };
                }
            }
        }
        Moves(out)
    }

    /// The move that led to a slot.
    pub(super) fn to(&self, slot: usize) -> MoveTo {
        self.0[slot]
    }
}

impl MoveTo {
    fn new(mv: PackedMove, board: Board, white: bool) -> MoveTo {
        let (from, to) = (mv.from(), mv.to());
        let piece = board.at(from).0;
        let plain = MoveTo { from: from as u8, to: to as u8, piece, becomes: piece, ..MoveTo::default() };
        match mv.kind() {
            MoveKind::Start => MoveTo::default(),
            MoveKind::Piece(becomes) => MoveTo {
                becomes: becomes.0,
                taken: board.at(to).0,
                taken_on: to as u8,
                kind: Kind::Plain,
                ..plain
            },
            MoveKind::EnPassant => {
                let taken = Square::new(from as u32 & 56 | to as u32 & 7);
                MoveTo { taken: board.at(taken).0, taken_on: taken as u8, kind: Kind::EnPassant, ..plain }
            }
            MoveKind::Castle => {
                let rank = from as u8 & 56;
                let (king, rook) = if to as u8 > from as u8 { (6, 5) } else { (2, 3) };
                MoveTo {
                    to: rank + king,
                    rook_from: to as u8,
                    rook_to: rank + rook,
                    becomes: board.at(to).0,
                    kind: Kind::Castle,
                    ..plain
                }
            }
            MoveKind::Null => {
                let king = Code(if white { 6 } else { 14 });
                let square = board.squares_of(PieceSet::only(king)).first().unwrap_or(Square::A1) as u8;
                MoveTo { from: square, to: square, piece: king.0, becomes: king.0, kind: Kind::Null, ..plain }
            }
        }
    }

    pub(super) fn is_null(self) -> bool {
        self.kind == Kind::Null
    }

    pub(super) fn is_castling(self) -> bool {
        self.kind == Kind::Castle
    }

    pub(super) fn is_by_white(self) -> bool {
        self.piece & 8 == 0
    }

    /// Castling begins on the file of the kings: Chess960 knows other ways.
    pub(super) fn is(self, special: Special) -> bool {
        let castle = self.is_castling() && self.from & 7 == 4;
        match special {
            Special::Any => true,
            Special::Castle => castle,
            Special::KingSide => castle && self.to & 7 == 6,
            Special::QueenSide => castle && self.to & 7 == 2,
            Special::EnPassant => self.kind == Kind::EnPassant,
        }
    }

    /// The squares that it left: two of castling.
    pub(super) fn left(self) -> [u8; 2] {
        if self.is_castling() { [self.from, self.rook_from] } else { [self.from; 2] }
    }

    /// The squares that it reached, in the same order.
    pub(super) fn reached(self) -> [u8; 2] {
        if self.is_castling() { [self.to, self.rook_to] } else { [self.to; 2] }
    }

    /// Whether it is a promotion to one of some kinds of pieces, of either colour.
    pub(super) fn promotes_to(self, pieces: PieceSet) -> bool {
        let becomes = self.becomes & 7;
        self.kind == Kind::Plain
            && self.piece & 7 == 1
            && becomes != 1
            && [becomes, becomes | 8].into_iter().any(|code| pieces.contains(Code(code)))
    }

    /// Where it captured.
    pub(super) fn captured(self) -> Option<u8> {
        (self.taken != 0).then_some(self.taken_on)
    }

    /// The set that a leaf names.
    pub(super) fn squares(self, leaf: Leaf) -> u64 {
        let both = |squares: [u8; 2]| 1 << squares[0] | 1 << squares[1];
        match leaf {
            Leaf::From => both(self.left()),
            Leaf::To => both(self.reached()),
            Leaf::MovedFrom => 1 << self.from,
            Leaf::MovedTo => 1 << self.to,
            Leaf::Captured => self.captured().map_or(0, |square| 1 << square),
            Leaf::EnPassant if self.kind == Kind::EnPassant => 1 << self.taken_on,
            _ => 0,
        }
    }

    /// What stood on a square that it touched, before the move.
    fn before(self, square: u8) -> u8 {
        match self.kind {
            _ if square == self.from => self.piece,
            Kind::Castle if square == self.rook_from => self.becomes,
            _ if self.taken != 0 && square == self.taken_on => self.taken,
            _ => 0,
        }
    }
}

/// A test of moves with the columns that it reads.
pub(super) struct Entered<'a> {
    test: &'a EdgeTest,
    from: Test<'a>,
    to: Test<'a>,
    captures: Option<Test<'a>>,
    passing: Option<Test<'a>>,
}

/// A test of one square of a move.
enum Test<'a> {
    Any,
    Pieces(PieceSet, u64),
    Column(Source<'a>),
}

impl<'a> Entered<'a> {
    pub(super) fn new(test: &'a EdgeTest, operands: &[Source<'a>]) -> Entered<'a> {
        let mut columns = operands.iter();
        let mut square = |test: SquareTest| match test {
            SquareTest::Any => Test::Any,
            SquareTest::Pieces { contents, squares } => Test::Pieces(contents, squares),
            SquareTest::Column => Test::Column(*columns.next().expect("each column is an operand")),
        };
        let (from, to) = (square(test.from), square(test.to));
        let (captures, passing) = (test.captures.map(&mut square), test.passing.map(&mut square));
        Entered { test, from, to, captures, passing }
    }

    /// Whether a move passes, of which it is known at which slot it was made.
    pub(super) fn passes(&self, mv: MoveTo, before: usize) -> bool {
        if !self.fits(mv, before) {
            return false;
        }
        let [king, rook] = self.parts(mv, before);
        king || rook
    }

    /// The squares that it left, or with `to` reached, of castling those of the parts that pass.
    pub(super) fn own(&self, mv: MoveTo, before: usize, to: bool) -> u64 {
        if !self.fits(mv, before) {
            return 0;
        }
        let squares = if to { mv.reached() } else { mv.left() };
        let parts = self.parts(mv, before).into_iter().zip(squares);
        parts.filter(|(passes, _)| *passes).fold(0, |set, (_, square)| set | 1 << square)
    }

    /// Whether what is the same of both parts of castling passes.
    fn fits(&self, mv: MoveTo, before: usize) -> bool {
        let test = self.test;
        let captures = |test: &Test<'_>| mv.captured().is_some_and(|square| test.passes(mv, square, before));
        mv.is(test.only)
            && (!test.null || mv.is_null())
            && test.sibling.is_none_or(|sibling| mv.secondary == (sibling == Sibling::Secondary))
            && self.captures.as_ref().is_none_or(captures)
            && (self.passing.as_ref()).is_none_or(|test| mv.kind == Kind::EnPassant && captures(test))
            && test.promotion.is_none_or(|pieces| mv.promotes_to(pieces))
    }

    /// Whether the squares pass: of castling those of the king and those of the rook.
    fn parts(&self, mv: MoveTo, before: usize) -> [bool; 2] {
        let passes = |from, to| self.from.passes(mv, from, before) && self.to.passes(mv, to, before);
        let king = passes(mv.from, mv.to);
        if !mv.is_castling() {
            return [king, false];
        }
        let rook = !self.test.kings && passes(mv.rook_from, mv.rook_to);
        match self.test.part {
            None => [king, rook],
            Some(CastlingPart::King) => [king, false],
            Some(CastlingPart::Rook) => [false, rook],
        }
    }
}

impl Test<'_> {
    fn passes(&self, mv: MoveTo, square: u8, before: usize) -> bool {
        match self {
            Test::Any => true,
            Test::Pieces(pieces, squares) => {
                squares >> square & 1 != 0 && pieces.contains(Code(mv.before(square)))
            }
            Test::Column(sets) => sets.word(before) >> square & 1 != 0,
        }
    }
}
