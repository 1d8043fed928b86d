//! Holds a conversation with a client: reads and answers requests while queries run.
//!
//! One thread reads requests. A few threads run the long requests (`open`, `close`, `query`, `batch`, `count`, `statistics`,
//! `write`, `positions`). A long request starts once it no longer depends on an earlier one that is still running. Another thread
//! writes pages, games and explanations. A request that needs the result of another request waits for it. `cancel`, `progress`,
//! `ping`, `version` and `quit` are answered immediately. Invariant: each request gets exactly one response, even if it is invalid,
//! fails or is cancelled.

use std::any::Any;
use std::io::{self, BufRead};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::answer::{Response, SERVE_SCHEMA, error_line};
use super::desk::{DATABASES_MAX, OpenDatabases};
use super::explain::Explained;
use super::fault::{ErrorCode, Fault};
use super::kept::KeptHits;
use super::lines::{LINE_BYTES_MAX, RequestLine, next_line};
use super::queue::{QUEUE_MAX, QueueState, QueuedJob, Quick, QuickWork, RUNNING_MAX, SlowWork};
use super::request::{Message, Open, PAGE_ROWS_MAX, RequestId, RequestRef, checked_rows};
use super::results::{NoHits, RESULTS_MAX};
use crate::library::{CancelToken, Progress};
use crate::report::SCHEMA;
use orbit_core::sync::{lock, wait, wait_timeout};

/// The minimum time between two progress events for the same request.
const EVENT_EVERY: Duration = Duration::from_millis(100);
/// The time after which games are removed from an idle graphics card. Idle cards are checked at the same interval.
pub(super) const CARD_IDLE: Duration = Duration::from_secs(300);
/// The stack size of threads that parse queries. It equals that of a program's main thread.
const STACK_BYTES: usize = 8 << 20;

/// The message to a client that uses another protocol.
const NO_OBJECT: &str =
    "each line is a request, a JSON object such as {\"id\":1,\"request\":\"ping\"}: the connection is closed";

/// The facts about the program that the greeting contains.
#[derive(Clone, Copy, Debug)]
pub struct Greeting<'a> {
    /// The name of the program.
    pub program: &'a str,
    /// Its version.
    pub version: &'a str,
}

/// The source of requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// Standard input. When it ends, all requests are still answered.
    Input,
    /// A connection. When it ends, the client has gone, so its requests are cancelled. If the first byte from a client does not
    /// begin a JSON object, as with a browser, the client gets an error and nothing more is read from it.
    Client,
}

/// Sends the greeting, reads requests until the end of the input or `quit`, and passes each response line to `say`. `quit` cancels
/// all running and waiting requests.
///
/// # Errors
///
/// Fails if the input cannot be read, or the system cannot start a thread.
pub fn converse(
    desk: &OpenDatabases,
    greeting: Greeting<'_>,
    (input, origin): (&mut impl BufRead, Origin),
    say: &(dyn Fn(&str) + Sync),
) -> io::Result<()> {
    converse_until(desk, greeting, (input, origin), say, &AtomicBool::new(false))
}

/// Like [`converse`]. When `has_left` is true, because `say` could not reach the client, all requests are cancelled: a running one
/// when it next reports its progress, and a waiting one when its turn comes.
///
/// # Errors
///
/// Returns the errors of [`converse`].
pub(super) fn converse_until(
    desk: &OpenDatabases,
    greeting: Greeting<'_>,
    (input, origin): (&mut impl BufRead, Origin),
    say: &(dyn Fn(&str) + Sync),
    has_left: &AtomicBool,
) -> io::Result<()> {
    let (state, changed) = (Mutex::default(), Condvar::new());
    let shared = SharedConversation { desk, greeting, say, has_left, state, changed };
    let mut hello = shared.about();
    hello.fields.insert("event".into(), "greeting".into());
    say(&hello.line(None));
    let ended = std::thread::scope(|scope| {
        // When this guard is dropped, even after an error, the other threads learn that the conversation has ended.
        let _end = EndOnDrop(&shared);
        let thread = || std::thread::Builder::new().stack_size(STACK_BYTES);
        for _ in 0..RUNNING_MAX {
            thread().spawn_scoped(scope, || shared.run_jobs())?;
        }
        thread().spawn_scoped(scope, || shared.run_pages())?;
        let read = match origin == Origin::Client && !begins_with_object(input)? {
            true => {
                say(&error_line(None, &Fault::new(ErrorCode::Request, NO_OBJECT)));
                Ok(None)
            }
            false => shared.read(input),
        };
        if origin == Origin::Client {
            shared.cancel_all();
        }
        read
    });
    if let Some(id) = ended? {
        say(&Response::from_value(json!({ "quit": true })).line(Some(&id)));
    }
    Ok(())
}

/// Returns whether the first byte begins a JSON object. Returns true if there is no input.
fn begins_with_object(input: &mut impl BufRead) -> io::Result<bool> {
    loop {
        match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return Ok(read?.first().is_none_or(|&first| first == b'{')),
        }
    }
}

struct EndOnDrop<'a, 'b>(&'a SharedConversation<'b>);

impl Drop for EndOnDrop<'_, '_> {
    fn drop(&mut self) {
        lock(&self.0.state).is_ended = true;
        self.0.changed.notify_all();
    }
}

struct SharedConversation<'a> {
    desk: &'a OpenDatabases,
    greeting: Greeting<'a>,
    say: &'a (dyn Fn(&str) + Sync),
    /// True if the client has left.
    has_left: &'a AtomicBool,
    state: Mutex<QueueState>,
    changed: Condvar,
}

impl SharedConversation<'_> {
    fn answer(&self, id: &RequestId, answer: Result<Response, Fault>) {
        (self.say)(&match answer {
            Ok(answer) => answer.line(Some(id)),
            Err(fault) => error_line(Some(id), &fault),
        });
    }

    /// Returns the content of the greeting.
    fn about(&self) -> Response {
        Response::from_value(json!({
            "schema": SERVE_SCHEMA,
            "rows_schema": SCHEMA,
            "program": self.greeting.program,
            "version": self.greeting.version,
            "databases": self.desk.descriptions(),
            "limits": {
                "line_bytes": LINE_BYTES_MAX,
                "databases": DATABASES_MAX,
                "queries_with_hits": RESULTS_MAX,
                "page_rows": PAGE_ROWS_MAX,
                "waiting_requests": QUEUE_MAX,
            },
        }))
    }

    /// Reads requests until `quit` or the end of the input. Returns the id of the `quit` request, or `None` at the end of the
    /// input.
    fn read(&self, input: &mut impl BufRead) -> io::Result<Option<RequestId>> {
        while let Some(line) = next_line(input, LINE_BYTES_MAX)? {
            let line = match line {
                RequestLine::Whole(line) => line,
                RequestLine::TooLong => {
                    let message =
                        format!("the line is longer than {LINE_BYTES_MAX} bytes: it was passed over");
                    (self.say)(&error_line(None, &Fault::new(ErrorCode::TooLong, message)));
                    continue;
                }
            };
            if line.trim_ascii().is_empty() {
                continue;
            }
            match Message::read(&line) {
                Ok((id, Message::Quit)) => {
                    self.cancel_all();
                    return Ok(Some(id));
                }
                Ok((id, request)) => self.take(id, request, line.len()),
                Err((id, fault)) => (self.say)(&error_line(id.as_ref(), &fault)),
            }
        }
        Ok(None)
    }

    fn cancel_all(&self) {
        lock(&self.state).jobs.iter().for_each(|job| job.cancel.cancel());
    }

    /// Answers a request, or adds it to a queue.
    fn take(&self, id: RequestId, request: Message, bytes: usize) {
        let work = match request {
            Message::Open(open) => return self.add_job(id, SlowWork::Open(open), bytes),
            Message::Close(close) => return self.add_job(id, SlowWork::Close(close), bytes),
            Message::Query(ask) => return self.add_job(id, SlowWork::Query(ask), bytes),
            Message::Make(make) => return self.add_job(id, SlowWork::Make(make), bytes),
            Message::Positions(position) => return self.add_job(id, SlowWork::Positions(position), bytes),
            Message::Hits(page) => QuickWork::Hits(page, None),
            Message::Game(game) => QuickWork::Game(game, None),
            Message::Explain(explain) => QuickWork::Explain(explain),
            Message::Cancel(RequestRef { of }) => return self.cancel(&id, &of),
            Message::Progress(RequestRef { of }) => return self.answer(&id, self.progress_of(&of)),
            Message::Ping | Message::Quit => {
                return self.answer(&id, Ok(Response::from_value(json!({ "pong": true }))));
            }
            Message::Version => return self.answer(&id, Ok(self.about())),
        };
        if let Err((id, fault)) = self.add_page(Quick { id, work, bytes }) {
            self.answer(&id, Err(fault));
        }
    }

    fn add_job(&self, id: RequestId, work: SlowWork, bytes: usize) {
        let mut state = lock(&self.state);
        let refused = if state.find(&id).is_some() {
            let message = "a request of this id is under way: give each request an id of its own";
            Err(Fault::new(ErrorCode::Request, message))
        } else {
            state.has_room(bytes)
        };
        if let Err(fault) = refused {
            drop(state);
            return self.answer(&id, Err(fault));
        }
        state.results.forget(&id);
        state.jobs.push(QueuedJob {
            id,
            work: Arc::new(work),
            bytes,
            is_running: false,
            cancel: CancelToken::new(),
            progress: Arc::default(),
            then: Vec::new(),
        });
        self.changed.notify_all();
    }

    fn add_page(&self, mut quick: Quick) -> Result<(), (RequestId, Fault)> {
        let mut state = lock(&self.state);
        if let Err(fault) = state.has_room(quick.bytes) {
            return Err((quick.id, fault));
        }
        // The request waits for the last of the earlier requests that provide what it needs.
        if let Some(job) = state.jobs.iter_mut().rev().find(|job| quick.needs(job)) {
            job.then.push(quick);
            return Ok(());
        }
        if let Err(fault) = quick.find(&state.results, self.desk) {
            state.results.note_short(quick.id.clone());
            return Err((quick.id, fault));
        }
        state.pages.push_back(quick);
        self.changed.notify_all();
        Ok(())
    }

    fn cancel(&self, id: &RequestId, of: &RequestId) {
        let mut state = lock(&self.state);
        let found = state.find(of);
        // The request is cancelled before the response is sent, because a slow client can delay the response.
        found.into_iter().for_each(|at| state.jobs[at].cancel.cancel());
        let is_removed = found.is_none() && state.remove_waiting(of);
        let answer = match found.is_some() || is_removed {
            true => Ok(Response::from_value(json!({ "cancelled": true }))),
            // A short request that is being answered is answered at once.
            false if state.answering.as_ref() == Some(of) || state.results.know(of) => {
                Ok(Response::from_value(json!({ "cancelled": false })))
            }
            false => Err(unknown(of)),
        };
        self.answer(id, answer);
        if is_removed {
            self.answer(of, Err(Fault::cancelled()));
            state.results.note_short(of.clone());
        }
        if found.is_some_and(|at| !state.jobs[at].is_running) {
            self.finish(&mut state, of, Err(Fault::cancelled()));
        }
    }

    fn progress_of(&self, of: &RequestId) -> Result<Response, Fault> {
        let state = lock(&self.state);
        let tell = |progress: &Progress, is_running: bool| {
            let mut fields = progress_fields(progress);
            fields.insert("state".into(), if is_running { "running" } else { "waiting" }.into());
            Ok(Response { fields, rows: None })
        };
        if let Some(job) = state.find(of).map(|at| &state.jobs[at]) {
            let progress = *lock(&job.progress);
            return tell(&progress, job.is_running);
        }
        let is_answering = state.answering.as_ref() == Some(of);
        if is_answering || state.has_waiting(of) {
            return tell(&Progress::default(), is_answering);
        }
        match state.results.know(of) {
            true => Ok(Response::from_value(json!({ "state": "done" }))),
            false => Err(unknown(of)),
        }
    }

    /// Sends the response to a job, and releases the requests that wait for the job.
    fn finish(&self, state: &mut QueueState, id: &RequestId, answer: Result<Response, Fault>) {
        let Some(at) = state.find(id) else { return };
        let job = state.jobs.remove(at);
        if answer.is_err() {
            state.results.note(job.id.clone(), NoHits::Failed);
        }
        // The job's response is sent before those of the requests that wait for it. The state is locked until all of them are
        // answered or queued, so no other response can come in between.
        self.answer(&job.id, answer);
        for mut quick in job.then {
            match quick.find(&state.results, self.desk) {
                Ok(()) => state.pages.push_back(quick),
                Err(fault) => {
                    self.answer(&quick.id, Err(fault));
                    state.results.note_short(quick.id);
                }
            }
        }
        self.changed.notify_all();
    }

    /// Runs long requests one after the other, until the conversation has ended and there are none left.
    fn run_jobs(&self) {
        let mut state = lock(&self.state);
        loop {
            let Some(job) = state.next_job() else {
                if state.is_ended && state.jobs.is_empty() {
                    return;
                }
                state = wait(&self.changed, state);
                continue;
            };
            job.is_running = true;
            let (id, work) = (job.id.clone(), Arc::clone(&job.work));
            let (cancel, progress) = (job.cancel.clone(), Arc::clone(&job.progress));
            drop(state);
            let done = caught(|| self.run(&id, &work, &cancel, &progress), internal);
            state = lock(&self.state);
            let answer = done.map(|(answer, kept)| {
                match &*work {
                    SlowWork::Query(ask) if ask.stream => state.results.note(id.clone(), NoHits::Sent),
                    SlowWork::Query(ask) => state.results.add(id.clone(), &ask.database, kept),
                    SlowWork::Close(close) => {
                        state.results.close(&close.database);
                        state.results.note(id.clone(), NoHits::NotAsked);
                    }
                    SlowWork::Open(_) | SlowWork::Make(_) | SlowWork::Positions(_) => {
                        state.results.note(id.clone(), NoHits::NotAsked);
                    }
                }
                answer
            });
            self.finish(&mut state, &id, answer);
        }
    }

    fn run(
        &self,
        id: &RequestId,
        work: &SlowWork,
        cancel: &CancelToken,
        progress: &Mutex<Progress>,
    ) -> Result<(Response, Option<Arc<KeptHits>>), Fault> {
        if cancel.is_cancelled() || self.has_left.load(Ordering::Relaxed) {
            return Err(Fault::cancelled());
        }
        let has_events = match work {
            SlowWork::Query(ask) => ask.progress,
            SlowWork::Make(make) => make.progress,
            SlowWork::Positions(position) => position.progress,
            SlowWork::Open(_) | SlowWork::Close(_) => false,
        };
        let mut last = Instant::now();
        let mut watch = |now: Progress| {
            *lock(progress) = now;
            if has_events && last.elapsed() >= EVENT_EVERY {
                last = Instant::now();
                self.tell_progress(id, &now);
            }
            self.cancel_if_left(cancel);
        };
        match work {
            SlowWork::Open(open) => Ok((self.open(id, open, cancel, progress)?, None)),
            SlowWork::Close(close) => Ok((self.desk.close(&close.database)?, None)),
            SlowWork::Make(make) => Ok((self.desk.make(make, cancel, &mut watch)?, None)),
            SlowWork::Positions(position) => {
                Ok((self.desk.answer_position(position, cancel, &mut watch)?, None))
            }
            SlowWork::Query(ask) => {
                let mut send = |from: u64, rows: Vec<String>| {
                    let event = Response::from_value(json!({ "event": "hits", "from": from }));
                    (self.say)(&Response { rows: Some(rows), ..event }.line(Some(id)));
                    self.cancel_if_left(cancel);
                };
                let answered = self.desk.ask_sending(ask, cancel, &mut watch, &mut send)?;
                Ok((answered.answer(ask)?, answered.kept))
            }
        }
    }

    fn tell_progress(&self, id: &RequestId, progress: &Progress) {
        let mut fields = progress_fields(progress);
        fields.insert("event".into(), "progress".into());
        (self.say)(&Response { fields, rows: None }.line(Some(id)));
    }

    /// Cancels a running request if the client has left.
    fn cancel_if_left(&self, cancel: &CancelToken) {
        if self.has_left.load(Ordering::Relaxed) {
            cancel.cancel();
        }
    }

    /// Opens a database. Only one database of all clients is opened at a time, so a client that does not read its events must not
    /// delay the opening: a thread of its own sends the events, and those that it cannot send soon enough are left out. No event
    /// follows the answer.
    fn open(
        &self,
        id: &RequestId,
        open: &Open,
        cancel: &CancelToken,
        progress: &Mutex<Progress>,
    ) -> Result<Response, Fault> {
        std::thread::scope(|scope| {
            let (events, waiting) = sync_channel::<Progress>(1);
            let tell = move || waiting.iter().for_each(|progress| self.tell_progress(id, &progress));
            if open.progress {
                // If the thread cannot be started, the channel has no receiver, and no events are sent.
                let _ = std::thread::Builder::new().spawn_scoped(scope, tell);
            }
            let mut last = Instant::now();
            let mut watch = |now: Progress| {
                *lock(progress) = now;
                if open.progress && last.elapsed() >= EVENT_EVERY && events.try_send(now).is_ok() {
                    last = Instant::now();
                }
                self.cancel_if_left(cancel);
            };
            let opened = self.desk.open_for_client(open, cancel, &mut watch);
            // Without a sender, the thread ends after the last event. The end of the scope waits for it.
            drop(events);
            opened
        })
    }

    /// Writes pages, games and explanations, until the conversation has ended and there are no requests left. Between requests, it
    /// frees the memory on idle graphics cards.
    fn run_pages(&self) {
        let mut looked = Instant::now();
        let mut state = lock(&self.state);
        loop {
            if let Some(Quick { id, work, .. }) = state.pages.pop_front() {
                state.answering = Some(id.clone());
                drop(state);
                let answer = caught(|| self.run_page(&work), internal);
                // The hits or the database may be closed meanwhile, and are then freed without the lock.
                drop(work);
                // The request is recorded first, so that a client that has the answer is told that it is done.
                state = lock(&self.state);
                state.answering = None;
                state.results.note_short(id.clone());
                drop(state);
                self.answer(&id, answer);
                state = lock(&self.state);
            } else if state.is_ended && state.jobs.is_empty() {
                return;
            } else if looked.elapsed() < CARD_IDLE {
                state = wait_timeout(&self.changed, state, CARD_IDLE);
            } else {
                drop(state);
                self.desk.give_back(CARD_IDLE);
                looked = Instant::now();
                state = lock(&self.state);
            }
        }
    }

    fn run_page(&self, work: &QuickWork) -> Result<Response, Fault> {
        match work {
            QuickWork::Hits(page, kept) => {
                let Some(kept) = kept else { return Err(unknown(&page.of)) };
                let rows = kept.page(page.from, checked_rows(page.rows)?, page.columns.as_deref())?;
                let mut answer = Response::from_value(json!({ "from": page.from, "hits": kept.rows() }));
                answer.rows = Some(rows);
                Ok(answer)
            }
            QuickWork::Game(_, Some(answer)) => answer(),
            QuickWork::Game(game, None) => self.desk.game_answer(game)?(),
            QuickWork::Explain(explain) => Ok(Explained::new(explain)?.answer(explain.copies)),
        }
    }
}

fn unknown(of: &RequestId) -> Fault {
    Fault::new(ErrorCode::UnknownQuery, format!("no request {} is under way or has hits", of.json()))
}

fn progress_fields(progress: &Progress) -> Map<String, Value> {
    let fields = json!({
        "bytes": progress.bytes,
        "bytes_total": progress.bytes_total,
        "games": progress.games,
        "positions": progress.positions,
    });
    Response::from_value(fields).fields
}

fn internal(message: String) -> Fault {
    Fault::new(ErrorCode::Internal, message)
}

/// Runs `work` and converts a panic to an error, so that a panic ends one request instead of the whole conversation. `fault` makes
/// the error from its message.
pub(super) fn caught<T, E>(
    work: impl FnOnce() -> Result<T, E>,
    fault: impl FnOnce(String) -> E,
) -> Result<T, E> {
    let text = |panic: Box<dyn Any + Send>| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
    };
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        Err(fault(format!("a fault of the program, please report it: {}", text(panic))))
    })
}
