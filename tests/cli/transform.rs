//! Tests the commands that transform positions and boards.
//!
//! * `command`: the command `orbit transform`.
//! * `board`: `orbit scan --board` and `orbit explain --board`.

mod board;
mod command;

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

fn orbit(args: &[&str], stdin: Option<&[u8]>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orbit"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(args);
    command.stdin(if stdin.is_some() { Stdio::piped() } else { Stdio::null() });
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let input = child.stdin.take();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if let (Some(mut input), Some(bytes)) = (input, stdin) {
                // The child may stop reading its input.
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

/// Asserts that the command is rejected with a message that contains all of `parts`, and without output.
fn refused(args: &[&str], parts: &[&str]) {
    let out = orbit(args, None);
    let message = text(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{args:?}: {message}");
    assert!(out.stdout.is_empty(), "{args:?}");
    for part in parts {
        assert!(message.contains(part), "{args:?}: {part}\n{message}");
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}
