//! Expanded filters as CQL text, so that a copy can be read, and run by itself.

use std::fmt::{self, Write as _};

use shakmaty::{Bitboard, Color, Square};

use super::{Filter, Placement, Plain};
use crate::{
    board::{Code, Dihedral, PieceSet},
    query::{
        Op,
        tree::{Arith, Dirs, GameResult, PawnKind, Pieces, PinPart, PureKind, Special, Tally, VarId},
    },
};

/// Shows a filter as CQL 6. Variables are called `v0`, `v1`, ...; a nested orbit is written as the
/// list of its copies in angle brackets, `attackcount` and `raycount` as words, which is no CQL.
#[derive(Clone, Copy, Debug)]
pub struct AsText<'a>(pub &'a Filter);

impl fmt::Display for AsText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text(self.0))
    }
}

/// Shows how a copy came from the filter as written: `turned 90, shifted +1 file -2 ranks`. Swapped colours
/// include the reflection of ranks, which is not named beside them.
impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<String> = Vec::new();
        if self.swap_colors {
            parts.push("colours swapped".into());
        }
        parts.extend(turn(self.turned()).map(String::from));
        if self.turn45 != 0 {
            parts.push(format!("directions turned {}", 45 * u32::from(self.turn45)));
        }
        match self.shift {
            Some((0, 0)) => {}
            Some((dx, dy)) => {
                let smeared = if self.smeared { ", edge squares stay" } else { "" };
                parts.push(format!("shifted{}{}{smeared}", steps(dx, "file"), steps(dy, "rank")));
            }
            None => parts.push("shifted more than once".into()),
        }
        f.write_str(if parts.is_empty() { "as written" } else { "" })?;
        f.write_str(&parts.join(", "))
    }
}

/// ` -2 files`; nothing for no steps.
fn steps(count: i8, line: &str) -> String {
    match count {
        0 => String::new(),
        1 | -1 => format!(" {count:+} {line}"),
        _ => format!(" {count:+} {line}s"),
    }
}

/// The words for a symmetry, none for the identity.
fn turn(symmetry: Dihedral) -> Option<&'static str> {
    Some(match symmetry {
        Dihedral::Identity => return None,
        Dihedral::Rotate90Ccw => "turned 90",
        Dihedral::Rotate180 => "turned 180",
        Dihedral::Rotate270Ccw => "turned 270",
        Dihedral::ReflectRanks => "mirrored 1<->8",
        Dihedral::ReflectFiles => "mirrored a<->h",
        Dihedral::ReflectMain => "mirrored in a1-h8",
        Dihedral::ReflectAnti => "mirrored in h1-a8",
    })
}

/// The text of a filter, loosely bound.
fn text(filter: &Filter) -> String {
    match filter {
        Filter::Plain(plain) => plain_text(plain),
        Filter::Orbit(orbit) => {
            let copies: Vec<String> = orbit.copies.iter().map(|copy| text(&copy.filter)).collect();
            let tally = match orbit.tally {
                Tally::Any => String::new(),
                Tally::Count => "count ".into(),
                Tally::Range(lo, hi) => format!("{lo} {hi} "),
            };
            format!("{tally}⟨{}⟩", copies.join(" ⟩⟨ "))
        }
    }
}

/// The text of an operand, in parentheses unless it is one word or bracketed already.
fn tight(filter: &Filter) -> String {
    let Filter::Plain(plain) = filter else { return text(filter) };
    let single = plain.args.is_empty() || matches!(plain.op, Op::Compound);
    match plain.op {
        Op::Int(value) if value < 0 => format!("({value})"),
        _ if single => plain_text(plain),
        _ => format!("({})", plain_text(plain)),
    }
}

fn plain_text(f: &Plain) -> String {
    let args = &f.args;
    let arg = |k: usize| tight(&args[k]);
    let infix = |sign: &str| format!("{} {sign} {}", arg(0), arg(1));
    let prefix = |word: &str| format!("{word} {}", arg(0));
    let list = |open: &str, close: &str| {
        let parts: Vec<String> = args.iter().map(tight).collect();
        format!("{open}{}{close}", parts.join(" "))
    };
    match &f.op {
        Op::Designator { pieces, squares } => designator(*pieces, *squares),
        Op::Squares(Bitboard::FULL) => ".".into(),
        Op::Squares(Bitboard::EMPTY) => "[]".into(),
        Op::Squares(squares) => match squares.single_square() {
            Some(square) => format!("makesquare \"{square}\""),
            None => format!("({})", named_squares(*squares)),
        },
        Op::Union => infix("|"),
        Op::Intersect => infix("&"),
        Op::Complement => format!("~{}", arg(0)),
        Op::Attacks => infix("attacks"),
        Op::AttackedBy => infix("attackedby"),
        Op::Xray { forward } => {
            let parts: Vec<String> = args.iter().map(tight).collect();
            parts.join(if *forward { "->" } else { "<-" })
        }
        Op::Between => list("between(", ")"),
        Op::Ray { dirs, attack } => {
            let attack = if *attack { " attack" } else { "" };
            let dirs = if *dirs == Dirs::ALL { String::new() } else { format!(" {}", directions(*dirs)) };
            list(&format!("ray{attack}{dirs} ("), ")")
        }
        Op::Pin { value } => {
            let mut parts = [("from", arg(0)), ("through", arg(1)), ("to", arg(2))];
            let first = match value {
                PinPart::From => 0,
                PinPart::Through => 1,
                PinPart::To => 2,
            };
            parts.swap(0, first);
            parts.iter().fold(String::from("pin"), |out, (word, part)| format!("{out} {word} {part}"))
        }
        Op::Direction { dirs, lo, hi } => {
            let range = if (*lo, *hi) == (1, 7) { String::new() } else { format!("{lo} {hi} ") };
            format!("{} {range}{}", directions(*dirs), arg(0))
        }
        Op::DirectionWithin { dirs } => format!("{} {} {} {}", directions(*dirs), arg(0), arg(1), arg(2)),
        Op::Shade { light } => prefix(if *light { "light" } else { "dark" }),
        Op::Pawns(kind) => match kind {
            PawnKind::Passed => "passedpawns",
            PawnKind::Isolated => "isolatedpawns",
            PawnKind::Doubled => "doubledpawns",
            PawnKind::Connected => "connectedpawns",
        }
        .into(),
        Op::Pure { kind, mate } => {
            let kind = match kind {
                PureKind::Pure => "pure",
                PureKind::Model => "model",
                PureKind::Ideal => "ideal",
            };
            format!("{kind}{}", if *mate { "mate" } else { "stalemate" })
        }
        Op::MakeSquare => list("makesquare(", ")"),
        Op::SquareLoop { var } => format!("square {} in {} {}", name(*var), arg(0), arg(1)),
        Op::SquareAll { var } => format!("square all {} in {} {}", name(*var), arg(0), arg(1)),
        Op::Legal { pseudo, count, only } => legal(args, *pseudo, *count, *only),
        Op::Var(var) => name(*var),
        Op::Assign(var) => format!("{}={}", name(*var), arg(0)),
        Op::If => {
            let other = args.get(2).map_or(String::new(), |arg| format!(" else {}", tight(arg)));
            format!("if {} then {}{other}", arg(0), arg(1))
        }
        Op::Compound => list("{", "}"),
        Op::Find { back, tally } => find(args, *back, *tally),
        Op::InRange => in_range(args),
        Op::Bool(value) => value.to_string(),
        Op::And => infix("and"),
        Op::Or => infix("or"),
        Op::Not => prefix("not"),
        Op::Subset | Op::StrIn => infix("in"),
        Op::SetEq { equal } => infix(if *equal { "==" } else { "!=" }),
        Op::Compare(cmp) | Op::StrCompare(cmp) => infix(cmp.sign()),
        Op::Check => "check".into(),
        Op::Mate => "mate".into(),
        Op::Stalemate => "stalemate".into(),
        Op::Initial => "initial".into(),
        Op::Terminal => "terminal".into(),
        Op::ToMove(color) => if color.is_white() { "wtm" } else { "btm" }.into(),
        Op::Result(result) => match result {
            GameResult::WhiteWins => "result 1-0",
            GameResult::BlackWins => "result 0-1",
            GameResult::Draw => "result 1/2-1/2",
        }
        .into(),
        Op::ContentIs(contents) => {
            format!("({} in {})", arg(0), designator(listed(*contents), Bitboard::FULL))
        }
        Op::Int(value) => value.to_string(),
        Op::Cardinality => format!("#{}", arg(0)),
        Op::AttackCount => list("attackcount(", ")"),
        Op::RayCount { dirs, attack } => {
            let attack = if *attack { " attack" } else { "" };
            list(&format!("raycount{attack} {} (", directions(*dirs)), ")")
        }
        Op::Power => prefix("power"),
        Op::Rank => prefix("rank"),
        Op::File => prefix("file"),
        Op::ContentType { signed } => prefix(if *signed { "colortype" } else { "type" }),
        Op::Arith(arith) => infix(match arith {
            Arith::Add => "+",
            Arith::Sub => "-",
            Arith::Mul => "*",
            Arith::Div => "/",
            Arith::Rem => "%",
        }),
        Op::Neg => format!("-{}", arg(0)),
        Op::Abs => prefix("abs"),
        Op::Sqrt => prefix("sqrt"),
        Op::Max => list("max(", ")"),
        Op::Min => list("min(", ")"),
        Op::ColorValue(color) => color_name(*color).into(),
        Op::SideToMove => "sidetomove".into(),
        Op::Ply => "ply".into(),
        Op::MoveNumber => "movenumber".into(),
        Op::GameNumber => "gamenumber".into(),
        Op::Year => "year".into(),
        Op::Elo(color) => format!("elo{}", color.map_or(String::new(), |c| format!(" {}", color_name(c)))),
        Op::Str(text) => format!("{text:?}"),
        Op::Tag(name) => format!("tag {name:?}"),
        Op::Player(color) => {
            format!("player{}", color.map_or(String::new(), |c| format!(" {}", color_name(c))))
        }
        Op::NoTransform | Op::Transform(..) | Op::ListTransforms(_) => {
            unreachable!("expansion leaves none of them")
        }
    }
}

fn name(var: VarId) -> String {
    format!("v{}", var.0)
}

fn color_name(color: Color) -> &'static str {
    if color.is_white() { "white" } else { "black" }
}

/// The range takes the place of `count`.
fn in_range(args: &[Filter]) -> String {
    let range = format!("{} {} ", tight(&args[0]), tight(&args[1]));
    match text(&args[2]).split_once("count ") {
        Some((before, filter)) => format!("{before}{range}{filter}"),
        None => unreachable!("a range is that of a transform or of `find`"),
    }
}

fn find(args: &[Filter], back: bool, tally: Tally) -> String {
    let way = if back { "<-- " } else { "" };
    let range = match tally {
        Tally::Any => String::new(),
        Tally::Count => "count ".into(),
        Tally::Range(1, i32::MAX) => "all ".into(),
        Tally::Range(lo, hi) => format!("{lo} {hi} "),
    };
    format!("find {way}{range}{}", tight(&args[0]))
}

fn legal(args: &[Filter], pseudo: bool, count: bool, only: Special) -> String {
    let side = |arg: &Filter| match arg {
        Filter::Plain(Plain { op: Op::Squares(Bitboard::FULL), .. }) => String::new(),
        other => tight(other),
    };
    let count = if count { "countmoves " } else { "" };
    let pseudo = if pseudo { "pseudo" } else { "" };
    let only = match only {
        Special::Any => "",
        Special::Castle => "(castle)",
        Special::KingSide => "(o-o)",
        Special::QueenSide => "(o-o-o)",
        Special::EnPassant => "(enpassant)",
    };
    format!("{count}{pseudo}legal {}--{}{only}", side(&args[0]), side(&args[1]))
}

fn directions(dirs: Dirs) -> String {
    const NAMES: [(&str, u8); 15] = [
        ("anydirection", 0xff),
        ("orthogonal", 0x55),
        ("diagonal", 0xaa),
        ("horizontal", 0x11),
        ("vertical", 0x44),
        ("maindiagonal", 0x22),
        ("offdiagonal", 0x88),
        ("right", 1),
        ("northeast", 2),
        ("up", 4),
        ("northwest", 8),
        ("left", 16),
        ("southwest", 32),
        ("down", 64),
        ("southeast", 128),
    ];
    let mut left = dirs.0;
    let mut words = Vec::new();
    for (word, mask) in NAMES {
        if left & mask == mask {
            words.push(word);
            left &= !mask;
        }
    }
    words.join(" ")
}

fn listed(contents: PieceSet) -> Pieces {
    Pieces { all_white: false, all_black: false, list: contents }
}

/// A designator: pieces, then squares.
pub(super) fn designator(pieces: Pieces, squares: Bitboard) -> String {
    if squares.is_empty() || pieces.accepts() == PieceSet::NONE {
        return "[]".into();
    }
    let on = if squares == Bitboard::FULL { String::new() } else { named_squares(squares) };
    if pieces == Pieces::UNNAMED {
        return if on.is_empty() { "a-h1-8".into() } else { on };
    }
    let mut letters = String::new();
    if pieces.all_white {
        letters.push('A');
    }
    if pieces.all_black {
        letters.push('a');
    }
    for code in [6, 5, 4, 3, 2, 1, 14, 13, 12, 11, 10, 9, 0].map(Code) {
        if pieces.list.contains(code) {
            letters.push(code.piece().map_or('_', |piece| piece.char()));
        }
    }
    if letters.len() == 1 { letters + &on } else { format!("[{letters}]{on}") }
}

/// Squares as rectangles of files and ranks: `a1`, `a-h2`, `[a1-8,h1-8]`.
fn named_squares(squares: Bitboard) -> String {
    if squares.is_empty() {
        return "[]".into();
    }
    let mut left = squares;
    let mut parts = Vec::new();
    while let Some(first) = left.first() {
        let (x, y) = (first.file() as u32, first.rank() as u32);
        let rectangle = |files: u32, ranks: u32| {
            (0..ranks).fold(0u64, |out, r| out | ((1u64 << files) - 1) << (8 * (y + r) + x))
        };
        let fits = |files: u32, ranks: u32| squares.is_superset(Bitboard(rectangle(files, ranks)));
        let widest = (1..=8 - x).take_while(|&files| fits(files, 1)).last().unwrap_or(1);
        let tallest = (1..=8 - y).take_while(|&ranks| fits(1, ranks)).last().unwrap_or(1);
        // Whichever way covers more: a run along the rank made taller, or along the file made wider.
        let flat = (widest, (1..=8 - y).take_while(|&r| fits(widest, r)).last().unwrap_or(1));
        let steep = ((1..=8 - x).take_while(|&w| fits(w, tallest)).last().unwrap_or(1), tallest);
        let (files, ranks) = if flat.0 * flat.1 >= steep.0 * steep.1 { flat } else { steep };
        left = left.without(Bitboard(rectangle(files, ranks)));
        parts.push(rectangle_name(first, files, ranks));
    }
    if parts.len() == 1 { parts.remove(0) } else { format!("[{}]", parts.join(",")) }
}

fn rectangle_name(first: Square, files: u32, ranks: u32) -> String {
    let mut out = String::new();
    let mut range = |start: char, len: u32| {
        out.push(start);
        if len > 1 {
            let end = char::from(start as u8 + len as u8 - 1);
            write!(out, "-{end}").expect("a string takes what is written to it");
        }
    };
    range(first.file().char(), files);
    range(first.rank().char(), ranks);
    out
}

/// The designators of a filter on a small board, eight lines from rank 8 down: the letter of the
/// piece where a designator has one square and one piece, `*` for others, `?` where several meet.
pub fn small_board(filter: &Filter) -> [String; 8] {
    let mut cells = [['.'; 8]; 8];
    filter.walk(&mut |plain| {
        let Op::Designator { pieces, squares } = &plain.op else { return };
        if *squares == Bitboard::FULL {
            return;
        }
        let letter = designator(*pieces, Bitboard::FULL);
        let mark = match letter.chars().next() {
            Some(c) if letter.len() == 1 => c,
            _ => '*',
        };
        for square in *squares {
            let cell = &mut cells[square.rank() as usize][square.file() as usize];
            *cell = if *cell == '.' || *cell == mark { mark } else { '?' };
        }
    });
    cells.reverse();
    cells.map(|rank| {
        rank.iter().enumerate().fold(String::new(), |mut line, (k, c)| {
            if k > 0 {
                line.push(' ');
            }
            line.push(*c);
            line
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{orbit::expand, query::parse};

    fn printed(text: &str) -> String {
        AsText(&expand(&parse(text).unwrap().query.body).unwrap()).to_string()
    }

    #[test]
    fn printed_filters_read_back_as_themselves() {
        for text in [
            "Ra1",
            "[RN]a-d1-2",
            "_[a1,h8]",
            "{wtm #(R | N & b1) >= 2}",
            "if wtm then Qd1 else qd8",
            "#(diagonal 1 Q & a) >= 2",
            "pin from r through N to K",
            "ray attack diagonal (B a k)",
            "r->N->K",
            "{x=Ra1 #x==1}",
            "square s in P {rank s >= 4}",
            "flip 2 - -3 * abs -4",
            "max(1 #R rank k)",
            "countmoves legal N--(enpassant)",
            "not (A attackedby a) or elo white > 2500 and player \"Carlsen\"",
            "a-h1-8",
            "[Aa_]a1",
        ] {
            let once = printed(text);
            if !once.contains('⟨') {
                assert_eq!(printed(&once), once, "{text}");
            }
        }
    }

    #[test]
    fn squares_are_named_as_rectangles() {
        for (text, wanted) in [
            ("R[a1,b1,a2,b2]", "Ra-b1-2"),
            ("P[a-h2,c4]", "P[a-h2,c4]"),
            ("[a1-8,h1-8]", "[a1-8,h1-8]"),
            ("N[a1,b1,a2]", "N[a-b1,a2]"),
        ] {
            assert_eq!(printed(text), wanted);
        }
    }

    #[test]
    fn placements_are_told_in_words() {
        let swapped =
            Placement { swap_colors: true, dihedral: Dihedral::ReflectRanks, ..Placement::IDENTITY };
        let shifted = Placement { shift: Some((1, -2)), ..Placement::IDENTITY };
        for (placement, words) in [
            (Placement::IDENTITY, "as written"),
            (swapped, "colours swapped"),
            (Placement { dihedral: Dihedral::Rotate180, ..swapped }, "colours swapped, mirrored a<->h"),
            (shifted, "shifted +1 file -2 ranks"),
            (
                Placement { shift: Some((0, -1)), turn45: 3, ..shifted },
                "directions turned 135, shifted -1 rank",
            ),
            (Placement { smeared: true, ..shifted }, "shifted +1 file -2 ranks, edge squares stay"),
            (
                Placement { shift: None, dihedral: Dihedral::Rotate90Ccw, ..shifted },
                "turned 90, shifted more than once",
            ),
        ] {
            assert_eq!(placement.to_string(), words);
        }
    }

    #[test]
    fn a_board_shows_designators() {
        let filter = expand(&parse("{Nd4 [qr]f3 k}").unwrap().query.body).unwrap();
        assert_eq!(small_board(&filter)[4..6], [". . . N . . . .", ". . . . . * . ."]);
    }
}
