//! A position that the user gives as a FEN or as moves, and that every hit must have.

use std::str::FromStr;

use shakmaty::san::SanPlus;
use shakmaty::{Chess, Position as _};

use orbit_core::board::{Code, PackedMove, Position, legal};
use orbit_core::fen::{self, FenRecord, Leniency};

/// The position that every hit must have. Positions are compared as for threefold repetition: see [`legal::as_counted`].
///
/// ```
/// use orbit_search::choice::ExactPosition;
///
/// let moves: ExactPosition = "1. d4 d5 2. e4".parse().unwrap();
/// let fen: ExactPosition = "rnbqkbnr/ppp1pppp/8/3p4/3PP3/8/PPP2PPP/RNBQKBNR b KQkq - 0 2".parse().unwrap();
/// assert_eq!(moves, fen);
/// assert_ne!(moves, "d4 d5 e3".parse().unwrap());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExactPosition(Position);

impl ExactPosition {
    /// Returns the position in the form in which positions are compared.
    pub fn position(&self) -> &Position {
        &self.0
    }

    /// Returns true if `position` is the same.
    pub fn is(&self, position: &Position) -> bool {
        position.board == self.0.board && legal::as_counted(position) == self.0
    }

    /// Returns the board with all its pieces and the side to move, in the form that `--board` accepts. `_` is an empty
    /// square.
    pub(crate) fn board(&self) -> String {
        let letter = |code: Code| code.piece().map_or(b'_', |piece| piece.char() as u8);
        let board = fen::board_text(|square| Some(letter(self.0.board.at(square))));
        format!("{board} {}", self.0.state.turn().char())
    }
}

impl FromStr for ExactPosition {
    type Err = String;

    /// Reads a FEN, whose last fields may be missing, or moves from the standard start position.
    fn from_str(text: &str) -> Result<ExactPosition, String> {
        let position = if text.contains('/') {
            let leniency = Leniency { any_rest: true, ..Leniency::NONE };
            let record =
                FenRecord::read(text.as_bytes(), leniency).map_err(|error| error.message.to_string())?;
            Position::from_setup(&record.setup)
        } else {
            after(text)?
        };
        Ok(ExactPosition(legal::as_counted(&position)))
    }
}

/// Returns the position after moves in SAN, with or without move numbers.
fn after(text: &str) -> Result<Position, String> {
    let (mut chess, mut position) = (Chess::new(), Position::standard());
    let words =
        text.split(|letter: char| letter.is_whitespace() || letter == '.').filter(|word| !word.is_empty());
    for word in words.filter(|word| !word.bytes().all(|byte| byte.is_ascii_digit())) {
        let san: SanPlus = word.parse().map_err(|_| {
            format!("`{word}` is no move: write a FEN, or moves from the start such as `e4 c5 Nf3`")
        })?;
        let mv = san.san.to_move(&chess).map_err(|_| format!("`{word}` is no legal move where it stands"))?;
        position.play(PackedMove::from_shakmaty(mv, chess.turn()));
        chess.play_unchecked(mv);
    }
    Ok(position)
}
