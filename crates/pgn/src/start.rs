//! The start of a game: the `Variant` and `FEN` tags, and the positions of FEN and EPD lists.

use shakmaty::{Castles, CastlingMode, Chess, FromSetup, PositionError, Setup};

use orbit_core::board::Position;
use orbit_core::fen::{FenRecord, Field, Leniency, possible_en_passant};
use orbit_core::text::{decode, shortened};

/// The most characters of a source that a message quotes.
const LETTERS_MAX: usize = 40;

/// A start position.
pub(super) struct StartPosition {
    /// The position, without impossible rights.
    pub(super) position: Position,
    /// The reason why no move can be played from it, if there is one.
    pub(super) playable: Result<(), &'static str>,
}

/// The meaning of a `Variant` tag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum VariantRules {
    /// Chess from the standard array or from a FEN.
    Standard,
    /// Chess with any castling rooks.
    Chess960,
    /// Other rules.
    Foreign,
}

impl VariantRules {
    /// Reads the value of a `Variant` tag. Only letters and digits count, case does not.
    pub(super) fn from_tag(value: &[u8]) -> VariantRules {
        let mut plain = [0u8; 32];
        let mut length = 0;
        for byte in value.iter().filter(|byte| byte.is_ascii_alphanumeric()) {
            let Some(slot) = plain.get_mut(length) else { return VariantRules::Foreign };
            *slot = byte.to_ascii_lowercase();
            length += 1;
        }
        let name = &plain[..length];
        if name.is_empty() {
            return if value.is_ascii() { VariantRules::Standard } else { VariantRules::Foreign };
        }
        // `Standard Chess` and `Chess (Standard)` are `Standard`.
        let name = name.strip_suffix(b"chess").or_else(|| name.strip_prefix(b"chess")).unwrap_or(name);
        match name {
            b"" | b"standard" | b"normal" | b"regular" | b"classical" | b"classic" | b"orthodox"
            | b"ordinary" | b"fide" | b"international" | b"western" | b"fromposition" | b"position"
            | b"setup" => VariantRules::Standard,
            b"960"
            | b"frc"
            | b"fischerandom"
            | b"fischerrandom"
            | b"fischerandom960"
            | b"fischerrandom960"
            | b"freestyle"
            | b"wildfr"
            | b"dfrc"
            | b"doublechess960"
            | b"doublefischerrandom" => VariantRules::Chess960,
            _ => VariantRules::Foreign,
        }
    }
}

/// Games contain FENs of all kinds: only the placement and the side to move must be clear.
const LENIENCY: Leniency = Leniency { unclear_rights: true, any_rest: true, ..Leniency::NONE };

/// Reads a FEN or the first fields of an EPD: placement, turn, castling (FEN, X-FEN or Shredder-FEN), en passant; later and
/// missing fields do not matter. Impossible rights are dropped and reported to `note`.
///
/// # Errors
///
/// The reason why the placement or the turn cannot be read.
pub(super) fn read(
    fen: &[u8],
    rules: VariantRules,
    note: &mut dyn FnMut(String),
) -> Result<StartPosition, &'static str> {
    let record = FenRecord::read(fen, LENIENCY).map_err(|error| match error.field {
        Field::Whole => "the FEN is empty",
        Field::Turn => "the FEN's side to move is neither `w` nor `b`",
        _ => "the FEN's placement cannot be read",
    })?;
    let FenRecord { mut setup, castling, en_passant, .. } = record;
    if !matches!(castling, b"" | b"-" | b"--") {
        keep_possible_castling(&mut setup, castling, rules, note);
    }
    if !matches!(en_passant, b"" | b"-") {
        setup.ep_square = possible_en_passant(&setup);
        if setup.ep_square.is_none() {
            note(format!("the FEN's en passant square {} was dropped", text(en_passant)));
        }
    }
    Ok(start(setup))
}

fn start(setup: Setup) -> StartPosition {
    let position = Position::from_setup(&setup);
    let chess = Chess::from_setup(setup, CastlingMode::Chess960)
        .or_else(PositionError::ignore_too_much_material)
        .or_else(PositionError::ignore_impossible_check);
    let playable = chess.map(|_| ()).map_err(|error| {
        use shakmaty::PositionErrorKinds as Kinds;
        let kinds = error.kinds();
        let reasons = [
            (Kinds::EMPTY_BOARD, "the board is empty"),
            (Kinds::MISSING_KING, "a king is missing"),
            (Kinds::TOO_MANY_KINGS, "a side has several kings"),
            (Kinds::OPPOSITE_CHECK, "the side to move could take the king"),
            (Kinds::PAWNS_ON_BACKRANK, "a pawn stands on the first or last rank"),
        ];
        reasons.iter().find(|(kind, _)| kinds.contains(*kind)).map_or("it is no legal position", |r| r.1)
    });
    StartPosition { position, playable }
}

/// Keeps the castling rights that the placement allows.
///
/// `KQkq` name the outermost rooks, as in X-FEN, if *all* of them can castle so, or if the game is Chess960. Otherwise they are
/// read as in standard chess: many FENs claim rights that the players have long lost, and these must not become Chess960 rights
/// by chance.
fn keep_possible_castling(
    setup: &mut Setup,
    castling: &[u8],
    rules: VariantRules,
    note: &mut dyn FnMut(String),
) {
    let dropped = || format!("the FEN's castling rights {} were dropped", text(castling));
    if setup.castling_rights.is_empty() {
        return note(dropped());
    }
    let wanted = castling.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let free = Castles::from_setup(setup, CastlingMode::Chess960);
    let is_whole = free.is_ok() && setup.castling_rights.count() == wanted;
    if is_whole {
        return;
    }
    let castles = match free {
        Ok(castles) | Err(castles) if rules == VariantRules::Chess960 => castles,
        _ => Castles::from_setup(setup, CastlingMode::Standard).unwrap_or_else(|castles| castles),
    };
    setup.castling_rights = castles.castling_rights();
    if setup.castling_rights.count() == wanted {
        return;
    }
    note(match setup.castling_rights.any() {
        true => format!("impossible ones of the FEN's castling rights {} were dropped", text(castling)),
        false => dropped(),
    });
}

/// Quotes bytes of a source for a message, shortened and without control characters.
pub(super) fn text(bytes: &[u8]) -> String {
    let text = shortened(&decode(bytes), LETTERS_MAX);
    text.chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }).collect()
}
