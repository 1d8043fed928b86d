//! The quickest way through plain movetext: words are found with masks over 64 bytes, and a usual move is read, checked and
//! played without a branch on what it says.
//!
//! It knows the moves that [`San`] can say, their numbers, and blanks without an empty line. What it does not know it leaves,
//! with the blanks and numbers before it, to [`Tokenizer::plain`](super::tokenizer::Tokenizer::plain) and so to the general tokenizer. A move that is not
//! usual (a promotion, a capture in passing, one of several pieces of which others are pinned) is resolved by
//! [`resolve::plain`], and the quick way goes on after it. Games with castling rights that standard chess does not have go the other ways.
//!
//! Invariant: games, offsets and faults are those of the ways behind it.

mod classes;
mod says;
mod tables;
#[cfg(test)]
mod tests;
mod words;

pub(super) use self::classes::Level;

use shakmaty::{CastlingSide, Square};

use self::classes::Classify;
use self::says::Says;
use self::tables::{AROUND, FROM, HINTS, LETTERS, Letter, RIGHTS};
use self::words::{BLOCK, FirstWords, SPAN, WORDS, Words};
use super::lex::window;
use super::resolve;
use super::tokenizer::San;
use crate::board::lines::BETWEEN;
use crate::board::{Board, PackedMove, Position, State};

/// Plays the moves at the beginning of `text[from..]`, which must be plain movetext of a main line: no variation is open and no empty line
/// stands before it. Adds them, and the positions after them, to the game; tells where reading goes on, and the
/// position there.
pub(super) fn play(
    level: Level,
    text: &[u8],
    from: usize,
    position: Position,
    game: Line<'_>,
) -> (usize, Position) {
    if !may_begin(text, from) {
        return (from, position);
    }
    match level {
        Level::Base(classify) => play_with(classify, text, from, position, game),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2(classify) => {
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
            fn avx2(
                classify: classes::Avx2,
                text: &[u8],
                from: usize,
                position: Position,
                game: Line<'_>,
            ) -> (usize, Position) {
                play_with(classify, text, from, position, game)
            }
            #[expect(unsafe_code, reason = "code for another instruction set")]
            // SAFETY: the value exists only where the processor has these instructions.
            unsafe {
                avx2(classify, text, from, position, game)
            }
        }
    }
}

/// The moves of a main line, and the positions after them.
pub(super) struct Line<'a> {
    pub(super) moves: &'a mut Vec<PackedMove>,
    pub(super) positions: &'a mut Vec<Position>,
}

/// Whether a word or a number begins here or after a blank: where comments follow each move, no block is looked at.
fn may_begin(text: &[u8], from: usize) -> bool {
    match text.get(from..from + 2) {
        Some([b' ' | b'\n', next]) => next.is_ascii_alphanumeric(),
        Some([first, _]) => first.is_ascii_alphanumeric(),
        _ => false,
    }
}

#[inline(always)]
fn play_with(
    classify: impl Classify,
    text: &[u8],
    from: usize,
    position: Position,
    Line { moves, positions }: Line<'_>,
) -> (usize, Position) {
    let mut men = Men::of(position);
    let mut at = from;
    if !men.has_usual_rights() {
        return (at, position);
    }
    while let Some(span) = text.get(at..).and_then(|rest| rest.first_chunk::<SPAN>()) {
        let (block, _) = span.split_first_chunk::<BLOCK>().expect("a span is longer than a block");
        let found = classify.classes(block).words();
        let words = found.starts.count_ones().min(WORDS as u32) as usize;
        if words == 0 {
            break;
        }
        let says = classify.says(&FirstWords::of(span, found));
        moves.reserve(words);
        positions.reserve(words);
        let mut played = 0;
        let slots = moves.spare_capacity_mut().iter_mut().zip(positions.spare_capacity_mut());
        for (says, (move_slot, position_slot)) in says[..words].iter().zip(slots) {
            let usual = if men.state & 1 == 0 { men.play::<0>(*says) } else { men.play::<1>(*says) };
            let mv = match usual {
                Some(mv) => mv,
                None => {
                    let Some((mv, after)) = unusual(span, found, played, men) else { break };
                    men = after;
                    mv
                }
            };
            move_slot.write(mv);
            position_slot.write(men.position());
            played += 1;
        }
        #[expect(unsafe_code, reason = "a capacity that is looked at once for all words of a block")]
        // SAFETY: so many slots after the length were written, of both.
        unsafe {
            moves.set_len(moves.len() + played);
            positions.set_len(positions.len() + played);
        }
        if played < words {
            at += played.checked_sub(1).map_or(0, |last| found.word(last).end);
            break;
        }
        at += found.word(words - 1).end;
    }
    (at, men.position())
}

/// Castles, or plays a plain move by the way of all moves.
#[cold]
#[inline(never)]
fn unusual(span: &[u8; SPAN], found: Words, word: usize, mut men: Men) -> Option<(PackedMove, Men)> {
    let word = found.word(word);
    let (san, _) = San::read(window(span, word.start)?).filter(|&(_, length)| length == word.len())?;
    if let San::Castle(towards) = san {
        let mv = if men.state & 1 == 0 { men.castle::<0>(towards) } else { men.castle::<1>(towards) }?;
        return Some((mv, men));
    }
    let mut position = men.position();
    let mv = resolve::plain(san, position).ok()?;
    position.play(mv);
    Some((mv, Men::of(position)))
}

/// A legal position as its side to move sees it.
#[derive(Clone, Copy)]
struct Men {
    /// The roles of pieces, as in [`Board`].
    roles: [u64; 3],
    own: u64,
    other: u64,
    state: u32,
}

impl Men {
    #[inline(always)]
    fn of(position: Position) -> Men {
        let [p0, p1, p2, black] = position.board.planes;
        let occupied = p0 | p1 | p2;
        let own = occupied & (black ^ (u64::from(position.state.0) & 1).wrapping_sub(1));
        Men { roles: [p0, p1, p2], own, other: occupied ^ own, state: position.state.0 }
    }

    #[inline(always)]
    fn position(&self) -> Position {
        let Men { roles: [p0, p1, p2], own, other, state } = *self;
        let black = if state & 1 == 0 { other } else { own };
        Position { board: Board { planes: [p0, p1, p2, black] }, state: State(state) }
    }

    /// Whether the rights to castle are those of standard chess: [`RIGHTS`] knows no others.
    fn has_usual_rights(&self) -> bool {
        let rights = self.state >> 16;
        let held = rights >> 3 & 0x1111;
        let kings = self.roles[1] & self.roles[2];
        let white = if self.state & 1 == 0 { self.own } else { self.other };
        let stands = |king: u64, color: u64, held: u32| held == 0 || kings & color == king;
        rights == ((held * 15) & 0x8f8f)
            && stands(1 << 4, white, held & 0x0011)
            && stands(1 << 60, !white, held & 0x1100)
    }

    /// Plays the move that a word says, if it is a usual one and legal. Where it is not, nothing changes.
    #[inline(always)]
    fn play<const COLOR: usize>(&mut self, says: Says) -> Option<PackedMove> {
        if says.is_other() {
            return None;
        }
        let Says(says) = says;
        let Men { roles: [p0, p1, p2], own, other, state } = *self;
        let (to, hint, first) = (says as u32 & 63, says >> 8 & 511, says >> 24 & 255);
        let is_pawn = first as u32 >> 5 & 1;
        let &Letter { inverted: [n0, n1, n2], role } = &LETTERS[first as usize];
        // The pieces that may have been meant: mostly one. Of several, those with a free way are; two are looked at.
        let occupied = own | other;
        let target = 1u64 << to;
        let pieces = own & (p0 ^ n0) & (p1 ^ n1) & (p2 ^ n2);
        let all = pieces & HINTS[hint as usize] & FROM[COLOR][(role as usize & 7) << 6 | to as usize];
        let ways = &BETWEEN[to as usize];
        let (mut origin, mut rest) = (all, 0);
        if all & all.wrapping_sub(1) != 0 {
            let (first, others) = first_open(ways, all, occupied);
            let (second, others) = first_open(ways, others, occupied);
            (origin, rest) = (first | second, others);
        }
        let from = origin.trailing_zeros() & 63;
        // A pawn takes if and only if it leaves its file.
        let is_taken = (other >> to) as u32 & 1;
        let stays_on_file = u32::from((from ^ to) & 7 == 0);
        let pawn_errs = is_pawn & (is_taken ^ stays_on_file ^ 1);
        let way = ways[from as usize] & occupied;
        let errs = rest | way | own & target | u64::from(pawn_errs) | origin & origin.wrapping_sub(1);
        if errs != 0 || origin == 0 {
            return None;
        }
        // No enemy may see the king afterwards.
        let king = (p1 & p2 & own).trailing_zeros() & 63;
        let king = if role == 6 { to } else { king } as usize;
        let enemies = other & !target;
        if self.seen::<COLOR>(king, enemies, occupied & !origin | target) != 0 {
            return None;
        }
        // The square that a pawn passes over, without a branch: openings are hard to foretell.
        let is_double = is_pawn & u32::from(from ^ to == 16);
        let passed = 64 ^ (64 ^ 24 ^ from) & is_double.wrapping_neg();
        let rights = state & 0xffff_0000 & RIGHTS[from as usize] & RIGHTS[to as usize];
        let keep = !(origin | target);
        *self = Men {
            roles: [p0 & keep | target & !n0, p1 & keep | target & !n1, p2 & keep | target & !n2],
            own: enemies,
            other: own & !origin | target,
            state: rights | passed << 8 | (COLOR as u32 ^ 1),
        };
        Some(PackedMove((from | to << 6 | role << 12) as u16 | (COLOR as u16) << 15))
    }

    /// Those of `enemies` that attack a square where `occupied` squares are in the way.
    #[inline(always)]
    fn seen<const COLOR: usize>(&self, square: usize, enemies: u64, occupied: u64) -> u64 {
        let [p0, p1, p2] = self.roles;
        let around = &AROUND[square];
        let steps = around[COLOR] & p0 & !p1 & !p2 | around[2] & p1 & !p0 & !p2 | around[3] & p1 & p2;
        let far = (around[4] & p0 & (p1 | p2) | around[5] & p2 & !p1) & enemies;
        // There are mostly two at most: these are looked at without a branch.
        let ways = &BETWEEN[square];
        let (seen_1, rest) = first_open(ways, far, occupied);
        let (seen_2, mut rest) = first_open(ways, rest, occupied);
        let mut seen = seen_1 | seen_2 | steps & enemies;
        while rest != 0 {
            let (seen_more, others) = first_open(ways, rest, occupied);
            (seen, rest) = (seen | seen_more, others);
        }
        seen
    }

    /// Castles as in standard chess, if that is legal. Where it is not, nothing changes.
    fn castle<const COLOR: usize>(&mut self, towards: CastlingSide) -> Option<PackedMove> {
        let Men { roles: [p0, p1, p2], own, other, state } = *self;
        let back = 56 * COLOR;
        // Files: king and rook after the move, the rook before, those to be free, those that the king is on.
        let (king_to, rook_to, rook, free, way) = match towards {
            CastlingSide::KingSide => (6, 5, 7, 0x60, 4..7),
            CastlingSide::QueenSide => (2, 3, 0, 0x0e, 2..5),
        };
        let right = 8 << if towards.is_king_side() { 0 } else { 4 };
        let occupied = own | other;
        let king = 1 << (back + 4);
        if state >> (16 + 8 * COLOR) & right == 0 || occupied & free << back != 0 {
            return None;
        }
        for file in way {
            if self.seen::<COLOR>(back + file, other, occupied ^ king) != 0 {
                return None;
            }
        }
        let kings = king | 1 << (back + king_to);
        let rooks = 1 << (back + rook) | 1 << (back + rook_to);
        *self = Men {
            roles: [p0, p1 ^ kings, p2 ^ kings ^ rooks],
            own: other,
            other: own ^ kings ^ rooks,
            state: state & 0xffff_0000 & RIGHTS[back + 4] | 64 << 8 | (COLOR as u32 ^ 1),
        };
        Some(PackedMove::castle(Square::new(back as u32 + 4), Square::new((back + rook) as u32)))
    }
}

/// The first square of a set, if nothing stands between, and the others.
#[inline(always)]
fn first_open(ways: &[u64; 64], set: u64, occupied: u64) -> (u64, u64) {
    let first = set & set.wrapping_neg();
    let is_open = ways[set.trailing_zeros() as usize & 63] & occupied == 0;
    (if is_open { first } else { 0 }, set ^ first)
}
