//! Finds the legal move that a token of movetext denotes.
//!
//! Every returned move is legal, although no list of legal moves is generated. A piece may move to a square under three conditions:
//! it reaches the square on an empty board, no piece is in between, and its own king is not attacked afterwards. In most positions
//! only one piece and at most two enemies have to be examined.

use shakmaty::attacks;
use shakmaty::{Bitboard, CastlingSide, File, Piece, Rank, Role, Square};

use super::san::SanShape;
use super::tokenizer::San;
use orbit_core::board::lines::{BETWEEN, PAWN_REACH, REACH};
use orbit_core::board::{Code, PackedMove, Position};

/// The reason why a token that looks like a move is not a legal move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Misfit {
    /// No legal move matches the token.
    Illegal,
    /// The token matches the moves of several pieces. Their squares are given.
    Ambiguous(Bitboard),
}

/// Finds the only legal move that a SAN token can denote. The position must be legal. An `x` may be missing or superfluous;
/// everything else must match.
pub(super) fn resolve(shape: SanShape, position: Position) -> Result<PackedMove, Misfit> {
    let side = MovingSide::from_position(position);
    let (role, file, rank, to, promotion) = match shape {
        SanShape::Null => return Err(Misfit::Illegal),
        SanShape::Castle(towards) => return side.castle(towards),
        SanShape::Piece { role, file, rank, to, promotion } => (role, file, rank, to, promotion),
    };
    let role = match (role, file, rank) {
        (Some(role), ..) => role,
        (None, Some(file), Some(rank)) => {
            let from = Square::from_coords(file, rank);
            let piece = position.board.at(from).piece().ok_or(Misfit::Illegal)?;
            if piece.role == Role::King && piece.color == position.state.turn() {
                return side.king_coordinates(from, to);
            }
            piece.role
        }
        _ => Role::Pawn,
    };
    let ranks = rank.map_or(!0, |rank| Bitboard::from(rank).0);
    match role {
        Role::Pawn => side.pawn(file, ranks, to, promotion),
        _ if promotion.is_some() => Err(Misfit::Illegal),
        _ => side.piece(role as usize, ranks & file.map_or(!0, |file| Bitboard::from(file).0), to),
    }
}

/// Like [`resolve`], but for a plain SAN token.
#[inline(always)]
pub(super) fn plain(san: San, position: Position) -> Result<PackedMove, Misfit> {
    let side = MovingSide::from_position(position);
    match san {
        San::Castle(towards) => side.castle(towards),
        San::Pawn { file, to, promotion } => side.pawn(file, !0, to, promotion),
        San::Piece { role, hints, to } => side.piece(role as usize, hints, to),
    }
}

/// A legal position as seen by the side to move.
struct MovingSide {
    position: Position,
    occupied: u64,
    own: u64,
    king: Square,
}

impl MovingSide {
    #[inline(always)]
    fn from_position(position: Position) -> MovingSide {
        let [p0, p1, p2, black] = position.board.planes;
        let occupied = p0 | p1 | p2;
        let own = occupied & (black ^ (u64::from(position.state.0) & 1).wrapping_sub(1));
        let king = Square::new((p1 & p2 & own).trailing_zeros() & 63);
        MovingSide { position, occupied, own, king }
    }

    fn code(&self, role: usize) -> u32 {
        role as u32 | (self.position.state.0 & 1) << 3
    }

    /// Finds the only piece on a square of `hints` that may move to `to`, and returns its move. `role` is a number from 2 (knight)
    /// to 6 (king), as in [`REACH`].
    #[inline(always)]
    fn piece(&self, role: usize, hints: u64, to: Square) -> Result<PackedMove, Misfit> {
        let [p0, p1, p2, _] = self.position.board.planes;
        let plane = |k: usize, plane: u64| if role >> k & 1 != 0 { plane } else { !plane };
        let pieces = plane(0, p0) & plane(1, p1) & plane(2, p2) & self.own & hints;
        if self.own & bit(to) != 0 {
            return Err(Misfit::Illegal);
        }
        let mut origins = open(to, pieces & REACH[role][to as usize], self.occupied);
        if !origins.is_power_of_two() || !self.may_leave(role, origins, to) {
            origins = self.free_to_leave(role, origins, to)?;
        }
        let from = origins.trailing_zeros();
        Ok(PackedMove((from | (to as u32) << 6 | self.code(role) << 12) as u16))
    }

    /// Finds the only piece on `origins` that can move to `to` without exposing its own king.
    #[cold]
    fn free_to_leave(&self, role: usize, origins: u64, to: Square) -> Result<u64, Misfit> {
        let free = Bitboard(origins).into_iter().filter(|&from| self.may_leave(role, bit(from), to));
        let free: Bitboard = free.collect();
        match free.count() {
            0 => Err(Misfit::Illegal),
            1 => Ok(free.0),
            _ => Err(Misfit::Ambiguous(free)),
        }
    }

    /// Returns whether the moving side's king is safe from attack after the move.
    #[inline(always)]
    fn may_leave(&self, role: usize, from: u64, to: Square) -> bool {
        let king = if role == Role::King as usize { to } else { self.king };
        !self.is_attacked(king, self.occupied & !from | bit(to), bit(to))
    }

    /// Finds the only pawn that may move to `to`, and returns its move. A token without a file of origin denotes a move that is not
    /// a capture.
    #[inline(always)]
    fn pawn(
        &self,
        file: Option<File>,
        hints: u64,
        to: Square,
        promotion: Option<Role>,
    ) -> Result<PackedMove, Misfit> {
        let white = self.position.state.turn().is_white();
        let back = |set: u64| if white { set >> 8 } else { set << 8 };
        let [p0, p1, p2, _] = self.position.board.planes;
        let pawns = p0 & !p1 & !p2 & self.own & hints;
        let last = if white { 0xff << 56 } else { 0xff };
        let (target, behind) = (bit(to), back(bit(to)));
        if (target & last != 0) != promotion.is_some() {
            return Err(Misfit::Illegal);
        }
        let beside = match file.map_or(0, |file| file as i32 - to.file() as i32) {
            0 => return self.push(pawns, to, behind, back(behind), promotion),
            1 if behind & FILE_H == 0 => behind << 1,
            -1 if behind & FILE_A == 0 => behind >> 1,
            _ => return Err(Misfit::Illegal),
        };
        if beside & pawns == 0 || self.own & target != 0 {
            return Err(Misfit::Illegal);
        }
        if self.occupied & target != 0 {
            return self.pawn_to(beside, to, promotion);
        }
        let after = self.occupied & !beside & !behind | target;
        if self.position.state.en_passant() != Some(to) || self.is_attacked(self.king, after, behind) {
            return Err(Misfit::Illegal);
        }
        Ok(PackedMove::en_passant(Square::new(beside.trailing_zeros()), to))
    }

    /// Finds the pawn that may move straight ahead to `to`, by one or two squares.
    #[inline(always)]
    fn push(
        &self,
        pawns: u64,
        to: Square,
        one: u64,
        two: u64,
        promotion: Option<Role>,
    ) -> Result<PackedMove, Misfit> {
        let fourth = if self.position.state.turn().is_white() { 0xff << 24 } else { 0xff << 32 };
        let from = if self.occupied & one != 0 { one } else { two };
        if self.occupied & bit(to) != 0 || pawns & from == 0 || from == two && bit(to) & fourth == 0 {
            return Err(Misfit::Illegal);
        }
        self.pawn_to(from, to, promotion)
    }

    #[inline(always)]
    fn pawn_to(&self, from: u64, to: Square, promotion: Option<Role>) -> Result<PackedMove, Misfit> {
        if self.is_attacked(self.king, self.occupied & !from | bit(to), bit(to)) {
            return Err(Misfit::Illegal);
        }
        let code = self.code(promotion.unwrap_or(Role::Pawn) as usize);
        Ok(PackedMove((from.trailing_zeros() | (to as u32) << 6 | code << 12) as u16))
    }

    /// Returns the castling move to one side, by the rules of Chess960, which include standard chess.
    fn castle(&self, towards: CastlingSide) -> Result<PackedMove, Misfit> {
        let is_king_side = towards.is_king_side();
        let state = self.position.state;
        let rook = state.castling_rook(state.turn(), is_king_side).ok_or(Misfit::Illegal)?;
        let (king, rank) = (self.king, self.king as u32 & 56);
        let (king_to, rook_to) = if is_king_side { (rank + 6, rank + 5) } else { (rank + 2, rank + 3) };
        let (king_to, rook_to) = (Square::new(king_to), Square::new(rook_to));
        let way = between(king, king_to);
        let free = between(rook, rook_to) | way | bit(king_to) | bit(rook_to);
        let others = self.occupied & !bit(king) & !bit(rook);
        if free & others != 0 || self.is_attacked(king_to, others | bit(rook_to), 0) {
            return Err(Misfit::Illegal);
        }
        // When the king's path is checked for attacks, the rook is still on its old square, where it may block a line.
        let mut passed = Bitboard(way | bit(king)).into_iter();
        if passed.any(|square| self.is_attacked(square, others | bit(rook), 0)) {
            return Err(Misfit::Illegal);
        }
        Ok(PackedMove::castle(king, rook))
    }

    /// Finds the king move denoted by two squares. `e1g1` is castling if the king cannot move to g1 in one step, and `e1h1` is
    /// castling if its rook is on h1.
    fn king_coordinates(&self, from: Square, to: Square) -> Result<PackedMove, Misfit> {
        if let Ok(step) = self.piece(Role::King as usize, !0, to) {
            return Ok(step);
        }
        let mv = self.castle(CastlingSide::from_king_side(to > from))?;
        let is_meant = mv.to() == to
            || self.position.state.turn().relative_rank(Rank::First) == to.rank()
                && to.file() == if to > from { File::G } else { File::C };
        if is_meant { Ok(mv) } else { Err(Misfit::Illegal) }
    }

    /// Returns whether an enemy attacks a square. Pieces on the squares `occupied` block the lines of attack. Enemies on the
    /// squares `taken` are ignored.
    #[inline(always)]
    fn is_attacked(&self, square: Square, occupied: u64, taken: u64) -> bool {
        let [p0, p1, p2, _] = self.position.board.planes;
        let enemies = self.occupied & !self.own & !taken;
        let s = square as usize;
        let pawns = PAWN_REACH[self.position.state.0 as usize & 1][s];
        let steps = pawns & p0 & !p1 & !p2 | REACH[2][s] & p1 & !p0 & !p2 | REACH[6][s] & p1 & p2;
        let oblique = REACH[3][s] & p0 & (p1 | p2);
        let straight = REACH[4][s] & p2 & !p1;
        steps & enemies != 0 || open(square, (oblique | straight) & enemies, occupied) != 0
    }
}

/// Returns the squares of `others` with no occupied square between them and `square`. There are rarely more than two, so two are
/// examined without a branch.
#[inline(always)]
fn open(square: Square, others: u64, occupied: u64) -> u64 {
    let row = &BETWEEN[square as usize];
    let mut out = 0;
    let mut rest = others;
    for _ in 0..2 {
        let other = rest & rest.wrapping_neg();
        let is_open = row[rest.trailing_zeros() as usize & 63] & occupied == 0;
        out |= other & u64::from(is_open).wrapping_neg();
        rest ^= other;
    }
    while rest != 0 {
        let other = rest & rest.wrapping_neg();
        if row[rest.trailing_zeros() as usize & 63] & occupied == 0 {
            out |= other;
        }
        rest ^= other;
    }
    out
}

const FILE_A: u64 = 0x0101_0101_0101_0101;
const FILE_H: u64 = FILE_A << 7;

const fn bit(square: Square) -> u64 {
    1 << square as u32
}

fn between(a: Square, b: Square) -> u64 {
    BETWEEN[a as usize][b as usize]
}

/// Finds the only move that matches a token in an illegal position, which arises when a side in check plays a null move. Pieces
/// move as usual, no king may be captured or left in check, and castling is not possible.
pub(super) fn resolve_loosely(shape: SanShape, position: &Position) -> Result<PackedMove, Misfit> {
    let SanShape::Piece { role, file, rank, to, promotion } = shape else { return Err(Misfit::Illegal) };
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
            _ => PackedMove::piece(from, to, Code::from_piece(left)),
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

/// Returns whether an origin is on the file that a token names. A pawn move without a named file is not a capture.
fn fits_file(role: Role, file: Option<File>, from: Square, to: Square) -> bool {
    match file {
        Some(file) => file == from.file(),
        None => role != Role::Pawn || from.file() == to.file(),
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
    use shakmaty::{CastlingMode, Chess, EnPassantMode, Move, Position as _, fen::Fen};

    use super::*;

    /// Start positions whose random games have checks, pins, promotions, en passant captures and castling of all kinds.
    const STARTS: [&str; 10] = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
        "8/8/3p4/KPp4r/1R3p1k/8/4P1P1/8 w - c6 0 1",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
        "nrkbbrqn/pppppppp/8/8/8/8/PPPPPPPP/NRKBBRQN w FBfb - 0 1",
        "4k3/8/8/8/8/8/7r/R5KR w HA - 0 1",
        "1r4kr/8/8/8/8/8/8/1R4KR w HBhb - 0 1",
        "rk5r/8/2q5/8/8/5Q2/8/RK5R w HAha - 0 1",
    ];

    #[derive(Default, Debug)]
    struct Seen {
        legal: usize,
        illegal: usize,
        ambiguous: usize,
        castles: usize,
        en_passant: usize,
        promotions: usize,
        in_check: usize,
    }

    fn packed(chess: &Chess) -> Position {
        Position::from_setup(&chess.to_setup(EnPassantMode::Always))
    }

    /// Finds the only legal move that matches a shape, using shakmaty.
    fn wanted(shape: SanShape, chess: &Chess, legal: &[Move]) -> Result<Move, Misfit> {
        let castle = |side| {
            let mut castles = legal.iter().filter(|mv| mv.castling_side() == Some(side));
            castles.next().copied().ok_or(Misfit::Illegal)
        };
        let (role, file, rank, to, promotion) = match shape {
            SanShape::Null => return Err(Misfit::Illegal),
            SanShape::Castle(side) => return castle(side),
            SanShape::Piece { role, file, rank, to, promotion } => (role, file, rank, to, promotion),
        };
        let from = file.zip(rank).map(|(file, rank)| Square::from_coords(file, rank));
        let piece = from.and_then(|from| chess.board().piece_at(from));
        let role = match (role, from) {
            (Some(role), _) => role,
            (None, None) => Role::Pawn,
            (None, Some(_)) => piece.ok_or(Misfit::Illegal)?.role,
        };
        let meant = legal.iter().filter(|mv| {
            let from = mv.from().expect("there are no drops");
            !mv.is_castle()
                && mv.role() == role
                && mv.to() == to
                && (mv.promotion() == promotion || role == Role::King)
                && file.map_or(role != Role::Pawn || from.file() == to.file(), |file| file == from.file())
                && rank.is_none_or(|rank| rank == from.rank())
        });
        let meant: Vec<Move> = meant.copied().collect();
        match (&meant[..], shape, from) {
            ([mv], ..) => Ok(*mv),
            ([], SanShape::Piece { role: None, .. }, Some(from))
                if piece == Some(Piece { role: Role::King, color: chess.turn() }) =>
            {
                let towards = CastlingSide::from_king_side(to > from);
                let mv = castle(towards)?;
                let is_meant = mv.to() == to || to == towards.king_to(chess.turn());
                if is_meant { Ok(mv) } else { Err(Misfit::Illegal) }
            }
            ([], ..) => Err(Misfit::Illegal),
            (all, ..) => Err(Misfit::Ambiguous(all.iter().filter_map(|mv| mv.from()).collect())),
        }
    }

    fn compare(shape: SanShape, chess: &Chess, position: Position, legal: &[Move], seen: &mut Seen) {
        let wanted = wanted(shape, chess, legal);
        let found = resolve(shape, position);
        let packed = wanted.map(|mv| PackedMove::from_shakmaty(mv, chess.turn()));
        assert_eq!(found, packed, "{shape:?} {}", position.to_fen());
        match wanted {
            Ok(mv) => {
                seen.legal += 1;
                seen.castles += usize::from(mv.is_castle());
                seen.en_passant += usize::from(mv.is_en_passant());
                seen.promotions += usize::from(mv.is_promotion());
                seen.in_check += usize::from(chess.is_check());
            }
            Err(Misfit::Illegal) => seen.illegal += 1,
            Err(Misfit::Ambiguous(_)) => seen.ambiguous += 1,
        }
    }

    /// Compares the results of this module and of shakmaty for all shapes: all combinations of roles, named origins, targets and
    /// promotions.
    fn compare_all(chess: &Chess, seen: &mut Seen) {
        let (position, legal) = (packed(chess), chess.legal_moves());
        for side in [CastlingSide::KingSide, CastlingSide::QueenSide] {
            compare(SanShape::Castle(side), chess, position, &legal, seen);
        }
        let hints = |set: Bitboard| -> Vec<(Option<File>, Option<Rank>)> {
            let files = File::ALL.map(|file| (Some(file), None));
            let ranks = Rank::ALL.map(|rank| (None, Some(rank)));
            let squares = set.into_iter().map(|square| (Some(square.file()), Some(square.rank())));
            files.into_iter().chain(ranks).chain([(None, None)]).chain(squares).collect()
        };
        for role in [None].into_iter().chain(Role::ALL.map(Some)) {
            let pawn = matches!(role, None | Some(Role::Pawn));
            let promotions = [None, Some(Role::Queen), Some(Role::Knight)];
            for (file, rank) in hints(chess.board().occupied()) {
                for to in Square::ALL {
                    for promotion in promotions.into_iter().take(if pawn { 3 } else { 1 }) {
                        let shape = SanShape::Piece { role, file, rank, to, promotion };
                        compare(shape, chess, position, &legal, seen);
                    }
                }
            }
        }
    }

    #[test]
    fn what_resolves_is_what_is_legal() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut seen = Seen::default();
        for start in STARTS.iter().cycle().take(60) {
            let fen: Fen = start.parse().expect("a FEN");
            let mut chess: Chess = fen.into_position(CastlingMode::Chess960).expect("a legal position");
            let mut position = packed(&chess);
            for ply in 0..100 {
                let legal = chess.legal_moves();
                if legal.is_empty() {
                    break;
                }
                let rare = legal.iter().any(|mv| mv.is_castle() || mv.is_promotion());
                let passing = legal.iter().any(|mv| mv.is_en_passant());
                if ply % 8 == 0 || rare && ply % 2 == 0 || passing || chess.is_check() {
                    compare_all(&chess, &mut seen);
                }
                let mv = legal[random.usize(..legal.len())];
                position.play(PackedMove::from_shakmaty(mv, chess.turn()));
                chess.play_unchecked(mv);
                assert_eq!(position, packed(&chess), "after {mv:?}");
            }
        }
        let Seen { legal, illegal, ambiguous, castles, en_passant, promotions, in_check } = seen;
        let counts = [legal, illegal, ambiguous, castles, en_passant, promotions, in_check];
        assert!(counts.iter().all(|&count| count > 30), "{seen:?}");
    }
}
