//! Counts the operations of a kernel in the shader that is compiled.
//!
//! The count is for the code as it is written, before a driver optimises it. It is an upper bound on the work of a card, and the
//! same for every card. Operations are those on 32 bits.

use std::collections::HashMap;

use orbit_engine::gpu::Kernel;
use orbit_reel::SEGMENT_SLOTS;
use wgpu::naga::{
    BinaryOperator, Block, Expression, Function, Handle, Literal, Module, Statement, TypeInner,
    front::wgsl,
    proc::TypeResolution,
    valid::{Capabilities, FunctionInfo, ModuleInfo, ValidationFlags, Validator},
};

/// Counts the integer and logic operations on 32 bits in a kernel's first pass, without its stages. The count is for one segment
/// of 32 positions, all of which are evaluated. Arithmetic, shifts, comparisons, negations, selections and counts of bits are
/// counted; loads, stores and conversions are not. An operation on a word of 64 bits counts twice, whether the word is a pair or
/// one integer. If there are two branches, the one with more operations counts. A loop with a constant bound counts as often as
/// it runs; any other loop, over the pieces or moves of a position, counts once. Returns `None` if the shader cannot be parsed,
/// which happens for no plan.
pub fn operations(kernel: &Kernel) -> Option<u64> {
    let module = wgsl::parse_str(&kernel.wgsl).ok()?;
    let info = Validator::new(ValidationFlags::empty(), Capabilities::all()).validate(&module).ok()?;
    let mut counter = StatementCounter { module: &module, info: &info, known: HashMap::new() };
    let evaluate = counter.named("evaluate")?;
    let lanes = u64::from(kernel.variant.lanes);
    let slots = SEGMENT_SLOTS as u64;
    // With two lanes, the first lane replays half of the segment, and the second lane replays all of it.
    let replayed = (1..=lanes).map(|lane| slots / lanes * lane).sum::<u64>();
    Some(slots * evaluate + counter.replay(replayed)?)
}

struct StatementCounter<'a> {
    module: &'a Module,
    info: &'a ModuleInfo,
    /// The functions that were already counted, with their numbers of operations.
    known: HashMap<Handle<Function>, u64>,
}

/// A function whose statements are counted.
#[derive(Clone, Copy)]
struct CountedFunction<'a> {
    function: &'a Function,
    info: &'a FunctionInfo,
    /// For the function `replay`: the number of turns of its two loops, the outer loop first.
    turns: Option<[u64; 2]>,
    depth: usize,
}

impl<'a> StatementCounter<'a> {
    fn find(&self, name: &str) -> Option<Handle<Function>> {
        let mut functions = self.module.functions.iter();
        functions.find(|(_, function)| function.name.as_deref() == Some(name)).map(|(handle, _)| handle)
    }

    fn named(&mut self, name: &str) -> Option<u64> {
        let handle = self.find(name)?;
        Some(self.function(handle))
    }

    /// Returns the number of operations of `replay` for `slots` slots, without those of `evaluate`.
    fn replay(&mut self, slots: u64) -> Option<u64> {
        let evaluate = self.find("evaluate")?;
        self.known.insert(evaluate, 0);
        let handle = self.find("replay")?;
        let function = &self.module.functions[handle];
        let place =
            CountedFunction { function, info: &self.info[handle], turns: Some([slots / 4, slots]), depth: 0 };
        Some(self.block(&function.body, place))
    }

    fn function(&mut self, handle: Handle<Function>) -> u64 {
        if let Some(&known) = self.known.get(&handle) {
            return known;
        }
        let function = &self.module.functions[handle];
        let place = CountedFunction { function, info: &self.info[handle], turns: None, depth: 0 };
        let count = self.block(&function.body, place);
        self.known.insert(handle, count);
        count
    }

    fn block(&mut self, block: &'a Block, place: CountedFunction<'a>) -> u64 {
        let mut count = 0u64;
        for statement in block {
            count = count.saturating_add(self.statement(statement, place));
            // Code after a branch that is always taken and leaves the function is never reached.
            if let Statement::If { condition, accept, .. } = statement
                && place.constant(self.module, *condition) == Some(1)
                && matches!(accept.last(), Some(Statement::Return { .. }))
            {
                break;
            }
        }
        count
    }

    fn statement(&mut self, statement: &'a Statement, place: CountedFunction<'a>) -> u64 {
        match statement {
            Statement::Emit(range) => range.clone().map(|it| self.expression(it, place)).sum(),
            Statement::Block(block) => self.block(block, place),
            Statement::If { condition, accept, reject } => match place.constant(self.module, *condition) {
                Some(0) => self.block(reject, place),
                Some(_) => self.block(accept, place),
                None => self.block(accept, place).max(self.block(reject, place)),
            },
            Statement::Loop { body, continuing, .. } => {
                let turns = match place.turns {
                    // The loop over slots is inside the loop over words, so its number of turns is per word.
                    Some([words, _]) if place.depth == 0 => words,
                    Some([words, slots]) => slots / words.max(1),
                    None => place.turns_of(self.module, body).unwrap_or(1),
                };
                let inner = CountedFunction { depth: place.depth + 1, ..place };
                let once = self.block(body, inner).saturating_add(self.block(continuing, inner));
                turns.saturating_mul(once)
            }
            Statement::Call { function, .. } => self.function(*function),
            _ => 0,
        }
    }

    fn expression(&self, handle: Handle<Expression>, place: CountedFunction<'a>) -> u64 {
        match place.function.expressions[handle] {
            Expression::Binary { left, .. } => self.words(place, left),
            Expression::Unary { expr, .. } => self.words(place, expr),
            Expression::Select { accept, .. } => self.words(place, accept),
            Expression::Math { arg, .. } => self.words(place, arg),
            _ => 0,
        }
    }

    /// Returns the number of 32-bit words of an expression; 1 for a condition.
    fn words(&self, place: CountedFunction<'a>, handle: Handle<Expression>) -> u64 {
        let inner = match &place.info[handle].ty {
            TypeResolution::Handle(ty) => &self.module.types[*ty].inner,
            TypeResolution::Value(inner) => inner,
        };
        match inner {
            TypeInner::Scalar(scalar) => u64::from(scalar.width).div_ceil(4),
            TypeInner::Vector { size, scalar } => *size as u64 * u64::from(scalar.width).div_ceil(4),
            _ => 0,
        }
    }
}

impl CountedFunction<'_> {
    /// Returns the value of a constant expression: a number itself, or 0 or 1 for a condition.
    fn constant(&self, module: &Module, handle: Handle<Expression>) -> Option<u64> {
        let literal = match self.function.expressions[handle] {
            Expression::Literal(literal) => literal,
            Expression::Constant(constant) => {
                match module.global_expressions[module.constants[constant].init] {
                    Expression::Literal(literal) => literal,
                    _ => return None,
                }
            }
            _ => return None,
        };
        match literal {
            Literal::U32(number) => Some(u64::from(number)),
            Literal::Bool(holds) => Some(u64::from(holds)),
            _ => None,
        }
    }

    /// Returns the number of turns of a loop that begins with `if (i < n) {} else { break; }`, as `for` loops do.
    fn turns_of(&self, module: &Module, body: &Block) -> Option<u64> {
        let condition = body.iter().find_map(|statement| match statement {
            Statement::If { condition, reject, .. } if matches!(reject.last(), Some(Statement::Break)) => {
                Some(*condition)
            }
            _ => None,
        })?;
        match self.function.expressions[condition] {
            Expression::Binary { op: BinaryOperator::Less, right, .. } => self.constant(module, right),
            _ => None,
        }
    }
}
