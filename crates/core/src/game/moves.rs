//! Computes move numbers and labels such as `23...`. A label names the move that led to a position.

use super::GameHeader;
use crate::{board::Color, fen};

/// The label of ply 0, the start of the game, which no move precedes.
const START: &str = "start";
/// The largest FEN counter that is accepted as a move number or halfmove clock.
const COUNTER_MAX: u32 = 9_999;

/// The move numbering of a game, and the halfmove clock at its start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MoveNumbers {
    /// The number of half-moves before ply 0, as the FEN counts them: two for each full move, and one more if Black begins.
    halves_before: u32,
    /// The halfmove clock at ply 0: the number of half-moves since the last capture or pawn move.
    pub clock: u32,
}

impl MoveNumbers {
    /// Reads the counters from the game's `FEN` tag, or from the tags `fmvn` and `hmvc` if the game is a position from a list.
    /// Without counters the game begins at move 1.
    pub fn from_header(game: &impl GameHeader) -> MoveNumbers {
        let (clock, full) = counters(game);
        let black_begins = game.start().state.turn() == Color::Black;
        MoveNumbers { halves_before: 2 * (full - 1) + u32::from(black_begins), clock }
    }

    /// Appends the label of the move that led to the position at `ply`: `24.` for White's move, `23...` for Black's.
    pub fn push_label(self, ply: u32, out: &mut Vec<u8>) {
        let Some(before) = ply.checked_sub(1) else { return out.extend_from_slice(START.as_bytes()) };
        out.extend_from_slice(itoa::Buffer::new().format(self.full(before)).as_bytes());
        out.extend_from_slice(if self.is_white(before) { b"." } else { b"..." });
    }

    /// Returns the move number to write before the move that is played at `ply`: `24.` before White's move, or `23...` before
    /// Black's move if it begins the game. Returns `None` before any other move by Black.
    pub fn before_move(self, ply: u32) -> Option<String> {
        let number = self.full(ply);
        match self.is_white(ply) {
            true => Some(format!("{number}.")),
            false => (ply == 0).then(|| format!("{number}...")),
        }
    }

    fn is_white(self, ply: u32) -> bool {
        (self.halves_before + ply).is_multiple_of(2)
    }

    /// Returns the fullmove number of the position at a ply: the last field of its FEN.
    pub fn full(self, ply: u32) -> u32 {
        (self.halves_before + ply) / 2 + 1
    }
}

/// Returns the halfmove clock and the fullmove number at the start of a game.
fn counters(game: &impl GameHeader) -> (u32, u32) {
    let (mut clock, mut full) = (0, 1);
    for (name, value) in game.tags() {
        if name.eq_ignore_ascii_case(b"FEN") {
            let [clocks, moves] = fen::counters(value);
            clock = clocks.and_then(fen_counter).unwrap_or(0);
            full = moves.and_then(fen_counter).unwrap_or(1);
            break;
        }
        match name {
            b"hmvc" => clock = fen_counter(value).unwrap_or(0),
            b"fmvn" => full = fen_counter(value).unwrap_or(1),
            _ => {}
        }
    }
    (clock, full.max(1))
}

/// Returns the number that a counter of a FEN stands for, or `None` if it is no number or greater than 9,999.
pub fn fen_counter(text: &[u8]) -> Option<u32> {
    str::from_utf8(text).ok()?.parse().ok().filter(|&number| number <= COUNTER_MAX)
}
