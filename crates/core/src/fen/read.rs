//! Reads a FEN and reports the place of an error.

use std::num::NonZeroU32;

use shakmaty::{Board, ByColor, ByRole, Color, File, Piece, Rank, RemainingChecks, Setup, Square};

use super::{FenError, FenRecord, FenWords, Field, LETTERS, Leniency, is_blank};
use crate::board::Bitboard;

type FenRead<T> = Result<T, FenError>;

impl<'l> FenRecord<'l> {
    /// Reads a line that contains a FEN or EPD.
    ///
    /// # Errors
    ///
    /// Returns the first error, with its place.
    ///
    /// ```
    /// use orbit_core::fen::{FenRecord, Leniency};
    /// let error = FenRecord::read(b"8/8/8/44/8/8/7/8 w - -", Leniency::NONE).unwrap_err();
    /// assert_eq!(error.message, "rank 2 has 7 squares");
    /// assert_eq!(error.start, 13);
    /// ```
    pub fn read(line: &'l [u8], leniency: Leniency) -> FenRead<FenRecord<'l>> {
        let start = line.iter().position(|&byte| !is_blank(byte)).ok_or_else(|| {
            let label = "expected eight ranks such as `8/8/8/8/8/8/8/4K2k`";
            FenError::new(Field::Whole, (0, 1), "the FEN is empty", label)
        })?;
        let mut setup = Setup::empty();
        let mut words = FenWords { line, at: placement(line, start, leniency.variants, &mut setup)? };
        let mut fields = 1;
        let (mut rights, mut passing) = (&b""[..], &b""[..]);
        if let Some(at) = words.next() {
            setup.turn = turn(line, at)?;
            fields = 2;
        }
        if let Some(at) = words.next() {
            rights = &line[at.0..at.1];
            setup.castling_rights = cleared(castling(line, at, &setup.board), leniency)?;
            fields = 3;
        }
        if let Some(at) = words.next() {
            passing = &line[at.0..at.1];
            setup.ep_square = cleared(passed(line, at), leniency)?;
            fields = 4;
        }
        let mut operations = &b""[..];
        if !leniency.any_rest {
            operations = rest(words, leniency, &mut fields, &mut setup)?;
        }
        Ok(FenRecord { setup, fields, castling: rights, en_passant: passing, operations })
    }
}

/// Reads the fields after the en passant square into `setup`, and returns the operations of an EPD.
#[inline]
fn rest<'l>(
    words: FenWords<'l>,
    leniency: Leniency,
    fields: &mut usize,
    setup: &mut Setup,
) -> FenRead<&'l [u8]> {
    let line = words.line;
    for (start, end) in words {
        let word = &line[start..end];
        match word[0] {
            _ if leniency.variants
                && *fields != 5
                && setup.remaining_checks.is_none()
                && word.contains(&b'+') =>
            {
                setup.remaining_checks = Some(checks(line, (start, end))?);
            }
            b'0'..=b'9' if *fields == 4 => {
                setup.halfmoves = number(line, (start, end))?;
                *fields = 5;
            }
            b'0'..=b'9' if *fields == 5 => {
                let number = number(line, (start, end))?;
                setup.fullmoves = NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
                *fields = 6;
            }
            b'A'..=b'Z' | b'a'..=b'z' if leniency.operations => return Ok(line[start..].trim_ascii_end()),
            _ => return Err(out_of_place(start, end, leniency)),
        }
    }
    Ok(b"")
}

#[cold]
fn out_of_place(start: usize, end: usize, leniency: Leniency) -> FenError {
    let label = match leniency {
        Leniency { variants: true, operations: true, .. } => {
            "expected a counter, remaining checks such as `3+3`, or operations of an EPD"
        }
        Leniency { operations: true, .. } => "expected a counter, or operations of an EPD",
        Leniency { variants: true, .. } => "expected a counter, or remaining checks such as `3+3`",
        _ => "expected a counter of half-moves, then one of moves, and nothing else",
    };
    FenError::new(Field::Rest, (start, end), "this field is out of place", label)
}

/// Returns the value of a field, or the default if the field is unreadable and `leniency` allows this.
#[inline]
fn cleared<T: Default>(field: FenRead<T>, leniency: Leniency) -> FenRead<T> {
    if leniency.unclear_rights { Ok(field.unwrap_or_default()) } else { field }
}

/// The effect of a byte in a placement: the number of squares that it describes, and the index of the set (one of sixteen) to which
/// these squares are added. The first twelve sets are those of the pieces, with the index 2 * role + colour. Digits and slashes add
/// to an unused set, so all bytes are handled by the same code.
#[derive(Clone, Copy)]
struct Class {
    set: u8,
    squares: u8,
    is_slash: bool,
    /// True for a byte that is not a piece, a digit or a slash.
    is_other: bool,
}

/// The index of the unused set, to which the squares of digits and slashes are added.
const NOWHERE: u8 = 12;

const CLASSES: [Class; 256] = {
    let other = Class { set: NOWHERE, squares: 0, is_slash: false, is_other: true };
    let mut classes = [other; 256];
    let mut k = 0;
    while k < LETTERS.len() {
        classes[LETTERS[k] as usize] = Class { set: k as u8, squares: 1, is_other: false, ..other };
        k += 1;
    }
    let mut digit = 1;
    while digit <= 8 {
        classes[b'0' as usize + digit] = Class { squares: digit as u8, is_other: false, ..other };
        digit += 1;
    }
    classes[b'/' as usize] = Class { is_slash: true, is_other: false, ..other };
    classes
};

const fn class(byte: u8) -> Class {
    CLASSES[byte as usize]
}

/// Reads the placement, the marks (`~`) of promoted pieces and, if `with_pockets` is true, the pockets. Returns the index after
/// them.
///
/// Squares are counted in FEN order, from a8. For speed, no branch depends on a byte of a valid placement: mispredicted branches
/// would cost more than all other work. The lengths of the ranks are checked at the end.
#[inline]
fn placement(line: &[u8], start: usize, with_pockets: bool, setup: &mut Setup) -> FenRead<usize> {
    let mut sets = [0u64; 16];
    let mut promoted = 0u64;
    let (mut squares, mut ranks, mut misplaced) = (0u32, 0u32, 0u32);
    let mut at = start;
    while let Some(&byte) = line.get(at) {
        let Class { set, squares: taken, is_slash, is_other } = class(byte);
        if is_other {
            if byte != b'~' || at == start || class(line[at - 1]).set == NOWHERE {
                break;
            }
            promoted |= 1 << (squares.wrapping_sub(1) & 63);
        }
        let slash = u32::from(is_slash);
        if ranks + slash > 7 {
            break;
        }
        sets[usize::from(set) & 15] |= 1 << (squares & 63);
        squares = squares.wrapping_add(u32::from(taken));
        ranks += slash;
        misplaced |= (squares ^ (8 * ranks)) & slash.wrapping_neg();
        at += 1;
    }
    let is_end = |byte: &u8| is_blank(*byte) || with_pockets && matches!(byte, b'[' | b'/');
    if misplaced != 0 || squares != 64 || ranks != 7 || !line.get(at).is_none_or(is_end) {
        return Err(wrong_placement(line, start));
    }
    let set = |code: usize| Bitboard((sets[code] | sets[code + 1]).swap_bytes());
    let roles =
        ByRole { pawn: set(0), knight: set(2), bishop: set(4), rook: set(6), queen: set(8), king: set(10) };
    let color =
        |color: usize| Bitboard((0..6).fold(0, |out, role| out | sets[2 * role + color]).swap_bytes());
    let colors = ByColor { black: color(0), white: color(1) };
    setup.board = Board::try_from_bitboards(roles, colors).expect("one piece was put on a square");
    setup.promoted = Bitboard(promoted.swap_bytes());
    if line.get(at).is_some_and(|byte| !is_blank(*byte)) {
        // The pockets follow, in brackets or as a ninth rank.
        let end = line[at..].iter().position(|&byte| is_blank(byte)).map_or(line.len(), |len| at + len);
        setup.pockets = Some(pockets(line, at, end)?);
        at = end;
    }
    Ok(at)
}

/// Reads a faulty placement a second time, to find the place of the error.
#[cold]
fn wrong_placement(line: &[u8], start: usize) -> FenError {
    let wrong =
        |start, end, message: String, label| FenError::new(Field::Placement, (start, end), message, label);
    let sum = "expected pieces and digits that add up to 8";
    let mut rank = 8;
    let mut rank_at = start;
    let mut squares = 0;
    let mut at = start;
    while let Some(&byte) = line.get(at).filter(|&&byte| !is_blank(byte)) {
        let Class { squares: taken, is_slash, is_other, .. } = class(byte);
        let is_after_piece = at > start && class(line[at - 1]).set != NOWHERE;
        if is_slash && squares == 8 && rank > 1 {
            (rank, rank_at, squares) = (rank - 1, at + 1, 0);
        } else if is_slash || byte == b'[' && squares < 8 {
            break;
        } else if byte == b'~' && !is_after_piece {
            let label = "it marks the piece before it as promoted";
            return wrong(at, at + 1, String::from("`~` follows no piece"), label);
        } else if byte == b'[' && rank > 1 {
            let label = "expected `/` and the next rank";
            return wrong(at, at + 1, String::from("pockets before the last rank"), label);
        } else if is_other && byte != b'~' {
            let letter = String::from_utf8_lossy(&line[at..]).chars().next().unwrap_or(' ');
            let end = (at + letter.len_utf8()).min(line.len());
            let label = "expected one of `KQRBNPkqrbnp`, a digit from 1 to 8, or `/`";
            return wrong(at, end, format!("`{letter}` is no piece"), label);
        }
        squares += u32::from(taken);
        at += 1;
        if squares > 8 {
            let is_end = |byte: &u8| is_blank(*byte) || matches!(byte, b'/' | b'[');
            let end = line[at..].iter().position(is_end).map_or(line.len(), |len| at + len);
            return wrong(rank_at, end, format!("rank {rank} has more than 8 squares"), sum);
        }
    }
    if squares < 8 {
        let end = at.max(rank_at + 1);
        return wrong(rank_at, end, format!("rank {rank} has {squares} squares"), sum);
    }
    let label = "expected eight, from rank 8 down to rank 1";
    if rank == 1 && line.get(at) == Some(&b'/') {
        return wrong(at, at + 1, String::from("a ninth rank"), label);
    }
    wrong(rank_at, at, format!("only {} ranks", 9 - rank), label)
}

/// Reads pockets: `[QNp]` or `/QNp`.
fn pockets(line: &[u8], at: usize, end: usize) -> FenRead<ByColor<ByRole<u8>>> {
    let close = match line[at] {
        b'[' if line[end - 1] == b']' => end - 1,
        b'[' => {
            return Err(FenError::new(
                Field::Placement,
                (at, at + 1),
                "the pockets are not closed",
                "expected `]` at their end",
            ));
        }
        _ => end,
    };
    if close - at > 65 {
        return Err(FenError::new(
            Field::Placement,
            (at, close),
            "more than 64 pieces in the pockets",
            "expected no more than a set of two boards",
        ));
    }
    let mut pockets = ByColor::<ByRole<u8>>::default();
    for (k, &letter) in line.iter().enumerate().take(close).skip(at + 1) {
        let Some(piece) = Piece::from_char(char::from(letter)) else {
            return Err(FenError::new(
                Field::Placement,
                (k, k + 1),
                "this is no piece",
                "expected pieces in the pockets, such as `[QNp]`",
            ));
        };
        *pockets.piece_mut(piece) += 1;
    }
    Ok(pockets)
}

fn turn(line: &[u8], (start, end): (usize, usize)) -> FenRead<Color> {
    match &line[start..end] {
        b"w" | b"W" => Ok(Color::White),
        b"b" | b"B" => Ok(Color::Black),
        _ => Err(FenError::new(Field::Turn, (start, end), "this is no side to move", "expected `w` or `b`")),
    }
}

/// Reads castling rights, and returns the squares of the rooks that may castle. `K` means the outermost rook on the h-side of the
/// back rank or, if there is none or a king is further out, h1. shakmaty and chessops use the same rule.
fn castling(line: &[u8], (start, end): (usize, usize), board: &Board) -> FenRead<Bitboard> {
    let mut rights = Bitboard::EMPTY;
    if &line[start..end] == b"-" {
        return Ok(rights);
    }
    for (at, &byte) in line.iter().enumerate().take(end).skip(start) {
        let color = Color::from_white(byte.is_ascii_uppercase());
        let row = board.by_color(color) & color.backrank();
        let outermost = |square: Option<Square>, corner: File| {
            square
                .filter(|&s| board.rooks().contains(s))
                .unwrap_or(Square::from_coords(corner, color.backrank()))
        };
        let pieces = row & (board.rooks() | board.kings());
        let rook = match byte.to_ascii_lowercase() {
            b'k' => outermost(pieces.last(), File::H),
            b'q' => outermost(pieces.first(), File::A),
            file @ b'a'..=b'h' => Square::from_coords(File::new(u32::from(file - b'a')), color.backrank()),
            _ => {
                let label = "expected `-`, letters of `KQkq`, or files of rooks such as `HAha`";
                return Err(FenError::new(Field::Castling, (at, at + 1), "this is no castling right", label));
            }
        };
        rights.add(rook);
        if (rights & color.backrank()).count() > 2 {
            return Err(FenError::new(
                Field::Castling,
                (start, end),
                "more than two castling rights of one side",
                "expected two at most",
            ));
        }
    }
    Ok(rights)
}

fn passed(line: &[u8], (start, end): (usize, usize)) -> FenRead<Option<Square>> {
    match &line[start..end] {
        b"-" => Ok(None),
        &[file @ b'a'..=b'h', rank @ b'1'..=b'8'] => {
            let (file, rank) = (u32::from(file - b'a'), u32::from(rank - b'1'));
            Ok(Some(Square::from_coords(File::new(file), Rank::new(rank))))
        }
        _ => Err(FenError::new(
            Field::EnPassant,
            (start, end),
            "this is no en passant square",
            "expected `-` or a square such as `e3`",
        )),
    }
}

/// Reads remaining checks such as `2+3`, or given checks such as `+1+0`.
fn checks(line: &[u8], (start, end): (usize, usize)) -> FenRead<ByColor<RemainingChecks>> {
    let remaining = |digit: u8| RemainingChecks::new(u32::from(digit - b'0'));
    match line[start..end] {
        [white @ b'0'..=b'3', b'+', black @ b'0'..=b'3'] => {
            Ok(ByColor { white: remaining(white), black: remaining(black) })
        }
        [b'+', white @ b'0'..=b'3', b'+', black @ b'0'..=b'3'] => {
            let given = |digit: u8| remaining(b'0' + b'3' - digit);
            Ok(ByColor { white: given(white), black: given(black) })
        }
        _ => {
            let label = "expected `3+3` (checks that remain) or `+0+0` (checks given), 3 at most";
            Err(FenError::new(Field::Rest, (start, end), "these are no remaining checks", label))
        }
    }
}

fn number(line: &[u8], (start, end): (usize, usize)) -> FenRead<u32> {
    let mut number = 0u32;
    for &byte in &line[start..end] {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return Err(FenError::new(
                Field::Rest,
                (start, end),
                "this is no number",
                "expected a counter of half-moves or moves",
            ));
        }
        number = number.saturating_mul(10).saturating_add(u32::from(digit));
    }
    Ok(number)
}
