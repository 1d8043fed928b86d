//! Returns hits while the search runs, either as objects or as Arrow record batches through the C stream interface.
//!
//! Each stream searches on its own thread. The thread pauses while two batches are waiting to be read, so memory use is bounded.
//! Dropping the stream ends the search.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender, TryRecvError};
use std::sync::{Arc, Mutex};

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use orbit_chess::{CancelToken, Database, DatabaseError, Rows};
use orbit_core::sync::lock;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::errors;
use crate::game::Hit;
use crate::wait::{Awaited, Running, receive, receive_detached, receive_from};

/// The maximum number of batches that wait to be read.
const BATCHES_MAX: usize = 2;
/// The maximum number of hits that wait to be read.
const HITS_MAX: usize = 1024;

/// The kind of rows of a stream.
#[derive(Clone, Copy)]
pub enum Kind {
    /// Hits, or games at their first hit.
    Table(Rows),
    /// One row for each position, with its board and other values as columns of numbers.
    Positions,
}

enum Message {
    Schema(SchemaRef),
    Batch(RecordBatch),
    /// The search has ended, either completely or with an error.
    End(Result<(), DatabaseError>),
}

/// The error that ended a stream. It is stored here because libraries that read C streams raise their own errors instead.
type Fault = Arc<Mutex<Option<PyErr>>>;

/// A single pass over the record batches of a request.
#[pyclass(frozen, module = "orbit_chess._native")]
pub struct Stream {
    schema: SchemaRef,
    batches: Mutex<Option<Batches>>,
    fault: Fault,
}

/// The batches of a running search, as Arrow reads them.
struct Batches {
    schema: SchemaRef,
    messages: Mutex<Receiver<Message>>,
    cancel: CancelToken,
    fault: Fault,
    is_ended: bool,
}

impl Stream {
    /// Begins a search on a new thread. `work` runs the search. It receives two callbacks: one for the schema and one for the
    /// batches.
    ///
    /// # Errors
    ///
    /// Fails if the request is invalid.
    pub fn begin(
        py: Python<'_>,
        work: impl FnOnce(
            &Running,
            &mut dyn FnMut(SchemaRef),
            &mut dyn FnMut(RecordBatch) -> ControlFlow<()>,
        ) -> Result<(), DatabaseError>
        + Send
        + 'static,
    ) -> PyResult<Stream> {
        let (sender, receiver) = mpsc::sync_channel(BATCHES_MAX);
        let cancel = search(sender, Message::End, |running, sender| {
            let mut start = |schema| drop(sender.send(Message::Schema(schema)));
            let mut take = |batch| flow(sender.send(Message::Batch(batch)).is_ok());
            work(running, &mut start, &mut take)
        });
        let messages = Mutex::new(receiver);
        let schema = loop {
            match receive(py, &messages) {
                Awaited::Message(Message::Schema(schema)) => break schema,
                Awaited::Message(Message::End(Err(error))) => return Err(errors::of_database(error)),
                Awaited::Message(_) | Awaited::End => return Err(lost()),
                Awaited::Nothing => py.check_signals().inspect_err(|_| cancel.cancel())?,
            }
        };
        let fault = Fault::default();
        let batches = Batches {
            schema: Arc::clone(&schema),
            messages,
            cancel,
            fault: Arc::clone(&fault),
            is_ended: false,
        };
        Ok(Stream { schema, batches: Mutex::new(Some(batches)), fault })
    }
}

fn flow(goes_on: bool) -> ControlFlow<()> {
    if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}

/// Returns the error for a search thread that ended without a final message.
fn lost() -> PyErr {
    PyRuntimeError::new_err("the search stopped because of a fault in orbit: please report it with the query")
}

/// Runs a search on a new thread. The thread's final message is the result of the search.
fn search<M: Send + 'static>(
    sender: SyncSender<M>,
    end: fn(Result<(), DatabaseError>) -> M,
    work: impl FnOnce(&Running, &SyncSender<M>) -> Result<(), DatabaseError> + Send + 'static,
) -> CancelToken {
    let running = Running::default();
    let cancel = running.cancel.clone();
    std::thread::spawn(move || {
        let ended = work(&running, &sender);
        // The receiver may have been dropped.
        let _ = sender.send(end(ended));
    });
    cancel
}

#[pymethods]
impl Stream {
    /// Returns the stream as a capsule of the Arrow PyCapsule interface. It can be called only once. The requested schema has no
    /// effect.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = lock(&self.batches).take();
        let batches =
            batches.ok_or_else(|| errors::of_option("this stream was read: ask for another one"))?;
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// The names and types of the columns, as text.
    #[getter]
    fn columns(&self) -> Vec<(String, String)> {
        let fields = self.schema.fields().iter();
        fields.map(|field| (field.name().clone(), field.data_type().to_string())).collect()
    }

    /// Returns the exception that ended the stream, or `None`.
    fn fault(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        let fault = lock(&self.fault);
        fault.as_ref().map(|fault| fault.clone_ref(py).into_value(py).into_any())
    }
}

impl Batches {
    fn end(&self, fault: PyErr) -> ArrowError {
        self.cancel.cancel();
        let words = Python::try_attach(|py| fault.value(py).to_string());
        let words = words.filter(|words| !words.is_empty()).unwrap_or_else(|| "interrupted".into());
        *lock(&self.fault) = Some(fault);
        ArrowError::ExternalError(words.into())
    }

    /// Waits for the next message of the search thread and returns it. The caller need not hold the interpreter's lock.
    fn message(&self) -> PyResult<Message> {
        let ready = lock(&self.messages).try_recv();
        match ready {
            Ok(message) => return Ok(message),
            Err(TryRecvError::Disconnected) => return Err(lost()),
            Err(TryRecvError::Empty) => {}
        }
        loop {
            let waited = Python::try_attach(|py| {
                let waited = receive(py, &self.messages);
                if let Awaited::Nothing = waited {
                    py.check_signals()?;
                }
                Ok::<_, PyErr>(waited)
            });
            // There is no interpreter while Python shuts down, so signals are not checked then.
            match waited.unwrap_or_else(|| Ok(receive_detached(&self.messages)))? {
                Awaited::Message(message) => return Ok(message),
                Awaited::Nothing => {}
                Awaited::End => return Err(lost()),
            }
        }
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_ended {
            return None;
        }
        let message = self.message();
        self.is_ended = !matches!(message, Ok(Message::Batch(_)));
        match message {
            Ok(Message::Batch(batch)) => Some(Ok(batch)),
            Ok(Message::End(Err(error))) => Some(Err(self.end(errors::of_database(error)))),
            Ok(Message::Schema(_) | Message::End(Ok(()))) => None,
            Err(fault) => Some(Err(self.end(fault))),
        }
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

impl Drop for Batches {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

/// Hits that are returned one by one.
#[pyclass(frozen, module = "orbit_chess._native")]
pub struct Hits {
    database: Arc<Database>,
    messages: Mutex<Receiver<Found>>,
    cancel: CancelToken,
    is_ended: AtomicBool,
}

enum Found {
    Hit(Box<orbit_chess::Hit>),
    /// The search has ended, either completely or with an error.
    End(Result<(), DatabaseError>),
}

impl Hits {
    /// Starts a search on a new thread. `work` runs the search and passes the hits to a callback.
    pub fn begin(
        database: Arc<Database>,
        work: impl FnOnce(
            &Running,
            &mut dyn FnMut(orbit_chess::Hit) -> ControlFlow<()>,
        ) -> Result<(), DatabaseError>
        + Send
        + 'static,
    ) -> Hits {
        let (sender, receiver) = mpsc::sync_channel(HITS_MAX);
        let cancel = search(sender, Found::End, |running, sender| {
            work(running, &mut |hit| flow(sender.send(Found::Hit(Box::new(hit))).is_ok()))
        });
        Hits { database, messages: Mutex::new(receiver), cancel, is_ended: AtomicBool::new(false) }
    }
}

#[pymethods]
impl Hits {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Hit>> {
        if self.is_ended.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let found = self.found(py);
        if let Ok(Found::Hit(hit)) = found {
            return Ok(Some(Hit(*hit)));
        }
        self.is_ended.store(true, Ordering::Relaxed);
        match found? {
            Found::End(Err(error)) => Err(errors::of_database(error)),
            Found::End(Ok(())) | Found::Hit(_) => errors::warn(py, &self.database).map(|()| None),
        }
    }
}

impl Hits {
    fn found(&self, py: Python<'_>) -> PyResult<Found> {
        // The end is noted while the receiver is locked. So a thread that finds the channel closed knows if another thread has
        // received the end of the search.
        let note = |found: &Found| {
            if let Found::End(_) = found {
                self.is_ended.store(true, Ordering::Relaxed);
            }
        };
        let ready = lock(&self.messages).try_recv().inspect(note);
        if let Ok(found) = ready {
            return Ok(found);
        }
        let wait = || {
            let receiver = lock(&self.messages);
            let awaited = receive_from(&receiver);
            if let Awaited::Message(found) = &awaited {
                note(found);
            }
            awaited
        };
        loop {
            match py.detach(wait) {
                Awaited::Message(found) => return Ok(found),
                Awaited::Nothing => py.check_signals().inspect_err(|_| self.cancel.cancel())?,
                Awaited::End if self.is_ended.load(Ordering::Relaxed) => return Ok(Found::End(Ok(()))),
                Awaited::End => return Err(lost()),
            }
        }
    }
}

impl Drop for Hits {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}
