//! Pieces in focus of a path: which of them each move touches.

use super::{
    Games, Source,
    moves::{MoveTo, Moves},
    tree::Nodes,
};
use crate::{
    engine::carry::has,
    reel::{SEGMENT_SLOTS, replay::position_at},
};

/// Which pieces moved in a game. They have the numbers of the squares on which they stand at first, in their order.
pub(super) struct Pieces {
    moved: Vec<Moved>,
    /// For each node, the pieces in focus of a walk that begins there.
    at_start: Vec<u64>,
    capture: bool,
}

/// The pieces that a move touched, each a bit.
#[derive(Clone, Copy, Default)]
struct Moved {
    /// What moved, of castling the king.
    mover: u64,
    /// The rook, of castling.
    rook: u64,
    taken: u64,
}

/// Which moves of a game some pieces in focus see, as masks of the segments that the game meets.
pub(super) struct Seen {
    first_segment: usize,
    /// The positions to which such moves lead.
    any: Vec<u32>,
    /// Those to which castling leads,
    castles: Vec<u32>,
    /// with the king in focus,
    king: Vec<u32>,
    /// with the rook in focus.
    rook: Vec<u32>,
}

impl Pieces {
    /// Those of a game, with `focus` the squares of those in focus.
    pub(super) fn new(nodes: Nodes<'_>, games: &Games<'_>, focus: Source<'_>, capture: bool) -> Pieces {
        let moves = games.moves();
        let root = first_board(games, nodes.slot(0));
        let mut board = root;
        let mut out = Pieces { moved: Vec::with_capacity(nodes.len()), at_start: Vec::new(), capture };
        for node in 0..nodes.len() {
            if node > 0 && nodes.is_secondary(node) {
                board = board_at(root, nodes, moves, nodes.parent(node));
            }
            let moved =
                if node > 0 { play(&mut board, moves.to(nodes.slot(node))) } else { Moved::default() };
            out.moved.push(moved);
            let (mut squares, mut pieces) = (focus.word(nodes.slot(node)), 0);
            while squares != 0 {
                pieces |= bit(board[squares.trailing_zeros() as usize]);
                squares &= squares - 1;
            }
            out.at_start.push(pieces);
        }
        out
    }

    /// The pieces in focus of a walk that begins at a node.
    pub(super) fn at_start(&self, node: usize) -> u64 {
        self.at_start[node]
    }

    /// The nodes with the same pieces in focus, if any are.
    pub(super) fn groups(&self) -> Vec<(u64, Vec<usize>)> {
        let mut groups: Vec<(u64, Vec<usize>)> = Vec::new();
        for (node, &set) in self.at_start.iter().enumerate().filter(|(_, set)| **set != 0) {
            // They change seldom.
            match groups.iter_mut().rev().find(|(other, _)| *other == set) {
                Some((_, nodes)) => nodes.push(node),
                None => groups.push((set, vec![node])),
            }
        }
        groups
    }

    /// Whether the move to a node is one of some pieces.
    pub(super) fn sees(&self, node: usize, set: u64) -> bool {
        let Moved { mover, rook, taken } = self.moved[node];
        let taken = if self.capture { taken } else { 0 };
        (mover | rook | taken) & set != 0
    }

    /// What some pieces see.
    pub(super) fn seen(&self, nodes: Nodes<'_>, set: u64) -> Seen {
        let segments = nodes.segments();
        let none = || vec![0; segments.len()];
        let mut out =
            Seen { first_segment: segments.start, any: none(), castles: none(), king: none(), rook: none() };
        for (node, moved) in self.moved.iter().enumerate() {
            let slot = nodes.slot(node) - segments.start * SEGMENT_SLOTS;
            let put = |mask: &mut [u32], value: bool| {
                mask[slot / SEGMENT_SLOTS] |= u32::from(value) << (slot % SEGMENT_SLOTS);
            };
            put(&mut out.any, self.sees(node, set));
            if moved.rook != 0 {
                put(&mut out.castles, true);
                put(&mut out.king, moved.mover & set != 0);
                put(&mut out.rook, moved.rook & set != 0);
            }
        }
        out
    }
}

impl Seen {
    /// Those of segment `at` where a move is seen.
    pub(super) fn any(&self, at: usize) -> u32 {
        self.any[at - self.first_segment]
    }

    /// Whether the move to a slot is seen.
    pub(super) fn has(&self, slot: usize) -> bool {
        has(&self.any, slot - self.first_segment * SEGMENT_SLOTS)
    }

    /// Where castling is seen, given where the parts of king and rook pass, and other moves by `other`.
    pub(super) fn passing(&self, at: usize, other: u32, [king, rook]: [u32; 2]) -> u32 {
        let at = at - self.first_segment;
        let parts = self.king[at] & king | self.rook[at] & rook;
        self.any[at] & other & !self.castles[at] | self.castles[at] & parts
    }
}

/// No piece.
const NOBODY: u8 = u8::MAX;

fn bit(piece: u8) -> u64 {
    if piece < 64 { 1 << piece } else { 0 }
}

/// Who stands where at the root of a game.
fn first_board(games: &Games<'_>, slot: usize) -> [u8; 64] {
    let mut board = [NOBODY; 64];
    let position = position_at(games.block, slot);
    for (piece, square) in (0..).zip(position.board.occupied()) {
        board[square as usize] = piece;
    }
    board
}

/// Who stands where at a node.
fn board_at(mut board: [u8; 64], nodes: Nodes<'_>, moves: &Moves, mut node: usize) -> [u8; 64] {
    let mut way = Vec::new();
    while node > 0 {
        way.push(node);
        node = nodes.parent(node);
    }
    for node in way.into_iter().rev() {
        play(&mut board, moves.to(nodes.slot(node)));
    }
    board
}

/// Plays a move on a board of pieces.
fn play(board: &mut [u8; 64], mv: MoveTo) -> Moved {
    if mv.is_null() {
        return Moved { mover: bit(board[mv.left()[0] as usize]), ..Moved::default() };
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
    Moved { mover: bit(mover), rook: bit(rook), taken: bit(taken) }
}
