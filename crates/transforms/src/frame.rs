//! Maps moves of a game back to the filter as written, so hits of different copies can be compared. A copy is a transformed filter.
//!
//! The squares in a copy are the images of the filter's squares. Moves are mapped back by the inverse transforms: under `flipcolor
//! {Nd4 kf3}` Black's `Nf4` from d5 becomes White's `Nf5` from d4. A frame only maps squares and colours, and does not depend on
//! the filter.

use shakmaty::san::SanPlus;
use shakmaty::{Color, Move, Position as _, Rank, Role, Square};

use super::Placement;
use orbit_core::board::{MoveKind, PackedMove, Position};

/// The map from the squares and colours of a game back to those of the filter as written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    placement: Placement,
    /// True if the copy (the transformed filter) matched the game with its colours swapped.
    is_swapped: bool,
}

/// The file and rank of a square, counted from 0. They may be off the board, since a shift may move a square there.
type Coordinates = (i8, i8);

impl Frame {
    /// The frame of the game itself.
    pub const AS_PLAYED: Frame = Frame { placement: Placement::IDENTITY, is_swapped: false };

    /// Creates the frame of a copy (a transformed filter) that matched a game. If `side` is Black, the copy matched the game with
    /// its colours swapped.
    pub fn new(placement: Placement, side: Color) -> Frame {
        Frame { placement, is_swapped: side.is_black() }
    }

    /// Returns a move of the game, mapped back to the filter as written, in SAN with `+` and `#`. A null move is `--`. Other pieces
    /// from which SAN must distinguish the moving piece are also mapped back.
    ///
    /// A move that SAN cannot express is written with the piece letter and both squares: `Nd4-f5`. Such moves are sideways pawn
    /// moves, mirrored or shifted castling, and moves in illegal positions. If the squares cannot be mapped back to the board,
    /// because of a shift or `rotate45`, the squares of the game are written.
    pub fn san(self, mv: PackedMove, position: &Position) -> String {
        if mv == PackedMove::NULL {
            return mv.to_san(position);
        }
        self.spelt(mv, position).unwrap_or_else(|| self.by_squares(mv, position))
    }

    fn spelt(self, mv: PackedMove, position: &Position) -> Option<String> {
        let chess = position.to_chess().ok()?;
        let legal = mv.to_shakmaty(&chess)?;
        let played = SanPlus::from_move(chess.clone(), legal);
        if self == Frame::AS_PLAYED {
            return Some(played.to_string());
        }
        let color = if self.swaps_colors() { !chess.turn() } else { chess.turn() };
        let mut text = match legal {
            Move::Castle { king, rook } => self.castling(king, rook, color)?,
            Move::EnPassant { from, to } => {
                let to = self.on_board(to).filter(|to| color.relative_rank(to.rank()) == Rank::Sixth)?;
                pawn_move(self.on_board(from)?, to, color, true, None)?
            }
            Move::Normal { role: Role::Pawn, from, capture, to, promotion } => {
                pawn_move(self.on_board(from)?, self.on_board(to)?, color, capture.is_some(), promotion)?
            }
            Move::Normal { role, from, capture, to, .. } => {
                let others = chess.san_candidates(role, to);
                let others = others.iter().filter_map(|other| other.from()).filter(|&other| other != from);
                let origin = self.origin(from, others)?;
                let takes = if capture.is_some() { "x" } else { "" };
                format!("{}{origin}{takes}{}", role.upper_char(), self.on_board(to)?)
            }
            Move::Put { .. } => return None,
        };
        text.extend(played.suffix.map(shakmaty::san::Suffix::char));
        Some(text)
    }

    /// Returns the part of the origin square that SAN needs. `others` are the squares of other pieces of the same kind that can
    /// move to the same target.
    fn origin(self, from: Square, others: impl Iterator<Item = Square>) -> Option<String> {
        let (file, rank) = self.carried(from)?;
        let (mut is_any, mut on_file, mut on_rank) = (false, false, false);
        for other in others {
            let other = self.carried(other)?;
            (is_any, on_file, on_rank) = (true, on_file | (other.0 == file), on_rank | (other.1 == rank));
        }
        let from = self.on_board(from)?;
        Some(match (is_any, on_file, on_rank) {
            (false, ..) => String::new(),
            (true, false, _) => from.file().to_string(),
            (true, true, false) => from.rank().to_string(),
            (true, true, true) => from.to_string(),
        })
    }

    /// Returns castling in SAN, if mapping back leaves king and rook on their files and on their side's first rank.
    fn castling(self, king: Square, rook: Square, color: Color) -> Option<String> {
        let stays = |square: Square| {
            let carried = self.on_board(square)?;
            Some(carried.file() == square.file() && color.relative_rank(carried.rank()) == Rank::First)
        };
        let is_short = rook > king;
        (stays(king)? && stays(rook)?).then(|| String::from(if is_short { "O-O" } else { "O-O-O" }))
    }

    /// Returns a move as the piece letter and both squares.
    fn by_squares(self, mv: PackedMove, position: &Position) -> String {
        let code = position.board.at(mv.from());
        let letter = code.piece().filter(|piece| piece.role != Role::Pawn);
        let letter = letter.map_or(String::new(), |piece| piece.role.upper_char().to_string());
        let to = if mv.kind() == MoveKind::Castle { mv.castled().0 } else { mv.to() };
        let (from, to) = self.on_board(mv.from()).zip(self.on_board(to)).unwrap_or((mv.from(), to));
        let promotion = match mv.kind() {
            MoveKind::Piece(after) if after != code => after.piece().map(|piece| piece.role.upper_char()),
            _ => None,
        };
        format!("{letter}{from}-{to}{}", promotion.map_or(String::new(), |letter| format!("={letter}")))
    }

    fn swaps_colors(self) -> bool {
        self.placement.swap_colors != self.is_swapped
    }

    /// Maps a square of the game back to the filter as written. Returns `None` if the result is off the board.
    fn on_board(self, square: Square) -> Option<Square> {
        let (file, rank) = self.carried(square)?;
        let is_on = |line: i8| (0..8).contains(&line);
        (is_on(file) && is_on(rank)).then(|| Square::new((8 * rank + file) as u32))
    }

    /// Maps a square of the game back to the filter as written. The result may be off the board. Returns `None` if the frame cannot
    /// map squares, because of its shift or `rotate45`.
    fn carried(self, square: Square) -> Option<Coordinates> {
        let (file, rank) = (square.file() as i8, square.rank() as i8);
        let rank = if self.is_swapped { 7 - rank } else { rank };
        let (dx, dy) = self.placement.shift.filter(|_| self.placement.turn45 == 0)?;
        // The coordinates are doubled, since the centre of the board is half a square away from the squares next to it.
        let (x, y) = self.placement.dihedral.inverse().step((2 * (file - dx) - 7, 2 * (rank - dy) - 7));
        Some(((x + 7) / 2, (y + 7) / 2))
    }
}

/// Returns a pawn move in SAN, if a pawn of that side can move between the two squares.
fn pawn_move(from: Square, to: Square, color: Color, takes: bool, promotion: Option<Role>) -> Option<String> {
    let [before, after] = [from, to].map(|square| color.relative_rank(square.rank()) as i8);
    let (across, ahead) = ((to.file() as i8 - from.file() as i8).abs(), after - before);
    let is_move = match (takes, ahead) {
        (true, 1) => across == 1,
        (false, 1) => across == 0,
        (false, 2) => across == 0 && before == 1,
        _ => false,
    };
    if !is_move || before < 1 || (after == 7) != promotion.is_some() {
        return None;
    }
    let origin = if takes { format!("{}x", from.file()) } else { String::new() };
    let becomes = promotion.map_or(String::new(), |role| format!("={}", role.upper_char()));
    Some(format!("{origin}{to}{becomes}"))
}
