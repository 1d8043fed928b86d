//! Tests `similar` on boards that are arrays of letters. For each copy (transformed pattern), the test counts the *men* (pieces
//! and pawns) that are on the required squares. The value of `similar` must be the largest count, on all engines.

use fastrand::Rng;
use orbit_engine::Answer;

use crate::{
    common::{block_of, length::length, position},
    runners::Runner,
};

/// The required men of a placement: file and rank, both from 0, and letter.
type Men = Vec<(i8, i8, char)>;

const PLACEMENTS: &[&str] = &[
    "8/8/8/8/3N4/5k2/8/8",
    "8/8/8/8/8/8/5PPP/5RK1",
    "5rk1/5ppp/5n2/8/8/8/8/8 w - -",
    "8/8/8/3A4/2a1_3/8/8/8",
    "8/p3p3/8/1P1k1P2/8/2K5/8/8",
    "r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3",
    "8/8/8/8/2PPPP2/2PPPP2/2PPPP2/2PPPP2",
];

fn men(fen: &str) -> Men {
    let mut out = Vec::new();
    for (row, text) in fen.split(' ').next().unwrap().split('/').enumerate() {
        let mut file = 0;
        for letter in text.chars() {
            match letter.to_digit(10) {
                Some(skipped) => file += skipped as i8,
                None => {
                    out.push((file, 7 - row as i8, letter));
                    file += 1;
                }
            }
        }
    }
    out
}

fn turned(men: &Men, of: impl Fn(i8, i8) -> (i8, i8)) -> Men {
    men.iter()
        .map(|&(x, y, letter)| {
            let (x, y) = of(x, y);
            (x, y, letter)
        })
        .collect()
}

/// A rotation or reflection, as a function on squares (file, rank).
type Way = fn(i8, i8) -> (i8, i8);

fn flipped(all: Vec<Men>) -> Vec<Men> {
    let ways: [Way; 8] = [
        |x, y| (x, y),
        |x, y| (7 - x, y),
        |x, y| (x, 7 - y),
        |x, y| (7 - x, 7 - y),
        |x, y| (y, x),
        |x, y| (7 - y, x),
        |x, y| (y, 7 - x),
        |x, y| (7 - y, 7 - x),
    ];
    all.iter().flat_map(|men| ways.map(|way| turned(men, way))).collect()
}

fn recoloured(all: Vec<Men>) -> Vec<Men> {
    let swapped = |letter: char| match letter.is_uppercase() {
        true => letter.to_ascii_lowercase(),
        false => letter.to_ascii_uppercase(),
    };
    let other = |men: &Men| men.iter().map(|&(x, y, letter)| (x, 7 - y, swapped(letter))).collect();
    all.iter().flat_map(|men| [men.clone(), other(men)]).collect()
}

/// Returns all shifted placements that keep every man on the board.
fn shifted(all: Vec<Men>) -> Vec<Men> {
    let ways = || (-7..8).flat_map(|dx| (-7..8).map(move |dy| (dx, dy)));
    let shifts = |men: &Men| -> Vec<Men> {
        ways()
            .map(|(dx, dy)| turned(men, |x, y| (x + dx, y + dy)))
            .filter(|men| men.iter().all(|(x, y, _)| (0..8).contains(x) && (0..8).contains(y)))
            .collect()
    };
    all.iter().flat_map(shifts).collect()
}

/// The name of a transform, and its effect on placements.
type Transform = (&'static str, fn(Vec<Men>) -> Vec<Men>);

const TRANSFORMS: [Transform; 5] = [
    ("", |all| all),
    ("flip", flipped),
    ("flipcolor", recoloured),
    ("shift", shifted),
    ("shift flip flipcolor", |all| shifted(flipped(recoloured(all)))),
];

/// A board: the letter on each square, by rank and then file. A blank is an empty square.
type Board = [[char; 8]; 8];

const LETTERS: [char; 13] = ['P', 'N', 'B', 'R', 'Q', 'K', 'p', 'n', 'b', 'r', 'q', 'k', ' '];

fn stands(board: &Board, (x, y, letter): (i8, i8, char)) -> bool {
    let here = board[y as usize][x as usize];
    match letter {
        'A' => here.is_ascii_uppercase(),
        'a' => here.is_ascii_lowercase(),
        '_' => here == ' ',
        _ => here == letter,
    }
}

fn right(board: &Board, men: &Men) -> i32 {
    men.iter().filter(|&&man| stands(board, man)).count() as i32
}

/// Returns a board that resembles one of several copies (transformed patterns): some men are missing, and others are added.
fn near(rng: &mut Rng, copies: &[Men]) -> Board {
    let copy = &copies[rng.usize(..copies.len())];
    let mut board = [[' '; 8]; 8];
    let missing = rng.f32();
    for &(x, y, letter) in copy {
        let letter = match letter {
            'A' => 'B',
            'a' => 'q',
            '_' => ' ',
            _ => letter,
        };
        if rng.f32() > missing {
            board[y as usize][x as usize] = letter;
        }
    }
    for _ in 0..rng.usize(..12) {
        board[rng.usize(..8)][rng.usize(..8)] = *rng.choice(&LETTERS).unwrap();
    }
    board
}

fn fen(board: &Board) -> String {
    let rank = |rank: &[char; 8]| rank.map(|letter| if letter == ' ' { '1' } else { letter });
    let ranks: Vec<String> = board.iter().rev().map(|row| rank(row).iter().collect()).collect();
    format!("{} w - - 0 1", ranks.join("/"))
}

#[test]
fn men_that_stand_right_are_counted_under_transforms() {
    let mut values = std::collections::BTreeSet::new();
    let mut number = 0;
    for placement in PLACEMENTS {
        for (words, copies) in TRANSFORMS {
            let copies = copies(vec![men(placement)]);
            number += 1;
            let mut rng = Rng::with_seed(7 + number as u64);
            let count = if length().is_long(number) { 200 } else { 40 };
            let boards: Vec<Board> = (0..count).map(|_| near(&mut rng, &copies)).collect();
            let positions: Vec<_> = boards.iter().map(|board| position(&fen(board))).collect();
            let block = block_of(&positions);
            let all_due: Vec<Option<i32>> =
                boards.iter().map(|board| copies.iter().map(|men| right(board, men)).max()).collect();
            values.extend(all_due.iter().flatten().copied());
            let query = format!("({words} similar \"{placement}\")");
            for runner in Runner::all(number) {
                let answers =
                    runner.answers(&query, &block).unwrap_or_else(|error| panic!("{query}: {error}"));
                for ((board, &due), answer) in boards.iter().zip(&all_due).zip(answers) {
                    assert_eq!(answer, Answer::Num(due), "{query}, {}, {}", runner.name, fen(board));
                }
            }
        }
    }
    assert!((0..16).all(|value| values.contains(&value)), "{values:?}");
}

/// Compares the engines on sums of conditions, like those that `similar` computes, but also with weights, constants and conditions
/// of other kinds. The reference engine computes the expected values.
#[test]
fn sums_of_squares_are_the_same_on_all_engines() {
    let queries = [
        "(shift (#Kd4 + 3 * #[Pp]d3-5 + 2))",
        "(shift flip {wtm #(Nd4|Pe5|Pe4) + #[Bb]c-d2})",
        "(shift {Kd4 #(Pd5|pd6|pe6) * 5})",
        "(shift (#(Kd4 & .) * 2 * 2 + 1))",
        "(shifthorizontal flipcolor #(Pa2|Pb2|Pc2|Pd3|Pe3|Pf2|Pg2))",
        "(shift (#(Pa2|Pb2|Pc2|Pd3|Pe3) >= 3))",
        "(shift #(Pa2|Pb2|Pc2|Pd3|Pe3|Pf2) <= 1)",
        "shift count {Kd4 #(Pc2|Pb2|Pd3|Pe3|Pf2) == 2}",
        "shift count (#(Pc2|Pb2|Pd3|Pe3|Pf2) != 2)",
        "(shift (#(Qd4|Qd5) - #(qe4|qe5)))",
    ];
    let mut rng = Rng::with_seed(8);
    let copies = shifted(recoloured(vec![men("8/8/3p4/3PP3/3KN3/3P4/PPPP1PPP/8")]));
    let boards: Vec<_> = (0..400).map(|_| position(&fen(&near(&mut rng, &copies)))).collect();
    for (number, query) in queries.into_iter().enumerate() {
        let count = if length().is_long(number) { 400 } else { 100 };
        let block = block_of(&boards[..count]);
        let due =
            Runner::reference().answers(query, &block).unwrap_or_else(|error| panic!("{query}: {error}"));
        let found: std::collections::BTreeSet<_> = due.iter().map(|answer| format!("{answer:?}")).collect();
        assert!(found.len() > 1, "{query}: {found:?}");
        for runner in Runner::all(number) {
            assert_eq!(runner.answers(query, &block).unwrap(), due, "{query}, {}", runner.name);
        }
    }
}
