//! Lowers filters about moves to the graph: `--`, `[x]`, `move`, and the filters about the previous move.

use crate::{
    dag::{Id, Op, TRUE},
    lower::{Lower, TargetSquares},
    operations::{CastlingPart, EdgeTest, GameOp, Leaf, SquareTest},
};
use orbit_core::board::PieceSet;
use orbit_query::tree::{
    ConditionOp as C, Control, Edge, GameCondition, GameSquares, Kind as _, Move, MoveOf, MoveValue,
    Promotion, Ref, SquaresOp, TextOp, contents_where,
};
use orbit_transforms::{Expanded, Filter, FilterRef, Squares};

impl Lower {
    pub(crate) fn leaf(&mut self, leaf: Leaf) -> Id {
        self.dag.game(GameOp::Leaf(leaf), Vec::new())
    }

    /// Returns the value of `from` or, if `to` is true, of `to`: the origin or target squares of the previous move.
    pub(super) fn moved_squares(&mut self, to: bool) -> Id {
        match self.owned {
            Some(owned) if to => owned.to,
            Some(owned) => owned.from,
            None => self.leaf(if to { Leaf::To } else { Leaf::From }),
        }
    }

    fn square_test(&mut self, of: &Squares, operands: &mut Vec<Id>) -> SquareTest {
        if let SquaresOp::Designator { pieces, squares } = of.op() {
            return SquareTest::Pieces { contents: pieces.accepts(), squares: squares.0 };
        }
        let set = self.squares(of);
        match self.dag.constant(set) {
            Some(TRUE) => SquareTest::Any,
            Some(squares) => SquareTest::Pieces { contents: PieceSet::ALL, squares },
            None => {
                operands.push(set);
                SquareTest::Column
            }
        }
    }

    fn optional_test(&mut self, of: &Option<Squares>, operands: &mut Vec<Id>) -> Option<SquareTest> {
        of.as_ref().map(|of| self.square_test(of, operands))
    }

    /// Returns the test of a `--` filter, and the sets that the test reads. These sets are evaluated before the move.
    fn edge_test(&mut self, edge: &Edge<Expanded>) -> (EdgeTest, Vec<Id>) {
        let mut operands = Vec::new();
        let from = self.optional_test(&edge.from, &mut operands).unwrap_or(SquareTest::Any);
        let to = self.optional_test(&edge.to, &mut operands).unwrap_or(SquareTest::Any);
        let promotion = edge.promotion.as_ref().map(|promotion| match promotion {
            Promotion::Pieces(pieces) => *pieces,
            Promotion::Letters(text) => match text.op() {
                TextOp::Literal(letters) => contents_where(|code| {
                    let letter = code.0 & 7;
                    letters
                        .chars()
                        .any(|c| "PNBRQK".find(c.to_ascii_uppercase()) == Some(letter.wrapping_sub(1).into()))
                }),
                _ => PieceSet::NONE,
            },
        });
        let (to, captures) = if edge.capture { (SquareTest::Any, Some(to)) } else { (to, None) };
        (EdgeTest { from, to, captures, promotion, ..EdgeTest::ANY }, operands)
    }

    /// Lowers filters that are evaluated after a tested move. In these filters, `from` and `to` are the squares that passed the
    /// test, for example only the king's squares after castling.
    pub(super) fn behind<T>(
        &mut self,
        test: EdgeTest,
        operands: &[Id],
        lower: impl FnOnce(&mut Lower) -> T,
    ) -> T {
        let [from, to] = [false, true].map(|to| self.dag.game(GameOp::Own { test, to }, operands.to_vec()));
        let outer = self.owned.replace(TargetSquares { from, to });
        let out = lower(self);
        self.owned = outer;
        out
    }

    /// Lowers a `--` filter. Returns the mask of positions reached by a move that passes the test, and the result of `target` at
    /// these positions. If the filter tests the moves played from a position, callers must ignore the mask at the first position of
    /// each game.
    pub(super) fn edge<T>(&mut self, edge: &Edge<Expanded>, target: impl FnOnce(&mut Lower) -> T) -> (Id, T) {
        if edge.entering {
            let (test, operands) = self.apart(|lower| lower.edge_test(edge));
            let target = self.behind(test, &operands, target);
            return (self.entered(test, operands), target);
        }
        let (test, operands) = self.edge_test(edge);
        let target = self.apart(|lower| lower.behind(test, &operands, target));
        (self.passed(test, operands), target)
    }

    /// Returns the mask of positions reached by a move that passes a test.
    fn entered(&mut self, test: EdgeTest, operands: Vec<Id>) -> Id {
        if looks_at_no_move(test) {
            let initial = self.dag.add(Op::Initial);
            return self.not(initial);
        }
        self.dag.game(GameOp::Entered(test), operands)
    }

    /// Like [`Self::entered`], but for callers that ignore the first position of each game. The mask may be wrong there.
    fn passed(&mut self, test: EdgeTest, operands: Vec<Id>) -> Id {
        if looks_at_no_move(test) { self.dag.mask(true) } else { self.entered(test, operands) }
    }

    /// Lowers `L--R(T)` as a condition. `truth` lowers T.
    pub(crate) fn edge_truth(&mut self, edge: &Edge<Expanded>, truth: impl FnOnce(&mut Lower) -> Id) -> Id {
        let (entered, target) = self.edge(edge, truth);
        if edge.entering {
            return self.and(entered, target);
        }
        self.any_child(entered, target)
    }

    fn any_child(&mut self, entered: Id, target: Id) -> Id {
        match self.dag.constant(target) {
            Some(TRUE) => self.dag.game(GameOp::AnyChild, vec![entered]),
            _ if self.dag.constant(entered) == Some(TRUE) => self.dag.game(GameOp::AnyChild, vec![target]),
            _ => self.dag.game(GameOp::AnyChild, vec![entered, target]),
        }
    }

    /// Returns the mask of positions at which the target of a `--` matches. Without a target, the mask contains all positions.
    pub(crate) fn target(&mut self, target: Option<&Filter>) -> Id {
        match target {
            Some(target) => self.truth(target.node()),
            None => self.dag.mask(true),
        }
    }

    /// Lowers `countmoves L--R(T)`.
    pub(super) fn count_moves(&mut self, edge: &Edge<Expanded>, target: Option<&Filter>) -> Id {
        let (entered, target) = self.edge(edge, |lower| lower.target(target));
        if edge.entering {
            let both = self.and(entered, target);
            let (one, zero) = (self.dag.number(1), self.dag.number(0));
            return self.select(both, one, zero);
        }
        self.dag.game(GameOp::CountChildren, vec![entered, target])
    }

    /// Returns the value of a `--` filter. This is the value of its target after the first move that passes the test and after
    /// which the target matches. At positions without such a move, it is `none`. `word` lowers the target to its value, and to the
    /// mask of positions at which it matches.
    pub(super) fn edge_word(
        &mut self,
        edge: &Edge<Expanded>,
        none: u64,
        word: impl FnOnce(&mut Lower) -> (Id, Id),
    ) -> Id {
        let (entered, (word, counts)) = self.edge(edge, word);
        let mask = self.and(entered, counts);
        let none = self.dag.word(none);
        if edge.entering {
            return self.select(mask, word, none);
        }
        self.dag.game(GameOp::FirstChild, vec![mask, word, none])
    }

    // ---- `move`

    /// Returns the mask of positions reached by a move that a `move` filter accepts.
    pub(super) fn move_entered(&mut self, of: &Move<Expanded>) -> Id {
        let test = |lower: &mut Lower| {
            let mut operands = Vec::new();
            let from = lower.optional_test(&of.from, &mut operands).unwrap_or(SquareTest::Any);
            let to = lower.optional_test(&of.to, &mut operands).unwrap_or(SquareTest::Any);
            let captures = lower.optional_test(&of.capture, &mut operands);
            let passing = lower.optional_test(&of.en_passant_square, &mut operands);
            let test = EdgeTest {
                from,
                to,
                captures,
                passing,
                promotion: of.promote,
                kings: true,
                part: None,
                only: of.only,
                null: of.null,
                sibling: of.sibling,
            };
            (test, operands)
        };
        let (test, operands) = if of.of == MoveOf::Previous { self.apart(test) } else { test(self) };
        self.entered(test, operands)
    }

    /// Returns the mask of positions at which a `move` filter matches.
    pub(super) fn move_truth(&mut self, of: &Move<Expanded>) -> Id {
        match of.of {
            MoveOf::Previous => self.move_entered(of),
            MoveOf::Played => {
                let entered = self.move_entered(of);
                self.dag.game(GameOp::AnyChild, vec![entered])
            }
            MoveOf::Legal | MoveOf::Pseudolegal => {
                let reached = self.legal_squares(of, false);
                self.dag.add(Op::NonEmpty(reached))
            }
        }
    }

    /// Returns the squares that are the value of a `move` filter.
    pub(super) fn move_squares(&mut self, of: &Move<Expanded>) -> Id {
        if matches!(of.of, MoveOf::Legal | MoveOf::Pseudolegal) {
            return self.legal_squares(of, of.value == MoveValue::From);
        }
        let entered = self.move_entered(of);
        let squares = self.leaf(match of.value {
            MoveValue::From => Leaf::MovedFrom,
            MoveValue::Capture => Leaf::Captured,
            _ => Leaf::MovedTo,
        });
        let squares = self.and(squares, entered);
        match of.of {
            MoveOf::Previous => squares,
            _ => self.dag.game(GameOp::UnionChildren, vec![squares]),
        }
    }

    /// Returns the target squares of legal or pseudolegal moves or, if `left` is true, their origin squares.
    fn legal_squares(&mut self, of: &Move<Expanded>, left: bool) -> Id {
        let (from, to) = self.legal_sets(of);
        self.dag.add(Op::Legal { from, to, pseudo: of.of == MoveOf::Pseudolegal, only: of.only, left })
    }

    fn legal_sets(&mut self, of: &Move<Expanded>) -> (Id, Id) {
        let mut set = |of: &Option<Squares>| match of {
            Some(of) => self.squares(of),
            None => self.dag.word(TRUE),
        };
        (set(&of.from), set(&of.to))
    }

    /// Lowers `move legal count` and `move pseudolegal count`.
    pub(super) fn legal_number(&mut self, of: &Move<Expanded>) -> Id {
        let (from, to) = self.legal_sets(of);
        self.dag.add(Op::LegalCount { from, to, pseudo: of.of == MoveOf::Pseudolegal, only: of.only })
    }

    // ---- constituents of a line in which `move` means the next move of the line

    /// Lowers a constituent of a line in which `move` means the next move of the line. Returns the mask of positions reached by a
    /// move that the constituent accepts.
    pub(super) fn leaving(&mut self, filter: FilterRef) -> Id {
        if !super::refusals::stands_for_move(filter) {
            let here = self.truth(filter);
            return self.dag.game(GameOp::MaskOfParent, vec![here]);
        }
        match filter {
            Ref::Condition(f) => match f.op() {
                C::Braces(all) => {
                    let mut both = self.dag.mask(true);
                    for filter in all {
                        let next = self.leaving(filter.node());
                        both = self.and(both, next);
                    }
                    return both;
                }
                C::And(a, b) => {
                    let (a, b) = (self.leaving(a.node()), self.leaving(b.node()));
                    return self.and(a, b);
                }
                C::Or(a, b) => {
                    let (a, b) = (self.leaving(a.node()), self.leaving(b.node()));
                    return self.or(a, b);
                }
                C::Not(of) => {
                    let of = self.leaving(of.node());
                    return self.not(of);
                }
                C::Game(GameCondition::Move(of)) => return self.move_entered(of),
                _ => {}
            },
            Ref::Squares(f) => match f.op() {
                SquaresOp::Game(GameSquares::Move(of)) => return self.move_entered(of),
                SquaresOp::Control(Control::Braces { first, last }) => {
                    let mut both = self.leaving(last.node());
                    for filter in first {
                        let next = self.leaving(filter.node());
                        both = self.and(both, next);
                    }
                    return both;
                }
                _ => {}
            },
            _ => {}
        }
        self.refuse("a constituent of `line` with `move` inside such a filter");
        self.dag.mask(false)
    }

    /// Lowers a move constituent of a path. For each of `parts`, returns the mask of positions reached by a move that passes the
    /// test. `None` tests the whole move. Any other part accepts only castling, and tests the king's or the rook's move alone.
    pub(super) fn path_edge(
        &mut self,
        edge: &Edge<Expanded>,
        parts: &[Option<CastlingPart>],
        targets: &[Filter],
    ) -> Vec<Id> {
        let (test, operands) = self.edge_test(edge);
        let target = self.apart(|lower| lower.behind(test, &operands, |lower| lower.all(targets)));
        let mut mask = |part| {
            let passed = self.passed(EdgeTest { part, ..test }, operands.clone());
            self.and(passed, target)
        };
        parts.iter().map(|&part| mask(part)).collect()
    }
}

/// Returns true if every move passes `test`. The field `kings` is ignored, because it matters only if the test restricts a square.
fn looks_at_no_move(test: EdgeTest) -> bool {
    EdgeTest { kings: false, ..test } == EdgeTest::ANY
}
