//! Tests a build without a web client, which must reject URLs.

use std::process::Command;

#[test]
fn a_url_is_an_error_that_says_what_to_do() {
    let url = "https://user:secret@host/games.pgn.zst?key=secret";
    let commands: [&[&str]; 7] = [
        &["scan", "mate", url],
        &["scan", "-f", "QUERY", url],
        &["batch", "catalogue", url],
        &["index", url, "-o", "REEL"],
        &["index", "--append", url, "-o", "REEL"],
        &["show", url, "1"],
        &["serve", url],
    ];
    let folder = tempfile::tempdir().unwrap();
    let (query, reel) = (folder.path().join("query.cql"), folder.path().join("games.reel"));
    std::fs::write(&query, "mate").unwrap();
    for words in commands {
        let words = words.iter().map(|word| match *word {
            "QUERY" => query.as_os_str(),
            "REEL" => reel.as_os_str(),
            word => word.as_ref(),
        });
        let run = Command::new(env!("CARGO_BIN_EXE_orbit")).args(words).output().unwrap();
        assert_eq!(run.status.code(), Some(2), "{run:?}");
        let told = String::from_utf8(run.stderr).unwrap();
        let expected = "error: https://host/games.pgn.zst: this orbit was built without https: install it with `--features \
                        https`, or pipe the file: `curl -L URL | orbit scan QUERY -`\n";
        assert_eq!(told, expected);
        assert!(!reel.exists());
    }
}
