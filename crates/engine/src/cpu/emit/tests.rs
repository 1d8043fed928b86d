//! Tests of the machine code. A disassembler checks the encoded instructions, and random programs must compute the same
//! words as machine code and in the interpreter.

use fastrand::Rng;
use iced_x86::{Decoder, DecoderOptions, Instruction, OpKind};

use super::{
    ProgramPart,
    assembler::{Assembler, Inst, VectorOp, VectorOperand, Width},
    compile, compiled, parts,
};
use crate::cpu::{Isa, kernels, registers::RegisterMachine};
use orbit_plan::{
    ChainOp, Cmp, Id, Op as PlanOp, OperationChain, Program, Reduce, Reg, RegisterInput, Scalar, Step, TRUE,
    Term,
};

const OPS: [VectorOp; 20] = [
    VectorOp::Load,
    VectorOp::Store,
    VectorOp::Spread,
    VectorOp::And,
    VectorOp::AndNot,
    VectorOp::Or,
    VectorOp::Xor,
    VectorOp::Ternary,
    VectorOp::Up,
    VectorOp::Down,
    VectorOp::Around,
    VectorOp::Add,
    VectorOp::Sub,
    VectorOp::Count,
    VectorOp::Sums,
    VectorOp::Equal,
    VectorOp::Greater,
    VectorOp::Meets,
    VectorOp::Misses,
    VectorOp::Masks,
];

/// Returns the mnemonic of an operation and three flags: true if the operation writes a mask register, true if it has a
/// first operand, and true if it has an immediate operand. Returns `None` if the operation does not exist at this
/// width.
fn names(op: VectorOp, width: Width) -> Option<(&'static str, bool, bool, bool)> {
    let wide = width == Width::Zmm;
    Some(match op {
        VectorOp::Load | VectorOp::Store => (if wide { "Vmovdqa64" } else { "Vmovdqa" }, false, false, false),
        VectorOp::Spread if wide => ("Vpbroadcastq", false, false, false),
        VectorOp::And => (if wide { "Vpandq" } else { "Vpand" }, false, true, false),
        VectorOp::AndNot => (if wide { "Vpandnq" } else { "Vpandn" }, false, true, false),
        VectorOp::Or => (if wide { "Vporq" } else { "Vpor" }, false, true, false),
        VectorOp::Xor => (if wide { "Vpxorq" } else { "Vpxor" }, false, true, false),
        VectorOp::Ternary if wide => ("Vpternlogq", false, true, true),
        VectorOp::Up => ("Vpsllq", false, false, true),
        VectorOp::Down => ("Vpsrlq", false, false, true),
        VectorOp::Around if wide => ("Vprolq", false, false, true),
        VectorOp::Add => ("Vpaddq", false, true, false),
        VectorOp::Sub => ("Vpsubq", false, true, false),
        VectorOp::Count if wide => ("Vpopcntq", false, false, false),
        VectorOp::Sums => ("Vpsadbw", false, true, false),
        VectorOp::Equal => ("Vpcmpeqq", wide, true, false),
        VectorOp::Greater => ("Vpcmpgtq", wide, true, false),
        VectorOp::Meets if wide => ("Vptestmq", true, true, false),
        VectorOp::Misses if wide => ("Vptestnmq", true, true, false),
        VectorOp::Masks if wide => ("Vpmovm2q", false, false, false),
        _ => return None,
    })
}

/// Generates instructions with random registers. The operands of each operation cover all places (registers or memory)
/// that it allows.
fn instructions(width: Width) -> Vec<Inst> {
    let mut rng = Rng::with_seed(1);
    let mut out = Vec::new();
    for op in OPS {
        let Some((_, to_mask, has_first, has_number)) = names(op, width) else { continue };
        for k in 0..60u32 {
            let mut register = || rng.u8(..width.registers() as u8);
            let (to, a, b) = (register(), register(), register());
            let to = if to_mask { to & 7 } else { to };
            let places = [
                VectorOperand::In(b),
                VectorOperand::Column,
                VectorOperand::Scratch(k * k),
                VectorOperand::Pool(k % 7),
            ];
            let b = match op {
                VectorOp::Masks => VectorOperand::In(b & 7),
                VectorOp::Store => places[1 + k as usize % 2],
                VectorOp::Spread => places[3],
                // This instruction adds bytes, so it cannot broadcast a word from memory.
                VectorOp::Sums if width == Width::Zmm => places[k as usize % 3],
                // With AVX2, a shift cannot read its operand from memory.
                VectorOp::Up | VectorOp::Down if width == Width::Ymm => places[0],
                VectorOp::Load if width == Width::Zmm => places[k as usize % 3],
                _ => places[k as usize % 4],
            };
            let within = if matches!(op, VectorOp::Meets | VectorOp::Misses) { k as u8 % 8 } else { 0 };
            let (a, imm) = (if has_first { a } else { 0 }, if has_number { rng.u8(..64) } else { 0 });
            out.push(Inst::Vector { op, to, a, b, imm, within });
        }
    }
    out.extend((0..100).map(|k| Inst::Address(k * 3)));
    out.extend((0..60).map(|k| Inst::Answer { line: k, from: (7 * k % width.registers() as u32) as u8 }));
    out
}

/// Returns the one or two machine instructions of an `Inst`, in the notation of Intel's manual.
fn expected(inst: Inst, width: Width) -> Vec<String> {
    let vector = |k: u8| format!("{}{k}", if width == Width::Zmm { "ZMM" } else { "YMM" });
    match inst {
        Inst::Address(column) => vec![format!("Mov RAX, [RDI+{}]", 8 * column)],
        Inst::Answer { line, from } => match width {
            Width::Zmm => {
                vec![format!("Vpmovq2m K1, {}", vector(from)), format!("Kmovb [RDX+{}], K1", 64 * line)]
            }
            Width::Ymm => {
                vec![format!("Vmovmskpd EAX, {}", vector(from)), format!("Mov [RDX+{}], AL", 64 * line)]
            }
        },
        Inst::Vector { op, to, a, b, imm, within } => {
            let (name, to_mask, has_first, has_number) = names(op, width).expect("it has a name");
            let mut to = if to_mask { format!("K{to}") } else { vector(to) };
            if within > 0 {
                to += &format!(" {{K{within}}}");
            }
            let b = match b {
                VectorOperand::In(k) if op == VectorOp::Masks => format!("K{k}"),
                VectorOperand::In(k) => vector(k),
                VectorOperand::Column => "[RAX+RCX]".into(),
                VectorOperand::Scratch(slot) => format!("[RSI+{}]", slot as usize * width.bytes()),
                VectorOperand::Pool(word) if width == Width::Zmm && op != VectorOp::Spread => {
                    format!("[pool {word}] repeated")
                }
                VectorOperand::Pool(word) => format!("[pool {word}]"),
            };
            let mut operands = vec![to];
            operands.extend(has_first.then(|| vector(a)));
            operands.push(b);
            operands.extend(has_number.then(|| imm.to_string()));
            if op == VectorOp::Store {
                operands.reverse();
            }
            vec![format!("{name} {}", operands.join(", "))]
        }
    }
}

/// Returns a disassembled instruction in the same notation as [`expected`].
fn text(inst: &Instruction, pool: usize, pool_bytes: usize) -> String {
    let operand = |k: u32| match inst.op_kind(k) {
        OpKind::Register if k == 0 && inst.has_op_mask() => {
            format!("{:?} {{{:?}}}", inst.op_register(0), inst.op_mask())
        }
        OpKind::Register => format!("{:?}", inst.op_register(k)),
        OpKind::Memory if inst.is_ip_rel_memory_operand() => {
            let word = (inst.memory_displacement64() as usize - pool) / pool_bytes;
            let repeated = if inst.is_broadcast() { " repeated" } else { "" };
            format!("[pool {word}]{repeated}")
        }
        OpKind::Memory if inst.memory_index() != iced_x86::Register::None => {
            assert_eq!((inst.memory_index_scale(), inst.memory_displacement64()), (1, 0));
            format!("[{:?}+{:?}]", inst.memory_base(), inst.memory_index())
        }
        OpKind::Memory => format!("[{:?}+{}]", inst.memory_base(), inst.memory_displacement64()),
        OpKind::Immediate8 => inst.immediate8().to_string(),
        other => format!("{other:?}"),
    };
    let operands: Vec<String> = (0..inst.op_count()).map(operand).collect();
    format!("{:?} {}", inst.mnemonic(), operands.join(", "))
}

#[test]
fn the_disassembler_reads_what_was_written() {
    for (width, pool_bytes) in [(Width::Ymm, 32), (Width::Zmm, 8)] {
        let body = instructions(width);
        let mut assembler = Assembler::new(width);
        let pool = [3, 1, 4, 1, 5, 9, 2];
        // The test assembles two functions, because the displacements to the pool must be computed separately for each.
        let begins = [(); 2].map(|()| assembler.function(&body, &pool, 2048));
        assert!(begins[0] == 0 && begins[1] > 0 && begins[1] % 64 == 0);
        let bytes = assembler.finish();
        for begin in begins {
            let mut decoder = Decoder::with_ip(64, &bytes[begin..], 0, DecoderOptions::NONE);
            let insts: Vec<Instruction> = decoder.iter().take_while(|inst| !inst.is_invalid()).collect();
            let end = insts.iter().position(|inst| format!("{:?}", inst.mnemonic()) == "Ret").unwrap();
            let pool_at = (begin + insts[end].next_ip() as usize).next_multiple_of(pool_bytes) - begin;
            let read: Vec<String> =
                insts[..=end].iter().map(|inst| text(inst, pool_at, pool_bytes)).collect();
            let mut wanted = vec!["Xor ECX, ECX".to_string()];
            wanted.extend(body.iter().flat_map(|&inst| expected(inst, width)));
            wanted.extend(["Add RDX, Immediate8to64".into(), "Add RCX, Immediate8to64".into()]);
            wanted.extend([
                "Cmp RCX, Immediate32to64".into(),
                "Jb NearBranch64".into(),
                "Vzeroupper ".into(),
                "Ret ".into(),
            ]);
            assert_eq!(read.len(), wanted.len());
            for (read, wanted) in read.iter().zip(&wanted) {
                assert_eq!(read, wanted, "{width:?}");
            }
            let [.., branch, _, _] = &insts[..=end] else { panic!("there are more") };
            assert_eq!(branch.near_branch_target(), 2, "behind `xor ecx, ecx`");
            let immediate = |back: usize| insts[end - back].immediate32to64();
            assert_eq!((immediate(3), insts[end - 4].immediate8to64()), (2048, width.bytes() as i64));
            assert_eq!(insts[end - 5].immediate8to64(), 1);
            let words = bytes[begin + pool_at..].chunks(pool_bytes).take(pool.len());
            for (word, wanted) in words.zip(pool) {
                assert!(word.chunks(8).all(|word| word == u64::to_le_bytes(wanted)));
            }
        }
    }
}

/// A generator of programs with random steps: chains of shifted and masked registers, loops over tables, and single
/// operations.
struct Random {
    rng: Rng,
    program: Program,
    /// The registers to which the program has already written a value.
    full: Vec<u32>,
    /// The constants among the program's scalars; the other scalars are parameters of loops.
    constants: Vec<Scalar>,
    queries: usize,
}

impl Random {
    fn new(seed: u64, registers: u32, steps: usize) -> Random {
        let mut rng = Rng::with_seed(seed);
        let mut scalars = vec![TRUE, 0, 1, 0x0101_0101_0101_0101, !0x8080_8080_8080_8080];
        scalars.extend((0..20).map(|_| rng.u64(..) & rng.u64(..)));
        let program = Program {
            stages: Vec::new(),
            steps: Vec::new(),
            registers: registers as usize,
            inputs: (0..4).map(|k| (RegisterInput::Plane(k), Reg(k.into()))).collect(),
            reads: Vec::new(),
            scalars,
            tables: Vec::new(),
            positions: true,
            whole_positions: false,
        };
        let mut random = Random {
            rng,
            constants: (0..program.scalars.len() as u32).map(Scalar).collect(),
            program,
            full: (0..4).collect(),
            queries: 0,
        };
        while random.program.steps.len() < steps {
            // The steps after a loop do not read values from before it. So programs in which many registers should be
            // live have few loops.
            let most = if registers == 90 { 200 } else { 20 };
            match random.rng.u8(..most) {
                0 => random.looped(4, 2),
                1 => random.answer(),
                _ => random.step(4),
            }
        }
        random
    }

    fn full(&mut self) -> u32 {
        // If many registers hold a value, the choice is not limited to the latest of them. So more values stay live
        // than the processor has registers.
        let is_near = self.full.len() < 40 && self.rng.bool();
        let last = if is_near { self.full.len().saturating_sub(6) } else { 0 };
        self.full[self.rng.usize(last..self.full.len())]
    }

    /// Returns a register that is not among the registers in `read`.
    fn free(&mut self, first: u32, read: &[u32]) -> Reg {
        loop {
            let register = self.rng.u32(first..self.program.registers as u32);
            if !read.contains(&register) {
                return Reg(register);
            }
        }
    }

    fn fill(&mut self, Reg(register): Reg) {
        self.full.retain(|&it| it != register);
        self.full.push(register);
    }

    fn scalar(&mut self) -> Scalar {
        self.constants[self.rng.usize(..self.constants.len())]
    }

    /// Adds a random step that writes a register with the number `first` or higher.
    fn step(&mut self, first: u32) {
        let [a, b, c] = [(); 3].map(|()| self.full());
        let dst = self.free(first, &[a, b, c]);
        let step = match self.rng.u8(..8) {
            0 => Step::AndScalar { dst, a: Reg(a), scalar: self.scalar() },
            1 => Step::OrScalar { dst, a: Reg(a), scalar: self.scalar() },
            2 if self.rng.bool() => Step::Splat { dst, scalar: self.scalar() },
            3..6 => {
                let chain = self.chain();
                let read: Vec<u32> = chain.terms.iter().map(|term| term.src.0).collect();
                let dst = self.free(first, &read);
                self.program.steps.push(Step::Chain { dst, chain });
                return self.fill(dst);
            }
            _ => Step::Do { dst, op: self.operation(Id(a), Id(b), Id(c)) },
        };
        self.program.steps.push(step);
        self.fill(dst);
    }

    fn chain(&mut self) -> OperationChain<Reg> {
        let op = [ChainOp::Or, ChainOp::And, ChainOp::Meet, ChainOp::Sum][self.rng.usize(..4)];
        let terms = (0..self.rng.usize(1..=9)).map(|_| {
            let (src, mut keep) = (Reg(self.full()), self.scalar());
            let by = if self.rng.bool() { 0 } else { self.rng.i8(-63..=63) };
            let word = self.program.scalars[keep.0 as usize];
            // A term of a chain shifts and masks a register. The mask must not keep a bit that the shift moves out of
            // the word.
            let room = if by >= 0 { TRUE >> by } else { TRUE << -by };
            if word & !room != 0 {
                keep = Scalar(self.program.scalars.len() as u32);
                self.program.scalars.push(word & room);
            }
            Term { src, keep, by, not: op != ChainOp::Sum && self.rng.u8(..3) == 0 }
        });
        OperationChain { op, terms: terms.collect() }
    }

    fn operation(&mut self, a: Id, b: Id, c: Id) -> PlanOp {
        let cmp = [Cmp::Eq, Cmp::Ne, Cmp::Lt, Cmp::Le, Cmp::Gt, Cmp::Ge][self.rng.usize(..6)];
        let (dx, dy) = (self.rng.i8(-7..=7), self.rng.i8(-7..=7));
        // Steps that cannot be compiled divide the program into several regions. Some programs contain no such steps.
        let kinds = if self.program.registers == 30 { 28 } else { 26 };
        match self.rng.u8(..kinds) {
            0 => PlanOp::And(a, b),
            1 => PlanOp::Or(a, b),
            2 => PlanOp::AndNot(a, b),
            3 => PlanOp::Xor(a, b),
            4 => PlanOp::Not(a),
            5 => PlanOp::Select { mask: a, a: b, b: c },
            6 => PlanOp::Step(a, dx, dy),
            7 => PlanOp::FillRanks(a),
            8 => PlanOp::FillFiles(a),
            9 => PlanOp::Knight(a),
            10 => PlanOp::King(a),
            11 => PlanOp::Pawn { set: a, white: self.rng.bool() },
            12 | 13 => PlanOp::Slide { set: a, empty: b, dir: self.rng.u8(..8) },
            14 => PlanOp::Walk { set: a, dirs: self.rng.u8(..), lo: 1, hi: 7 },
            15 => {
                let lo = self.rng.i8(1..=7);
                PlanOp::Walk { set: a, dirs: self.rng.u8(..), lo, hi: self.rng.i8(lo..=7) }
            }
            16 => PlanOp::NonEmpty(a),
            17 => PlanOp::Single(a),
            18 => PlanOp::Count(a),
            19 => PlanOp::Rank(a),
            20 => PlanOp::File(a),
            21 => PlanOp::Content(a),
            22 => PlanOp::Add(a, b),
            23 => PlanOp::Sub(a, b),
            24 => PlanOp::Max(a, b),
            25 => PlanOp::Compare(cmp, a, b),
            26 => PlanOp::Mul(a, b),
            _ => PlanOp::MakeSquare { file: a, rank: b },
        }
    }

    fn answer(&mut self) {
        let a = self.full();
        let mask = self.free(4, &[a]);
        self.program.steps.push(Step::Do { dst: mask, op: PlanOp::NonEmpty(Id(a)) });
        self.fill(mask);
        self.program.steps.push(Step::Answer { query: self.queries, mask });
        self.queries += 1;
    }

    /// Adds a loop over a table, sometimes with a nested loop.
    fn looped(&mut self, first: u32, depth: u32) {
        // No other step in the loop may write the register of the loop's result, so the body writes only registers with
        // the number `body` or higher.
        let body = first + 1;
        if body + 8 > self.program.registers as u32 {
            return self.step(first);
        }
        let acc = Reg(first);
        self.full.retain(|&it| it < first);
        let reduce = [Reduce::Or, Reduce::Max, Reduce::Count][self.rng.usize(..3)];
        let (table, begin) = (self.program.tables.len(), self.program.steps.len());
        let width = self.rng.usize(1..4);
        let parameters = Scalar(self.program.scalars.len() as u32);
        self.program.scalars.extend(vec![0; width]);
        let rows = (0..self.rng.usize(1..=12)).map(|_| (0..width).map(|_| self.rng.u64(..)).collect());
        let rows = rows.collect();
        self.program.tables.push(rows);
        self.program.steps.push(Step::Begin { table, first: parameters, acc, reduce, end: 0 });
        for k in 0..width as u32 {
            let a = self.full();
            let dst = self.free(body, &[a]);
            let scalar = Scalar(parameters.0 + k);
            self.program.steps.push(if self.rng.bool() {
                Step::AndScalar { dst, a: Reg(a), scalar }
            } else {
                let (op, not) = ([ChainOp::Meet, ChainOp::Or][self.rng.usize(..2)], self.rng.bool());
                Step::Chain {
                    dst,
                    chain: OperationChain { op, terms: vec![Term { src: Reg(a), keep: scalar, by: 0, not }] },
                }
            });
            self.fill(dst);
        }
        for _ in 0..self.rng.usize(1..4) {
            self.step(body);
        }
        if depth > 0 && self.rng.bool() {
            self.looped(body, depth - 1);
        }
        let mut word = self.full();
        if reduce == Reduce::Count {
            let mask = self.free(body, &[word]);
            self.program.steps.push(Step::Do { dst: mask, op: PlanOp::NonEmpty(Id(word)) });
            word = mask.0;
        }
        let word = if word == acc.0 { 0 } else { word };
        let end = self.program.steps.len();
        self.program.steps.push(Step::End { begin, acc, word: Reg(word), reduce });
        let Step::Begin { end: old, .. } = &mut self.program.steps[begin] else { panic!("it begins there") };
        *old = end;
        self.full.retain(|&it| it < first);
        self.fill(acc);
    }
}

/// Creates a register machine whose registers contain random words.
fn filled(program: &Program, isa: Isa, rng: &mut Rng) -> RegisterMachine {
    let mut machine = RegisterMachine::new(program, isa);
    for register in &mut machine.regs {
        for word in register.0.as_flattened_mut() {
            let sparse = rng.u64(..) & rng.u64(..) & rng.u64(..);
            *word = [0, sparse, sparse & rng.u64(..) & rng.u64(..), rng.u64(..)][rng.usize(..4)];
        }
    }
    machine
}

#[test]
fn machine_code_computes_what_kernels_do() {
    let (mut regions, mut several, mut mixed, mut spilled) = (0, 0, 0, 0);
    for seed in 0..300 {
        let mut rng = Rng::with_seed(!seed);
        let (registers, steps) = ([16, 30, 90][seed as usize % 3], [3, 20, 120, 700][seed as usize % 4]);
        let Random { program, queries, .. } = Random::new(seed, registers, steps);
        let kept: Vec<Reg> = (4..registers).filter(|_| rng.u8(..4) == 0).map(Reg).collect();
        let parts = parts(&program);
        let count = parts.iter().filter(|part| matches!(part, ProgramPart::Region(_))).count();
        (regions, several) = (regions + count, several + usize::from(count > 1));
        mixed += usize::from(count > 0 && count < parts.len());
        for isa in Isa::available() {
            let Some(mut native) = compile(&program, &kept, isa) else { continue };
            if seed % 2 == 0 {
                // With only 6 to 10 vector registers, the code must constantly evict values.
                native =
                    compiled(&program, &kept, native.width, 6 + seed as usize % 5).expect("it was compiled");
            }
            spilled += usize::from(native.slots > 0);
            let mut by_kernels = filled(&program, isa, &mut rng);
            let mut machine = RegisterMachine::new(&program, isa);
            machine.regs.clone_from(&by_kernels.regs);
            // The code runs twice, which checks that it leaves its inputs unchanged.
            for _ in 0..2 {
                kernels::run(isa, &program, 0..program.steps.len(), &mut by_kernels);
                native.run(&program, &mut machine);
                for reg in kept.iter().copied().chain((0..4).map(Reg)) {
                    let [wanted, found] =
                        [&by_kernels, &machine].map(|it| it.regs[reg.0 as usize].0.as_flattened());
                    let differs = wanted.iter().zip(found).position(|(wanted, found)| wanted != found);
                    assert_eq!(differs, None, "seed {seed}, {}, register {reg}:\n{program}", isa.name());
                }
                assert_eq!(
                    by_kernels.answers[..queries],
                    machine.answers[..queries],
                    "seed {seed}, {}",
                    isa.name()
                );
                machine.regs.clone_from(&by_kernels.regs);
            }
        }
    }
    // Checks that enough random programs have regions, several regions, a mixture of compiled and interpreted steps,
    // and evicted values.
    assert!(regions > 500 && several > 50 && mixed > 50, "{regions} regions, {several}, {mixed}");
    assert!(spilled > 60 || Isa::available().len() == 1, "registers ran out in {spilled} programs");
}
