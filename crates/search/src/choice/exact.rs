//! A position that the user gives as a FEN or as moves, and that every hit must have.

use std::str::FromStr;

use shakmaty::san::SanPlus;
use shakmaty::uci::UciMove;
use shakmaty::{Chess, EnPassantMode, Move, Position as _, Square};

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
/// assert_eq!(moves, "d2d4,d7d5,e2e4".parse().unwrap());
/// assert_ne!(moves, "d4 d5 e3".parse().unwrap());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExactPosition(Position);

impl ExactPosition {
    /// Returns the position in the form in which positions are compared: see [`legal::as_counted`].
    pub fn position(&self) -> &Position {
        &self.0
    }

    /// Returns whether `position` equals this position, as for threefold repetition.
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

    /// Reads a position in the forms of [`WrittenPosition`].
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
    /// A FEN, whose last fields may be missing.
    Fen(&'t str),
    /// Moves from the usual start position, in SAN or UCI. The word `start` becomes an empty string.
    Moves(&'t str),
}

impl<'t> WrittenPosition<'t> {
    /// Decides whether a string is a FEN or a list of moves. Does not check that it is valid.
    pub fn new(text: &'t str) -> WrittenPosition<'t> {
        match text.trim() {
            fen if fen.contains('/') => WrittenPosition::Fen(fen),
            "start" => WrittenPosition::Moves(""),
            moves => WrittenPosition::Moves(moves),
        }
    }
}

/// Returns a note for a position without castling rights although a king and a rook are on their home squares. The user may have
/// left out the last fields of the FEN by mistake. Returns `None` for other positions.
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

/// Returns the position in the packed form in which blocks (groups of games) store positions.
pub(crate) fn packed(chess: &Chess) -> Position {
    Position::from_setup(&chess.to_setup(EnPassantMode::Always))
}

/// Reads a FEN, whose last fields may be missing.
pub(crate) fn read_fen(text: &str) -> Result<Position, String> {
    let record = FenRecord::read(text.trim().as_bytes(), Leniency::NONE);
    let record = record.map_err(|error| format!("{}, at character {}", error.message, error.start + 1))?;
    Ok(Position::from_setup(&record.setup))
}

/// Plays moves in SAN or UCI, separated by blanks or commas, with or without move numbers. Calls `played` with each move
/// and the position after it.
pub(crate) fn play(
    text: &str,
    chess: &mut Chess,
    mut played: impl FnMut(PackedMove, &Chess),
) -> Result<(), String> {
    let is_between = |letter: char| letter == ',' || letter.is_whitespace();
    for word in text.split(is_between).filter(|word| !word.is_empty()) {
        let Some(mv) = read_move(word, chess)? else { continue };
        let turn = chess.turn();
        chess.play_unchecked(mv);
        played(PackedMove::from_shakmaty(mv, turn), chess);
    }
    Ok(())
}

/// Reads a move in SAN or UCI, possibly with a move number before it. Castling may be written with zeros, as in `0-0`. Returns
/// `None` if there is only a number.
fn read_move(word: &str, chess: &Chess) -> Result<Option<Move>, String> {
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
    let of_san = san.ok().and_then(|san| san.san.to_move(chess).ok());
    let read = of_san.or_else(|| uci.ok().and_then(|uci| uci.to_move(chess).ok()));
    read.map(Some).ok_or_else(|| {
        let fault = if is_move { "no legal move there" } else { "no move" };
        format!(
            "`{word}` is {fault}: write moves in SAN or UCI from the start, such as `e4 c5` or `e2e4,c7c5`"
        )
    })
}
