//! Writes FENs.

use std::fmt;
use std::num::NonZeroU32;

use shakmaty::{Color, EnPassantMode, Piece, Position as _, RemainingChecks, Role, Setup};

use super::{FenRecord, LETTERS};
use crate::board::{Bitboard, File, Position, Square};

/// The letters that [`FenRecord::write`] uses for castling rights.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RookLetters {
    /// X-FEN: `KQkq` for the outermost rook on its side of the king, and otherwise the letter of the rook's file.
    XFen,
    /// `KQkq` for the rooks in the corners. Rights of other rooks cannot be written.
    Corners,
}

impl FenRecord<'_> {
    /// Appends the FEN or EPD to `out`: the fields that were read, the remaining checks as `3+3` after the en passant square, and
    /// the operations unchanged.
    ///
    /// Castling rights of rooks off the back ranks cannot be written, nor can rights that [`RookLetters::Corners`] cannot express.
    /// Such rights are left out, and the function then returns `false`.
    pub fn write(&self, letters: RookLetters, out: &mut Vec<u8>) -> bool {
        let setup = &self.setup;
        placement(setup, out);
        if self.fields >= 2 {
            out.extend_from_slice(if setup.turn.is_white() { b" w" } else { b" b" });
        }
        if self.fields >= 3 {
            castling(setup, letters, out);
        }
        if self.fields >= 4 {
            match setup.ep_square {
                None => out.extend_from_slice(b" -"),
                Some(square) => {
                    out.extend_from_slice(&[b' ', b'a' + square.file() as u8, b'1' + square.rank() as u8])
                }
            }
        }
        if let Some(checks) = setup.remaining_checks {
            let digit = |checks: RemainingChecks| b'0' + u8::from(checks);
            out.extend_from_slice(&[b' ', digit(checks.white), b'+', digit(checks.black)]);
        }
        if self.fields >= 5 {
            out.push(b' ');
            out.extend_from_slice(itoa::Buffer::new().format(setup.halfmoves).as_bytes());
        }
        if self.fields >= 6 {
            out.push(b' ');
            out.extend_from_slice(itoa::Buffer::new().format(setup.fullmoves.get()).as_bytes());
        }
        if !self.operations.is_empty() {
            out.push(b' ');
            out.extend_from_slice(self.operations);
        }
        let told = match letters {
            RookLetters::XFen => Bitboard::BACKRANKS,
            RookLetters::Corners => Bitboard::CORNERS,
        };
        (setup.castling_rights & !told).is_empty()
    }
}

/// Writes the line that [`FenRecord::write`] writes with [`RookLetters::XFen`].
impl fmt::Display for FenRecord<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Vec::new();
        self.write(RookLetters::XFen, &mut out);
        f.write_str(&String::from_utf8_lossy(&out))
    }
}

impl Position {
    /// Returns the position as a FEN (halfmove clock 0, fullmove number 1). The en passant square is written only if a capture
    /// there is legal. Castling rights are written in X-FEN letters.
    pub fn to_fen(&self) -> String {
        self.to_fen_with(0, 1)
    }

    /// Like [`Position::to_fen`], but with the given halfmove clock and fullmove number. A fullmove number of 0 is written as 1.
    pub fn to_fen_with(&self, clock: u32, number: u32) -> String {
        let mut setup = self.setup_for_fen();
        setup.halfmoves = clock;
        setup.fullmoves = NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
        FenRecord::new(setup).to_string()
    }

    /// Returns the first four fields of [`Position::to_fen`]. Equal positions have equal texts, whatever moves led to them.
    pub fn to_epd(&self) -> String {
        FenRecord::without_counters(self.setup_for_fen()).to_string()
    }

    /// Returns the setup to write: its en passant square is kept only if a capture there is legal.
    fn setup_for_fen(&self) -> Setup {
        match self.to_chess() {
            Ok(chess) => chess.to_setup(EnPassantMode::Legal),
            Err(_) => self.to_setup(),
        }
    }
}

/// Returns the placement field of a board whose squares may have letters that stand for no piece, such as `A` for any white
/// piece. `letter` returns the letter of a square, or `None` for an empty square.
///
/// ```
/// use orbit_core::board::Square;
/// let text = orbit_core::fen::board_text(|square| (square == Square::C2).then_some(b'_'));
/// assert_eq!(text, "8/8/8/8/8/8/2_5/8");
/// ```
pub fn board_text(letter: impl Fn(Square) -> Option<u8>) -> String {
    let named: Bitboard = Square::ALL.into_iter().filter(|&square| letter(square).is_some()).collect();
    let mut out = Vec::with_capacity(71);
    // `squares` counts squares in FEN order, which begins at a8. XOR with 56 mirrors the ranks of such a number.
    let letter = |at: usize| letter(Square::new(at as u32 ^ 56)).unwrap_or(b'?');
    squares(named, Bitboard::EMPTY, letter, &mut out);
    String::from_utf8(out).expect("letters are ASCII")
}

/// The text between two pieces in a placement, indexed by the file of the first empty square after a piece and by the number of
/// empty squares. The text contains the digits for these squares, the slashes between ranks, and a slash at the end if the last
/// empty square ends a rank. The last byte of an entry is the length of its text.
const GAPS: [[[u8; 24]; 65]; 8] = {
    let mut gaps = [[[0; 24]; 65]; 8];
    let mut file = 0;
    while file < 8 {
        let mut count = 0;
        while count <= 64 {
            let text = &mut gaps[file][count];
            let (mut len, mut at, mut left) = (0, file, count);
            while left > 0 && len < 22 {
                let run = if left < 8 - at { left } else { 8 - at };
                text[len] = b'0' + run as u8;
                len += 1;
                if at + run == 8 {
                    text[len] = b'/';
                    len += 1;
                }
                (left, at) = (left - run, (at + run) % 8);
            }
            text[23] = len as u8;
            count += 1;
        }
        file += 1;
    }
    gaps
};

/// Writes the placement, the marks (`~`) of promoted pieces, and the pockets.
#[inline]
fn placement(setup: &Setup, out: &mut Vec<u8>) {
    let board = &setup.board;
    let planes = [
        board.white(),
        board.knights() | board.rooks() | board.kings(),
        board.bishops() | board.rooks(),
        board.queens() | board.kings(),
    ];
    let planes = planes.map(|Bitboard(plane)| plane.swap_bytes());
    let letter = |at: usize| {
        let bit = |plane: usize| (planes[plane] >> at & 1) as usize;
        LETTERS[(bit(0) | bit(1) << 1 | bit(2) << 2 | bit(3) << 3) % 12]
    };
    squares(board.occupied(), setup.promoted, letter, out);
    if let Some(pockets) = &setup.pockets {
        out.push(b'[');
        for (color, side) in [(Color::White, &pockets.white), (Color::Black, &pockets.black)] {
            for role in Role::ALL {
                let letter = Piece { color, role }.char() as u8;
                (0..*side.get(role)).for_each(|_| out.push(letter));
            }
        }
        out.push(b']');
    }
}

/// Writes the eight ranks of a placement. `letter` returns the letter of an occupied square; it is called in FEN order, from a8. No
/// branch depends on a square, because mispredicted branches would cost more than all other work.
#[inline]
fn squares(occupied: Bitboard, promoted: Bitboard, letter: impl Fn(usize) -> u8, out: &mut Vec<u8>) {
    let (mut occupied, promoted) = (occupied.0.swap_bytes(), promoted.0.swap_bytes());
    // The size is enough for 64 pieces, each with `~`, for eight slashes, and for all 24 bytes of the last entry of `GAPS`, which
    // is copied whole.
    let mut text = [0u8; 160];
    let (mut len, mut next) = (0, 0);
    while occupied != 0 {
        let square = occupied.trailing_zeros() as usize;
        occupied &= occupied - 1;
        put_gap(&mut text, &mut len, next, square);
        text[len] = letter(square);
        len += 1;
        text[len] = b'~';
        len += (promoted >> square & 1) as usize;
        text[len] = b'/';
        len += usize::from(square % 8 == 7);
        next = square + 1;
    }
    put_gap(&mut text, &mut len, next, 64);
    // The texts of `GAPS` end every rank with a slash, even rank 1, so the last byte is dropped.
    out.extend_from_slice(&text[..len - 1]);
}

/// Writes the empty squares from `from` up to, but not including, `to`.
#[inline]
fn put_gap(text: &mut [u8; 160], len: &mut usize, from: usize, to: usize) {
    let gap = &GAPS[from % 8][to - from];
    text[*len..*len + 23].copy_from_slice(&gap[..23]);
    *len += usize::from(gap[23]);
}

fn castling(setup: &Setup, letters: RookLetters, out: &mut Vec<u8>) {
    out.push(b' ');
    let len = out.len();
    let board = &setup.board;
    for color in [Color::White, Color::Black] {
        let king = board.king_of(color).filter(|king| king.rank() == color.backrank());
        let rooks = board.rooks() & board.by_color(color) & color.backrank();
        for rook in (setup.castling_rights & color.backrank()).into_iter().rev() {
            let letter = match (letters, king) {
                (RookLetters::Corners, _) if rook.file() == File::A => b'q',
                (RookLetters::Corners, _) if rook.file() == File::H => b'k',
                (RookLetters::Corners, _) => continue,
                (RookLetters::XFen, Some(king)) if rook < king && rooks.first() == Some(rook) => b'q',
                (RookLetters::XFen, Some(king)) if rook > king && rooks.last() == Some(rook) => b'k',
                (RookLetters::XFen, _) => b'a' + rook.file() as u8,
            };
            out.push(if color.is_white() { letter.to_ascii_uppercase() } else { letter });
        }
    }
    if out.len() == len {
        out.push(b'-');
    }
}
