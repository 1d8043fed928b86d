//! Reads the start position of a game from the tags `Variant` and `FEN`, and the positions of FEN and EPD lists.

use shakmaty::{Castles, CastlingMode, Chess, FromSetup, PositionError, Setup};

use orbit_core::board::Position;
use orbit_core::fen::{FenRecord, Field, Leniency, possible_en_passant};
use orbit_core::text::{decode, shortened};

/// The maximum number of source characters that a message quotes.
const LETTERS_MAX: usize = 40;

pub(super) struct StartPosition {
    /// The position, without impossible castling rights or an impossible en passant square.
    pub(super) position: Position,
    /// `Ok` if moves can be played from the position, otherwise the reason why not.
    pub(super) playable: Result<(), &'static str>,
}

/// The meaning of a `Variant` tag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum VariantRules {
    /// Standard chess, from the usual start position or from a FEN.
    Standard,
    /// Chess960, in which castling rooks may start on any file.
    Chess960,
    /// A variant with other rules.
    Foreign,
}

impl VariantRules {
    /// Reads the value of a `Variant` tag. Only letters and digits count, and case is ignored.
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
        // The word `chess` is dropped, so both `Standard Chess` and `Chess (Standard)` are read as `Standard`.
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

/// The leniency for FENs in games. Since many of them are faulty, only the placement and the side to move must be readable.
const LENIENCY: Leniency = Leniency { unclear_rights: true, any_rest: true, ..Leniency::NONE };

/// Reads the first four fields of a FEN or EPD: placement, side to move, castling rights (in FEN, X-FEN or Shredder-FEN) and en
/// passant square. Fields after these are ignored, and fields may be missing. Impossible rights are dropped, and reported by
/// calling `note` with a message.
///
/// # Errors
///
/// Returns the reason why the placement or the side to move cannot be read.
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

/// Drops the castling rights that the placement does not allow.
///
/// `KQkq` mean the outermost rooks, as in X-FEN, if the game is Chess960 or if all these rights are possible. Otherwise they mean
/// the rooks in the corners, as in standard chess: many FENs list rights that the players have already lost, which must not be
/// mistaken for Chess960 rights.
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

/// Quotes source bytes in a message: shortens them and replaces control characters.
pub(super) fn text(bytes: &[u8]) -> String {
    let text = shortened(&decode(bytes), LETTERS_MAX);
    text.chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }).collect()
}
