//! Provides the main function of the test binaries, tables whose rows are tests, and tests that need a file, a program or a
//! device that may be missing.
//!
//! If a test lacks something that it needs, it is *ignored*: a message names the missing file, program or device, and the test
//! does not count as passed. If a variable such as `ORBIT_CORPUS_REQUIRED` is set, the test fails instead.

use std::fs::OpenOptions;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::ExitCode;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Completion, Failed, Trial};

use super::length;

/// A test that the attribute `#[test]` of `tests/attribute` has registered.
pub struct Test {
    pub module: &'static str,
    pub name: &'static str,
    /// The part of a long run that executes this test; `None` if every run executes it. The module [`length`](super::length)
    /// describes the parts.
    pub part: Option<usize>,
    pub run: fn(),
}

inventory::collect!(Test);

/// A function that returns the rows of a table. The attribute `#[table]` has registered it.
pub struct Table {
    pub module: &'static str,
    pub name: &'static str,
    /// True if each part of a long run executes a quarter of the rows, selected by row number (see [`length`](super::length)).
    pub in_parts: bool,
    pub rows: fn() -> Vec<Row>,
}

inventory::collect!(Table);

/// A table row, which is a test of its own. Its name begins with the name of the table.
pub struct Row {
    name: String,
    run: Box<dyn Fn() + Send>,
}

impl Row {
    pub fn new(name: impl Into<String>, run: impl Fn() + Send + 'static) -> Row {
        Row { name: name.into(), run: Box::new(run) }
    }
}

/// A file, program or device that a test needs and that may be missing on a machine.
pub struct Need {
    /// The noun that names the needed thing in messages, such as "a browser" in "needs a browser".
    what: &'static str,
    /// The environment variable that makes a test fail, instead of being ignored, if the needed thing is missing.
    required: &'static str,
}

pub const CORPUS: Need = Need { what: "ORBIT_CORPUS", required: "ORBIT_CORPUS_REQUIRED" };
pub const SCRIPTS: Need = Need { what: "ORBIT_SCRIPTS", required: "ORBIT_SCRIPTS_REQUIRED" };
pub const GPU: Need = Need { what: "a GPU adapter", required: "ORBIT_GPU_REQUIRED" };
pub const VALIDATION: Need =
    Need { what: "the Khronos validation layer", required: "ORBIT_VALIDATION_REQUIRED" };
pub const SCRIPT: Need = Need { what: "`script`, which makes terminals", required: "ORBIT_SCRIPT_REQUIRED" };
pub const BROWSER: Need =
    Need { what: "a browser (Debian's package chromium)", required: "ORBIT_BROWSER_REQUIRED" };

impl Need {
    /// Unwraps `found`, the file, program or device that a test needs. If it is `None`, the test is ignored, or fails if the
    /// environment variable requires the needed thing.
    #[track_caller]
    pub fn met<T>(&self, found: Option<T>) -> T {
        found.unwrap_or_else(|| {
            assert!(!self.is_required(), "{} is set, but there is no {}", self.required, self.what);
            resume_unwind(Box::new(Missing(self.what)))
        })
    }

    pub fn is_required(&self) -> bool {
        std::env::var_os(self.required).is_some()
    }
}

/// Ends a test that only another part of a long run executes (see [`length`](super::length)).
pub fn leave_to_another_part() -> ! {
    resume_unwind(Box::new(Missing("another ORBIT_LONG_PART")))
}

/// The reason for ignoring a test. It is the payload of a panic that bypasses the panic hook, so nothing is printed.
struct Missing(&'static str);

/// Runs the tests selected by the command line, like the built-in test harness.
pub fn main() -> ExitCode {
    // Tests with a part take longest. They begin first, and the rows of tables, which are short, last, so that no core is idle at
    // the end.
    let tests = inventory::iter::<Test>.into_iter().map(|test| {
        (usize::from(test.part.is_none()), trial(full_name(test.module, test.name), test.part, test.run))
    });
    let rows = inventory::iter::<Table>.into_iter().flat_map(|table| {
        let name = full_name(table.module, table.name);
        (table.rows)().into_iter().enumerate().map(move |(number, row)| {
            (2, trial(format!("{name}::{}", row.name), table.in_parts.then_some(number), row.run))
        })
    });
    let mut tests: Vec<(usize, Trial)> = tests.chain(rows).collect();
    tests.sort_by(|(rank, a), (other, b)| (rank, a.name()).cmp(&(other, b.name())));
    let mut tests: Vec<Trial> = tests.into_iter().map(|(_, trial)| trial).collect();
    let mut arguments = Arguments::from_args();
    if arguments.filter.is_some() {
        length::choose_names();
    }
    // There are two more threads than cores, because some tests wait for processes and devices.
    arguments.test_threads.get_or_insert_with(|| available_parallelism().map_or(2, |cores| cores.get() + 2));
    // A filter with `|` contains several strings. It selects the tests whose names contain one of them or, with `--exact`, equal
    // one of them.
    if let Some(parts) = arguments.filter.take_if(|filter| filter.contains('|')) {
        let is_selected =
            |name: &str, part: &str| if arguments.exact { name == part } else { name.contains(part) };
        let parts: Vec<&str> = parts.split('|').filter(|part| !part.is_empty()).collect();
        tests.retain(|test| parts.iter().any(|part| is_selected(test.name(), part)));
        arguments.exact = false;
    }
    libtest_mimic::run(&arguments, tests).exit_code()
}

/// Returns a test's name with its module, but without the name of the binary.
fn full_name(module: &str, name: &str) -> String {
    match module.split_once("::") {
        Some((_, module)) => format!("{module}::{name}"),
        None => name.to_string(),
    }
}

/// Returns a [`Trial`], which is a test of the harness `libtest_mimic`, with the name `name`. If `number` is given, only one part
/// of a long run executes the test (see [`length`](super::length)).
fn trial(name: String, number: Option<usize>, run: impl Fn() + Send + 'static) -> Trial {
    Trial::ignorable_test(name.clone(), move || {
        let start = Instant::now();
        let end = end_of(|| {
            number.into_iter().for_each(length::only_in_its_part);
            run();
        });
        note_time(&name, start.elapsed());
        end
    })
}

/// Appends the test's time in seconds and its name, on one line, to the file that `ORBIT_TEST_TIMES` names.
fn note_time(name: &str, time: Duration) {
    if let Some(path) = std::env::var_os("ORBIT_TEST_TIMES") {
        let file = OpenOptions::new().append(true).create(true).open(&path);
        // One write, since several threads append to the file.
        let line = format!("{:.2}\t{name}\n", time.as_secs_f64());
        file.and_then(|mut file| file.write_all(line.as_bytes()))
            .unwrap_or_else(|error| panic!("{} cannot be written: {error}", path.display()));
    }
}

fn end_of(run: impl FnOnce()) -> Result<Completion, Failed> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(()) => Ok(Completion::Completed),
        Err(payload) => match payload.downcast::<Missing>() {
            Ok(missing) => Ok(Completion::ignored_with(format!("needs {}", missing.0))),
            Err(payload) => resume_unwind(payload),
        },
    }
}
