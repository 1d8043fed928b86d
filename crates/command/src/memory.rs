//! Ends the program with a message if the system is out of memory.
//!
//! In Rust, a collection that cannot grow aborts the process with a signal, without a helpful message. Collections grow in
//! thousands of places, so failures are handled in the one place that they share: the allocator. Library code that can work without
//! the memory, or that returns its own error, still sees the failed allocation.

#![allow(dead_code, reason = "the Python package, which contains the program, leaves memory to Python")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{Cursor, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use orbit_reel::sees_refusals;

use super::common::remove_unfinished;
use super::terminal::{has_json_messages, message_at_once};

/// The exit code after a failed allocation.
const EXIT_CODE: i32 = 4;

/// The time that the first thread with a failed allocation has to print its message. Other threads whose allocations fail wait this
/// long.
const MESSAGE_GRACE: Duration = Duration::from_millis(200);

/// The first words of panic messages about failed allocations. The standard library panics if it cannot allocate the signal stack
/// of a new thread, and the zstd library if it cannot allocate a context.
const PANICS: [&str; 3] = [
    "failed to allocate an alternative stack",
    "failed to set up alternative stack",
    "zstd returned null pointer",
];

/// The system allocator. If an allocation fails, the program ends with a message.
pub struct Allocator;

// SAFETY: all requests are passed unchanged to the system allocator, and its results are returned unchanged.
#[expect(unsafe_code, reason = "allocators are unsafe")]
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds the contract of the system allocator.
        given(unsafe { System.alloc(layout) }, layout.size())
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds the contract of the system allocator.
        given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    #[inline]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: the caller upholds the contract of the system allocator.
        given(unsafe { System.realloc(pointer, layout, bytes) }, bytes)
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of the system allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Returns `pointer`, the result of allocating `bytes` bytes. If it is null, the program ends, unless this thread handles failed
/// allocations itself.
#[inline]
fn given(pointer: *mut u8, bytes: usize) -> *mut u8 {
    if pointer.is_null() {
        refused(bytes);
    }
    pointer
}

#[cold]
fn refused(bytes: usize) {
    if !sees_refusals() {
        end(Some(bytes));
    }
}

/// Reserves the stack that the main thread is likely to need. Linux grows the stack on first use, and if that fails, a signal ends
/// the process. Must be called before other threads start, since they could use up the free memory.
#[cfg(target_os = "linux")]
pub fn reserve_stack() {
    if stack_limit() < 2 * STACK_BYTES as u64 {
        return;
    }
    // If this heap allocation fails, the program ends with a message.
    drop(std::hint::black_box(Vec::<u8>::with_capacity(STACK_BYTES + STACK_BYTES / 8)));
    grow_stack();
}

/// Returns the maximum size of the main thread's stack in bytes (`ulimit -s`), or 0 if it is unknown.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "the standard library has no such function")]
fn stack_limit() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is valid for writes, and the function does not retain the pointer.
    let code = unsafe { libc::getrlimit(libc::RLIMIT_STACK, &mut limit) };
    if code == 0 { limit.rlim_cur } else { 0 }
}

/// The number of bytes of stack to reserve.
#[cfg(target_os = "linux")]
const STACK_BYTES: usize = 1 << 20;

/// Grows the stack to [`STACK_BYTES`]. An array on the stack would touch each page, which takes a third of the time of a short run.
/// Here only the last page is touched; the system reserves the addresses in between.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[expect(unsafe_code, reason = "safe code cannot touch a part of the stack alone")]
fn grow_stack() {
    // SAFETY: the last instruction restores the stack pointer. The written byte is below all data of this thread, within the range
    // that the main thread's stack may use.
    unsafe {
        std::arch::asm!("sub rsp, {0}", "or byte ptr [rsp], 0", "add rsp, {0}", const STACK_BYTES);
    }
}

/// Grows the stack to [`STACK_BYTES`] by means of an array of this size.
#[cfg(all(target_os = "linux", not(target_arch = "x86_64")))]
#[inline(never)]
fn grow_stack() {
    use std::{hint::black_box, mem::MaybeUninit};
    black_box(&mut [const { MaybeUninit::<u8>::uninit() }; STACK_BYTES]);
}

/// Does nothing, since other systems reserve the stack themselves.
#[cfg(not(target_os = "linux"))]
pub fn reserve_stack() {}

/// Makes the program end with a message if a library panics because of a failed allocation. Must be called before other threads
/// start.
pub fn end_panics_of_memory() {
    let others = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if panic.payload_as_str().is_some_and(|text| PANICS.iter().any(|it| text.starts_with(it))) {
            end(None);
        }
        others(panic);
    }));
}

/// Prints an out-of-memory message, removes unfinished files and ends the process. Neither allocates memory nor waits for a lock.
fn end(bytes: Option<usize>) -> ! {
    static IS_ENDING: AtomicBool = AtomicBool::new(false);
    if IS_ENDING.swap(true, Ordering::Relaxed) {
        std::thread::sleep(MESSAGE_GRACE);
        leave();
    }
    let (before, after) = match has_json_messages() {
        true => (r#"{"kind":"error","code":"memory","message":""#, "\"}\n"),
        false => ("error: ", "\n"),
    };
    let mut line = Cursor::new([0; 256]);
    // The line always fits into the buffer.
    let _ = line.write_all(before.as_bytes());
    let _ = match bytes {
        Some(bytes) => write!(line, "the system refused {bytes} bytes of memory"),
        None => write!(line, "the system refused memory"),
    };
    let _ = write!(line, "; allow the program more, or fewer threads{after}");
    let len = line.position() as usize;
    message_at_once(&line.get_ref()[..len]);
    remove_unfinished();
    leave()
}

/// Ends the process immediately, because an ordinary exit may need memory.
#[cfg(unix)]
#[expect(unsafe_code, reason = "the standard library has no such end")]
fn leave() -> ! {
    // SAFETY: no code of the process runs after this call.
    unsafe { libc::_exit(EXIT_CODE) }
}

/// Ends the process.
#[cfg(not(unix))]
fn leave() -> ! {
    std::process::exit(EXIT_CODE)
}
