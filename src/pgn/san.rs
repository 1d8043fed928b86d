//! Words of movetext to moves.
//!
//! [`Shape`] reads what is written, whatever the dialect: SAN, long algebraic, coordinates,
//! figurines. [`resolve`] is the one place that finds the legal move which is meant; replace it to
//! make it faster.

use shakmaty::attacks;
use shakmaty::{Bitboard, CastlingSide, Chess, File, Move, Piece, Position as _, Rank, Role, Square};

use crate::board::{Code, PackedMove, Position};

/// What a word of movetext says, before any board is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    /// Castling by its own sign.
    Castle(CastlingSide),
    /// A piece goes somewhere. `role` is `None` in coordinates such as `e2e4`: whatever stands there.
    Piece { role: Option<Role>, file: Option<File>, rank: Option<Rank>, to: Square, promotion: Option<Role> },
    /// The side to move passes.
    Null,
}

/// Longer words are no moves.
const WORD_MAX: usize = 32;

impl Shape {
    /// Reads a word with its suffixes (`+`, `#`, `!?`, `e.p.`, ...); `None` if it is no move.
    pub(super) fn parse(word: &[u8]) -> Option<Shape> {
        if word.len() < 2 || word.len() > WORD_MAX {
            return None;
        }
        if let Some(shape) = null(word).or_else(|| castle(word)) {
            return Some(shape);
        }
        let (role, rest) = role(word);
        let ((file, rank, to), rest) = squares(rest)?;
        let (promotion, rest) =
            if matches!(role, None | Some(Role::Pawn)) { promotion(rest) } else { (None, rest) };
        if !is_suffix(rest) {
            return None;
        }
        let is_pawn = role.is_none() && (file.is_none() || rank.is_none());
        Some(Shape::Piece { role: if is_pawn { Some(Role::Pawn) } else { role }, file, rank, to, promotion })
    }
}

fn null(word: &[u8]) -> Option<Shape> {
    let rest = [&b"--"[..], b"Z0", b"z0", b"@@@@", b"<>", b"0000", b"null"]
        .iter()
        .find_map(|sign| word.strip_prefix(*sign))?;
    is_suffix(rest).then_some(Shape::Null)
}

fn castle(word: &[u8]) -> Option<Shape> {
    let letter = match word[0] {
        letter @ (b'O' | b'0' | b'o') => letter,
        _ => return None,
    };
    let mut rest = &word[1..];
    let mut count = 1;
    while count < 3 {
        match rest {
            [b'-', next, ..] if *next == letter => rest = &rest[2..],
            [next, ..] if *next == letter && letter == b'O' => rest = &rest[1..],
            _ => break,
        }
        count += 1;
    }
    let side = match count {
        2 => CastlingSide::KingSide,
        3 => CastlingSide::QueenSide,
        _ => return None,
    };
    is_suffix(rest).then_some(Shape::Castle(side))
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

/// Origin file, origin rank, target square.
type Squares = (Option<File>, Option<Rank>, Square);

/// Reads `f3`, `gf3`, `1f3` or `g1f3`, with `x`, `:` or `-` before the target.
fn squares(word: &[u8]) -> Option<(Squares, &[u8])> {
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
        [b'x' | b'X' | b':' | b'-', rest @ ..] => rest,
        _ => word,
    }
}

/// Reads `=Q`, `/Q`, `(Q)`, `Q` or `q`.
fn promotion(word: &[u8]) -> (Option<Role>, &[u8]) {
    let (letter, rest) = match word {
        [b'(', letter, b')', rest @ ..] | [b'=' | b'/', letter, rest @ ..] => (*letter, rest),
        [letter, rest @ ..] => (*letter, rest),
        [] => return (None, word),
    };
    match letter.to_ascii_uppercase() {
        b'Q' | b'R' | b'B' | b'N' => (Role::from_char(letter as char), rest),
        _ => (None, word),
    }
}

/// Whether what follows a move only annotates it.
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

/// Why a word that has the shape of a move is no legal move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Misfit {
    /// No legal move is meant.
    Illegal,
    /// Pieces on all these squares could be meant.
    Ambiguous(Bitboard),
}

/// Finds the one legal move that is meant. A wrong or missing `x` is forgiven, nothing else is.
pub(super) fn resolve(shape: Shape, position: &Chess) -> Result<Move, Misfit> {
    let (role, file, rank, to, promotion) = match shape {
        Shape::Null => return Err(Misfit::Illegal),
        Shape::Castle(side) => return castling(position, side),
        Shape::Piece { role, file, rank, to, promotion } => (role, file, rank, to, promotion),
    };
    let role = match (role, file, rank) {
        (Some(role), ..) => role,
        (None, Some(file), Some(rank)) => {
            let from = Square::from_coords(file, rank);
            let piece = position.board().piece_at(from).ok_or(Misfit::Illegal)?;
            if piece.role == Role::King && piece.color == position.turn() {
                return king_coordinates(position, from, to);
            }
            piece.role
        }
        _ => Role::Pawn,
    };
    if !matches!(role, Role::Pawn | Role::King) {
        let hints = file.map_or(Bitboard::FULL, Bitboard::from) & rank.map_or(Bitboard::FULL, Bitboard::from);
        return if promotion.is_none() {
            piece_move(position, role, hints, to)
        } else {
            Err(Misfit::Illegal)
        };
    }
    let mut moves = position.san_candidates(role, to);
    moves.retain(|mv| {
        mv.from().is_some_and(|from| {
            rank.is_none_or(|rank| rank == from.rank())
                && fits_file(role, file, from, to)
                && mv.promotion() == promotion
        })
    });
    match moves.as_slice() {
        [] => Err(Misfit::Illegal),
        [mv] => Ok(*mv),
        several => Err(Misfit::Ambiguous(several.iter().filter_map(|mv| mv.from()).collect())),
    }
}

/// Finds the knight, bishop, rook or queen that may go to `to`: one that attacks it and leaves no
/// attack on its own king. Most moves are of this kind, and shakmaty's list of candidates costs
/// several times as much.
fn piece_move(position: &Chess, role: Role, hints: Bitboard, to: Square) -> Result<Move, Misfit> {
    let board = position.board();
    let turn = position.turn();
    let occupied = board.occupied();
    let mut origins =
        attacks::attacks(to, Piece { role, color: turn }, occupied) & position.our(role) & hints;
    if let Some(king) = board.king_of(turn) {
        for from in origins {
            let attackers = board.attacks_to(king, !turn, occupied.without(from).with(to));
            if attackers.without(to).any() {
                origins.discard(from);
            }
        }
    }
    match origins.single_square() {
        Some(from) if !position.us().contains(to) => {
            Ok(Move::Normal { role, from, capture: board.role_at(to), to, promotion: None })
        }
        None if origins.any() && !position.us().contains(to) => Err(Misfit::Ambiguous(origins)),
        _ => Err(Misfit::Illegal),
    }
}

/// A pawn that names no file of origin does not take.
fn fits_file(role: Role, file: Option<File>, from: Square, to: Square) -> bool {
    match file {
        Some(file) => file == from.file(),
        None => role != Role::Pawn || from.file() == to.file(),
    }
}

fn castling(position: &Chess, side: CastlingSide) -> Result<Move, Misfit> {
    position.castling_moves(side).first().copied().ok_or(Misfit::Illegal)
}

/// `e1g1` is castling where the king cannot step there; `e1h1` where its rook stands there.
fn king_coordinates(position: &Chess, from: Square, to: Square) -> Result<Move, Misfit> {
    let step = position.san_candidates(Role::King, to).first().copied();
    if let Some(mv) = step {
        return Ok(mv);
    }
    let side = CastlingSide::from_king_side(to > from);
    let mv = castling(position, side)?;
    let is_meant = mv.to() == to
        || position.turn().fold_wb(Rank::First, Rank::Eighth) == to.rank()
            && to.file() == if to > from { File::G } else { File::C };
    if is_meant { Ok(mv) } else { Err(Misfit::Illegal) }
}

/// Finds the one move that is meant in a position that is no legal one, because a side in check
/// passed. Pieces move as they do, kings are not taken and not left to be taken, nobody castles.
pub(super) fn resolve_loosely(shape: Shape, position: &Position) -> Result<PackedMove, Misfit> {
    let Shape::Piece { role, file, rank, to, promotion } = shape else { return Err(Misfit::Illegal) };
    let turn = position.state.turn();
    let board = shakmaty::Board::from(&position.board);
    if board.by_color(turn).contains(to) || board.kings().contains(to) {
        return Err(Misfit::Illegal);
    }
    let mut found = None;
    let mut origins = Bitboard::EMPTY;
    for from in board.by_color(turn) {
        let Some(piece) = board.piece_at(from) else { continue };
        let meant = role.is_none_or(|role| role == piece.role)
            && rank.is_none_or(|rank| rank == from.rank())
            && fits_file(piece.role, file, from, to);
        let promotes = piece.role == Role::Pawn && to.rank() == turn.relative_rank(Rank::Eighth);
        if !meant || promotes != promotion.is_some() || !reaches(&board, position, piece, from, to) {
            continue;
        }
        let left = Piece { role: promotion.unwrap_or(piece.role), ..piece };
        let mv = match position.state.en_passant() {
            Some(square) if square == to && piece.role == Role::Pawn && from.file() != to.file() => {
                PackedMove::en_passant(from, to)
            }
            _ => PackedMove::piece(from, to, Code::of(left)),
        };
        if is_safe(position, mv) {
            found = Some(mv);
            origins.add(from);
        }
    }
    match found {
        Some(mv) if !origins.more_than_one() => Ok(mv),
        Some(_) => Err(Misfit::Ambiguous(origins)),
        None => Err(Misfit::Illegal),
    }
}

fn reaches(board: &shakmaty::Board, position: &Position, piece: Piece, from: Square, to: Square) -> bool {
    if piece.role != Role::Pawn {
        return attacks::attacks(from, piece, board.occupied()).contains(to);
    }
    if attacks::pawn_attacks(piece.color, from).contains(to) {
        return board.by_color(!piece.color).contains(to) || position.state.en_passant() == Some(to);
    }
    let forward = piece.color.fold_wb(8, -8);
    let one = from.offset(forward);
    let is_free = |square: Option<Square>| square.is_some_and(|square| !board.occupied().contains(square));
    is_free(one)
        && (one == Some(to)
            || from.rank() == piece.color.relative_rank(Rank::Second)
                && from.offset(2 * forward) == Some(to)
                && is_free(Some(to)))
}

fn is_safe(position: &Position, mv: PackedMove) -> bool {
    let turn = position.state.turn();
    let mut after = *position;
    after.play(mv);
    let board = shakmaty::Board::from(&after.board);
    board.king_of(turn).is_none_or(|king| board.attacks_to(king, !turn, board.occupied()).is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(word: &str) -> Option<Shape> {
        Shape::parse(word.as_bytes())
    }

    #[test]
    fn every_dialect_of_a_move_is_read() {
        let groups: &[&[&str]] = &[
            &["Nf3", "Nf3+", "Nf3!?", "♘f3", "♞f3", "Nxf3", "N:f3", "Nf3\u{2213}", "Nf3++", "Nf3mate"],
            &["Ng1f3", "Ng1-f3", "Ng1xf3"],
            &["exd6", "ed6", "e:d6", "exd6e.p.", "exd6ep", "Pexd6"],
            &["e8=Q", "e8Q", "e8(Q)", "e8/Q", "e8q", "e8=Q#", "Pe8=Q"],
            &["O-O", "0-0", "o-o", "O-O+", "OO", "0-0!"],
            &["O-O-O", "0-0-0", "O-O-O#"],
            &["--", "Z0", "@@@@", "<>", "0000", "--!?"],
        ];
        for group in groups {
            let first = shape(group[0]);
            assert!(first.is_some(), "{}", group[0]);
            for word in *group {
                assert_eq!(shape(word), first, "{word}");
            }
        }
    }

    /// Walks through games and compares every role and target with shakmaty's legal moves.
    #[test]
    fn what_resolves_is_what_is_legal() {
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        let mut counts = [0; 3];
        for _ in 0..40 {
            let mut position = Chess::new();
            for _ in 0..120 {
                let legal = position.legal_moves();
                if legal.is_empty() {
                    break;
                }
                for role in [Role::Knight, Role::Bishop, Role::Rook, Role::Queen, Role::King] {
                    for to in Square::ALL {
                        let meant = |mv: &&Move| mv.role() == role && mv.to() == to && !mv.is_castle();
                        let meant: Vec<Move> = legal.iter().filter(meant).copied().collect();
                        let shape =
                            Shape::Piece { role: Some(role), file: None, rank: None, to, promotion: None };
                        let wanted = match &meant[..] {
                            [] => Err(Misfit::Illegal),
                            [mv] => Ok(*mv),
                            all => Err(Misfit::Ambiguous(all.iter().filter_map(|mv| mv.from()).collect())),
                        };
                        counts[meant.len().min(2)] += 1;
                        assert_eq!(resolve(shape, &position), wanted, "{role:?} {to} {position:?}");
                    }
                }
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                position.play_unchecked(legal[(seed >> 33) as usize % legal.len()]);
            }
        }
        assert!(counts.iter().all(|&count| count > 1000), "{counts:?}");
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
