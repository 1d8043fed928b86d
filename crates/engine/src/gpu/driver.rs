//! Calls into a graphics driver, which may panic or never return.
//!
//! wgpu panics in states that it considers unrecoverable, for example if the device is lost during a wait. A driver
//! that hangs blocks its caller forever. So each call runs on a helper thread, and its caller waits only for a limited
//! time. If a call panics or exceeds its limit, the device is abandoned: it receives no more calls, and its resources
//! are leaked, because freeing them could panic or hang as well. A helper thread that hangs is never stopped, and any
//! locks that it holds stay locked.

use std::any::Any;
use std::cell::Cell;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, Once, OnceLock, mpsc};
use std::time::Duration;

use super::GpuError;
use orbit_core::sync::lock;

type DriverTask = Box<dyn FnOnce() + Send>;

/// The maximum time to wait for an answer from a device or for the return of a call to its driver. After this time, the
/// device is abandoned.
pub(super) const SILENCE_MAX: Duration = Duration::from_secs(120);

/// The stack size of a helper thread. It is large because naga, the shader compiler, traverses the expressions of a kernel
/// recursively.
const STACK_BYTES: usize = 8 << 20;

/// The result of waiting for a call.
#[derive(PartialEq)]
enum Wait {
    Over,
    /// The time limit was reached before the call returned.
    Late,
}

/// The helper threads of one device, and the error that caused the device to be abandoned, if any.
pub(super) struct Driver {
    silence: Duration,
    idle: Mutex<Vec<mpsc::Sender<DriverTask>>>,
    /// The error that caused the device to be abandoned. The device then receives no more calls.
    end: OnceLock<GpuError>,
}

impl Driver {
    /// Creates a driver that limits each call to the duration `silence`.
    pub(super) fn new(silence: Duration) -> Arc<Driver> {
        Arc::new(Driver { silence, idle: Mutex::default(), end: OnceLock::new() })
    }

    /// Returns the time limit of a call.
    pub(super) fn silence(&self) -> Duration {
        self.silence
    }

    /// Returns the error that caused the device to be abandoned, or `None` while the device works.
    pub(super) fn end(&self) -> Option<&GpuError> {
        self.end.get()
    }

    /// Abandons the device as lost. Returns the error that caused it to be abandoned, which may be an earlier one.
    pub(super) fn lose(&self, reason: String) -> GpuError {
        self.finish(GpuError::Lost { reason })
    }

    /// Abandons the device, which has not answered for the duration `after`. Returns the error that caused it to be abandoned, which
    /// may be an earlier one.
    pub(super) fn hang(&self, after: Duration) -> GpuError {
        self.finish(GpuError::Silent { after })
    }

    fn finish(&self, error: GpuError) -> GpuError {
        let end = self.end.get_or_init(|| error).clone();
        lock(&self.idle).clear();
        end
    }

    /// Runs a call on a helper thread, for at most `limit`.
    pub(super) fn call<T: Send + 'static>(
        &self,
        limit: Duration,
        run: impl FnOnce() -> Result<T, GpuError> + Send + 'static,
    ) -> Result<T, GpuError> {
        if let Some(end) = self.end() {
            // The closure may own resources of the device. The device is abandoned, so they must be leaked, not
            // dropped.
            std::mem::forget(run);
            return Err(end.clone());
        }
        let answer = Arc::new(Mutex::new(None));
        let (sender, ended) = mpsc::sync_channel(1);
        let task: DriverTask = Box::new({
            let answer = Arc::clone(&answer);
            move || {
                *lock(&answer) = Some(caught(run));
                // If the caller has stopped waiting, sending fails, and the error can be ignored.
                let _ = sender.send(());
            }
        });
        if self.await_end(task, &ended, limit) == Wait::Late {
            // An answer that arrives too late is leaked, like all other resources of the device.
            std::mem::forget(answer);
            return Err(self.hang(limit));
        }
        let answer = lock(&answer).take();
        let answer = answer.unwrap_or_else(|| Err("a call ended without an answer".into()));
        answer.unwrap_or_else(|reason| Err(self.lose(reason)))
    }

    /// Runs a task on a helper thread, and waits until the task reports that it has ended or until `limit` is reached.
    fn await_end(&self, task: DriverTask, ended: &mpsc::Receiver<()>, limit: Duration) -> Wait {
        match self.hand_over(task) {
            Ok(helper) => match ended.recv_timeout(limit) {
                // An abandoned device needs no helper threads, and its helper may hang, so the helper is not kept.
                Ok(()) if self.end().is_none() => lock(&self.idle).push(helper),
                Ok(()) | Err(mpsc::RecvTimeoutError::Disconnected) => {}
                Err(mpsc::RecvTimeoutError::Timeout) => return Wait::Late,
            },
            // The system provides no more threads, so the call runs on this thread, without a time limit.
            Err(task) => task(),
        }
        Wait::Over
    }

    /// Sends a task to a helper thread. Returns the task if no helper thread can be started.
    fn hand_over(&self, task: DriverTask) -> Result<mpsc::Sender<DriverTask>, DriverTask> {
        let idle = lock(&self.idle).pop();
        let Some(helper) = idle.or_else(spawn) else { return Err(task) };
        match helper.send(task) {
            Ok(()) => Ok(helper),
            Err(mpsc::SendError(task)) => Err(task),
        }
    }

    /// Drops a resource of the device on a helper thread, or leaks it if the device was abandoned.
    fn discard<T: Send + 'static>(&self, value: T) {
        if self.end().is_some() {
            std::mem::forget(value);
            return;
        }
        // If this fails, the device is abandoned, and the next call returns the error.
        let _ = self.call(self.silence, move || {
            drop(value);
            Ok(())
        });
    }
}

/// Starts a helper thread. It ends when the returned sender is dropped.
fn spawn() -> Option<mpsc::Sender<DriverTask>> {
    let (sender, tasks) = mpsc::channel::<DriverTask>();
    let work = move || {
        for task in tasks {
            let _ = caught(task);
        }
    };
    let helper = std::thread::Builder::new().name("gpu driver".into()).stack_size(STACK_BYTES);
    helper.spawn(work).ok().map(|_| sender)
}

thread_local! {
    /// True while panics on this thread are caught by this module. These panics are not printed to stderr.
    static CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Runs a closure. If it panics, returns the panic's message, which is not printed.
fn caught<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let others = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !CAUGHT.try_with(Cell::get).unwrap_or(false) {
                others(info);
            }
        }));
    });
    let before = CAUGHT.replace(true);
    // After a panic, the device is treated as lost, so the state that the panic leaves behind is never used.
    let out = catch_unwind(AssertUnwindSafe(run));
    CAUGHT.set(before);
    out.map_err(|panic| reason(&*panic))
}

/// Returns the message of a panic, without the text that wgpu adds around its errors.
fn reason(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("its driver panicked without a reason");
    first_lines(text.split_once("Caused by:").map_or(text, |(_, cause)| cause))
}

/// Shortens a driver's message to at most 60 words on one line.
pub(super) fn first_lines(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().take(60).collect();
    words.join(" ")
}

/// A wgpu resource. It is dropped on a helper thread, or leaked if the device was abandoned.
pub(super) struct DriverResource<T: Send + 'static> {
    value: Option<T>,
    driver: Arc<Driver>,
}

impl<T: Send + 'static> DriverResource<T> {
    pub(super) fn new(value: T, driver: &Arc<Driver>) -> DriverResource<T> {
        DriverResource { value: Some(value), driver: Arc::clone(driver) }
    }

    /// Returns the wrapped resource, which must be consumed on a helper thread.
    pub(super) fn into_inner(mut self) -> T {
        self.value.take().expect("it is there until it is dropped")
    }
}

impl<T: Send + 'static> Deref for DriverResource<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value.as_ref().expect("it is there until it is dropped")
    }
}

impl<T: Send + 'static> Drop for DriverResource<T> {
    fn drop(&mut self) {
        if let Some(value) = self.value.take() {
            self.driver.discard(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Instant;

    const SHORT: Duration = Duration::from_millis(50);
    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_call_that_panics_is_the_end_of_the_device() {
        let driver = Driver::new(LONG);
        assert_eq!(driver.call(LONG, || Ok(1)), Ok(1));
        let text = "Error in Device::poll: Validation Error\n\nCaused by:\n  Parent device is lost\n";
        let error = driver.call::<()>(LONG, move || panic!("{text}")).unwrap_err();
        assert_eq!(error, GpuError::Lost { reason: "Parent device is lost".into() });
        assert_eq!(driver.call(LONG, || Ok(1)), Err(error));
    }

    #[test]
    fn an_error_is_not() {
        let driver = Driver::new(LONG);
        let refused = GpuError::OutOfMemory { reason: String::new() };
        let error = refused.clone();
        assert_eq!(driver.call::<()>(LONG, || Err(error)), Err(refused));
        assert_eq!(driver.call(LONG, || Ok(2)), Ok(2));
    }

    #[test]
    fn a_call_that_never_returns_is_given_up() {
        let driver = Driver::new(SHORT);
        let begun = Instant::now();
        let (_held, never) = mpsc::channel::<()>();
        let error = driver.call(SHORT, move || Ok(never.recv().is_ok())).unwrap_err();
        assert_eq!(error, GpuError::Silent { after: SHORT });
        assert!(begun.elapsed() < LONG && !error.is_loss());
        assert_eq!(driver.call(LONG, || Ok(())), Err(error));
    }

    /// Sets a flag when it is dropped.
    struct SaysWhenDropped(Arc<AtomicBool>);

    impl Drop for SaysWhenDropped {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
            panic!("a driver that cannot free what it gave");
        }
    }

    #[test]
    fn what_is_kept_is_dropped_once_and_leaked_from_a_lost_device() {
        let driver = Driver::new(LONG);
        let dropped = [(); 3].map(|()| Arc::new(AtomicBool::new(false)));
        let kept =
            dropped.each_ref().map(|told| DriverResource::new(SaysWhenDropped(Arc::clone(told)), &driver));
        let [first, second, third] = kept;
        drop(first);
        drop(second);
        std::mem::forget(third.into_inner());
        // Dropping the first resource panicked, so the device was abandoned and the second resource was leaked.
        assert_eq!(dropped.map(|told| told.load(Ordering::Relaxed)), [true, false, false]);
        assert!(driver.end().is_some_and(GpuError::is_loss));
    }
}
