//! Transforms boards and whole positions.

use shakmaty::{Board, ByColor, ByRole, Castles, CastlingMode, Color, File, Setup};

use super::SquareTransform;
use crate::board::{Bitboard, Dihedral};
use crate::fen::possible_en_passant;

/// The error for transformed sets of squares that do not form a board: a square would have two pieces, or a piece would have no
/// colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "two pieces have the same image: use a function that sends different squares to different squares, or drops them"
)]
pub struct NotABoard;

/// Applies a function of square sets to a board: to the set of each colour and to the set of each role. All pieces keep their
/// colours and roles.
///
/// Source: chessops, `transformBoard`, which returns an inconsistent board where this function returns an error.
///
/// # Errors
///
/// Returns [`NotABoard`] if the function sends two pieces to one square.
///
/// ```
/// use orbit_core::positions::{Board, transform_board};
/// let flipped = transform_board(&Board::new(), |squares| squares.flip_vertical()).unwrap();
/// assert_eq!(flipped.to_string(), "RNBQKBNR/PPPPPPPP/8/8/8/8/pppppppp/rnbqkbnr");
/// ```
#[inline]
pub fn transform_board(board: &Board, f: impl Fn(Bitboard) -> Bitboard) -> Result<Board, NotABoard> {
    let (roles, colors) = board.clone().into_bitboards();
    let roles = ByRole {
        pawn: f(roles.pawn),
        knight: f(roles.knight),
        bishop: f(roles.bishop),
        rook: f(roles.rook),
        queen: f(roles.queen),
        king: f(roles.king),
    };
    let colors = ByColor { black: f(colors.black), white: f(colors.white) };
    Board::try_from_bitboards(roles, colors).map_err(|_| NotABoard)
}

/// Applies a function of square sets to a position: to the board, the promoted pieces, the castling rights (the set of rook
/// squares) and the en passant square. The side to move, the counters, the pockets and the remaining checks stay unchanged.
///
/// Castling rights and the en passant square are kept even if they are impossible on their new squares;
/// [`without_impossible_rights`] removes them. If the function drops the en passant square, the result has none. If it returns
/// several squares for it, the result has the lowest.
///
/// Source: chessops, `transformSetup`.
///
/// # Errors
///
/// Returns [`NotABoard`] if the function sends two pieces to one square.
#[inline]
pub fn transform_setup(setup: &Setup, f: impl Fn(Bitboard) -> Bitboard) -> Result<Setup, NotABoard> {
    Ok(Setup {
        board: transform_board(&setup.board, &f)?,
        promoted: f(setup.promoted),
        castling_rights: f(setup.castling_rights),
        ep_square: setup.ep_square.and_then(|square| f(square.into()).first()),
        ..*setup
    })
}

/// Flips the colours of a position as CQL does: pieces, pockets, remaining checks and the side to move change colour, and ranks are
/// mirrored. The position then looks to the new side to move as it looked to the old one. The counters stay unchanged.
///
/// Source: CQL manual, `flipcolor`.
#[must_use]
pub fn flip_colors(setup: &Setup) -> Setup {
    setup.clone().into_mirrored()
}

/// Returns the position as Black sees it across the board, turned by 180 degrees. Pieces keep their colours, and the side to move
/// stays the same. Pawns then move the wrong way, so the result is only for display.
///
/// Source: chessops documentation, "View from Black's Perspective".
#[must_use]
pub fn view_from_black(setup: &Setup) -> Setup {
    let turn = |set: Bitboard| set.rotate_180();
    transform_setup(setup, turn).expect("a turn sends each square to one of its own")
}

/// Reflects the files if White's king is on one of the files a to d. Mirror images in Chess960 can then be compared. If there is
/// not exactly one white king, the position is returned unchanged.
///
/// A reflection changes the meaning of castling rights, since in Chess960 castling ends on the same squares for every start
/// position.
///
/// Source: chessops documentation, "Chess960 Analysis". The sample code there treats the square a1, number 0, as "no king"; here
/// a king on a1 is reflected like any other.
#[must_use]
pub fn king_side(setup: &Setup) -> Setup {
    match setup.board.king_of(Color::White) {
        Some(king) if king.file() < File::E => transform_setup(setup, Bitboard::flip_horizontal)
            .expect("a reflection sends each square to one of its own"),
        _ => setup.clone(),
    }
}

/// Removes impossible rights. These are castling rights whose king or rook is not on the back rank (on any of its squares, as in
/// Chess960), and an en passant square that no pawn can just have passed over.
#[must_use]
pub fn without_impossible_rights(setup: &Setup) -> Setup {
    let castles = Castles::from_setup(setup, CastlingMode::Chess960).unwrap_or_else(|castles| castles);
    Setup {
        castling_rights: castles.castling_rights(),
        ep_square: possible_en_passant(setup),
        ..setup.clone()
    }
}

/// A single transform, as named in [`super::names`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Transform {
    /// Squares move, with the pieces on them.
    Squares(SquareTransform),
    /// Flips the colours, see [`flip_colors`].
    Colors,
    /// Reflects the files if White's king is on the files a to d: see [`king_side`].
    KingSide,
}

/// The reason why a transform cannot be applied.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransformError {
    /// A CQL 5 shift was applied to pieces instead of a set of squares.
    #[error(
        "a shift of CQL 5 keeps squares of the edge that it leaves, so that one piece would become several: give a \
         set of squares with --squares, or shift pieces with `shift` or `wrap`"
    )]
    Smears,
    /// [`king_side`] was applied to a set of squares, which has no king.
    #[error(
        "it depends on the square of White's king, and a set of squares has no king: write `flip-files`, or leave it out"
    )]
    NeedsKing,
}

impl Transform {
    /// Returns the image of a set of squares. Under a colour flip, this is its reflection with ranks 1 and 8 exchanged.
    ///
    /// # Errors
    ///
    /// Returns [`TransformError::NeedsKing`].
    pub fn squares(self, set: Bitboard) -> Result<Bitboard, TransformError> {
        match self {
            Transform::Squares(map) => Ok(map.apply(set)),
            Transform::Colors => Ok(SquareTransform::Dihedral(Dihedral::ReflectRanks).apply(set)),
            Transform::KingSide => Err(TransformError::NeedsKing),
        }
    }

    /// Returns the image of a board. Under a CQL 6 shift, pieces that leave the board are dropped.
    ///
    /// # Errors
    ///
    /// Returns [`TransformError::Smears`].
    pub fn board(self, board: &Board) -> Result<Board, TransformError> {
        let setup = Setup { board: board.clone(), ..Setup::empty() };
        self.setup(&setup).map(|setup| setup.board)
    }

    /// Returns the image of a position. Under a CQL 6 shift, everything that leaves the board is dropped: pieces, even kings,
    /// castling rights and the en passant square.
    ///
    /// # Errors
    ///
    /// Returns [`TransformError::Smears`].
    #[inline]
    pub fn setup(self, setup: &Setup) -> Result<Setup, TransformError> {
        match self {
            Transform::Squares(map @ SquareTransform::Smear(..)) if !map.is_bijection() => {
                Err(TransformError::Smears)
            }
            Transform::Squares(map) => Ok(transform_setup(setup, |set| map.apply_to_pieces(set))
                .expect("each square has one image at most, and no two have the same")),
            Transform::Colors => Ok(flip_colors(setup)),
            Transform::KingSide => Ok(king_side(setup)),
        }
    }
}
