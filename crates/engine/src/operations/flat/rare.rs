//! The rare instructions of flat programs. They are separate to keep the main loop of the machine short.

use shakmaty::Square;

use super::{FlatMachine, FoundWalk, REPETITIONS_MAX, Stopped, arithmetic, first_child, only};
use crate::operations::{OperandSource, node_at, pairs::Pairs, tree::NodeRange};
use orbit_plan::{Instr, Label, RegisterWord, word_of};

impl FlatMachine<'_> {
    /// Runs a rare instruction at a node (position). Returns the target if the instruction jumps, or `None` to continue
    /// with the next instruction.
    #[inline(never)]
    pub(super) fn rare(
        &mut self,
        nodes: NodeRange<'_>,
        instr: Instr,
        at: usize,
    ) -> Result<Option<Label>, Stopped> {
        let program = self.program;
        match instr {
            Instr::Do { to, op } => {
                let word = word_of(op, |id| self.words[id.0 as usize]);
                self.set(to, word.expect("the compiler refuses steps that look at positions"));
            }
            Instr::Content { to, set } => {
                let square = only(self.get(set)).map(|square| Square::new(square.into()));
                let code = square.map(|square| self.boards.at(nodes, self.games, at).board.at(square).0);
                self.set(to, code.unwrap_or(0).into());
            }
            Instr::Place { to, set, rank } => {
                let square = only(self.get(set)).map(i32::from);
                self.set_value(to, square.map(|square| 1 + if rank { square >> 3 } else { square & 7 }));
            }
            Instr::Square { to, file, rank } => {
                let on_board = |n: &i32| (1..=8).contains(n);
                let (file, rank) = (self.value(file).filter(on_board), self.value(rank).filter(on_board));
                let square = file.zip(rank).map_or(0, |(file, rank)| 1 << (8 * (rank - 1) + file - 1));
                self.set(to, square);
            }
            Instr::Arith { to, arith, a, b } => {
                let both = self.value(a).zip(self.value(b));
                self.set_value(to, both.and_then(|(a, b)| arithmetic(arith, a, b)));
            }
            Instr::Neg { to, of } => self.set_value(to, self.value(of).map(i32::wrapping_neg)),
            Instr::Abs { to, of } => self.set_value(to, self.value(of).map(i32::wrapping_abs)),
            Instr::Sqrt { to, of } => {
                self.set_value(to, self.value(of).filter(|&n| n >= 0).map(i32::isqrt));
            }
            Instr::Repeat => {
                self.turn()?;
                self.repetitions += 1;
                if self.repetitions > REPETITIONS_MAX {
                    return Err(Stopped);
                }
            }
            Instr::NextPair { pairs, source, node, done } => {
                self.turn()?;
                let place = usize::from(pairs);
                let from = self.get(node).wrapping_add(1) as usize;
                if from == 0 {
                    let (search, squares) = (&program.pairs[place], &self.men.of);
                    self.look_at(nodes.len())?;
                    let found = Pairs::new(search, self.operands, nodes, &self.words, squares);
                    found.find(self.words[source.0 as usize] as usize, &mut self.targets[place]);
                    if let Some(moves) = search.moves {
                        self.keep_left(nodes, moves, place);
                    }
                }
                match self.targets[place].next(from) {
                    Some(target) => self.set(node, target as u64),
                    None => return Ok(Some(done)),
                }
            }
            Instr::Recall { site, key, last, to, done } => {
                let known = self.found[self.place(site, key)];
                if let Some(found) = known.at(self.games_seen, at, self.get(last) as usize) {
                    self.set_node(to, found);
                    return Ok(Some(done));
                }
            }
            Instr::Remember { site, key, from, last, found } => {
                let place = self.place(site, key);
                self.found[place] = FoundWalk {
                    game: self.games_seen,
                    from: self.get(from) as usize,
                    found: node_at(self.get(found), nodes),
                    last: self.get(last) as usize,
                };
            }
            Instr::Child { to, number } => {
                let mut child = first_child(nodes, at);
                let mut left = self.get(number) as i64;
                while left > 0 && child.is_some() {
                    self.look_at(1)?;
                    let next = child.and_then(|child| self.family.next.get(child).copied()).unwrap_or(0);
                    child = (next > 0).then_some(next as usize);
                    left -= 1;
                }
                self.set_node(to, child.filter(|_| left == 0));
            }
            Instr::Numbered { to, number } => self.set_node(to, node_at(self.get(number), nodes)),
            Instr::Fork { to, a, b } => {
                let both = node_at(self.get(a), nodes).zip(node_at(self.get(b), nodes));
                self.look_between(nodes, both)?;
                self.set_node(to, both.map(|(a, b)| nodes.fork(a, b).0));
            }
            Instr::Distance { to, a, b } => {
                let both = node_at(self.get(a), nodes).zip(node_at(self.get(b), nodes));
                self.look_between(nodes, both)?;
                self.set_node(to, both.map(|(a, b)| nodes.fork(a, b).1));
            }
            Instr::UnlessBefore { a, b, no } => {
                let both = node_at(self.get(a), nodes).zip(node_at(self.get(b), nodes));
                self.look_between(nodes, both)?;
                if !both.is_some_and(|(a, b)| nodes.is_before(a, b)) {
                    return Ok(Some(no));
                }
            }
            Instr::Same { to, a, b, planes } => {
                let both = node_at(self.get(a), nodes).zip(node_at(self.get(b), nodes));
                let same = both.map_or(0, |(a, b)| {
                    let planes = &self.operands[planes as usize..planes as usize + 4];
                    let differ =
                        |plane: &OperandSource<'_>| plane.word(nodes.slot(a)) ^ plane.word(nodes.slot(b));
                    !planes.iter().fold(0, |all, plane| all | differ(plane))
                });
                self.set(to, same);
            }
            Instr::Own { to, selected, reached } => {
                let part = if self.get(selected) == at as u64 {
                    self.get(RegisterWord(selected.0 + 1 + u16::from(reached)))
                } else if at == 0 {
                    0
                } else {
                    let mv = self.games.moves().to(nodes.slot(at));
                    let squares = if reached { mv.reached() } else { mv.left() };
                    squares.into_iter().fold(0, |set, square| set | 1 << square)
                };
                self.set(to, part);
            }
            Instr::Chain { to, chain } => {
                let value = self.chain(nodes, chain, at)?;
                self.set(to, value as u64);
            }
            Instr::UnlessFree { chain, no } => {
                if !self.is_free(chain, at) {
                    return Ok(Some(no));
                }
            }
            Instr::Text(instr) => {
                if let Some(to) = self.text(nodes, instr, at)? {
                    return Ok(Some(to));
                }
            }
            Instr::Entry(instr) => {
                if let Some(to) = self.entry(instr)? {
                    return Ok(Some(to));
                }
            }
            Instr::Move(instr) => self.look_at_moves(nodes, instr, at)?,
            _ => unreachable!("the loop runs the others"),
        }
        Ok(None)
    }
}
