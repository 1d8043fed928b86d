//! Tests `--similar` as its users run it.

use std::collections::HashMap;

use serde_json::Value;

use crate::program::{SAMPLE, rows, run, stdout};

const BOARD: &str = "r1bq1rk1/pp3ppp/2n1pn2/3p4/1bPP4/2NBPN2/PP3PPP/R1BQ1RK1";

/// Returns the pieces and pawns of a FEN with their squares, such as `Nf3`.
fn men(fen: &str) -> Vec<String> {
    let mut out = Vec::new();
    for (row, text) in fen.split(' ').next().unwrap().split('/').enumerate() {
        let mut file = b'a';
        for letter in text.chars() {
            match letter.to_digit(10) {
                Some(skipped) => file += skipped as u8,
                None => {
                    out.push(format!("{letter}{}{}", char::from(file), 8 - row));
                    file += 1;
                }
            }
        }
    }
    out
}

/// Returns the men with their colours swapped.
fn swapped(men: &[String]) -> Vec<String> {
    let other = |man: &String| {
        let (letter, square) = man.split_at(1);
        let letter = letter.chars().next().unwrap();
        let letter =
            if letter.is_uppercase() { letter.to_ascii_lowercase() } else { letter.to_ascii_uppercase() };
        let rank: u32 = square[1..].parse().unwrap();
        format!("{letter}{}{}", &square[..1], 9 - rank)
    };
    men.iter().map(other).collect()
}

fn sorted(mut men: Vec<String>) -> Vec<String> {
    men.sort();
    men
}

fn list(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|man| man.as_str().unwrap().to_owned()).collect()
}

#[test]
fn games_come_by_the_likeness_of_their_best_position() {
    let rows = rows(&["--similar", BOARD, "--flipcolor", SAMPLE]);
    assert_eq!(rows.len(), 50);
    let mut last = i64::MAX;
    let mut ways = Vec::new();
    for row in &rows {
        let here = men(row["fen"].as_str().unwrap());
        let copies = [men(BOARD), swapped(&men(BOARD))];
        let right = |copy: &[String]| copy.iter().filter(|man| here.contains(man)).count();
        let way = usize::from(right(&copies[1]) > right(&copies[0]));
        let copy = &copies[way];
        ways.push(way);
        let value = (200 * right(copy) / (copy.len() + here.len())) as i64;
        assert_eq!(row["value"].as_i64(), Some(value));
        assert!(value <= last, "{value} behind {last}");
        last = value;
        let without = |all: &[String], others: &[String]| -> Vec<String> {
            sorted(all.iter().filter(|man| !others.contains(man)).cloned().collect())
        };
        assert_eq!(sorted(list(&row["missing"])), without(copy, &here));
        assert_eq!(sorted(list(&row["besides"])), without(&here, copy));
        assert_eq!(row["transform"], ["as written", "colours swapped"][way]);
    }
    assert!(ways.contains(&0) && ways.contains(&1), "{ways:?}");
}

#[test]
fn the_best_position_of_a_game_is_its_only_hit() {
    let query = format!("similar \"{BOARD}\"");
    let all = stdout(&["scan", "--format", "values", "-q", &query, SAMPLE]);
    let best = stdout(&["scan", "--best", "--format", "values", "-q", &query, SAMPLE]);
    let read = |text: &str| -> Vec<[i64; 3]> {
        let words = |line: &str| line.split(' ').map(|word| word.parse().unwrap()).collect::<Vec<i64>>();
        text.lines().map(|line| words(line).try_into().unwrap()).collect()
    };
    let mut due: Vec<[i64; 3]> = Vec::new();
    for row in read(&all) {
        match due.last_mut() {
            Some(last) if last[0] == row[0] => {
                if row[2] > last[2] {
                    *last = row;
                }
            }
            _ => due.push(row),
        }
    }
    assert_eq!(due.len(), 1000);
    assert_eq!(read(&best), due);
}

/// `--best` keeps only the best hit of each game. The matching copies (transformed patterns) of the other hits must also be
/// removed.
#[test]
fn the_best_hit_has_its_own_copies() {
    for query in ["flip count {Nf3 or Nd5}", "shift flipcolor (N attacks k)"] {
        let best = rows(&["--best", query, SAMPLE]);
        let all = rows(&[query, SAMPLE]);
        let place = |row: &Value| (row["game"].as_u64().unwrap(), row["ply"].as_u64().unwrap());
        let columns = ["copy", "copies", "pattern", "transform", "matched", "value", "squares"];
        let of_place: HashMap<_, &Value> = all.iter().map(|row| (place(row), row)).collect();
        for row in &best {
            let same = of_place[&place(row)];
            for column in columns {
                assert_eq!(row[column], same[column], "{query}: {column} at {:?}", place(row));
            }
        }
        // Some copies (transformed patterns) must differ from those in the first rows without `--best`. Otherwise, the comparison
        // above could succeed by accident.
        let first: Vec<&Value> = all.iter().take(best.len()).map(|row| &row["copy"]).collect();
        assert!(best.iter().zip(first).any(|(row, copy)| row["copy"] != *copy), "{query}");

        let counts = stdout(&["scan", "-q", "--best", "--copies", "-F", "jsonl", query, SAMPLE]);
        let counts: Value = serde_json::from_str(&counts).unwrap();
        let counts = counts["copies"].as_array().unwrap();
        let told: u64 = counts.iter().map(|copy| copy["positions"].as_u64().unwrap()).sum();
        let due: u64 = best.iter().map(|row| row["copies"].as_u64().unwrap()).sum();
        assert_eq!(told, due, "{query}");
    }
    let (code, _, stderr) = run(&["scan", "--best", "check", SAMPLE]);
    assert_eq!(code, Some(2));
    assert!(stderr.contains("--best needs a query whose value is a number or a set"), "{stderr}");
}

#[test]
fn what_the_order_contradicts_is_refused() {
    for option in ["--sort=elo", "--reverse", "--sample=3", "--first"] {
        let (code, _, stderr) = run(&["scan", "--similar", BOARD, option, "games/sample.pgn"]);
        assert_eq!(code, Some(2), "{option}");
        assert!(stderr.contains("leave out --sort, --reverse, --sample and --first"), "{option}: {stderr}");
    }
    let (code, stdout, stderr) = run(&["explain", "--similar", BOARD, "--shift"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains("200 * (shift similar"), "{stdout}");
}
