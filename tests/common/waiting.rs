//! Waits for events.
//!
//! Tests never depend on how long something takes. They poll until an event has happened. [`PATIENCE`] limits the wait for an
//! event that never happens.

use std::fmt::Debug;
use std::io::{ErrorKind, Read};
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The maximum time to wait for an event. No event takes that long, even on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(600);
/// The time between two polls.
const PAUSE: Duration = Duration::from_millis(5);
/// The number of consecutive polls that must find all threads of a process asleep before the process is considered to be waiting.
const LOOKS: u32 = 3;

/// Polls `look` until it returns a value, and returns that value. Until then, `look` returns a description of the current state
/// as an error. If the wait fails, the panic message contains the last description.
#[track_caller]
pub fn until<T, S: Debug>(what: &str, mut look: impl FnMut() -> Result<T, S>) -> T {
    let begun = Instant::now();
    loop {
        match look() {
            Ok(found) => return found,
            Err(seen) => {
                assert!(begun.elapsed() < PATIENCE, "{what}: in vain for {PATIENCE:?}; seen: {seen:?}");
            }
        }
        thread::sleep(PAUSE);
    }
}

/// Returns the next message of a channel. If none arrives, panics with the result of `seen`, which describes what arrived before.
#[track_caller]
pub fn received<T>(what: &str, from: &Receiver<T>, seen: impl FnOnce() -> String) -> T {
    match from.recv_timeout(PATIENCE) {
        Ok(thing) => thing,
        Err(RecvTimeoutError::Timeout) => panic!("{what}: in vain for {PATIENCE:?}; seen: {}", seen()),
        Err(RecvTimeoutError::Disconnected) => panic!("{what}: nothing more comes; seen: {}", seen()),
    }
}

/// Runs a function that must finish within [`PATIENCE`], and returns its result.
#[track_caller]
pub fn done<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, receive) = channel();
    thread::spawn(move || send.send(work()).ok());
    received(what, &receive, || String::from("it has not ended"))
}

/// The bytes of a pipe, which a separate thread reads as they arrive.
pub struct Heard {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Heard {
    pub fn from_pipe(mut pipe: impl Read + Send + 'static) -> Heard {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&bytes);
        let reader = thread::spawn(move || {
            let mut piece = [0; 1 << 12];
            loop {
                match pipe.read(&mut piece) {
                    Ok(0) => return,
                    Ok(length) => heard.lock().unwrap().extend_from_slice(&piece[..length]),
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(_) => return,
                }
            }
        });
        Heard { bytes, reader }
    }

    /// Returns true if the pipe has ended.
    pub fn is_over(&self) -> bool {
        self.reader.is_finished()
    }

    /// Returns the bytes read so far.
    pub fn bytes(&self) -> Vec<u8> {
        self.bytes.lock().unwrap().clone()
    }

    /// Returns the last 500 bytes read so far, for messages.
    pub fn last(&self) -> String {
        let bytes = self.bytes.lock().unwrap();
        let last = &bytes[bytes.len().saturating_sub(500)..];
        format!("{} bytes, at last {:?}", bytes.len(), String::from_utf8_lossy(last))
    }

    pub fn whole(self) -> Vec<u8> {
        self.reader.join().unwrap();
        std::mem::take(&mut *self.bytes.lock().unwrap())
    }
}

/// A process that is killed when its test ends: dropping the value kills the process and waits until it has ended.
pub struct Process(Child);

impl Process {
    pub fn new(child: Child) -> Process {
        Process(child)
    }

    /// Polls `look` until it returns a value, like [`until`]. Panics if the process ends before that.
    #[track_caller]
    pub fn until<T, S: Debug>(&mut self, what: &str, mut look: impl FnMut() -> Result<T, S>) -> T {
        let found = until(what, || {
            let ended = self.0.try_wait().unwrap();
            match (look(), ended) {
                (Ok(found), _) => Ok(Ok(found)),
                (Err(seen), Some(status)) => Ok(Err((seen, status))),
                (Err(seen), None) => Err(seen),
            }
        });
        found.unwrap_or_else(|(seen, status)| panic!("{what}: the process ended ({status}); seen: {seen:?}"))
    }

    /// Waits until the process is blocked on input or another event, that is, until several consecutive polls find all its
    /// threads asleep. Panics if the process uses 20 seconds of processor time without falling asleep, however long that takes on
    /// a busy machine. On systems that do not report thread states, returns at once.
    #[track_caller]
    pub fn falls_asleep(&mut self) {
        let threads = format!("/proc/{}/task", self.0.id());
        if !Path::new("/proc/self/task").exists() {
            return;
        }
        let mut asleep = 0;
        #[cfg(target_os = "linux")]
        let (process, before) = (self.0.id(), self.computed());
        self.until("all threads sleep", || {
            #[cfg(target_os = "linux")]
            if computed(process).is_some_and(|now| now >= before + 2000) {
                panic!("the process computes for 20 seconds and does not fall asleep");
            }
            let states = states(&threads);
            asleep =
                if !states.is_empty() && states.chars().all(|state| state == 'S') { asleep + 1 } else { 0 };
            if asleep == LOOKS { Ok(()) } else { Err(states) }
        });
    }

    /// Returns the processor time that the process has used, in hundredths of a second.
    #[cfg(target_os = "linux")]
    #[track_caller]
    pub fn computed(&self) -> u64 {
        computed(self.0.id()).expect("the process has not been waited for")
    }

    /// Sends the signal of Ctrl-C.
    #[track_caller]
    pub fn interrupt(&self) {
        let id = self.0.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    }

    /// Waits until the process ends. The pipe to its standard input stays open.
    #[track_caller]
    pub fn end(&mut self, what: &str) -> ExitStatus {
        until(&format!("the end of {what}"), || self.0.try_wait().unwrap().ok_or("it runs"))
    }

    /// Closes the standard input of the process, and reads its other pipes until it ends.
    #[track_caller]
    pub fn output(mut self, what: &str) -> Output {
        drop(self.0.stdin.take());
        let (stdout, stderr) =
            (self.0.stdout.take().map(Heard::from_pipe), self.0.stderr.take().map(Heard::from_pipe));
        let status = until(&format!("the end of {what}"), || {
            let seen = || [&stdout, &stderr].map(|pipe| pipe.as_ref().map(Heard::last));
            self.0.try_wait().unwrap().ok_or_else(seen)
        });
        let [stdout, stderr] = [stdout, stderr].map(|pipe| pipe.map_or_else(Vec::new, Heard::whole));
        Output { status, stdout, stderr }
    }
}

/// Returns the processor time that a process has used, in hundredths of a second; `None` after the process has been waited for.
#[cfg(target_os = "linux")]
fn computed(process: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // In `/proc/PID/stat`, the program name may contain blanks, so the fields are counted from the end of the name: the state is
    // field 3, and the times are fields 14 and 15.
    let (_, fields) = stat.rsplit_once(") ")?;
    Some(fields.split(' ').skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap()).sum())
}

/// Returns the state of each thread of a process as a letter, such as `S` for a sleeping thread.
fn states(threads: &str) -> String {
    let state = |stat: String| stat.rsplit_once(") ").and_then(|(_, fields)| fields.chars().next());
    let threads = std::fs::read_dir(threads).into_iter().flatten();
    threads
        .map(|thread| {
            // A thread that ends while it is examined does not count as asleep.
            let stat = thread.and_then(|thread| std::fs::read_to_string(thread.path().join("stat")));
            stat.ok().and_then(state).unwrap_or('?')
        })
        .collect()
}

impl Deref for Process {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for Process {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}
