//! Describes the value of a query in words: `king on g8`, `value 5`.

use super::words::{push_number, push_text};
use orbit_core::board::{Bitboard, Board, Code, Square, role_name};
use orbit_engine::Answer;
use orbit_transforms::{CopyDifference, Placement};

/// Describes the value of a query at a position in words. Returns an empty string if the query is only a condition. If the value is
/// a set of more than `squares_max` squares, only their number is given.
pub(super) fn label(value: (Answer, Option<&[u8]>), board: &Board, squares_max: usize) -> String {
    match value {
        (_, Some(text)) => {
            let mut out = Vec::new();
            push_text(&mut out, text);
            String::from_utf8_lossy(&out).into_owned()
        }
        (Answer::Num(Some(number)), _) => {
            let mut out = b"value ".to_vec();
            push_number(&mut out, number);
            String::from_utf8_lossy(&out).into_owned()
        }
        (Answer::Set(squares), _) => standing(squares, board, squares_max),
        (Answer::Num(None) | Answer::Bool(_), None) => String::new(),
    }
}

/// Appends the differences between a position and the board with which the query compares it: ` (flipcolor; missing Nc3, pe6;
/// besides Ng1)`.
pub(super) fn push_difference(difference: &CopyDifference, label: &mut String) {
    let mut parts = Vec::new();
    if difference.placement != Placement::IDENTITY {
        parts.push(difference.placement.to_string());
    }
    for (name, men) in [("missing", &difference.missing), ("besides", &difference.besides)] {
        if !men.is_empty() {
            parts.push(format!("{name} {}", men.join(", ")));
        }
    }
    if !parts.is_empty() {
        label.push_str(&format!(" ({})", parts.join("; ")));
    }
}

/// Describes the pieces on some squares: `rook on a1, pawns on a2, b2`. Colours are named if there are pieces of both colours.
fn standing(squares: Bitboard, board: &Board, squares_max: usize) -> String {
    let mut groups: Vec<(Code, Vec<Square>)> = Vec::new();
    for square in squares {
        let content = board.at(square);
        match groups.iter_mut().find(|(known, _)| *known == content) {
            Some((_, squares)) => squares.push(square),
            None => groups.push((content, vec![square])),
        }
    }
    let is_of = |white: bool| {
        groups.iter().any(|(code, _)| code.piece().is_some_and(|piece| piece.color.is_white() == white))
    };
    let has_both = is_of(true) && is_of(false);
    match (&groups[..], squares.count()) {
        ([(code, _)], count) if count > squares_max => {
            format!("{count} {}s", code.piece().map_or("empty square", |piece| role_name(piece.role)))
        }
        (_, count) if count > squares_max => format!("{count} squares"),
        (groups, _) => {
            let parts = groups.iter().map(|(code, squares)| group(*code, squares, has_both));
            parts.collect::<Vec<_>>().join(", ")
        }
    }
}

fn group(content: Code, squares: &[Square], has_both: bool) -> String {
    let names: Vec<String> = squares.iter().map(Square::to_string).collect();
    let (names, s) = (names.join(", "), if squares.len() > 1 { "s" } else { "" });
    match content.piece() {
        None => format!("empty square{s} {names}"),
        Some(piece) => {
            let color = match (has_both, piece.color.is_white()) {
                (false, _) => "",
                (true, true) => "white ",
                (true, false) => "black ",
            };
            format!("{color}{}{s} on {names}", role_name(piece.role))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orbit_core::board::Position;

    #[test]
    fn squares_are_named_by_what_stands_on_them() {
        let board = &Position::STANDARD.board;
        for (squares, max, expected) in [
            (&["e8"][..], 4, "king on e8"),
            (&["d2", "e2", "a1"], 4, "rook on a1, pawns on d2, e2"),
            (&["e1", "e8"], 4, "white king on e1, black king on e8"),
            (&["e4"], 4, "empty square e4"),
            (&["e4", "d4"], 4, "empty squares d4, e4"),
            (&["a2", "b2", "c2"], 2, "3 pawns"),
            (&["a1", "b2", "c2"], 2, "3 squares"),
            (&["a4", "b4", "c4"], 2, "3 empty squares"),
        ] {
            let squares: Bitboard = squares.iter().map(|name| name.parse::<Square>().unwrap()).collect();
            assert_eq!(label((Answer::Set(squares), None), board, max), expected);
        }
        assert_eq!(label((Answer::Num(Some(-3)), None), board, 4), "value -3");
        assert_eq!(label((Answer::Set(Bitboard::EMPTY), Some(b"a \"b\"")), board, 4), r#""a \"b\"""#);
        assert_eq!(label((Answer::Bool(true), None), board, 4), "");
    }
}
