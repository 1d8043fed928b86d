//! Computes the moves of one position as sets of squares, without a move list.
//!
//! Positions are seen from the side to move, whose pawns go up the board. [`View::ordinary`] has no branches and no tables, so the
//! compiler can vectorise a loop over positions. It counts moves without listing them: two pieces never reach the same square in
//! the same direction, so the number of squares reached in a direction is the number of moves.
//!
//! The functions of this module require that the side to move has at most one king. [`legal`](super::legal) lists the moves of any
//! placement.

use super::{State, attacks};

/// The value of `WHAT` for which [`View::ordinary`] computes the squares on which moves end. A castling move ends on the king's
/// final square.
pub const ARRIVALS: u8 = 0;
/// The value of `WHAT` for which [`View::ordinary`] computes the squares from which moves start.
pub const ORIGINS: u8 = 1;
/// The value of `WHAT` for which [`View::ordinary`] counts moves. All promotions of a pawn to one square count as one move. So do
/// castling and a king's step between the same two squares.
pub const PAIRS: u8 = 2;

const RANK_1: u64 = 0xff;
const RANK_3: u64 = 0xff << 16;
const RANK_6: u64 = 0xff << 40;

/// The kinds of moves to compute for one position.
#[derive(Clone, Copy, Debug)]
pub struct MoveRequest {
    /// True to include moves that leave a king attacked.
    pub pseudo: bool,
    /// True to include ordinary moves, which are neither castling nor en passant captures.
    pub ordinary: bool,
    /// True to include castling: the first element for castling towards the h-file, the second for castling towards the a-file.
    pub castling: [bool; 2],
    /// True to include en passant captures.
    pub en_passant: bool,
}

/// A position from the point of view of the side to move, whose pawns go up the board. If Black is to move, all sets have their
/// ranks mirrored.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// A mask: all ones if Black is to move, otherwise 0.
    black: u64,
    own: u64,
    enemies: u64,
    pawns: u64,
    knights: u64,
    /// Bishops and queens.
    oblique: u64,
    /// Rooks and queens.
    straight: u64,
    kings: u64,
    /// The square that an enemy pawn just passed over in a double step. The set is empty if the position has no such square, or if
    /// the placement of the pieces shows that no pawn can just have passed over it.
    passed: u64,
    /// The castling rights of the side to move, as in [`State`]: the low nibble for the king side, the high nibble for the queen
    /// side.
    rights: u32,
}

/// The sets of squares used to exclude moves that would leave the king attacked.
struct Safety {
    /// The squares to which pieces other than the king may move: all squares or, in check, only squares that end the check.
    evasions: u64,
    /// The pinned pieces, in one set for each pair of opposite directions. Directions are numbered counter-clockwise from the
    /// right, so the pairs are 0 and 4, 1 and 5, 2 and 6, 3 and 7.
    pinned: [u64; 4],
    /// The squares that enemy pieces attack once the king is removed from the board. The king may not move there.
    danger: u64,
}

#[inline(always)]
const fn mask(value: bool) -> u64 {
    (value as u64).wrapping_neg()
}

/// Returns `set` with its ranks mirrored if `black` is all ones, and unchanged if it is 0.
#[inline(always)]
const fn turned(set: u64, black: u64) -> u64 {
    set.swap_bytes() & black | set & !black
}

impl View {
    /// Creates the view of the position with the given bit planes and state.
    #[inline(always)]
    pub const fn new(planes: [u64; 4], state: State) -> View {
        let black = mask(state.0 & 1 != 0);
        let [p0, p1, p2, p3] = planes;
        let [p0, p1, p2, p3] = [turned(p0, black), turned(p1, black), turned(p2, black), turned(p3, black)];
        let occupied = p0 | p1 | p2;
        let own = occupied & (p3 ^ !black);
        let mut view = View {
            black,
            own,
            enemies: occupied & !own,
            pawns: p0 & !p1 & !p2,
            knights: p1 & !p0 & !p2,
            oblique: p0 & (p1 ^ p2),
            straight: p2 & !p1,
            kings: p1 & p2,
            passed: 0,
            rights: state.0 >> 16 >> (8 * (state.0 & 1)) & 0xff,
        };
        let square = state.0 >> 8 & 0xff;
        let passed = turned(1 << (square & 63), black) & mask(square < 64) & RANK_6 & !occupied;
        view.passed = passed & !(occupied >> 8) & (view.pawns & view.enemies) << 8;
        view
    }

    #[inline(always)]
    const fn empty(&self) -> u64 {
        !(self.own | self.enemies)
    }

    /// Returns the enemy queens, rooks and bishops that slide along a direction.
    #[inline(always)]
    const fn enemy_sliders(&self, dir: u8) -> u64 {
        self.enemies & if dir.is_multiple_of(2) { self.straight } else { self.oblique }
    }

    /// Returns the kings of the side to move.
    #[inline(always)]
    pub const fn own_kings(&self) -> u64 {
        self.kings & self.own
    }

    /// Returns whether the side to move has several kings. In that case, all other functions of this module return wrong results.
    #[inline(always)]
    pub const fn has_several_kings(&self) -> bool {
        let kings = self.own_kings();
        kings & kings.wrapping_sub(1) != 0
    }

    /// Returns all ones if [`View::ordinary`] may miss moves: castling or an en passant capture may be possible, or the side to
    /// move has several kings. Otherwise returns 0.
    #[inline(always)]
    pub const fn is_special(&self) -> u64 {
        let kings = self.own_kings();
        let castlers = kings & RANK_1 & mask(self.rights != 0);
        // Castling needs empty squares between king and rook, so the rook is the nearest piece beside the king.
        let beside =
            attacks::slide::<0>(castlers, self.empty()) | attacks::slide::<4>(castlers, self.empty());
        let rooks = beside & self.own & self.straight;
        let takers = attacks::pawn::<false>(self.passed) & self.own & self.pawns;
        mask(self.has_several_kings()) | mask(rooks | takers != 0)
    }

    #[inline(always)]
    fn safety<const PSEUDO: bool>(&self) -> Safety {
        let mut safety = Safety { evasions: !0, pinned: [0; 4], danger: 0 };
        if PSEUDO {
            return safety;
        }
        let (king, enemies) = (self.own_kings(), self.enemies);
        safety.danger = attacks::pawn::<false>(self.pawns & enemies)
            | attacks::knight(self.knights & enemies)
            | attacks::king(self.kings & enemies);
        let checkers = attacks::pawn::<true>(king) & self.pawns & enemies
            | attacks::knight(king) & self.knights & enemies
            | attacks::king(king) & self.kings & enemies;
        let one = mask(checkers & checkers.wrapping_sub(1) == 0);
        safety.evasions = mask(checkers == 0) | checkers & one;
        self.look::<0, 4>(&mut safety);
        self.look::<1, 5>(&mut safety);
        self.look::<2, 6>(&mut safety);
        self.look::<3, 7>(&mut safety);
        self.look::<4, 0>(&mut safety);
        self.look::<5, 1>(&mut safety);
        self.look::<6, 2>(&mut safety);
        self.look::<7, 3>(&mut safety);
        safety
    }

    /// Examines the line from the king in the direction `DIR`; `BACK` is the opposite direction. Adds to `safety` the piece that is
    /// pinned on the line and the squares that enemy sliders attack in the direction `BACK`. Restricts `evasions` if a slider on
    /// the line gives check.
    #[inline(always)]
    const fn look<const DIR: u8, const BACK: u8>(&self, safety: &mut Safety) {
        let (king, sliders) = (self.own_kings(), self.enemy_sliders(DIR));
        let line = attacks::slide::<DIR>(king, self.empty());
        let attacked = attacks::slide::<BACK>(sliders, self.empty() | king);
        safety.danger |= attacked;
        safety.evasions &= line | mask(line & sliders == 0);
        safety.pinned[DIR as usize % 4] |= line & attacked & self.own;
    }

    /// Evaluates the ordinary moves (neither castling nor en passant captures) from squares of `from` to squares of `to`. `WHAT`
    /// selects the result: [`ARRIVALS`], [`ORIGINS`] or [`PAIRS`]. The side to move must not have several kings.
    #[inline(always)]
    pub fn ordinary<const WHAT: u8, const PSEUDO: bool>(&self, from: u64, to: u64) -> u64 {
        let (from, to) = (turned(from, self.black), turned(to, self.black));
        let safety = self.safety::<PSEUDO>();
        let movers = self.own & from;
        let to = to & !self.own;
        let king_to = to & !safety.danger;
        let king = self.kings & movers;
        let mut out = match WHAT {
            ORIGINS => attacks::king(king_to) & king,
            _ => leaps::<WHAT>(attacks::king(king), king_to, 0),
        };
        let to = to & safety.evasions;
        let [p0, p1, p2, p3] = safety.pinned;
        let free = movers & !(p0 | p1 | p2 | p3);
        out = knights::<WHAT>(self.knights & free, to, out);
        let empty = self.empty();
        let along = [free | movers & p0, free | movers & p1, free | movers & p2, free | movers & p3];
        out = slides::<0, 4, WHAT>(self.straight & along[0], empty, to, out);
        out = slides::<4, 0, WHAT>(self.straight & along[0], empty, to, out);
        out = slides::<2, 6, WHAT>(self.straight & along[2], empty, to, out);
        out = slides::<6, 2, WHAT>(self.straight & along[2], empty, to, out);
        out = slides::<1, 5, WHAT>(self.oblique & along[1], empty, to, out);
        out = slides::<5, 1, WHAT>(self.oblique & along[1], empty, to, out);
        out = slides::<3, 7, WHAT>(self.oblique & along[3], empty, to, out);
        out = slides::<7, 3, WHAT>(self.oblique & along[3], empty, to, out);
        let step = attacks::one::<2>(self.pawns & along[2]) & empty;
        let double = attacks::one::<2>(step & RANK_3) & empty & to;
        let step = step & to;
        let right = attacks::one::<1>(self.pawns & along[1]) & self.enemies & to;
        let left = attacks::one::<3>(self.pawns & along[3]) & self.enemies & to;
        match WHAT {
            PAIRS => {
                let pairs = step.count_ones() + double.count_ones() + right.count_ones() + left.count_ones();
                out + pairs as u64
            }
            ORIGINS => {
                let back = step >> 8 | double >> 16 | attacks::one::<5>(right) | attacks::one::<7>(left);
                turned(out | back, self.black)
            }
            _ => turned(out | step | double | right | left, self.black),
        }
    }

    /// Returns `ordinary`, the result of [`View::ordinary`], with castling and en passant captures added.
    pub fn special<const WHAT: u8>(&self, asked: MoveRequest, from: u64, to: u64, ordinary: u64) -> u64 {
        let (from, to) = (turned(from, self.black), turned(to, self.black));
        let takers = if asked.en_passant { self.takers(asked.pseudo, from, to) } else { 0 };
        let arrivals = [true, false].into_iter().zip(asked.castling).filter(|&(_, asked)| asked);
        let arrivals = arrivals.fold(0, |set, (king_side, _)| set | self.castling(king_side)) & to;
        let castlers = mask(arrivals != 0) & self.own_kings() & from;
        let arrivals = arrivals & mask(castlers != 0);
        match WHAT {
            PAIRS => {
                // In Chess960 a king may castle to a square to which it can also step. Both moves have the same origin and target,
                // so this pair of squares is counted only once.
                let steps = attacks::king(castlers) & !self.own & mask(asked.ordinary);
                ordinary + u64::from((arrivals & !steps).count_ones() + takers.count_ones())
            }
            ORIGINS => ordinary | turned(takers | castlers, self.black),
            _ => {
                let passed = self.passed & mask(takers != 0);
                ordinary | turned(passed | arrivals, self.black)
            }
        }
    }

    /// Returns the pawns on squares of `from` that may capture en passant. The result is empty if the en passant square is not in
    /// `to`.
    fn takers(&self, pseudo: bool, from: u64, to: u64) -> u64 {
        let passed = self.passed & to;
        let beside = attacks::pawn::<false>(passed) & self.pawns & self.own & from;
        let sides = [attacks::one::<5>(passed) & beside, attacks::one::<7>(passed) & beside];
        let safe = |taker: u64| taker != 0 && (pseudo || self.may_take(taker));
        sides.into_iter().filter(|&taker| safe(taker)).fold(0, |set, taker| set | taker)
    }

    /// Returns whether the king is safe after the pawn on `taker` captures en passant.
    fn may_take(&self, taker: u64) -> bool {
        let (king, taken) = (self.own_kings(), self.passed >> 8);
        let enemies = self.enemies & !taken;
        let empty = (self.empty() | taker | taken) & !self.passed;
        let near = attacks::pawn::<true>(king) & self.pawns
            | attacks::knight(king) & self.knights
            | attacks::king(king) & self.kings;
        let far = |dir: u8| {
            let sliders = if dir.is_multiple_of(2) { self.straight } else { self.oblique };
            attacks::slide_dir(dir, king, empty) & sliders
        };
        (0..8).fold(near, |set, dir| set | far(dir)) & enemies == 0
    }

    /// Returns the king's final square if the king can castle to the given side, otherwise 0.
    fn castling(&self, king_side: bool) -> u64 {
        let nibble = self.rights >> if king_side { 0 } else { 4 } & 15;
        let king = self.own_kings() & RANK_1;
        let rook = 1u64 << (nibble & 7);
        let stands = self.own & self.straight & !self.oblique & rook != 0;
        if nibble & 8 == 0 || king == 0 || !stands || (rook > king) != king_side {
            return 0;
        }
        let (king_to, rook_to) = if king_side { (1 << 6, 1 << 5) } else { (1 << 2, 1 << 3) };
        let king_path = span(king, king_to);
        let others = !self.empty() & !king & !rook;
        if (king_path | span(rook, rook_to)) & others != 0 || self.safety::<false>().danger & king_path != 0 {
            return 0;
        }
        // Before castling the rook may have shielded the king's new square from an enemy slider. Only sliders on the rank matter,
        // since the rook stays on it.
        let empty = !(others | rook_to);
        let beside = attacks::slide::<0>(king_to, empty) | attacks::slide::<4>(king_to, empty);
        if beside & self.enemy_sliders(0) != 0 { 0 } else { king_to }
    }
}

/// Returns the squares of the first rank from `a` to `b`, both included. Each argument is a set of one square.
const fn span(a: u64, b: u64) -> u64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    (high << 1) - low
}

/// Adds to `out` the moves that end on squares of `reached & to`: their number if `WHAT` is [`PAIRS`], otherwise their squares. No
/// square of `reached` may be reached by two pieces.
#[inline(always)]
const fn leaps<const WHAT: u8>(reached: u64, to: u64, out: u64) -> u64 {
    if WHAT == PAIRS { out + (reached & to).count_ones() as u64 } else { out | reached & to }
}

#[inline(always)]
const fn knights<const WHAT: u8>(movers: u64, to: u64, mut out: u64) -> u64 {
    match WHAT {
        ORIGINS => return out | attacks::knight(to) & movers,
        ARRIVALS => return out | attacks::knight(movers) & to,
        _ => {}
    }
    let (right, left) = (attacks::one::<0>(movers), attacks::one::<4>(movers));
    out = leaps::<WHAT>(right << 16, to, out);
    out = leaps::<WHAT>(right >> 16, to, out);
    out = leaps::<WHAT>(left << 16, to, out);
    out = leaps::<WHAT>(left >> 16, to, out);
    let (right, left) = (attacks::one::<0>(right), attacks::one::<4>(left));
    out = leaps::<WHAT>(right << 8, to, out);
    out = leaps::<WHAT>(right >> 8, to, out);
    out = leaps::<WHAT>(left << 8, to, out);
    leaps::<WHAT>(left >> 8, to, out)
}

#[inline(always)]
const fn slides<const DIR: u8, const BACK: u8, const WHAT: u8>(
    movers: u64,
    empty: u64,
    to: u64,
    out: u64,
) -> u64 {
    if WHAT == ORIGINS {
        return out | attacks::slide::<BACK>(to, empty) & movers;
    }
    leaps::<WHAT>(attacks::slide::<DIR>(movers, empty), to, out)
}
