//! FEN as text, with the fields of variants, read and written at millions a second.
//!
//! A reader of our own, since [`shakmaty::fen`] does not say where a FEN is wrong, fills up fields that are
//! missing, and refuses EPD. What both accept they read alike, and write alike: tests compare.

use std::fmt;
use std::num::NonZeroU32;

use shakmaty::{Board, ByColor, ByRole, Color, File, Piece, Rank, RemainingChecks, Role, Setup, Square};

use crate::board::Bitboard;
use crate::diagnostic::{Diagnostic, Span};

/// One line of FEN or EPD.
///
/// Read are placement (`~` after promoted pieces, pockets as `[QNp]` or as a ninth rank), side to move,
/// castling (`KQkq` or files), en passant square, remaining checks (`2+3`, or checks given `+1+0`, after the en
/// passant square or at the end), both counters. Fields from the right may be missing, blanks may be
/// underscores. What follows is kept as it is: operations of an EPD.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FenRecord<'l> {
    /// The position. Fields that are missing are those of `8/8/8/8/8/8/8/8 w - - 0 1`.
    pub setup: Setup,
    /// How many of the six fields of plain chess there are.
    fields: usize,
    /// Operations of an EPD, as they are.
    pub operations: &'l [u8],
}

type Read<T> = Result<T, Diagnostic>;

impl<'l> FenRecord<'l> {
    /// Reads a line.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong, with its place.
    ///
    /// ```
    /// use orbit_chess::transform::FenRecord;
    /// let error = FenRecord::read(b"8/8/8/44/8/8/7/8 w - -").unwrap_err();
    /// assert_eq!(error.message, "rank 2 has 7 squares");
    /// assert_eq!(error.span.start, 15);
    /// ```
    pub fn read(line: &'l [u8]) -> Read<FenRecord<'l>> {
        let start = line.iter().position(|&byte| !is_blank(byte)).ok_or_else(|| {
            wrong(0, 1, "the FEN is empty", "expected eight ranks such as `8/8/8/8/8/8/8/4K2k`")
        })?;
        let mut setup = Setup::empty();
        let mut words = Words { line, at: read_placement(line, start, &mut setup)? };
        let mut fields = 1;
        if let Some(at) = words.next() {
            setup.turn = read_turn(line, at)?;
            fields = 2;
        }
        if let Some(at) = words.next() {
            setup.castling_rights = read_castling(line, at, &setup.board)?;
            fields = 3;
        }
        if let Some(at) = words.next() {
            setup.ep_square = read_passed(line, at)?;
            fields = 4;
        }
        let mut operations = line.len();
        while let Some((start, end)) = words.next() {
            let word = &line[start..end];
            match word[0] {
                _ if fields != 5 && setup.remaining_checks.is_none() && word.contains(&b'+') => {
                    setup.remaining_checks = Some(read_checks(line, (start, end))?);
                }
                b'0'..=b'9' if fields == 4 => {
                    setup.halfmoves = read_number(line, (start, end))?;
                    fields = 5;
                }
                b'0'..=b'9' if fields == 5 => {
                    let number = read_number(line, (start, end))?;
                    setup.fullmoves = NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
                    fields = 6;
                }
                b'A'..=b'Z' | b'a'..=b'z' => {
                    operations = start;
                    break;
                }
                _ => {
                    let label = "expected a counter, remaining checks such as `3+3`, or operations of an EPD";
                    return Err(wrong(start, end, "this field is out of place", label));
                }
            }
        }
        Ok(FenRecord { setup, fields, operations: line[operations..].trim_ascii_end() })
    }

    /// Appends the line: as many fields as were read, remaining checks after the en passant square as
    /// `3+3`, operations as they were.
    ///
    /// A FEN cannot tell rights of rooks off the back ranks: they are left out, and the answer is `false`.
    pub fn write(&self, out: &mut Vec<u8>) -> bool {
        let setup = &self.setup;
        write_placement(setup, out);
        if self.fields >= 2 {
            out.extend_from_slice(if setup.turn.is_white() { b" w" } else { b" b" });
        }
        if self.fields >= 3 {
            write_castling(setup, out);
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
        (setup.castling_rights & !Bitboard::BACKRANKS).is_empty()
    }
}

impl fmt::Display for FenRecord<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Vec::new();
        self.write(&mut out);
        f.write_str(&String::from_utf8_lossy(&out))
    }
}

fn wrong(start: usize, end: usize, message: impl Into<String>, label: impl Into<String>) -> Diagnostic {
    Diagnostic::error(Span::new(start, end), message, label)
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'_' | b'\t' | b'\r' | b'\n')
}

/// The words of a line; each `next` gives the range of one.
struct Words<'l> {
    line: &'l [u8],
    at: usize,
}

impl Words<'_> {
    #[inline]
    fn next(&mut self) -> Option<(usize, usize)> {
        let rest = &self.line[self.at..];
        let start = self.at + rest.iter().position(|&byte| !is_blank(byte))?;
        let len = self.line[start..].iter().position(|&byte| is_blank(byte));
        self.at = len.map_or(self.line.len(), |len| start + len);
        Some((start, self.at))
    }
}

/// What a byte means in a placement: which of sixteen sets it goes to, and how many squares it takes. Twelve
/// sets are pieces as 2 * role + colour, one is of no use, so that nothing depends on what is read; slashes go
/// there as well.
#[derive(Clone, Copy)]
struct Class {
    set: u8,
    squares: u8,
    is_slash: bool,
    /// Neither piece nor digit nor slash.
    is_other: bool,
}

const LETTERS: &[u8; 12] = b"pPnNbBrRqQkK";
/// The set of no use.
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

/// Reads placement, promoted pieces and pockets; returns where they end.
///
/// Squares are counted in the order of a FEN, from a8. No branch depends on an ordinary byte: mispredicted
/// ones cost more than everything else. Whether ranks have eight squares is looked at when all is read.
#[inline]
fn read_placement(line: &[u8], start: usize, setup: &mut Setup) -> Read<usize> {
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
        misplaced |= (squares ^ 8 * ranks) & slash.wrapping_neg();
        at += 1;
    }
    let is_end = |byte: &u8| is_blank(*byte) || matches!(byte, b'[' | b'/');
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
        // A ninth rank is pockets, too.
        let end = line[at..].iter().position(|&byte| is_blank(byte)).map_or(line.len(), |len| at + len);
        setup.pockets = Some(read_pockets(line, at, end)?);
        at = end;
    }
    Ok(at)
}

/// Reads a placement that is wrong once more, for the place of the fault.
#[cold]
fn wrong_placement(line: &[u8], start: usize) -> Diagnostic {
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
            return wrong(at, at + 1, "`~` follows no piece", "it marks the piece before it as promoted");
        } else if byte == b'[' && rank > 1 {
            return wrong(at, at + 1, "pockets before the last rank", "expected `/` and the next rank");
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
    wrong(rank_at, at, format!("only {} ranks", 9 - rank), label)
}

/// Reads `[QNp]` or `/QNp`.
fn read_pockets(line: &[u8], at: usize, end: usize) -> Read<ByColor<ByRole<u8>>> {
    let close = match line[at] {
        b'[' if line[end - 1] == b']' => end - 1,
        b'[' => return Err(wrong(at, at + 1, "the pockets are not closed", "expected `]` at their end")),
        _ => end,
    };
    if close - at > 65 {
        return Err(wrong(
            at,
            close,
            "more than 64 pieces in the pockets",
            "expected no more than a set of two boards",
        ));
    }
    let mut pockets = ByColor::<ByRole<u8>>::default();
    for k in at + 1..close {
        let Some(piece) = Piece::from_char(char::from(line[k])) else {
            return Err(wrong(
                k,
                k + 1,
                "this is no piece",
                "expected pieces in the pockets, such as `[QNp]`",
            ));
        };
        *pockets.piece_mut(piece) += 1;
    }
    Ok(pockets)
}

fn read_turn(line: &[u8], (start, end): (usize, usize)) -> Read<Color> {
    match &line[start..end] {
        b"w" | b"W" => Ok(Color::White),
        b"b" | b"B" => Ok(Color::Black),
        _ => Err(wrong(start, end, "this is no side to move", "expected `w` or `b`")),
    }
}

/// Castling rights as squares of rooks. `K` is the outermost rook of the back rank with no king beyond, else
/// h1, as in shakmaty and chessops.
fn read_castling(line: &[u8], (start, end): (usize, usize), board: &Board) -> Read<Bitboard> {
    let mut rights = Bitboard::EMPTY;
    if &line[start..end] == b"-" {
        return Ok(rights);
    }
    for at in start..end {
        let byte = line[at];
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
                return Err(wrong(at, at + 1, "this is no castling right", label));
            }
        };
        rights.add(rook);
        if (rights & color.backrank()).count() > 2 {
            return Err(wrong(
                start,
                end,
                "more than two castling rights of one side",
                "expected two at most",
            ));
        }
    }
    Ok(rights)
}

fn read_passed(line: &[u8], (start, end): (usize, usize)) -> Read<Option<Square>> {
    match &line[start..end] {
        b"-" => Ok(None),
        &[file @ b'a'..=b'h', rank @ b'1'..=b'8'] => {
            let (file, rank) = (u32::from(file - b'a'), u32::from(rank - b'1'));
            Ok(Some(Square::from_coords(File::new(file), Rank::new(rank))))
        }
        _ => Err(wrong(start, end, "this is no en passant square", "expected `-` or a square such as `e3`")),
    }
}

/// Remaining checks `2+3`, or checks given `+1+0`.
fn read_checks(line: &[u8], (start, end): (usize, usize)) -> Read<ByColor<RemainingChecks>> {
    let remaining = |digit: u8| RemainingChecks::new(u32::from(digit - b'0'));
    match &line[start..end] {
        &[white @ b'0'..=b'3', b'+', black @ b'0'..=b'3'] => {
            Ok(ByColor { white: remaining(white), black: remaining(black) })
        }
        &[b'+', white @ b'0'..=b'3', b'+', black @ b'0'..=b'3'] => {
            let given = |digit: u8| remaining(b'0' + b'3' - digit);
            Ok(ByColor { white: given(white), black: given(black) })
        }
        _ => {
            let label = "expected `3+3` (checks that remain) or `+0+0` (checks given), 3 at most";
            Err(wrong(start, end, "these are no remaining checks", label))
        }
    }
}

fn read_number(line: &[u8], (start, end): (usize, usize)) -> Read<u32> {
    let mut number = 0u32;
    for &byte in &line[start..end] {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return Err(wrong(start, end, "this is no number", "expected a counter of half-moves or moves"));
        }
        number = number.saturating_mul(10).saturating_add(u32::from(digit));
    }
    Ok(number)
}

/// What stands between two pieces: so many empty squares from a file on, with the slashes in between and
/// the one at the end of a rank. The last byte is the length.
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

/// Placement, promoted pieces and pockets. As in reading, no branch depends on a square.
#[inline]
fn write_placement(setup: &Setup, out: &mut Vec<u8>) {
    let board = &setup.board;
    let planes = [
        board.white(),
        board.knights() | board.rooks() | board.kings(),
        board.bishops() | board.rooks(),
        board.queens() | board.kings(),
        setup.promoted,
    ];
    // In the order of a FEN, from a8.
    let planes = planes.map(|Bitboard(plane)| plane.swap_bytes());
    let mut occupied = board.occupied().0.swap_bytes();
    // 64 pieces, each with `~`, eight slashes, and what is copied beyond the end of the last gap.
    let mut text = [0u8; 160];
    let (mut len, mut next) = (0, 0);
    while occupied != 0 {
        let square = occupied.trailing_zeros() as usize;
        occupied &= occupied - 1;
        put_gap(&mut text, &mut len, next, square);
        let bit = |plane: usize| (planes[plane] >> square & 1) as usize;
        text[len] = LETTERS[(bit(0) | bit(1) << 1 | bit(2) << 2 | bit(3) << 3) % 12];
        len += 1;
        text[len] = b'~';
        len += bit(4);
        text[len] = b'/';
        len += usize::from(square % 8 == 7);
        next = square + 1;
    }
    put_gap(&mut text, &mut len, next, 64);
    // Rank 1 ends with a slash like the others.
    out.extend_from_slice(&text[..len - 1]);
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

/// Writes the empty squares from `from` to before `to`.
#[inline]
fn put_gap(text: &mut [u8; 160], len: &mut usize, from: usize, to: usize) {
    let gap = &GAPS[from % 8][to - from];
    text[*len..*len + 23].copy_from_slice(&gap[..23]);
    *len += usize::from(gap[23]);
}

/// X-FEN: `KQkq` for the outermost rooks with a king on the inner side, else the rook's file.
fn write_castling(setup: &Setup, out: &mut Vec<u8>) {
    out.push(b' ');
    let len = out.len();
    let board = &setup.board;
    for color in [Color::White, Color::Black] {
        let king = board.king_of(color).filter(|king| king.rank() == color.backrank());
        let rooks = board.rooks() & board.by_color(color) & color.backrank();
        for rook in (setup.castling_rights & color.backrank()).into_iter().rev() {
            let letter = match king {
                Some(king) if rook < king && rooks.first() == Some(rook) => b'q',
                Some(king) if rook > king && rooks.last() == Some(rook) => b'k',
                _ => b'a' + rook.file() as u8,
            };
            out.push(if color.is_white() { letter.to_ascii_uppercase() } else { letter });
        }
    }
    if out.len() == len {
        out.push(b'-');
    }
}
