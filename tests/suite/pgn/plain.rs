//! Compares the fast paths of the parser with the general path, which must give the same result. Tabs are equivalent to spaces
//! and CR to LF, but no fast path accepts tabs or CR. So texts with tabs or CR are parsed on the general path.

use orbit_pgn::{GameStatus, Tag};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::invariance::fragments;
use super::*;

/// Returns the text with tabs in place of spaces, and CR in place of LF. The space in a `[Event "` that begins a game is kept, as
/// is the LF in CRLF.
fn with_other_blanks(text: &[u8]) -> Vec<u8> {
    let mut out = text.to_vec();
    for at in 0..text.len() {
        let in_event = text[..at].ends_with(b"[Event") && text[at..].starts_with(b" \"");
        match text[at] {
            b' ' if !in_event => out[at] = b'\t',
            b'\n' if !text[..at].ends_with(b"\r") => out[at] = b'\r',
            _ => {}
        }
    }
    out
}

/// Returns the game without spaces and tabs in its texts, and without the characters that replace them in messages.
fn without_blanks(mut game: Game) -> Game {
    let plain = |reason: &mut String| *reason = reason.replace(['\u{fffd}', '\t'], " ");
    match &mut game.status {
        GameStatus::Whole => {}
        GameStatus::Cut(fault) | GameStatus::Skipped(fault) => plain(&mut fault.reason),
    }
    game.notes.iter_mut().for_each(|note| plain(&mut note.reason));
    for Tag { value, .. } in &mut game.tags {
        value.iter_mut().filter(|byte| **byte == b'\t').for_each(|byte| *byte = b' ');
    }
    game
}

fn assert_blanks_do_not_matter(name: &str, text: &[u8]) -> usize {
    let read = |text: &[u8]| -> Vec<Game> { games(text).into_iter().map(without_blanks).collect() };
    let (plain, other) = (read(text), read(&with_other_blanks(text)));
    let different = plain.iter().zip(&other).find(|(a, b)| a != b);
    assert_eq!(different, None, "{name}");
    assert_eq!(plain.len(), other.len(), "{name}");
    plain.iter().map(|game| game.moves.len()).sum()
}

#[test]
fn blanks_do_not_matter() {
    for text in [
        "[Event \"a\"]\n[Site \"b c\"]\n\n1. e4 e5 2. Nf3 {x} Nc6 $1 3. Bb5 (3. Bc4 Bc5 {y\nz} (3... Nf6)) a6 1-0\n",
        "1. e4 e5 {a\n[Event \"b\"]\n1. d4 d5 *",
        "1. e4 e5 (2. Nf3 1-0) 2. f4 (2. Nf3 Nc6 Nf30-1) exf4 *",
        "1. e4 e5 (2. Nf3\n\n[White \"x\"]\n1. d4) *",
        "1. e4 e5\n\n1. d4 d5 2. c4\n",
        "1. e4 e5 2. Nf3 Nc6 3. Ne4 Nf6 (4. d3",
        "[Event \"a\"]\r\n\r\n1. e4 e5\r\n2. Nf3 Nc6\r\n\r\n1. d4 d5 *\r\n",
        "1.e4 e5 2.Nf3 Nc6 3.Bb5 a6 4.Ba4 Nf6 5.O-O Be7 6.Re1 b5 7.Bb3 O-O 8.c3 d5 9.exd5 Nxd5 *",
        "1. e4 1. e5 00000001. e4 99999999999. Nf3 12.… Nc6 0000. Bb5 *",
    ] {
        let plies = assert_blanks_do_not_matter(text, text.as_bytes());
        assert!(plies > 1, "{text}");
    }
}

#[test]
fn blanks_do_not_matter_in_real_files() {
    for (name, path) in corpus_files() {
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("pgn")) {
            let text = std::fs::read(path).unwrap();
            assert_blanks_do_not_matter(&name, &text);
        }
    }
}

/// Generates pieces of movetext such as `e4 ` and `Nf3 `, so that the fast paths parse long stretches of text.
fn movetext() -> impl Strategy<Value = String> {
    let words = [
        "1. ",
        "1... ",
        "2.",
        "e4 ",
        "e5 ",
        "Nf3 ",
        "Nc6\n",
        "Bb5 ",
        "a6\r\n",
        "Ba4+ ",
        "O-O ",
        "{ a } ",
        "{b\n}",
        "$12 ",
        "(",
        "(",
        ")",
        ") ",
        "1-0",
        "0-1 ",
        "1/2",
        "½ ",
        "* ",
        "\n",
        " ",
        "; x\n",
        "\n% y\n",
        "[Event \"a\"]\n",
        "[Site \"a b\"]\n",
        "[",
        "]",
        "e8=Q ",
        "Nf30-1 ",
        "-- ",
        "N ",
        "+- ",
        "…",
        ".",
        "x",
        "{\n[Event \"b\"]",
        "}",
        "[Round \"\\\"\"]\n",
        "d4!? ",
        "\u{feff}",
    ];
    proptest::collection::vec(proptest::sample::select(words.to_vec()), 0..80)
        .prop_map(|words| format!("1. e4 e5 {}", words.concat()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6000, failure_persistence: None, rng_seed: RngSeed::Fixed(2), ..ProptestConfig::default() })]

    #[test]
    fn blanks_do_not_matter_in_mutilated_games(text in fragments()) {
        assert_blanks_do_not_matter(&text, text.as_bytes());
    }

    #[test]
    fn blanks_do_not_matter_in_movetext(text in movetext()) {
        assert_blanks_do_not_matter(&text, text.as_bytes());
    }
}
