//! Translates chains, which are the patterns of `line` and `path`, into automata.
//!
//! A *walk* is a sequence of positions that an automaton accepts.

use orbit_query::tree::Chain;

/// The maximum number of states of an automaton. A `line` or `path` that needs more states is not translated to an automaton.
const STATES_MAX: usize = 64;
/// The maximum number of branches from one state of an automaton.
const BRANCHES_MAX: usize = 256;
/// The maximum number of choices that the search for the branches of one state may try.
const CHOICES_MAX: usize = 20_000;

/// The automaton of a chain (a `line` or `path`). Its states are the constituents that consume a position or a move. A repeated
/// constituent has a state for each repetition that must be distinguished.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Automaton {
    /// The states. Branches refer to them by index.
    pub states: Vec<AutomatonState>,
    /// The branches from the start to the states that can come first.
    pub first: Vec<Branch>,
    /// The branches that leave each state.
    pub follow: Vec<Vec<Branch>>,
    /// The number of masks that the automaton reads. States and branches refer to these masks by index.
    pub operands: usize,
}

/// A state: a constituent of a `line` or `path` that consumes a position or a move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AutomatonState {
    /// The index of a mask that must be true at the position that the state consumes, or after the move that it consumes.
    pub mask: u16,
    /// The index of a mask that must be true at the next position of the walk. It replaces `mask`, which is then tested only at the
    /// end of a line, where no next move exists.
    pub leaving: Option<u16>,
    /// For castling, the indices of two masks that replace `mask`: one for the king and one for the rook. The state matches if the
    /// king is in focus and the first mask is true, or if the rook is in focus and the second mask is true.
    pub castling: Option<[u16; 2]>,
}

/// A transition from one state to another.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Branch {
    /// The next state; `None` if the walk is complete.
    pub to: Option<u8>,
    /// The indices of masks, all of which must be true at the position from which the branch leads on.
    pub guards: Vec<u16>,
}

/// A constituent of a `line` or `path`, in the form from which the automaton is built.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ChainPart {
    State(AutomatonState),
    /// The index of a mask that must be true at the position that the walk has reached. This test consumes neither a position nor a
    /// move.
    Guard(u16),
}

/// An instruction of the intermediate program into which a chain is compiled first. The program backtracks: it tries the
/// alternatives in order, and fewer repetitions before more.
enum Instruction {
    Take(usize),
    Guard(u16),
    /// Continues at either of two instructions, and tries the first one first.
    Split(usize, usize),
    Jump(usize),
    Accept,
}

impl Automaton {
    /// Returns true if a state is tied to the next move: see [`AutomatonState::leaving`].
    pub fn is_tied(&self) -> bool {
        self.states.iter().any(|state| state.leaving.is_some())
    }

    /// Returns the automaton of a chain (a `line` or `path`) whose constituents refer to `operands` masks. Returns `None` if the
    /// automaton would be too large.
    pub(crate) fn new(chain: &Chain<ChainPart>, operands: usize) -> Option<Automaton> {
        let mut code = StateCode { instructions: Vec::new(), states: Vec::new() };
        code.chain(chain)?;
        code.instructions.push(Instruction::Accept);
        let mut first = code.branches(0)?;
        // A walk consists of at least one position or move, so a branch that completes it before the first state is dropped.
        first.retain(|branch| branch.to.is_some());
        let mut follow = Vec::new();
        for state in 0..code.states.len() {
            let at =
                code.instructions.iter().position(|it| matches!(it, Instruction::Take(own) if *own == state));
            follow.push(code.branches(at? + 1)?);
        }
        Some(Automaton { states: code.states, first, follow, operands })
    }
}

struct StateCode {
    instructions: Vec<Instruction>,
    states: Vec<AutomatonState>,
}

impl StateCode {
    fn chain(&mut self, chain: &Chain<ChainPart>) -> Option<()> {
        match chain {
            Chain::One(ChainPart::Guard(mask)) => self.instructions.push(Instruction::Guard(*mask)),
            Chain::One(ChainPart::State(state)) => {
                if self.states.len() == STATES_MAX {
                    return None;
                }
                self.instructions.push(Instruction::Take(self.states.len()));
                self.states.push(*state);
            }
            Chain::Sequence(all) => {
                for part in all {
                    self.chain(part)?;
                }
            }
            Chain::Repeat { of, min, max } => {
                // Repetitions of a part that contains no state, only masks, are not bounded by the limit on states, so they are
                // bounded here.
                if *min as usize > STATES_MAX || max.is_some_and(|max| max as usize > STATES_MAX) {
                    return None;
                }
                (0..*min).try_for_each(|_| self.chain(of))?;
                match max {
                    None => {
                        let split = self.placeholder();
                        self.chain(of)?;
                        self.instructions.push(Instruction::Jump(split));
                        self.instructions[split] = Instruction::Split(self.instructions.len(), split + 1);
                    }
                    Some(max) => {
                        let mut splits = Vec::new();
                        for _ in *min..*max {
                            splits.push(self.placeholder());
                            self.chain(of)?;
                        }
                        let end = self.instructions.len();
                        for split in splits {
                            self.instructions[split] = Instruction::Split(end, split + 1);
                        }
                    }
                }
            }
        }
        Some(())
    }

    fn placeholder(&mut self) -> usize {
        self.instructions.push(Instruction::Accept);
        self.instructions.len() - 1
    }

    /// Returns the branches from an instruction to the possible next states, in the order in which they are tried. Returns `None`
    /// if there are too many.
    fn branches(&self, from: usize) -> Option<Vec<Branch>> {
        let mut search = WaySearch { code: self, tried: 0, out: Vec::new() };
        search.follow(from, Vec::new(), &[])?;
        Some(search.out)
    }
}

/// The search for the branches that lead from an instruction to the next states.
struct WaySearch<'a> {
    code: &'a StateCode,
    /// The number of choices tried so far.
    tried: usize,
    out: Vec<Branch>,
}

impl WaySearch<'_> {
    /// Adds the branches that require the masks `guards` and continue at instruction `at`. `open` lists the choices made since the
    /// last state.
    fn follow(&mut self, mut at: usize, mut guards: Vec<u16>, open: &[usize]) -> Option<()> {
        loop {
            match self.code.instructions[at] {
                Instruction::Jump(to) => at = to,
                Instruction::Guard(mask) => {
                    if !guards.contains(&mask) {
                        guards.push(mask);
                    }
                    at += 1;
                }
                // The search has returned to this instruction without consuming a position or a move, so another iteration of the
                // loop would have no effect.
                Instruction::Split(..) if open.contains(&at) => return Some(()),
                Instruction::Split(a, b) => {
                    self.tried += 1;
                    if self.tried > CHOICES_MAX {
                        return None;
                    }
                    let open: Vec<usize> = open.iter().copied().chain([at]).collect();
                    self.follow(a, guards.clone(), &open)?;
                    return self.follow(b, guards, &open);
                }
                Instruction::Take(_) | Instruction::Accept => {
                    let to = match self.code.instructions[at] {
                        Instruction::Take(state) => Some(state as u8),
                        _ => None,
                    };
                    guards.sort_unstable();
                    // The branch is useless if an earlier branch leads to the same state and requires only some of its guards
                    // (masks that must be true).
                    let known = |branch: &Branch| {
                        branch.to == to && branch.guards.iter().all(|guard| guards.contains(guard))
                    };
                    if !self.out.iter().any(known) {
                        self.out.push(Branch { to, guards });
                    }
                    return (self.out.len() <= BRANCHES_MAX).then_some(());
                }
            }
        }
    }
}
