//! Where a game starts: tags and FEN by shakmaty.

use shakmaty::fen::Fen;
use shakmaty::{
    CastlingMode, Chess, EnPassantMode, FromSetup as _, Position as _, PositionError, PositionErrorKinds,
    Setup,
};

use super::rules::{Rule, Rules};
use crate::board::Position;
use crate::pgn::Tag;

/// Where a game starts.
pub(super) struct Start {
    pub(super) position: Position,
    /// `None` if no move can be played.
    pub(super) chess: Option<Chess>,
}

/// Names of standard chess in `Variant` tags, in small letters and digits.
const STANDARD: [&str; 10] = [
    "",
    "standard",
    "chess",
    "normal",
    "regular",
    "classical",
    "orthodox",
    "fromposition",
    "position",
    "setup",
];

/// Names of Chess960.
const CHESS960: [&str; 14] = [
    "chess960",
    "960",
    "frc",
    "fischerandom",
    "fischerrandom",
    "fischerandomchess",
    "fischerrandomchess",
    "fischerandom960",
    "freestyle",
    "freestylechess",
    "wildfr",
    "dfrc",
    "doublechess960",
    "doublefischerrandom",
];

/// The start that the tags tell; `rules` notes by which rules it is one, and without it none applies.
///
/// # Errors
///
/// Why there is none.
pub(super) fn read(tags: &[Tag], mut rules: Option<&mut Rules>) -> Result<Start, String> {
    let value = |name: &str| {
        let tag = tags.iter().find(|tag| tag.name.eq_ignore_ascii_case(name.as_bytes()));
        tag.map(|tag| tag.value.as_slice())
    };
    let variant = value("Variant").map(String::from_utf8_lossy).unwrap_or_default();
    let letters = variant.chars().filter(char::is_ascii_alphanumeric);
    let letters: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
    let is_960 = CHESS960.contains(&letters.as_str());
    if !is_960 && (!STANDARD.contains(&letters.as_str()) || letters.is_empty() && !variant.is_ascii()) {
        return Err(format!("variant {variant}"));
    }
    let is_blank = |fen: &&[u8]| fen.iter().all(|byte| matches!(byte, b' ' | b'?' | b'-'));
    let fen = match value("FEN") {
        Some(fen) if is_blank(&fen) && rules.is_some() => {
            note(&mut rules, Rule::FenFields);
            None
        }
        fen => fen,
    };
    match fen {
        None if is_960 => Err("Chess960 without a FEN".into()),
        None => Ok(Start { position: Position::STANDARD, chess: Some(Chess::new()) }),
        Some(fen) => Ok(from_setup(setup(fen, &mut rules)?, is_960, &mut rules)),
    }
}

fn note(rules: &mut Option<&mut Rules>, rule: Rule) {
    if let Some(rules) = rules {
        rules.add(rule);
    }
}

fn setup(fen: &[u8], rules: &mut Option<&mut Rules>) -> Result<Setup, String> {
    let error = match Fen::from_ascii(fen) {
        Ok(fen) => return Ok(fen.into_setup()),
        Err(error) => format!("FEN: {error}"),
    };
    if rules.is_none() {
        return Err(error);
    }
    note(rules, Rule::FenFields);
    let fields: Vec<&[u8]> = fen.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).collect();
    let fields = &fields[..fields.len().min(4)];
    // What is no castling right and no square stands for none.
    let attempts = [fields.to_vec(), without(fields, 3), without(fields, 2), without(&without(fields, 2), 3)];
    let setup = attempts.iter().find_map(|fields| Fen::from_ascii(&fields.join(&b' ')).ok());
    setup.map(Fen::into_setup).ok_or(error)
}

/// The fields with `-` in one place.
fn without<'a>(fields: &[&'a [u8]], place: usize) -> Vec<&'a [u8]> {
    let mut fields = fields.to_vec();
    if let Some(field) = fields.get_mut(place) {
        *field = b"-";
    }
    fields
}

/// The start of a placement. What shakmaty calls impossible is dropped; where that are castling rights, the rules keep
/// those that standard chess would.
fn from_setup(setup: Setup, is_960: bool, rules: &mut Option<&mut Rules>) -> Start {
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
    Start { position, chess: chess.ok() }
}

/// A position of shakmaty's, packed.
pub(super) fn packed(chess: &Chess) -> Position {
    Position::from_setup(&chess.to_setup(EnPassantMode::Always))
}
