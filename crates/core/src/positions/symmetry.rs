//! Positions up to symmetry.

use std::fmt;

use shakmaty::{Board, ByRole, Setup};

use super::{SquareTransform, Transform};
use crate::board::{Bitboard, Dihedral};

/// A set of transformations that is closed under composition.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SymmetryGroup {
    /// The eight symmetries of the board. Pawns and castling lose their meaning.
    Dihedral,
    /// The position and its colour flip, which plays the same.
    Color,
    /// Both: sixteen transformations.
    All,
}

/// One of the sixteen transformations: perhaps a colour flip, then a symmetry of the board.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Symmetry {
    /// True if colours are flipped first, as by [`super::flip_colors`].
    pub colors: bool,
    /// The symmetry that is applied then.
    pub dihedral: Dihedral,
}

impl SymmetryGroup {
    /// Returns the transformations of the group, the identity first.
    pub fn symmetries(self) -> impl Iterator<Item = Symmetry> {
        let dihedral = if self == SymmetryGroup::Color { &Dihedral::ALL[..1] } else { &Dihedral::ALL[..] };
        let colors = if self == SymmetryGroup::Dihedral { &[false][..] } else { &[false, true] };
        colors.iter().flat_map(|&colors| dihedral.iter().map(move |&dihedral| Symmetry { colors, dihedral }))
    }
}

impl Symmetry {
    /// Returns the image of a position.
    #[must_use]
    pub fn apply(self, setup: &Setup) -> Setup {
        let map = Transform::Squares(SquareTransform::Dihedral(self.dihedral));
        let image = if self.colors { map.setup(&super::flip_colors(setup)) } else { map.setup(setup) };
        image.expect("a symmetry sends each square to one of its own")
    }

    /// Returns whether a board is its own image, with every piece and colour. The side to move and the rights are not part of a
    /// board.
    ///
    /// ```
    /// use orbit_core::positions::{Board, SymmetryGroup};
    /// let own = |fen: &str| {
    ///     let board: Board = fen.parse().unwrap();
    ///     SymmetryGroup::All.symmetries().filter(|s| s.fixes(&board)).map(|s| s.to_string()).collect::<Vec<_>>()
    /// };
    /// assert_eq!(own("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"), ["identity", "flip-colors"]);
    /// // Its squares are symmetric, but not its pieces.
    /// assert_eq!(own("8/8/8/8/8/8/8/R6N"), ["identity"]);
    /// ```
    pub fn fixes(self, board: &Board) -> bool {
        let setup = Setup { board: board.clone(), ..Setup::empty() };
        self.apply(&setup).board == *board
    }
}

/// Writes the names that [`super::names`] reads.
impl fmt::Display for Symmetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.colors, self.dihedral) {
            (true, Dihedral::Identity) => f.write_str("flip-colors"),
            (true, dihedral) => write!(f, "flip-colors,{}", super::names::of_dihedral(dihedral)),
            (false, dihedral) => f.write_str(super::names::of_dihedral(dihedral)),
        }
    }
}

/// Returns the canonical image of a position, and the symmetry that leads to it: two positions have the same canonical image if
/// and only if one is an image of the other.
///
/// It is the smallest image in this order: side to move (White first), occupied squares, white, pawns, knights, bishops, rooks,
/// queens, kings, promoted pieces, castling rights (sets as numbers, with a1 as the lowest bit), en passant square, pockets and
/// remaining checks. So in a group with the colour flip, White is always to move. The counters stay unchanged.
#[must_use]
pub fn canonical(setup: &Setup, group: SymmetryGroup) -> (Setup, Symmetry) {
    group
        .symmetries()
        .map(|symmetry| (symmetry.apply(setup), symmetry))
        .min_by(|(a, _), (b, _)| key(a).cmp(&key(b)))
        .expect("every group holds the identity")
}

/// Returns the key by which positions are ordered. Two positions with the same key differ only in counters.
fn key(setup: &Setup) -> impl Ord + use<> {
    let board = &setup.board;
    let words = [
        board.occupied(),
        board.white(),
        board.pawns(),
        board.knights(),
        board.bishops(),
        board.rooks(),
        board.queens(),
        board.kings(),
        setup.promoted,
        setup.castling_rights,
    ];
    let side = |side: ByRole<u8>| [side.pawn, side.knight, side.bishop, side.rook, side.queen, side.king];
    let pockets = setup.pockets.map(|pockets| [side(pockets.white), side(pockets.black)]);
    let checks = setup.remaining_checks.map(|checks| (checks.white, checks.black));
    (setup.turn.is_black(), words.map(|Bitboard(word)| word), setup.ep_square, pockets, checks)
}
