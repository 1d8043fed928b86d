//! The words of the language: one row for each filter, keyword, operator and kind of piece.
//!
//! The rows of CQL 6 stand in the files below, those of CQL 5 beside their parser; [`groups`] shows both.
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

use std::sync::LazyLock;

use super::{
    Dialect, cql5,
    parser::{ParseResult, Parser, S},
    tree::{Arith, Dirs, Node, Pieces, Squares, TransformKind},
    vocabulary::{self, DialectWords, Spellings, here},
};

pub(super) use super::vocabulary::Parameter;
pub use super::vocabulary::{Word, WordGroup, WordStatus, WordValue};

/// How the parser of CQL 6 takes a word.
#[derive(Clone, Copy, Debug)]
pub(super) enum WordReading {
    /// It begins a filter, which this function reads; the parser stands on the word.
    Filter(fn(&mut Parser, &str) -> ParseResult<Node>),
    Transform(TransformKind),
    Direction(Dirs),
    /// It stands inside other filters, and names no variable.
    Inside,
    /// It is an operator, or another sign that the grammar knows.
    Sign,
    /// It is part of a designator.
    Piece(Pieces),
    /// The same before a text in quotation marks; elsewhere it may be a name.
    BeforeText(fn(&mut Parser, &str) -> ParseResult<Node>),
    /// No filter knows it: it belongs to the header, or nowhere.
    Outside,
}

/// The reading of a filter that is one word.
macro_rules! leaf {
    ($op:expr) => {
        Filter(|parser, _| Ok(parser.leaf($op)))
    };
}
use leaf;

// ---- rows

type Cql6Row = vocabulary::WordRow<WordReading>;
type Cql6Rows = vocabulary::WordRows<WordReading>;

/// A word that is refused for good.
const fn refused(spellings: Spellings, why: &'static str) -> Cql6Row {
    here(spellings, "", WordValue::NoValue, WordReading::Outside, "", spellings[0])
        .with_status(WordStatus::Refused(why))
}

/// A word that stands in the header alone.
const fn header(
    spellings: Spellings,
    arguments: &'static str,
    parameter: Parameter,
    meaning: &'static str,
    example: &'static str,
) -> Cql6Row {
    here(spellings, arguments, WordValue::NoValue, WordReading::Outside, meaning, example)
        .and_parameter(parameter)
}

// ---- the table

/// The rows of CQL 6.
static TABLE: LazyLock<DialectWords<WordReading>> = LazyLock::new(|| {
    DialectWords::new(Dialect::Cql6, &[board::GROUPS, control::GROUPS, values::GROUPS, game::GROUPS])
});

/// All words by groups, in the order in which they are shown.
pub fn groups() -> impl Iterator<Item = &'static WordGroup> {
    static GROUPS: LazyLock<Vec<WordGroup>> =
        LazyLock::new(|| TABLE.groups().chain(cql5::TABLE.groups()).collect());
    GROUPS.iter()
}

/// The words of a dialect.
pub fn words(dialect: Dialect) -> impl Iterator<Item = &'static Word> {
    groups().filter(move |group| group.dialect == dialect).flat_map(|group| group.words.iter().copied())
}

/// The word of a spelling, in CQL 5 without its colon.
pub fn find(dialect: Dialect, spelling: &str) -> Option<&'static Word> {
    match dialect {
        Dialect::Cql5 => cql5::TABLE.find(spelling).map(|row| &row.word),
        Dialect::Cql6 => TABLE.find(spelling).map(|row| &row.word),
    }
}

/// The word that a misspelt one most resembles; of CQL 5 one that is here, or else one that is not yet.
pub fn nearest(dialect: Dialect, misspelt: &str) -> Option<&'static str> {
    use WordReading::{BeforeText, Direction, Filter, Inside, Transform};
    match dialect {
        Dialect::Cql5 => cql5::nearest(misspelt),
        Dialect::Cql6 => TABLE.nearest(
            misspelt,
            &[|reading| matches!(reading, Filter(_) | BeforeText(_) | Transform(_) | Direction(_) | Inside)],
        ),
    }
}

// ---- what the lexer of CQL 6 asks

/// Signs, each with its usual spelling, which may be a word (`✵` is `flip`); longer ones first, since one may begin another.
pub(super) fn signs() -> &'static [(&'static str, &'static str)] {
    static SIGNS: LazyLock<Vec<(&'static str, &'static str)>> = LazyLock::new(|| {
        let is_sign = |spelling: &str| !spelling.starts_with(|first: char| first.is_ascii_alphabetic());
        let mut signs: Vec<(&str, &str)> = TABLE
            .rows()
            .filter(|row| !matches!(row.reading, WordReading::Piece(_)))
            .map(|row| &row.word)
            .flat_map(|word| word.spellings.iter().map(|&spelling| (spelling, word.spellings[0])))
            .filter(|(spelling, _)| is_sign(spelling))
            .collect();
        signs.sort_by_key(|(spelling, _)| std::cmp::Reverse(spelling.len()));
        signs
    });
    &SIGNS
}

/// What a letter or a figurine stands for in a designator.
pub(super) fn piece(symbol: char) -> Option<Pieces> {
    match reading(symbol.encode_utf8(&mut [0; 4]))? {
        WordReading::Piece(pieces) => Some(pieces),
        _ => None,
    }
}

// ---- what the parser of CQL 6 asks

/// How a filter of CQL 6 that begins with a word is read.
pub(super) fn reading(word: &str) -> Option<WordReading> {
    TABLE.find(word).map(|row| row.reading)
}

/// The directions that a word names.
pub(super) fn directions(word: &str) -> Option<Dirs> {
    match reading(word)? {
        WordReading::Direction(dirs) => Some(dirs),
        _ => None,
    }
}

/// The transform that a word names.
pub(super) fn transform(word: &str) -> Option<TransformKind> {
    match reading(word)? {
        WordReading::Transform(kind) => Some(kind),
        _ => None,
    }
}

/// Whether a word stands inside filters only.
pub(super) fn is_inside(word: &str) -> bool {
    matches!(reading(word), Some(WordReading::Inside))
}

/// Whether a word begins or stands in a filter, and so can name no variable.
pub(super) fn is_reserved(word: &str) -> bool {
    reading(word).is_some_and(|reading| !matches!(reading, WordReading::Outside | WordReading::BeforeText(_)))
}

// ---- what the header asks

/// How the header takes a word.
pub(super) fn parameter(word: &str) -> Option<Parameter> {
    TABLE.find(word)?.parameter
}

/// The parameters of a header, for a message.
pub(super) fn parameters() -> String {
    let built = TABLE.rows().filter(|row| row.parameter.is_some());
    let names: Vec<&str> = built.map(|row| row.word.spellings[0]).collect();
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
