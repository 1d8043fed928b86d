//! Reads the start position of a game from its tags. shakmaty reads the FEN.

use shakmaty::fen::Fen;
use shakmaty::{
    CastlingMode, Chess, EnPassantMode, FromSetup as _, Position as _, PositionError, PositionErrorKinds,
    Setup,
};

use super::rules::{Rule, Rules};
use super::visit::VisitedGame;
use orbit_core::board::Position;

/// The start of a game.
pub(super) struct WitnessStart {
    pub(super) position: Position,
    /// The position from which shakmaty plays, or `None` if no move can be played.
    pub(super) chess: Option<Chess>,
}

/// The names of standard chess in `Variant` tags, in lower case, with letters and digits only. The word `chess` at the start or the
/// end is removed.
const STANDARD: [&str; 14] = [
    "",
    "standard",
    "normal",
    "regular",
    "classical",
    "classic",
    "orthodox",
    "ordinary",
    "fide",
    "international",
    "western",
    "fromposition",
    "position",
    "setup",
];

/// The names of Chess960 in `Variant` tags, in the same form as in [`STANDARD`].
const CHESS960: [&str; 11] = [
    "960",
    "frc",
    "fischerandom",
    "fischerrandom",
    "fischerandom960",
    "fischerrandom960",
    "freestyle",
    "wildfr",
    "dfrc",
    "doublechess960",
    "doublefischerrandom",
];

/// Returns the start position from the tags of a game, or from its line in a list of positions. Adds the rules needed to read it to
/// `rules`. If `rules` is `None`, no rules are applied.
///
/// # Errors
///
/// Returns the reason why the game has no start position.
pub(super) fn read(found: &VisitedGame, mut rules: Option<&mut Rules>) -> Result<WitnessStart, String> {
    let value = |name: &str| {
        let mut tags = found.tags.iter().filter(|_| found.fen.is_none());
        let tag = tags.find(|tag| tag.name.eq_ignore_ascii_case(name.as_bytes()));
        tag.map(|tag| tag.value.as_slice())
    };
    let variant = value("Variant").map(String::from_utf8_lossy).unwrap_or_default();
    let letters = variant.chars().filter(char::is_ascii_alphanumeric);
    let letters: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
    let word = "chess";
    let name = letters.strip_suffix(word).or(letters.strip_prefix(word)).unwrap_or(&letters);
    let is_960 = CHESS960.contains(&name);
    if !is_960 && (!STANDARD.contains(&name) || letters.is_empty() && !variant.is_ascii()) {
        return Err(format!("variant {variant}"));
    }
    let is_blank = |fen: &&[u8]| fen.iter().all(|byte| matches!(byte, b' ' | b'?' | b'-'));
    let fen = match found.fen.as_deref().or(value("FEN")) {
        Some(fen) if is_blank(&fen) && rules.is_some() => {
            note(&mut rules, Rule::FenFields);
            None
        }
        fen => fen,
    };
    match fen {
        None if is_960 => Err("Chess960 without a FEN".into()),
        None => Ok(WitnessStart { position: Position::STANDARD, chess: Some(Chess::new()) }),
        Some(fen) => Ok(from_setup(setup(fen, &mut rules)?, is_960, &mut rules)),
    }
}

fn note(rules: &mut Option<&mut Rules>, rule: Rule) {
    if let Some(rules) = rules {
        rules.add(rule);
    }
}

/// Reads a FEN. If `rules` is given and shakmaty refuses the FEN, it is read leniently: only the first four fields count, the side
/// to move may be a capital letter, and unreadable castling rights or en passant squares count as none. Pockets are refused.
fn setup(fen: &[u8], rules: &mut Option<&mut Rules>) -> Result<Setup, String> {
    let strict = Fen::from_ascii(fen).map_err(|error| format!("FEN: {error}"));
    let is_blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'_';
    let mut fields: Vec<Vec<u8>> =
        fen.split(is_blank).filter(|field| !field.is_empty()).take(4).map(<[u8]>::to_vec).collect();
    let placement = fields.first().map_or(&b""[..], Vec::as_slice);
    let has_pockets = placement.contains(&b'[') || placement.iter().filter(|&&byte| byte == b'/').count() > 7;
    if rules.is_none() || strict.is_ok() && !has_pockets {
        return strict.map(Fen::into_setup);
    }
    note(rules, Rule::FenFields);
    if has_pockets {
        return Err("FEN: pockets".into());
    }
    if let Some(turn) = fields.get_mut(1) {
        turn.make_ascii_lowercase();
    }
    let attempts =
        [fields.clone(), without(&fields, 3), without(&fields, 2), without(&without(&fields, 2), 3)];
    let setup = attempts.iter().find_map(|fields| Fen::from_ascii(&fields.join(&b' ')).ok());
    setup.map_or(strict, Ok).map(Fen::into_setup)
}

/// Returns the fields of a FEN with the field at `place` replaced by `-`.
fn without(fields: &[Vec<u8>], place: usize) -> Vec<Vec<u8>> {
    let mut fields = fields.to_vec();
    if let Some(field) = fields.get_mut(place) {
        *field = b"-".to_vec();
    }
    fields
}

/// Returns the start position of a setup. Castling rights and en passant squares that shakmaty calls impossible are dropped, but if
/// `rules` is given, castling rights that are possible in standard chess are kept.
fn from_setup(setup: Setup, is_960: bool, rules: &mut Option<&mut Rules>) -> WitnessStart {
    let mut position = Position::from_setup(&setup);
    let chess = match Chess::from_setup(setup.clone(), CastlingMode::Chess960) {
        Err(error)
            if error.kinds().contains(PositionErrorKinds::INVALID_CASTLING_RIGHTS)
                && !is_960
                && rules.is_some() =>
        {
            note(rules, Rule::Rights);
            Chess::from_setup(setup, CastlingMode::Standard)
        }
        chess => chess,
    };
    let chess = chess
        .or_else(PositionError::ignore_too_much_material)
        .or_else(PositionError::ignore_impossible_check)
        .or_else(PositionError::ignore_invalid_castling_rights)
        .or_else(PositionError::ignore_invalid_ep_square);
    if let Ok(chess) = &chess {
        position = packed(chess);
    }
    WitnessStart { position, chess: chess.ok() }
}

/// Packs a position of shakmaty.
pub(super) fn packed(chess: &Chess) -> Position {
    Position::from_setup(&chess.to_setup(EnPassantMode::Always))
}
