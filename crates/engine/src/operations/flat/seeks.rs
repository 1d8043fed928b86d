//! Searches along a game for positions at which a filter may match. They skip positions from which no suitable move is
//! played, and positions at which a certain piece is not on a required square.

use std::ops::RangeInclusive;

use super::{FlatMachine, NONE, POSITIONS_A_TURN, PieceIds, Stopped, bit};
use crate::operations::{moves::BlockMoves, tree::NodeRange};
use orbit_plan::{MoveSeek, RegisterWord};

/// For each position of a game, a summary of the moves played from it. The first search in a game fills this table.
#[derive(Default)]
pub(super) struct Leaving {
    is_filled: bool,
    of: Vec<Left>,
}

/// A summary of the moves played from a position.
#[derive(Clone, Copy, Default)]
struct Left {
    /// The squares that the moves leave.
    from: u64,
    /// The squares that the moves reach.
    to: u64,
    /// The pieces that move, one bit for each piece number; 0 if the program does not track pieces.
    movers: u64,
}

/// The moves that pass a test.
struct Wanted {
    /// The move must leave one of these squares.
    from: u64,
    /// The move must reach one of these squares.
    to: u64,
    /// The bit of the piece that must move. `None` if any piece may move.
    piece: Option<u64>,
}

impl Wanted {
    /// Returns true if one of the moves that are played from a position, summarised in `left`, may pass the test.
    fn includes(&self, left: &Left) -> bool {
        left.from & self.from != 0
            && left.to & self.to != 0
            && self.piece.is_none_or(|piece| left.movers & piece != 0)
    }
}

impl Leaving {
    /// Prepares for a new game.
    pub(super) fn begin(&mut self) {
        self.is_filled = false;
    }

    fn fill(&mut self, nodes: NodeRange<'_>, moves: &BlockMoves, men: &PieceIds) {
        self.is_filled = true;
        self.of.clear();
        self.of.resize(nodes.len(), Left::default());
        for node in 1..nodes.len() {
            let (parent, slot) = (nodes.parent(node), nodes.slot(node));
            let on = men.on.get(parent);
            let left = &mut self.of[parent];
            let mut add = |from: u8, to: u8| {
                left.from |= 1 << from;
                left.to |= 1 << to;
                left.movers |= on.map_or(0, |on| bit(on[usize::from(from)]));
            };
            match moves.plain_squares(slot) {
                Some([from, to]) => add(from, to),
                None => {
                    let mv = moves.to(slot);
                    mv.left().into_iter().zip(mv.reached()).for_each(|(from, to)| add(from, to));
                }
            }
        }
    }
}

impl FlatMachine<'_> {
    /// Returns the first node (position) of a range from which a move is played that may pass the test `seek`.
    pub(super) fn next_left(
        &mut self,
        nodes: NodeRange<'_>,
        seek: u16,
        first: usize,
        last: usize,
    ) -> Result<Option<usize>, Stopped> {
        let Some(wanted) = self.wanted(nodes, seek) else { return Ok(Some(first)) };
        let nodes = &self.leaving.of[first..=last];
        let found = nodes.iter().position(|left| wanted.includes(left));
        let passed = found.unwrap_or(nodes.len());
        self.look_at(POSITIONS_A_TURN + passed)?;
        Ok(found.map(|place| first + place))
    }

    /// Removes the targets of a search for pairs (see [`PairSearch`](orbit_plan::PairSearch)) from which no move is
    /// played that may pass the test `seek`.
    pub(super) fn keep_left(&mut self, nodes: NodeRange<'_>, seek: u16, pairs: usize) {
        if let Some(wanted) = self.wanted(nodes, seek) {
            self.targets[pairs].keep(|target| wanted.includes(&self.leaving.of[target]));
        }
    }

    /// Returns the moves that pass the test of a search. Returns `None` if the test reads a variable without a value. No
    /// position may then be skipped, because the program must report the error.
    fn wanted(&mut self, nodes: NodeRange<'_>, seek: u16) -> Option<Wanted> {
        let MoveSeek { from, to, piece, vars } = &self.program.seeks[usize::from(seek)];
        if vars.iter().any(|&var| !self.bound[usize::from(var)]) {
            return None;
        }
        if !self.leaving.is_filled {
            self.leaving.fill(nodes, self.games.moves(), &self.men);
        }
        let [from, to] = [from, to].map(|set| set.map_or(u64::MAX, |set| self.get(set)));
        Some(Wanted { from, to, piece: piece.map(|piece| bit(self.get(piece) as u8)) })
    }

    /// Returns the first node (position) of a range at which a piece is on the only square of a set. An empty set means
    /// that the piece has been captured.
    pub(super) fn next_standing(
        &mut self,
        nodes: RangeInclusive<usize>,
        piece: RegisterWord,
        set: RegisterWord,
    ) -> Result<Option<usize>, Stopped> {
        let (piece, set, first) = (self.get(piece) as usize & 63, self.get(set), *nodes.start());
        let square = match set.count_ones() {
            0 => NONE,
            1 => set.trailing_zeros() as u8,
            _ => return Ok(None),
        };
        let squares = &self.men.of[nodes];
        let found = squares.iter().position(|of| of[piece] == square);
        let passed = found.unwrap_or(squares.len());
        self.look_at(POSITIONS_A_TURN + passed)?;
        Ok(found.map(|place| first + place))
    }
}
