//! Computes checks, legal moves and pseudolegal moves of a position.
//!
//! For positions that shakmaty accepts, shakmaty computes the legal moves. It rejects some positions that can occur in games:
//! positions without a king, with two kings of one colour, with a king that could be captured, or with pawns on the back ranks. For
//! these positions, and for all pseudolegal moves, this module has its own simple generator, with these rules:
//!
//! * A side is in check if any of its kings is attacked. A side without a king is never in check, mated or stalemated.
//! * A pseudolegal move may capture any piece of the other colour, even a king. Pawns move two squares only from their second
//!   rank. Castling is pseudolegal only if it is legal.
//! * A legal move is a pseudolegal move after which no king of the moving side is attacked. Without a king, all pseudolegal moves
//!   are therefore legal.
//! * Castling moves the side's first king on the back rank and the rook named by the castling right. For castling on the king's
//!   side, the rook must be on a higher file than the king, otherwise on a lower one. Castling is legal if the king is not in check
//!   and crosses and reaches no attacked square.
//! * En passant requires an enemy pawn one square past the target square. The target square and the square that the pawn came from
//!   must be empty.

use shakmaty::{Bitboard, Color, Move, Piece, Position as _, Role, Square, attacks};

use super::geometry::{square, xy};
use orbit_core::board::{Code, Position};
use orbit_query::tree::Special;

/// A move, reduced to the properties that filters test. Castling is represented by the king's move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ReducedMove {
    pub(super) from: Square,
    pub(super) to: Square,
    kind: StepKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum StepKind {
    Plain,
    EnPassant,
    Castle { rook: Square, king_side: bool },
}

impl ReducedMove {
    /// Returns the square on which the move captures, if a piece is there. For en passant, this differs from the target square.
    pub(super) fn takes_on(self) -> Square {
        match self.kind {
            StepKind::EnPassant => square(xy(self.to).0, xy(self.from).1).expect("both are on the board"),
            StepKind::Plain | StepKind::Castle { .. } => self.to,
        }
    }

    /// Returns true if the move is of the kind named in `legal --(...)`.
    pub(super) fn is(self, special: Special) -> bool {
        match special {
            Special::Any => true,
            Special::Castle => matches!(self.kind, StepKind::Castle { .. }),
            Special::KingSide => matches!(self.kind, StepKind::Castle { king_side: true, .. }),
            Special::QueenSide => matches!(self.kind, StepKind::Castle { king_side: false, .. }),
            Special::EnPassant => self.kind == StepKind::EnPassant,
        }
    }
}

/// The legal moves of a position, and whether the side to move is in check.
pub(super) struct LegalMoves {
    pub(super) check: bool,
    pub(super) has_king: bool,
    pub(super) legal: Vec<ReducedMove>,
}

impl LegalMoves {
    pub(super) fn from_position(position: &Position) -> LegalMoves {
        let placement = SquareArray::new(position);
        let has_king = placement.kings(placement.turn).next().is_some();
        match position.to_chess() {
            Ok(chess) => LegalMoves {
                check: chess.is_check(),
                has_king,
                legal: chess.legal_moves().into_iter().map(step_of).collect(),
            },
            Err(_) => LegalMoves {
                check: placement.king_attacked(placement.turn),
                has_king,
                legal: placement.legal_moves(),
            },
        }
    }
}

fn step_of(mv: Move) -> ReducedMove {
    match mv {
        Move::Normal { from, to, .. } => ReducedMove { from, to, kind: StepKind::Plain },
        Move::EnPassant { from, to } => ReducedMove { from, to, kind: StepKind::EnPassant },
        Move::Castle { king, rook } => castling(king, rook),
        Move::Put { .. } => unreachable!("orthodox chess has no drops"),
    }
}

fn castling(king: Square, rook: Square) -> ReducedMove {
    let king_side = rook > king;
    let to = on_rank_of(king, if king_side { 6 } else { 2 });
    ReducedMove { from: king, to, kind: StepKind::Castle { rook, king_side } }
}

fn on_rank_of(s: Square, file: i32) -> Square {
    square(file, xy(s).1).expect("files are 0..=7")
}

/// A position as an array of squares.
#[derive(Clone)]
pub(super) struct SquareArray {
    squares: [Option<Piece>; 64],
    occupied: Bitboard,
    pub(super) turn: Color,
    en_passant: Option<Square>,
    /// The castling rights of the side to move: the square of the rook, and a flag that is true for castling on the king's side.
    rights: Vec<(Square, bool)>,
}

impl SquareArray {
    pub(super) fn new(position: &Position) -> SquareArray {
        let (turn, occupied) = (position.state.turn(), position.board.occupied());
        let mut squares = [None; 64];
        occupied.into_iter().for_each(|s| squares[s as usize] = position.board.at(s).piece());
        SquareArray {
            squares,
            occupied,
            turn,
            en_passant: position.state.en_passant(),
            rights: [true, false]
                .into_iter()
                .filter_map(|side| position.state.castling_rook(turn, side).map(|rook| (rook, side)))
                .collect(),
        }
    }

    pub(super) fn at(&self, s: Square) -> Option<Piece> {
        self.squares[s as usize]
    }

    /// Returns the squares of each [`Code`].
    pub(super) fn by_code(&self) -> [Bitboard; 16] {
        let mut squares = [Bitboard::EMPTY; 16];
        squares[usize::from(Code::EMPTY.0)] = !self.occupied;
        let pieces = self.occupied.into_iter().filter_map(|s| Some((s, self.at(s)?)));
        pieces.for_each(|(s, piece)| squares[usize::from(Code::from_piece(piece).0)].add(s));
        squares
    }

    pub(super) fn put(&mut self, s: Square, content: Option<Piece>) {
        self.squares[s as usize] = content;
        self.occupied.set(s, content.is_some());
    }

    /// Returns the squares that the piece on `s` attacks, empty or not. The result is empty if `s` is.
    pub(super) fn attacks_from(&self, s: Square) -> Bitboard {
        self.at(s).map_or(Bitboard::EMPTY, |piece| attacks::attacks(s, piece, self.occupied))
    }

    pub(super) fn of_color(&self, color: Color) -> impl Iterator<Item = (Square, Piece)> {
        Square::ALL
            .into_iter()
            .filter_map(|s| self.at(s).map(|piece| (s, piece)))
            .filter(move |(_, piece)| piece.color == color)
    }

    pub(super) fn kings(&self, color: Color) -> impl Iterator<Item = Square> {
        self.of_color(color).filter(|(_, piece)| piece.role == Role::King).map(|(s, _)| s)
    }

    fn attacked_by(&self, color: Color, target: Square) -> bool {
        self.of_color(color).any(|(s, _)| self.attacks_from(s).contains(target))
    }

    fn king_attacked(&self, color: Color) -> bool {
        self.kings(color).any(|king| self.attacked_by(!color, king))
    }

    /// Returns all moves of the side to move, including moves that leave a king attacked. A promotion is listed once, not once for
    /// each piece.
    pub(super) fn pseudolegal_moves(&self) -> Vec<ReducedMove> {
        let mut out = Vec::new();
        for (from, piece) in self.of_color(self.turn) {
            if piece.role == Role::Pawn {
                self.pawn_moves(from, &mut out);
                continue;
            }
            for to in self.attacks_from(from) {
                if self.at(to).is_none_or(|target| target.color != self.turn) {
                    out.push(ReducedMove { from, to, kind: StepKind::Plain });
                }
            }
        }
        let castlings = self.rights.iter().filter_map(|&(rook, side)| self.castling(rook, side));
        out.extend(castlings.filter(|&castling| self.is_legal(castling)));
        out
    }

    fn pawn_moves(&self, from: Square, out: &mut Vec<ReducedMove>) {
        let (x, y) = xy(from);
        let (up, second) = if self.turn.is_white() { (1, 1) } else { (-1, 6) };
        let empty = |s: Option<Square>| s.filter(|&s| self.at(s).is_none());
        if let Some(to) = empty(square(x, y + up)) {
            out.push(ReducedMove { from, to, kind: StepKind::Plain });
            if y == second
                && let Some(to) = empty(square(x, y + 2 * up))
            {
                out.push(ReducedMove { from, to, kind: StepKind::Plain });
            }
        }
        for to in [square(x - 1, y + up), square(x + 1, y + up)].into_iter().flatten() {
            if self.at(to).is_some_and(|target| target.color != self.turn) {
                out.push(ReducedMove { from, to, kind: StepKind::Plain });
            }
            if self.en_passant == Some(to) && self.en_passant_possible(to) {
                out.push(ReducedMove { from, to, kind: StepKind::EnPassant });
            }
        }
    }

    /// Returns true if the pieces stand as they can after a pawn has moved two squares, passing over `s`.
    fn en_passant_possible(&self, s: Square) -> bool {
        let (x, y) = xy(s);
        let (up, sixth) = if self.turn.is_white() { (1, 5) } else { (-1, 2) };
        let at = |y| square(x, y).and_then(|s| self.at(s));
        let passed = at(y - up) == Some(Piece { color: !self.turn, role: Role::Pawn });
        y == sixth && passed && self.at(s).is_none() && at(y + up).is_none()
    }

    /// Returns the castling move for a castling right, or `None` if the king or the rook is not in its place or a piece is in the
    /// way.
    fn castling(&self, rook: Square, king_side: bool) -> Option<ReducedMove> {
        let back = xy(rook).1;
        let king = self.kings(self.turn).find(|&king| xy(king).1 == back)?;
        let stands = self.at(rook) == Some(Piece { color: self.turn, role: Role::Rook });
        if !stands || king_side != (rook > king) {
            return None;
        }
        let step = castling(king, rook);
        let rook_to = on_rank_of(king, if king_side { 5 } else { 3 });
        let clear = run(king, step.to)
            .chain(run(rook, rook_to))
            .all(|s| s == king || s == rook || self.at(s).is_none());
        clear.then_some(step)
    }

    fn legal_moves(&self) -> Vec<ReducedMove> {
        self.pseudolegal_moves().into_iter().filter(|&step| self.is_legal(step)).collect()
    }

    fn is_legal(&self, step: ReducedMove) -> bool {
        if let StepKind::Castle { .. } = step.kind {
            let king = self.at(step.from);
            let unattacked = |s: Square| {
                let mut there = self.clone();
                there.put(step.from, None);
                // In Chess960, the king may pass over its own rook.
                there.put(s, king);
                !there.attacked_by(!self.turn, s)
            };
            if self.king_attacked(self.turn) || !run(step.from, step.to).all(unattacked) {
                return false;
            }
        }
        !self.after(step).king_attacked(self.turn)
    }

    /// Returns the board after a move. A promoted pawn remains a pawn, because this method is only used to find attacks on the
    /// moving side's king.
    fn after(&self, step: ReducedMove) -> SquareArray {
        let mut out = self.clone();
        let mover = self.at(step.from);
        out.put(step.from, None);
        match step.kind {
            StepKind::Plain => {}
            StepKind::EnPassant => {
                out.put(step.takes_on(), None);
            }
            StepKind::Castle { rook, king_side } => {
                out.put(rook, None);
                out.put(on_rank_of(rook, if king_side { 5 } else { 3 }), self.at(rook));
            }
        }
        out.put(step.to, mover);
        out
    }
}

/// Returns the squares from `a` to `b`, both included, on one rank.
fn run(a: Square, b: Square) -> impl Iterator<Item = Square> {
    (a.min(b) as u32..=a.max(b) as u32).map(Square::new)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use shakmaty::{CastlingMode, Chess, FromSetup as _, fen::Fen};

    use super::*;

    fn position(fen: &str) -> Position {
        Position::from_setup(&fen.parse::<Fen>().unwrap().into_setup())
    }

    fn names(steps: &[ReducedMove]) -> BTreeSet<String> {
        steps.iter().map(|step| format!("{}{}", step.from, step.to)).collect()
    }

    fn pairs(steps: &[ReducedMove]) -> BTreeSet<(Square, Square, bool, bool)> {
        let flags = |step: &ReducedMove| (step.is(Special::Castle), step.is(Special::EnPassant));
        steps.iter().map(|step| (step.from, step.to, flags(step).0, flags(step).1)).collect()
    }

    /// Compares this module's generator of legal moves with shakmaty in all positions of random games.
    #[test]
    fn own_legal_moves_are_shakmatys() {
        let starts = [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
            "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
            "nrbqkbrn/pppppppp/8/8/8/8/PPPPPPPP/NRBQKBRN w GBgb - 0 1",
            "1rqbkrbn/1ppppp1p/1n6/p1N3p1/8/2P4P/PP1PPPP1/1RQBKRBN w FBfb - 0 9",
            "rk2r3/8/8/8/8/8/8/RK2R3 w EAea - 0 1",
        ];
        let mut random = fastrand::Rng::with_seed(7);
        let (mut castlings, mut en_passants, mut checks) = (0, 0, 0);
        for round in 0..210 {
            let setup = starts[round % starts.len()].parse::<Fen>().unwrap().into_setup();
            let mut chess = Chess::from_setup(setup, CastlingMode::Chess960).unwrap();
            for _ in 0..80 {
                let packed = Position::from_setup(&chess.to_setup(shakmaty::EnPassantMode::Always));
                let placement = SquareArray::new(&packed);
                let theirs: Vec<ReducedMove> = chess.legal_moves().into_iter().map(step_of).collect();
                let ours = placement.legal_moves();
                assert_eq!(pairs(&ours), pairs(&theirs), "{}", packed.to_fen());
                assert_eq!(placement.king_attacked(placement.turn), chess.is_check());
                castlings += theirs.iter().filter(|step| step.is(Special::Castle)).count();
                en_passants += theirs.iter().filter(|step| step.is(Special::EnPassant)).count();
                checks += usize::from(chess.is_check());
                let moves = chess.legal_moves();
                if moves.is_empty() {
                    break;
                }
                chess.play_unchecked(moves[random.usize(..moves.len())]);
            }
        }
        assert!(castlings > 100 && en_passants > 20 && checks > 100, "{castlings} {en_passants} {checks}");
    }

    #[test]
    fn pseudolegal_moves_ignore_the_safety_of_the_king() {
        let pinned = SquareArray::new(&position("4r1k1/8/8/8/8/8/4N3/R3K2R w KQ - 0 1"));
        assert!(names(&pinned.pseudolegal_moves()).contains("e2c3"));
        assert!(!names(&pinned.legal_moves()).contains("e2c3"));
        let through_check = SquareArray::new(&position("5rk1/8/8/8/8/8/8/R3K2R w KQ - 0 1"));
        let castlings = |steps: Vec<ReducedMove>| {
            names(&steps.into_iter().filter(|step| step.is(Special::Castle)).collect::<Vec<_>>())
        };
        // Pseudolegal castling also excludes castling through check: CQL allows castling only if it is legal.
        assert_eq!(castlings(through_check.pseudolegal_moves()), BTreeSet::from(["e1c1".into()]));
        assert_eq!(castlings(through_check.legal_moves()), BTreeSet::from(["e1c1".into()]));
    }

    #[test]
    fn placements_that_cannot_be_played_have_moves_all_the_same() {
        let kingless = LegalMoves::from_position(&position("8/8/8/8/8/8/4r3/R7 w - - 0 1"));
        assert!(!kingless.has_king && !kingless.check);
        assert_eq!(kingless.legal.len(), 14);
        // One of two kings is attacked. Only moves after which neither king is attacked are legal.
        let two = LegalMoves::from_position(&position("4r1k1/8/8/8/8/8/8/K3K3 w - - 0 1"));
        assert!(two.check);
        assert_eq!(names(&two.legal), BTreeSet::from(["e1d1", "e1d2", "e1f1", "e1f2"].map(String::from)));
        // A king that is attacked while the other side is to move may be captured.
        let hanging = LegalMoves::from_position(&position("4k3/8/8/8/8/8/8/4R2K w - - 0 1"));
        assert!(!hanging.check && names(&hanging.legal).contains("e1e8"));
    }
}
