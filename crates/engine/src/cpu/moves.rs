//! Computes the legal or pseudolegal moves in the positions of a group. Castling and en passant are handled one
//! position at a time, and all other moves for eight positions at a time.

use std::ops::ControlFlow;

use shakmaty::{Bitboard, Square};

use super::registers::{GROUP, RegisterMachine};
use orbit_core::board::{
    MoveKind, PackedMove, Position, State, legal,
    moves::{ARRIVALS, MoveRequest, ORIGINS, View},
};
use orbit_plan::Special;
use orbit_reel::lanes::LANES;

/// Computes one result (`WHAT`: origins, arrivals or pairs) for the moves from squares of `from` to squares of `to` at
/// each position. If `PSEUDO` is true, the moves need only be pseudolegal.
#[inline(always)]
pub(super) fn moves<const WHAT: u8, const PSEUDO: bool>(
    machine: &RegisterMachine,
    asked: MoveRequest,
    from: &[u64; GROUP],
    to: &[u64; GROUP],
    out: &mut [u64; GROUP],
) {
    for first in (0..GROUP).step_by(LANES) {
        let [from, to] = [from, to].map(|words| eight(words, first));
        let out = out[first..].first_chunk_mut().expect("a group is whole rows");
        let none = (0..LANES).all(|n| from[n] == 0 || to[n] == 0);
        if none {
            out.fill(0);
            continue;
        }
        let special = row::<WHAT, PSEUDO>(machine, first / LANES, asked, from, to, out);
        for n in 0..LANES {
            if special[n] != 0 && from[n] != 0 {
                out[n] = with_special::<WHAT>(&machine.position(first + n), asked, from[n], to[n], out[n]);
            }
        }
    }
}

#[inline(always)]
fn eight(words: &[u64; GROUP], first: usize) -> &[u64; LANES] {
    words[first..].first_chunk().expect("a group is whole rows")
}

/// Computes one result (`WHAT`: origins, arrivals or pairs) for the moves of eight positions, without castling and en
/// passant. Returns a non-zero word for each position in which castling or en passant may be possible.
#[inline(always)]
fn row<const WHAT: u8, const PSEUDO: bool>(
    machine: &RegisterMachine,
    row: usize,
    asked: MoveRequest,
    from: &[u64; LANES],
    to: &[u64; LANES],
    out: &mut [u64; LANES],
) -> [u64; LANES] {
    let [p0, p1, p2, p3] = [0, 1, 2, 3].map(|k| &machine.regs[k].0[row]);
    let states = &machine.states[row];
    let mut special = [0; LANES];
    if asked.ordinary {
        for n in 0..LANES {
            let view = View::new([p0[n], p1[n], p2[n], p3[n]], State(states[n]));
            out[n] = view.ordinary::<WHAT, PSEUDO>(from[n], to[n]);
            special[n] = view.is_special();
        }
    } else {
        for n in 0..LANES {
            let view = View::new([p0[n], p1[n], p2[n], p3[n]], State(states[n]));
            out[n] = 0;
            special[n] = view.is_special();
        }
    }
    special
}

/// Computes one result (`WHAT`: origins, arrivals or pairs) for the moves of one position, including castling and en
/// passant. `ordinary` is the result without these moves.
#[inline(never)]
fn with_special<const WHAT: u8>(
    position: &Position,
    asked: MoveRequest,
    from: u64,
    to: u64,
    ordinary: u64,
) -> u64 {
    let view = View::new(position.board.planes, position.state);
    if view.has_several_kings() {
        let listed = listed(position, asked, from, to);
        return match WHAT {
            ARRIVALS => listed.arrivals,
            ORIGINS => listed.origins,
            _ => listed.pairs,
        };
    }
    view.special::<WHAT>(asked, from, to, ordinary)
}

/// Writes a mask that is true where the side to move has a king but no legal move. Only the positions in `within` are
/// examined.
#[inline(always)]
pub(super) fn no_moves(machine: &RegisterMachine, within: &[u64; GROUP], out: &mut [u64; GROUP]) {
    moves::<ARRIVALS, false>(machine, Special::Any.asked(false), within, within, out);
    let [p1, p2, p3] = [1, 2, 3].map(|k| machine.regs[k].0.as_flattened());
    let states = machine.states.as_flattened();
    for i in 0..GROUP {
        let white = u64::from(states[i] & 1).wrapping_sub(1);
        let king = p1[i] & p2[i] & (p3[i] ^ white);
        out[i] = if king != 0 && out[i] == 0 { within[i] } else { 0 };
    }
}

/// The results for the moves of one position: destination squares, origin squares and the number of origin-destination
/// pairs.
#[derive(Default)]
struct MoveLists {
    arrivals: u64,
    origins: u64,
    pairs: u64,
}

/// Computes the results from a list of all moves. This works for any placement of pieces, even with several kings of
/// one colour.
fn listed(position: &Position, asked: MoveRequest, from: u64, to: u64) -> MoveLists {
    let mut out = MoveLists::default();
    // In Chess960 a king may castle to an adjacent square. The king's ordinary step to that square has the same origin
    // and destination, and this pair must count only once.
    let mut king_steps: Vec<(Square, Square)> = Vec::new();
    let _ = legal::moves(position, asked.pseudo, &mut |mv: PackedMove| {
        let castles = matches!(mv.kind(), MoveKind::Castle);
        let king_side = mv.to() > mv.from();
        let wanted = match mv.kind() {
            MoveKind::Castle => asked.castling[usize::from(!king_side)],
            MoveKind::EnPassant => asked.en_passant,
            _ => asked.ordinary,
        };
        let rank = mv.from() as u32 & 56;
        let arrival = match castles {
            true => Square::new(rank + if king_side { 6 } else { 2 }),
            false => mv.to(),
        };
        if wanted && from >> mv.from() as u32 & 1 != 0 && to >> arrival as u32 & 1 != 0 {
            out.arrivals |= Bitboard::from(arrival).0;
            out.origins |= Bitboard::from(mv.from()).0;
            let pair = (mv.from(), arrival);
            match mv.kind() {
                MoveKind::Piece(code) if code.0 & 7 == 6 => king_steps.push(pair),
                MoveKind::Castle if king_steps.contains(&pair) => return ControlFlow::Continue(()),
                _ => {}
            }
            out.pairs += 1;
        }
        ControlFlow::Continue(())
    });
    out
}
