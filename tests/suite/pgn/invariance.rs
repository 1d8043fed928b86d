//! Tests that the result of parsing does not depend on the chunk size or the compression of a text, even if the text is damaged.

use orbit_pgn::Compression;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;

fn assert_same(name: &str, bytes: &[u8], chunk_bytes: usize, whole: &[Game]) {
    let found = games_with(bytes, chunk_bytes, 64 << 20);
    let different = whole.iter().zip(&found).find(|(a, b)| a != b);
    assert_eq!(different, None, "{name} in chunks of {chunk_bytes}");
    assert_eq!(whole.len(), found.len(), "{name} in chunks of {chunk_bytes}");
}

#[test]
fn chunk_size_does_not_matter() {
    for (name, path) in corpus_files() {
        let bytes = std::fs::read(path).unwrap();
        let whole = games_with(&bytes, usize::MAX >> 1, 64 << 20);
        for chunk_bytes in [1 << 10, 4 << 10] {
            assert_same(&name, &bytes, chunk_bytes, &whole);
        }
        if bytes.len() < 4 << 10 {
            assert_same(&name, &bytes, 1, &whole);
        }
    }
}

/// A result inside a side line of the last move ends the game, wherever the text is cut.
#[test]
fn a_result_in_a_side_line_counts_in_all_chunks() {
    let text = "1. e4 e5 (1... c5 1-0)\n\n".repeat(1000);
    let whole = games_with(text.as_bytes(), usize::MAX >> 1, 64 << 20);
    assert_eq!(whole.len(), 1000);
    assert!(whole.iter().all(|game| game.outcome == orbit_pgn::Outcome::WhiteWins));
    for chunk_bytes in [1, 100, 1 << 10] {
        assert_same("a side line", text.as_bytes(), chunk_bytes, &whole);
    }
}

/// A text that ends where a game reaches the maximum length is not cut there.
#[test]
fn a_game_may_have_the_maximum_length() {
    for text in ["1. e4 e5 *", "[White \"a\"]\n\n1. e4 e5 1-0\n", "1. e4 e5"] {
        let games = |bytes: usize| games_with(text.as_bytes(), usize::MAX >> 1, bytes);
        assert_eq!(games(text.len()), games(64 << 20), "{text}");
        assert_ne!(games(text.len() - 1), games(64 << 20), "{text}");
    }
}

/// Long tokens and lines take linear time. If one of these texts took quadratic time, it would take minutes.
#[test]
fn long_tokens_and_lines_are_read() {
    let texts = [
        format!("1. e4 e5 2. {} *", "O-O".repeat(300_000)),
        "0.".repeat(500_000),
        format!("1. e4 ({}\t) e5 *", "1.".repeat(500_000)),
        "1.…".repeat(200_000),
        format!("1. e4 e5 {} *", "[ ".repeat(500_000)),
        "[a \"x ".repeat(100_000),
    ];
    for text in texts {
        let whole = games_with(text.as_bytes(), usize::MAX >> 1, 64 << 20);
        assert_same(&text[..20], text.as_bytes(), 1 << 10, &whole);
    }
}

#[test]
fn small_chunks_are_really_cut() {
    let text = "[White \"a\"]\n\n1. e4 *\n\n".repeat(100);
    let mut options = Options::default();
    options.chunk_bytes = 64;
    let mut sources = Sources::from_bytes_with("test", text.clone().into_bytes(), options);
    let mut bytes = Vec::new();
    let mut chunks = 0;
    while let Some(chunk) = sources.next_chunk() {
        assert_eq!(chunk.index, chunks);
        assert!(chunk.texts.iter().all(|part| part.bytes.len() <= 256));
        for part in &chunk.texts {
            assert_eq!(part.offset as usize, bytes.len());
            bytes.extend_from_slice(&part.bytes);
        }
        chunks += 1;
    }
    assert_eq!(bytes, text.as_bytes());
    assert!(chunks > 20, "{chunks}");
}

type Pack = fn(&[u8]) -> Vec<u8>;
const PACKERS: [(Compression, Pack); 3] =
    [(Compression::Zstd, zst), (Compression::Gzip, gzip), (Compression::Bzip2, bzip)];

fn read_packed(bytes: Vec<u8>, compression: Compression) -> Vec<Game> {
    let mut games = Vec::new();
    let length = bytes.len() as u64;
    let sources = each_game(Sources::from_bytes("packed", bytes), &mut |_, game| games.push(game.clone()));
    assert_eq!(sources.failures(), []);
    assert_eq!(sources.sources()[0].compression, Some(compression));
    assert_eq!(sources.bytes_read(), length);
    games
}

const TEXT: &str = "[Event \"a\"]\n\n1. e4 e5 1-0\n\n[Event \"b\"]\n\n1. d4 Nf9 *\n";

#[test]
fn compression_does_not_matter() {
    let mut texts = vec![TEXT.repeat(1000).into_bytes()];
    if let Some(corpus) = corpus_if_any() {
        texts.push(std::fs::read(corpus.join("fen.pgn")).unwrap());
    }
    for text in texts {
        let plain = read_packed(text.clone(), Compression::Plain);
        let (front, back) = text.split_at(text.len() / 3);
        for (compression, pack) in PACKERS {
            assert_eq!(read_packed(pack(&text), compression), plain, "{compression:?}");
            let members = [pack(front), pack(back)].concat();
            assert_eq!(read_packed(members, compression), plain, "{compression:?}, two members");
        }
    }
}

#[test]
fn a_truncated_file_gives_its_games_and_a_failure() {
    let text = TEXT.repeat(100_000).into_bytes();
    for (compression, pack) in PACKERS {
        let mut bytes = pack(&text);
        bytes.truncate(bytes.len() - 7);
        let mut count = 0;
        let sources = each_game(Sources::from_bytes("packed", bytes), &mut |_, _| count += 1);
        let [failure] = sources.failures() else { panic!("{compression:?}: {:?}", sources.failures()) };
        assert!(failure.offset > 0 && failure.offset <= text.len() as u64, "{compression:?}: {failure:?}");
        assert!(failure.reason.ends_with("get it anew"), "{compression:?}: {failure:?}");
        assert!(count > 0, "{compression:?}");
    }
}

/// Generates PGN fragments. If they are joined, each can change how its neighbours are parsed.
pub(super) fn fragments() -> impl Strategy<Value = String> {
    let words: Vec<&'static str> = vec![
        "[Event \"a\"]",
        "[White \"b\"]",
        "[FEN \"4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1\"]",
        "[Site",
        "\"",
        "]",
        "[",
        "\n",
        "\n\n",
        "\r",
        "\r\n",
        " ",
        "\t",
        "\u{feff}",
        "{",
        "}",
        "(",
        ")",
        ";",
        "%",
        "$",
        "1.",
        "1...",
        "2.",
        "e4",
        "e5",
        "Nf3",
        "O-O",
        "--",
        "Kd1",
        "*",
        "1-0",
        "0-1",
        "1/2-1/2",
        "\\",
        "[Variant \"Atomic\"]",
        "x",
        "\0",
        "8/8/8/8/8/8/8/8 w - -",
        "e1g1",
        "½",
        "…",
        "0-0",
        "[Event \"",
        "[%clk 1]",
        "R8xg2",
    ];
    proptest::collection::vec(proptest::sample::select(words), 0..60).prop_map(|words| words.concat())
}

fn assert_invariant(bytes: &[u8], game_bytes_max: usize) {
    let whole = games_with(bytes, 1 << 20, game_bytes_max);
    for chunk_bytes in [1, 7, 50] {
        let found = games_with(bytes, chunk_bytes, game_bytes_max);
        assert_eq!(found, whole, "chunks of {chunk_bytes}, limit {game_bytes_max}");
    }
}

/// Tests a case that random tests found: a NUL before a tag pair, and an Event line after it.
#[test]
fn blanks_of_every_kind_may_stand_before_a_tag_pair() {
    for blank in ["\0", "\u{b}", "\u{1a}", " \0\t", "\u{feff}\0"] {
        let text = format!("[Site][Site8/8/8/8/8/8/8/8 w - -\n{blank}[White \"b\"]\r[Event \"a\"]");
        assert_invariant(text.as_bytes(), 64 << 20);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn mutilated_games_are_read_alike_in_any_chunks(text in fragments()) {
        assert_invariant(text.as_bytes(), 64 << 20);
    }

    #[test]
    fn any_bytes_are_read_alike_in_any_chunks(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        assert_invariant(&bytes, 64 << 20);
    }

    #[test]
    fn the_limit_of_a_game_is_the_same_in_any_chunks(text in fragments(), limit in 20usize..200) {
        assert_invariant(format!("1. e4\n{text}\n").as_bytes(), limit);
    }
}
