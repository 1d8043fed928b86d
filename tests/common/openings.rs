//! Plays the list of openings with shakmaty. Tests compare the openings of the resulting positions with those that `orbit` finds.

use std::collections::HashMap;

use shakmaty::uci::UciMove;
use shakmaty::{Chess, EnPassantMode, Position as _, fen::Fen};

/// Returns a position without its counters.
pub fn epd(chess: &Chess) -> String {
    let fen = Fen::from_position(chess, EnPassantMode::Legal).to_string();
    fen.rsplitn(3, ' ').last().unwrap().to_owned()
}

/// Returns the opening's ECO code and name for each position (EPD), computed from the list of openings.
pub fn listed() -> HashMap<String, (String, String)> {
    let text = include_str!("../../crates/core/src/game/openings.tsv");
    let (mut path, mut name, mut out) = (vec![Chess::new()], String::new(), HashMap::new());
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let mut words = fields[0].split(' ');
        path.truncate(words.next().unwrap().parse::<usize>().unwrap() + 1);
        for word in words {
            let mut chess = path.last().unwrap().clone();
            let uci: UciMove = word.parse().unwrap();
            chess.play_unchecked(uci.to_move(&chess).unwrap());
            path.push(chess);
        }
        name = name.chars().take(fields[2].parse().unwrap()).chain(fields[3].chars()).collect();
        let known = out.insert(epd(path.last().unwrap()), (fields[1].to_owned(), name.clone()));
        assert_eq!(known, None, "{line}");
    }
    out
}
