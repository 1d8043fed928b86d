//! Tests the files that requests read and write: pipes are refused, and an interrupted process leaves no unfinished files.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use serde_json::json;

use super::{LASTING, Server, assert_code, has_files};
use crate::common::waiting::Process;
use crate::program::SAMPLE;
use orbit_search::serve::ErrorCode;

/// A pipe to which nobody writes would block the request, and with it all other requests that open or write files.
#[test]
fn pipes_and_devices_are_neither_opened_nor_written() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.pgn").to_str().unwrap().to_owned();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let link = folder.path().join("link.pgn").to_str().unwrap().to_owned();
    std::os::unix::fs::symlink(&pipe, &link).unwrap();
    let mut server = Server::start(&[SAMPLE]);
    for path in [&pipe, &link] {
        for (request, fields) in [
            ("open", json!({ "database": "pipe", "paths": [SAMPLE, path] })),
            ("write", json!({ "query": "mate", "path": path })),
        ] {
            let answer = server.answer(request, fields);
            assert_code(&answer, ErrorCode::Request);
            let message = answer["error"]["message"].as_str().unwrap();
            assert!(message.contains("it is a pipe or a device"), "{request}: {message}");
        }
    }
    let device = server.answer("open", json!({ "database": "null", "paths": ["/dev/null"] }));
    assert_code(&device, ErrorCode::Request);
    assert_eq!(server.answer("open", json!({ "database": "more", "paths": [SAMPLE] }))["games"], 1000);
    server.finish();
}

/// Ctrl-C ends the process while a request writes a file. No temporary file stays.
#[test]
fn an_interrupted_process_leaves_no_unfinished_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.pgn").to_str().unwrap().to_owned();
    let mut server = Server::start(&[SAMPLE]);
    server.ask("write", json!({ "query": LASTING, "engine": "reference", "path": path }));
    has_files(folder.path(), 1);
    server.process.interrupt();
    assert_eq!(server.process.end("the server").code(), Some(130));
    has_files(folder.path(), 0);
}

/// A client that no longer reads the answers ends the process in the same way.
#[test]
fn a_closed_pipe_leaves_no_unfinished_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.pgn").to_str().unwrap().to_owned();
    let mut command = Command::new(env!("CARGO_BIN_EXE_orbit"));
    command.args(["serve", SAMPLE]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = Process::new(command.spawn().unwrap());
    let mut output = BufReader::new(process.stdout.take().unwrap());
    output.read_line(&mut String::new()).unwrap();
    let mut input = process.stdin.take().unwrap();
    let write = json!({ "id": 1, "request": "write", "query": LASTING, "engine": "reference", "path": path });
    input.write_all(format!("{write}\n").as_bytes()).unwrap();
    has_files(folder.path(), 1);
    drop(output);
    input.write_all(b"{\"id\":2,\"request\":\"ping\"}\n").unwrap();
    assert_eq!(process.end("the server").code(), Some(0));
    has_files(folder.path(), 0);
}
