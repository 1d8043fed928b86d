//! An exact position that every hit must have. The user gives it as a FEN or as moves.

use std::str::FromStr;

use shakmaty::san::{San, SanPlus};
use shakmaty::uci::UciMove;
use shakmaty::{Chess, EnPassantMode, FromSetup as _, Position as _, PositionError, Square};

use orbit_core::board::{Code, PackedMove, Position, legal};
use orbit_core::fen::{self, FenRecord, Leniency};

/// The position that every hit must have. Positions are equal if they count as equal for threefold repetition: see
/// [`legal::as_counted`].
///
/// ```
/// use orbit_search::choice::ExactPosition;
///
/// let moves: ExactPosition = "1. d4 d5 2. e4".parse().unwrap();
/// let fen: ExactPosition = "rnbqkbnr/ppp1pppp/8/3p4/3PP3/8/PPP2PPP/RNBQKBNR b KQkq - 0 2".parse().unwrap();
/// assert_eq!(moves, fen);
/// assert_eq!(moves, "d2d4,d7d5,e2e4".parse().unwrap());
/// assert_ne!(moves, "d4 d5 e3".parse().unwrap());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExactPosition(Position);

impl ExactPosition {
    /// Returns the position in the normalized form that is used for comparisons: see [`legal::as_counted`].
    pub fn position(&self) -> &Position {
        &self.0
    }

    /// Returns whether `position` counts as equal to this position under the rule of threefold repetition.
    pub fn is(&self, position: &Position) -> bool {
        position.board == self.0.board && legal::as_counted(position) == self.0
    }

    /// Returns the placement of the pieces and the side to move in the syntax of `--board`, where `_` is an empty square.
    pub(crate) fn board(&self) -> String {
        let letter = |code: Code| code.piece().map_or(b'_', |piece| piece.char() as u8);
        let board = fen::board_text(|square| Some(letter(self.0.board.at(square))));
        format!("{board} {}", self.0.state.turn().char())
    }
}

impl FromStr for ExactPosition {
    type Err = String;

    /// Parses a position in one of the forms of [`WrittenPosition`].
    fn from_str(text: &str) -> Result<ExactPosition, String> {
        let position = match WrittenPosition::new(text) {
            WrittenPosition::Fen(fen) => read_fen(fen)?,
            WrittenPosition::Moves(moves) => {
                let mut chess = Chess::new();
                play(moves, &mut chess, |_, _| ())?;
                packed(&chess)
            }
        };
        Ok(ExactPosition(legal::as_counted(&position)))
    }
}

/// The text of a position, in one of two forms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WrittenPosition<'t> {
    /// A FEN. Its last fields may be missing.
    Fen(&'t str),
    /// Moves from the standard starting position, in SAN or UCI. A null move is `--` or `0000`. The word `start` becomes an empty
    /// string.
    Moves(&'t str),
}

impl<'t> WrittenPosition<'t> {
    /// Classifies a string as a FEN or a list of moves. The string is not validated.
    pub fn new(text: &'t str) -> WrittenPosition<'t> {
        match text.trim() {
            fen if fen.contains('/') => WrittenPosition::Fen(fen),
            "start" => WrittenPosition::Moves(""),
            moves => WrittenPosition::Moves(moves),
        }
    }
}

/// Returns a note for the user if a position has no castling rights although a king and a rook are on their home squares, because
/// the last fields of the FEN may have been left out by mistake.
pub fn missing_rights(position: &Position) -> Option<&'static str> {
    let is_at =
        |square, letter| position.board.at(square).piece().is_some_and(|piece| piece.char() == letter);
    let homes =
        [(Square::E1, 'K', [Square::A1, Square::H1], 'R'), (Square::E8, 'k', [Square::A8, Square::H8], 'r')];
    let could_castle = homes.into_iter().any(|(home, king, corners, rook)| {
        is_at(home, king) && corners.into_iter().any(|corner| is_at(corner, rook))
    });
    (could_castle && position.state.castling_rooks().is_empty()).then_some(
        "neither side may castle in this position: if that is not meant, write the castling rights in the FEN, such as `w KQkq`",
    )
}

/// Returns the position in the packed form that blocks (groups of games) store.
pub(crate) fn packed(chess: &Chess) -> Position {
    Position::from_setup(&chess.to_setup(EnPassantMode::Always))
}

/// Reads a FEN. Its last fields may be missing.
pub(crate) fn read_fen(text: &str) -> Result<Position, String> {
    let record = FenRecord::read(text.trim().as_bytes(), Leniency::NONE);
    let record = record.map_err(|error| format!("{}, at character {}", error.message, error.start + 1))?;
    Ok(Position::from_setup(&record.setup))
}

/// Plays the moves in `text`, which are in SAN or UCI and are separated by blanks or commas. Move numbers are optional. `played` is
/// called with each move and the position after it.
pub(crate) fn play(
    text: &str,
    chess: &mut Chess,
    mut played: impl FnMut(PackedMove, &Chess),
) -> Result<(), String> {
    let is_between = |letter: char| letter == ',' || letter.is_whitespace();
    for word in text.split(is_between).filter(|word| !word.is_empty()) {
        let Some((mv, after)) = read_move(word, chess)? else { continue };
        *chess = after;
        played(mv, chess);
    }
    Ok(())
}

/// Reads a move in SAN or UCI. A move number may precede it, and castling may be written with zeros, as in `0-0`. A null
/// move, by which a side passes, is `--` or `0000`. Returns the move and the position after it, or `None` if `word` is only a move
/// number.
fn read_move(word: &str, chess: &Chess) -> Result<Option<(PackedMove, Chess)>, String> {
    let bare = match word.starts_with('0') {
        true => word,
        false => word.trim_start_matches(|letter: char| letter.is_ascii_digit()).trim_start_matches('.'),
    };
    if bare.is_empty() {
        return Ok(None);
    }
    let bare = bare.trim_end_matches(['!', '?']);
    let letters = if bare.starts_with("0-0") { bare.replace('0', "O") } else { bare.to_owned() };
    let san = letters.parse::<SanPlus>();
    let uci = bare.parse::<UciMove>();
    let is_move = san.is_ok() || uci.is_ok();
    let is_null = matches!(san, Ok(SanPlus { san: San::Null, .. })) || matches!(uci, Ok(UciMove::Null));
    let of_san = san.ok().and_then(|san| san.san.to_move(chess).ok());
    let read = of_san.or_else(|| uci.ok().and_then(|uci| uci.to_move(chess).ok()));
    let played = match read {
        Some(mv) => {
            let mut after = chess.clone();
            after.play_unchecked(mv);
            Some((PackedMove::from_shakmaty(mv, chess.turn()), after))
        }
        None if is_null => after_null(chess).map(|after| (PackedMove::NULL, after)),
        None => None,
    };
    played.map(Some).ok_or_else(|| {
        let fault = if is_move { "no legal move there" } else { "no move" };
        format!(
            "`{word}` is {fault}: write moves in SAN or UCI from the start, such as `e4 c5` or `e2e4,c7c5`"
        )
    })
}

/// Returns the position after a null move, or `None` if the side to move is in check and may not pass.
fn after_null(chess: &Chess) -> Option<Chess> {
    let mut setup = chess.to_setup(EnPassantMode::Always);
    if setup.turn.is_black() {
        setup.fullmoves = setup.fullmoves.saturating_add(1);
    }
    setup.halfmoves = setup.halfmoves.saturating_add(1);
    setup.swap_turn();
    Chess::from_setup(setup, chess.castles().mode())
        .or_else(PositionError::ignore_too_much_material)
        .or_else(PositionError::ignore_impossible_check)
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_moves_are_read_unless_the_side_is_in_check() {
        let read = |text: &str| text.parse::<ExactPosition>();
        let passed = read("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 1 2");
        assert!(passed.is_ok());
        for moves in ["e4 --", "e4 0000", "1. e4 --", "1. e4 1... --", "1.e4 1...0000", "e2e4,0000"] {
            assert_eq!(read(moves), passed, "{moves}");
        }
        for moves in ["e4 f5 Qh5 --", "e4 f5 Qh5 0000"] {
            let error = read(moves).unwrap_err();
            assert!(error.contains("is no legal move there"), "{error}");
        }
        // The pawn on d5 could be captured en passant only in the next move.
        assert_eq!(read("e4 -- e5 d5 -- --"), read("e4 d5 e5 --"));
        assert_ne!(read("e4 -- e5 d5"), read("e4 d5 e5 --"));
    }
}
