//! Names the opening of a game from its positions, so transpositions have the same name.
//!
//! The list of openings is from lichess; `tools/openings.py` wrote it to `openings.tsv`. A position is identified by its board, the
//! side to move, the castling rights, and the en passant square if a pawn may capture there. Whole positions are compared, not only
//! their hashes.

use std::sync::OnceLock;

use hashbrown::HashMap;

use super::eco::{self, Eco};
use crate::board::{Board, Code, PackedMove, Position, Square, legal};

/// A named opening.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Opening {
    /// The code of the opening.
    pub eco: Eco,
    /// The name of the opening: `Sicilian Defense: Najdorf Variation`.
    pub name: String,
}

/// The number of half-moves within which positions are looked up, as on lichess.
///
/// Source: `SEARCH_MAX_PLIES` of `OpeningDb` in <https://github.com/lichess-org/scalachess>.
const PLIES_MAX: usize = 40;

impl Opening {
    /// Returns the opening of a position, if the position is in the list.
    pub fn from_position(position: &Position) -> Option<&'static Opening> {
        known().get(&legal::with_usable_en_passant(position))
    }

    /// Returns the opening of a game: the opening of the last listed position within the first 40 half-moves of the main line.
    pub fn from_game(position: Position, moves: &[PackedMove]) -> Option<&'static Opening> {
        Opening::passed(position, moves).last()
    }

    /// Returns the openings of all listed positions within the first 40 half-moves of a game, in move order.
    pub fn passed(mut position: Position, moves: &[PackedMove]) -> impl Iterator<Item = &'static Opening> {
        moves.iter().take(PLIES_MAX).filter_map(move |&mv| {
            position.play(mv);
            Opening::from_position(&position)
        })
    }
}

const TEXT: &str = include_str!("openings.tsv");

/// Returns the map from positions to openings. The first call builds it from the list.
fn known() -> &'static HashMap<Position, Opening> {
    static KNOWN: OnceLock<HashMap<Position, Opening>> = OnceLock::new();
    KNOWN.get_or_init(|| entries().collect())
}

/// Returns each position of the list with its opening.
fn entries() -> impl Iterator<Item = (Position, Opening)> {
    let (mut path, mut name) = (vec![Position::STANDARD], String::new());
    TEXT.lines().filter(|line| !line.starts_with('#')).filter_map(move |line| {
        let mut fields = line.split('\t');
        let mut words = fields.next()?.split(' ');
        path.truncate(words.next()?.parse::<usize>().ok()? + 1);
        for word in words {
            let mut position = *path.last()?;
            position.play(packed(word, &position.board)?);
            path.push(position);
        }
        let eco = eco::of_value(fields.next()?.as_bytes())?;
        let letters = fields.next()?.parse().ok()?;
        name = name.chars().take(letters).chain(fields.next()?.chars()).collect();
        let position = legal::with_usable_en_passant(path.last()?);
        Some((position, Opening { eco, name: name.clone() }))
    })
}

/// Reads a move of the list, in UCI notation. Promotions do not occur, and castling is written as the king capturing its own rook.
fn packed(uci: &str, board: &Board) -> Option<PackedMove> {
    let (from, to) = uci.split_at_checked(2)?;
    let (from, to): (Square, Square) = (from.parse().ok()?, to.parse().ok()?);
    let (man, taken) = (board.at(from), board.at(to));
    let is_pawn = man.0 & 7 == 1;
    Some(match taken {
        Code::EMPTY if is_pawn && from.file() != to.file() => PackedMove::en_passant(from, to),
        Code::EMPTY => PackedMove::piece(from, to, man),
        // The king captures its own rook, so this is castling.
        _ if (man.0 ^ taken.0) & 8 == 0 => PackedMove::castle(from, to),
        _ => PackedMove::piece(from, to, man),
    })
}

#[cfg(test)]
mod tests {
    use shakmaty::san::San;
    use shakmaty::uci::UciMove;
    use shakmaty::{Chess, EnPassantMode, Position as _};

    use super::*;

    /// Returns the code and the name of the opening after `moves`, a text of moves in SAN.
    fn named(moves: &str) -> Option<String> {
        let (mut chess, mut packed) = (Chess::new(), Vec::new());
        for word in moves.split(' ') {
            let mv = word.parse::<San>().unwrap().to_move(&chess).unwrap();
            packed.push(PackedMove::from_shakmaty(mv, chess.turn()));
            chess.play_unchecked(mv);
        }
        let opening = Opening::from_game(Position::STANDARD, &packed)?;
        Some(format!("{} {}", opening.eco.as_str(), opening.name))
    }

    /// Checks that every line of the list can be read, that its moves are legal, and that no two lines name the same position.
    #[test]
    fn the_list_is_read_whole() {
        let lines = TEXT.lines().filter(|line| !line.starts_with('#'));
        let (mut path, mut count) = (vec![Chess::new()], 0);
        for line in lines {
            let mut words = line.split('\t').next().unwrap().split(' ');
            path.truncate(words.next().unwrap().parse::<usize>().unwrap() + 1);
            for word in words {
                let mut chess = path.last().unwrap().clone();
                let uci: UciMove = word.parse().unwrap();
                chess.play_unchecked(uci.to_move(&chess).unwrap());
                path.push(chess);
            }
            let setup = path.last().unwrap().to_setup(EnPassantMode::Legal);
            assert!(known().contains_key(&Position::from_setup(&setup)), "{line}");
            count += 1;
        }
        assert_eq!((count, known().len()), (3523, 3523));
        assert!(known().values().all(|opening| opening.name.len() > 4 && !opening.name.contains('\t')));
    }

    #[test]
    fn openings_are_named_by_their_positions() {
        let najdorf = Some("B90 Sicilian Defense: Najdorf Variation".to_owned());
        assert_eq!(named("e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6"), najdorf);
        assert_eq!(named("Nf3 c5 e4 a6 d4 cxd4 Nxd4 Nf6 Nc3 d6"), najdorf);
        // The last three moves lead to positions outside the list, so the name does not change.
        assert_eq!(named("e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6 Kd2 Rg8 Ke2"), najdorf);
        assert_eq!(named("a4").as_deref(), Some("A00 Ware Opening"));
        // If a pawn can capture a double step en passant, the position differs from the one that two single steps reach. If no
        // pawn can capture it, the positions are equal.
        assert_eq!(named("e4 Nf6 e5 d5").as_deref(), Some("B02 Alekhine Defense"));
        assert_eq!(named("Nf3 d5 g3 Nf6"), named("g3 Nf6 Nf3 d5"));
        assert_eq!(named("a3 e5 a4").as_deref(), Some("A00 Anderssen's Opening"));
    }
}
