//! Evaluates CQL 5 position lists with short and slow code, to check the engines.
//!
//! The code implements the rules of the dialect in the most direct way and shares nothing with the library. Squares are (file,
//! rank) pairs, a square set is a table of booleans, and a transformation is a sequence of unit steps. All images (transformed
//! versions) of a list are computed. Malformed text causes a panic. [`lists`] generates random lists, and boards on which they
//! are likely to match.
//!
//! Source: CQL 5 manual (transforms). Where the manual leaves a rule open, the code follows orbit's choice.

use std::collections::BTreeSet;

pub mod lists;
pub use lists::{Lists, board_for, random_list};

// ------------------------------------------------------------------------------------------ boards

/// A placement of pieces and the side to move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Board {
    /// The piece on each square as a FEN letter, or `.` for an empty square, from a1 (index 0) and b1 (1) to h8 (63).
    pub squares: [char; 64],
    /// True if White is to move.
    pub white_to_move: bool,
}

/// Facts about a position and its game. The caller provides them, because this code does not generate moves.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// True if the side to move is in check.
    pub check: bool,
    /// True if the side to move is checkmated.
    pub mate: bool,
    /// True if the side to move is stalemated.
    pub stalemate: bool,
    /// True if the position is the first of its game.
    pub initial: bool,
    /// True if the position is the last of its game.
    pub terminal: bool,
    /// The result of the game: `1-0`, `0-1`, `1/2-1/2` or anything else.
    pub result: &'static str,
}

/// A square as (file, rank), each from 0 to 7.
type Square = (usize, usize);

impl Board {
    /// Parses the first two fields of a FEN: the piece placement and the side to move.
    pub fn from_fen(fen: &str) -> Board {
        let mut fields = fen.split_whitespace();
        let mut squares = Vec::new();
        for row in fields.next().expect("a placement").split('/').rev() {
            for c in row.chars() {
                match c.to_digit(10) {
                    Some(n) => (0..n).for_each(|_| squares.push('.')),
                    None => squares.push(c),
                }
            }
        }
        Board { squares: squares.try_into().expect("64 squares"), white_to_move: fields.next() != Some("b") }
    }

    /// Writes a FEN without castling rights, en passant square or counters.
    pub fn fen(&self) -> String {
        let rows: Vec<String> = self.squares.chunks(8).rev().map(String::from_iter).collect();
        let mut placement = rows.join("/");
        for n in (1..=8).rev() {
            placement = placement.replace(&".".repeat(n), &n.to_string());
        }
        format!("{placement} {} - - 0 1", if self.white_to_move { 'w' } else { 'b' })
    }

    fn at(&self, (file, rank): Square) -> char {
        self.squares[8 * rank + file]
    }

    /// Returns true if the piece on `from` attacks `to`, whatever is on `to`. Pins are ignored.
    fn attacks(&self, from: Square, to: Square) -> bool {
        let piece = self.at(from);
        let (dx, dy) = (to.0 as i32 - from.0 as i32, to.1 as i32 - from.1 as i32);
        let (ax, ay) = (dx.abs(), dy.abs());
        let straight = (ax == 0) != (ay == 0);
        let diagonal = ax == ay && ax > 0;
        match piece.to_ascii_uppercase() {
            'K' => ax.max(ay) == 1,
            'N' => (ax, ay) == (1, 2) || (ax, ay) == (2, 1),
            'P' => ax == 1 && dy == if piece == 'P' { 1 } else { -1 },
            'R' => straight && self.open_between(from, to),
            'B' => diagonal && self.open_between(from, to),
            'Q' => (straight || diagonal) && self.open_between(from, to),
            _ => false,
        }
    }

    /// Returns true if all squares strictly between two squares are empty. The two squares must be on a common line.
    fn open_between(&self, from: Square, to: Square) -> bool {
        let sign = |a: usize, b: usize| (b as i32 - a as i32).signum();
        let direction = (sign(from.0, to.0), sign(from.1, to.1));
        let mut here = step(from, direction).expect("`to` lies on the line");
        while here != to && self.at(here) == '.' {
            here = step(here, direction).expect("`to` lies on the line");
        }
        here == to
    }
}

fn all_squares() -> impl Iterator<Item = Square> {
    (0..64).map(|i| (i % 8, i / 8))
}

/// Returns the next square in a direction, if it is on the board.
fn step((file, rank): Square, (dx, dy): (i32, i32)) -> Option<Square> {
    let (x, y) = (file as i32 + dx, rank as i32 + dy);
    ((0..8).contains(&x) && (0..8).contains(&y)).then_some((x as usize, y as usize))
}

// ------------------------------------------------------------------------------------------- lists

/// A set of squares, as `squares[file][rank]`.
type Squares = [[bool; 8]; 8];
const NO_SQUARES: Squares = [[false; 8]; 8];

/// A piece designator: the accepted pieces (FEN letters, `.` for an empty square) and the squares.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Designator {
    pieces: BTreeSet<char>,
    squares: Squares,
}

/// A range of values: the lowest and the highest value, both included.
type Range = (i64, i64);
const UNLIMITED: i64 = 1 << 40;
const AT_LEAST_ONE: Range = (1, UNLIMITED);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Item {
    /// One of the keywords in `FACTS`, or `result` followed by one of `RESULTS`.
    Fact(String),
    /// A condition on a count: `PIECE` (a designator alone, with the range "1 or more"), or a keyword from `COUNTS` or `RAYS`.
    Count(String, Vec<Designator>, Range),
    Negated(Box<Item>),
    Nested(Nested),
}

/// A nested list, stored as the set of its images (transformed versions). It matches if any image matches.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Nested {
    /// One of `NESTINGS`.
    keyword: String,
    /// True if the nested list has its own transform keywords. Otherwise it has exactly one image.
    own: bool,
    images: BTreeSet<Vec<Item>>,
}

pub const FACTS: &str = "wtm btm check mate stalemate initial terminal";
const RESULTS: &str = "1-0 0-1 1/2-1/2";
const PIECE: &str = "piece";
pub const COUNTS: &str = "attackcount piececount power powerdifference";
pub const RAYS: &str = "ray rayattack raydiagonal rayorthogonal rayhorizontal rayvertical";
pub const NESTINGS: &str = "and or not";
pub const TRANSFORMS: &str = "flip flipdihedral fliphorizontal flipvertical flipdiagonal \
    flipoffdiagonal flipcolor shift shifthorizontal shiftvertical shiftmaindiagonal \
    shiftoffdiagonal shiftdiagonal";

fn is_one_of(word: &str, words: &str) -> bool {
    words.split_whitespace().any(|w| w == word)
}

/// Returns the pieces that a symbol stands for, as FEN letters.
fn pieces_of(symbol: char) -> BTreeSet<char> {
    const LETTERS: &str = "KQRBNPkqrbnp";
    let pieces = match symbol {
        'A' | '○' => "KQRBNP",
        'a' | '●' => "kqrbnp",
        'U' | '◑' => LETTERS,
        'M' | '△' => "QR",
        'm' | '▲' => "qr",
        'I' | '▽' => "BN",
        'i' | '▼' => "bn",
        '.' => ".",
        '?' => "KQRBNPkqrbnp.",
        one => {
            let figurine = "♔♕♖♗♘♙♚♛♜♝♞♟".chars().position(|c| c == one);
            let index = figurine.or_else(|| LETTERS.find(one)).expect("a piece symbol");
            &LETTERS[index..=index]
        }
    };
    pieces.chars().collect()
}

struct Parser {
    text: Vec<char>,
    at: usize,
}

impl Parser {
    fn peek(&self) -> char {
        self.text.get(self.at).copied().unwrap_or('\0')
    }

    fn next(&mut self) -> char {
        self.at += 1;
        self.text[self.at - 1]
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> String {
        let from = self.at;
        while wanted(self.peek()) {
            self.at += 1;
        }
        self.text[from..self.at].iter().collect()
    }

    /// Skips blanks, and then skips `word` if it is next. Returns true if it was skipped.
    fn eat(&mut self, word: &str) -> bool {
        self.take_while(char::is_whitespace);
        let word: Vec<char> = word.chars().collect();
        let found = self.text[self.at..].starts_with(&word);
        self.at += if found { word.len() } else { 0 };
        found
    }

    /// Parses `( [position] item… )`. Returns the images (transformed versions) of the list, and true if it has transform
    /// keywords.
    fn list(&mut self) -> (BTreeSet<Vec<Item>>, bool) {
        assert!(self.eat("("), "a list opens with a parenthesis");
        self.eat("position");
        let mut items = Vec::new();
        let mut transforms = Vec::new();
        while !self.eat(")") {
            let negated = self.eat("!");
            if !self.eat(":") {
                assert!(!negated, "only a keyword can be negated");
                let designator = self.designator();
                items.push(Item::Count(PIECE.into(), vec![designator], AT_LEAST_ONE));
                continue;
            }
            let keyword = self.take_while(|c| c.is_ascii_lowercase());
            if is_one_of(&keyword, TRANSFORMS) {
                assert!(!negated, "a transform cannot be negated");
                transforms.push(keyword);
                continue;
            }
            let item = self.keyword(keyword);
            items.push(if negated { Item::Negated(Box::new(item)) } else { item });
        }
        (expand(&items, &transforms), !transforms.is_empty())
    }

    fn keyword(&mut self, keyword: String) -> Item {
        if is_one_of(&keyword, FACTS) {
            Item::Fact(keyword)
        } else if keyword == "result" {
            let result = RESULTS.split(' ').find(|r| self.eat(r)).expect("a result");
            Item::Fact(format!("result {result}"))
        } else if is_one_of(&keyword, COUNTS) {
            let operands = if keyword == "attackcount" { 2 } else { 1 };
            let designators = (0..operands).map(|_| self.designator()).collect();
            Item::Count(keyword, designators, self.range().expect("a range"))
        } else if is_one_of(&keyword, RAYS) {
            let mut designators = Vec::new();
            assert!(self.eat("("), "a ray lists its designators");
            while !self.eat(")") {
                designators.push(self.designator());
            }
            assert!(designators.len() >= 2, "a ray needs two designators");
            Item::Count(keyword, designators, self.range().unwrap_or(AT_LEAST_ONE))
        } else if is_one_of(&keyword, NESTINGS) {
            let (images, own) = self.list();
            Item::Nested(Nested { keyword, own, images })
        } else {
            panic!("unknown keyword :{keyword}")
        }
    }

    fn number(&mut self) -> Option<i64> {
        self.take_while(char::is_whitespace);
        let digits = self.take_while(|c| c == '-' || c.is_ascii_digit());
        (!digits.is_empty()).then(|| digits.parse().expect("a number"))
    }

    /// Parses a range: `n`, `lo hi`, `lo unlimited`, `>n`, `>=n`, `<n` or `<=n`.
    fn range(&mut self) -> Option<Range> {
        for (sign, up, off) in [(">=", true, 0), (">", true, 1), ("<=", false, 0), ("<", false, -1)] {
            if self.eat(sign) {
                let n = self.number().expect("a number") + off;
                return Some(if up { (n, UNLIMITED) } else { (-UNLIMITED, n) });
            }
        }
        let low = self.number()?;
        let unlimited = self.eat("unlimited");
        Some((low, if unlimited { UNLIMITED } else { self.number().unwrap_or(low) }))
    }

    fn designator(&mut self) -> Designator {
        let mut pieces = BTreeSet::new();
        if self.eat("[") {
            while !self.eat("]") {
                pieces.extend(pieces_of(self.next()));
            }
            assert!(!pieces.is_empty(), "a designator names a piece");
        } else {
            pieces = pieces_of(self.next());
        }
        let mut squares = NO_SQUARES;
        match self.peek() {
            '[' => {
                self.at += 1;
                while !self.eat("]") {
                    self.squares(&mut squares, true);
                    self.eat(",");
                }
            }
            'a'..='h' | '?' => self.squares(&mut squares, false),
            _ => squares = [[true; 8]; 8],
        }
        let end = self.peek();
        assert!(end == ')' || end.is_whitespace(), "a designator runs into {end}");
        Designator { pieces, squares }
    }

    /// Parses one element of a square set (files and then ranks), and adds its squares to `squares`.
    fn squares(&mut self, squares: &mut Squares, bracketed: bool) {
        let files = self.span("abcdefgh", bracketed);
        let ranks = self.span("12345678", bracketed);
        for (x, y) in all_squares().filter(|(x, y)| files.contains(x) && ranks.contains(y)) {
            squares[x][y] = true;
        }
    }

    /// Parses files or ranks: a single one, `?` for all or, in brackets, a range in the form `lo-hi` or `lohi`.
    fn span(&mut self, names: &str, bracketed: bool) -> Vec<usize> {
        if self.eat("?") {
            return (0..8).collect();
        }
        let low = names.find(self.next()).expect("a file or rank");
        if !bracketed || (self.peek() != '-' && !names.contains(self.peek())) {
            return vec![low];
        }
        self.eat("-");
        let high = names.find(self.next()).expect("a file or rank");
        assert!(low <= high, "a range runs upwards");
        (low..=high).collect()
    }
}

// -------------------------------------------------------------------------------------- transforms

/// Returns the transformations that a keyword stands for. Each transformation is a sequence of unit steps, applied from
/// left to right.
///
/// The steps are unit shifts (`R L U D`), the vertical, horizontal, diagonal and offdiagonal flips (`v h d o`), and the
/// colour flip (`c`).
fn transformation_set(keyword: &str) -> Vec<String> {
    let words = |words: &[&str]| words.iter().map(|w| w.to_string()).collect();
    let powers = |a: &str, b: &str| [a, b].iter().flat_map(|w| (0..8).map(|n| w.repeat(n))).collect();
    let pairs = |set: Vec<String>, with: Vec<String>| {
        set.iter().flat_map(|a| with.iter().map(move |b| format!("{a}{b}"))).collect()
    };
    match keyword {
        "fliphorizontal" => words(&["", "h"]),
        "flipvertical" => words(&["", "v"]),
        "flipdiagonal" => words(&["", "d"]),
        "flipoffdiagonal" => words(&["", "o"]),
        "flipcolor" => words(&["", "c"]),
        "flip" | "flipdihedral" => words(&["", "h", "v", "hv", "d", "dh", "dv", "dhv"]),
        "shifthorizontal" => powers("R", "L"),
        "shiftvertical" => powers("U", "D"),
        "shiftmaindiagonal" => powers("RU", "LD"),
        "shiftoffdiagonal" => powers("RD", "LU"),
        "shiftdiagonal" => [powers("RU", "LD"), powers("RD", "LU")].concat(),
        "shift" => pairs(powers("R", "L"), powers("U", "D")),
        _ => panic!("{keyword} is no transform"),
    }
}

/// Returns all distinct images (transformed versions) of a list under its own transform keywords. The keywords are applied in
/// every order, except that `:flipcolor` is always last.
fn expand(items: &[Item], keywords: &[String]) -> BTreeSet<Vec<Item>> {
    let original = BTreeSet::from([items.to_vec()]);
    if keywords.is_empty() {
        return original;
    }
    let mut images = BTreeSet::new();
    // Repeating a keyword has no effect.
    let one_name = |k: &String| if k == "flipdihedral" { "flip".to_string() } else { k.clone() };
    let named: BTreeSet<String> = keywords.iter().map(one_name).collect();
    let others = named.iter().filter(|k| *k != "flipcolor").map(String::as_str).collect();
    for order in orders(others) {
        images.extend(order.into_iter().fold(original.clone(), apply_set));
    }
    if keywords.iter().any(|k| k == "flipcolor") {
        images = apply_set(images, "flipcolor");
    }
    images.retain(|image| !has_empty_designator(image));
    images
}

pub fn apply_set(lists: BTreeSet<Vec<Item>>, keyword: &str) -> BTreeSet<Vec<Item>> {
    let words = transformation_set(keyword);
    let all = words.iter().flat_map(|word| lists.iter().map(move |list| apply_word(list, word)));
    // An empty designator stays empty under every transformation, so an image (transformed version of the list) that contains one
    // can be dropped before the last keyword is applied.
    all.filter(|image| !has_empty_designator(image)).collect()
}

/// Returns all permutations of a list.
fn orders(things: Vec<&str>) -> Vec<Vec<&str>> {
    let mut all = Vec::new();
    for i in 0..things.len() {
        let mut rest = things.clone();
        let first = rest.remove(i);
        all.extend(orders(rest).into_iter().map(|tail| [vec![first], tail].concat()));
    }
    if all.is_empty() {
        all.push(vec![]);
    }
    all
}

pub fn apply_word(list: &[Item], word: &str) -> Vec<Item> {
    let apply = |item: &Item| word.chars().fold(item.clone(), apply_step);
    list.iter().map(apply).collect()
}

fn apply_step(item: Item, unit: char) -> Item {
    match item {
        Item::Fact(fact) if unit == 'c' => Item::Fact(flip_fact(fact)),
        Item::Fact(fact) => Item::Fact(fact),
        Item::Count(keyword, designators, (low, high)) => {
            let flipped = unit == 'c' && keyword == "powerdifference";
            let range = if flipped { (-high, -low) } else { (low, high) };
            let designators = designators.into_iter().map(|d| step_designator(d, unit)).collect();
            Item::Count(keyword, designators, range)
        }
        Item::Negated(inner) => Item::Negated(Box::new(apply_step(*inner, unit))),
        Item::Nested(mut nested) => {
            let step_list = |image: Vec<Item>| image.into_iter().map(|i| apply_step(i, unit)).collect();
            nested.images = nested.images.into_iter().map(step_list).collect();
            if nested.own {
                // If a nested list has its own keywords, its images with an empty designator are dropped.
                nested.images.retain(|image| !has_empty_designator(image));
            }
            Item::Nested(nested)
        }
    }
}

fn flip_fact(fact: String) -> String {
    match fact.as_str() {
        "wtm" => "btm".into(),
        "btm" => "wtm".into(),
        "result 1-0" => "result 0-1".into(),
        "result 0-1" => "result 1-0".into(),
        _ => fact,
    }
}

fn step_designator(mut d: Designator, unit: char) -> Designator {
    d.squares = step_squares(&d.squares, unit);
    if unit == 'c' {
        let upper = |c: char| c.to_ascii_uppercase();
        let other = |c: char| {
            if c == upper(c) { c.to_ascii_lowercase() } else { upper(c) }
        };
        d.pieces = d.pieces.into_iter().map(other).collect();
    }
    d
}

fn step_squares(old: &Squares, unit: char) -> Squares {
    let mut new = NO_SQUARES;
    for (x, y) in all_squares().filter(|(x, y)| old[*x][*y]) {
        // Squares on the leading edge leave the board. Squares on the trailing edge both move and stay.
        let (to, stays) = match unit {
            'R' => (step((x, y), (1, 0)), x == 0),
            'L' => (step((x, y), (-1, 0)), x == 7),
            'U' => (step((x, y), (0, 1)), y == 0),
            'D' => (step((x, y), (0, -1)), y == 7),
            'v' => (Some((7 - x, y)), false),
            'h' | 'c' => (Some((x, 7 - y)), false),
            'd' => (Some((y, x)), false),
            'o' => (Some((7 - y, 7 - x)), false),
            _ => panic!("{unit} is no step"),
        };
        if let Some((x, y)) = to {
            new[x][y] = true;
        }
        if stays {
            new[x][y] = true;
        }
    }
    new
}

/// Returns true if an image (a transformed version of a list) must be dropped, because a designator in it or in a nested list has
/// no squares.
fn has_empty_designator(list: &[Item]) -> bool {
    list.iter().any(|item| match item {
        Item::Fact(_) => false,
        Item::Count(_, designators, _) => designators.iter().any(|d| d.squares == NO_SQUARES),
        Item::Negated(inner) => has_empty_designator(&[(**inner).clone()]),
        // A nested list with its own keywords counts as empty if all its images (transformed versions) were dropped.
        Item::Nested(nested) if nested.own => nested.images.is_empty(),
        Item::Nested(nested) => nested.images.iter().any(|i| has_empty_designator(i)),
    })
}

// -------------------------------------------------------------------------------------- evaluation

/// A position list with all its images (transformed versions), ready to be matched against boards.
pub struct Expanded {
    /// The images (transformed versions).
    pub images: BTreeSet<Vec<Item>>,
}

impl Expanded {
    /// Parses a position list and computes its images (transformed versions). Panics if the text is malformed.
    pub fn new(list: &str) -> Expanded {
        let mut parser = Parser { text: list.trim().chars().collect(), at: 0 };
        let (images, _) = parser.list();
        assert_eq!(parser.peek(), '\0', "text after the list");
        Expanded { images }
    }

    /// Returns true if at least one image matches.
    pub fn matches(&self, board: &Board, facts: &Facts) -> bool {
        self.images.iter().any(|image| image.iter().all(|item| holds(item, board, facts)))
    }
}

/// Returns true if the list matches the board. Panics if the text is malformed.
pub fn matches(list: &str, board: &Board, facts: &Facts) -> bool {
    Expanded::new(list).matches(board, facts)
}

fn holds(item: &Item, board: &Board, facts: &Facts) -> bool {
    match item {
        Item::Fact(fact) => match fact.as_str() {
            "wtm" => board.white_to_move,
            "btm" => !board.white_to_move,
            "check" => facts.check,
            "mate" => facts.mate,
            "stalemate" => facts.stalemate,
            "initial" => facts.initial,
            "terminal" => facts.terminal,
            result => result.strip_prefix("result ") == Some(facts.result),
        },
        Item::Count(keyword, designators, (low, high)) => {
            (*low..=*high).contains(&count(keyword, designators, board))
        }
        Item::Negated(inner) => !holds(inner, board, facts),
        Item::Nested(nested) => {
            let all = |image: &Vec<Item>| image.iter().all(|item| holds(item, board, facts));
            let any = |image: &Vec<Item>| image.iter().any(|item| holds(item, board, facts));
            match nested.keyword.as_str() {
                "and" => nested.images.iter().any(all),
                "or" => nested.images.iter().any(any),
                _ => !nested.images.iter().any(all),
            }
        }
    }
}

fn fits(d: &Designator, board: &Board, square: &Square) -> bool {
    d.squares[square.0][square.1] && d.pieces.contains(&board.at(*square))
}

/// Returns the board squares that a designator matches.
fn found(d: &Designator, board: &Board) -> Vec<Square> {
    all_squares().filter(|square| fits(d, board, square)).collect()
}

fn count(keyword: &str, designators: &[Designator], board: &Board) -> i64 {
    let squares = found(&designators[0], board);
    let pieces = squares.iter().map(|s| board.at(*s));
    match keyword {
        PIECE | "piececount" => squares.len() as i64,
        "power" => pieces.map(value).sum(),
        "powerdifference" => pieces.map(|p| if p.is_uppercase() { value(p) } else { -value(p) }).sum(),
        "attackcount" => {
            let targets = found(&designators[1], board);
            let attacked = |from: &Square| targets.iter().filter(|to| board.attacks(*from, **to)).count();
            squares.iter().map(attacked).sum::<usize>() as i64
        }
        _ => rays(keyword, designators, board),
    }
}

fn value(piece: char) -> i64 {
    match piece.to_ascii_uppercase() {
        'Q' => 9,
        'R' => 5,
        'B' | 'N' => 3,
        'P' => 1,
        _ => 0,
    }
}

fn ray_directions(keyword: &str) -> Vec<(i32, i32)> {
    let horizontal = [(1, 0), (-1, 0)];
    let vertical = [(0, 1), (0, -1)];
    let diagonal = [(1, 1), (1, -1), (-1, 1), (-1, -1)];
    match keyword {
        "rayhorizontal" => horizontal.into(),
        "rayvertical" => vertical.into(),
        "rayorthogonal" => [horizontal, vertical].concat(),
        "raydiagonal" => diagonal.into(),
        _ => [&horizontal[..], &vertical, &diagonal].concat(),
    }
}

/// Returns true if the piece on a square is a slider: a queen, rook or bishop, whatever the direction. Source: CQL 5 manual, `ray
/// attack`.
fn slides(board: &Board, square: Square) -> bool {
    "QRBqrb".contains(board.at(square))
}

/// Counts the pairs of a start square and a direction for which the first occupied squares, including the start, match the
/// designators in order.
fn rays(keyword: &str, designators: &[Designator], board: &Board) -> i64 {
    let mut count = 0;
    for start in all_squares().filter(|s| board.at(*s) != '.') {
        for direction in ray_directions(keyword) {
            let line = std::iter::successors(Some(start), |s| step(*s, direction));
            let occupied: Vec<Square> = line.filter(|s| board.at(*s) != '.').collect();
            let mut pairs = designators.iter().zip(&occupied);
            if occupied.len() >= designators.len()
                && pairs.all(|(d, square)| fits(d, board, square))
                && (keyword != "rayattack" || slides(board, start) && board.attacks(start, occupied[1]))
            {
                count += 1;
            }
        }
    }
    count
}

// ---------------------------------------------------------------------------------------- printing

/// Returns the distinct images (transformed versions) of a list, each as the text of a list without transforms, such as
/// `(position Rc3 qg3)`.
///
/// Items keep their order. A nested list with its own keywords is printed as `:or` with its images.
pub fn images(list: &str) -> Vec<String> {
    let images = Expanded::new(list).images;
    images.iter().map(|image| format!("(position {})", print_items(image))).collect()
}

pub fn print_items(items: &[Item]) -> String {
    items.iter().map(print_item).collect::<Vec<_>>().join(" ")
}

fn print_item(item: &Item) -> String {
    match item {
        Item::Fact(fact) => format!(":{fact}"),
        Item::Count(keyword, designators, range) => {
            let names: Vec<String> = designators.iter().map(print_designator).collect();
            let (names, range) = (names.join(" "), print_range(*range));
            if keyword == PIECE {
                names
            } else if is_one_of(keyword, RAYS) {
                format!(":{keyword} ({names}) {range}")
            } else {
                format!(":{keyword} {names} {range}")
            }
        }
        Item::Negated(inner) => format!("!{}", print_item(inner)),
        Item::Nested(Nested { keyword, own, images }) => {
            let print_image = |image: &Vec<Item>| format!(":{keyword} ({})", print_items(image));
            let mut images: Vec<String> = images.iter().map(print_image).collect();
            images.sort();
            match (own, keyword.as_str()) {
                (false, _) => images.concat(),
                (true, "not") => format!(":and ({})", images.join(" ")),
                (true, _) => format!(":or ({})", images.join(" ")),
            }
        }
    }
}

fn print_range(range: Range) -> String {
    match range {
        (low, UNLIMITED) => format!(">={low}"),
        (low, high) if low == -UNLIMITED => format!("<={high}"),
        (low, high) => format!("{low} {high}"),
    }
}

fn print_designator(d: &Designator) -> String {
    let pieces: String = "KQRBNPkqrbnp.".chars().filter(|c| d.pieces.contains(c)).collect();
    let pieces = match pieces.len() {
        1 => pieces,
        13 => "?".to_string(),
        _ => format!("[{pieces}]"),
    };
    let name = |(x, y): Square| format!("{}{}", &"abcdefgh"[x..=x], y + 1);
    let squares: Vec<String> = all_squares().filter(|(x, y)| d.squares[*x][*y]).map(name).collect();
    match squares.len() {
        64 => pieces,
        1 => format!("{pieces}{}", squares[0]),
        _ => format!("{pieces}[{}]", squares.join(",")),
    }
}
