//! The words of the language: one row for each filter, keyword, operator and kind of piece.
//!
//! The rows of CQL 6 are in the files below, those of CQL 5 beside their parser; [`groups`] lists both.
//!
//! Every part of the program that needs words reads them here: the lexer its signs and pieces, the parsers the functions that read
//! filters, `slips.rs` its suggestions, the command line `orbit help language` and completions, the tests their examples and
//! generators, and `docs/language.md` its text. A new filter therefore needs a row, a function in a parser, and its meaning in the
//! engines.
//!
//! Invariant: no spelling occurs twice in a dialect.

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

/// The way in which the parser of CQL 6 reads a word.
#[derive(Clone, Copy, Debug)]
pub(super) enum WordReading {
    /// It begins a filter, which this function reads; the word is the current token.
    Filter(fn(&mut Parser, &str) -> ParseResult<Node>),
    Transform(TransformKind),
    Direction(Dirs),
    /// It occurs only inside other filters, and cannot name a variable.
    Inside,
    /// It is an operator, or another sign that the grammar knows.
    Sign,
    /// It is part of a designator.
    Piece(Pieces),
    /// It begins a filter if a text in quotation marks follows; elsewhere it may be a name.
    BeforeText(fn(&mut Parser, &str) -> ParseResult<Node>),
    /// It begins no filter: it is a word of the header, or not supported.
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

/// Returns a word that will never be supported.
const fn refused(spellings: Spellings, why: &'static str) -> Cql6Row {
    here(spellings, "", WordValue::NoValue, WordReading::Outside, "", spellings[0])
        .with_status(WordStatus::Refused(why))
}

/// Returns a word that only the header may contain.
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

/// Returns all words by groups, in the order in which they are shown.
pub fn groups() -> impl Iterator<Item = &'static WordGroup> {
    static GROUPS: LazyLock<Vec<WordGroup>> =
        LazyLock::new(|| TABLE.groups().chain(cql5::TABLE.groups()).collect());
    GROUPS.iter()
}

/// Returns the words of a dialect.
pub fn words(dialect: Dialect) -> impl Iterator<Item = &'static Word> {
    groups().filter(move |group| group.dialect == dialect).flat_map(|group| group.words.iter().copied())
}

/// Returns the word with a spelling; in CQL 5 without its colon.
pub fn find(dialect: Dialect, spelling: &str) -> Option<&'static Word> {
    match dialect {
        Dialect::Cql5 => cql5::TABLE.find(spelling).map(|row| &row.word),
        Dialect::Cql6 => TABLE.find(spelling).map(|row| &row.word),
    }
}

/// Returns the word that a misspelt one most resembles; in CQL 5 a supported one if there is one, else one that is not supported
/// yet.
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

// ---- words for the lexer of CQL 6

/// Signs, each with its usual spelling, which may be a word (`✵` is `flip`). Longer signs come first, because one may be the
/// beginning of another.
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

/// Returns the pieces that a letter or a figurine names in a designator.
pub(super) fn piece(symbol: char) -> Option<Pieces> {
    match reading(symbol.encode_utf8(&mut [0; 4]))? {
        WordReading::Piece(pieces) => Some(pieces),
        _ => None,
    }
}

// ---- words for the parser of CQL 6

/// Returns the way in which a filter of CQL 6 that begins with a word is read.
pub(super) fn reading(word: &str) -> Option<WordReading> {
    TABLE.find(word).map(|row| row.reading)
}

/// Returns the directions that a word names.
pub(super) fn directions(word: &str) -> Option<Dirs> {
    match reading(word)? {
        WordReading::Direction(dirs) => Some(dirs),
        _ => None,
    }
}

/// Returns the transform that a word names.
pub(super) fn transform(word: &str) -> Option<TransformKind> {
    match reading(word)? {
        WordReading::Transform(kind) => Some(kind),
        _ => None,
    }
}

/// Returns true if a word occurs only inside filters.
pub(super) fn is_inside(word: &str) -> bool {
    matches!(reading(word), Some(WordReading::Inside))
}

/// Returns true if a word begins a filter or occurs in one, and so cannot name a variable.
pub(super) fn is_reserved(word: &str) -> bool {
    reading(word).is_some_and(|reading| !matches!(reading, WordReading::Outside | WordReading::BeforeText(_)))
}

// ---- words for the header

/// Returns the parameter of a header that a word names.
pub(super) fn parameter(word: &str) -> Option<Parameter> {
    TABLE.find(word)?.parameter
}

/// Returns the parameters of a header, for a message.
pub(super) fn parameters() -> String {
    let built = TABLE.rows().filter(|row| row.parameter.is_some());
    let names: Vec<&str> = built.map(|row| row.word.spellings[0]).collect();
    let (last, others) = names.split_last().expect("the header has parameters");
    format!("{} or {last}", others.join(", "))
}

// ---- signs

/// The operation that an assignment such as `+=` applies to the value of a variable.
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
