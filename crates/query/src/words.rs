//! Tables of the words of the language. Each filter, keyword, operator and kind of piece has a row.
//!
//! The rows for CQL 6 are in the folder `words`; the rows for CQL 5 are next to its parser. [`groups`] lists both.
//!
//! These tables are the only source for words. The lexers look up signs and pieces in them, the parsers look up the functions that
//! read filters, and `slips.rs` looks up suggestions. `orbit help language`, the shell completions, examples in tests and the text
//! of `docs/language.md` are generated from them. A new filter therefore needs a row here, a function in a parser, and an
//! implementation in the engines.
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
    /// The word, which is the current token, begins a filter. The function reads the filter.
    Filter(fn(&mut Parser, &str) -> ParseResult<Node>),
    Transform(TransformKind),
    Direction(Dirs),
    /// The word occurs only inside other filters. A variable cannot have this name.
    Inside,
    /// The word is an operator, or another sign in the grammar.
    Sign,
    /// The word is a piece symbol in designators.
    Piece(Pieces),
    /// The word begins a filter if a string literal follows. Otherwise it can be a name that the query defines.
    BeforeText(fn(&mut Parser, &str) -> ParseResult<Node>),
    /// The word begins no filter: it occurs only in the header, or is not supported.
    Outside,
}

/// Expands to the [`WordReading`] of a filter that consists of one word.
macro_rules! leaf {
    ($op:expr) => {
        Filter(|parser, _| Ok(parser.leaf($op)))
    };
}
use leaf;

// ---- rows

type Cql6Row = vocabulary::WordRow<WordReading>;
type Cql6Rows = vocabulary::WordRows<WordReading>;

/// Returns the table row of a word that will never be supported.
const fn refused(spellings: Spellings, why: &'static str) -> Cql6Row {
    here(spellings, "", WordValue::NoValue, WordReading::Outside, "", spellings[0])
        .with_status(WordStatus::Refused(why))
}

/// Returns the table row of a word that may occur only in the header.
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

/// The table of CQL 6 words.
static TABLE: LazyLock<DialectWords<WordReading>> = LazyLock::new(|| {
    DialectWords::new(Dialect::Cql6, &[board::GROUPS, control::GROUPS, values::GROUPS, game::GROUPS])
});

/// Iterates over the word groups of both dialects, in the order in which the help shows them.
pub fn groups() -> impl Iterator<Item = &'static WordGroup> {
    static GROUPS: LazyLock<Vec<WordGroup>> =
        LazyLock::new(|| TABLE.groups().chain(cql5::TABLE.groups()).collect());
    GROUPS.iter()
}

/// Iterates over the words of a dialect.
pub fn words(dialect: Dialect) -> impl Iterator<Item = &'static Word> {
    groups().filter(move |group| group.dialect == dialect).flat_map(|group| group.words.iter().copied())
}

/// Returns the word of a dialect that has this spelling. CQL 5 keywords must be given without their colon.
pub fn find(dialect: Dialect, spelling: &str) -> Option<&'static Word> {
    match dialect {
        Dialect::Cql5 => cql5::TABLE.find(spelling).map(|row| &row.word),
        Dialect::Cql6 => TABLE.find(spelling).map(|row| &row.word),
    }
}

/// Returns the word that is most similar to a misspelt one. In CQL 5, supported words take precedence over words that are not
/// supported yet.
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

/// Returns all signs, each with its usual spelling, which may be a word: `✵` is `flip`. Longer signs come first, because a sign may
/// be the beginning of a longer one.
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

/// Returns the pieces that a letter or a figurine represents in a designator.
pub(super) fn piece(symbol: char) -> Option<Pieces> {
    match reading(symbol.encode_utf8(&mut [0; 4]))? {
        WordReading::Piece(pieces) => Some(pieces),
        _ => None,
    }
}

// ---- words for the parser of CQL 6

/// Returns the [`WordReading`] of a CQL 6 word, that is, the way in which the parser reads the word. Returns `None` for an unknown
/// word.
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

/// Returns true if a word occurs only inside other filters.
pub(super) fn is_inside(word: &str) -> bool {
    matches!(reading(word), Some(WordReading::Inside))
}

/// Returns true if a word begins a filter or occurs in one, so no variable can have this name.
pub(super) fn is_reserved(word: &str) -> bool {
    reading(word).is_some_and(|reading| !matches!(reading, WordReading::Outside | WordReading::BeforeText(_)))
}

// ---- words for the header

/// Returns the header parameter that a word names. Returns `None` for other words.
pub(super) fn parameter(word: &str) -> Option<Parameter> {
    TABLE.find(word)?.parameter
}

/// Returns a list of all header parameters for a message.
pub(super) fn parameters() -> String {
    let built = TABLE.rows().filter(|row| row.parameter.is_some());
    let names: Vec<&str> = built.map(|row| row.word.spellings[0]).collect();
    let (last, others) = names.split_last().expect("the header has parameters");
    format!("{} or {last}", others.join(", "))
}

// ---- signs

/// The operation with which an assignment such as `+=` computes the new value of a variable from the old one.
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
