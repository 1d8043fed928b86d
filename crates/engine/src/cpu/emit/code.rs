//! Memory that holds machine code, and the calls into it.
//!
//! The memory is written first and executable then, never both.

use std::fmt;

use super::{
    super::registers::{SpilledVector, WordColumn},
    assembler::ANSWER_BYTES,
};

/// Functions of machine code.
pub(super) struct MachineFunctions {
    map: memmap2::Mmap,
}

impl fmt::Debug for MachineFunctions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Code").field("bytes", &self.map.len()).finish()
    }
}

/// One of the functions: where it begins, and what it reaches.
#[derive(Clone, Debug)]
pub(super) struct MachineFunction {
    pub(super) begin: usize,
    /// One more than the largest register that it reads or writes.
    pub(super) columns: usize,
    /// Vectors of scratch memory, of the width for which it was written.
    pub(super) slots: usize,
    /// Lines of answers.
    pub(super) lines: usize,
}

impl MachineFunctions {
    /// Makes functions that an assembler wrote ready to run. `None` where the system gives no memory that can be
    /// executed.
    pub(super) fn new(bytes: &[u8]) -> Option<MachineFunctions> {
        let mut map = memmap2::MmapMut::map_anon(bytes.len()).ok()?;
        map[..bytes.len()].copy_from_slice(bytes);
        Some(MachineFunctions { map: map.make_exec().ok()? })
    }

    /// Calls a function of this code, which was written for instructions that the processor has.
    ///
    /// # Panics
    ///
    /// When there is less memory than the function reaches.
    pub(super) fn call(
        &self,
        function: &MachineFunction,
        columns: &mut [WordColumn],
        scratch: &mut [SpilledVector],
        answers: &mut [u8],
    ) {
        assert!(function.begin < self.map.len(), "the function is one of this code");
        assert!(function.columns <= columns.len() && function.slots <= scratch.len());
        assert!(function.lines * ANSWER_BYTES <= answers.len());
        #[expect(unsafe_code, reason = "machine code that was written while the program runs")]
        // SAFETY: the function was written by `Assembler::function`, by the convention of System V, and the memory around
        // it stays executable as long as `self` lives. It changes no register that its caller keeps. Of what it is given it
        // reads the addresses of `columns` columns (a box is the address of what it holds), reads and writes vectors within
        // these columns, which have as many words as the function goes through, aligned to its vectors, within `slots`
        // lines of the scratch memory, which are as wide as the widest vector, and writes bytes within `lines` lines of
        // the answers. All of them are borrowed for writing here, so nothing else reaches them. `compile` writes only
        // instructions of the `Isa` that it is given, and an `Isa` exists only where the processor has its instructions.
        unsafe {
            let begin = self.map.as_ptr().add(function.begin);
            let call: extern "sysv64" fn(*const *mut u64, *mut SpilledVector, *mut u8) =
                std::mem::transmute(begin);
            call(columns.as_mut_ptr().cast(), scratch.as_mut_ptr(), answers.as_mut_ptr());
        }
    }
}
