//! Finds the differences between a position and the board that the filter `similar` compares with it.

use shakmaty::{Bitboard, Color, Square};

use super::{Filter, Number, NumberOrbit, Placement, Squares};
use orbit_core::board::{Board, Code, PieceSet};
use orbit_query::tree::{Kind as _, NumberOp, Pieces, Ref, SquaresOp};

/// The board of the first `similar` in a query, once for each copy of the transform around it.
#[derive(Clone, Debug)]
pub struct Likeness {
    copies: Vec<(Placement, Vec<Man>)>,
}

/// One requirement of the board in `similar`: a letter for the content of a square, and this square.
#[derive(Clone, Copy, Debug)]
struct Man {
    letter: char,
    accepts: PieceSet,
    square: Square,
}

/// The differences between a position and the copy (the transformed board) that is most similar to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CopyDifference {
    /// The composition of transforms that made the copy from the board as written.
    pub placement: Placement,
    /// The squares where the copy and the position agree.
    pub right: Bitboard,
    /// The requirements of the copy that the position does not meet, such as `Nf3`.
    pub missing: Vec<String>,
    /// The pieces of the position that the copy does not require.
    pub besides: Vec<String>,
}

impl Likeness {
    /// Creates the likeness of the first `similar` in a query. Returns `None` if the query has none.
    ///
    /// ```
    /// use orbit_core::board::{Color, Position};
    /// use orbit_transforms::Likeness;
    ///
    /// let text = "flipcolor similar \"8/8/8/8/4p3/8/4p3/4K3\"";
    /// let filter = orbit_transforms::expand(&orbit_query::parse(text).unwrap().query.body).unwrap();
    /// let difference = Likeness::new(&filter).unwrap().difference(&Position::STANDARD.board, Color::White);
    /// assert_eq!(difference.missing, ["pe2", "pe4"]);
    /// assert_eq!(difference.right.into_iter().map(|square| square.to_string()).collect::<Vec<_>>(), ["e1"]);
    /// ```
    #[doc(hidden)]
    pub fn new(filter: &Filter) -> Option<Likeness> {
        let mut found = None;
        filter.node().walk(&mut |filter| {
            if let (None, Ref::Number(number)) = (&found, filter) {
                found = Likeness::from_number(number);
            }
        });
        found
    }

    fn from_number(number: &Number) -> Option<Likeness> {
        let copies = match number.op() {
            NumberOp::Form(orbit) => match orbit {
                NumberOrbit::Largest(orbit) => {
                    let copies = orbit.copies.iter();
                    copies
                        .map(|copy| Some((copy.placement, men(&copy.filter)?)))
                        .collect::<Option<Vec<_>>>()?
                }
                NumberOrbit::Counted(..) => return None,
            },
            _ => vec![(Placement::IDENTITY, men(number)?)],
        };
        (!copies.is_empty()).then_some(Likeness { copies })
    }

    /// Compares a board with the most similar copy of the filter's board. If `side` is Black, the colours of `board` are swapped
    /// first. Of equally similar copies, the first is used.
    pub fn difference(&self, board: &Board, side: Color) -> CopyDifference {
        let seen = if side.is_white() { *board } else { board.colors_swapped() };
        let stands = |man: &&Man| man.accepts.contains(seen.at(man.square));
        let count = |(_, men): &&(Placement, Vec<Man>)| men.iter().filter(stands).count();
        // `max_by_key` returns the last of several maximal elements. The order is reversed to get the first.
        let best = self.copies.iter().rev().max_by_key(count);
        let (placement, men) = best.expect("there is a copy");
        let right: Bitboard = men.iter().filter(stands).map(|man| man.square).collect();
        let missing = men.iter().filter(|man| !right.contains(man.square));
        let mut missing: Vec<Man> = missing.copied().collect();
        missing.sort_by_key(|man| man.square);
        let besides = Square::ALL.into_iter().filter(|&square| !right.contains(square));
        let besides = besides.filter_map(|square| {
            let piece = seen.at(square).piece()?;
            Some(Man { letter: piece.char(), accepts: PieceSet::NONE, square })
        });
        let names = |men: &mut dyn Iterator<Item = Man>| men.map(|man| man.name(side)).collect();
        CopyDifference {
            placement: *placement,
            right: if side.is_white() { right } else { right.flip_vertical() },
            missing: names(&mut missing.into_iter()),
            besides: names(&mut besides.into_iter()),
        }
    }
}

impl Man {
    /// Returns the requirement as text, such as `Nf3`. If `side` is Black, the board was compared with its colours swapped, so the
    /// text has the piece of the other colour and the square on the mirrored rank.
    fn name(self, side: Color) -> String {
        let Man { letter, square, .. } = self;
        match side {
            Color::White => format!("{letter}{square}"),
            Color::Black if letter.is_ascii_uppercase() => {
                format!("{}{}", letter.to_ascii_lowercase(), square.flip_vertical())
            }
            Color::Black => format!("{}{}", letter.to_ascii_uppercase(), square.flip_vertical()),
        }
    }
}

/// Returns the requirements of an expanded `similar`, which counts the squares in a union of one-square designators. Returns `None`
/// if `number` does not have this form.
fn men(number: &Number) -> Option<Vec<Man>> {
    let NumberOp::Cardinality(set) = number.op() else { return None };
    let mut men = Vec::new();
    collect(set, &mut men)?;
    Some(men)
}

fn collect(set: &Squares, men: &mut Vec<Man>) -> Option<()> {
    match set.op() {
        SquaresOp::Union(a, b) => collect(a, men).and_then(|()| collect(b, men)),
        SquaresOp::Designator { pieces, squares } => {
            let square = squares.single_square()?;
            men.push(Man { letter: letter(*pieces)?, accepts: pieces.accepts(), square });
            Some(())
        }
        _ => None,
    }
}

fn letter(pieces: Pieces) -> Option<char> {
    match pieces {
        Pieces { all_white: true, .. } => Some('A'),
        Pieces { all_black: true, .. } => Some('a'),
        Pieces { list: PieceSet::EMPTY, .. } => Some('_'),
        Pieces { list, .. } => {
            (0..16).map(Code).find(|&code| list.contains(code))?.piece().map(|piece| piece.char())
        }
    }
}
