//! Geometry of the pieces on a board: directions, attacks, rays, pins and pawn structure. Everything is computed square by
//! square.

use shakmaty::{Bitboard, Color, Role, Square};

use super::{
    geometry::{square, xy},
    moves::SquareArray,
};
use orbit_query::tree::{Dirs, PawnKind, PinPart};

/// Returns the squares in one direction from `start` to the edge of the board, without `start` itself.
pub(super) fn walk(start: Square, (dx, dy): (i8, i8)) -> impl Iterator<Item = Square> {
    let (x, y) = xy(start);
    (1..8).map_while(move |n| square(x + n * i32::from(dx), y + n * i32::from(dy)))
}

/// Returns the squares that are `lo..=hi` steps away from a square of the set, in one of the directions. Negative steps lead in the
/// opposite direction.
pub(super) fn direction(dirs: Dirs, lo: i8, hi: i8, from: Bitboard) -> Bitboard {
    let mut out = Bitboard::EMPTY;
    for start in from {
        let (x, y) = xy(start);
        for (dx, dy) in dirs.steps() {
            for n in i32::from(lo)..=i32::from(hi) {
                if let Some(end) = square(x + n * i32::from(dx), y + n * i32::from(dy)) {
                    out.add(end);
                }
            }
        }
    }
    out
}

/// Returns the light squares of a set or, if `light` is false, its dark squares. a1 is dark.
pub(super) fn shade(light: bool, squares: Bitboard) -> Bitboard {
    let mut out = Bitboard::EMPTY;
    for s in squares {
        let (x, y) = xy(s);
        if light == ((x + y) % 2 == 1) {
            out.add(s);
        }
    }
    out
}

/// Returns all squares on a straight line between a square of one set and a square of the other.
pub(super) fn between(from: Bitboard, to: Bitboard) -> Bitboard {
    let mut out = Bitboard::EMPTY;
    for start in from {
        for step in Dirs::STEPS {
            let mut passed = Bitboard::EMPTY;
            for s in walk(start, step) {
                if to.contains(s) {
                    out |= passed;
                }
                passed.add(s);
            }
        }
    }
    out
}

/// Returns the squares of `attackers` whose pieces attack a square of `targets`.
pub(super) fn attackers(board: &SquareArray, attackers: Bitboard, targets: Bitboard) -> Bitboard {
    let mut out = Bitboard::EMPTY;
    for s in attackers {
        if (board.attacks_from(s) & targets).any() {
            out.add(s);
        }
    }
    out
}

/// Returns the squares of `targets` that a piece on a square of `attackers` attacks.
pub(super) fn attacked(board: &SquareArray, targets: Bitboard, attackers: Bitboard) -> Bitboard {
    let mut out = Bitboard::EMPTY;
    for s in attackers {
        out |= board.attacks_from(s) & targets;
    }
    out
}

/// Returns the number of pairs in which the piece on a square of `attackers` attacks a square of `targets`.
pub(super) fn attack_count(board: &SquareArray, attackers: Bitboard, targets: Bitboard) -> i32 {
    let mut pairs = 0;
    for from in attackers {
        for to in targets {
            pairs += i32::from(board.attacks_from(from).contains(to));
        }
    }
    pairs
}

/// Returns the number of straight lines that have one occupied square in each set, in the order of the sets, and no other occupied
/// square in between. Lines in opposite directions count separately.
pub(super) fn ray_count(board: &SquareArray, dirs: Dirs, attack: bool, sets: &[Bitboard]) -> i32 {
    let mut lines = 0;
    for start in sets[0].into_iter().filter(|&start| board.at(start).is_some()) {
        for step in dirs.steps().filter(|&step| !attack || slides(board, start, step)) {
            let occupied = walk(start, step).filter(|&s| board.at(s).is_some()).take(sets.len() - 1);
            let occupied: Vec<Square> = occupied.collect();
            let fits = occupied.iter().zip(&sets[1..]).all(|(&s, set)| set.contains(s));
            lines += i32::from(fits && occupied.len() == sets.len() - 1);
        }
    }
    lines
}

/// Returns true if the piece on a square is a queen, rook or bishop that can move in the given direction.
pub(super) fn slides(board: &SquareArray, from: Square, (dx, dy): (i8, i8)) -> bool {
    let diagonal = dx != 0 && dy != 0;
    match board.at(from).map(|piece| piece.role) {
        Some(Role::Queen) => true,
        Some(Role::Rook) => !diagonal,
        Some(Role::Bishop) => diagonal,
        _ => false,
    }
}

/// The end squares of the lines that a `ray` filter finds.
#[derive(Clone, Copy, Default)]
pub(super) struct RayEnds {
    pub(super) first: Bitboard,
    pub(super) last: Bitboard,
}

/// Returns the ends of all lines that start in the first set and meet the other sets in order. All other squares of a line must be
/// empty. If `attack` is true, the piece on the first square must be a queen, rook or bishop that can move along the line.
pub(super) fn ray(board: &SquareArray, dirs: Dirs, attack: bool, sets: &[Bitboard]) -> RayEnds {
    let mut ends = RayEnds::default();
    for start in sets[0] {
        for step in dirs.steps() {
            if attack && !slides(board, start, step) {
                continue;
            }
            let path: Vec<Square> = walk(start, step).collect();
            let last = ray_ends(board, &path, &sets[1..]);
            if last.any() {
                ends.first.add(start);
                ends.last |= last;
            }
        }
    }
    ends
}

/// Returns the squares of the last set at which a line along `path` can end. The line meets the sets in order, and is otherwise
/// empty. An empty square in the next set is tried both as that set's square and as a skipped square.
fn ray_ends(board: &SquareArray, path: &[Square], sets: &[Bitboard]) -> Bitboard {
    let Some((&here, further)) = path.split_first() else { return Bitboard::EMPTY };
    let (&next, later) = sets.split_first().expect("a ray has a last set");
    let mut out = Bitboard::EMPTY;
    if next.contains(here) {
        out |= if later.is_empty() { Bitboard::from(here) } else { ray_ends(board, further, later) };
    }
    if board.at(here).is_none() {
        out |= ray_ends(board, further, sets);
    }
    out
}

/// Returns one part of all pins: the sliders, the pinned pieces, or the squares behind them. In a pin, a slider of one colour is on
/// `from`, and a piece of the other colour is on `through`. Behind this piece, with nothing in between, is a square of `to` that is
/// empty or has another piece of the pinned piece's colour.
pub(super) fn pin(
    board: &SquareArray,
    value: PinPart,
    from: Bitboard,
    through: Bitboard,
    to: Bitboard,
) -> Bitboard {
    let mut out = Bitboard::EMPTY;
    for x in from {
        let Some(slider) = board.at(x) else { continue };
        for step in Dirs::STEPS {
            if !slides(board, x, step) {
                continue;
            }
            let mut path = walk(x, step);
            let Some(y) = path.find(|&s| board.at(s).is_some()) else { continue };
            if !through.contains(y) || board.at(y).is_none_or(|piece| piece.color == slider.color) {
                continue;
            }
            for z in path {
                let content = board.at(z);
                if to.contains(z) && content.is_none_or(|piece| piece.color != slider.color) {
                    out.add(match value {
                        PinPart::From => x,
                        PinPart::Through => y,
                        PinPart::To => z,
                    });
                }
                if content.is_some() {
                    break;
                }
            }
        }
    }
    out
}

/// Returns the pawns of one kind, such as isolated pawns, in both colours.
pub(super) fn pawns(board: &SquareArray, kind: PawnKind) -> Bitboard {
    let all: Vec<(Square, Color)> = Square::ALL
        .into_iter()
        .filter_map(|s| board.at(s).filter(|piece| piece.role == Role::Pawn).map(|piece| (s, piece.color)))
        .collect();
    let mut out = Bitboard::EMPTY;
    for &(pawn, color) in &all {
        let (x, y) = xy(pawn);
        let others = || all.iter().filter(|&&(s, _)| s != pawn).map(|&(s, c)| (xy(s), c));
        let connected = others().any(|((x2, _), c)| c == color && (x2 - x).abs() == 1);
        let member = match kind {
            PawnKind::Connected => connected,
            PawnKind::Isolated => !connected,
            PawnKind::Doubled => others().any(|((x2, _), c)| c == color && x2 == x),
            PawnKind::Passed => !others().any(|((x2, y2), c)| {
                let ahead = if color.is_white() { y2 > y } else { y2 < y };
                c != color && (x2 - x).abs() <= 1 && ahead
            }),
        };
        if member {
            out.add(pawn);
        }
    }
    out
}
