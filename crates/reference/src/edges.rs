//! Evaluates filters about played moves: `--`, `[x]`, `move`, and filters about the move that led to the current position.
//!
//! For `--`, castling consists of two moves, one by the king and one by the rook. For `move`, it is only the king's move. A move
//! counts as castling only if the king goes from e1 or e8 to the c-file or g-file. Any other castling, as in Chess960, counts as a
//! king move.

use shakmaty::{Bitboard, Piece, Role, Square};

use super::{
    copies::{ExplicitForm, PlainFilter},
    eval::Evaluation,
    geometry::xy,
    moves::ReducedMove,
    played::{MovePart, PlayedMove, Selected},
};
use orbit_core::board::{Code, PieceSet};
use orbit_query::tree::{Edge, Move, MoveOf, MoveValue, Promotion, Sibling, Special, Squares};

/// The operand values of a `--`, evaluated before the move.
pub(super) struct MoveOperands {
    capture: bool,
    from: Option<Bitboard>,
    to: Option<Bitboard>,
    promotion: Option<PieceSet>,
}

impl MoveOperands {
    /// Returns the parts of a move (movements of single pieces) that the operands select and for which `eligible` returns true. The
    /// move leads to the position `at`. Returns `None` if there are no such parts.
    pub(super) fn select(
        &self,
        played: &PlayedMove,
        at: usize,
        eligible: impl Fn(&MovePart) -> bool,
    ) -> Option<Selected> {
        let meets =
            |side: Option<Bitboard>, squares: Bitboard| side.is_none_or(|side| (side & squares).any());
        let promotes = |set: PieceSet| played.promoted.is_some_and(|role| is_of_kind(set, role));
        let captured = played.captured.map_or(Bitboard::EMPTY, Bitboard::from);
        if self.capture && (captured.is_empty() || !meets(self.to, captured))
            || self.promotion.is_some_and(|set| !promotes(set))
        {
            return None;
        }
        let fits = |part: &MovePart| meets(self.from, part.from) && (self.capture || meets(self.to, part.to));
        let parts: Vec<MovePart> =
            played.parts().into_iter().filter(|part| eligible(part) && fits(part)).collect();
        (!parts.is_empty()).then(|| Selected { at, part: MovePart::from_parts(parts) })
    }
}

/// Returns true if a set of pieces contains a piece of this role in either colour.
fn is_of_kind(set: PieceSet, role: Role) -> bool {
    shakmaty::Color::ALL.into_iter().any(|color| set.contains(Code::from_piece(Piece { color, role })))
}

/// A move tested by a `move` filter. It was played, or could be played.
struct Candidate {
    from: Bitboard,
    to: Bitboard,
    captured: Bitboard,
    /// The pieces to which the move promotes, or could promote, a pawn.
    promoted: Vec<Role>,
    is_named: bool,
    en_passant: bool,
    null: bool,
    /// The position after the move. `None` if the move was not played.
    child: Option<usize>,
}

/// The operand values of a `move` filter.
struct MoveSides {
    from: Option<Bitboard>,
    to: Option<Bitboard>,
    capture: Option<Bitboard>,
    en_passant_square: Option<Bitboard>,
}

impl Evaluation<'_> {
    // ---- the move that led to this position

    fn arrival(&self) -> Option<&PlayedMove> {
        self.tree().played(self.here.at)
    }

    /// Returns the squares that the filters `from` and `to` mean: the squares of the last move, or of the part of it that a `--`
    /// has selected.
    fn arrival_part(&self) -> MovePart {
        match self.scope.selected {
            Some(Selected { at, part }) if at == self.here.at => part,
            _ => MovePart::from_parts(self.arrival().into_iter().flat_map(PlayedMove::parts)),
        }
    }

    pub(super) fn squares_left(&self) -> Bitboard {
        self.arrival_part().from
    }

    pub(super) fn squares_reached(&self) -> Bitboard {
        self.arrival_part().to
    }

    pub(super) fn en_passant_square(&self) -> Bitboard {
        let captured = self.arrival().filter(|played| played.en_passant).and_then(|played| played.captured);
        captured.map_or(Bitboard::EMPTY, Bitboard::from)
    }

    pub(super) fn arrived_by(&self, special: Special) -> bool {
        self.arrival().is_some_and(|played| played.is(special))
    }

    pub(super) fn arrived_by_null_move(&self) -> bool {
        self.arrival().is_some_and(|played| played.null)
    }

    /// Returns true if the current position is of the kind `sibling`: the first child of its parent, or another child. The root is
    /// neither.
    pub(super) fn is_sibling(&self, sibling: Sibling) -> bool {
        self.tree().parent(self.here.at).is_some() && self.is_child(self.here.at, sibling)
    }

    /// Returns true if a child is of the kind `sibling`: the first child of its parent, or another child.
    pub(super) fn is_child(&self, child: usize, sibling: Sibling) -> bool {
        self.tree().is_secondary(child) == (sibling == Sibling::Secondary)
    }

    // ---- `--`

    /// Evaluates the operands of a `--` at the position before the move.
    pub(super) fn sides(&mut self, edge: &Edge<ExplicitForm>) -> MoveOperands {
        self.unselected(|before| MoveOperands {
            capture: edge.capture,
            from: before.side(edge.from.as_ref()),
            to: before.side(edge.to.as_ref()),
            promotion: edge.promotion.as_ref().map(|promotion| before.promotion(promotion)),
        })
    }

    fn side(&mut self, side: Option<&Squares<ExplicitForm>>) -> Option<Bitboard> {
        side.map(|side| self.squares(side))
    }

    fn promotion(&mut self, promotion: &Promotion<ExplicitForm>) -> PieceSet {
        match promotion {
            Promotion::Pieces(set) => *set,
            Promotion::Letters(text) => {
                let letters = self.text(text).unwrap_or_default();
                let pieces = letters.iter().filter_map(|&letter| Piece::from_char(char::from(letter)));
                pieces
                    .map(|piece| PieceSet::only(Code::from_piece(piece)))
                    .fold(PieceSet::EMPTY, PieceSet::union)
            }
        }
    }

    /// Returns the moves that satisfy the operands of a `--`, ordered by the positions after them.
    fn fitting(&mut self, edge: &Edge<ExplicitForm>) -> Vec<Selected> {
        let (before, children) = match self.tree().parent(self.here.at) {
            _ if !edge.entering => (self.here.at, self.tree().children(self.here.at).to_vec()),
            Some(parent) => (parent, vec![self.here.at]),
            None => return Vec::new(),
        };
        if children.is_empty() {
            return Vec::new();
        }
        let sides = self.there(before, |before| before.sides(edge));
        let select = |&child: &usize| sides.select(self.tree().played(child)?, child, |_| true);
        children.iter().filter_map(select).collect()
    }

    /// Calls `evaluate` at the position after a move that a `--` has selected. During this call, `from` and `to` mean the selected
    /// part of the move, the movement of one piece.
    pub(super) fn behind<T>(&mut self, selected: Selected, evaluate: impl FnOnce(&mut Self) -> T) -> T {
        self.scoped(|scope| scope.selected = Some(selected), |behind| behind.there(selected.at, evaluate))
    }

    /// Evaluates `target` after each move that satisfies the operands of a `--`, in order, until it has a value. Returns this
    /// value.
    pub(super) fn edge_value<T>(
        &mut self,
        edge: &Edge<ExplicitForm>,
        mut target: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<T> {
        let begin = self.notes_begin();
        self.fitting(edge).into_iter().find_map(|selected| {
            let value = self.behind(selected, &mut target)?;
            if let Some(before) = self.tree().parent(selected.at) {
                self.note_move(begin, before, selected.at);
            }
            Some(value)
        })
    }

    pub(super) fn edge_condition(&mut self, edge: &Edge<ExplicitForm>, target: Option<&PlainFilter>) -> bool {
        let target = |there: &mut Self| target.is_none_or(|target| there.matches(target)).then_some(());
        self.edge_value(edge, target).is_some()
    }

    /// Returns the value of the target of a `--` after the first move that satisfies the operands, even if it is an empty set.
    pub(super) fn edge_squares(
        &mut self,
        edge: &Edge<ExplicitForm>,
        target: &Squares<ExplicitForm>,
    ) -> Bitboard {
        let begin = self.notes_begin();
        let squares = self.edge_value(edge, |there| Some(there.squares(target))).unwrap_or(Bitboard::EMPTY);
        if squares.is_empty() {
            // With an empty set the filter does not match, so the move must not become part of the span.
            self.take_spans(begin);
        }
        squares
    }

    /// Returns the set of the target of a `--` after the first move that satisfies the operands, and a flag that is true if the target
    /// matches after any of these moves. The moves after the first match are not tried.
    pub(super) fn edge_squares_and_match(
        &mut self,
        edge: &Edge<ExplicitForm>,
        target: &Squares<ExplicitForm>,
    ) -> (Bitboard, bool) {
        let mut first = None;
        let matched = self.edge_value(edge, |there| {
            let (squares, matches) = there.squares_and_match(target);
            first.get_or_insert(squares);
            matches.then_some(())
        });
        (first.unwrap_or(Bitboard::EMPTY), matched.is_some())
    }

    pub(super) fn count_moves(&mut self, edge: &Edge<ExplicitForm>, target: Option<&PlainFilter>) -> i32 {
        let fits = |this: &mut Self, selected| {
            target.is_none_or(|target| this.behind(selected, |behind| behind.matches(target)))
        };
        self.fitting(edge).into_iter().filter(|&selected| fits(self, selected)).count() as i32
    }

    // ---- `move`

    pub(super) fn move_condition(&mut self, of: &Move<ExplicitForm>) -> bool {
        !self.qualifying(of).is_empty()
    }

    pub(super) fn move_squares(&mut self, of: &Move<ExplicitForm>) -> Bitboard {
        let squares = |candidate: &Candidate| match of.value {
            MoveValue::From => candidate.from,
            MoveValue::To => candidate.to,
            MoveValue::Capture => candidate.captured,
            MoveValue::Whether | MoveValue::Count => Bitboard::EMPTY,
        };
        self.qualifying(of).iter().map(squares).fold(Bitboard::EMPTY, |a, b| a | b)
    }

    pub(super) fn move_count(&mut self, of: &Move<ExplicitForm>) -> i32 {
        self.qualifying(of).len() as i32
    }

    /// Returns the moves that satisfy a `move` filter. Adds comments to played moves.
    fn qualifying(&mut self, of: &Move<ExplicitForm>) -> Vec<Candidate> {
        let before = match of.of {
            MoveOf::Previous => self.tree().parent(self.here.at),
            MoveOf::Played | MoveOf::Legal | MoveOf::Pseudolegal => Some(self.here.at),
        };
        let begin = self.notes_begin();
        let Some(before) = before else { return Vec::new() };
        let sides = self.there(before, |before| MoveSides {
            from: before.side(of.from.as_ref()),
            to: before.side(of.to.as_ref()),
            capture: before.side(of.capture.as_ref()),
            en_passant_square: before.side(of.en_passant_square.as_ref()),
        });
        let mut qualifying = self.candidates(of);
        qualifying.retain(|candidate| self.qualifies(of, &sides, candidate));
        if let Some(comment) = &of.comment {
            for child in qualifying.iter().filter_map(|candidate| candidate.child) {
                self.there(child, |behind| behind.comment(comment));
            }
        }
        if let Some(child) = qualifying.iter().find_map(|candidate| candidate.child) {
            self.note_move(begin, before, child);
        }
        qualifying
    }

    fn qualifies(&self, of: &Move<ExplicitForm>, sides: &MoveSides, candidate: &Candidate) -> bool {
        let meets =
            |side: Option<Bitboard>, squares: Bitboard| side.is_none_or(|side| (side & squares).any());
        let promotes = |set: PieceSet| candidate.promoted.iter().any(|&role| is_of_kind(set, role));
        meets(sides.from, candidate.from)
            && meets(sides.to, candidate.to)
            && meets(sides.capture, candidate.captured)
            && sides
                .en_passant_square
                .is_none_or(|side| candidate.en_passant && (side & candidate.captured).any())
            && of.promote.is_none_or(promotes)
            && candidate.is_named
            && (!of.null || candidate.null)
            && match (of.sibling, candidate.child) {
                (Some(sibling), Some(child)) => self.is_child(child, sibling),
                _ => true,
            }
    }

    /// Returns the moves that a `move` filter tests. If it is in a constituent of `line` that is evaluated for one particular move,
    /// only that move is tested.
    fn candidates(&mut self, of: &Move<ExplicitForm>) -> Vec<Candidate> {
        let here = self.here.at;
        match of.of {
            MoveOf::Played => {
                let tied = self.scope.tied.filter(|&child| self.tree().parent(child) == Some(here));
                let children = self.tree().children(here).iter().copied();
                let children = children.filter(|&child| tied.is_none_or(|tied| child == tied));
                children.filter_map(|child| self.played_candidate(of, child)).collect()
            }
            MoveOf::Previous => self.played_candidate(of, here).into_iter().collect(),
            MoveOf::Legal => self.possible_moves(of, &self.rules().legal),
            MoveOf::Pseudolegal => self.possible_moves(of, &self.here.placement.pseudolegal_moves()),
        }
    }

    /// Converts possible moves to candidates. Promotions to different pieces count as one move.
    fn possible_moves(&self, of: &Move<ExplicitForm>, steps: &[ReducedMove]) -> Vec<Candidate> {
        let mut distinct: Vec<ReducedMove> = Vec::new();
        for &step in steps {
            if !distinct.contains(&step) {
                distinct.push(step);
            }
        }
        distinct.into_iter().map(|step| self.possible(of, step)).collect()
    }

    fn played_candidate(&self, of: &Move<ExplicitForm>, child: usize) -> Option<Candidate> {
        let played = self.tree().played(child)?;
        let set = |s: Option<Square>| s.map_or(Bitboard::EMPTY, Bitboard::from);
        Some(Candidate {
            from: set(played.step.map(|(from, _)| from)),
            to: set(played.step.map(|(_, to)| to)),
            captured: set(played.captured),
            promoted: played.promoted.into_iter().collect(),
            is_named: played.is(of.only),
            en_passant: played.en_passant,
            null: played.null,
            child: Some(child),
        })
    }

    fn possible(&self, of: &Move<ExplicitForm>, step: ReducedMove) -> Candidate {
        let at = |s: Square| self.here.placement.at(s);
        let is_castling = step.is(Special::Castle);
        let captured = Some(step.takes_on()).filter(|&s| !is_castling && at(s).is_some());
        let is_pawn = at(step.from).is_some_and(|man| man.role == Role::Pawn);
        let promotes = is_pawn && [0, 7].contains(&xy(step.to).1);
        let becomes = [Role::Knight, Role::Bishop, Role::Rook, Role::Queen];
        Candidate {
            from: Bitboard::from(step.from),
            to: Bitboard::from(step.to),
            captured: captured.map_or(Bitboard::EMPTY, Bitboard::from),
            promoted: if promotes { becomes.to_vec() } else { Vec::new() },
            is_named: step.is(of.only),
            en_passant: step.is(Special::EnPassant),
            null: false,
            child: None,
        }
    }
}
