//! The words of the language, and what the plain ones among them mean.

use shakmaty::Color;

use super::tree::{Arith, Dirs, Op, PawnKind, TransformKind, Type};

/// Words of CQL 6.2 that ask about moves, the game tree, files or text: known, not built yet.
pub(super) const UNSUPPORTED: &[&str] = &[
    "line",
    "path",
    "move",
    "echo",
    "sort",
    "consecutivemoves",
    "currentmove",
    "previous",
    "parent",
    "child",
    "position",
    "currentposition",
    "curpos",
    "initialposition",
    "positionid",
    "depth",
    "mainline",
    "variation",
    "virtualmainline",
    "lca",
    "distance",
    "ancestor",
    "descendant",
    "try",
    "from",
    "to",
    "capture",
    "promote",
    "castle",
    "enpassant",
    "enpassantsquare",
    "nullmove",
    "primary",
    "secondary",
    "piece",
    "pieceid",
    "loop",
    "while",
    "function",
    "dictionary",
    "local",
    "persistent",
    "comment",
    "message",
    "originalcomment",
    "hascomment",
    "removecomment",
    "settag",
    "writefile",
    "readfile",
    "str",
    "int",
    "ascii",
    "uppercase",
    "lowercase",
    "indexof",
    "string",
    "isbound",
    "isunbound",
    "unbind",
    "assert",
    "equal",
    "currentfen",
    "currenttransform",
    "puremate",
    "modelmate",
    "idealmate",
    "purestalemate",
    "modelstalemate",
    "idealstalemate",
    "lastgamenumber",
    "hhdb",
    "similarposition",
    "anticipate",
    "focus",
    "pathstart",
    "pathcount",
    "pathlastposition",
    "title",
    "verbose",
    "nestban",
    "atomic",
    "keepallbest",
    "piecepath",
    "cql_abort",
];

/// Words that stand only inside other filters and so can be no variables either.
pub(super) const INNER: &[&str] = &[
    "and",
    "or",
    "in",
    "attacks",
    "attack",
    "attackedby",
    "attacked",
    "by",
    "then",
    "else",
    "count",
    "all",
    "through",
    "to",
    "from",
    "quiet",
    "forall",
    "cql",
];

/// Keyword filters, for spelling hints.
pub(super) const WORDS: &[&str] = &[
    "flip",
    "flipdihedral",
    "dihedral",
    "fliphorizontal",
    "flipvertical",
    "flipcolor",
    "reversecolor",
    "rotate90",
    "rotate45",
    "shift",
    "shifthorizontal",
    "shiftvertical",
    "notransform",
    "find",
    "not",
    "if",
    "true",
    "false",
    "check",
    "mate",
    "stalemate",
    "initial",
    "terminal",
    "wtm",
    "btm",
    "sidetomove",
    "white",
    "black",
    "ply",
    "movenumber",
    "gamenumber",
    "year",
    "elo",
    "player",
    "event",
    "site",
    "date",
    "eventdate",
    "eco",
    "tag",
    "result",
    "power",
    "rank",
    "file",
    "type",
    "colortype",
    "typename",
    "piecename",
    "abs",
    "sqrt",
    "max",
    "min",
    "between",
    "ray",
    "xray",
    "pin",
    "light",
    "dark",
    "fen",
    "makesquare",
    "square",
    "passedpawns",
    "isolatedpawns",
    "doubledpawns",
    "connectedpawns",
    "legal",
    "pseudolegal",
    "countmoves",
    "up",
    "down",
    "left",
    "right",
    "northeast",
    "northwest",
    "southeast",
    "southwest",
    "vertical",
    "horizontal",
    "orthogonal",
    "diagonal",
    "maindiagonal",
    "offdiagonal",
    "anydirection",
];

/// The words of CQL 6.2, and whether they are built: keyword filters, and words that ask about moves, the game
/// tree, files or text.
pub fn vocabulary() -> impl Iterator<Item = (&'static str, bool)> {
    let built = WORDS.iter().map(|&word| (word, true));
    built.chain(UNSUPPORTED.iter().map(|&word| (word, false)))
}

pub(super) fn directions(word: &str) -> Option<Dirs> {
    Some(Dirs(match word {
        "right" => 1,
        "northeast" => 2,
        "up" => 4,
        "northwest" => 8,
        "left" => 16,
        "southwest" => 32,
        "down" => 64,
        "southeast" => 128,
        "horizontal" => 1 | 16,
        "vertical" => 4 | 64,
        "orthogonal" => 1 | 4 | 16 | 64,
        "maindiagonal" => 2 | 32,
        "offdiagonal" => 8 | 128,
        "diagonal" => 2 | 8 | 32 | 128,
        "anydirection" => 255,
        _ => return None,
    }))
}

pub(super) fn transform(word: &str) -> Option<TransformKind> {
    Some(match word {
        "flip" | "flipdihedral" | "dihedral" => TransformKind::Flip,
        "flipvertical" => TransformKind::FlipVertical,
        "fliphorizontal" => TransformKind::FlipHorizontal,
        "rotate90" => TransformKind::Rotate90,
        "rotate45" => TransformKind::Rotate45,
        "flipcolor" => TransformKind::FlipColor,
        "reversecolor" => TransformKind::ReverseColor,
        "shift" => TransformKind::Shift,
        "shifthorizontal" => TransformKind::ShiftHorizontal,
        "shiftvertical" => TransformKind::ShiftVertical,
        _ => return None,
    })
}

/// Filters that are one word.
pub(super) fn simple(word: &str) -> Option<(Op, Type)> {
    Some(match word {
        "true" => (Op::Bool(true), Type::Bool),
        "false" => (Op::Bool(false), Type::Bool),
        "check" => (Op::Check, Type::Bool),
        "mate" => (Op::Mate, Type::Bool),
        "stalemate" => (Op::Stalemate, Type::Bool),
        "initial" => (Op::Initial, Type::Bool),
        "terminal" => (Op::Terminal, Type::Bool),
        "wtm" => (Op::ToMove(Color::White), Type::Bool),
        "btm" => (Op::ToMove(Color::Black), Type::Bool),
        "white" => (Op::ColorValue(Color::White), Type::Num),
        "black" => (Op::ColorValue(Color::Black), Type::Num),
        "sidetomove" => (Op::SideToMove, Type::Num),
        "ply" => (Op::Ply, Type::Num),
        "movenumber" => (Op::MoveNumber, Type::Num),
        "gamenumber" => (Op::GameNumber, Type::Num),
        "year" => (Op::Year, Type::Num),
        "passedpawns" => (Op::Pawns(PawnKind::Passed), Type::Set),
        "isolatedpawns" => (Op::Pawns(PawnKind::Isolated), Type::Set),
        "doubledpawns" => (Op::Pawns(PawnKind::Doubled), Type::Set),
        "connectedpawns" => (Op::Pawns(PawnKind::Connected), Type::Set),
        _ => return None,
    })
}

pub(super) fn compound_assignment(sign: &str) -> Option<Op> {
    Some(match sign {
        "+=" => Op::Arith(Arith::Add),
        "-=" => Op::Arith(Arith::Sub),
        "*=" => Op::Arith(Arith::Mul),
        "/=" => Op::Arith(Arith::Div),
        "%=" => Op::Arith(Arith::Rem),
        "|=" => Op::Union,
        "&=" => Op::Intersect,
        _ => return None,
    })
}

/// The known word that a misspelt one most resembles: at most one edit in three letters away.
pub(super) fn nearest(word: &str) -> Option<&'static str> {
    nearest_of(word, WORDS.iter().chain(INNER))
}

/// The same among any words.
pub(super) fn nearest_of<'a>(
    word: &str,
    among: impl Iterator<Item = &'a &'static str>,
) -> Option<&'static str> {
    let lower = word.to_lowercase();
    among
        .map(|known| (edits(&lower, known), *known))
        .filter(|(distance, known)| 3 * distance <= known.len().min(lower.len() + 1))
        .min()
        .map(|(_, known)| known)
}

/// Levenshtein distance.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate().take(64) {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let replace = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = replace.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
