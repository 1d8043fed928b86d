//! Encodes the instructions of a region as bytes.
//!
//! The code of a region is a function that loops over the words of a group of positions. On every system, it uses the
//! System V calling convention. It takes three pointers: `rdi` points to a table of the addresses of columns, `rsi` to
//! scratch memory, and `rdx` to the buffer for answers. `rcx` counts bytes of a column, and `rax` holds the address of
//! a column. Constant words, the *pool*, are stored after the code.
//!
//! Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, sections 2.3 (VEX) and 2.7 (EVEX),
//! and the pages of the instructions.

/// The width of the vectors that the code uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Width {
    /// 32 bytes, four words, for AVX2.
    Ymm,
    /// 64 bytes, eight words, for AVX-512.
    Zmm,
}

impl Width {
    pub(super) fn bytes(self) -> usize {
        match self {
            Width::Ymm => 32,
            Width::Zmm => 64,
        }
    }

    pub(super) fn registers(self) -> usize {
        match self {
            Width::Ymm => 16,
            Width::Zmm => 32,
        }
    }

    /// Returns the number of bytes that a constant word occupies in the pool. AVX-512 broadcasts one word to all lanes
    /// while it reads it. AVX2 reads a whole vector, so the pool holds each word four times.
    fn pool_bytes(self) -> usize {
        match self {
            Width::Ymm => 32,
            Width::Zmm => 8,
        }
    }
}

/// The operation of a vector instruction. `to` is the destination, and `a` and `b` are the operands. Only `b` may be in
/// memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum VectorOp {
    /// `to = b`
    Load,
    /// `b = to`; `b` is in memory
    Store,
    /// `to = b`, a word of the pool broadcast to all lanes (AVX-512)
    Spread,
    And,
    /// `to = !a & b`
    AndNot,
    Or,
    Xor,
    /// Any bitwise function of `to`, `a` and `b`; `imm` is its truth table (AVX-512)
    Ternary,
    /// `to = b << imm`
    Up,
    /// `to = b >> imm`
    Down,
    /// `to = b` rotated left by `imm` (AVX-512)
    Around,
    Add,
    Sub,
    /// `to` = the number of bits set in `b` (AVX-512)
    Count,
    /// `to` = the sum of the absolute differences of the bytes of `a` and `b`
    Sums,
    /// A mask of `a == b`. For this operation and the three after it, AVX-512 writes the result to a mask register.
    Equal,
    /// A mask of `a > b`, as signed numbers
    Greater,
    /// A mask that is true where `a & b` is not empty (AVX-512)
    Meets,
    /// A mask that is true where `a & b` is empty (AVX-512)
    Misses,
    /// `to` = the bits of the mask register `b`, expanded to words (AVX-512)
    Masks,
    /// The mask register `to` = the sign bits of `b` (AVX-512)
    Signs,
}

/// The location of an instruction's operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum VectorOperand {
    /// A vector register.
    In(u8),
    /// The column whose address is in `rax`.
    Column,
    /// A vector of the scratch memory.
    Scratch(u32),
    /// A word of the pool.
    Pool(u32),
}

/// A machine instruction, or a fixed pair of instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Inst {
    /// A vector instruction. If `within` names a mask register, a comparison yields true only where that mask is true.
    Vector { op: VectorOp, to: u8, a: u8, b: VectorOperand, imm: u8, within: u8 },
    /// `rax` = the address of a column.
    Address(u32),
    /// Writes the sign bits of a register to a byte of the answers. The answers have one line of [`ANSWER_BYTES`] bytes
    /// for each query.
    Answer { line: u32, from: u8 },
}

/// The number of bytes for one query's answers to a group of positions: one byte for each vector. AVX-512 uses only
/// half of them.
pub(super) const ANSWER_BYTES: usize = 64;

/// The encoding of an operation: the opcode map, the prefix and the opcode. Some instructions also have an opcode digit
/// in place of a register.
struct Encoding {
    map: u8,
    prefix: u8,
    opcode: u8,
    digit: Option<u8>,
    has_imm: bool,
}

fn row(op: VectorOp) -> Encoding {
    let (map, prefix, opcode) = match op {
        VectorOp::Load => (1, 1, 0x6f),
        VectorOp::Store => (1, 1, 0x7f),
        VectorOp::Spread => (2, 1, 0x59),
        VectorOp::And => (1, 1, 0xdb),
        VectorOp::AndNot => (1, 1, 0xdf),
        VectorOp::Or => (1, 1, 0xeb),
        VectorOp::Xor => (1, 1, 0xef),
        VectorOp::Ternary => (3, 1, 0x25),
        VectorOp::Up | VectorOp::Down => (1, 1, 0x73),
        VectorOp::Around => (1, 1, 0x72),
        VectorOp::Add => (1, 1, 0xd4),
        VectorOp::Sub => (1, 1, 0xfb),
        VectorOp::Count => (2, 1, 0x55),
        VectorOp::Sums => (1, 1, 0xf6),
        VectorOp::Equal => (2, 1, 0x29),
        VectorOp::Greater => (2, 1, 0x37),
        VectorOp::Meets => (2, 1, 0x27),
        VectorOp::Misses => (2, 2, 0x27),
        VectorOp::Masks => (2, 2, 0x38),
        VectorOp::Signs => (2, 2, 0x39),
    };
    let digit = match op {
        VectorOp::Up => Some(6),
        VectorOp::Down => Some(2),
        VectorOp::Around => Some(1),
        _ => None,
    };
    Encoding { map, prefix, opcode, digit, has_imm: digit.is_some() || op == VectorOp::Ternary }
}

/// An assembler. Its output is a sequence of functions, each followed by its pool of constants.
#[derive(Debug)]
pub(super) struct Assembler {
    width: Width,
    bytes: Vec<u8>,
    /// References to the pool whose displacements must still be filled in. Each holds the offset of the displacement,
    /// the end of its instruction, and the index of the word in the pool.
    distances: Vec<(usize, usize, u32)>,
}

impl Assembler {
    pub(super) fn new(width: Width) -> Assembler {
        Assembler { width, bytes: Vec::new(), distances: Vec::new() }
    }

    /// Returns the bytes of all functions.
    pub(super) fn finish(self) -> Vec<u8> {
        self.bytes
    }

    /// Writes a function that runs the instructions of `body` once for each vector of a column of `column_bytes` bytes.
    /// Returns the offset of the function.
    pub(super) fn function(&mut self, body: &[Inst], pool: &[u64], column_bytes: u32) -> usize {
        self.align(64);
        let begin = self.bytes.len();
        self.bytes.extend([0x31, 0xc9]); // xor ecx, ecx
        let again = self.bytes.len();
        for &inst in body {
            self.write(inst);
        }
        self.bytes.extend([0x48, 0x83, 0xc2, 1]); // add rdx, 1
        self.bytes.extend([0x48, 0x83, 0xc1, self.width.bytes() as u8]); // add rcx, 32 or 64
        self.bytes.extend([0x48, 0x81, 0xf9]); // cmp rcx, the end
        self.bytes.extend(column_bytes.to_le_bytes());
        self.bytes.extend([0x0f, 0x82]); // jb again
        let back = again as i64 - (self.bytes.len() as i64 + 4);
        self.bytes.extend((back as i32).to_le_bytes());
        self.bytes.extend([0xc5, 0xf8, 0x77, 0xc3]); // vzeroupper; ret
        self.align(self.width.pool_bytes());
        let words = self.bytes.len();
        for word in pool {
            for _ in 0..self.width.pool_bytes() / 8 {
                self.bytes.extend(word.to_le_bytes());
            }
        }
        for (at, end, word) in std::mem::take(&mut self.distances) {
            let distance = (words + word as usize * self.width.pool_bytes() - end) as i32;
            self.bytes[at..at + 4].copy_from_slice(&distance.to_le_bytes());
        }
        begin
    }

    /// Pads the code to a multiple of `to` bytes with `int3` instructions, which are never executed.
    fn align(&mut self, to: usize) {
        self.bytes.resize(self.bytes.len().next_multiple_of(to), 0xcc);
    }

    fn write(&mut self, inst: Inst) {
        match inst {
            Inst::Vector { op, to, a, b, imm, within } => self.vector(op, to, a, b, imm, within),
            Inst::Address(column) => {
                self.bytes.extend([0x48, 0x8b, 0x87]); // mov rax, [rdi + 8 * column]
                self.bytes.extend((8 * column).to_le_bytes());
            }
            Inst::Answer { line, from } => {
                let at = line * ANSWER_BYTES as u32;
                match self.width {
                    Width::Zmm => {
                        self.vector(VectorOp::Signs, 1, 0, VectorOperand::In(from), 0, 0);
                        self.bytes.extend([0xc5, 0xf9, 0x91, 0x8a]); // kmovb [rdx + at], k1
                    }
                    Width::Ymm => {
                        // vmovmskpd eax, ymm; mov [rdx + at], al
                        self.bytes.extend([0xc4, if from < 8 { 0xe1 } else { 0xc1 }, 0x7d, 0x50]);
                        self.bytes.push(0xc0 | from & 7);
                        self.bytes.extend([0x88, 0x82]);
                    }
                }
                self.bytes.extend(at.to_le_bytes());
            }
        }
    }

    fn vector(&mut self, op: VectorOp, to: u8, a: u8, b: VectorOperand, imm: u8, within: u8) {
        let Encoding { map, prefix, opcode, digit, has_imm } = row(op);
        // A shift by a constant encodes its destination in the field that holds the first operand of other
        // instructions.
        let (reg, vvvv) = if let Some(digit) = digit { (digit, to) } else { (to, a) };
        let rm = if let VectorOperand::In(rm) = b { rm } else { 0 };
        let bit = |value: u8, bit: u8| value >> bit & 1;
        match self.width {
            Width::Ymm => {
                let rxb = (bit(reg, 3) << 7 | bit(rm, 3) << 5) ^ 0xe0;
                let third = (!vvvv & 15) << 3 | 1 << 2 | prefix;
                self.bytes.extend([0xc4, rxb | map, third, opcode]);
            }
            Width::Zmm => {
                let repeats = u8::from(matches!(b, VectorOperand::Pool(_)) && op != VectorOp::Spread);
                let first = (bit(reg, 3) << 7 | bit(rm, 4) << 6 | bit(rm, 3) << 5 | bit(reg, 4) << 4) ^ 0xf0;
                let second = 0x84 | (!vvvv & 15) << 3 | prefix;
                let third = 2 << 5 | repeats << 4 | (bit(vvvv, 4) ^ 1) << 3 | within;
                self.bytes.extend([0x62, first | map, second, third, opcode]);
            }
        }
        let reg = (reg & 7) << 3;
        let mut distance = None;
        match b {
            VectorOperand::In(rm) => self.bytes.push(0xc0 | reg | rm & 7),
            // [rax + rcx]
            VectorOperand::Column => self.bytes.extend([reg | 4, 1 << 3]),
            // [rsi + ...]
            VectorOperand::Scratch(slot) => {
                self.bytes.push(0x80 | reg | 6);
                self.bytes.extend((slot * self.width.bytes() as u32).to_le_bytes());
            }
            // [rip + ...]
            VectorOperand::Pool(word) => {
                self.bytes.push(reg | 5);
                distance = Some((self.bytes.len(), word));
                self.bytes.extend([0; 4]);
            }
        }
        if has_imm {
            self.bytes.push(imm);
        }
        if let Some((at, word)) = distance {
            self.distances.push((at, self.bytes.len(), word));
        }
    }
}
