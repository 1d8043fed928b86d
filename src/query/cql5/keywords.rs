//! The keywords of CQL 5 position lists.

use shakmaty::Color;

use crate::{
    diagnostic,
    query::{
        parser::C,
        tree::{Dirs, ListTransform},
    },
};

/// Keywords that are built.
const KEYWORDS: &[&str] = &[
    "wtm",
    "btm",
    "check",
    "mate",
    "stalemate",
    "initial",
    "terminal",
    "result",
    "and",
    "or",
    "not",
    "attackcount",
    "piececount",
    "power",
    "powerdifference",
    "ray",
    "rayattack",
    "raydiagonal",
    "rayorthogonal",
    "rayhorizontal",
    "rayvertical",
    "flip",
    "flipdihedral",
    "fliphorizontal",
    "flipvertical",
    "flipdiagonal",
    "flipoffdiagonal",
    "flipcolor",
    "shift",
    "shifthorizontal",
    "shiftvertical",
    "shiftmaindiagonal",
    "shiftoffdiagonal",
    "shiftdiagonal",
];

/// Keywords of CQL 5 and CQL-S that are known and not built: most ask about moves, the game, or text.
const UNSUPPORTED: &[&str] = &[
    "accumulate",
    "accumulate*",
    "between",
    "blackcannotwin",
    "blackelo",
    "castling",
    "checkcount",
    "comment",
    "cond",
    "contactcheck",
    "cut",
    "date",
    "doublecheck",
    "echo",
    "eco",
    "elo",
    "endgame",
    "endgameevaluation",
    "enpassant",
    "event",
    "evaluation",
    "fen",
    "forany",
    "forced",
    "gameisover",
    "gamenumber",
    "gappedsequence",
    "goodbishop",
    "halfmoveclocklimit",
    "halfmovenumber",
    "inside",
    "insidevariation",
    "markall",
    "matchcount",
    "matingmaterial",
    "maxswapevaluation",
    "moveevaluation",
    "movefrom",
    "movenumber",
    "moveto",
    "mustcapture",
    "nextcount",
    "noannotate",
    "nocheck",
    "noenpassant",
    "opposition",
    "output",
    "pattern",
    "pawncount",
    "pawncountdifference",
    "pgn",
    "player",
    "promote",
    "relation",
    "repetitioncount",
    "sequence",
    "silent",
    "site",
    "skip",
    "startposition",
    "sumrange",
    "tagmatch",
    "takeslastpiece",
    "variations",
    "white",
    "whiteelo",
    "xor",
    "year",
];

/// The transform that a keyword asks for.
pub(super) fn transform(name: &str) -> Option<ListTransform> {
    Some(match name {
        "flip" | "flipdihedral" => ListTransform::Flip,
        "fliphorizontal" => ListTransform::FlipHorizontal,
        "flipvertical" => ListTransform::FlipVertical,
        "flipdiagonal" => ListTransform::FlipDiagonal,
        "flipoffdiagonal" => ListTransform::FlipOffDiagonal,
        "flipcolor" => ListTransform::FlipColor,
        "shift" => ListTransform::Shift,
        "shifthorizontal" => ListTransform::ShiftHorizontal,
        "shiftvertical" => ListTransform::ShiftVertical,
        "shiftmaindiagonal" => ListTransform::ShiftMainDiagonal,
        "shiftoffdiagonal" => ListTransform::ShiftOffDiagonal,
        "shiftdiagonal" => ListTransform::ShiftDiagonal,
        _ => return None,
    })
}

/// Conditions that are one keyword.
pub(super) fn simple(name: &str) -> Option<C> {
    Some(match name {
        "wtm" => C::ToMove(Color::White),
        "btm" => C::ToMove(Color::Black),
        "check" => C::Check,
        "mate" => C::Mate,
        "stalemate" => C::Stalemate,
        "initial" => C::Initial,
        "terminal" => C::Terminal,
        _ => return None,
    })
}

/// The directions of the lines that a ray keyword counts, and whether they begin with a slider.
pub(super) fn ray(name: &str) -> Option<(Dirs, bool)> {
    let (dirs, attack) = match name {
        "ray" => (0xff, false),
        "rayattack" => (0xff, true),
        "raydiagonal" => (0xaa, false),
        "rayorthogonal" => (0x55, false),
        "rayhorizontal" => (0x11, false),
        "rayvertical" => (0x44, false),
        _ => return None,
    };
    Some((Dirs(dirs), attack))
}

/// Whether a keyword is one of CQL 5 at all.
pub(super) fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name) || UNSUPPORTED.contains(&name)
}

/// Whether a keyword is known and not built.
pub(super) fn is_unsupported(name: &str) -> bool {
    UNSUPPORTED.contains(&name)
}

/// The keyword that a misspelt one most resembles.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    diagnostic::nearest(name, KEYWORDS.iter().chain(UNSUPPORTED))
}
