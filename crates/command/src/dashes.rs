//! Handles queries that begin with two dashes, as move filters do: `--(o-o)`, `--e4`, `--a`.
//!
//! clap would take such an argument for an option. So a blank is put before it, and is removed when the argument is read as a
//! query. Option names begin with two lower-case letters; move filters do not.

use std::ffi::OsString;

/// The commands that accept a query.
const COMMANDS: [&str; 5] = ["scan", "explain", "convert", "cql", "job"];

/// Adds a leading blank to each argument that is a query but looks like an option.
pub(super) fn guarded(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let mut words = arguments.iter().skip(1);
    let command = loop {
        match words.next() {
            // The next word is the value of this option.
            Some(word) if word == "--color" || word == "--message-format" => words.next(),
            Some(word) if word.to_string_lossy().starts_with('-') => None,
            command => break command,
        };
    };
    if command.is_none_or(|command| COMMANDS.iter().all(|known| command != known)) {
        return arguments;
    }
    for word in arguments.iter_mut().skip(1).take_while(|word| *word != "--") {
        if word.to_str().is_some_and(is_query) {
            let mut guarded = OsString::from(" ");
            guarded.push(&*word);
            *word = guarded;
        }
    }
    arguments
}

/// Removes the leading blank that `guarded` may have added to a query.
pub(super) fn unguarded(query: &str) -> &str {
    match query.strip_prefix(' ') {
        Some(given) if is_query(given) => given,
        _ => query,
    }
}

/// Returns whether a word with two leading dashes is a query. If it is not, it is an option: `--name` or `--name=value`.
fn is_query(word: &str) -> bool {
    let Some(rest) = word.strip_prefix("--").filter(|rest| !rest.is_empty()) else { return false };
    let name = rest.split('=').next().unwrap_or_default();
    let begins = name.bytes().take(2).filter(u8::is_ascii_lowercase).count() == 2;
    let is_name = begins && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'));
    !is_name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_told_from_options() {
        for query in
            ["--(o-o)", "--a", "--e4", "--Rh1", "--=Q", "--a=Q", "-- check", "--[qr]", "--♞", "--a-h5"]
        {
            assert!(is_query(query), "{query}");
            let given = ["orbit", "scan", query, "a.pgn"].map(OsString::from).to_vec();
            let guarded = guarded(given);
            assert_eq!(guarded[2], OsString::from(format!(" {query}")));
            assert_eq!(unguarded(guarded[2].to_str().unwrap()), query);
        }
        for option in
            ["--", "--limit", "--limit=5", "--where=elo>=2400", "--no-reel", "--rotate90", "-q", "check"]
        {
            assert!(!is_query(option), "{option}");
        }
        let of_others = ["orbit", "index", "--(o-o)"].map(OsString::from).to_vec();
        assert_eq!(guarded(of_others.clone()), of_others);
        let after = ["orbit", "scan", "--", "--(o-o)"].map(OsString::from).to_vec();
        assert_eq!(guarded(after.clone()), after);
    }
}
