//! The fastest path through plain movetext. It finds tokens with bit masks over 64-byte blocks of text. Ordinary moves are read,
//! checked and played without branches that depend on the move.
//!
//! This path accepts the moves that [`San`] can represent, their numbers, and blanks without an empty line. At anything else it
//! stops, and [`Tokenizer::plain`](super::tokenizer::Tokenizer::plain) or the general tokenizer continues after the last move.
//! [`resolve::plain`] resolves the unusual moves: promotions, en passant captures, and moves that several pieces could make if the
//! others were not pinned. After an unusual move the fast path continues. Games with castling rights beyond those of standard chess
//! are left to the other paths.
//!
//! Invariant: games, offsets and faults are the same as on the slower paths.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod block;
mod classes;
mod instructions;
mod lanes;
mod sketches;
mod tables;
#[cfg(test)]
mod tests;
mod words;

use std::ops::Range;

use shakmaty::{CastlingSide, Square};

use self::block::TextBlock;
use self::instructions::{Base, Instructions};
use self::sketches::PieceTables;
use self::tables::{AROUND, FROM, HINTS, KING, RIGHTS, WAYS};
use self::words::WORDS;
use super::lex::window;
use super::resolve;
use super::tokenizer::San;
use orbit_core::board::{Board, PackedMove, Position, State};
use orbit_core::isa::Isa;

/// Plays the moves at the start of `text[from..]`, which must be plain movetext of a main line: no variation may be open, and no
/// empty line may precede it. Adds the moves, and the positions after them, to the game. Returns the index after the last move
/// played, and the position after that move.
pub(super) fn play(
    isa: Isa,
    text: &[u8],
    from: usize,
    position: Position,
    game: QuickLine<'_>,
) -> (usize, Position) {
    if !may_begin(text, from) {
        return (from, position);
    }
    /// Compiles the code of [`play_with`] for one instruction set.
    #[cfg(target_arch = "x86_64")]
    macro_rules! play_on {
        ($features:literal, $with:expr) => {{
            #[target_feature(enable = $features)]
            fn play_so(
                with: impl Instructions,
                text: &[u8],
                from: usize,
                position: Position,
                game: QuickLine<'_>,
            ) -> (usize, Position) {
                play_with(with, text, from, position, game)
            }
            #[expect(unsafe_code, reason = "code for another instruction set")]
            // SAFETY: a value of the instruction set exists only where the processor has its instructions.
            unsafe {
                play_so($with, text, from, position, game)
            }
        }};
    }
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2(with) => play_on!("avx2,bmi1,bmi2,lzcnt,popcnt", with),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512(with) => {
            play_on!("avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vbmi,avx512vbmi2", with)
        }
        _ => play_with(Base, text, from, position, game),
    }
}

/// The lists to which the fast path adds: the moves of a main line, and the positions after them.
pub(super) struct QuickLine<'a> {
    pub(super) moves: &'a mut Vec<PackedMove>,
    pub(super) positions: &'a mut Vec<Position>,
    pub(super) blocks: &'a mut Blocks,
}

/// Two buffers: one for the block of text whose moves are being played, one for the next block.
pub(super) struct Blocks([TextBlock; 2]);

impl Blocks {
    pub(super) const EMPTY: Blocks = Blocks([TextBlock::EMPTY; 2]);
}

/// Returns whether a move or a move number begins at `from`, or after one blank. In games with a comment after each move, this test
/// avoids reading blocks of text that contain no moves.
fn may_begin(text: &[u8], from: usize) -> bool {
    match text.get(from..from + 2) {
        Some([b' ' | b'\n', next]) => next.is_ascii_alphanumeric(),
        Some([first, _]) => first.is_ascii_alphanumeric(),
        _ => false,
    }
}

#[inline(always)]
fn play_with(
    with: impl Instructions,
    text: &[u8],
    from: usize,
    position: Position,
    QuickLine { moves, positions, blocks }: QuickLine<'_>,
) -> (usize, Position) {
    let mut men = QuickPosition::from_position(position);
    if !men.has_usual_rights() {
        return (from, position);
    }
    let [mut block, mut next] = blocks.0.each_mut();
    block.read(with, text, from);
    while block.words() > 0 {
        // The tokens of the next block are read before the moves of this block are played: the two tasks are independent, so the
        // processor can overlap them.
        next.read(with, text, block.end);
        moves.reserve(WORDS);
        positions.reserve(WORDS);
        let move_slots =
            moves.spare_capacity_mut().first_chunk_mut::<WORDS>().expect("so many were reserved");
        let position_slots =
            positions.spare_capacity_mut().first_chunk_mut::<WORDS>().expect("so many were reserved");
        let before = men;
        let words = block.words().min(WORDS);
        let mut played = 0;
        while played < words {
            let (after, mv, is_usual) = if men.state & 1 == 0 {
                men.play::<0>(&block.sketches, played)
            } else {
                men.play::<1>(&block.sketches, played)
            };
            move_slots[played].write(mv);
            men = after;
            if !is_usual {
                men = match played {
                    0 => before,
                    #[expect(unsafe_code, reason = "slots are filled one after the other")]
                    // SAFETY: all elements of `position_slots` before `played` were written.
                    _ => QuickPosition::from_position(unsafe { position_slots[played - 1].assume_init() }),
                };
                let Some((mv, after)) = unusual(text, block.word(played), men) else { break };
                move_slots[played].write(mv);
                men = after;
            }
            position_slots[played].write(men.position());
            played += 1;
        }
        #[expect(unsafe_code, reason = "a capacity that is looked at once for all words of a block")]
        // SAFETY: in both vectors, the `played` elements after the length were written.
        unsafe {
            moves.set_len(moves.len() + played);
            positions.set_len(positions.len() + played);
        }
        if played < words {
            return (played.checked_sub(1).map_or(block.at, |last| block.word(last).end), men.position());
        }
        std::mem::swap(&mut block, &mut next);
    }
    (block.end, men.position())
}

/// Plays castling, or a move that [`resolve::plain`] must resolve. Returns `None` if the token does not denote a legal move.
#[cold]
#[inline(never)]
fn unusual(text: &[u8], word: Range<usize>, mut men: QuickPosition) -> Option<(PackedMove, QuickPosition)> {
    let (san, _) = San::read(window(text, word.start)?).filter(|&(_, length)| length == word.len())?;
    if let San::Castle(towards) = san {
        let mv = if men.state & 1 == 0 { men.castle::<0>(towards) } else { men.castle::<1>(towards) }?;
        return Some((mv, men));
    }
    let mut position = men.position();
    let mv = resolve::plain(san, position).ok()?;
    position.play(mv);
    Some((mv, QuickPosition::from_position(position)))
}

/// A legal position as seen by the side to move.
#[derive(Clone, Copy)]
struct QuickPosition {
    /// The first three bit planes of [`Board`], which encode the roles of the pieces.
    roles: [u64; 3],
    own: u64,
    other: u64,
    /// The square of the moving side's king, as a number; `other_king` is the square of the enemy king.
    own_king: usize,
    other_king: usize,
    state: u32,
}

impl QuickPosition {
    #[inline(always)]
    fn from_position(position: Position) -> QuickPosition {
        let [p0, p1, p2, black] = position.board.planes;
        let occupied = p0 | p1 | p2;
        let own = occupied & (black ^ (u64::from(position.state.0) & 1).wrapping_sub(1));
        let other = occupied ^ own;
        let king_of = |side: u64| (!p0 & p1 & p2 & side).trailing_zeros() as usize;
        QuickPosition {
            roles: [p0, p1, p2],
            own,
            other,
            own_king: king_of(own),
            other_king: king_of(other),
            state: position.state.0,
        }
    }

    #[inline(always)]
    fn position(&self) -> Position {
        let QuickPosition { roles: [p0, p1, p2], own, other, state, .. } = *self;
        let black = if state & 1 == 0 { other } else { own };
        Position { board: Board { planes: [p0, p1, p2, black] }, state: State(state) }
    }

    /// Returns whether all castling rights are possible in standard chess. The table [`RIGHTS`] contains no others.
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

    /// Plays the move of the token with the number `word`. The flag in the result is true if the move is ordinary and legal;
    /// otherwise the resulting position is meaningless.
    #[inline(always)]
    fn play<const COLOR: usize>(
        self,
        sketches: &PieceTables,
        word: usize,
    ) -> (QuickPosition, PackedMove, bool) {
        let QuickPosition { roles: [p0, p1, p2], own, other, own_king, other_king, state } = self;
        let (to, target) = (sketches.to[word] as usize & 63, sketches.target[word]);
        let [n0, n1, n2] =
            [sketches.inverted[0][word], sketches.inverted[1][word], sketches.inverted[2][word]];
        // The pieces that the token can denote, usually only one. If there are several, only pieces with a free path count.
        let occupied = own | other;
        let pieces = own & (p0 ^ n0) & (p1 ^ n1) & (p2 ^ n2);
        let reach = sketches.reach[word] as usize & 511;
        let mut origin = pieces & HINTS[sketches.hint[word] as u8 as usize] & FROM[COLOR][reach];
        if origin & origin.wrapping_sub(1) != 0 {
            origin = only_free(to, origin, occupied);
        }
        // `from` is 64 if there is no piece. The path from 64 is never free, so the move is then rejected.
        let from = origin.trailing_zeros();
        let pawn_errs = (other ^ sketches.takes[word]) & sketches.pawn_target[word];
        let wrong = WAYS[from as usize][to] & occupied | own & target | pawn_errs;
        let keep = !(origin | target);
        let roles = [
            p0 & keep | sketches.put[0][word],
            p1 & keep | sketches.put[1][word],
            p2 & keep | sketches.put[2][word],
        ];
        let moved = own & !origin | target;
        let enemies = other & !target;
        // After the move, no enemy may attack the king of the side that played it.
        let king = if reach >= KING { to } else { own_king };
        let seen = seen::<COLOR>(self.roles, king & 63, enemies, moved | enemies);
        // The square that a pawn passes over.
        let passed = if origin & sketches.double[word] == 0 { 64 << 8 } else { (to as u32 ^ 8) << 8 };
        let rights = state & RIGHTS[from as usize] & RIGHTS[to];
        let state = rights | passed | (COLOR as u32 ^ 1);
        let men = QuickPosition {
            roles,
            own: enemies,
            other: moved,
            own_king: other_king,
            other_king: king,
            state,
        };
        let mv = PackedMove((from | sketches.mv[word] as u32) as u16 | (COLOR as u16) << 15);
        (men, mv, wrong | seen == 0)
    }

    /// Castles by the rules of standard chess. If this is illegal, returns `None` and leaves the position unchanged.
    fn castle<const COLOR: usize>(&mut self, towards: CastlingSide) -> Option<PackedMove> {
        let QuickPosition { roles: [p0, p1, p2], own, other, other_king, state, .. } = *self;
        let back = 56 * COLOR;
        // The tuple contains the files of king and rook after castling, the rook's file before castling, the squares that must be
        // empty, and the files on the king's path.
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
            if seen::<COLOR>(self.roles, back + file, other, occupied ^ king) != 0 {
                return None;
            }
        }
        let kings = king | 1 << (back + king_to);
        let rooks = 1 << (back + rook) | 1 << (back + rook_to);
        *self = QuickPosition {
            roles: [p0, p1 ^ kings, p2 ^ kings ^ rooks],
            own: other,
            other: own ^ kings ^ rooks,
            own_king: other_king,
            other_king: back + king_to,
            state: state & 0xffff_0000 & RIGHTS[back + 4] | 64 << 8 | (COLOR as u32 ^ 1),
        };
        Some(PackedMove::castle(Square::new(back as u32 + 4), Square::new((back + rook) as u32)))
    }
}

/// Returns the only square of `set` with a free path to `to`, as a bitboard. Returns 0 if no square or several squares have a free
/// path.
#[inline(always)]
fn only_free(to: usize, mut set: u64, occupied: u64) -> u64 {
    let mut free = 0;
    while set != 0 {
        let first = set & set.wrapping_neg();
        if WAYS[set.trailing_zeros() as usize][to] & occupied == 0 {
            free |= first;
        }
        set ^= first;
    }
    if free & free.wrapping_sub(1) == 0 { free } else { 0 }
}

/// Returns a nonzero value if one of `enemies` attacks `square`, which has a piece of the color `COLOR`. Pieces on the squares
/// `occupied` block the lines of attack.
#[inline(always)]
fn seen<const COLOR: usize>([p0, p1, p2]: [u64; 3], square: usize, enemies: u64, occupied: u64) -> u64 {
    let around = &AROUND[square];
    let steps = around[COLOR] & p0 & !(p1 | p2) | around[2] & p1 & !(p0 | p2) | around[3] & p1 & p2;
    let mut far = (around[4] & p0 & (p1 | p2) | around[5] & p2 & !p1) & enemies;
    let first_is_free = |far: &mut u64| {
        let is_free = u64::from(WAYS[far.trailing_zeros() as usize][square & 63] & occupied == 0);
        *far &= far.wrapping_sub(1);
        is_free
    };
    // There are rarely more than two sliders on lines through the square, so two of them are examined without a branch.
    let mut seen = steps & enemies;
    seen |= first_is_free(&mut far);
    seen |= first_is_free(&mut far);
    while far != 0 {
        seen |= first_is_free(&mut far);
    }
    seen
}
