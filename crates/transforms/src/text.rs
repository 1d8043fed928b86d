//! Writes filters with expanded transforms as CQL text. A copy (transformed filter) can then be read, or run as its own query.

use std::fmt::{self, Write as _};

use shakmaty::{Bitboard, Color, Square};

mod game;

use super::{
    Condition, Expanded, Filter, FilterRef, Number, NumberOrbit, Orbit, Placement, Position, Squares, Text,
};
use orbit_core::board::{Code, Dihedral, PieceSet};
use orbit_query::tree::{
    Arith, ConditionOp, Control, Counted, Dirs, GameResult, Kind, Moves, NumberOp, OneOrMore, PawnKind,
    Pieces, PinPart, PositionOp, PureKind, Ref, Special, Spelt, SquaresOp, TextOp, VarId,
};

/// Displays a filter as CQL 6. Variables are named `v0`, `v1`, ... Some parts cannot be expressed in CQL: a nested transform is
/// written as the list of its copies in angle brackets, and counts of attacks and lines as `attackcount` and `raycount`.
#[derive(Clone, Copy, Debug)]
pub struct AsText<'a>(pub &'a Filter);

impl fmt::Display for AsText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text(self.0.node()))
    }
}

/// Displays the transforms that made a copy from the filter as written: `turned 90, shifted +1 file -2 ranks`. A colour swap
/// includes the reflection of ranks, which is therefore not named separately.
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

/// Returns a number of steps as text, such as ` -2 files`, or an empty string if there are none.
fn steps(count: i8, line: &str) -> String {
    match count {
        0 => String::new(),
        1 | -1 => format!(" {count:+} {line}"),
        _ => format!(" {count:+} {line}s"),
    }
}

/// Returns a description of a symmetry, such as `turned 90`, or `None` for the identity.
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

pub(super) fn text(filter: FilterRef) -> String {
    match filter {
        Ref::Condition(f) => condition(f),
        Ref::Squares(f) => squares(f),
        Ref::Number(f) => number(f),
        Ref::Text(f) => string(f),
        Ref::Position(f) => position(f),
    }
}

/// Returns the text of an operand. It is in parentheses unless it is a single word or already in brackets.
fn tight(filter: &impl Kind<Expanded>) -> String {
    let filter = filter.node();
    let text = text(filter);
    let bracketed = match filter {
        Ref::Condition(f) => {
            matches!(f.op(), ConditionOp::Form(_) | ConditionOp::ContentIs { .. })
        }
        Ref::Squares(f) => matches!(f.op(), SquaresOp::Form(_)),
        Ref::Number(f) => match f.op() {
            NumberOp::Form(_) => true,
            NumberOp::Int(value) if *value < 0 => return format!("({text})"),
            _ => false,
        },
        Ref::Text(_) | Ref::Position(_) => false,
    };
    if let Some(alone) = game::stands_alone(filter) {
        return if alone { text } else { format!("({text})") };
    }
    let mut is_word = true;
    filter.each_child(&mut |_| is_word = false);
    if bracketed || is_word || filter.is_braces() { text } else { format!("({text})") }
}

fn infix(sign: &str, a: &impl Kind<Expanded>, b: &impl Kind<Expanded>) -> String {
    format!("{} {sign} {}", tight(a), tight(b))
}

fn prefix(word: &str, of: &impl Kind<Expanded>) -> String {
    format!("{word} {}", tight(of))
}

fn list<'a, F: Kind<Expanded> + 'a>(open: &str, all: impl IntoIterator<Item = &'a F>, close: &str) -> String {
    let parts: Vec<String> = all.into_iter().map(tight).collect();
    format!("{open}{}{close}", parts.join(" "))
}

fn orbit<F: Kind<Expanded>>(orbit: &Orbit<F>) -> String {
    let copies: Vec<String> = orbit.copies.iter().map(|copy| text(copy.filter.node())).collect();
    format!("⟨{}⟩", copies.join(" ⟩⟨ "))
}

fn counted(counted: Counted) -> String {
    match counted {
        Counted::All => "count ".into(),
        Counted::Range(lo, hi) => format!("{lo} {hi} "),
    }
}

fn control<F: Kind<Expanded>>(of: &Control<Expanded, F>) -> String {
    match of {
        Control::Var(var) => name(*var),
        Control::If { condition, then, other } => {
            format!("if {} then {} else {}", tight(condition), tight(then), tight(other))
        }
        Control::Braces { first, last } => {
            let parts: Vec<String> = first.iter().map(tight).chain([tight(last)]).collect();
            format!("{{{}}}", parts.join(" "))
        }
    }
}

fn condition(f: &Condition) -> String {
    use ConditionOp as C;
    match f.op() {
        C::Bool(value) => value.to_string(),
        C::And(a, b) => infix("and", a, b),
        C::Or(a, b) => infix("or", a, b),
        C::Not(of) => prefix("not", of),
        C::If { condition, then, other } => {
            let other = other.as_ref().map_or(String::new(), |other| format!(" else {}", tight(other)));
            format!("if {} then {}{other}", tight(condition), tight(then))
        }
        C::Braces(all) => list("{", all, "}"),
        C::Subset(a, b) => infix("in", a, b),
        C::TextIn(a, b) => infix("in", a, b),
        C::SetEq { equal, left, right } => infix(if *equal { "==" } else { "!=" }, left, right),
        C::Differ(a, b) => infix("!=", a, b),
        C::TextCompare(cmp, a, b) => infix(cmp.sign(), a, b),
        C::Check => "check".into(),
        C::Mate => "mate".into(),
        C::Stalemate => "stalemate".into(),
        C::Initial => "initial".into(),
        C::Terminal => "terminal".into(),
        C::ToMove(color) => if color.is_white() { "wtm" } else { "btm" }.into(),
        C::Result(result) => match result {
            GameResult::WhiteWins => "result 1-0",
            GameResult::BlackWins => "result 0-1",
            GameResult::Draw => "result 1/2-1/2",
        }
        .into(),
        C::Assign(var, value) => {
            format!("{}={}", name(*var), game::assigned(value))
        }
        C::ContentIs { contents, of, spelt: Some(spelt) } => content_name(*contents, *spelt, of),
        C::ContentIs { contents, of, spelt: None } => content_is(*contents, of),
        C::SquareAll { var, domain, body } => {
            format!("square all {} in {} {}", name(*var), tight(domain), tight(body))
        }
        C::Game(of) => game::condition(of),
        C::Form(copies) => orbit(copies),
    }
}

/// Returns the text of a condition: the set `of` has exactly one square, and the content of this square (a piece, or nothing) is
/// one of `contents`.
fn content_is(contents: PieceSet, of: &Squares) -> String {
    let (of, pieces) = (tight(of), designator(Pieces::listed(contents), Bitboard::FULL));
    format!("{{((#{of}) == 1) ({of} in {pieces})}}")
}

/// Returns the text of a filter whose value is the letter for a square's content, if that content is in `contents`.
fn content_name(contents: PieceSet, spelt: Spelt, of: &Squares) -> String {
    let word = match spelt {
        Spelt::Type => "typename",
        Spelt::Piece => "piecename",
    };
    match contents {
        PieceSet::ALL => format!("({})", prefix(word, of)),
        _ => format!("{{{} ({})}}", content_is(contents, of), prefix(word, of)),
    }
}

fn squares(f: &Squares) -> String {
    use SquaresOp as S;
    match f.op() {
        S::Designator { pieces, squares } => designator(*pieces, *squares),
        S::Constant(Bitboard::FULL) => ".".into(),
        S::Constant(Bitboard::EMPTY) => "[]".into(),
        S::Constant(squares) => match squares.single_square() {
            Some(square) => format!("makesquare \"{square}\""),
            None => format!("({})", named_squares(*squares)),
        },
        S::Union(a, b) => infix("|", a, b),
        S::Intersect(a, b) => infix("&", a, b),
        S::Complement(of) => format!("~{}", tight(of)),
        S::Attacks(x, y) => infix("attacks", x, y),
        S::AttackedBy(y, x) => infix("attackedby", y, x),
        S::Xray { forward, sets } => {
            let parts: Vec<String> = sets.iter().map(tight).collect();
            parts.join(if *forward { "->" } else { "<-" })
        }
        S::Between(x, y) => list("between(", [x, y], ")"),
        S::Ray { dirs, attack, sets } => {
            let dirs = if *dirs == Dirs::ALL { String::new() } else { format!(" {}", directions(*dirs)) };
            ray(&format!("ray{}{dirs}", attacking(*attack)), sets)
        }
        S::Pin { value, from, through, to } => {
            let mut parts = [("from", tight(from)), ("through", tight(through)), ("to", tight(to))];
            let first = match value {
                PinPart::From => 0,
                PinPart::Through => 1,
                PinPart::To => 2,
            };
            parts.swap(0, first);
            parts.iter().fold(String::from("pin"), |out, (word, part)| format!("{out} {word} {part}"))
        }
        S::Direction { dirs, lo, hi, of } => {
            let range = if (*lo, *hi) == (1, 7) { String::new() } else { format!("{lo} {hi} ") };
            format!("{} {range}{}", directions(*dirs), tight(of))
        }
        S::DirectionWithin { dirs, lo, hi, of } => {
            format!("{} {} {} {}", directions(*dirs), tight(lo), tight(hi), tight(of))
        }
        S::Shade { light, of } => prefix(if *light { "light" } else { "dark" }, of),
        S::Pawns(kind) => match kind {
            PawnKind::Passed => "passedpawns",
            PawnKind::Isolated => "isolatedpawns",
            PawnKind::Doubled => "doubledpawns",
            PawnKind::Connected => "connectedpawns",
        }
        .into(),
        S::Pure { kind, mate } => {
            let kind = match kind {
                PureKind::Pure => "pure",
                PureKind::Model => "model",
                PureKind::Ideal => "ideal",
            };
            format!("{kind}{}", if *mate { "mate" } else { "stalemate" })
        }
        S::MakeSquare { file, rank } => list("makesquare(", [file, rank], ")"),
        S::SquareLoop { var, domain, body } => {
            format!("square {} in {} {}", name(*var), tight(domain), tight(body))
        }
        S::Legal(of) => legal(of),
        S::Control(of) => control(of),
        S::Game(of) => game::squares(of),
        S::Form(copies) => orbit(copies),
    }
}

fn number(f: &Number) -> String {
    use NumberOp as N;
    match f.op() {
        N::Int(value) => value.to_string(),
        N::Cardinality(of) => format!("#{}", tight(of)),
        N::AttackCount(x, y) => list("attackcount(", [x, y], ")"),
        N::RayCount { dirs, attack, sets } => {
            ray(&format!("raycount{} {}", attacking(*attack), directions(*dirs)), sets)
        }
        N::Power(of) => prefix("power", of),
        N::Rank(of) => prefix("rank", of),
        N::File(of) => prefix("file", of),
        N::ContentType { signed, of } => prefix(if *signed { "colortype" } else { "type" }, of),
        N::Arith(arith, a, b) => {
            let sign = match arith {
                Arith::Add => "+",
                Arith::Sub => "-",
                Arith::Mul => "*",
                Arith::Div => "/",
                Arith::Rem => "%",
            };
            infix(sign, a, b)
        }
        N::Neg(of) => format!("-{}", tight(of)),
        N::Abs(of) => prefix("abs", of),
        N::Sqrt(of) => prefix("sqrt", of),
        N::InRange { lo, hi, of } => in_range(lo, hi, of),
        N::Max(all) => list("max(", all.iter(), ")"),
        N::Min(all) => list("min(", all.iter(), ")"),
        N::Compare(cmp, a, b) => infix(cmp.sign(), a, b),
        N::ColorValue(color) => color_name(*color).into(),
        N::SideToMove => "sidetomove".into(),
        N::Ply => "ply".into(),
        N::MoveNumber => "movenumber".into(),
        N::GameNumber => "gamenumber".into(),
        N::Year => "year".into(),
        N::Elo(color) => format!("elo{}", color.map_or(String::new(), |c| format!(" {}", color_name(c)))),
        N::LegalCount(of) => format!("countmoves {}", legal(of)),
        N::Find { back, quiet, counted: Counted::Range(1, i32::MAX), of } => find(*back, *quiet, "all ", of),
        N::Find { back, quiet, counted: range, of } => find(*back, *quiet, &counted(*range), of),
        N::Control(of) => control(of),
        N::Game(of) => game::number(of),
        N::Form(NumberOrbit::Largest(copies)) => orbit(copies),
        N::Form(NumberOrbit::Counted(range, copies)) => format!("{}{}", counted(*range), orbit(copies)),
    }
}

fn string(f: &Text) -> String {
    match f.op() {
        TextOp::Literal(text) => literal(text),
        TextOp::Tag(name) => format!("tag {}", literal(name)),
        TextOp::Player(color) => {
            format!("player{}", color.map_or(String::new(), |c| format!(" {}", color_name(c))))
        }
        TextOp::ContentName { contents, spelt, of } => content_name(*contents, *spelt, of),
        TextOp::Compare(cmp, a, b) => infix(cmp.sign(), a, b),
        TextOp::Control(of) => control(of),
        TextOp::Game(of) => game::string(of),
        TextOp::Form(never) => match *never {},
    }
}

fn position(f: &Position) -> String {
    match f.op() {
        PositionOp::Find { back, quiet, of } => find(*back, *quiet, "", of),
        PositionOp::Control(of) => control(of),
        PositionOp::Game(of) => game::position(of),
        PositionOp::Form(never) => match *never {},
    }
}

fn attacking(attack: bool) -> &'static str {
    if attack { " attack" } else { "" }
}

fn ray(words: &str, sets: &OneOrMore<Squares>) -> String {
    list(&format!("{words} ("), sets.iter(), ")")
}

fn name(var: VarId) -> String {
    format!("v{}", var.0)
}

/// Returns the text of a literal string. Special notations are used for strings that cannot be quoted.
fn literal(text: &str) -> String {
    match text {
        "\n" => "\\n".into(),
        "\t" => "\\t".into(),
        "\r" => "\\r".into(),
        "\"" => "\\\"".into(),
        "\\" => "\\\\".into(),
        _ => format!("\"{text}\""),
    }
}

fn color_name(color: Color) -> &'static str {
    if color.is_white() { "white" } else { "black" }
}

/// Returns the text of a filter that compares a count with a range. The range replaces the word `count` in the text of `of`.
fn in_range(lo: &Number, hi: &Number, of: &Number) -> String {
    let range = format!("{} {} ", tight(lo), tight(hi));
    match of.op() {
        NumberOp::Form(NumberOrbit::Counted(Counted::All, copies)) => format!("{range}{}", orbit(copies)),
        NumberOp::Find { back, quiet, counted: Counted::All, of } => find(*back, *quiet, &range, of),
        _ => format!("{{({} <= {}) ({} <= {}) {}}}", tight(lo), tight(of), tight(of), tight(hi), tight(of)),
    }
}

fn find(back: bool, quiet: bool, counted: &str, of: &Filter) -> String {
    let way = if back { "<-- " } else { "" };
    let quiet = if quiet { "quiet " } else { "" };
    format!("find {way}{quiet}{counted}{}", tight(of))
}

fn legal(of: &Moves<Expanded>) -> String {
    let side = |side: &Squares, behind: bool| match side.op() {
        SquaresOp::Constant(Bitboard::FULL) => String::new(),
        _ if behind => game::reached(side),
        _ => tight(side),
    };
    let pseudo = if of.pseudo { "pseudo" } else { "" };
    let only = match of.only {
        Special::Any => "",
        Special::Castle => "(castle)",
        Special::KingSide => "(o-o)",
        Special::QueenSide => "(o-o-o)",
        Special::EnPassant => "(enpassant)",
    };
    format!("{pseudo}legal {}--{}{only}", side(&of.from, false), side(&of.to, true))
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

/// Returns the text of a designator: its pieces, then its squares.
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

/// Returns the text of a set of squares, as rectangles of files and ranks: `a1`, `a-h2`, `[a1-8,h1-8]`.
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
        // Two rectangles begin at this square: the longest run along the rank extended upwards, and the longest run along the file
        // extended to the right. The larger of the two is used.
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

/// Draws the designators of a filter on a small board of eight lines, from rank 8 to rank 1. A designator with one square and one
/// piece is drawn as the piece letter, any other designator as `*`. A `?` marks squares shared by several designators.
pub fn small_board(filter: &Filter) -> [String; 8] {
    let mut cells = [['.'; 8]; 8];
    filter.walk(&mut |filter| {
        let Ref::Squares(f) = filter else { return };
        let SquaresOp::Designator { pieces, squares } = f.op() else { return };
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
    use crate::expand;
    use orbit_query::parse;

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
