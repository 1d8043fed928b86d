//! The virtual machine that runs flat programs. A [`FlatProgram`] is a list of instructions that evaluates filters
//! about other positions of a game.
//!
//! The machine shares no code with the interpreter of the reference engine. Its buffers are reused from game to game.

mod boards;
mod entries;
mod known;
mod moves;
mod patterns;
mod rare;
mod rays;
mod run;
mod seeks;
mod strings;
mod walks;

use shakmaty::Square;

use super::{BlockGames, MaskBuilder, OperandSource, number, pairs::Targets, tree::NodeRange};
use crate::carry::SlotColumn;
use boards::Boards;
use entries::Entries;
use orbit_core::board::PieceSet;
use orbit_plan::{Arith, FlatEdge, FlatProgram, Instr, NO_VALUE, RegisterWord};
use orbit_reel::{SEGMENT_SLOTS, replay::position_at};
use seeks::Leaving;
use strings::FlatStrings;
use walks::{Walks, bit};

/// The maximum number of iterations of `loop` and `while` in one game.
const REPETITIONS_MAX: u64 = 10_000_000;

/// The number that stands for no piece or no square.
const NONE: u8 = 64;

/// The cost of one iteration of a loop, as a number of visited positions. Visiting these positions takes about as long
/// as the iteration, less than a microsecond.
const POSITIONS_A_TURN: usize = 64;

/// The error of an evaluation that ended early, because the program ran into an error or was interrupted.
struct Stopped;

/// Runs a program on all games of a block. If the program runs into an error in a game, the run stops, and `games` is
/// marked as stopped.
pub(super) fn run(
    program: &FlatProgram,
    operands: &[OperandSource<'_>],
    games: &BlockGames<'_>,
    words: impl FnOnce() -> Vec<u64>,
) -> SlotColumn {
    let mut machine = FlatMachine::new(program, operands, games);
    if program.is_mask {
        let mut out = MaskBuilder::new(games.block);
        machine.games(|slot, word| out.put(slot, word != 0));
        return SlotColumn::Bits(out.0);
    }
    let mut out = words();
    if machine.elsewhere != 0 {
        out.fill(machine.elsewhere);
    }
    machine.games(|slot, word| out[slot] = word);
    SlotColumn::Words(out)
}

struct FlatMachine<'a> {
    program: &'a FlatProgram,
    operands: &'a [OperandSource<'a>],
    games: &'a BlockGames<'a>,
    /// The mask that the program tests first, if there is one. At positions where this mask is false, the result is
    /// `elsewhere` and the program has no other effect, so it is not run at these positions.
    lead: Option<OperandSource<'a>>,
    /// The result at the positions where `lead` is false.
    elsewhere: u64,
    words: Vec<u64>,
    bound: Vec<bool>,
    repetitions: u64,
    /// For each search for pairs of positions (`echo`), the second positions (*targets*) of the pairs that begin with
    /// the current first position (*source*).
    targets: Vec<Targets>,
    /// The results of searches along the game. Each search instruction of the program has 64 entries, one for each
    /// piece that it may follow.
    found: Vec<FoundWalk>,
    /// The number of games in which the program has run so far.
    games_seen: u32,
    men: PieceIds,
    family: SideLineTree,
    walks: Walks,
    strings: FlatStrings,
    entries: Entries,
    boards: Boards,
    leaving: Leaving,
}

/// The result of one search along a game.
#[derive(Clone, Copy, Default)]
struct FoundWalk {
    /// The number of the game in which the search ran. Games are counted from 1 in the order in which the machine runs
    /// them.
    game: u32,
    /// The node from which the search began.
    from: usize,
    found: Option<usize>,
    /// The last node that the search visited. It is used only if the search found nothing.
    last: usize,
}

impl FoundWalk {
    /// Derives, from the result of this earlier search, the result of a search that visits the nodes from `from` to
    /// `last`, the last node in the subtree of `from`. Returns `None` if the result cannot be derived.
    fn at(self, game: u32, from: usize, last: usize) -> Option<Option<usize>> {
        if self.game != game || from < self.from {
            return None;
        }
        match self.found {
            Some(found) => (from <= found).then(|| Some(found).filter(|&found| found <= last)),
            None => (last <= self.last).then_some(None),
        }
    }
}

/// The squares of a game's pieces at each node (position). Each piece keeps its number for the whole game.
#[derive(Default)]
struct PieceIds {
    /// For each node (position), the number of the piece on each square.
    on: Vec<[u8; 64]>,
    /// For each node (position), the square of each piece, indexed by the piece's number.
    of: Vec<[u8; 64]>,
}

/// The tree of lines (main line and variations) in a game; empty for a game without side lines.
#[derive(Default)]
struct SideLineTree {
    /// For each node (position), the last node of its subtree.
    last: Vec<u32>,
    /// For each node (position), the next child of the same parent, or 0 if there is none.
    next: Vec<u32>,
}

impl SideLineTree {
    fn fill(&mut self, nodes: NodeRange<'_>) {
        self.last.clear();
        self.next.clear();
        if !nodes.has_lines() {
            return;
        }
        self.last.extend(0..nodes.len() as u32);
        self.next.resize(nodes.len(), 0);
        let mut youngest = vec![0; nodes.len()];
        for node in (1..nodes.len()).rev() {
            let parent = nodes.parent(node);
            self.last[parent] = self.last[parent].max(self.last[node]);
            self.next[node] = youngest[parent];
            youngest[parent] = node as u32;
        }
    }
}

impl PieceIds {
    fn fill(&mut self, nodes: NodeRange<'_>, games: &BlockGames<'_>) {
        self.on.clear();
        self.of.clear();
        let (mut on, mut of) = ([NONE; 64], [NONE; 64]);
        let board = position_at(games.block, nodes.slot(0)).board;
        let occupied = Square::ALL.into_iter().filter(|&square| board.at(square).piece().is_some());
        for (square, piece) in occupied.zip(0..) {
            on[square as usize] = piece;
            of[piece as usize] = square as u8;
        }
        self.on.push(on);
        self.of.push(of);
        let moves = games.moves();
        for node in 1..nodes.len() {
            let parent = nodes.parent(node);
            self.on.extend_from_within(parent..=parent);
            self.of.extend_from_within(parent..=parent);
            let (on, of) = (&mut self.on[node], &mut self.of[node]);
            if let Some([left, reached]) = moves.plain_squares(nodes.slot(node)) {
                let mover = std::mem::replace(&mut on[usize::from(left)], NONE);
                let taken = std::mem::replace(&mut on[usize::from(reached)], mover);
                for (piece, square) in [(taken, NONE), (mover, reached)] {
                    if let Some(place) = of.get_mut(usize::from(piece)) {
                        *place = square;
                    }
                }
                continue;
            }
            let mv = moves.to(nodes.slot(node));
            if let Some(square) = mv.captured() {
                let taken = std::mem::replace(&mut on[square as usize], NONE);
                if let Some(place) = of.get_mut(taken as usize) {
                    *place = NONE;
                }
            }
            let (left, reached) = (mv.left(), mv.reached());
            let movers = left.map(|square| on[square as usize]);
            left.into_iter().for_each(|square| on[square as usize] = NONE);
            for (piece, square) in movers.into_iter().zip(reached) {
                if let Some(place) = of.get_mut(piece as usize) {
                    on[square as usize] = piece;
                    *place = square;
                }
            }
        }
    }
}

impl<'a> FlatMachine<'a> {
    fn new(
        program: &'a FlatProgram,
        operands: &'a [OperandSource<'a>],
        games: &'a BlockGames<'a>,
    ) -> FlatMachine<'a> {
        let (mask, elsewhere) = lead(program).unzip();
        FlatMachine {
            program,
            operands,
            games,
            lead: mask.map(|mask: u16| operands[mask as usize]),
            elsewhere: elsewhere.unwrap_or(0),
            words: vec![0; program.words],
            bound: vec![false; program.vars],
            repetitions: 0,
            targets: vec![Targets::default(); program.pairs.len()],
            found: vec![FoundWalk::default(); 64 * program.sites],
            games_seen: 0,
            men: PieceIds::default(),
            family: SideLineTree::default(),
            walks: Walks::default(),
            strings: FlatStrings::new(program),
            entries: Entries::new(program),
            boards: Boards::default(),
            leaving: Leaving::default(),
        }
    }

    /// Runs the program on all games of the block, and passes the results to `put`.
    fn games(&mut self, mut put: impl FnMut(usize, u64)) {
        let games = self.games;
        if self.begin_run().is_err() {
            games.stop();
        }
        games.each(|nodes| {
            self.note_game();
            if self.game(nodes, &mut put).is_err() {
                games.stop();
            }
        });
        self.end_run();
    }

    /// Runs the program at each node (position) of a game, in order, and passes the results to `put`. Nodes with the
    /// result `elsewhere` may be omitted.
    fn game(&mut self, nodes: NodeRange<'_>, mut put: impl FnMut(usize, u64)) -> Result<(), Stopped> {
        let Some(mut node) = self.next_led(nodes, 0) else { return Ok(()) };
        self.begin_values()?;
        self.repetitions = 0;
        self.games_seen += 1;
        self.boards.begin();
        self.leaving.begin();
        self.family.fill(nodes);
        if self.program.pieces {
            self.men.fill(nodes, self.games);
        }
        if !self.program.chains.is_empty() {
            self.begin_walks(nodes);
        }
        loop {
            self.turn()?;
            self.run(nodes, 0, node)?;
            put(nodes.slot(node), self.get(self.program.result));
            match self.next_led(nodes, node + 1) {
                Some(next) => node = next,
                None => return Ok(()),
            }
        }
    }

    /// Counts one iteration of a loop.
    fn turn(&self) -> Result<(), Stopped> {
        self.look_at(POSITIONS_A_TURN)
    }

    /// Adds to the number of visited positions, and checks the interrupt at intervals. Other work counts as the number
    /// of positions that could be visited in the same time.
    fn look_at(&self, positions: usize) -> Result<(), Stopped> {
        if self.games.count(positions) { Err(Stopped) } else { Ok(()) }
    }

    /// Counts the positions between the two nodes in `both` as visited. Does nothing if `both` is `None`.
    fn look_between(&self, nodes: NodeRange<'_>, both: Option<(usize, usize)>) -> Result<(), Stopped> {
        both.map_or(Ok(()), |(a, b)| self.look_at(nodes.between(a, b)))
    }

    /// Returns the first node (position) from `from` on at which the program must run. If the program begins with a
    /// mask, this is the first node at which the mask is true.
    fn next_led(&self, nodes: NodeRange<'_>, from: usize) -> Option<usize> {
        let from = Some(from).filter(|&node| node < nodes.len())?;
        let Some(lead) = self.lead else { return Some(from) };
        let slot = lead.first_in(nodes.slot(from)..nodes.slot(nodes.len()))?;
        Some(slot - nodes.slot(0))
    }

    fn get(&self, word: RegisterWord) -> u64 {
        self.words[word.0 as usize]
    }

    fn set(&mut self, to: RegisterWord, word: u64) {
        self.words[to.0 as usize] = word;
    }

    /// Returns the number in a register, or `None` if the register has no value.
    fn value(&self, word: RegisterWord) -> Option<i32> {
        let number = self.get(word) as i64;
        (number != NO_VALUE).then_some(number as i32)
    }

    fn set_value(&mut self, to: RegisterWord, value: Option<i32>) {
        self.set(to, number(value.map(i64::from)));
    }

    fn set_node(&mut self, to: RegisterWord, node: Option<usize>) {
        self.set(to, number(node.map(|node| node as i64)));
    }

    /// Runs the program at the node (position) `start`, from the instruction `begin` on. Returns true if the code
    /// reaches `End`, and false if it reaches `Fail`.
    ///
    /// The most frequent instructions are handled here and all others in a separate function. This keeps the loop short
    /// and its variables in registers of the processor.
    fn run(&mut self, nodes: NodeRange<'_>, begin: usize, start: usize) -> Result<bool, Stopped> {
        let program = self.program;
        let mut at = start;
        let mut pc = begin;
        loop {
            let instr = &program.code[pc];
            pc += 1;
            match *instr {
                Instr::End => return Ok(true),
                Instr::Fail => return Ok(false),
                Instr::Fault => return Err(Stopped),
                Instr::Jump(to) => pc = to.0 as usize,
                Instr::Unless { mask, no } => {
                    if !self.operands[mask as usize].holds(nodes.slot(at)) {
                        pc = no.0 as usize;
                    }
                }
                Instr::Const { to, constant } => self.set(to, program.constants[constant as usize]),
                Instr::Load { to, operand } => {
                    self.set(to, self.operands[operand as usize].word(nodes.slot(at)));
                }
                Instr::Copy { to, from } => self.set(to, self.get(from)),
                Instr::And { to, a, b } => self.set(to, self.get(a) & self.get(b)),
                Instr::Or { to, a, b } => self.set(to, self.get(a) | self.get(b)),
                Instr::AndNot { to, a, b } => self.set(to, self.get(a) & !self.get(b)),
                Instr::UnlessAny { set, no } => {
                    if self.get(set) == 0 {
                        pc = no.0 as usize;
                    }
                }
                Instr::UnlessValue { number, no } => {
                    if self.get(number) as i64 == NO_VALUE {
                        pc = no.0 as usize;
                    }
                }
                Instr::UnlessCompare { cmp, a, b, no } => {
                    if !cmp.holds((self.get(a) as i64).cmp(&(self.get(b) as i64))) {
                        pc = no.0 as usize;
                    }
                }
                Instr::Count { to, set } => self.set(to, self.get(set).count_ones().into()),
                Instr::Holds { var } => {
                    if !self.bound[var as usize] {
                        return Err(Stopped);
                    }
                }
                Instr::Free { var } => {
                    if self.bound[var as usize] {
                        return Err(Stopped);
                    }
                }
                Instr::Bind { var, from } => {
                    self.bound[var as usize] = true;
                    self.set(RegisterWord(var), self.get(from));
                }
                Instr::Unbind { var } => self.bound[var as usize] = false,
                Instr::UnlessBound { var, bound, no } => {
                    if self.bound[var as usize] != bound {
                        pc = no.0 as usize;
                    }
                }
                Instr::Take { to, set, done } => {
                    self.turn()?;
                    let squares = self.get(set);
                    if squares == 0 {
                        pc = done.0 as usize;
                    } else {
                        self.set(set, squares & (squares - 1));
                        self.set(to, squares & squares.wrapping_neg());
                    }
                }
                Instr::Here { to } => self.set(to, at as u64),
                Instr::Go { to } => at = self.get(to) as usize,
                Instr::Next { node, last, done } => {
                    self.turn()?;
                    let next = self.get(node).wrapping_add(1);
                    if next as i64 > self.get(last) as i64 {
                        pc = done.0 as usize;
                    } else {
                        self.set(node, next);
                    }
                }
                Instr::Seek { node, last, mask, done } => {
                    self.look_at(POSITIONS_A_TURN + nodes.len() / SEGMENT_SLOTS)?;
                    let (from, last) = (self.get(node) as usize, self.get(last) as usize);
                    let slots = nodes.slot(from)..nodes.slot(last) + 1;
                    match self.operands[mask as usize].first_in(slots) {
                        Some(slot) => self.set(node, (slot - nodes.slot(0)) as u64),
                        None => pc = done.0 as usize,
                    }
                }
                Instr::SeekMove { seek, node, last, done } => {
                    match self.next_left(nodes, seek, self.get(node) as usize, self.get(last) as usize)? {
                        Some(next) => self.set(node, next as u64),
                        None => pc = done.0 as usize,
                    }
                }
                Instr::SeekPiece { piece, set, node, last, done } => {
                    let nodes = self.get(node) as usize..=self.get(last) as usize;
                    match self.next_standing(nodes, piece, set)? {
                        Some(next) => self.set(node, next as u64),
                        None => pc = done.0 as usize,
                    }
                }
                Instr::Last { to } => {
                    let last = self.family.last.get(at).map_or(nodes.len() - 1, |&last| last as usize);
                    self.set(to, last as u64);
                }
                Instr::Parent { to } => self.set_node(to, (at > 0).then(|| nodes.parent(at))),
                Instr::FirstChild { to } => self.set_node(to, first_child(nodes, at)),
                Instr::NextChild { to, of } => {
                    self.turn()?;
                    let next = self.family.next.get(self.get(of) as usize).copied().unwrap_or(0);
                    self.set_node(to, (next > 0).then_some(next as usize));
                }
                Instr::Fits { edge, child, selected, no } => {
                    if !self.move_fits(nodes, edge, child, selected) {
                        pc = no.0 as usize;
                    }
                }
                Instr::PieceOn { to, set } => {
                    let piece = only(self.get(set)).map(|square| self.men.on[at][square as usize]);
                    self.set_value(to, piece.filter(|&piece| piece != NONE).map(i32::from));
                }
                Instr::PieceSquare { to, piece } => {
                    let square = self.men.of[at][self.get(piece) as usize & 63];
                    self.set(to, if square == NONE { 0 } else { 1 << square });
                }
                Instr::Rays(instr) => self.rays(instr, nodes.slot(at)),
                instr => {
                    if let Some(to) = self.rare(nodes, instr, at)? {
                        pc = to.0 as usize;
                    }
                }
            }
        }
    }

    /// Returns true if the move that led to a node passes a condition. If it does, writes three registers, beginning
    /// with `selected`: the node, the squares that the move left, and the squares that it reached.
    #[inline(never)]
    fn move_fits(
        &mut self,
        nodes: NodeRange<'_>,
        edge: u16,
        child: RegisterWord,
        selected: RegisterWord,
    ) -> bool {
        let child = self.get(child);
        let edge = self.program.edges[usize::from(edge)];
        let Some([from, to]) = self.selected(edge, nodes.slot(child as usize), |_| true) else {
            return false;
        };
        for (place, word) in (0..).zip([child, from, to]) {
            self.set(RegisterWord(selected.0 + place), word);
        }
        true
    }

    /// Returns the index in `found` for a search and the piece that it follows. `key` is the register that contains the
    /// number of this piece, if there is one.
    fn place(&self, site: u16, key: Option<RegisterWord>) -> usize {
        usize::from(site) * 64 + key.map_or(0, |key| self.get(key) as usize & 63)
    }

    /// Returns the sets of origin and destination squares of the move that leads to a slot (position), or `None` if the
    /// move fails the condition. Castling has two parts, the moves of the king and the rook, and the sets contain only
    /// the squares of parts that pass. `part_counts` receives the origin square of a part, and returns false if the
    /// part must be ignored.
    fn selected(&self, edge: FlatEdge, slot: usize, part_counts: impl Fn(u8) -> bool) -> Option<[u64; 2]> {
        let FlatEdge { from, to, capture, promotion, letters } = edge;
        let lies_in =
            |set: Option<RegisterWord>, square: u8| set.is_none_or(|set| self.get(set) >> square & 1 != 0);
        let moves = self.games.moves();
        if let Some(([left, reached], captures)) = moves.plain_move(slot) {
            let passes = lies_in(from, left)
                && lies_in(to, reached)
                && promotion.is_none()
                && letters.is_none()
                && (captures || !capture)
                && part_counts(left);
            return passes.then_some([1 << left, 1 << reached]);
        }
        let mv = moves.to(slot);
        let captures = || mv.captured().is_some_and(|square| lies_in(to, square));
        let promotes = |pieces: PieceSet| mv.promotes_to(pieces);
        let promotion = promotion.or(letters.map(|letters| self.pieces_of(letters)));
        if capture && !captures() || promotion.is_some_and(|pieces| !promotes(pieces)) {
            return None;
        }
        let parts = mv.left().into_iter().zip(mv.reached()).filter(|&(left, reached)| {
            lies_in(from, left) && (capture || lies_in(to, reached)) && part_counts(left)
        });
        let squares = parts.fold([0; 2], |[from, to], (left, reached)| [from | 1 << left, to | 1 << reached]);
        (squares[0] != 0).then_some(squares)
    }
}

/// Returns the mask that a program tests first, and its result where the mask is false. Returns `None` if the program
/// does not begin with such a test, or has other effects where the mask is false.
fn lead(program: &FlatProgram) -> Option<(u16, u64)> {
    let [Instr::Const { to, constant }, Instr::Unless { mask, no }, ..] = program.code[..] else {
        return None;
    };
    let has_no_effect = to == program.result && program.code[no.0 as usize] == Instr::End;
    has_no_effect.then(|| (mask, program.constants[constant as usize]))
}

/// Returns the only square of a set, or `None` if the set does not have exactly one square.
fn only(set: u64) -> Option<u8> {
    (set.count_ones() == 1).then(|| set.trailing_zeros() as u8)
}

/// Returns the first child of a node (the first position that follows it), if there is one. The first child always has
/// the next number.
fn first_child(nodes: NodeRange<'_>, node: usize) -> Option<usize> {
    let next = node + 1;
    (next < nodes.len() && nodes.parent(next) == node).then_some(next)
}

/// Computes an operation of wrapping 32-bit arithmetic. Returns `None` for a division by zero.
fn arithmetic(arith: Arith, a: i32, b: i32) -> Option<i32> {
    match arith {
        Arith::Add => Some(a.wrapping_add(b)),
        Arith::Sub => Some(a.wrapping_sub(b)),
        Arith::Mul => Some(a.wrapping_mul(b)),
        Arith::Div => (b != 0).then(|| a.wrapping_div(b)),
        Arith::Rem => (b != 0).then(|| a.wrapping_rem(b)),
    }
}
