//! Compares the fast paths with the general path, on damaged real games and on random ones.

use std::ops::Range;

use fastrand::Rng;
use shakmaty::fen::Fen;
use shakmaty::san::SanPlus;
use shakmaty::{CastlingMode, Chess, Position as _};

use super::super::parse::{GameParser, QuickWays};
use super::super::{Game, ParseOptions};
use super::block::TextBlock;
use super::classes::Classes;
use super::instructions::{Base, Instructions as _};
use orbit_core::isa::Isa;

/// Evaluates the expression `$work`, in which `$with` is the proof that the processor has the instruction set `$isa`.
macro_rules! on {
    ($isa:expr, $with:ident => $work:expr) => {
        match $isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2($with) => $work,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512($with) => $work,
            _ => {
                let $with = Base;
                $work
            }
        }
    };
}

/// Returns all combinations of code paths. The first one uses no fast path.
fn ways() -> Vec<QuickWays> {
    let general = QuickWays { plain: false, quick: None };
    let plain = QuickWays { plain: true, quick: None };
    let quick = Isa::available().into_iter().map(|isa| QuickWays { plain: true, quick: Some(isa) });
    [general, plain].into_iter().chain(quick).collect()
}

fn read(text: &[u8], ways: QuickWays, cap: usize, options: &ParseOptions) -> (Vec<Game>, u64) {
    let mut games = Vec::new();
    let side_lines = GameParser::by(options, ways).pgn(text, 1000, cap, &mut |game| games.push(game.clone()));
    (games, side_lines)
}

/// Counts the half-moves read and the games cut.
#[derive(Default, Debug)]
struct Seen {
    moves: usize,
    cut: usize,
    games: usize,
}

fn compare(text: &[u8], cap: usize, seen: &mut Seen) {
    for (tags, variations) in [(true, false), (false, false), (true, true)] {
        let options = ParseOptions { tags, variations, ..ParseOptions::default() };
        let all = ways();
        let general = read(text, all[0], cap, &options);
        for &way in &all[1..] {
            let found = read(text, way, cap, &options);
            assert!(
                found == general,
                "{way:?}, {cap} bytes a game at most, tags: {tags}, side lines: {variations}\n{}\n{:?}",
                String::from_utf8_lossy(text),
                found.0.iter().zip(&general.0).find(|(a, b)| a != b)
            );
        }
        seen.games += general.0.len();
        seen.moves += general.0.iter().map(|game| game.moves.len()).sum::<usize>();
        seen.cut += general.0.iter().filter(|game| game.status != super::super::GameStatus::Whole).count();
    }
}

/// Pieces of text to insert into movetext.
const PIECES: [&str; 47] = [
    "{ a }",
    "{e4",
    "}",
    "(",
    ")",
    "(1. e4 e5)",
    " $1 ",
    "!",
    "?!",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "\t",
    " ",
    "  ",
    "\n ",
    "1-0",
    "1/2-1/2",
    " * ",
    "0-1",
    " 1 - 0 ",
    " 0 -",
    "１－０",
    "0000. ",
    "000. ",
    "1.",
    "...",
    "\u{2026}",
    ". ",
    "12",
    "%",
    "\n%x\n",
    ";x\n",
    "\u{feff}",
    "\0",
    "-- ",
    "Z0 ",
    "N",
    "x",
    "+",
    "#",
    "O-O ",
    "O-O-O ",
    "e8=Q ",
    "[White \"x\"]\n",
    "\n[Event \"x\"]\n",
];

/// The bytes of movetext tokens, and a few others. Texts are damaged with random bytes from this list.
const LETTERS: &[u8] = b"abcdefgh12345678KQRBNOx+#=-. \n\r\"[]{}()\\0\xff";

fn damage(text: &mut Vec<u8>, random: &mut Rng) {
    for _ in 0..random.usize(0..6) {
        if text.is_empty() {
            return;
        }
        let at = random.usize(0..text.len());
        match random.u8(0..7) {
            0 => drop(text.remove(at)),
            1 => text.insert(at, LETTERS[random.usize(0..LETTERS.len())]),
            2 => text[at] = LETTERS[random.usize(0..LETTERS.len())],
            3 => {
                let other = random.usize(0..text.len());
                text.swap(at, other);
            }
            4 => text.truncate(at.max(1)),
            _ => drop(text.splice(at..at, PIECES[random.usize(0..PIECES.len())].bytes())),
        }
    }
}

fn with_line_ends(text: &[u8], random: &mut Rng) -> Vec<u8> {
    let text = String::from_utf8_lossy(text);
    match random.u8(0..4) {
        0 => text.replace('\n', "\r\n").into_bytes(),
        1 => text.replace(". ", ".").into_bytes(),
        _ => text.into_owned().into_bytes(),
    }
}

#[test]
fn damaged_games_are_read_alike() {
    let sample = orbit_games::SAMPLE;
    let starts: Vec<usize> = memchr::memmem::find_iter(sample, b"[Event ").collect();
    let mut random = Rng::with_seed(18);
    let mut seen = Seen::default();
    for _ in 0..3000 {
        let first = random.usize(0..starts.len() - 3);
        let games = &sample[starts[first]..starts[first + random.usize(1..3)]];
        let mut text = with_line_ends(games, &mut random);
        damage(&mut text, &mut random);
        let cap = if random.u8(0..4) == 0 { random.usize(20..2000) } else { usize::MAX };
        compare(&text, cap, &mut seen);
    }
    assert!(seen.moves > 200_000 && seen.cut > 1000, "{seen:?}");
}

/// Start positions whose random games contain checks, pins, promotions, en passant captures and all kinds of castling.
const STARTS: [&str; 7] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
    "8/8/3p4/KPp4r/1R3p1k/8/4P1P1/8 w - c6 0 1",
    "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
    "rk5r/8/2q5/8/8/5Q2/8/RK5R w HAha - 0 1",
    "3qk3/Q1q1q1q1/8/8/8/q1Q1Q1Q1/8/3QK3 w - - 0 1",
];

/// Returns a random game in which some tokens are moves from other positions.
fn random_game(start: &str, random: &mut Rng) -> String {
    let fen: Fen = start.parse().expect("a FEN");
    let mut chess: Chess = fen.into_position(CastlingMode::Chess960).expect("a legal position");
    let mut text = format!("[Event \"x\"]\n[Variant \"Chess960\"]\n[FEN \"{start}\"]\n\n1. ");
    let mut earlier = String::from("Nf3");
    for ply in 0..random.usize(20..120) {
        let legal = chess.legal_moves();
        if legal.is_empty() {
            break;
        }
        // Half of the quiet moves are replaced by another random move, which makes captures and promotions more frequent.
        let mut mv = legal[random.usize(..legal.len())];
        if !mv.is_capture() && mv.promotion().is_none() && random.bool() {
            mv = legal[random.usize(..legal.len())];
        }
        let word = SanPlus::from_move(chess.clone(), mv).to_string();
        match random.u8(0..200) {
            0 => text += &format!("{earlier} "),
            1 => text += "O-O ",
            2 => text += "O-O-O+ ",
            _ => {}
        }
        text += &word;
        text += if ply % 12 == 11 { "\n" } else { " " };
        if ply % 2 == 1 {
            text += &format!("{}. ", ply / 2 + 2);
        }
        earlier = word;
        chess.play_unchecked(mv);
    }
    // The fast path needs a full block, so it does not read the last tokens of a text. The long comment ensures that it reads all
    // moves.
    format!("{text} {{ and so on and so on and so on and so on and so on and so on and so on }} *\n")
}

#[test]
fn random_games_are_read_alike() {
    let mut random = Rng::with_seed(19);
    let mut seen = Seen::default();
    for start in STARTS.iter().cycle().take(1500) {
        compare(random_game(start, &mut random).as_bytes(), usize::MAX, &mut seen);
    }
    assert!(seen.moves > 100_000 && seen.cut > 1000 && seen.games == 4500, "{seen:?}");
}

/// The range of a token and, if it is an ordinary move, its contents.
type Word = (Range<usize>, Option<Vec<u64>>);

/// Returns the end of the last token of a block of text, and the ranges and contents of its tokens.
fn read_of(block: &TextBlock) -> (usize, Vec<Word>) {
    let sketches = &block.sketches;
    let sketch = |word: usize| {
        let [n0, n1, n2] = sketches.inverted.each_ref().map(|plane| plane[word]);
        let [t0, t1, t2] = sketches.put.each_ref().map(|plane| plane[word]);
        let places = [sketches.hint[word], sketches.reach[word], sketches.to[word], sketches.mv[word]];
        let squares =
            [sketches.target[word], sketches.pawn_target[word], sketches.takes[word], sketches.double[word]];
        [places, squares, [n0, n1, n2, 0], [t0, t1, t2, 0]].concat()
    };
    let words =
        (0..block.words()).map(|word| (block.word(word), (sketches.hint[word] != 0).then(|| sketch(word))));
    (block.end, words.collect())
}

#[test]
fn levels_read_blocks_alike() {
    let mut random = Rng::with_seed(20);
    let (mut words, mut usual) = (0, 0);
    for _ in 0..20_000 {
        let mut text = Vec::new();
        while text.len() < 80 {
            let letters = random.usize(1..11);
            match random.u8(0..12) {
                0 => text.extend(format!("{}. ", random.u16(0..2000)).bytes()),
                1 => text.extend(format!("{}...", random.u8(..)).bytes()),
                2 => text.extend((0..letters).map(|_| LETTERS[random.usize(0..LETTERS.len())])),
                3 => text.extend((0..letters).map(|_| LETTERS[random.usize(0..30)])),
                kind => {
                    let mut letter = |letters: &[u8]| letters[random.usize(0..letters.len())];
                    text.extend((kind < 9).then(|| letter(b"KQRBNPx")));
                    text.extend((kind % 4 == 0).then(|| letter(b"abcdefgh12345678")));
                    text.extend((kind % 3 == 0).then_some(b'x'));
                    text.extend([letter(b"abcdefgh"), letter(b"12345678")]);
                    text.extend((kind % 5 == 0).then(|| letter(b"+#!")));
                }
            }
            text.push(if random.u8(0..8) == 0 { b'\n' } else { b' ' });
        }
        let block_of = |isa| {
            let mut block = TextBlock::EMPTY;
            on!(isa, with => block.read(with, &text, 0));
            (isa, read_of(&block))
        };
        let mut levels = Isa::available().into_iter().map(block_of);
        let (_, base) = levels.next().expect("there is a base");
        for (isa, found) in levels {
            assert_eq!(found, base, "{isa:?} {:?}", String::from_utf8_lossy(&text));
        }
        words += base.1.len();
        usual += base.1.iter().filter(|word| word.1.is_some()).count();
    }
    assert!(words > 50_000 && usual > 30_000 && usual < words, "{usual} of {words}");
}

#[test]
fn levels_find_the_same_classes() {
    let mut random = Rng::with_seed(21);
    for _ in 0..20_000 {
        let block = std::array::from_fn(|_| match random.u8(0..8) {
            0 => random.u8(..),
            _ => LETTERS[random.usize(0..LETTERS.len())],
        });
        for isa in Isa::available() {
            let found = on!(isa, with => with.classes(&block));
            assert_eq!(found, Classes::one_by_one(&block), "{isa:?} {block:?}");
        }
    }
}
