//! The words of the language: one table, with one row for each filter, keyword, operator and kind of piece.
//!
//! All that knows words takes them from here: the lexer its signs and pieces, the parsers what reads a filter, slips
//! their suggestions, the command line `orbit help language` and its completions, tests their examples and generators,
//! `docs/language.md` its text. So a new filter is a row, its function in a parser, and its meaning in the engines.
//!
//! Invariant: no spelling stands twice in a dialect.

mod board;
mod control;
mod game;
mod values;

use std::{borrow::Cow, collections::HashMap, sync::LazyLock};

use super::{
    Dialect, cql5,
    parser::{Parsed, Parser, S},
    tree::{Arith, Dirs, Node, Pieces, Squares, TransformKind},
};
use crate::diagnostic;

/// Words that belong together.
#[derive(Debug)]
pub struct Group {
    /// The language that has them.
    pub dialect: Dialect,
    /// What they are about.
    pub title: &'static str,
    /// What holds for all of them, in Markdown; may be empty.
    pub about: &'static str,
    /// The rows of the table.
    pub words: &'static [Word],
}

/// One word of the language.
#[derive(Debug)]
pub struct Word {
    /// Its spellings, the usual one first. Keywords of CQL 5 stand without their colon.
    pub spellings: &'static [&'static str],
    /// What stands behind it, or around it with `@` in its place.
    arguments: &'static str,
    /// The value of a filter that it makes.
    pub value: Value,
    /// What it means, in one line of Markdown.
    pub meaning: &'static str,
    /// Whether `orbit` has it.
    pub status: Status,
    /// A query: one that runs if the word is here, and else one that is refused because of the word.
    pub example: &'static str,
    reading: Reading,
    parameter: Option<Parameter>,
}

/// The value of a filter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    /// It matches or does not.
    Condition,
    /// A set of squares.
    Squares,
    /// A number.
    Number,
    /// A text.
    Text,
    /// A position of the game.
    Position,
    /// That of its operand.
    AsF,
    /// None: the word is part of another filter.
    NoValue,
}

/// Whether `orbit` has a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// Yes.
    Here,
    /// Inside other filters; the word alone asks for something that is not built, which the text names.
    Within(&'static str),
    /// CQL has it, `orbit` not yet; the text names what is not built, if that is not the filter of this name.
    NotYet(Option<&'static str>),
    /// No, and it will not; the text says why.
    Refused(&'static str),
}

/// How the parsers take a word.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reading {
    /// It begins a filter, which this function reads; the parser stands on the word.
    Filter(fn(&mut Parser, &str) -> Parsed<Node>),
    Transform(TransformKind),
    Direction(Dirs),
    /// It begins a filter that is not built.
    Unbuilt,
    /// It stands inside other filters, and names no variable.
    Inside,
    /// It is an operator, or another sign that the grammar knows.
    Sign,
    /// It is part of a designator.
    Piece(Pieces),
    /// It is a keyword in a list of CQL 5.
    List(cql5::Keyword),
    /// No filter knows it: it belongs to the header, or nowhere.
    Outside,
}

/// How the header takes a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Parameter {
    /// A value follows, and both have no effect.
    Value,
    /// It stands alone and has no effect.
    Switch,
    Result,
    Games,
    Unbuilt,
}

/// The reading of a filter that is one word.
macro_rules! leaf {
    ($op:expr) => {
        Filter(|parser, _| Ok(parser.leaf($op)))
    };
}
use leaf;

// ---- rows

type Spellings = &'static [&'static str];

/// A word that is built.
pub(super) const fn here(
    spellings: Spellings,
    arguments: &'static str,
    value: Value,
    reading: Reading,
    meaning: &'static str,
    example: &'static str,
) -> Word {
    Word { spellings, arguments, value, meaning, status: Status::Here, example, reading, parameter: None }
}

/// A word that is built inside other filters; alone it asks for `subject`.
pub(super) const fn within(
    subject: &'static str,
    spellings: Spellings,
    arguments: &'static str,
    value: Value,
    reading: Reading,
    meaning: &'static str,
    example: &'static str,
) -> Word {
    Word { status: Status::Within(subject), ..here(spellings, arguments, value, reading, meaning, example) }
}

/// A filter that is not built.
pub(super) const fn later(
    spellings: Spellings,
    arguments: &'static str,
    value: Value,
    meaning: &'static str,
) -> Word {
    let row = here(spellings, arguments, value, Reading::Unbuilt, meaning, spellings[0]);
    Word { status: Status::NotYet(None), ..row }
}

/// A sign that is not built, which asks for `subject`.
const fn later_as(
    subject: &'static str,
    example: &'static str,
    spellings: Spellings,
    arguments: &'static str,
    value: Value,
    meaning: &'static str,
) -> Word {
    let row = here(spellings, arguments, value, Reading::Sign, meaning, example);
    Word { status: Status::NotYet(Some(subject)), ..row }
}

/// A word that is refused for good.
const fn refused(spellings: Spellings, why: &'static str) -> Word {
    let row = here(spellings, "", Value::NoValue, Reading::Outside, "", spellings[0]);
    Word { status: Status::Refused(why), ..row }
}

/// A word that stands in the header alone.
const fn header(
    spellings: Spellings,
    arguments: &'static str,
    parameter: Parameter,
    meaning: &'static str,
    example: &'static str,
) -> Word {
    let row = here(spellings, arguments, Value::NoValue, Reading::Outside, meaning, example);
    match parameter {
        Parameter::Unbuilt => Word { status: Status::NotYet(None), ..row },
        _ => row,
    }
    .and_parameter(parameter)
}

impl Word {
    /// The same word, which may also stand in the header.
    const fn and_parameter(self, parameter: Parameter) -> Word {
        Word { parameter: Some(parameter), ..self }
    }

    /// How a filter with the word is written: `not F`, `S attacks S`. F is any filter, S one whose value is a set of
    /// squares, N a number, T a text, P a position; TEXT is a text in quotation marks, and RANGE `N` or `N N`.
    pub fn form(&self, spelling: &str) -> String {
        match self.arguments {
            "" => spelling.into(),
            around if around.contains('@') => around.replace('@', spelling),
            behind => format!("{spelling} {behind}"),
        }
    }

    /// Whether a colon stands before it in queries of its dialect.
    pub fn takes_colon(&self, dialect: Dialect) -> bool {
        dialect == Dialect::Cql5 && !matches!(self.reading, Reading::Piece(_))
    }

    /// Whether nothing stands with the word.
    pub fn is_alone(&self) -> bool {
        self.arguments.is_empty()
    }

    /// What a query asks for that uses the word as `spelling`, if that is not built.
    pub(super) fn unbuilt(&self, spelling: &str) -> Option<Cow<'static, str>> {
        match self.status {
            _ if matches!(self.reading, Reading::Outside) => None,
            Status::Within(subject) | Status::NotYet(Some(subject)) => Some(subject.into()),
            Status::NotYet(None) => Some(format!("the filter `{spelling}`").into()),
            Status::Here | Status::Refused(_) => None,
        }
    }

    /// How the parsers take it.
    pub(super) fn reading(&self) -> Reading {
        self.reading
    }

    /// Whether a filter of CQL 6 that is built begins with it.
    fn is_filter(&self) -> bool {
        matches!(self.reading, Reading::Filter(_) | Reading::Transform(_) | Reading::Direction(_))
    }
}

// ---- the table

/// All words by groups, in the order in which they are shown.
pub fn groups() -> impl Iterator<Item = &'static Group> {
    let files = [board::GROUPS, control::GROUPS, values::GROUPS, game::GROUPS, cql5::GROUPS];
    files.into_iter().flatten()
}

/// The words of a dialect.
pub fn words(dialect: Dialect) -> impl Iterator<Item = &'static Word> {
    groups().filter(move |group| group.dialect == dialect).flat_map(|group| group.words)
}

/// The word of a spelling, in CQL 5 without its colon.
pub fn find(dialect: Dialect, spelling: &str) -> Option<&'static Word> {
    type Index = HashMap<&'static str, &'static Word>;
    static INDEX: LazyLock<[Index; 2]> = LazyLock::new(|| {
        [Dialect::Cql5, Dialect::Cql6].map(|dialect| {
            words(dialect)
                .flat_map(|word| word.spellings.iter().map(move |&spelling| (spelling, word)))
                .collect()
        })
    });
    INDEX[usize::from(dialect == Dialect::Cql6)].get(spelling).copied()
}

/// The word that a misspelt one most resembles: one that is here, or else one that is not yet.
pub fn nearest(dialect: Dialect, misspelt: &str) -> Option<&'static str> {
    let spellings = |is_built: bool| -> Vec<&'static str> {
        let wanted = |word: &&Word| match word.reading {
            Reading::Unbuilt => !is_built,
            Reading::List(_) | Reading::Inside => is_built,
            _ => is_built && word.is_filter(),
        };
        let all = words(dialect).filter(wanted).flat_map(|word| word.spellings);
        all.copied().filter(|spelling| spelling.is_ascii()).collect()
    };
    let among = |is_built| diagnostic::nearest(misspelt, spellings(is_built).iter());
    among(true).or_else(|| among(false))
}

/// Signs, each with its usual spelling, which may be a word (`✵` is `flip`); longer ones first, since one may begin another.
pub(super) fn signs() -> &'static [(&'static str, &'static str)] {
    static SIGNS: LazyLock<Vec<(&'static str, &'static str)>> = LazyLock::new(|| {
        let is_sign = |spelling: &str| !spelling.starts_with(|first: char| first.is_ascii_alphabetic());
        let mut signs: Vec<(&str, &str)> = words(Dialect::Cql6)
            .filter(|word| !matches!(word.reading, Reading::Piece(_)))
            .flat_map(|word| word.spellings.iter().map(|&spelling| (spelling, word.spellings[0])))
            .filter(|(spelling, _)| is_sign(spelling))
            .collect();
        signs.sort_by_key(|(spelling, _)| std::cmp::Reverse(spelling.len()));
        signs
    });
    &SIGNS
}

/// What a letter or a figurine stands for in a designator.
pub(super) fn piece(dialect: Dialect, symbol: char) -> Option<Pieces> {
    match find(dialect, symbol.encode_utf8(&mut [0; 4]))?.reading {
        Reading::Piece(pieces) => Some(pieces),
        _ => None,
    }
}

// ---- what the parser of CQL 6 asks

/// How a filter of CQL 6 that begins with a word is read.
pub(super) fn reading(word: &str) -> Option<Reading> {
    find(Dialect::Cql6, word).map(Word::reading)
}

/// The directions that a word names.
pub(super) fn directions(word: &str) -> Option<Dirs> {
    match reading(word)? {
        Reading::Direction(dirs) => Some(dirs),
        _ => None,
    }
}

/// The transform that a word names.
pub(super) fn transform(word: &str) -> Option<TransformKind> {
    match reading(word)? {
        Reading::Transform(kind) => Some(kind),
        _ => None,
    }
}

/// Whether a word stands inside filters only.
pub(super) fn is_inside(word: &str) -> bool {
    matches!(reading(word), Some(Reading::Inside))
}

/// Whether a word begins or stands in a filter, built or not, and so can name no variable.
pub(super) fn is_reserved(word: &str) -> bool {
    reading(word).is_some_and(|reading| !matches!(reading, Reading::Outside))
}

/// What a query asks for that uses a word or a sign where a filter may begin, if that is not built.
pub(super) fn unbuilt(spelling: &str) -> Option<Cow<'static, str>> {
    find(Dialect::Cql6, spelling)?.unbuilt(spelling)
}

// ---- what the header asks

/// How the header takes a word.
pub(super) fn parameter(word: &str) -> Option<Parameter> {
    find(Dialect::Cql6, word)?.parameter
}

/// The parameters of a header, for a message.
pub(super) fn parameters() -> String {
    let built =
        words(Dialect::Cql6).filter(|word| word.parameter.is_some_and(|known| known != Parameter::Unbuilt));
    let names: Vec<&str> = built.map(|word| word.spellings[0]).collect();
    let (last, others) = names.split_last().expect("the header has parameters");
    format!("{} or {last}", others.join(", "))
}

// ---- signs

/// What an assignment such as `+=` does to the value of a variable.
pub(super) enum Updated {
    Number(Arith),
    Squares(fn(Squares, Squares) -> S),
}

pub(super) fn updated(sign: &str) -> Option<Updated> {
    Some(match sign {
        "+=" => Updated::Number(Arith::Add),
        "-=" => Updated::Number(Arith::Sub),
        "*=" => Updated::Number(Arith::Mul),
        "/=" => Updated::Number(Arith::Div),
        "%=" => Updated::Number(Arith::Rem),
        "|=" => Updated::Squares(S::Union),
        "&=" => Updated::Squares(S::Intersect),
        _ => return None,
    })
}
