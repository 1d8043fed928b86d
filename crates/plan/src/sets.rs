//! Lowers filters whose value is a set of squares. Each becomes a word.

use shakmaty::Bitboard;

use super::{
    dag::{Id, Op},
    lower::{LIGHT, Lower},
};
use orbit_core::board::{Code, PieceSet};
use orbit_query::tree::{Control, Kind as _, OneOrMore, PawnKind, PinPart, SquaresOp as S, contents_where};
use orbit_transforms::Squares;

const fn opposite(dir: u8) -> u8 {
    (dir + 4) % 8
}

impl Lower {
    /// Lowers a set filter. Returns the word with its squares.
    pub fn squares(&mut self, f: &Squares) -> Id {
        match f.op() {
            S::Designator { pieces, squares } => {
                let on = self.mask_slot(squares.0);
                let pieces = self.dag.pieces(pieces.accepts());
                self.and(pieces, on)
            }
            S::Constant(squares) => self.dag.word(squares.0),
            S::Union(a, b) => {
                let (a, b) = (self.squares(a), self.squares(b));
                self.or(a, b)
            }
            S::Intersect(a, b) => {
                let (a, b) = (self.squares(a), self.squares(b));
                self.and(a, b)
            }
            S::Complement(of) => {
                let of = self.squares(of);
                self.not(of)
            }
            S::Attacks(x, y) => {
                let may = contents(x);
                let (x, y) = (self.squares(x), self.squares(y));
                self.attackers(x, may, y)
            }
            S::AttackedBy(y, x) => {
                let may = contents(x);
                let (y, x) = (self.squares(y), self.squares(x));
                let reached = self.attacked(x, may);
                self.and(y, reached)
            }
            S::Xray { forward, sets } => self.xray(sets, *forward),
            S::Between(x, y) => self.between(x, y),
            S::Ray { dirs, attack, sets } => self.ray(sets, dirs.0, *attack),
            S::Pin { value, from, through, to } => self.pin([from, through, to], *value),
            S::Direction { dirs, lo, hi, of } => {
                let set = self.squares(of);
                self.dag.add(Op::Walk { set, dirs: dirs.0, lo: *lo, hi: *hi })
            }
            S::DirectionWithin { dirs, lo, hi, of } => self.walk_within([lo, hi], of, dirs.0),
            S::Shade { light, of } => {
                let on = self.mask_slot(if *light { LIGHT } else { !LIGHT });
                let set = self.squares(of);
                self.and(set, on)
            }
            S::Pawns(kind) => self.pawns(*kind),
            S::Pure { kind, mate } => self.pure(*kind, *mate),
            S::MakeSquare { file, rank } => {
                let ((file, a), (rank, b)) = (self.number(file), self.number(rank));
                let square = self.dag.add(Op::MakeSquare { file, rank });
                let ok = self.and(a, b);
                self.and(square, ok)
            }
            S::SquareLoop { var, domain, body } => self.square_loop(*var, domain, body.node(), false).1,
            S::Legal(of) => {
                let (from, to) = (self.squares(&of.from), self.squares(&of.to));
                self.dag.add(Op::Legal { from, to, pseudo: of.pseudo, only: of.only, left: false })
            }
            S::Control(Control::Var(var)) => match self.cells.squares(*var) {
                Some(&set) => set,
                None => self.dag.word(0),
            },
            S::Control(Control::If { condition, then, other }) => {
                let (mask, a, b) = self.branches(
                    condition.node(),
                    |lower| lower.squares(then),
                    |lower| lower.squares(other),
                );
                self.select(mask, a, b)
            }
            S::Control(Control::Braces { first, last }) => {
                let (all, set) = self.braces(first, |lower| lower.squares(last));
                self.and(set, all)
            }
            S::Game(op) => self.game_squares(op),
            S::Form(orbit) => self.union_of(orbit),
        }
    }

    /// Returns the squares of `x` from which a piece attacks a square of `y`. `may` contains all pieces that can stand on `x`.
    pub(super) fn attackers(&mut self, x: Id, may: PieceSet, y: Id) -> Id {
        let mut parts = Vec::new();
        let movers = |lower: &mut Lower, role: u8| lower.movers(may, &[role]);
        if let Some(knights) = movers(self, 2) {
            let near = self.dag.add(Op::Knight(y));
            parts.push(self.and(near, knights));
        }
        if let Some(kings) = movers(self, 6) {
            let near = self.dag.add(Op::King(y));
            parts.push(self.and(near, kings));
        }
        for white in [true, false] {
            let code = Code(if white { 1 } else { 9 });
            if may.contains(code) {
                // White pawns attack `y` from exactly the squares that black pawns on `y` would attack.
                let near = self.dag.add(Op::Pawn { set: y, white: !white });
                let pawns = self.dag.pieces(PieceSet::only(code));
                parts.push(self.and(near, pawns));
            }
        }
        let empty = self.dag.pieces(PieceSet::EMPTY);
        for (dirs, role) in [([0, 2, 4, 6], 4), ([1, 3, 5, 7], 3)] {
            if let Some(sliders) = self.movers(may, &[role, 5]) {
                let seen = dirs.iter().map(|&dir| self.dag.add(Op::Slide { set: y, empty, dir })).collect();
                let seen = self.dag.any_of(seen);
                parts.push(self.and(seen, sliders));
            }
        }
        let all = self.dag.any_of(parts);
        self.and(all, x)
    }

    /// Returns the squares that the pieces on `x` attack. `may` contains all pieces that can stand on `x`.
    pub(super) fn attacked(&mut self, x: Id, may: PieceSet) -> Id {
        let mut parts = Vec::new();
        if let Some(knights) = self.movers(may, &[2]) {
            let knights = self.and(knights, x);
            parts.push(self.dag.add(Op::Knight(knights)));
        }
        if let Some(kings) = self.movers(may, &[6]) {
            let kings = self.and(kings, x);
            parts.push(self.dag.add(Op::King(kings)));
        }
        for white in [true, false] {
            let code = Code(if white { 1 } else { 9 });
            if may.contains(code) {
                let pawns = self.dag.pieces(PieceSet::only(code));
                let set = self.and(pawns, x);
                parts.push(self.dag.add(Op::Pawn { set, white }));
            }
        }
        let empty = self.dag.pieces(PieceSet::EMPTY);
        for (dirs, role) in [([0, 2, 4, 6], 4), ([1, 3, 5, 7], 3)] {
            if let Some(sliders) = self.movers(may, &[role, 5]) {
                let set = self.and(sliders, x);
                parts.extend(dirs.map(|dir| self.dag.add(Op::Slide { set, empty, dir })));
            }
        }
        self.dag.any_of(parts)
    }

    /// Returns the squares of the pieces that are in `may` and have one of the given roles. Returns `None` if `may` contains no
    /// such piece.
    pub(super) fn movers(&mut self, may: PieceSet, roles: &[u8]) -> Option<Id> {
        let set = contents_where(|code| may.contains(code) && roles.contains(&(code.0 & 7)));
        (set != PieceSet::NONE).then(|| self.dag.pieces(set))
    }

    /// Returns the squares of all pieces that can slide in direction `dir`.
    fn sliders(&mut self, dir: u8) -> Id {
        self.pieces_where(|code| slides(code, dir))
    }

    fn slide(&mut self, set: Id, dir: u8) -> Id {
        let empty = self.dag.pieces(PieceSet::EMPTY);
        self.dag.add(Op::Slide { set, empty, dir })
    }

    fn xray(&mut self, of: &OneOrMore<Squares>, forward: bool) -> Id {
        let sets: Vec<Id> = of.iter().map(|set| self.squares(set)).collect();
        let last = sets.len() - 1;
        let may = contents(if forward { &of.first } else { of.last() });
        let rays = (0..8)
            .filter(|&dir| may_slide(may, dir))
            .map(|dir| {
                let sliders = self.sliders(dir);
                if forward {
                    // The line is followed backwards, from its end to the slider at its beginning.
                    let back = sets[..last].iter().rev().fold(sets[last], |at, &set| {
                        let seen = self.slide(at, opposite(dir));
                        self.and(seen, set)
                    });
                    self.and(back, sliders)
                } else {
                    let start = self.and(sets[last], sliders);
                    sets[..last].iter().rev().fold(start, |at, &set| {
                        let seen = self.slide(at, dir);
                        self.and(seen, set)
                    })
                }
            })
            .collect();
        self.dag.any_of(rays)
    }

    fn ray(&mut self, of: &OneOrMore<Squares>, dirs: u8, attack: bool) -> Id {
        let sets: Vec<Id> = of.iter().map(|set| self.squares(set)).collect();
        let rays = (0..8)
            .filter(|&dir| dirs >> dir & 1 != 0 && (!attack || may_slide(contents(&of.first), dir)))
            .map(|dir| {
                let mut at = sets[0];
                if attack {
                    let sliders = self.sliders(dir);
                    at = self.and(at, sliders);
                }
                sets[1..].iter().fold(at, |at, &set| {
                    let seen = self.slide(at, dir);
                    self.and(seen, set)
                })
            })
            .collect();
        self.dag.any_of(rays)
    }

    fn between(&mut self, x: &Squares, y: &Squares) -> Id {
        let (x, y) = (self.squares(x), self.squares(y));
        let parts = (0..8u8)
            .map(|dir| {
                let from_x = self.dag.add(Op::Walk { set: x, dirs: 1 << dir, lo: 1, hi: 7 });
                let from_y = self.dag.add(Op::Walk { set: y, dirs: 1 << opposite(dir), lo: 1, hi: 7 });
                self.and(from_x, from_y)
            })
            .collect();
        self.dag.any_of(parts)
    }

    pub(super) fn pin(&mut self, args: [&Squares; 3], value: PinPart) -> Id {
        let sets = args.map(|arg| self.squares(arg));
        let may = |arg: usize, wanted: PieceSet| PieceSet(contents(args[arg]).0 & wanted.0);
        let mut parts = Vec::new();
        for own in [PieceSet::WHITE, PieceSet::BLACK] {
            let enemy = if own == PieceSet::WHITE { PieceSet::BLACK } else { PieceSet::WHITE };
            let pinning = may(0, own);
            if may(1, enemy) == PieceSet::NONE || may(2, enemy.union(PieceSet::EMPTY)) == PieceSet::NONE {
                continue;
            }
            let own = self.dag.pieces(own);
            let enemy_or_empty = self.dag.pieces(enemy.union(PieceSet::EMPTY));
            let enemy = self.dag.pieces(enemy);
            for dir in (0..8).filter(|&dir| may_slide(pinning, dir)) {
                let sliders = self.sliders(dir);
                let pinners = self.and(sets[0], sliders);
                let pinners = self.and(pinners, own);
                let targets = self.and(sets[2], enemy_or_empty);
                let ahead = self.slide(pinners, dir);
                let behind = self.slide(targets, opposite(dir));
                let pinned = self.and(ahead, behind);
                let pinned = self.and(pinned, enemy);
                let pinned = self.and(pinned, sets[1]);
                parts.push(match value {
                    PinPart::Through => pinned,
                    PinPart::From => {
                        let back = self.slide(pinned, opposite(dir));
                        self.and(back, pinners)
                    }
                    PinPart::To => {
                        let on = self.slide(pinned, dir);
                        self.and(on, targets)
                    }
                });
            }
        }
        self.dag.any_of(parts)
    }

    fn pawns(&mut self, kind: PawnKind) -> Id {
        let sides = [(1u8, 9u8, 64u8), (9, 1, 4)];
        let mut parts = Vec::new();
        for (own, enemy, towards_us) in sides {
            let pawns = self.dag.pieces(PieceSet::only(Code(own)));
            parts.push(match kind {
                PawnKind::Passed => {
                    let enemies = self.dag.pieces(PieceSet::only(Code(enemy)));
                    let (left, right) = (self.step(enemies, -1, 0), self.step(enemies, 1, 0));
                    let wide = self.dag.any_of(vec![enemies, left, right]);
                    let stopped = self.dag.add(Op::Walk { set: wide, dirs: towards_us, lo: 1, hi: 7 });
                    self.dag.add(Op::AndNot(pawns, stopped))
                }
                PawnKind::Doubled => {
                    let others = self.dag.add(Op::Walk { set: pawns, dirs: 4 | 64, lo: 1, hi: 7 });
                    self.and(pawns, others)
                }
                PawnKind::Connected | PawnKind::Isolated => {
                    let files = self.dag.add(Op::FillFiles(pawns));
                    let (left, right) = (self.step(files, -1, 0), self.step(files, 1, 0));
                    let beside = self.or(left, right);
                    if kind == PawnKind::Connected {
                        self.and(pawns, beside)
                    } else {
                        self.dag.add(Op::AndNot(pawns, beside))
                    }
                }
            });
        }
        self.dag.any_of(parts)
    }
}

/// Returns true if a piece can slide in direction `dir`.
fn slides(code: Code, dir: u8) -> bool {
    let role = if dir.is_multiple_of(2) { 4 } else { 3 };
    [role, 5].contains(&(code.0 & 7))
}

/// Returns true if a piece in the set can slide in direction `dir`.
fn may_slide(contents: PieceSet, dir: u8) -> bool {
    contents_where(|code| contents.contains(code) && slides(code, dir)) != PieceSet::NONE
}

/// Returns a set that contains every piece that can stand on a square in a set filter's value, and the empty square if such a
/// square can be empty. The set may contain other pieces, too.
pub(super) fn contents(f: &Squares) -> PieceSet {
    match f.op() {
        S::Designator { pieces, .. } => pieces.accepts(),
        S::Constant(Bitboard::EMPTY) => PieceSet::NONE,
        S::Intersect(a, b) => PieceSet(contents(a).0 & contents(b).0),
        S::Union(a, b) => contents(a).union(contents(b)),
        S::Attacks(of, _)
        | S::AttackedBy(of, _)
        | S::Shade { of, .. }
        | S::SquareLoop { domain: of, .. }
        | S::Control(Control::Braces { last: of, .. }) => contents(of),
        S::Form(orbit) => {
            orbit.copies.iter().fold(PieceSet::NONE, |all, copy| all.union(contents(&copy.filter)))
        }
        _ => PieceSet::ALL,
    }
}
