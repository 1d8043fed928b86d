//! Compares positions up to symmetry.

use std::fmt;

use shakmaty::{Board, ByRole, Setup};

use super::{SquareTransform, Transform};
use crate::board::{Bitboard, Dihedral};

/// A group of symmetries. The composition of any two of its transformations is also in the group.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SymmetryGroup {
    /// The eight symmetries of the board. Most of them do not preserve the moves of pawns or castling.
    Dihedral,
    /// The identity and the colour flip, which swaps the roles of White and Black.
    Color,
    /// All combinations of a symmetry of the board and the colour flip: sixteen transformations.
    All,
}

/// One of the sixteen transformations of [`SymmetryGroup::All`]: an optional colour flip, followed by a symmetry of the board.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Symmetry {
    /// True if the colours are flipped first, as [`super::flip_colors`] does.
    pub colors: bool,
    /// The symmetry of the board that is applied after the colour flip.
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

    /// Returns whether a board equals its image under this symmetry, piece by piece. The side to move and the castling rights are
    /// not part of a board.
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

/// Writes the symmetry in the notation that [`super::names`] reads.
impl fmt::Display for Symmetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.colors, self.dihedral) {
            (true, Dihedral::Identity) => f.write_str("flip-colors"),
            (true, dihedral) => write!(f, "flip-colors,{}", super::names::of_dihedral(dihedral)),
            (false, dihedral) => f.write_str(super::names::of_dihedral(dihedral)),
        }
    }
}

/// Returns the canonical image of a position and the symmetry that maps the position to it. Two positions have the same canonical
/// image if and only if one is an image of the other.
///
/// The canonical image is the smallest of all images. They are compared by these values, one after the other: side to move (White
/// first), occupied squares, squares of White, pawns, knights, bishops, rooks, queens, kings, promoted pieces, castling rights, en
/// passant square, pockets and remaining checks. Sets are compared as numbers, with a1 as the lowest bit. So if the group has the
/// colour flip, White is to move in every canonical image. The counters stay unchanged.
#[must_use]
pub fn canonical(setup: &Setup, group: SymmetryGroup) -> (Setup, Symmetry) {
    group
        .symmetries()
        .map(|symmetry| (symmetry.apply(setup), symmetry))
        .min_by(|(a, _), (b, _)| key(a).cmp(&key(b)))
        .expect("every group holds the identity")
}

/// Returns the key by which images are compared. Two positions with the same key differ only in their counters.
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
