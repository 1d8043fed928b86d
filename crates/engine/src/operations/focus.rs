//! The `focus` of a path is a set of pieces at the path's first position. Only moves that touch one of these pieces
//! count as steps of the path.
//!
//! A *walk* is a sequence of positions that a path describes.

use std::collections::HashMap;

use super::{BlockGames, OperandSource, moves::BlockMoves, tree::NodeRange};
use orbit_reel::{SEGMENT_SLOTS, replay::position_at};

/// The pieces that each move of a game moves or captures. Pieces are numbered in the order of their squares in the
/// first position, and keep their numbers for the whole game.
pub(super) struct MovedPieces {
    moved: Vec<FocusPieces>,
    /// For each node (position), the pieces in the `focus` of a walk that begins there, with one bit for each piece; 0 if no
    /// walk begins there.
    at_start: Vec<u64>,
    capture: bool,
}

/// The pieces that a move touches, one bit for each piece number.
#[derive(Clone, Copy, Default)]
struct FocusPieces {
    /// The piece that moves; for castling, the king.
    mover: u64,
    /// The rook, for castling; otherwise 0.
    rook: u64,
    taken: u64,
}

/// The moves of a game that touch a certain set of pieces, as masks for the segments (32 positions each) that the game
/// overlaps.
pub(super) struct FocusMasks {
    first_segment: usize,
    masks: Vec<SeenMasks>,
}

/// Masks of one segment (32 positions): the positions reached by moves that touch pieces in the `focus` of a path.
#[derive(Clone, Copy, Default)]
struct SeenMasks {
    any: u32,
    /// The mask of the positions reached by castling, whether or not the king or the rook is in the `focus` of the path.
    castles: u32,
    /// The mask of the positions reached by castling whose king is in the `focus` of the path.
    king: u32,
    /// The mask of the positions reached by castling whose rook is in the `focus` of the path.
    rook: u32,
}

impl MovedPieces {
    /// Records the moves of a game. `starts` are the positions at which walks begin, in ascending order. `focus` contains, for
    /// each of them, the squares of the pieces whose moves count.
    pub(super) fn new(
        nodes: NodeRange<'_>,
        games: &BlockGames<'_>,
        focus: OperandSource<'_>,
        capture: bool,
        starts: &[usize],
    ) -> MovedPieces {
        let moves = games.moves();
        let root = first_board(games, nodes.slot(0));
        let mut board = root;
        let (moved, at_start) = (Vec::with_capacity(nodes.len()), vec![0; nodes.len()]);
        let mut out = MovedPieces { moved, at_start, capture };
        let mut starts = starts.iter().copied().peekable();
        for node in 0..nodes.len() {
            if node > 0 && nodes.is_secondary(node) {
                if games.count(node) {
                    out.moved.resize(nodes.len(), FocusPieces::default());
                    break;
                }
                board = board_at(root, nodes, moves, nodes.parent(node));
            }
            let moved =
                if node > 0 { play(&mut board, moves, nodes.slot(node)) } else { FocusPieces::default() };
            out.moved.push(moved);
            if starts.next_if_eq(&node).is_none() {
                continue;
            }
            let mut squares = focus.word(nodes.slot(node));
            while squares != 0 {
                out.at_start[node] |= bit(board[squares.trailing_zeros() as usize]);
                squares &= squares - 1;
            }
        }
        out
    }

    /// Returns the pieces in the `focus` of a walk that begins at a node (position), with one bit for each piece.
    pub(super) fn at_start(&self, node: usize) -> u64 {
        self.at_start[node]
    }

    /// Groups the start positions of walks that have the same pieces in their `focus`. Walks whose `focus` is empty are
    /// omitted.
    pub(super) fn groups(&self, starts: impl Iterator<Item = usize>) -> Vec<(u64, Vec<usize>)> {
        let mut groups: Vec<(u64, Vec<usize>)> = Vec::new();
        let mut places = HashMap::new();
        let in_focus = starts.map(|node| (node, self.at_start[node])).filter(|(_, set)| *set != 0);
        for (node, set) in in_focus {
            let place = *places.entry(set).or_insert(groups.len());
            if place == groups.len() {
                groups.push((set, Vec::new()));
            }
            groups[place].1.push(node);
        }
        groups
    }

    /// Returns true if the move that leads to a node touches a piece of `set`.
    pub(super) fn sees(&self, node: usize, set: u64) -> bool {
        let FocusPieces { mover, rook, taken } = self.moved[node];
        let taken = if self.capture { taken } else { 0 };
        (mover | rook | taken) & set != 0
    }

    /// Returns true if the move played from a node touches a piece in the `focus` of a walk that begins there. The game must have
    /// no side lines.
    pub(super) fn sees_next(&self, nodes: NodeRange<'_>, node: usize) -> bool {
        node + 1 < nodes.len() && self.sees(node + 1, self.at_start[node])
    }

    /// Returns two flags if the move that leads to a node is castling, otherwise `None`. The first flag is true if
    /// `set` contains the king, and the second if it contains the rook.
    pub(super) fn castling(&self, node: usize, set: u64) -> Option<[bool; 2]> {
        let FocusPieces { mover, rook, .. } = self.moved[node];
        (rook != 0).then_some([mover & set != 0, rook & set != 0])
    }

    /// Computes the masks of the moves that touch a piece of `set`.
    pub(super) fn seen(&self, nodes: NodeRange<'_>, set: u64) -> FocusMasks {
        let segments = nodes.segments();
        let mut masks = vec![SeenMasks::default(); segments.len()];
        for (node, moved) in self.moved.iter().enumerate() {
            let slot = nodes.slot(node) - segments.start * SEGMENT_SLOTS;
            let (masks, place) = (&mut masks[slot / SEGMENT_SLOTS], slot % SEGMENT_SLOTS);
            masks.any |= u32::from(self.sees(node, set)) << place;
            if moved.rook != 0 {
                masks.castles |= 1 << place;
                masks.king |= u32::from(moved.mover & set != 0) << place;
                masks.rook |= u32::from(moved.rook & set != 0) << place;
            }
        }
        FocusMasks { first_segment: segments.start, masks }
    }
}

impl FocusMasks {
    /// Returns the positions of segment `at` that are reached by moves that touch pieces in the `focus`.
    pub(super) fn any(&self, at: usize) -> u32 {
        self.masks[at - self.first_segment].any
    }

    /// Returns true if the move that leads to a slot (position) touches a piece in the `focus`.
    pub(super) fn has(&self, slot: usize) -> bool {
        self.any(slot / SEGMENT_SLOTS) >> (slot % SEGMENT_SLOTS) & 1 != 0
    }

    /// Returns the positions of segment `at` that are reached by moves of pieces in the `focus` that pass a test.
    /// `other` is the mask of the moves other than castling that pass the test. `king` and `rook` are the masks of
    /// castling moves whose king or rook passes it. Castling passes if one of its two pieces is in the `focus` and
    /// passes the test.
    pub(super) fn passing(&self, at: usize, other: u32, [king, rook]: [u32; 2]) -> u32 {
        let masks = self.masks[at - self.first_segment];
        masks.any & other & !masks.castles | masks.king & king | masks.rook & rook
    }
}

/// The number for "no piece".
const NOBODY: u8 = u8::MAX;

fn bit(piece: u8) -> u64 {
    if piece < 64 { 1 << piece } else { 0 }
}

/// Returns the number of the piece on each square in the first position of a game.
fn first_board(games: &BlockGames<'_>, slot: usize) -> [u8; 64] {
    let mut board = [NOBODY; 64];
    let position = position_at(games.block, slot);
    for (piece, square) in (0..).zip(position.board.occupied()) {
        board[square as usize] = piece;
    }
    board
}

/// Returns the number of the piece on each square at a node (position).
fn board_at(mut board: [u8; 64], nodes: NodeRange<'_>, moves: &BlockMoves, mut node: usize) -> [u8; 64] {
    let mut way = Vec::new();
    while node > 0 {
        way.push(node);
        node = nodes.parent(node);
    }
    for node in way.into_iter().rev() {
        play(&mut board, moves, nodes.slot(node));
    }
    board
}

/// Plays the move that leads to a slot (position) on `board`, which contains the number of the piece on each square.
/// Returns the pieces that the move touches.
fn play(board: &mut [u8; 64], moves: &BlockMoves, slot: usize) -> FocusPieces {
    let mut shift = |from: u8, to: u8| {
        let piece = std::mem::replace(&mut board[from as usize], NOBODY);
        (piece, std::mem::replace(&mut board[to as usize], piece))
    };
    if let Some([from, to]) = moves.plain_squares(slot) {
        let (mover, taken) = shift(from, to);
        return FocusPieces { mover: bit(mover), rook: 0, taken: bit(taken) };
    }
    let mv = moves.to(slot);
    if mv.is_null() {
        return FocusPieces { mover: bit(board[mv.left()[0] as usize]), ..FocusPieces::default() };
    }
    let taken = mv.captured().map_or(NOBODY, |square| std::mem::replace(&mut board[square as usize], NOBODY));
    let ([king_from, rook_from], [king_to, rook_to]) = (mv.left(), mv.reached());
    let mover = std::mem::replace(&mut board[king_from as usize], NOBODY);
    let rook =
        if mv.is_castling() { std::mem::replace(&mut board[rook_from as usize], NOBODY) } else { NOBODY };
    board[king_to as usize] = mover;
    if mv.is_castling() {
        board[rook_to as usize] = rook;
    }
    FocusPieces { mover: bit(mover), rook: bit(rook), taken: bit(taken) }
}
