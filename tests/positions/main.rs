//! Transforms of square sets, boards and positions, and the commands on top of them.
//!
//! * `against_chessops`: what chessops itself answers for 10,000 random positions.
//! * `documentation`: every statement and sample of chessops' documentation, and the table of square sets in CQL 5's.
//! * `fen`: reading and writing against shakmaty; faults with their places; random bytes.
//! * `whole`: colours, symmetry, canonical form, what falls off the board.
//! * `command`: `orbit transform` as its users run it.
//! * `board`: `orbit scan --board` and `orbit explain --board`.

mod against_chessops;
mod board;
mod command;
mod documentation;
mod fen;
mod random;
#[path = "../suite/differential/rng.rs"]
#[allow(dead_code)]
mod rng;
mod whole;

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use orbit_chess::board::{Bitboard, Square};
use orbit_chess::fen::{FenError, FenRecord, Leniency};
use orbit_chess::positions::{Setup, Transform, names};

/// A set of squares.
fn set(text: &str) -> Bitboard {
    text.split_whitespace().map(|square| square.parse::<Square>().unwrap()).collect()
}

/// One transform by its name.
fn named(name: &str) -> Transform {
    let steps = names::parse(name, names::Shifts::Cql6).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(steps.len(), 1, "{name}");
    steps[0].transform
}

/// A FEN or EPD with all fields of variants.
fn read(line: &[u8]) -> Result<FenRecord<'_>, FenError> {
    FenRecord::read(line, Leniency { variants: true, operations: true, ..Leniency::NONE })
}

fn setup(fen: &str) -> Setup {
    read(fen.as_bytes()).unwrap_or_else(|error| panic!("{fen}: {error}")).setup
}

/// A position through a sequence of transforms, as FEN.
fn moved(names: &str, fen: &str) -> String {
    let mut record = read(fen.as_bytes()).unwrap_or_else(|error| panic!("{fen}: {error}"));
    for step in names::parse(names, names::Shifts::Cql6).unwrap() {
        record.setup = step.transform.setup(&record.setup).unwrap();
    }
    record.to_string()
}

/// Runs `orbit` in the folder of the project.
fn orbit(args: &[&str], stdin: Option<&[u8]>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orbit"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(args);
    command.stdin(if stdin.is_some() { Stdio::piped() } else { Stdio::null() });
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let input = child.stdin.take();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if let (Some(mut input), Some(bytes)) = (input, stdin) {
                // The child may stop reading.
                let _ = input.write_all(bytes);
            }
        });
        child.wait_with_output().unwrap()
    })
}

fn stdout(args: &[&str], stdin: Option<&[u8]>) -> String {
    let out = orbit(args, stdin);
    assert_eq!(out.status.code(), Some(0), "{args:?}: {}", text(&out.stderr));
    text(&out.stdout)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}
