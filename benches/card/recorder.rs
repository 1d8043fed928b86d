//! Records the measured and skipped rows of a run in two files that are always up to date.
//!
//! Both files are replaced as a whole after each row, so even a killed run leaves readable files with its measurements.

use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use orbit_command::measuring::Failure;
use orbit_core::files::OutputFile;
use orbit_core::sync::{lock, wait_timeout};
use serde_json::{Map, Value, json};

use super::{crossover, table, targets};

/// The names of the two files.
pub const JSON_FILE: &str = "card.json";
pub const TABLE_FILE: &str = "card.txt";

/// The part of the time budget that is reserved for writing the final files.
const RESERVE: Duration = Duration::from_millis(500);

/// A run. It is shared with the thread that ends it when the time budget is used up.
#[derive(Clone)]
pub struct Recorder {
    inner: Arc<(Mutex<RecorderInner>, Condvar)>,
    begun: Instant,
    budget: Duration,
}

struct RecorderInner {
    folder: PathBuf,
    head: Map<String, Value>,
    rows: Vec<Value>,
    skipped: Vec<Value>,
    notes: Vec<String>,
    /// The rows that have not been started yet.
    pending: Vec<(String, String)>,
    /// The row that is being measured.
    current: Option<(String, String)>,
    ended: Option<(&'static str, Duration)>,
    /// The error message if a file could not be written.
    unwritten: Option<String>,
}

impl Recorder {
    /// Creates the two files of a run.
    ///
    /// # Errors
    ///
    /// Fails if the folder cannot be made or written to, or already contains a run.
    pub fn begin(
        folder: &Path,
        head: Map<String, Value>,
        begun: Instant,
        budget: Duration,
    ) -> Result<Recorder, Failure> {
        std::fs::create_dir_all(folder).map_err(|error| {
            Failure::Other(format!(
                "the folder {} cannot be made: {error}; name one that can be written to with --output",
                folder.display()
            ))
        })?;
        for name in [JSON_FILE, TABLE_FILE] {
            let file = folder.join(name);
            if file.symlink_metadata().is_ok() {
                return Err(Failure::Other(format!(
                    "{} is there already; name another folder with --output, so that no run is lost",
                    file.display()
                )));
            }
        }
        let inner = RecorderInner {
            folder: folder.to_owned(),
            head,
            rows: Vec::new(),
            skipped: Vec::new(),
            notes: Vec::new(),
            pending: Vec::new(),
            current: None,
            ended: None,
            unwritten: None,
        };
        let recorder = Recorder { inner: Arc::new((Mutex::new(inner), Condvar::new())), begun, budget };
        recorder.save();
        let unwritten = recorder.lock().unwritten.take();
        match unwritten {
            Some(error) => Err(Failure::Other(format!("{error}; name another folder with --output"))),
            None => Ok(recorder),
        }
    }

    fn lock(&self) -> MutexGuard<'_, RecorderInner> {
        lock(&self.inner.0)
    }

    /// Returns the remaining time of the budget.
    pub fn left(&self) -> Duration {
        (self.budget - RESERVE.min(self.budget / 4)).saturating_sub(self.begun.elapsed())
    }

    /// Appends rows to the list of rows that are still to be measured.
    pub fn plan(&self, tasks: impl IntoIterator<Item = (String, String)>) {
        self.lock().pending.extend(tasks);
    }

    /// Sets a field of the JSON document.
    pub fn set(&self, name: &str, value: Value) {
        self.lock().head.insert(name.into(), value);
    }

    /// Prints a note and adds it to both files of the run.
    pub fn note(&self, text: String) {
        message!("note: {text}");
        self.lock().notes.push(text);
    }

    /// Records that a row is skipped, with the reason `why`.
    pub fn skip(&self, kind: &str, name: &str, why: &str) {
        message!("skipped: {kind} {name}: {why}");
        let mut inner = self.lock();
        inner.pending.retain(|task| (task.0.as_str(), task.1.as_str()) != (kind, name));
        inner.skipped.push(json!({ "kind": kind, "name": name, "why": why }));
    }

    /// Measures a row that should take about `seconds` seconds, if that much time is left. Returns `None` if the row was not
    /// measured; both files then contain the reason.
    pub fn task(
        &self,
        kind: &str,
        name: &str,
        seconds: f64,
        work: impl FnOnce() -> Result<Value, Failure>,
    ) -> Option<Value> {
        let left = self.left().as_secs_f64();
        if left <= 0.0 {
            self.skip(kind, name, "the budget was spent before it began");
            return None;
        }
        if seconds > left {
            self.skip(
                kind,
                name,
                &format!("it takes about {seconds:.0} s, {left:.0} s of the budget were left"),
            );
            return None;
        }
        {
            let mut inner = self.lock();
            inner.pending.retain(|task| (task.0.as_str(), task.1.as_str()) != (kind, name));
            inner.current = Some((kind.into(), name.into()));
        }
        let begun = Instant::now();
        // A panic inside a driver affects only the row that is being measured.
        let done = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            Err(Failure::Other(format!("a panic: {}", text.unwrap_or("it does not say why"))))
        });
        let mut row = json!({ "kind": kind, "name": name });
        let is_good = done.is_ok();
        match done {
            Ok(Value::Object(fields)) => row.as_object_mut().expect("it is an object").extend(fields),
            Ok(other) => row["value"] = other,
            Err(error) => row["error"] = json!(error.to_string()),
        }
        row["took_s"] = json!(begun.elapsed().as_secs_f64());
        {
            let mut inner = self.lock();
            if inner.ended.is_some() {
                // The time was up before the measurement ended, so the final files show this row as interrupted.
                return None;
            }
            inner.current = None;
            inner.rows.push(row.clone());
        }
        message!("[{:>5.1} s] {}", self.begun.elapsed().as_secs_f64(), table::short(&row));
        self.save();
        is_good.then_some(row)
    }

    /// Returns everything recorded so far, as the JSON document that is written to the file.
    pub fn document(&self) -> Value {
        self.lock().document(self.begun.elapsed())
    }

    /// Writes both files. Returns the document that they contain.
    fn save(&self) -> Value {
        let mut inner = self.lock();
        let document = inner.document(self.begun.elapsed());
        let json = format!("{document:#}\n");
        let text = table::lines(&document).join("\n") + "\n";
        for (name, content) in [(JSON_FILE, json), (TABLE_FILE, text)] {
            let path = inner.folder.join(name);
            let written = OutputFile::create(&path).and_then(|mut file| {
                file.write_all(content.as_bytes())
                    .map_err(|error| orbit_core::files::OutputError::Write { path: path.clone(), error })?;
                file.finish()
            });
            if let Err(error) = written {
                // A failed write does not end the run, because the measurements are also printed at the end.
                inner.unwritten.get_or_insert_with(|| {
                    let said = error.to_string();
                    message!("warning: {said}");
                    said
                });
            }
        }
        document
    }

    /// Ends the run, unless it has already ended. Returns the final document, and an error message if the files could not be
    /// written.
    pub fn end(&self, how: &'static str) -> Option<(Value, Option<String>)> {
        {
            let mut inner = self.lock();
            if inner.ended.is_some() {
                return None;
            }
            inner.ended = Some((how, self.begun.elapsed()));
            let why = "it was under way when the budget ended";
            if let Some((kind, name)) = inner.current.take() {
                inner.skipped.push(json!({ "kind": kind, "name": name, "why": why }));
            }
            for (kind, name) in std::mem::take(&mut inner.pending) {
                let why = "the budget ended before it began";
                inner.skipped.push(json!({ "kind": kind, "name": name, "why": why }));
            }
        }
        // The thread that measures may still add notes, so the document is not made again.
        let document = self.save();
        self.inner.1.notify_all();
        Some((document, self.lock().unwritten.clone()))
    }

    /// Calls a function when the time budget is used up, unless the run has ended before.
    pub fn at_the_end(&self, work: impl FnOnce(&Recorder) + Send + 'static) {
        let recorder = self.clone();
        let watch = move || {
            let end = recorder.begun + recorder.budget;
            let mut inner = recorder.lock();
            while inner.ended.is_none() {
                let left = end.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    break;
                }
                inner = wait_timeout(&recorder.inner.1, inner, left);
            }
            let is_over = inner.ended.is_none();
            drop(inner);
            if is_over {
                work(&recorder);
            }
        };
        // If the system cannot start a thread, the budget is checked only between rows.
        let _ = std::thread::Builder::new().name("budget".into()).spawn(watch);
    }
}

impl RecorderInner {
    fn document(&self, seconds: Duration) -> Value {
        let mut document = self.head.clone();
        // A row that is computed from other rows appears as soon as those exist.
        let mut rows = self.rows.clone();
        rows.extend(crossover::rows(&self.rows));
        let software = document["software"] == true;
        document.insert("auto".into(), crossover::auto(&rows, software));
        let wrong: Vec<String> = self
            .rows
            .iter()
            .filter(|row| row["agree"] == false || row.get("error").is_some())
            .map(table::label)
            .collect();
        document.insert("seconds".into(), json!(self.ended.map_or(seconds, |(_, end)| end).as_secs_f64()));
        document.insert("ended".into(), json!(self.ended.map(|(how, _)| how)));
        document.insert("agree".into(), json!(!self.rows.iter().any(|row| row["agree"] == false)));
        document.insert("wrong".into(), json!(wrong));
        document.insert("rows".into(), json!(rows));
        document.insert("skipped".into(), json!(self.skipped));
        document.insert("notes".into(), json!(self.notes));
        let mut document = Value::Object(document);
        document["targets"] = targets::judge(&document);
        document
    }
}
