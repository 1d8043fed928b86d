//! Represents queries with `line` and `path`: their parts, their text, and their copies (transformed queries).

use std::fmt::{self, Display, Formatter};

use shakmaty::{Bitboard, Color, Piece, Role, Square};

/// A piece designator: the piece letters and the squares.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Designator {
    /// The piece letters, sorted. If there are none, the squares may be empty or have any piece.
    pub pieces: Vec<char>,
    pub squares: Bitboard,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Amount {
    Number(i32),
    Count(Designator),
    Power(Designator),
    Ply,
    PathCount,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Filter {
    /// One of the keywords `true`, `check`, `mate`, `initial`, `terminal`, `primary`, `secondary` and `mainline`.
    Word(&'static str),
    ToMove(Color),
    Holds(Designator),
    Less(Amount, Amount),
    Not(Box<Filter>),
    Or(Box<Filter>, Box<Filter>),
    Chain(Box<Query>),
    /// One of `move from S`, `move to S` and `move capture S`.
    Move(&'static str, Designator),
    MoveSecondary,
}

/// A dash filter, `L--R=P` or `L[x]R=P`, and the filters for the position after the move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dash {
    pub capture: bool,
    pub from: Option<Designator>,
    pub to: Option<Designator>,
    pub promotion: Option<char>,
    pub targets: Vec<Filter>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Atom {
    /// A filter for a position, in a line.
    Position(Filter),
    /// A filter for the position reached so far, in a path.
    Test(Filter),
    /// In a path, a move.
    Move(Dash),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Chain {
    One(Atom),
    Sequence(Vec<Chain>),
    Repeat { of: Box<Chain>, min: usize, max: Option<usize>, suffix: String },
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Focus {
    Pieces { capture: bool, of: Designator },
    SingleColor,
}

/// A `line` or a `path`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Query {
    pub path: bool,
    pub range: Option<(i32, i32)>,
    /// True if the arrow is `<--`.
    pub back: bool,
    /// True if a line has `singlecolor`.
    pub single_color: bool,
    pub focus: Option<Focus>,
    pub max: Option<Amount>,
    pub nestban: bool,
    pub first_match: bool,
    /// `primary` or, in a line, `secondary`.
    pub sibling: Option<&'static str>,
    pub last_position: bool,
    /// Keywords that affect only comments.
    pub words: Vec<&'static str>,
    pub chain: Chain,
}

/// A whole query: the filters before the chain, the chain, and a transform that applies to all of them.
#[derive(Clone, Debug)]
pub struct Body {
    pub variations: bool,
    pub transform: Option<(&'static str, bool)>,
    pub before: Vec<Filter>,
    pub query: Query,
}

impl Chain {
    pub fn can_be_empty(&self) -> bool {
        match self {
            Chain::One(Atom::Test(_)) => true,
            Chain::One(_) => false,
            Chain::Sequence(all) => all.iter().all(Chain::can_be_empty),
            Chain::Repeat { of, min, .. } => *min == 0 || of.can_be_empty(),
        }
    }
}

impl Designator {
    pub fn accepts(&self, square: Square, piece: Option<Piece>) -> bool {
        let fits = |&letter: &char| match (letter, piece) {
            ('_', piece) => piece.is_none(),
            ('A', Some(piece)) => piece.color.is_white(),
            ('a', Some(piece)) => piece.color.is_black(),
            (letter, Some(piece)) => piece.char() == letter,
            (_, None) => false,
        };
        self.squares.contains(square) && (self.pieces.is_empty() || self.pieces.iter().any(fits))
    }
}

impl Filter {
    /// Returns true if the filter is about the move played from the position. In a line, a constituent with this filter is
    /// evaluated for each move played from there.
    pub fn is_tied(&self) -> bool {
        match self {
            Filter::Move(..) | Filter::MoveSecondary => true,
            Filter::Not(of) => of.is_tied(),
            Filter::Or(a, b) => a.is_tied() || b.is_tied(),
            _ => false,
        }
    }
}

// ---- text

impl Display for Designator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.pieces[..] {
            [] => {}
            [one] => write!(f, "{one}")?,
            all => write!(f, "[{}]", all.iter().collect::<String>())?,
        }
        let names: Vec<String> = self.squares.into_iter().map(|square| square.to_string()).collect();
        match &names[..] {
            all if all.len() == 64 && self.pieces.is_empty() => write!(f, "a-h1-8"),
            all if all.len() == 64 => Ok(()),
            [one] => write!(f, "{one}"),
            all => write!(f, "[{}]", all.join(",")),
        }
    }
}

impl Display for Amount {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Amount::Number(number) => write!(f, "{number}"),
            Amount::Count(of) => write!(f, "#{of}"),
            Amount::Power(of) => write!(f, "power {of}"),
            Amount::Ply => write!(f, "ply"),
            Amount::PathCount => write!(f, "pathcount"),
        }
    }
}

impl Display for Filter {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            // Without braces, this keyword would be parsed as an option of `path`.
            Filter::Word(word @ ("primary" | "secondary")) => write!(f, "{{{word}}}"),
            Filter::Word(word) => write!(f, "{word}"),
            Filter::ToMove(color) => write!(f, "{}", color.fold_wb("wtm", "btm")),
            Filter::Holds(of) => write!(f, "{of}"),
            // The `true` at the end makes this a condition. If it ended with a number, a following sign would make it an
            // arithmetic expression.
            Filter::Less(a, b) => write!(f, "{{{a} < {b} true}}"),
            Filter::Not(of) => write!(f, "not {of}"),
            Filter::Or(a, b) => write!(f, "{{{a} or {b}}}"),
            Filter::Chain(of) => write!(f, "{{{of}}}"),
            Filter::Move(word, of) => write!(f, "{{move {word} {of}}}"),
            Filter::MoveSecondary => write!(f, "{{move secondary}}"),
        }
    }
}

impl Display for Dash {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(from) = &self.from {
            write!(f, "{from}")?;
        }
        f.write_str(if self.capture { "[x]" } else { "--" })?;
        if let Some(to) = &self.to {
            write!(f, "{to}")?;
        }
        if let Some(promotion) = self.promotion {
            write!(f, "={promotion}")?;
        }
        self.targets.iter().try_for_each(|target| write!(f, " {target}"))
    }
}

impl Chain {
    fn print(&self, arrow: &str, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Chain::One(Atom::Position(filter) | Atom::Test(filter)) => write!(f, "{filter}"),
            Chain::One(Atom::Move(dash)) => write!(f, "{dash}"),
            Chain::Sequence(all) => {
                f.write_str("(")?;
                print_all(all, arrow, f)?;
                f.write_str(")")
            }
            Chain::Repeat { of, suffix, .. } => {
                of.print(arrow, f)?;
                write!(f, "{suffix}")
            }
        }
    }
}

fn print_all(all: &[Chain], arrow: &str, f: &mut Formatter<'_>) -> fmt::Result {
    for (index, one) in all.iter().enumerate() {
        if index > 0 {
            write!(f, " {arrow}")?;
        }
        one.print(arrow, f)?;
    }
    Ok(())
}

impl Display for Query {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(if self.path { "path" } else { "line" })?;
        match self.range {
            Some((low, high)) if low == high => write!(f, " {low}")?,
            Some((low, high)) => write!(f, " {low} {high}")?,
            None => {}
        }
        match &self.focus {
            Some(Focus::Pieces { capture: true, of }) => write!(f, " focus capture {of}")?,
            Some(Focus::Pieces { capture: false, of }) => write!(f, " focus {of}")?,
            Some(Focus::SingleColor) => write!(f, " singlecolor")?,
            None => {}
        }
        if let Some(max) = &self.max {
            write!(f, " max {max}")?;
        }
        for (set, word) in [
            (self.single_color, "singlecolor"),
            (self.nestban, "nestban"),
            (self.first_match, "firstmatch"),
            (self.last_position, "lastposition"),
        ] {
            if set {
                write!(f, " {word}")?;
            }
        }
        self.sibling.iter().chain(&self.words).try_for_each(|word| write!(f, " {word}"))?;
        let arrow = match (self.path, self.back) {
            (true, _) => "",
            (_, true) => "<-- ",
            _ => "--> ",
        };
        write!(f, " {arrow}")?;
        match &self.chain {
            Chain::Sequence(all) => print_all(all, arrow, f),
            one => one.print(arrow, f),
        }
    }
}

impl Display for Body {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.variations {
            f.write_str("cql(variations) ")?;
        }
        if let Some((transform, count)) = self.transform {
            write!(f, "{transform} {}", if count { "count " } else { "" })?;
        }
        if self.before.is_empty() {
            return write!(f, "{}", self.query);
        }
        f.write_str("{")?;
        self.before.iter().try_for_each(|filter| write!(f, "{filter} "))?;
        write!(f, "{{{}}}}}", self.query)
    }
}

// ---- copies

/// A function that returns the image of a designator under a transform; `None` if the image has no squares.
type Image<'a> = &'a dyn Fn(&Designator) -> Option<Designator>;

impl Amount {
    fn image(&self, image: Image) -> Option<Amount> {
        Some(match self {
            Amount::Count(of) => Amount::Count(image(of)?),
            Amount::Power(of) => Amount::Power(image(of)?),
            other => other.clone(),
        })
    }
}

impl Filter {
    fn image(&self, image: Image, swap: bool) -> Option<Filter> {
        let sub = |of: &Filter| of.image(image, swap).map(Box::new);
        Some(match self {
            Filter::ToMove(color) => Filter::ToMove(if swap { !*color } else { *color }),
            Filter::Holds(of) => Filter::Holds(image(of)?),
            Filter::Less(a, b) => Filter::Less(a.image(image)?, b.image(image)?),
            Filter::Not(of) => Filter::Not(sub(of)?),
            Filter::Or(a, b) => Filter::Or(sub(a)?, sub(b)?),
            Filter::Chain(of) => Filter::Chain(Box::new(of.image(image, swap)?)),
            Filter::Move(word, of) => Filter::Move(word, image(of)?),
            other @ (Filter::Word(_) | Filter::MoveSecondary) => other.clone(),
        })
    }
}

impl Chain {
    fn image(&self, image: Image, swap: bool) -> Option<Chain> {
        Some(match self {
            Chain::One(Atom::Position(of)) => Chain::One(Atom::Position(of.image(image, swap)?)),
            Chain::One(Atom::Test(of)) => Chain::One(Atom::Test(of.image(image, swap)?)),
            Chain::One(Atom::Move(dash)) => {
                let side = |of: &Option<Designator>| match of {
                    Some(of) => image(of).map(Some),
                    None => Some(None),
                };
                let targets = dash.targets.iter().map(|of| of.image(image, swap)).collect::<Option<_>>()?;
                let (from, to) = (side(&dash.from)?, side(&dash.to)?);
                Chain::One(Atom::Move(Dash { from, to, targets, ..dash.clone() }))
            }
            Chain::Sequence(all) => {
                Chain::Sequence(all.iter().map(|of| of.image(image, swap)).collect::<Option<_>>()?)
            }
            Chain::Repeat { of, min, max, suffix } => {
                let of = Box::new(of.image(image, swap)?);
                Chain::Repeat { of, min: *min, max: *max, suffix: suffix.clone() }
            }
        })
    }
}

impl Query {
    fn image(&self, image: Image, swap: bool) -> Option<Query> {
        let focus = match &self.focus {
            Some(Focus::Pieces { capture, of }) => Some(Focus::Pieces { capture: *capture, of: image(of)? }),
            other => other.clone(),
        };
        let max = match &self.max {
            Some(max) => Some(max.image(image)?),
            None => None,
        };
        Some(Query { focus, max, chain: self.chain.image(image, swap)?, ..self.clone() })
    }
}

impl Body {
    /// Returns the distinct copies (transformed queries) that the transform generates. Each consists of the filters before the
    /// chain, and the chain.
    pub fn copies(&self) -> Vec<(Vec<Filter>, Query)> {
        let Some((transform, _)) = self.transform else {
            return vec![(self.before.clone(), self.query.clone())];
        };
        let mut out = Vec::new();
        for (image, swap) in images(transform) {
            let before: Option<Vec<_>> = self.before.iter().map(|of| of.image(&*image, swap)).collect();
            let Some(copy) = before.zip(self.query.image(&*image, swap)) else { continue };
            if !out.contains(&copy) {
                out.push(copy);
            }
        }
        out
    }
}

type Images = Vec<(Box<dyn Fn(&Designator) -> Option<Designator>>, bool)>;

/// Returns the square functions that a transform keyword stands for, each with a flag that is true if it swaps the colours.
fn images(transform: &str) -> Images {
    type Squares = Box<dyn Fn(Bitboard) -> Bitboard>;
    let each = |to: fn(i32, i32) -> (i32, i32)| -> Squares { Box::new(move |set| moved(set, to)) };
    type Image = fn(i32, i32) -> (i32, i32);
    let dihedral: [Image; 8] = [
        |x, y| (x, y),
        |x, y| (7 - y, x),
        |x, y| (7 - x, 7 - y),
        |x, y| (y, 7 - x),
        |x, y| (7 - x, y),
        |x, y| (x, 7 - y),
        |x, y| (y, x),
        |x, y| (7 - y, 7 - x),
    ];
    let (of_squares, swaps): (Vec<Squares>, Vec<bool>) = match transform {
        "flip" => dihedral.into_iter().map(|to| (each(to), false)).unzip(),
        "rotate90" => dihedral.into_iter().take(4).map(|to| (each(to), false)).unzip(),
        "flipvertical" => [dihedral[0], dihedral[4]].into_iter().map(|to| (each(to), false)).unzip(),
        "fliphorizontal" => [dihedral[0], dihedral[5]].into_iter().map(|to| (each(to), false)).unzip(),
        "flipcolor" => {
            [(dihedral[0], false), (dihedral[5], true)].into_iter().map(|(to, swap)| (each(to), swap)).unzip()
        }
        "shift" => (-7..=7)
            .flat_map(|i| (-7..=7).map(move |j| (i, j)))
            .map(|(i, j)| (Box::new(move |set| shifted(set, i, j)) as Squares, false))
            .unzip(),
        other => panic!("no transform: {other}"),
    };
    let image = |(squares, swap): (Squares, bool)| {
        let of = move |of: &Designator| {
            let mut pieces = of.pieces.clone();
            if swap {
                let other = |c: char| {
                    if c.is_ascii_uppercase() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() }
                };
                pieces.iter_mut().for_each(|c| *c = other(*c));
                pieces.sort_unstable();
            }
            let squares = squares(of.squares);
            squares.any().then_some(Designator { pieces, squares })
        };
        (Box::new(of) as Box<dyn Fn(&Designator) -> Option<Designator>>, swap)
    };
    of_squares.into_iter().zip(swaps).map(image).collect()
}

fn moved(set: Bitboard, to: impl Fn(i32, i32) -> (i32, i32)) -> Bitboard {
    let square = |square: Square| {
        let (x, y) = to(square as i32 % 8, square as i32 / 8);
        ((0..8).contains(&x) && (0..8).contains(&y)).then(|| Square::new((8 * y + x) as u32))
    };
    set.into_iter().filter_map(square).collect()
}

/// Returns a shifted set. A whole rank stays whole in a sideways shift, and a whole file in an upward or downward shift.
fn shifted(set: Bitboard, i: i32, j: i32) -> Bitboard {
    if set == Bitboard::FULL {
        return set;
    }
    let mut out = moved(set, |x, y| (x + i, y + j));
    for line in 0..8 {
        let rank = Bitboard(0xff << (8 * line));
        if set & rank == rank {
            out |= moved(rank, |x, y| (x, y + j));
        }
        let file = Bitboard(0x0101_0101_0101_0101 << line);
        if set & file == file {
            out |= moved(file, |x, y| (x + i, y));
        }
    }
    out
}

/// Returns the piece type for a promotion letter; `None` if the letter stands for any piece.
pub fn promoted(letter: char) -> Option<Role> {
    Role::from_char(letter)
}
