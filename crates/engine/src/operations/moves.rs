//! The effects of a block's moves: for each position, a record of the move that led to it.
//!
//! A *slot* is the number of a position within its block.

use shakmaty::Square;

use super::{MaskBuilder, OperandSource, tree::BlockTree};
use crate::{carry::has, slots_of};
use orbit_core::board::{Board, Code, MoveKind, PackedMove, PieceSet, Position};
use orbit_plan::{CastlingPart, EdgeTest, Leaf, Special, SquareTest};
use orbit_reel::{
    Block, SEGMENT_SLOTS,
    replay::{SegmentColumns, position_at},
};

/// The effects of the move that led to a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct MoveTo {
    /// The origin square of the move; for castling, that of the king.
    from: u8,
    to: u8,
    /// The origin of the rook, for castling.
    rook_from: u8,
    rook_to: u8,
    /// The code that the moving piece had before the move.
    piece: u8,
    /// The code of the piece on the destination square after the move; for castling, that of the rook.
    becomes: u8,
    /// The code of the captured piece (0 if there is none), and its square.
    taken: u8,
    taken_on: u8,
    kind: BlockMoveKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum BlockMoveKind {
    /// No move led to the position, because it is the first position of its game.
    #[default]
    None,
    Plain,
    Castle,
    EnPassant,
    Null,
}

/// The moves of all games in a block. Nearly every move is *plain*: one piece moves to another square, captures what is
/// there, if anything, and is not promoted. Plain moves are stored in columns. All other moves are *special* and are
/// stored in a list.
#[derive(Debug)]
pub(super) struct BlockMoves {
    /// For each slot (position), the plain move that led to it, as a [`PackedMove`] with the code of the piece that
    /// moved.
    plain: Vec<PackedMove>,
    /// For each slot (position), the code of the piece that the move to it captured on its destination square.
    taken: Vec<u8>,
    /// The mask of the slots reached by special moves: castling, en passant captures, promotions and null moves.
    is_special: Vec<u32>,
    /// The special moves, each with the slot (position) that it reaches, in the order of the slots.
    special: Vec<(usize, MoveTo)>,
}

impl BlockMoves {
    pub(super) fn new(block: &Block) -> BlockMoves {
        let slots = block.slots();
        let mut out = BlockMoves {
            plain: vec![PackedMove(0); slots],
            taken: vec![0; slots],
            is_special: vec![0; block.segments()],
            special: Vec::new(),
        };
        let mut columns = SegmentColumns::new();
        for segment in 0..block.segments() {
            columns.replay(block, segment);
            let first = segment * SEGMENT_SLOTS;
            // No position follows the last move of a block, so that move is skipped.
            let moves = &block.moves[first..(slots - 1).min(first + SEGMENT_SLOTS)];
            for (i, &mv) in moves.iter().enumerate().filter(|(_, mv)| !mv.is_start()) {
                let board = Board { planes: std::array::from_fn(|k| columns.planes[k][i]) };
                out.add(first + i + 1, mv, board, columns.masks.white >> i & 1 != 0);
            }
        }
        for game in block.games().filter(|game| game.has_lines()) {
            for line in game.lines() {
                let before = game.first_slot() + line.parent() as usize;
                let Position { board, state } = position_at(block, before);
                let slot = game.first_slot() + line.first_node() as usize;
                out.add(slot, line.edge(), board, state.turn().is_white());
            }
        }
        out.special.sort_unstable_by_key(|(slot, _)| *slot);
        out
    }

    fn add(&mut self, slot: usize, mv: PackedMove, board: Board, white: bool) {
        let piece = board.at(mv.from());
        if mv.kind() == MoveKind::Piece(piece) {
            self.plain[slot] = mv;
            self.taken[slot] = board.at(mv.to()).0;
            return;
        }
        self.is_special[slot / SEGMENT_SLOTS] |= 1 << (slot % SEGMENT_SLOTS);
        self.special.push((slot, MoveTo::new(mv, board, white)));
    }

    /// Returns the effects of the move that led to the position in a slot.
    pub(super) fn to(&self, slot: usize) -> MoveTo {
        if !has(&self.is_special, slot) {
            return self.plain(slot);
        }
        let place = self.special.partition_point(|(other, _)| *other < slot);
        self.special[place].1
    }

    /// Returns the origin and destination squares of the move that led to a slot (position), or `None` if it is a
    /// special move.
    pub(super) fn plain_squares(&self, slot: usize) -> Option<[u8; 2]> {
        (!has(&self.is_special, slot)).then(|| self.squares(slot))
    }

    /// Returns the squares of the move that led to a slot (position), and true if it was a capture. Returns `None` for a
    /// special move.
    pub(super) fn plain_move(&self, slot: usize) -> Option<([u8; 2], bool)> {
        self.plain_squares(slot).map(|squares| (squares, self.taken[slot] != 0))
    }

    /// Returns the origin and destination squares of the move that led to a slot (position). The move must be plain.
    fn squares(&self, slot: usize) -> [u8; 2] {
        let mv = self.plain[slot];
        [mv.from() as u8, mv.to() as u8]
    }

    /// Returns the effects of the move that led to a slot (position). The move must be plain.
    fn plain(&self, slot: usize) -> MoveTo {
        let (mv, taken) = (self.plain[slot], self.taken[slot]);
        let (from, to, piece) = (mv.from() as u8, mv.to() as u8, (mv.0 >> 12) as u8);
        let kind = if piece == 0 { BlockMoveKind::None } else { BlockMoveKind::Plain };
        MoveTo { from, to, piece, becomes: piece, taken, taken_on: to, kind, ..MoveTo::default() }
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
                kind: BlockMoveKind::Plain,
                ..plain
            },
            MoveKind::EnPassant => {
                let taken = Square::new(from as u32 & 56 | to as u32 & 7);
                MoveTo {
                    taken: board.at(taken).0,
                    taken_on: taken as u8,
                    kind: BlockMoveKind::EnPassant,
                    ..plain
                }
            }
            MoveKind::Castle => {
                let rank = from as u8 & 56;
                let (king, rook) = if to as u8 > from as u8 { (6, 5) } else { (2, 3) };
                MoveTo {
                    to: rank + king,
                    rook_from: to as u8,
                    rook_to: rank + rook,
                    becomes: board.at(to).0,
                    kind: BlockMoveKind::Castle,
                    ..plain
                }
            }
            MoveKind::Null => {
                let king = Code(if white { 6 } else { 14 });
                let square = board.squares_of(PieceSet::only(king)).first().unwrap_or(Square::A1) as u8;
                MoveTo {
                    from: square,
                    to: square,
                    piece: king.0,
                    becomes: king.0,
                    kind: BlockMoveKind::Null,
                    ..plain
                }
            }
        }
    }

    /// Returns the origin square, the destination square and the piece of the move.
    pub(super) fn shift(self) -> [u8; 3] {
        [self.from, self.to, self.piece]
    }

    pub(super) fn is_null(self) -> bool {
        self.kind == BlockMoveKind::Null
    }

    pub(super) fn is_castling(self) -> bool {
        self.kind == BlockMoveKind::Castle
    }

    pub(super) fn is_by_white(self) -> bool {
        self.piece & 8 == 0
    }

    /// Returns true if the move is of the given special kind. Castling counts only if the king starts on the e-file. In
    /// Chess960 it may start on another file.
    pub(super) fn is(self, special: Special) -> bool {
        let castle = self.is_castling() && self.from & 7 == 4;
        match special {
            Special::Any => true,
            Special::Castle => castle,
            Special::KingSide => castle && self.to & 7 == 6,
            Special::QueenSide => castle && self.to & 7 == 2,
            Special::EnPassant => self.kind == BlockMoveKind::EnPassant,
        }
    }

    /// Returns the squares that the move left. Castling leaves two squares; for other moves, the one square is returned
    /// twice.
    pub(super) fn left(self) -> [u8; 2] {
        if self.is_castling() { [self.from, self.rook_from] } else { [self.from; 2] }
    }

    /// Returns the squares that the move reached, in the order of [`MoveTo::left`].
    pub(super) fn reached(self) -> [u8; 2] {
        if self.is_castling() { [self.to, self.rook_to] } else { [self.to; 2] }
    }

    /// Returns true if the move is a promotion to one of the given pieces, whatever their colour.
    pub(super) fn promotes_to(self, pieces: PieceSet) -> bool {
        let becomes = self.becomes & 7;
        self.kind == BlockMoveKind::Plain
            && self.piece & 7 == 1
            && becomes != 1
            && [becomes, becomes | 8].into_iter().any(|code| pieces.contains(Code(code)))
    }

    /// Returns the square of the captured piece, if the move captured one.
    pub(super) fn captured(self) -> Option<u8> {
        (self.taken != 0).then_some(self.taken_on)
    }

    /// Returns the squares of the move that `leaf` selects, such as the square of the captured piece; the empty set if
    /// there are none.
    pub(super) fn squares(self, leaf: Leaf) -> u64 {
        let both = |squares: [u8; 2]| 1 << squares[0] | 1 << squares[1];
        match leaf {
            Leaf::From => both(self.left()),
            Leaf::To => both(self.reached()),
            Leaf::MovedFrom => 1 << self.from,
            Leaf::MovedTo => 1 << self.to,
            Leaf::Captured => self.captured().map_or(0, |square| 1 << square),
            Leaf::EnPassant if self.kind == BlockMoveKind::EnPassant => 1 << self.taken_on,
            _ => 0,
        }
    }

    /// Returns the code of the piece that was on a square before the move. The square must be one that the move
    /// touched.
    fn before(self, square: u8) -> u8 {
        match self.kind {
            _ if square == self.from => self.piece,
            BlockMoveKind::Castle if square == self.rook_from => self.becomes,
            _ if self.taken != 0 && square == self.taken_on => self.taken,
            _ => 0,
        }
    }
}

/// A summary of the moves from the root of a game to a node.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RootWay {
    /// The number of side lines that the path enters.
    pub(super) depth: u32,
    /// The number of side lines on this path whose first move is White's.
    pub(super) tries: u32,
    has_null_move: bool,
}

impl RootWay {
    /// Adds one move to the summary.
    pub(super) fn then(self, mv: MoveTo, is_secondary: bool) -> RootWay {
        RootWay {
            depth: self.depth + u32::from(is_secondary),
            tries: self.tries + u32::from(is_secondary && mv.is_by_white()),
            has_null_move: self.has_null_move || mv.is_null(),
        }
    }

    pub(super) fn virtual_mainline(self) -> bool {
        self.tries == 0 && !self.has_null_move
    }
}

/// A condition on moves, with the per-position columns that it reads.
pub(super) struct Entered<'a> {
    test: &'a EdgeTest,
    from: MoveSquareTest<'a>,
    to: MoveSquareTest<'a>,
    captures: Option<MoveSquareTest<'a>>,
    passing: Option<MoveSquareTest<'a>>,
}

/// A condition on one square of a move.
enum MoveSquareTest<'a> {
    Any,
    Pieces(PieceSet, u64),
    Column(OperandSource<'a>),
}

impl<'a> Entered<'a> {
    pub(super) fn new(test: &'a EdgeTest, operands: &[OperandSource<'a>]) -> Entered<'a> {
        let mut columns = operands.iter();
        let mut square = |test: SquareTest| match test {
            SquareTest::Any => MoveSquareTest::Any,
            SquareTest::Pieces { contents, squares } => MoveSquareTest::Pieces(contents, squares),
            SquareTest::Column => MoveSquareTest::Column(*columns.next().expect("each column is an operand")),
        };
        let (from, to) = (square(test.from), square(test.to));
        let (captures, passing) = (test.captures.map(&mut square), test.passing.map(&mut square));
        Entered { test, from, to, captures, passing }
    }

    /// Returns the mask of the slots (positions) that are reached by moves that pass the condition.
    pub(super) fn mask(&self, moves: &BlockMoves, tree: &BlockTree) -> MaskBuilder {
        let mut out = MaskBuilder(match self.plain() {
            Some(test) => test.mask(moves),
            None => vec![0; moves.is_special.len()],
        });
        // No move leads to the first position of a game. So only positions that are children (of the kind that the test
        // allows) stay in the mask.
        out.0.iter_mut().zip(tree.children(self.test.sibling)).for_each(|(word, children)| *word &= children);
        let (left, reached) =
            (|slot: usize| moves.plain[slot].0 & 63, |slot: usize| moves.plain[slot].0 >> 6 & 63);
        self.from.keep(&mut out.0, tree, left);
        self.to.keep(&mut out.0, tree, reached);
        self.captures.iter().for_each(|test| test.keep(&mut out.0, tree, reached));
        for &(slot, mv) in &moves.special {
            out.clear(slot);
            let is_child = self.test.sibling.is_none_or(|sibling| tree.is_sibling(slot, sibling));
            out.put(slot, is_child && self.passes(mv, tree.parent(slot)));
        }
        out
    }

    /// Writes, for each move that passes the condition, the squares that it left or, if `to` is true, the squares that
    /// it reached.
    pub(super) fn own_words(&self, moves: &BlockMoves, tree: &BlockTree, to: bool, out: &mut [u64]) {
        let mask = self.mask(moves, tree);
        for slot in slots_of(&mask.0, 0..moves.plain.len()) {
            out[slot] = self.own(moves.to(slot), tree.parent(slot), to);
        }
    }

    /// Returns the condition as a test for plain moves, or `None` if no plain move can pass it.
    fn plain(&self) -> Option<PlainTest> {
        let EdgeTest { null, only, passing, promotion, part, .. } = self.test;
        if *null || *only != Special::Any || passing.is_some() || promotion.is_some() || part.is_some() {
            return None;
        }
        let captures = self.captures.as_ref().map_or(PlainTest::ANY, |test| {
            let (pieces, squares) = test.pieces();
            (pieces & !1, squares)
        });
        let ((moves, from), (content, to)) = (self.from.pieces(), self.to.pieces());
        Some(PlainTest { moves, from, content: content & captures.0, to: to & captures.1 })
    }

    /// Returns true if a move passes the condition. `before` is the slot of the position before the move.
    fn passes(&self, mv: MoveTo, before: usize) -> bool {
        if !self.fits(mv, before) {
            return false;
        }
        let [king, rook] = self.parts(mv, before);
        king || rook
    }

    /// Returns the squares that a move left or, if `to` is true, the squares that it reached. For castling, only the
    /// parts that pass the condition count.
    fn own(&self, mv: MoveTo, before: usize, to: bool) -> u64 {
        if !self.fits(mv, before) {
            return 0;
        }
        let squares = if to { mv.reached() } else { mv.left() };
        let parts = self.parts(mv, before).into_iter().zip(squares);
        parts.filter(|(passes, _)| *passes).fold(0, |set, (_, square)| set | 1 << square)
    }

    /// Returns true if the move passes those parts of the condition that treat castling as one move, such as the kind
    /// of move and the captured piece.
    fn fits(&self, mv: MoveTo, before: usize) -> bool {
        let test = self.test;
        let captures =
            |test: &MoveSquareTest<'_>| mv.captured().is_some_and(|square| test.passes(mv, square, before));
        mv.is(test.only)
            && (!test.null || mv.is_null())
            && self.captures.as_ref().is_none_or(captures)
            && (self.passing.as_ref())
                .is_none_or(|test| mv.kind == BlockMoveKind::EnPassant && captures(test))
            && test.promotion.is_none_or(|pieces| mv.promotes_to(pieces))
    }

    /// Returns two flags: for castling, true if the king's squares pass the condition, and true if the rook's do. For
    /// any other move, only the first flag can be true.
    fn parts(&self, mv: MoveTo, before: usize) -> [bool; 2] {
        let passes = |from, to| self.from.passes(mv, from, before) && self.to.passes(mv, to, before);
        let king = passes(mv.from, mv.to);
        if !mv.is_castling() {
            return [king && self.test.part.is_none(), false];
        }
        let rook = !self.test.kings && passes(mv.rook_from, mv.rook_to);
        match self.test.part {
            None => [king, rook],
            Some(CastlingPart::King) => [king, false],
            Some(CastlingPart::Rook) => [false, rook],
        }
    }
}

/// A condition on plain moves, as sets of pieces and squares. `moves` and `content` have one bit for each piece code.
struct PlainTest {
    /// The pieces that may move.
    moves: u16,
    from: u64,
    /// The pieces that may be on the destination square before the move; bit 0 stands for an empty square.
    content: u16,
    to: u64,
}

impl PlainTest {
    const ANY: (u16, u64) = (u16::MAX, u64::MAX);

    fn mask(&self, moves: &BlockMoves) -> Vec<u32> {
        let segments = moves.plain.chunks(SEGMENT_SLOTS).zip(moves.taken.chunks(SEGMENT_SLOTS));
        let word = |(moves, taken): (&[PackedMove], &[u8])| {
            moves.iter().zip(taken).enumerate().fold(0, |word, (i, (&mv, &taken))| {
                let (from, to, piece) = (mv.0 & 63, mv.0 >> 6 & 63, mv.0 >> 12);
                let squares = self.from >> from & self.to >> to;
                let contents = self.moves >> piece & self.content >> taken;
                word | (squares as u32 & u32::from(contents) & 1) << i
            })
        };
        segments.map(word).collect()
    }
}

impl MoveSquareTest<'_> {
    /// Returns the pieces and the squares that satisfy this condition on one square of a move. The condition's column, if any, is
    /// ignored.
    fn pieces(&self) -> (u16, u64) {
        match self {
            MoveSquareTest::Any | MoveSquareTest::Column(_) => PlainTest::ANY,
            MoveSquareTest::Pieces(pieces, squares) => (pieces.0, *squares),
        }
    }

    /// Removes from the mask the moves whose square is not in the set that the condition's column contains for the
    /// position before the move. Does nothing if the condition has no column.
    #[inline(always)]
    fn keep(&self, mask: &mut [u32], tree: &BlockTree, square: impl Fn(usize) -> u16) {
        let MoveSquareTest::Column(sets) = self else { return };
        for (segment, word) in mask.iter_mut().enumerate() {
            let (mut rest, mut kept) = (*word, 0);
            while rest != 0 {
                let place = rest.trailing_zeros();
                rest &= rest - 1;
                let slot = segment * SEGMENT_SLOTS + place as usize;
                kept |= (sets.word(tree.parent(slot)) >> square(slot) & 1) as u32 * (1 << place);
            }
            *word = kept;
        }
    }

    fn passes(&self, mv: MoveTo, square: u8, before: usize) -> bool {
        match self {
            MoveSquareTest::Any => true,
            MoveSquareTest::Pieces(pieces, squares) => {
                squares >> square & 1 != 0 && pieces.contains(Code(mv.before(square)))
            }
            MoveSquareTest::Column(sets) => sets.word(before) >> square & 1 != 0,
        }
    }
}
