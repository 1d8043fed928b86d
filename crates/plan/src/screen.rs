//! Screens: programs that find segments without a hit. A segment is a run of at most 32 consecutive positions that begins with a
//! stored position, its *key position*. A screen reads only a few facts about each segment, so an engine need not replay the moves
//! of segments that the screen rejects.
//!
//! A screen evaluates the plan once for a whole segment, not for each position, and computes bounds instead of values (an *abstract
//! interpretation*). A word has two bounds: the bits that it *may* have at some position of the segment, and the bits that it
//! *must* have at all positions. The bounds of a number are its minimum (*least*) and its maximum (*most*). [`Bound`] lists the
//! facts from which the bounds are computed. If no bound is known, the word may have any value. If no bit of the hit mask may be
//! set, the segment has no hit.

use std::collections::HashMap;

use super::{
    dag::{ColumnId, Dag, Id, LoopId, Op, PlanOptions, Reduce, TRUE},
    needed,
    program::{Program, Reg, RegisterInput},
};
use orbit_core::board::{Code, PieceSet, Position};
use orbit_query::tree::Cmp;

/// A fact that a screen reads about a segment, in addition to the bit planes of its first position (the key position).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bound {
    /// The target squares of moves in the segment by pieces with this code. If a game begins in the segment, also the squares of
    /// these pieces at the beginning of the game.
    Arrivals(Code),
    /// The origin and target squares of all moves in the segment.
    Touched,
    /// Mask: a move in the segment may promote a pawn to one of these pieces, all of which are of one colour.
    Promotions(PieceSet),
    /// A bit plane of the next segment's first position (its key position). It is empty if there is no next segment.
    Next(u8),
    /// Mask: exactly one game begins in the segment, and it begins from the standard position.
    Standard,
    /// Mask: games begin in the segment, and [`Bound::Standard`] is false.
    Other,
    /// Number: if a game ends in the segment, the maximum number of pieces in the set that can be lost before this end. Otherwise
    /// the number is meaningless. All pieces in the set are of one colour.
    Losses(PieceSet),
    /// Number: the minimum number of pieces with this code at any position of the segments that are examined together.
    Fewest(Code),
    /// Number: the maximum number of pieces with this code at any position of the segments that are examined together.
    Most(Code),
}

/// A program that runs on segments (short runs of positions) instead of single positions, and finds segments without a hit.
#[derive(Clone, Debug)]
pub struct Screen {
    /// The code. It reads key positions in place of positions, and facts about segments in place of per-game numbers
    /// ([`RegisterInput::GameNumber`](super::RegisterInput)).
    pub program: Program,
    /// For each per-game number that the code reads, the fact about a segment that replaces it.
    pub reads: Vec<BoundRead>,
    /// The register with the result of the screen. If it is zero, the segment has no hit.
    pub mask: Reg,
}

/// A fact that a screen reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BoundRead {
    /// The fact that is read.
    pub bound: Bound,
    /// The bits of the fact that can affect the screen's result.
    pub bits: u64,
}

/// The maximum number of nodes and the maximum depth of a graph that gets a screen (a program that finds segments without a hit).
const NODES_MAX: usize = 50_000;
const DEPTH_MAX: u32 = 1_000;

/// The piece codes of pawns, and of the pieces to which pawns can promote. Bit `c` represents code `c`.
const PAWNS: u16 = 0x0202;
const PROMOTED: u16 = 0x3c3c;

/// The maximum absolute value of a bound on a sum. For larger sums no bound is computed, because they could wrap.
const SMALL: i64 = 1 << 24;

impl Screen {
    /// Builds one screen for all hit masks. Returns `None` if the graph is too large, or if the screen could never reject a
    /// segment.
    pub(super) fn new(dag: &Dag, options: PlanOptions, roots: &[Id]) -> Option<Screen> {
        Screen::from_roots(dag, options, roots, false)
    }

    /// Builds a screen that reads only bounds on the number of pieces of each kind: [`Bound::Fewest`] and [`Bound::Most`].
    pub(super) fn from_material(dag: &Dag, options: PlanOptions, roots: &[Id]) -> Option<Screen> {
        Screen::from_roots(dag, options, roots, true)
    }

    fn from_roots(dag: &Dag, options: PlanOptions, roots: &[Id], material: bool) -> Option<Screen> {
        if !fits(dag, roots) {
            return None;
        }
        let (out, reads, known) = (Dag::new(options), Vec::new(), HashMap::new());
        let mut screen = ScreenBuilder { of: dag, out, reads, known, material };
        let words: Vec<Id> = roots.iter().map(|&root| screen.may(root, &[])).collect();
        let any = screen.out.any_of(words);
        if screen.out.constant(any) == Some(TRUE) {
            return None;
        }
        let bits = bits_that_matter(&screen.out, any);
        let mut reads: Vec<BoundRead> =
            screen.reads.into_iter().map(|bound| BoundRead { bound, bits: 0 }).collect();
        for (op, bits) in screen.out.ops.iter().zip(bits) {
            if let Op::GameNumber(column) = op {
                reads[column.0 as usize].bits |= bits;
            }
        }
        let (program, regs) = Program::new(&screen.out, &[any]);
        Some(Screen { program, reads, mask: regs[0] })
    }

    /// Returns the facts that the screen reads, each with the register into which it is loaded.
    pub fn loads(&self) -> impl Iterator<Item = (BoundRead, Reg)> {
        self.program.inputs.iter().filter_map(|&(input, reg)| match input {
            RegisterInput::GameNumber(column) => Some((self.reads[column.0 as usize], reg)),
            _ => None,
        })
    }
}

/// For each node of a graph, returns the bits of its word that can affect the mask at node `mask`.
fn bits_that_matter(dag: &Dag, mask: Id) -> Vec<u64> {
    // Returns the bits that can be set in a word.
    let at_most = |id: Id| match dag.op(id) {
        Op::Const(word) => word,
        Op::Param(table, place) => {
            dag.loops[table.0 as usize].rows.iter().fold(0, |all, row| all | row[place as usize])
        }
        _ => u64::MAX,
    };
    let mut bits = vec![0; dag.ops.len()];
    bits[mask.0 as usize] = u64::MAX;
    // Operands have smaller indices than the words that use them, so this order visits each word before its operands.
    for index in (0..dag.ops.len()).rev() {
        let of_word: u64 = bits[index];
        if of_word == 0 {
            continue;
        }
        let mut matter = |id: Id, word: u64| bits[id.0 as usize] |= word;
        match dag.ops[index] {
            Op::And(a, b) => {
                matter(a, of_word & at_most(b));
                matter(b, of_word & at_most(a));
            }
            Op::AndNot(a, b) => {
                matter(a, of_word);
                matter(b, of_word & at_most(a));
            }
            Op::Or(a, b) | Op::Xor(a, b) => [a, b].into_iter().for_each(|id| matter(id, of_word)),
            Op::Not(a) => matter(a, of_word),
            Op::Loop(table) => matter(dag.loops[table.0 as usize].body, u64::MAX),
            op => op.args().for_each(|id| matter(id, u64::MAX)),
        }
    }
    bits
}

fn codes(set: PieceSet) -> impl Iterator<Item = Code> {
    (1..16).map(Code).filter(move |&code| set.contains(code))
}

/// Returns the number of pieces in the standard position whose code is in `set`.
fn standard_number(set: PieceSet) -> i32 {
    Position::STANDARD.board.squares_of(set).0.count_ones() as i32
}

/// Returns true if the part of a graph on which the nodes `roots` depend is small enough, and not too deep, for a screen.
fn fits(dag: &Dag, roots: &[Id]) -> bool {
    let needed = needed(dag, roots);
    let mut depths = vec![0u32; dag.ops.len()];
    for (index, &op) in dag.ops.iter().enumerate() {
        let body = match op {
            Op::Loop(id) => Some(dag.loops[id.0 as usize].body),
            _ => None,
        };
        let deepest = op.args().chain(body).map(|id| depths[id.0 as usize]).max();
        depths[index] = deepest.map_or(0, |depth| depth + 1);
    }
    needed.iter().filter(|&&needed| needed).count() <= NODES_MAX
        && roots.iter().all(|root| depths[root.0 as usize] <= DEPTH_MAX)
}

/// The kinds of bounds on a word: `May` and `Must` for its bits, the others for its value as a number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum BoundSide {
    May,
    Must,
    Most,
    Least,
    /// The maximum number of squares in a set, computed only from piece counts.
    MostPieces,
    /// The minimum number of squares in a set, computed only from piece counts.
    LeastPieces,
}

impl BoundSide {
    /// Returns the opposite kind of bound, such as the maximum for the minimum.
    fn opposite(self) -> BoundSide {
        match self {
            BoundSide::May => BoundSide::Must,
            BoundSide::Must => BoundSide::May,
            BoundSide::Most => BoundSide::Least,
            BoundSide::Least => BoundSide::Most,
            BoundSide::MostPieces => BoundSide::LeastPieces,
            BoundSide::LeastPieces => BoundSide::MostPieces,
        }
    }
}

/// A bound on a number: the node that computes it, and the largest absolute value that it can have.
#[derive(Clone, Copy, Debug)]
struct BoundedNumber {
    id: Id,
    size: i64,
}

/// The loops of the plan whose bodies contain the node for which a bound is computed. Each is paired with the loop of the screen
/// that takes its place.
type OpenLoops = [(LoopId, LoopId)];

/// The cache key of a bound: the node, the kind of bound, and the loop of the screen in which the bound is evaluated.
type BoundKey = (Id, BoundSide, Option<LoopId>);

struct ScreenBuilder<'a> {
    of: &'a Dag,
    out: Dag,
    reads: Vec<Bound>,
    known: HashMap<BoundKey, Option<BoundedNumber>>,
    material: bool,
}

impl ScreenBuilder<'_> {
    /// Returns the bits that may be set in a word at some position of the segment.
    fn may(&mut self, id: Id, open: &OpenLoops) -> Id {
        self.word(id, BoundSide::May, open)
    }

    /// Returns the bits that must be set in a word at all positions of the segment.
    fn must(&mut self, id: Id, open: &OpenLoops) -> Id {
        self.word(id, BoundSide::Must, open)
    }

    fn word(&mut self, id: Id, side: BoundSide, open: &OpenLoops) -> Id {
        let known = self.remembered(id, side, open, |screen| {
            let id = screen.bits(id, side, open);
            Some(BoundedNumber { id, size: 0 })
        });
        known.expect("words have bounds").id
    }

    /// Returns a bound on the number at node `id`, if one is known. Each bound is computed only once.
    fn number(&mut self, id: Id, side: BoundSide, open: &OpenLoops) -> Option<BoundedNumber> {
        self.remembered(id, side, open, |screen| screen.numbers(id, side, open))
    }

    fn remembered(
        &mut self,
        id: Id,
        side: BoundSide,
        open: &OpenLoops,
        find: impl FnOnce(&mut Self) -> Option<BoundedNumber>,
    ) -> Option<BoundedNumber> {
        let within = self.of.within[id.0 as usize].last();
        let within = within.and_then(|of| open.iter().rev().find(|(known, _)| known == of));
        let key = (id, side, within.map(|&(_, stands)| stands));
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let found = find(self);
        self.known.insert(key, found);
        found
    }

    fn nothing(&mut self, side: BoundSide) -> Id {
        self.out.mask(side == BoundSide::May)
    }

    fn read(&mut self, bound: Bound) -> Id {
        let place = self.reads.iter().position(|&known| known == bound).unwrap_or_else(|| {
            self.reads.push(bound);
            self.reads.len() - 1
        });
        self.out.add(Op::GameNumber(ColumnId(place as u32)))
    }

    /// Returns a bound on the squares of the pieces in `set`, over all positions of the segment.
    fn pieces(&mut self, set: PieceSet, side: BoundSide) -> Id {
        if self.material {
            return self.nothing(side);
        }
        let at_first = self.out.pieces(set);
        self.moved(at_first, set, side)
    }

    /// Returns a bound on the squares whose content is in `set`. `at_first` contains these squares in the first position of the
    /// segment.
    fn moved(&mut self, at_first: Id, set: PieceSet, side: BoundSide) -> Id {
        if side == BoundSide::Must {
            let touched = self.read(Bound::Touched);
            return self.out.add(Op::AndNot(at_first, touched));
        }
        let mut words: Vec<Id> = codes(set).map(|code| self.read(Bound::Arrivals(code))).collect();
        words.push(at_first);
        self.out.any_of(words)
    }

    /// Returns the squares, in the next segment's first position, of the pieces in `set`.
    fn next_pieces(&mut self, set: PieceSet) -> Id {
        let planes = [0, 1, 2, 3].map(|k| self.read(Bound::Next(k)));
        let mut words = Vec::new();
        for code in codes(set) {
            let (with, without): (Vec<usize>, Vec<usize>) = (0..4).partition(|&k| code.0 >> k & 1 != 0);
            let both = with.into_iter().map(|k| planes[k]).reduce(|a, b| self.out.add(Op::And(a, b)));
            let both = both.expect("no code of a piece is zero");
            words.push(without.into_iter().fold(both, |word, k| self.out.add(Op::AndNot(word, planes[k]))));
        }
        self.out.any_of(words)
    }

    /// Returns the bits that may be set in a word. If `side` is [`BoundSide::Must`], returns those that must be set.
    fn bits(&mut self, id: Id, side: BoundSide, open: &OpenLoops) -> Id {
        if let Some(&set) = self.of.piece_sets.get(&id) {
            return self.pieces(set, side);
        }
        match self.of.op(id) {
            Op::Const(word) => self.out.word(word),
            Op::Param(table, place) => self.param(table, place, open),
            Op::Plane(_) if self.material => self.nothing(side),
            Op::Plane(k) => {
                let codes = (1..15u16).filter(|code| code >> k & 1 != 0);
                let set = PieceSet(codes.fold(0, |set, code| set | 1 << code) & PieceSet::ALL.0);
                let plane = self.out.add(Op::Plane(k));
                self.moved(plane, set, side)
            }
            Op::And(a, b) => self.both(a, b, side, open, Op::And),
            Op::Or(a, b) => self.both(a, b, side, open, Op::Or),
            Op::AndNot(a, b) => self.differ(a, b, side, open),
            Op::Xor(a, b) => {
                let (first, second) = (self.differ(a, b, side, open), self.differ(b, a, side, open));
                self.out.add(Op::Or(first, second))
            }
            Op::Not(a) => {
                let a = self.word(a, side.opposite(), open);
                self.out.add(Op::Not(a))
            }
            Op::Select { mask, a, b } => self.select(mask, [a, b], side, open),
            // These operations are monotonic: adding squares to the operand never removes squares from the result.
            Op::Step(a, ..)
            | Op::FillRanks(a)
            | Op::FillFiles(a)
            | Op::Knight(a)
            | Op::King(a)
            | Op::Pawn { set: a, .. }
            | Op::Walk { set: a, .. } => {
                let a = self.word(a, side, open);
                self.out.add(self.of.op(id).map(|_| a))
            }
            Op::Slide { set, empty, dir } => {
                let (set, empty) = (self.word(set, side, open), self.word(empty, side, open));
                self.out.add(Op::Slide { set, empty, dir })
            }
            Op::NonEmpty(a) => {
                let some = self.word(a, side, open);
                let some = self.out.add(Op::NonEmpty(some));
                let least =
                    (side == BoundSide::Must).then(|| self.squares(a, BoundSide::Least, open)).flatten();
                let Some(least) = least else { return some };
                let one = self.compare(Cmp::Ge, least, 1);
                self.out.add(Op::Or(some, one))
            }
            Op::Single(a) if side == BoundSide::May => {
                let (some, least) = (self.may(a, open), self.squares(a, BoundSide::Least, open));
                let some = self.out.add(Op::NonEmpty(some));
                let one = self.compare(Cmp::Le, least.expect("what must be there counts"), 1);
                self.out.add(Op::And(some, one))
            }
            Op::Compare(cmp, a, b) => self.comparison(cmp, [a, b], side, open),
            Op::NoMoves(within) | Op::PureMen { within, .. } if side == BoundSide::May => {
                self.may(within, open)
            }
            Op::Legal { from, left: true, .. } if side == BoundSide::May => self.may(from, open),
            Op::Legal { to, left: false, .. } if side == BoundSide::May => self.may(to, open),
            Op::Loop(table) if self.of.loops[table.0 as usize].reduce == Reduce::Or => self
                .looped(table, Reduce::Or, open, |screen, body, open| Some(screen.word(body, side, open)))
                .expect("words have bounds"),
            _ => self.nothing(side),
        }
    }

    fn both(&mut self, a: Id, b: Id, side: BoundSide, open: &OpenLoops, op: fn(Id, Id) -> Op) -> Id {
        let (a, b) = (self.word(a, side, open), self.word(b, side, open));
        self.out.add(op(a, b))
    }

    /// Returns the bits that may be set in `a` and clear in `b`. If `side` is [`BoundSide::Must`], returns the bits that must be
    /// set in `a` and clear in `b`.
    fn differ(&mut self, a: Id, b: Id, side: BoundSide, open: &OpenLoops) -> Id {
        let (a, b) = (self.word(a, side, open), self.word(b, side.opposite(), open));
        self.out.add(Op::AndNot(a, b))
    }

    /// Returns a bound on a selection between two words. A bit may be set if it may be set in a word that may be selected. A bit
    /// must be set if it must be set in both words, or in a word that is always selected.
    fn select(&mut self, mask: Id, [a, b]: [Id; 2], side: BoundSide, open: &OpenLoops) -> Id {
        let (may, must) = (self.may(mask, open), self.must(mask, open));
        let (a, b) = (self.word(a, side, open), self.word(b, side, open));
        if side == BoundSide::May {
            let first = self.out.add(Op::And(a, may));
            let second = self.out.add(Op::AndNot(b, must));
            return self.out.add(Op::Or(first, second));
        }
        let both = self.out.add(Op::And(a, b));
        let first = self.out.add(Op::And(a, must));
        let second = self.out.add(Op::AndNot(b, may));
        self.out.any_of(vec![both, first, second])
    }

    fn param(&mut self, table: LoopId, place: u32, open: &OpenLoops) -> Id {
        let known = open.iter().rev().find(|&&(of, _)| of == table);
        let &(_, stands) = known.expect("parameters are used in their loops");
        self.out.add(Op::Param(stands, place))
    }

    /// Returns a bound on the result of a loop. The bound is computed by a loop over the same rows.
    fn looped(
        &mut self,
        table: LoopId,
        reduce: Reduce,
        open: &OpenLoops,
        body: impl FnOnce(&mut Self, Id, &OpenLoops) -> Option<Id>,
    ) -> Option<Id> {
        let of = &self.of.loops[table.0 as usize];
        let stands = self.out.open_loop(of.rows.clone());
        let open: Vec<(LoopId, LoopId)> = open.iter().copied().chain([(table, stands)]).collect();
        let body = body(self, of.body, &open)?;
        Some(self.out.close_loop(stands, reduce, body))
    }

    /// Returns a bound on the number of squares in the set at node `id`, over all positions of the segment.
    fn squares(&mut self, id: Id, side: BoundSide, open: &OpenLoops) -> Option<BoundedNumber> {
        if self.of.piece_sets.contains_key(&id) {
            // If the set contains all pieces of certain kinds, counting its squares costs more than reading piece counts, and the
            // bound is hardly better.
            return self.material(id, side, open);
        }
        let bits =
            self.word(id, if side == BoundSide::Most { BoundSide::May } else { BoundSide::Must }, open);
        let counted = BoundedNumber { id: self.out.add(Op::Count(bits)), size: 64 };
        let Some(material) = self.material(id, side, open) else { return Some(counted) };
        Some(match side {
            BoundSide::Most => self.smaller(counted, material),
            _ => self.larger(counted, material),
        })
    }

    /// Returns a bound on the number of squares in a set, computed from piece counts. Returns `None` if piece counts yield no
    /// bound.
    fn material(&mut self, id: Id, side: BoundSide, open: &OpenLoops) -> Option<BoundedNumber> {
        let key = if side == BoundSide::Most { BoundSide::MostPieces } else { BoundSide::LeastPieces };
        self.remembered(id, key, open, |screen| screen.of_pieces(id, side, open))
    }

    fn of_pieces(&mut self, id: Id, side: BoundSide, open: &OpenLoops) -> Option<BoundedNumber> {
        if let Some(&set) = self.of.piece_sets.get(&id) {
            let of_sides = [PieceSet::WHITE, PieceSet::BLACK].map(|side| PieceSet(set.0 & side.0));
            let numbers = of_sides.into_iter().filter(|set| set.0 != 0);
            let numbers = numbers.map(|set| self.number_of(set, side)).collect();
            return Some(BoundedNumber { id: self.out.sum_of(numbers), size: 1 << 12 });
        }
        match (self.of.op(id), side) {
            (Op::And(a, b), BoundSide::Most) => {
                self.material(a, side, open).or_else(|| self.material(b, side, open))
            }
            (Op::AndNot(a, _) | Op::Step(a, ..), BoundSide::Most) => self.material(a, side, open),
            (Op::Or(a, b), BoundSide::Most) => {
                let (a, b) = (self.material(a, side, open)?, self.material(b, side, open)?);
                self.joined(Op::Add, a, b)
            }
            (Op::Or(a, b), _) => match (self.material(a, side, open), self.material(b, side, open)) {
                (Some(a), Some(b)) => Some(self.larger(a, b)),
                (a, b) => a.or(b),
            },
            _ => None,
        }
    }

    /// Returns a bound on the number of pieces in `set`, all of which are of one colour. If a new game begins in the segment, each
    /// of the two games has its own bound: that of the old game is computed from the first position of the segment, and that of the
    /// new game from the first position of the next segment.
    fn number_of(&mut self, set: PieceSet, side: BoundSide) -> Id {
        if self.material {
            let bound = if side == BoundSide::Most { Bound::Most } else { Bound::Fewest };
            let numbers = codes(set).map(|code| self.read(bound(code))).collect();
            return self.out.sum_of(numbers);
        }
        let all = if set.0 & PieceSet::BLACK.0 == 0 { PieceSet::WHITE } else { PieceSet::BLACK };
        let pawn = PieceSet(all.0 & PAWNS);
        let (has_pawn, pieces) = (set.0 & pawn.0 != 0, PieceSet(set.0 & PROMOTED));
        let (standard, other) = (self.read(Bound::Standard), self.read(Bound::Other));
        let counts = |screen: &mut Self, set| {
            let [first, last] = [screen.out.pieces(set), screen.next_pieces(set)];
            [first, last].map(|set| screen.out.add(Op::Count(set)))
        };
        let [first, last] = counts(self, set);
        // If pawns may promote, a set without pawns may gain pieces, so its bound is larger. This applies before and after the
        // beginning of a new game.
        let [before, after] = if pieces.0 == 0 || has_pawn {
            [self.out.number(0); 2]
        } else {
            let may_be = self.read(Bound::Promotions(pieces));
            let [first, last] = counts(self, pawn);
            let eight = self.out.number(8);
            let (gone, after) = (self.out.add(Op::Sub(first, last)), self.out.add(Op::Sub(eight, last)));
            [(first, gone), (after, gone)].map(|(a, b)| {
                let number = self.out.add(Op::Select { mask: standard, a, b });
                self.out.add(Op::And(number, may_be))
            })
        };
        if side == BoundSide::Most {
            let first = self.out.add(Op::Add(first, before));
            let begun = self.out.number(standard_number(set));
            let begun = self.out.add(Op::Add(begun, after));
            let begun = self.out.add(Op::And(begun, standard));
            let most = self.out.add(Op::Max(first, begun));
            let all = self.out.number(64);
            let unknown = self.out.add(Op::And(all, other));
            return self.out.add(Op::Max(most, unknown));
        }
        let last = self.out.add(Op::Sub(last, after));
        let losses = self.read(Bound::Losses(set));
        let ended = self.out.add(Op::Sub(first, losses));
        let ended = self.out.add(Op::Select { mask: standard, a: ended, b: last });
        let [ended, last] = [ended, last].map(|id| BoundedNumber { id, size: 64 });
        let least = self.smaller(ended, last).id;
        self.out.add(Op::AndNot(least, other))
    }

    /// Returns a bound on the number at node `id`, over all positions of the segment. Returns `None` if no bound is known.
    fn numbers(&mut self, id: Id, side: BoundSide, open: &OpenLoops) -> Option<BoundedNumber> {
        match self.of.op(id) {
            Op::Const(word) => {
                let size = (word as i64).checked_abs().unwrap_or(i64::MAX);
                Some(BoundedNumber { id: self.out.word(word), size })
            }
            Op::Param(table, place) => {
                Some(BoundedNumber { id: self.param(table, place, open), size: i64::MAX })
            }
            Op::Count(set) => self.squares(set, side, open),
            Op::Add(a, b) => {
                let (a, b) = (self.number(a, side, open)?, self.number(b, side, open)?);
                self.joined(Op::Add, a, b)
            }
            Op::Sub(a, b) => {
                let (a, b) = (self.number(a, side, open)?, self.number(b, side.opposite(), open)?);
                self.joined(Op::Sub, a, b)
            }
            Op::Max(a, b) => {
                let (a, b) = (self.number(a, side, open)?, self.number(b, side, open)?);
                Some(self.larger(a, b))
            }
            Op::Select { a, b, .. } => {
                let (a, b) = (self.number(a, side, open)?, self.number(b, side, open)?);
                Some(if side == BoundSide::Most { self.larger(a, b) } else { self.smaller(a, b) })
            }
            Op::Loop(table) => match self.of.loops[table.0 as usize].reduce {
                Reduce::Count => {
                    let masks = if side == BoundSide::Most { BoundSide::May } else { BoundSide::Must };
                    let size = self.of.loops[table.0 as usize].rows.len() as i64;
                    let id = self.looped(table, Reduce::Count, open, |screen, body, open| {
                        let mask = screen.word(body, masks, open);
                        Some(screen.out.add(Op::NonEmpty(mask)))
                    });
                    Some(BoundedNumber { id: id?, size })
                }
                Reduce::Max => {
                    let id = self.looped(table, Reduce::Max, open, |screen, body, open| {
                        Some(screen.number(body, side, open)?.id)
                    });
                    Some(BoundedNumber { id: id?, size: i64::MAX })
                }
                Reduce::Or => None,
            },
            _ => None,
        }
    }

    /// Returns a bound on a sum or a difference. Returns `None` if the result could wrap.
    fn joined(&mut self, op: fn(Id, Id) -> Op, a: BoundedNumber, b: BoundedNumber) -> Option<BoundedNumber> {
        let size = a.size.checked_add(b.size).filter(|&size| size <= SMALL)?;
        Some(BoundedNumber { id: self.out.add(op(a.id, b.id)), size })
    }

    fn larger(&mut self, a: BoundedNumber, b: BoundedNumber) -> BoundedNumber {
        BoundedNumber { id: self.out.add(Op::Max(a.id, b.id)), size: a.size.max(b.size) }
    }

    fn smaller(&mut self, a: BoundedNumber, b: BoundedNumber) -> BoundedNumber {
        let mask = self.out.add(Op::Compare(Cmp::Le, a.id, b.id));
        let id = self.out.add(Op::Select { mask, a: a.id, b: b.id });
        BoundedNumber { id, size: a.size.max(b.size) }
    }

    fn compare(&mut self, cmp: Cmp, number: BoundedNumber, with: i32) -> Id {
        let with = self.out.number(with);
        self.out.add(Op::Compare(cmp, number.id, with))
    }

    /// Returns a mask that is true if the relation `cmp` between two numbers may be true at some position of the segment. If `side`
    /// is [`BoundSide::Must`], the mask is true if the relation must be true at all positions.
    fn comparison(&mut self, cmp: Cmp, [a, b]: [Id; 2], side: BoundSide, open: &OpenLoops) -> Id {
        // The bounds of the two operands that are compared. For `May`, these are the bounds under which the relation is most likely
        // true; for `Must`, those under which it is least likely.
        let sides = match (cmp, side) {
            (Cmp::Lt | Cmp::Le, BoundSide::May) | (Cmp::Gt | Cmp::Ge, BoundSide::Must) => {
                [BoundSide::Least, BoundSide::Most]
            }
            (Cmp::Lt | Cmp::Le, _) | (Cmp::Gt | Cmp::Ge, _) => [BoundSide::Most, BoundSide::Least],
            (Cmp::Ne, _) => {
                let equal = self.comparison(Cmp::Eq, [a, b], side.opposite(), open);
                return self.out.add(Op::Not(equal));
            }
            (Cmp::Eq, _) => {
                let low = self.comparison(Cmp::Le, [a, b], side, open);
                let high = self.comparison(Cmp::Ge, [a, b], side, open);
                return self.out.add(Op::And(low, high));
            }
        };
        let numbers = self.number(a, sides[0], open).zip(self.number(b, sides[1], open));
        match numbers {
            Some((a, b)) => self.out.add(Op::Compare(cmp, a.id, b.id)),
            None => self.nothing(side),
        }
    }
}
