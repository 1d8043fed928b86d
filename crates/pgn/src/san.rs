//! Reads moves from tokens of movetext in any notation: SAN, long algebraic notation, coordinates, figurines.

use shakmaty::{CastlingSide, File, Rank, Role, Square};

use super::letters::{dash, past_blanks};

/// The move that a token of movetext describes, as far as it can be read without a board.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SanShape {
    /// Castling, written as `O-O` or `O-O-O`.
    Castle(CastlingSide),
    /// A piece moves to a square. `role` is `None` in coordinates such as `e2e4`, which do not name the moving piece.
    Piece { role: Option<Role>, file: Option<File>, rank: Option<Rank>, to: Square, promotion: Option<Role> },
    /// The side to move passes.
    Null,
}

/// The maximum length in bytes of a token that can be a move.
const WORD_MAX: usize = 32;

impl SanShape {
    /// Reads a move and its suffixes (`+`, `#`, `!?`, `e.p.`, ...). Returns `None` if the token does not have the form of a move.
    pub(super) fn parse(word: &[u8]) -> Option<SanShape> {
        if word.len() < 2 || word.len() > WORD_MAX {
            return None;
        }
        if let Some(shape) = null(word).or_else(|| castle(word)) {
            return Some(shape);
        }
        let (role, rest) = role(word);
        let ((file, rank, to), rest) = squares(rest)?;
        // A digit and a dash before a pawn move, as in `2-e4`, are a move number and not the rank of the pawn.
        let is_number = role.is_none() && file.is_none() && rank.is_some();
        if is_number && past_dash(&word[1..]).is_some() {
            return None;
        }
        let (promotion, rest) =
            if matches!(role, None | Some(Role::Pawn)) { promotion(rest) } else { (None, rest) };
        if !is_suffix(rest) {
            return None;
        }
        let is_pawn = role.is_none() && (file.is_none() || rank.is_none());
        Some(SanShape::Piece {
            role: if is_pawn { Some(Role::Pawn) } else { role },
            file,
            rank,
            to,
            promotion,
        })
    }

    /// Returns whether the move may be a promotion without a named piece: it ends on the last rank, and its squares are possible
    /// for a pawn move.
    pub(super) fn lacks_promotion(self) -> bool {
        let SanShape::Piece { role, rank, to, promotion: None, .. } = self else { return false };
        let before = match to.rank() {
            Rank::Eighth => Rank::Seventh,
            Rank::First => Rank::Second,
            _ => return false,
        };
        role == Some(Role::Pawn) && rank.is_none()
            || role.is_none_or(|role| role == Role::Pawn) && rank == Some(before)
    }
}

/// Returns the text of a note if a move is written in an unusual form, or `None` for a usual form.
pub(super) fn repair(word: &[u8], shape: SanShape) -> Option<&'static str> {
    if has_wide_dash(word) {
        return Some("an unusual dash is read as `-`");
    }
    let SanShape::Piece { promotion: Some(_), .. } = shape else { return None };
    let rank = word.iter().rposition(|byte| matches!(byte, b'1' | b'8'))?;
    let letter = word[rank + 1..].strip_prefix(b"=").unwrap_or(&word[rank + 1..]);
    let is_usual = letter.first().is_some_and(u8::is_ascii_alphabetic) || letter.starts_with(&[0xe2, 0x99]);
    (!is_usual).then_some("an unusual form of a promotion is read as the promotion")
}

/// Returns whether a token has a dash beyond ASCII. A byte that looks like a dash of Windows-1252 does not count if it is part of
/// another UTF-8 character.
fn has_wide_dash(word: &[u8]) -> bool {
    let mut rest = word;
    while let Some(&first) = rest.first() {
        if !first.is_ascii() && dash(rest) > 0 {
            return true;
        }
        let length = match first {
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            _ => 1,
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    false
}

fn null(word: &[u8]) -> Option<SanShape> {
    let rest = [&b"Z0"[..], b"z0", b"@@@@", b"<>", b"0000", b"null"]
        .iter()
        .find_map(|sign| word.strip_prefix(*sign))
        .or_else(|| past_dash(past_dash(word)?))?;
    is_suffix(rest).then_some(SanShape::Null)
}

fn past_dash(word: &[u8]) -> Option<&[u8]> {
    let bytes = dash(word);
    (bytes > 0).then(|| &word[bytes..])
}

fn castle(word: &[u8]) -> Option<SanShape> {
    let letter = match word[0] {
        letter @ (b'O' | b'0' | b'o') => letter,
        _ => return None,
    };
    let mut rest = &word[1..];
    let mut count = 1;
    // Either all letters are separated by dashes, or none are.
    let has_dashes = past_castle(rest, letter).is_some();
    while count < 3 {
        match past_castle(rest, letter) {
            Some(next) if has_dashes => rest = next,
            None if !has_dashes && letter == b'O' && rest.first() == Some(&letter) => rest = &rest[1..],
            _ => break,
        }
        count += 1;
    }
    let side = match count {
        2 => CastlingSide::KingSide,
        3 => CastlingSide::QueenSide,
        _ => return None,
    };
    is_suffix(rest).then_some(SanShape::Castle(side))
}

/// Returns the rest of `word` after a dash and `letter` (`O`, `o` or `0`), if `word` begins with these.
fn past_castle(word: &[u8], letter: u8) -> Option<&[u8]> {
    past_dash(word)?.strip_prefix(&[letter])
}

/// Returns the lengths of the castling moves with which a token begins, the longer one first. For `O-O-O` these are 5 and 3.
pub(super) fn castlings(word: &[u8]) -> impl Iterator<Item = usize> {
    let short = word.split_first().and_then(|(&letter, rest)| past_castle(rest, letter));
    let long = short.and_then(|rest| past_castle(rest, word[0]));
    [long, short].into_iter().flatten().map(|rest| word.len() - rest.len())
}

fn role(word: &[u8]) -> (Option<Role>, &[u8]) {
    match word {
        [0xe2, 0x99, sign @ 0x94..=0x9f, ..] => {
            const ROLES: [Role; 6] =
                [Role::King, Role::Queen, Role::Rook, Role::Bishop, Role::Knight, Role::Pawn];
            (Some(ROLES[usize::from(sign - 0x94) % 6]), &word[3..])
        }
        [letter @ (b'K' | b'Q' | b'R' | b'B' | b'N' | b'P'), ..] => {
            (Role::from_char(*letter as char), &word[1..])
        }
        _ => (None, word),
    }
}

/// The file and the rank of the origin, if the token names them, and the target square.
type SanSquares = (Option<File>, Option<Rank>, Square);

/// Reads the squares of a move: `f3`, `gf3`, `1f3` or `g1f3`, each with an optional `x`, `:` or `-` before the target. Also returns
/// the rest of the token.
fn squares(word: &[u8]) -> Option<(SanSquares, &[u8])> {
    if let Some((first, rest)) = square(word) {
        return Some(match square(past_sign(rest)) {
            Some((to, rest)) => ((Some(first.file()), Some(first.rank()), to), rest),
            None => ((None, None, first), rest),
        });
    }
    let file = word.first().and_then(|&byte| File::from_char(byte as char));
    let rank = word.first().and_then(|&byte| Rank::from_char(byte as char));
    let hinted = if file.is_some() || rank.is_some() { &word[1..] } else { word };
    square(past_sign(hinted)).map(|(to, rest)| ((file, rank, to), rest))
}

fn square(word: &[u8]) -> Option<(Square, &[u8])> {
    let [file, rank, rest @ ..] = word else { return None };
    let square = Square::from_coords(File::from_char(*file as char)?, Rank::from_char(*rank as char)?);
    Some((square, rest))
}

fn past_sign(word: &[u8]) -> &[u8] {
    match word {
        [b'x' | b'X' | b':', rest @ ..] => rest,
        _ => past_dash(word).unwrap_or(word),
    }
}

/// Reads a promotion: `=Q`, `/Q`, `(Q)`, `Q` or `q`. The letter may be a figurine, perhaps after several blanks and signs.
fn promotion(word: &[u8]) -> (Option<Role>, &[u8]) {
    let mut at = 0;
    loop {
        at = past_blanks(word, at);
        at += match word.get(at) {
            Some(b'=' | b'/' | b'(' | b':') => 1,
            _ => match dash(&word[at..]) {
                0 => break,
                bytes => bytes,
            },
        };
    }
    let (promotion, rest) = match &word[at..] {
        [letter, rest @ ..] if b"QRBNqrbn".contains(letter) => (Role::from_char(*letter as char), rest),
        rest => match role(rest) {
            (Some(Role::King | Role::Pawn) | None, _) => return (None, word),
            found => found,
        },
    };
    let close = past_blanks(rest, 0);
    (promotion, rest[close..].strip_prefix(b")").unwrap_or(rest))
}

/// Returns whether the rest of a token after the move is empty or a suffix such as `+`, `!?` or `e.p.`
fn is_suffix(rest: &[u8]) -> bool {
    if rest.is_empty() {
        return true;
    }
    let first = rest.iter().position(u8::is_ascii_alphanumeric);
    let last = rest.iter().rposition(u8::is_ascii_alphanumeric);
    match (first, last) {
        (Some(first), Some(last)) => {
            matches!(&rest[first..=last], b"ep" | b"e.p" | b"mate" | b"ch" | b"dblch" | b"N")
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(word: &str) -> Option<SanShape> {
        SanShape::parse(word.as_bytes())
    }

    #[test]
    fn every_dialect_of_a_move_is_read() {
        let groups: &[&[&str]] = &[
            &["Nf3", "Nf3+", "Nf3!?", "♘f3", "♞f3", "Nxf3", "N:f3", "Nf3\u{2213}", "Nf3++", "Nf3mate"],
            &["Ng1f3", "Ng1-f3", "Ng1xf3"],
            &["exd6", "ed6", "e:d6", "exd6e.p.", "exd6ep", "Pexd6"],
            &["e8=Q", "e8Q", "e8(Q)", "e8/Q", "e8q", "e8=Q#", "Pe8=Q"],
            &[
                "e8=Q",
                "e8 = Q",
                "e8 (Q)",
                "e8=(Q)",
                "e8( Q )+",
                "e8:Q",
                "e8-Q",
                "e8\u{2013}Q",
                "e8=\u{2655}",
                "e8\u{a0}=\u{a0}Q",
            ],
            &["e2e4", "e2-e4", "e2\u{2013}e4", "e2\u{2212}e4"],
            &[
                "O-O",
                "0-0",
                "o-o",
                "O-O+",
                "OO",
                "0-0!",
                "O\u{2010}O",
                "0\u{2011}0",
                "O\u{ad}O",
                "O\u{ff0d}O",
            ],
            &["O-O-O", "0-0-0", "O-O-O#", "O\u{2013}O\u{2013}O", "0\u{2014}0\u{2212}0"],
            &["--", "\u{2013}\u{2013}", "\u{2014}-", "Z0", "@@@@", "<>", "0000", "--!?"],
        ];
        for group in groups {
            let first = shape(group[0]);
            assert!(first.is_some(), "{}", group[0]);
            for word in *group {
                assert_eq!(shape(word), first, "{word}");
            }
        }
    }

    #[test]
    fn unusual_forms_are_told_apart() {
        for word in
            ["e8=Q", "e8Q+", "e8q", "e8=\u{265b}", "\u{2656}f3", "\u{2656}f3\u{b1}", "e2-e4", "Nf3+-", "0-0"]
        {
            assert_eq!(repair(word.as_bytes(), shape(word).unwrap()), None, "{word}");
        }
        for word in ["e8(Q)", "e8 = Q", "e8:Q", "e8/Q", "e2\u{2013}e4", "O\u{2014}O", "\u{2013}\u{2013}"] {
            assert!(repair(word.as_bytes(), shape(word).unwrap()).is_some(), "{word}");
        }
    }

    #[test]
    fn junk_is_no_move() {
        for word in
            ["Nf9", "Sf3", "e", "the", "e9", "i4", "Nf", "d62.", "O", "0-0-0-0", "Nf3Nc6", "1-0", "e4e"]
        {
            assert_eq!(shape(word), None, "{word}");
        }
    }
}
