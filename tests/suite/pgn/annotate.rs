//! Extracts games from their files, adds comments, and joins the games again. Parsing the result must give the same games.

use orbit_pgn::{
    AnnotationKind, GameStatus, SourceKind, Tag, annotate, first_game, game_text, read_game, separator,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::invariance::fragments;
use super::*;
use crate::common::marks::{is_marked, marks};

const CAP: usize = 64 << 20;

/// Returns the properties of a game that must not change: everything except offsets.
fn essence(game: &Game) -> Game {
    let mut game = game.clone();
    let offset = game.offset;
    (game.number, game.offset) = (0, 0);
    match &mut game.status {
        GameStatus::Whole => {}
        GameStatus::Cut(fault) | GameStatus::Skipped(fault) => fault.offset -= offset,
    }
    game.notes.retain(|note| !is_of_end(note));
    game.notes.iter_mut().for_each(|note| note.offset -= offset);
    game
}

/// Returns the parts of a game that comments do not change. If an inserted comment separates castling from the token after it, the
/// parser no longer adds a note about unusual text.
fn without_offsets(game: &Game) -> Game {
    let mut game = essence(game);
    game.notes.retain(|note| !note.reason.contains(" is read as "));
    if let GameStatus::Cut(fault) | GameStatus::Skipped(fault) = &mut game.status {
        fault.offset = 0;
    }
    game.notes.iter_mut().for_each(|note| note.offset = 0);
    game
}

fn begins_a_line(bytes: &[u8], game: &Game) -> bool {
    let before = String::from_utf8_lossy(&bytes[..game.offset as usize]);
    let line = before.rsplit(['\n', '\r']).next().unwrap();
    line.trim_matches(|letter: char| letter.is_whitespace() || letter.is_control() || letter == '\u{feff}')
        .is_empty()
}

/// Checks a game of a file, and returns its text without and with comments. Returns `None` for a game that begins within a line,
/// because its text alone may be parsed differently, and for a skipped game, because it has no hits.
fn commented(name: &str, bytes: &[u8], game: &Game) -> Option<[Vec<u8>; 2]> {
    let text = first_game(&bytes[game.offset as usize..], CAP);
    let alone = read_game(text, &ParseOptions::default()).map(|game| essence(&game));
    if matches!(game.status, GameStatus::Skipped(_))
        || alone != Some(essence(game)) && !begins_a_line(bytes, game)
    {
        return None;
    }
    assert_eq!(alone, Some(essence(game)), "{name}, game {}", game.number);
    let plies = game.moves.len() as u32;
    let mut marked = vec![0, 1.min(plies), plies / 2, plies];
    marked.sort();
    marked.dedup();
    let comments: Vec<(u32, &str)> = marked.into_iter().map(|ply| (ply, "MARK")).collect();
    let commented = annotate(text, &comments);
    let found = read_game(&commented, &ParseOptions::default()).map(|game| without_offsets(&game));
    let shown = [text, &commented].map(String::from_utf8_lossy).join("\n----\n");
    assert_eq!(found, Some(without_offsets(game)), "{name}, game {}: {shown}", game.number);
    assert_eq!(marks(&commented), comments.len(), "{name}: {shown}");
    assert!(is_marked(&commented, text), "{name}: {shown}");
    commented_nodes(name, text);
    Some([text.to_vec(), commented])
}

/// Checks that comments in side lines are read back at the nodes to which they were added, and that the move tree does not
/// change.
fn commented_nodes(name: &str, text: &[u8]) {
    let mut options = ParseOptions::default();
    (options.variations, options.annotations) = (true, true);
    let tree = |text: &[u8]| read_game(text, &options).map(|game| without_offsets(&game));
    let Some(mut before) = tree(text) else { return };
    let nodes = before.moves.len() + before.lines.iter().map(|line| line.moves.len()).sum::<usize>();
    let mut marked: Vec<u32> = [0, 1, 2, 4, 6, 7].iter().map(|part| (part * nodes / 7) as u32).collect();
    marked.dedup();
    // If a game has no tags or no moves, text before the first token is not read as a comment.
    marked.retain(|&node| node > 0 || !before.tags.is_empty() && nodes > 0);
    let comments: Vec<(u32, &str)> = marked.iter().map(|&node| (node, "MARK")).collect();
    let commented = annotate(text, &comments);
    let shown = [text, &commented].map(String::from_utf8_lossy).join("\n----\n");
    assert!(is_marked(&commented, text), "{name}: {shown}");
    let mut after = tree(&commented).unwrap_or_else(|| panic!("{name}: {shown}"));
    let mark = AnnotationKind::Comment(b"MARK".to_vec());
    let found = after.annotations.iter().filter(|found| found.kind == mark).map(|found| found.node);
    assert_eq!(found.collect::<Vec<_>>(), marked, "{name}: {shown}");
    after.annotations.retain(|found| found.kind != mark);
    for game in [&mut before, &mut after] {
        game.lost.iter_mut().for_each(|fault| fault.offset = 0);
    }
    assert_eq!(after, before, "{name}: {shown}");
}

/// Checks the games of a text one by one, and then all of them joined in a different order, with the last one first. Returns the
/// number of games.
fn check(name: &str, bytes: &[u8]) -> usize {
    let chunk = Sources::from_bytes(name, bytes.to_vec()).next_chunk();
    if chunk.is_some_and(|chunk| chunk.texts[0].kind == SourceKind::Epd) {
        return 0;
    }
    let games = games(bytes);
    let texts = games.iter().filter_map(|game| Some((game, commented(name, bytes, game)?)));
    let mut texts: Vec<(&Game, [Vec<u8>; 2])> = texts.collect();
    texts.reverse();
    for side in [0, 1] {
        let mut whole: Vec<u8> = Vec::new();
        for (index, (_, text)) in texts.iter().enumerate() {
            if let Some(before) = index.checked_sub(1) {
                whole.extend(separator(&texts[before].1[side], &text[side]));
            }
            whole.extend_from_slice(&text[side]);
        }
        let found = super::games(&whole);
        assert_eq!(found.len(), texts.len(), "{name}: {}", String::from_utf8_lossy(&whole));
        for (found, (game, _)) in found.iter().zip(&texts) {
            let same = |a: &Game, b: &Game| (a.start, &a.moves, a.outcome) == (b.start, &b.moves, b.outcome);
            assert!(same(found, game), "{name}: {found:?} is not {game:?}");
            let tagged = |tags: &[Tag]| {
                tags.len() == game.tags.len() + 1 && tags[0].value == b"?" && tags.ends_with(&game.tags)
            };
            assert!(found.tags == game.tags || tagged(&found.tags), "{name}: {:?}", found.tags);
        }
    }
    texts.len()
}

#[test(part = 2)]
fn games_of_real_files_stay_what_they_are() {
    let files = corpus_files();
    let pgn =
        files.iter().filter(|(_, path)| path.extension().is_some_and(|end| end.eq_ignore_ascii_case("pgn")));
    let checked: usize = pgn.map(|(name, path)| check(name, &std::fs::read(path).unwrap())).sum();
    assert!(checked > 80_000, "{checked}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, rng_seed: RngSeed::Fixed(3), ..ProptestConfig::default() })]

    #[test]
    fn mutilated_games_stay_what_they_are(text in fragments()) {
        let head = "[Event \"x\"]\n\n1. e4 e5 *\n";
        check(&text, format!("{head}{text}").as_bytes());
    }

    #[test]
    fn a_text_that_goes_on_has_the_same_games(text in fragments(), end in 0..200usize) {
        let text = format!("1. e4 e5\n{text}");
        let bytes = text.as_bytes();
        if let Some(found) = game_text(&bytes[..end.min(bytes.len())], CAP) {
            prop_assert_eq!(found, first_game(bytes, CAP));
        }
    }
}
