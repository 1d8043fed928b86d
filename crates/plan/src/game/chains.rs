//! Lowers `line` and `path` to the graph. Each becomes an automaton that reads masks.

use std::sync::Arc;

use crate::{
    dag::{Id, Op},
    lower::Lower,
    operations::{Automaton, AutomatonState, CastlingPart, ChainPart, GameOp, Sees, Walk},
};
use orbit_core::board::PieceSet;
use orbit_query::tree::{
    Chain, Cmp, Focus, Kind as _, Line, LineStep, NumberOp, Path, PathStep, Sibling, SquaresOp,
};
use orbit_transforms::{Expanded, Number, Squares};
use shakmaty::Bitboard;

/// The masks that an automaton (the translation of a `line` or `path`) reads. The automaton refers to them by index.
#[derive(Default)]
struct AutomatonMasks(Vec<Id>);

impl AutomatonMasks {
    fn add(&mut self, mask: Id) -> u16 {
        let place = self.0.iter().position(|known| *known == mask).unwrap_or_else(|| {
            self.0.push(mask);
            self.0.len() - 1
        });
        place as u16
    }
}

/// The range in which the value of a `line` or `path` must lie.
enum ChainRange {
    Known(i32, i32),
    /// The bounds, which are computed at each position, and the mask of positions at which both have a value.
    Read {
        lo: Id,
        hi: Id,
        ok: Id,
    },
}

impl Lower {
    /// Lowers `line`. Returns its value, and the mask of positions at which it has one. The value is the number of positions in
    /// the line or, if `end` is true, the last position of the line.
    pub(super) fn line(&mut self, line: &Line<Expanded>, end: bool) -> (Id, Id) {
        let mut masks = AutomatonMasks::default();
        let chain = self.line_chain(&line.chain, &mut masks);
        let walk = |automaton| Walk {
            automaton,
            moves: false,
            back: line.back,
            sees: if line.single_color { Sees::OneSide } else { Sees::All },
            sibling: line.sibling,
            first_match: line.first_match,
            largest: false,
            range: (i32::MIN, i32::MAX),
            nestban: line.nestban,
            end,
        };
        self.walk(&chain, masks, line.range.as_ref(), [None, None], walk)
    }

    fn line_chain(
        &mut self,
        chain: &Chain<LineStep<Expanded>>,
        masks: &mut AutomatonMasks,
    ) -> Chain<ChainPart> {
        let mut part = |step: &LineStep<Expanded>| -> Result<ChainPart, std::convert::Infallible> {
            let node = step.filter.node();
            let mask = self.apart(|lower| lower.truth(node));
            let mask = masks.add(mask);
            let leaving = step.tied.then(|| {
                let leaving = self.apart(|lower| lower.leaving(node));
                masks.add(leaving)
            });
            Ok(ChainPart::State(AutomatonState { mask, leaving, castling: None }))
        };
        let Ok(chain) = chain.try_map(&mut part);
        chain
    }

    /// Lowers `path`. Returns its value, and the mask of positions at which it has one. The value is the number of moves in the
    /// path or, with `max`, the largest value of `max` at the end of a path. If `end` is true, the value is the last position of
    /// the path.
    pub(super) fn path(&mut self, path: &Path<Expanded>, end: bool) -> (Id, Id) {
        let (sees, side) = self.focus(path.focus.as_ref());
        let pieces = match (&path.focus, sees) {
            (Some(Focus::Pieces { of, .. }), Sees::Pieces { .. }) => Some(self.squares(of)),
            _ => None,
        };
        let mut masks = AutomatonMasks::default();
        let chain = self.path_chain(&path.chain, pieces.is_some(), &mut masks);
        let largest = path.max.as_ref().map(|max| {
            self.apart(|lower| {
                let number = lower.number(max);
                lower.packed_number(number)
            })
        });
        let walk = |automaton| Walk {
            automaton,
            moves: true,
            back: false,
            sees,
            sibling: path.primary.then_some(Sibling::Primary),
            first_match: path.first_match,
            largest: largest.is_some(),
            range: (i32::MIN, i32::MAX),
            nestban: path.nestban,
            end,
        };
        let outer = self.guard;
        self.guard = self.and(outer, side);
        let (number, ok) = self.walk(&chain, masks, path.range.as_ref(), [largest, pieces], walk);
        self.guard = outer;
        (number, self.and(ok, side))
    }

    /// Returns the moves to which a path is restricted, and the mask of positions at which a path can begin.
    fn focus(&mut self, focus: Option<&Focus<Expanded>>) -> (Sees, Id) {
        let always = self.dag.mask(true);
        match focus {
            None => (Sees::All, always),
            Some(Focus::SideToMove) => (Sees::OneSide, always),
            Some(Focus::Pieces { capture, of }) => match (whole_sides(of), capture) {
                (Some([true, true]), _) => (Sees::All, always),
                (Some([white, _]), false) => {
                    let to_move = self.dag.add(Op::WhiteToMove);
                    (Sees::OneSide, if white { to_move } else { self.not(to_move) })
                }
                _ => (Sees::Pieces { capture: *capture }, always),
            },
        }
    }

    fn path_chain(
        &mut self,
        chain: &Chain<PathStep<Expanded>>,
        of_pieces: bool,
        masks: &mut AutomatonMasks,
    ) -> Chain<ChainPart> {
        let mut part = |step: &PathStep<Expanded>| -> Result<ChainPart, std::convert::Infallible> {
            Ok(match step {
                PathStep::Filter(filter) => {
                    let mask = self.apart(|lower| lower.truth(filter.node()));
                    ChainPart::Guard(masks.add(mask))
                }
                PathStep::Edge { edge, targets } => {
                    let parts: &[_] = match of_pieces {
                        true => &[None, Some(CastlingPart::King), Some(CastlingPart::Rook)],
                        false => &[None],
                    };
                    let found = self.apart(|lower| lower.path_edge(edge, parts, targets));
                    let mut places = found.into_iter().map(|mask| masks.add(mask));
                    let mask = places.next().unwrap_or_default();
                    ChainPart::State(match (places.next(), places.next()) {
                        (Some(king), Some(rook)) => {
                            AutomatonState { mask, leaving: None, castling: Some([king, rook]) }
                        }
                        _ => AutomatonState { mask, leaving: None, castling: None },
                    })
                }
            })
        };
        let Ok(chain) = chain.try_map(&mut part);
        chain
    }

    /// Builds the automaton of a chain (a `line` or `path`) and runs it from each position. Returns the value of the match from
    /// each position, and the mask of positions from which there is a match.
    fn walk(
        &mut self,
        chain: &Chain<ChainPart>,
        masks: AutomatonMasks,
        range: Option<&[Number; 2]>,
        [largest, pieces]: [Option<Id>; 2],
        walk: impl FnOnce(Automaton) -> Walk,
    ) -> (Id, Id) {
        let Some(automaton) = Automaton::new(chain, masks.0.len()) else {
            self.refuse("a chain with so many constituents once repetitions are written out");
            return self.no_number();
        };
        let mut walk = walk(automaton);
        let range = range.map(|range| self.range(range));
        if let Some(ChainRange::Known(lo, hi)) = range {
            walk.range = (lo, hi);
        }
        if walk.nestban && matches!(range, Some(ChainRange::Read { .. })) {
            self.refuse("`nestban` with a range that is not written as numbers");
        }
        let nestban = walk.nestban.then_some(self.guard);
        let operands: Vec<Id> = masks.0.into_iter().chain(largest).chain(nestban).chain(pieces).collect();
        let (end, any) = (walk.end, !walk.nestban && walk.range == (i32::MIN, i32::MAX));
        if let (true, Some(ChainRange::Read { .. })) = (end, &range) {
            self.refuse("`lastposition` with a range that is not written as numbers");
        }
        let walk = Arc::new(walk);
        let word = self.dag.game(GameOp::Walk(walk.clone()), operands.clone());
        let (number, mut found) = self.unpacked_number(word);
        if any {
            // Most queries need only the mask of positions from which there is a match, not the values of the matches. `AnyWalk`
            // computes the mask faster than `Walk` computes the values.
            found = self.dag.game(GameOp::AnyWalk(walk), operands);
        }
        let Some(ChainRange::Read { lo, hi, ok }) = range else { return (number, found) };
        let above = self.dag.add(Op::Compare(Cmp::Ge, number, lo));
        let below = self.dag.add(Op::Compare(Cmp::Le, number, hi));
        let ok = [ok, above, below].into_iter().fold(found, |all, mask| self.and(all, mask));
        (number, ok)
    }

    fn range(&mut self, [lo, hi]: &[Number; 2]) -> ChainRange {
        if let (NumberOp::Int(lo), NumberOp::Int(hi)) = (lo.op(), hi.op()) {
            return ChainRange::Known(*lo, *hi);
        }
        let ((lo, lo_ok), (hi, hi_ok)) = (self.number(lo), self.number(hi));
        ChainRange::Read { lo, hi, ok: self.and(lo_ok, hi_ok) }
    }
}

/// If a set consists of all pieces of one side or of both sides, returns two flags: true if White's pieces are in the set, and true
/// if Black's are. Returns `None` if the set contains only some pieces of a side, or no pieces.
fn whole_sides(of: &Squares) -> Option<[bool; 2]> {
    let SquaresOp::Designator { pieces, squares: Bitboard::FULL } = of.op() else {
        return matches!(of.op(), SquaresOp::Constant(Bitboard::FULL)).then_some([true, true]);
    };
    let holds = |side: PieceSet| match pieces.accepts().0 & side.0 {
        0 => Some(false),
        all if all == side.0 => Some(true),
        _ => None,
    };
    let sides = [holds(PieceSet::WHITE)?, holds(PieceSet::BLACK)?];
    (sides != [false, false]).then_some(sides)
}
