//! Names of pieces, squares, relations and kinds of pieces in English.

use shakmaty::{Bitboard, Color, Piece, Role, Square};

use crate::tree::{Arith, Cmp, PawnKind, Pieces, PureKind, Squares, SquaresOp, Text, TextOp};
use orbit_core::board::{Code, PieceSet, role_name};

/// The maximum number of squares that a description lists one by one.
const SQUARES_MAX: usize = 4;

fn color(color: Color) -> &'static str {
    if color.is_white() { "white" } else { "black" }
}

/// Lists the pieces in a set, White's first.
fn listed(pieces: PieceSet) -> Vec<Piece> {
    [6, 5, 4, 3, 2, 1, 14, 13, 12, 11, 10, 9]
        .map(Code)
        .into_iter()
        .filter(|code| pieces.contains(*code))
        .filter_map(Code::piece)
        .collect()
}

/// Returns the only piece that a designator names. Returns `None` if the designator names several pieces, or the empty square.
pub(super) fn single(pieces: Pieces) -> Option<Piece> {
    let accepts = pieces.accepts();
    match &listed(accepts)[..] {
        [piece] if !accepts.contains(Code::EMPTY) => Some(*piece),
        _ => None,
    }
}

/// Returns the colour of a designator's pieces. Returns `None` if the designator names pieces of both colours, or the empty square.
pub(super) fn side(pieces: Pieces) -> Option<Color> {
    let all = listed(pieces.accepts());
    let side = all.first()?.color;
    (!pieces.accepts().contains(Code::EMPTY) && all.iter().all(|piece| piece.color == side)).then_some(side)
}

/// Returns the names of pieces without an article: `white queen or rook` or, if `plural` is true,
/// `white queens or rooks`.
fn named(pieces: Pieces, plural: bool) -> Option<String> {
    let accepts = pieces.accepts();
    let s = if plural { "s" } else { "" };
    let is = |set: PieceSet| accepts == set;
    if accepts == PieceSet::ALL {
        return Some(format!("square{s}"));
    } else if is(PieceSet::EMPTY) {
        return Some(format!("empty square{s}"));
    } else if is(PieceSet::WHITE) {
        return Some(format!("white piece{s}"));
    } else if is(PieceSet::BLACK) {
        return Some(format!("black piece{s}"));
    } else if is(PieceSet::WHITE.union(PieceSet::BLACK)) {
        return Some(format!("piece{s}"));
    } else if accepts.contains(Code::EMPTY) {
        return None;
    }
    let pieces = listed(accepts);
    let of = |side: Color| -> Vec<String> {
        pieces
            .iter()
            .filter(|piece| piece.color == side)
            .map(|piece| format!("{}{s}", role_name(piece.role)))
            .collect()
    };
    let (white, black) = (of(Color::White), of(Color::Black));
    Some(match (white.is_empty(), black.is_empty()) {
        (true, true) => return None,
        (false, true) => format!("white {}", super::listed(&white, "or")),
        (true, false) => format!("black {}", super::listed(&black, "or")),
        // The designator names the same kinds of pieces for both sides, so the colour is left out.
        (false, false) if white == black => super::listed(&white, "or"),
        (false, false) => {
            format!("white {} or black {}", super::listed(&white, "or"), super::listed(&black, "or"))
        }
    })
}

/// Returns the names of kinds of pieces without a colour: `queen or rook`.
pub(super) fn kinds(pieces: PieceSet) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    for piece in listed(pieces) {
        let name = role_name(piece.role).to_owned();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    (!names.is_empty()).then(|| super::listed(&names, "or"))
}

/// Describes the location of a piece: ` on d4`, ` on rank 7`. The text is empty for the whole board.
fn place(squares: Bitboard) -> Option<String> {
    if squares == Bitboard::FULL {
        return Some(String::new());
    }
    let names: Vec<String> = squares.into_iter().map(|square| square.to_string()).collect();
    if !names.is_empty() && names.len() <= SQUARES_MAX {
        return Some(format!(" on {}", super::listed(&names, "or")));
    }
    let files: Vec<u32> = lines(squares, |square| square.file() as u32);
    let ranks: Vec<u32> = lines(squares, |square| square.rank() as u32);
    if files.len() * ranks.len() != squares.count() {
        return None;
    }
    let file = |file: u32| char::from(b'a' + file as u8).to_string();
    let span = |lines: &[u32], name: &dyn Fn(u32) -> String| match lines {
        [one] => Some(name(*one)),
        [first, .., last] if (last - first) as usize + 1 == lines.len() => {
            Some(format!("{} to {}", name(*first), name(*last)))
        }
        lines => Some(super::listed(&lines.iter().map(|line| name(*line)).collect::<Vec<_>>(), "or")),
    };
    let s = |lines: &[u32]| if lines.len() == 1 { "" } else { "s" };
    let in_files = span(&files, &file)?;
    let in_ranks = span(&ranks, &|rank| (rank + 1).to_string())?;
    Some(match (files.len(), ranks.len()) {
        (8, _) => format!(" on rank{} {in_ranks}", s(&ranks)),
        (_, 8) if files.len() == 1 => format!(" on the {in_files}-file"),
        (_, 8) => format!(" on the files {in_files}"),
        _ => format!(" on the files {in_files} of the ranks {in_ranks}"),
    })
}

fn lines(squares: Bitboard, line: impl Fn(Square) -> u32) -> Vec<u32> {
    let mut lines: Vec<u32> = squares.into_iter().map(line).collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

/// Describes a designator with a noun phrase without an article: `white knight on d4`.
pub(super) fn bare(pieces: Pieces, squares: Bitboard) -> Option<String> {
    Some(format!("{}{}", named(pieces, false)?, place(squares)?))
}

/// Describes a designator with a noun phrase and its article: `a white knight`, `the black king on g8`.
pub(super) fn designator(pieces: Pieces, squares: Bitboard) -> Option<String> {
    let article = match single(pieces) {
        Some(piece) if piece.role == Role::King => "the",
        _ if pieces.accepts() == PieceSet::EMPTY => "an",
        _ => "a",
    };
    if pieces.accepts() == PieceSet::ALL && squares.count() == 1 {
        return Some(squares.single_square()?.to_string());
    }
    Some(format!("{article} {}", bare(pieces, squares)?))
}

/// Describes a designator with a noun phrase in the plural: `white pawns on rank 7`.
pub(super) fn plural(pieces: Pieces, squares: Bitboard) -> Option<String> {
    Some(format!("{}{}", named(pieces, true)?, place(squares)?))
}

/// Returns a clause that states that a designator is not empty: `a white knight stands on d4`.
pub(super) fn stands(pieces: Pieces, squares: Bitboard) -> Option<String> {
    if pieces.accepts() == PieceSet::ALL {
        return None;
    }
    if pieces.accepts() == PieceSet::EMPTY {
        let place = place(squares)?;
        return Some(match place.strip_prefix(" on ").filter(|_| squares.count() == 1) {
            Some(square) => format!("{square} is empty"),
            None => format!("there is an empty square{place}"),
        });
    }
    let name = designator(pieces, Bitboard::FULL)?;
    Some(match squares == Bitboard::FULL {
        true => format!("there is {}", name.replacen("the ", "a ", 1)),
        false => format!("{name} stands{}", place(squares)?),
    })
}

/// Returns a clause that states that a designator is empty.
pub(super) fn none_stands(pieces: Pieces, squares: Bitboard) -> Option<String> {
    if matches!(pieces.accepts(), PieceSet::ALL | PieceSet::EMPTY) {
        return None;
    }
    let name = named(pieces, false)?;
    Some(match squares == Bitboard::FULL {
        true => format!("there is no {name}"),
        false => format!("no {name} stands{}", place(squares)?),
    })
}

/// Describes the target square of a move: `g7`, `a square on rank 8`.
pub(super) fn target(to: &Squares) -> Option<String> {
    let SquaresOp::Designator { pieces, squares } = to.op() else { return None };
    designator(*pieces, *squares)
}

pub(super) fn pawn(kind: PawnKind) -> &'static str {
    match kind {
        PawnKind::Passed => "a passed pawn",
        PawnKind::Isolated => "an isolated pawn",
        PawnKind::Doubled => "a doubled pawn",
        PawnKind::Connected => "a connected pawn",
    }
}

pub(super) fn pure(kind: PureKind, mate: bool) -> String {
    let kind = match kind {
        PureKind::Pure => "a pure",
        PureKind::Model => "a model",
        PureKind::Ideal => "an ideal",
    };
    format!("it is {kind} {}", if mate { "mate" } else { "stalemate" })
}

/// Describes a string that is not a literal, such as `the name of a player`.
pub(super) fn text(text: &Text) -> Option<String> {
    Some(match text.op() {
        TextOp::Player(None) => "the name of a player".into(),
        TextOp::Player(Some(side)) => format!("the name of the player of the {} pieces", color(*side)),
        TextOp::Tag(name) => format!("the tag {name}"),
        _ => return None,
    })
}

pub(super) fn relation(cmp: Cmp) -> &'static str {
    match cmp {
        Cmp::Eq => "equal to",
        Cmp::Ne => "not",
        Cmp::Lt => "less than",
        Cmp::Le => "at most",
        Cmp::Gt => "greater than",
        Cmp::Ge => "at least",
    }
}

pub(super) fn arithmetic(op: Arith) -> &'static str {
    match op {
        Arith::Add => "plus",
        Arith::Sub => "minus",
        Arith::Mul => "times",
        Arith::Div => "divided by",
        Arith::Rem => "modulo",
    }
}

/// Returns a range of numbers in words: `2`, `2 to 5`.
pub(super) fn range(low: i32, high: i32) -> String {
    if low == high { low.to_string() } else { format!("{low} to {high}") }
}
