//! Tests side lines (variations): the lines that are kept, the numbers of their nodes, and the main lines, which must not depend
//! on side lines.

use orbit_pgn::{Annotation, AnnotationKind, Game, ParseOptions, SideLine, Sources};

use super::*;

fn options() -> ParseOptions {
    let mut options = ParseOptions::default();
    (options.variations, options.annotations) = (true, true);
    options
}

/// Returns the games of a PGN text with their side lines, and the number of dropped side lines.
fn trees(bytes: &[u8]) -> (Vec<Game>, u64) {
    let mut sources = Sources::from_bytes("test", bytes.to_vec());
    let (mut games, mut lost) = (Vec::new(), 0);
    while let Some(chunk) = sources.next_chunk() {
        lost += chunk.parse(&options(), &mut |_, game| games.push(game.clone()));
    }
    (games, lost)
}

/// Returns the side lines of the only game in a PGN text, each as `PARENT.SIBLING MOVES`.
fn lines(text: &str) -> Vec<String> {
    let (games, _) = trees(text.as_bytes());
    assert_eq!(games.len(), 1, "{text}");
    let shown = |SideLine { parent, sibling, moves }: &SideLine| {
        let moves = moves.iter().map(|mv| format!(" {}{}", mv.from(), mv.to()));
        format!("{parent}.{sibling}{}", moves.collect::<String>())
    };
    games[0].lines.iter().map(shown).collect()
}

/// Returns the problems with side lines in the only game of a PGN text.
fn lost(text: &str) -> Vec<String> {
    let (games, count) = trees(text.as_bytes());
    assert_eq!(games.len(), 1, "{text}");
    let found: Vec<String> =
        games[0].lost.iter().map(|fault| format!("{}: {}", fault.ply, fault.reason)).collect();
    assert!(count >= found.iter().filter(|reason| reason.contains("left out")).count() as u64, "{text}");
    found
}

#[test]
fn nodes_are_numbered_from_the_deepest_on() {
    assert_eq!(
        lines(
            "1. e4 e5 (1... c5 2. Nf3 (2. Nc3 Nc6) 2... d6) (1... e6 2. d4) 2. Nf3 (2. f4 exf4 (2... d5)) Nc6 *"
        ),
        ["2.1 f2f4 e5f4", "5.1 d7d5", "1.1 c7c5 g1f3 d7d6", "8.1 b1c3 b8c6", "1.2 e7e6 d2d4"]
    );
    // An alternative to the first move of a side line branches off from the same node as the side line.
    assert_eq!(
        lines("1. e4 (1. d4 (1. c4 c5) (1. b4) 1... d5) (1. a4) 1... e5 *"),
        ["0.1 d2d4 d7d5", "0.2 c2c4 c7c5", "0.3 b2b4", "0.4 a2a4"]
    );
    assert_eq!(lines("1. e4 e5 (1... -- 2. d4) *"), ["1.1 a1a1 d2d4"]);
    assert_eq!(
        lines("[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n\n1. e4 (1. e3 Kd7 (1... Kf7)) Kd7 *"),
        ["0.1 e2e3 e8d7", "3.1 e8f7"]
    );
    // A side line (variation) may be unclosed, or open with a bracket instead of a parenthesis. It may also follow the last move.
    assert_eq!(lines("1. e4 e5 (1... c5"), ["1.1 c7c5"]);
    assert_eq!(lines("1. e4 e5 [1... c5] 2. Nf3 *"), ["1.1 c7c5"]);
    assert_eq!(lines("1. e4 e5 (1... c5) 1-0"), ["1.1 c7c5"]);
}

#[test]
fn what_cannot_be_kept_is_told_and_the_rest_kept() {
    let game = "1. e4 e5 () (1... Nf3 2. d4 (2. c4)) (1... c5 2. Qh9 Nc6) (1... d5) 2. Nf3 *";
    assert_eq!(lines(game), ["1.1 c7c5", "1.2 d7d5"]);
    assert_eq!(
        lost(game),
        [
            "2: a side line is left out: without moves",
            "2: a side line is left out: Nf3 is illegal here",
            "2: a side line is cut: Qh9 is no move",
        ]
    );
    assert_eq!(
        lost("[Event \"a\"]\n\n(1. e4) 1. d4 *"),
        ["0: a side line is left out: before the first move"]
    );
    // Side lines that replace the move at which the main line was cut, or later moves, are dropped.
    let cut = "1. e4 e5 (1... c5) 2. Ke3 (2. Nf3) Nc6 (2... d6) *";
    assert_eq!(lines(cut), ["1.1 c7c5"]);
    assert_eq!(lost(cut), ["2: 2 side lines are left out: at a move that was not kept"]);
    assert_eq!(lines("1. e4 e5 (1... c5 2. Ke3 (2. Nf3)) *"), ["1.1 c7c5"]);
    assert_eq!(lost("1. e4 () () (1. x) (1. y) *").len(), 2);
    let (games, count) = trees(b"1. e4 () () (1. Ke2) (1. d4) (1. Ke3) *");
    assert_eq!((games[0].lines.len(), count), (1, 4));
}

#[test]
fn depth_and_number_have_limits() {
    // Each side line is an alternative to the second move of the line that contains it.
    let deep = |depth: usize| {
        let lines = [" (Nc6 a3", " (Nc3 a6", " (Nb8 a3", " (Nb1 a6"];
        let inner: String = lines.iter().copied().cycle().take(depth).collect();
        format!("1. Nf3 Nf6{inner}{} *", ")".repeat(depth))
    };
    let (games, count) = trees(deep(2).as_bytes());
    assert_eq!((games[0].lines.len(), count), (2, 0), "{:?}", games[0].lost);
    let (games, count) = trees(deep(255).as_bytes());
    assert_eq!((games[0].lines.len(), count), (255, 0), "{:?}", games[0].lost);
    let (games, count) = trees(deep(257).as_bytes());
    assert_eq!((games[0].lines.len(), count), (255, 2));
    assert_eq!(games[0].lost[0].reason, "a side line is left out: more than 255 deep");
    let many = "1. e4 ".to_owned() + &"(1. d4) ".repeat(65_540) + "e5 *";
    let (games, count) = trees(many.as_bytes());
    assert_eq!((games[0].lines.len(), count), (65_535, 5));
    assert_eq!(games[0].lost[0].reason, "5 side lines are left out: more than 65,535 in a game");
    assert_eq!(games[0].moves.len(), 2);
}

#[test]
fn comments_and_glyphs_stand_at_their_nodes() {
    let text = "[Event \"a\"]\n\n{Start} 1. e4! {best by test} e5 $1 $14 ({why not} 1... c5?! 2. Nf3 ; so\n (2. c3)) 2. Nf3 {a} {b} Nc6 *";
    let (games, _) = trees(text.as_bytes());
    let shown = |Annotation { node, kind }: &Annotation| match kind {
        AnnotationKind::Before(text) => format!("{node} before {}", String::from_utf8_lossy(text)),
        AnnotationKind::Comment(text) => format!("{node} {}", String::from_utf8_lossy(text)),
        AnnotationKind::Nag(glyph) => format!("{node} ${glyph}"),
    };
    let found: Vec<String> = games[0].annotations.iter().map(shown).collect();
    let expected = [
        "0 Start",
        "1 $1",
        "1 best by test",
        "2 $1",
        "2 $14",
        "3 a",
        "3 b",
        "5 before why not",
        "5 $6",
        "6 so",
    ];
    assert_eq!(found, expected);
    // Comments are dropped if they are in a dropped side line or after the place where the game was cut.
    let (games, _) = trees(b"1. e4 (1. Ke3 {no} $1) e5 2. Ke3 {no} $2 *");
    assert_eq!(games[0].annotations, []);
}

/// Returns the game without its side lines.
fn main_line(game: &Game) -> Game {
    Game { lines: Vec::new(), annotations: Vec::new(), lost: Vec::new(), ..game.clone() }
}

#[test]
fn main_lines_do_not_depend_on_side_lines() {
    let mut count = (0, 0);
    for (name, path) in corpus_files() {
        let bytes = std::fs::read(path).unwrap();
        let mut sources = Sources::from_bytes("test", bytes);
        while let Some(chunk) = sources.next_chunk() {
            let mut plain = Vec::new();
            let all = chunk.parse(&ParseOptions::default(), &mut |_, game| plain.push(game.clone()));
            let (mut next, mut kept) = (0, 0);
            let lost = chunk.parse(&options(), &mut |_, game| {
                assert_eq!(main_line(game), plain[next], "{name}, game {}", game.number);
                kept += game.lines.len() as u64;
                next += 1;
            });
            assert_eq!(next, plain.len(), "{name}");
            // The text may have more parentheses than side lines: `e8(Q)` is a promotion, even in a dropped side line.
            assert!(kept + lost <= all, "{name}: {kept} and {lost} of {all}");
            count = (count.0 + kept, count.1 + lost);
        }
    }
    eprintln!("{} side lines kept, {} not", count.0, count.1);
    assert!(count.0 > 30_000, "{count:?}");
}
