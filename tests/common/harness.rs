//! The main function of the binaries of tests, and how a test ends for which something is missing.
//!
//! Such a test is *ignored*, with what it needs, and does not count as passed. Where a variable such as
//! `ORBIT_CORPUS_REQUIRED` is set, it fails.

use std::fs::OpenOptions;
use std::io::Write;
use std::panic::{catch_unwind, resume_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Completion, Failed, Trial};

/// A test, as the attribute `#[test]` of `tests/attribute` registers it.
pub struct Test {
    pub module: &'static str,
    pub name: &'static str,
    pub run: fn(),
}

inventory::collect!(Test);

/// What some machines do not have.
pub struct Need {
    /// As in "needs a browser".
    what: &'static str,
    /// The variable that demands it.
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
    /// What was found, or the end of the test: it is ignored, or fails where the thing is required.
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

/// What unwinds a test that is to be ignored; it passes the panic hook by, so that nothing is printed.
struct Missing(&'static str);

/// Runs the tests that the arguments name, as the compiler's harness does.
pub fn main() -> ExitCode {
    let tests = inventory::iter::<Test>.into_iter().map(|test| {
        // The name without the binary.
        let module = test.module.split_once("::").map_or("", |(_, module)| module);
        let name = format!("{module}::{}", test.name);
        let name = name.trim_start_matches("::").to_string();
        Trial::ignorable_test(name.clone(), move || {
            let start = Instant::now();
            let end = end_of(test.run);
            note_time(&name, start.elapsed());
            end
        })
    });
    let mut tests: Vec<Trial> = tests.collect();
    tests.sort_by(|a, b| a.name().cmp(b.name()));
    libtest_mimic::run(&Arguments::from_args(), tests).exit_code()
}

/// Adds a line to the file that `ORBIT_TEST_TIMES` names: seconds of wall clock and the name of the test.
fn note_time(name: &str, time: Duration) {
    if let Some(path) = std::env::var_os("ORBIT_TEST_TIMES") {
        let file = OpenOptions::new().append(true).create(true).open(&path);
        file.and_then(|mut file| writeln!(file, "{:.2}\t{name}", time.as_secs_f64()))
            .unwrap_or_else(|error| panic!("{} cannot be written: {error}", path.display()));
    }
}

fn end_of(run: fn()) -> Result<Completion, Failed> {
    match catch_unwind(run) {
        Ok(()) => Ok(Completion::Completed),
        Err(payload) => match payload.downcast::<Missing>() {
            Ok(missing) => Ok(Completion::ignored_with(format!("needs {}", missing.0))),
            Err(payload) => resume_unwind(payload),
        },
    }
}
