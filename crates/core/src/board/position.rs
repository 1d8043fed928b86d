//! The packed position: 32 bytes for the board and four bytes for everything else.

use bytemuck::{Pod, Zeroable};
use shakmaty::{Bitboard, CastlingMode, Chess, Color, FromSetup, PositionError, Rank, Role, Setup, Square};

use super::{Code, MoveKind, PackedMove, PieceSet};

/// The placement of the pieces as four bit planes: bit `s` of plane `k` is bit `k` of the [`Code`] on square `s`. The squares of
/// one piece type are computed from the planes in two to four bitwise operations.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Pod, Zeroable)]
pub struct Board {
    /// Planes 0 to 2 hold the role, plane 3 the colour. The bits of an empty square are 0 in all four planes.
    pub planes: [u64; 4],
}

impl Board {
    /// Returns the content of a square.
    pub const fn at(&self, square: Square) -> Code {
        let s = square as u32;
        let p = &self.planes;
        Code(
            (p[0] >> s & 1) as u8
                | ((p[1] >> s & 1) as u8) << 1
                | ((p[2] >> s & 1) as u8) << 2
                | ((p[3] >> s & 1) as u8) << 3,
        )
    }

    /// Replaces the content of `square` by `code`.
    pub const fn put(&mut self, square: Square, code: Code) {
        let bit = 1u64 << square as u32;
        let mut k = 0;
        while k < 4 {
            self.planes[k] = self.planes[k] & !bit | ((code.0 >> k & 1) as u64) << square as u32;
            k += 1;
        }
    }

    /// Returns the squares with a piece.
    pub const fn occupied(&self) -> Bitboard {
        Bitboard(self.planes[0] | self.planes[1] | self.planes[2])
    }

    /// Returns the squares whose content is `code`.
    pub fn having(&self, Code(code): Code) -> Bitboard {
        let planes = self.planes.iter().enumerate();
        let hit = planes.map(|(k, plane)| if code >> k & 1 != 0 { *plane } else { !*plane });
        Bitboard(hit.fold(!0, |all, plane| all & plane))
    }

    /// Returns the squares of all pieces of a role, in both colours. `role` is the code of White's piece of that role.
    pub fn of_role(&self, role: u8) -> Bitboard {
        self.having(Code(role)) | self.having(Code(role | 8))
    }

    /// Returns the squares of the pieces that slide in the direction `dir`: queens, and either rooks or bishops.
    pub const fn sliders(&self, dir: u8) -> Bitboard {
        let [p0, p1, p2, _] = self.planes;
        Bitboard(if dir.is_multiple_of(2) { p2 & !p1 } else { p0 & (p1 ^ p2) })
    }

    /// Returns the squares whose content is one of `pieces`.
    pub fn squares_of(&self, pieces: PieceSet) -> Bitboard {
        let codes = (0..15).map(Code).filter(|&code| pieces.contains(code));
        codes.fold(Bitboard::EMPTY, |all, code| all | self.having(code))
    }
}

impl From<&shakmaty::Board> for Board {
    fn from(board: &shakmaty::Board) -> Board {
        let mut out = Board::default();
        for (square, piece) in board {
            out.put(square, Code::from_piece(piece));
        }
        out
    }
}

impl From<&Board> for shakmaty::Board {
    fn from(board: &Board) -> shakmaty::Board {
        let mut out = shakmaty::Board::empty();
        for square in Square::ALL {
            if let Some(piece) = board.at(square).piece() {
                out.set_piece_at(square, piece);
            }
        }
        out
    }
}

/// The side to move, the en passant square and the castling rights in 32 bits.
///
/// Bit 0: set if Black is to move. Bits 8-15: the square that a pawn just passed over in a double step, or 64 if there is none.
/// Bits 16-31: one nibble for each castling right, in the order White king side, White queen side, Black king side, Black queen
/// side. A nibble is 8 + the file of the rook, or 0 if there is no such right.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Pod, Zeroable)]
pub struct State(pub u32);

impl Default for State {
    fn default() -> State {
        State(64 << 8)
    }
}

impl State {
    /// Returns the side to move.
    pub const fn turn(self) -> Color {
        if self.0 & 1 == 0 { Color::White } else { Color::Black }
    }

    /// Returns the square that a pawn just passed over in a double step, if there is one.
    pub fn en_passant(self) -> Option<Square> {
        Square::try_from(self.0 >> 8 & 0xff).ok()
    }

    /// Returns the state with `turn` as the side to move.
    #[must_use]
    pub const fn with_turn(self, turn: Color) -> State {
        State(self.0 & !1 | matches!(turn, Color::Black) as u32)
    }

    /// Returns the state with `square` as the en passant square, or without one if `square` is `None`.
    #[must_use]
    pub const fn with_en_passant(self, square: Option<Square>) -> State {
        let value = match square {
            Some(square) => square as u32,
            None => 64,
        };
        State(self.0 & !0xff00 | value << 8)
    }

    /// Returns the square of the rook for one castling right, or `None` without that right. `king_side` selects the right towards
    /// the h-file.
    pub fn castling_rook(self, color: Color, king_side: bool) -> Option<Square> {
        let nibble = self.0 >> Self::castling_shift(color, king_side) & 15;
        let rank = if color.is_white() { 0 } else { 56 };
        (nibble & 8 != 0).then(|| Square::new(rank + (nibble & 7)))
    }

    /// Returns the state with one castling right changed: `Some(file)` grants the right with the rook on that file (0 to 7), and
    /// `None` removes it.
    #[must_use]
    pub const fn with_castling(self, color: Color, king_side: bool, file: Option<u32>) -> State {
        let shift = Self::castling_shift(color, king_side);
        let nibble = match file {
            Some(file) => 8 | file,
            None => 0,
        };
        State(self.0 & !(15 << shift) | nibble << shift)
    }

    /// Returns the state after `mv`, as [`Position::play`] computes it. `mv` must not be a start mark. The function does not read
    /// the board and has no branches, so the compiler can vectorise a loop over states.
    #[must_use]
    #[inline(always)]
    pub const fn after(self, mv: PackedMove) -> State {
        let (from, to, code) = (mv.0 as u32 & 63, mv.0 as u32 >> 6 & 63, mv.0 as u32 >> 12);
        let state = self.0;
        let is_piece = ones(PackedMove::PIECE_CODES >> code) as u32;
        let double = (code & 7 == 1) & (from.abs_diff(to) == 16);
        let passed = 64 ^ (64 ^ ((from + to) / 2)) & ones(double as u32) as u32;
        let king_moves = (code == 0) | (is_piece != 0) & (code & 7 == 6);
        let kept = state & !((0x00ff_0000 << (8 * (state & 1))) & ones(king_moves as u32) as u32);
        let moved = without_right(without_right(kept, from), to);
        let kept = moved & is_piece | kept & !is_piece;
        State(((kept & !0xff00) | passed << 8) ^ 1)
    }

    const fn castling_shift(color: Color, king_side: bool) -> u32 {
        16 + 8 * matches!(color, Color::Black) as u32 + 4 * !king_side as u32
    }

    /// Returns the squares of all rooks that may still castle.
    pub fn castling_rooks(self) -> Bitboard {
        let mut out = Bitboard(0);
        for color in Color::ALL {
            for king_side in [true, false] {
                out = out.with(self.castling_rook(color, king_side).map_or(Bitboard(0), Bitboard::from));
            }
        }
        out
    }
}

/// Returns all ones if the lowest bit of `bit` is set, otherwise 0.
const fn ones(bit: u32) -> u64 {
    (bit as u64 & 1).wrapping_neg()
}

/// Returns the bits of a [`State`] without the castling rights that a move ends. A king's move ends both rights of its side. A move
/// from or to a rook's square ends the right of that rook.
const fn keep_rights(state: u32, from: u32, to: u32, code: u32) -> u32 {
    let kept = without_right(without_right(state, from), to);
    if code & 7 == 6 { kept & !(0x00ff_0000 << (8 * (!state & 1))) } else { kept }
}

/// Returns the bits of a [`State`] without the castling right of the rook on `square`, if there is such a right. The function has
/// no branches, because branches on the squares of moves would often be mispredicted.
const fn without_right(state: u32, square: u32) -> u32 {
    // XOR sets the nibble of a right to 0 if its rook is on the file of `square`. The two ORs then collect the bits of each nibble
    // in its lowest bit.
    let other = (state >> 16) ^ ((8 | square & 7) * 0x1111);
    let other = other | other >> 1;
    let named = !(other | other >> 2) & 0x1111;
    let rank = 0x00ff & ones((square < 8) as u32) as u32 | 0xff00 & ones((square > 55) as u32) as u32;
    state & !(((named * 15) & rank) << 16)
}

/// One position: the placement, the side to move, the castling rights and the en passant square.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Position {
    /// The pieces.
    pub board: Board,
    /// Side to move, en passant square and castling rights.
    pub state: State,
}

impl Position {
    /// The standard start position.
    pub const STANDARD: Position = Position {
        board: Board {
            planes: [
                0x2cff_0000_0000_ff2c,
                0x7600_0000_0000_0076,
                0x9900_0000_0000_0099,
                0xffff_0000_0000_0000,
            ],
        },
        state: State(0x8f8f_4000),
    };

    /// Packs a shakmaty setup. Any placement of pieces is accepted. The position gets a castling right for each rook of
    /// `setup.castling_rights` that is on the back rank of a colour together with a king of that colour. If a colour has several
    /// kings there, the king nearest to the a-file decides: a rook towards the h-file from it gets a king-side right, and a rook
    /// towards the a-file a queen-side right.
    pub fn from_setup(setup: &Setup) -> Position {
        let board = Board::from(&setup.board);
        let mut state = State::default().with_turn(setup.turn).with_en_passant(setup.ep_square);
        for color in Color::ALL {
            let back = Bitboard::from(color.fold_wb(Rank::First, Rank::Eighth));
            let kings = setup.board.by_color(color) & setup.board.by_role(Role::King) & back;
            let Some(king) = kings.first() else { continue };
            for rook in setup.castling_rights & back {
                state = state.with_castling(color, rook > king, Some(rook.file() as u32));
            }
        }
        Position { board, state }
    }

    /// Unpacks the position to a setup with halfmove clock 0 and fullmove number 1.
    pub fn to_setup(&self) -> Setup {
        let mut setup = Setup::empty();
        setup.board = shakmaty::Board::from(&self.board);
        setup.turn = self.state.turn();
        setup.ep_square = self.state.en_passant();
        setup.castling_rights = self.state.castling_rooks();
        setup
    }

    /// Unpacks the position to shakmaty's type, which can generate legal moves.
    ///
    /// # Errors
    ///
    /// Returns the error from shakmaty if it refuses the placement, for instance because a king is missing or the opponent is in
    /// check. Impossible castling rights and en passant squares are dropped without an error.
    #[expect(clippy::result_large_err, reason = "shakmaty's error carries the position")]
    pub fn to_chess(&self) -> Result<Chess, PositionError<Chess>> {
        Chess::from_setup(self.to_setup(), CastlingMode::Chess960)
            .or_else(PositionError::ignore_invalid_castling_rights)
            .or_else(PositionError::ignore_invalid_ep_square)
            .or_else(PositionError::ignore_too_much_material)
            .or_else(PositionError::ignore_impossible_check)
    }

    /// Plays a move without checking that it is legal.
    ///
    /// A castling right is lost when the king moves, or when its rook leaves its square or is captured. The en passant square is
    /// set after every double step. A start mark ([`MoveKind::Start`]) only changes the side to move: a reader of the reel must set
    /// the start position of the next game itself.
    #[inline(always)]
    pub const fn play(&mut self, mv: PackedMove) {
        let (from, to, code) = (mv.0 as u32 & 63, mv.0 as u32 >> 6 & 63, mv.0 as u32 >> 12);
        let state = self.state.0 & !0xff00;
        if PackedMove::PIECE_CODES >> code & 1 == 0 {
            *self = self.after_special(mv);
            return;
        }
        let (from_set, to_set) = (1u64 << from, 1u64 << to);
        let keep = !(from_set | to_set);
        let [p0, p1, p2, p3] = self.board.planes;
        self.board.planes = [
            p0 & keep | to_set & ones(code),
            p1 & keep | to_set & ones(code >> 1),
            p2 & keep | to_set & ones(code >> 2),
            p3 & keep | to_set & ones(code >> 3),
        ];
        // `code` is the content of `to` after the move. For a pawn or a king, this is also the piece that moved, since no pawn
        // promotes to a pawn or a king. There are no branches here, because branches on the kind of move would often be
        // mispredicted.
        let double = (code & 7 == 1) & (from.abs_diff(to) == 16);
        let passed = 64 ^ (64 ^ ((from + to) / 2)) & ones(double as u32) as u32;
        let next = (state | passed << 8) ^ 1;
        self.state = State(if state >> 16 == 0 { next } else { keep_rights(next, from, to, code) });
    }

    /// Plays castling, an en passant capture or a null move.
    ///
    /// The function takes and returns the position by value, so a loop over moves can keep it in registers.
    #[cold]
    #[inline(never)]
    const fn after_special(mut self, mv: PackedMove) -> Position {
        let (from, to) = (mv.from(), mv.to());
        let turn = self.state.0 & 1;
        let mut next = (self.state.0 & !0xff00 | 64 << 8) ^ 1;
        match mv.kind() {
            MoveKind::Null | MoveKind::Start | MoveKind::Piece(_) => {}
            MoveKind::Castle => {
                let king = self.board.at(from);
                let rook = self.board.at(to);
                self.board.put(from, Code::EMPTY);
                self.board.put(to, Code::EMPTY);
                let rank = from as u32 & 56;
                let (k, r) = if to as u32 > from as u32 { (6, 5) } else { (2, 3) };
                self.board.put(Square::new(rank + k), king);
                self.board.put(Square::new(rank + r), rook);
                next &= !(0x00ff_0000 << (8 * turn));
            }
            MoveKind::EnPassant => {
                let pawn = self.board.at(from);
                self.board.put(from, Code::EMPTY);
                self.board.put(to, pawn);
                self.board.put(Square::new(from as u32 & 56 | to as u32 & 7), Code::EMPTY);
            }
        }
        self.state = State(next);
        self
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::Position as _;

    use super::*;

    #[test]
    fn standard_is_what_shakmaty_starts_from() {
        let setup = Chess::new().to_setup(shakmaty::EnPassantMode::Always);
        assert_eq!(Position::STANDARD, Position::from_setup(&setup));
    }
}
