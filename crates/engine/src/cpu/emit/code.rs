//! Memory for machine code, and the function that calls that code. The memory is first writable and then executable,
//! but never both at once.

use std::fmt;

use super::{
    super::registers::{SpilledVector, WordColumn},
    assembler::ANSWER_BYTES,
};

/// The functions of one compiled program, in executable memory.
pub(super) struct MachineFunctions {
    map: memmap2::Mmap,
}

impl fmt::Debug for MachineFunctions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Code").field("bytes", &self.map.len()).finish()
    }
}

/// A function in [`MachineFunctions`]: the offset at which it begins, and the sizes of the memory areas that it
/// accesses.
#[derive(Clone, Debug)]
pub(super) struct MachineFunction {
    pub(super) begin: usize,
    /// One more than the largest index of a column that the function reads or writes.
    pub(super) columns: usize,
    /// The number of scratch vectors that the function uses. Their width is the vector width of the function.
    pub(super) slots: usize,
    /// The number of lines of answers that the function writes, one for each query.
    pub(super) lines: usize,
}

impl MachineFunctions {
    /// Copies functions that an assembler has generated into executable memory. Returns `None` if the system provides
    /// no such memory.
    pub(super) fn new(bytes: &[u8]) -> Option<MachineFunctions> {
        let mut map = memmap2::MmapMut::map_anon(bytes.len()).ok()?;
        map[..bytes.len()].copy_from_slice(bytes);
        Some(MachineFunctions { map: map.make_exec().ok()? })
    }

    /// Calls one of the generated functions. The processor must support the instruction set for which it was generated.
    ///
    /// # Panics
    ///
    /// Panics if one of the slices is shorter than the memory that the function accesses.
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
        // SAFETY: `Assembler::function` generated the function for the System V calling convention, and its memory
        // stays executable as long as `self` lives. It changes no callee-saved register. It reads the addresses of
        // `columns` columns (a box is the address of its contents). It reads and writes vectors within these columns,
        // which have as many words as the function visits and are aligned to its vectors, and within `slots` entries of
        // the scratch memory, which are as wide as the widest vector. It writes bytes within `lines` lines of the
        // answers. All of this memory is borrowed mutably here, so nothing else accesses it. `compile` writes only
        // instructions of its `Isa`, and a value of `Isa` exists only if the processor has these instructions.
        unsafe {
            let begin = self.map.as_ptr().add(function.begin);
            let call: extern "sysv64" fn(*const *mut u64, *mut SpilledVector, *mut u8) =
                std::mem::transmute(begin);
            call(columns.as_mut_ptr().cast(), scratch.as_mut_ptr(), answers.as_mut_ptr());
        }
    }
}
