//! What is known of a word of the language, and tables of words whose rows also say how a parser takes each.
//!
//! Both dialects have such a table. No parser is named here: what their rows hold of them is a type parameter.

use std::collections::HashMap;

use super::Dialect;
use orbit_core::diagnostic;

/// Words that belong together.
#[derive(Debug)]
pub struct WordGroup {
    /// The language that has them.
    pub dialect: Dialect,
    /// What they are about.
    pub title: &'static str,
    /// What holds for all of them, in Markdown; may be empty.
    pub about: &'static str,
    /// The words, in the order in which they are shown.
    pub words: Vec<&'static Word>,
}

/// One word of the language.
#[derive(Debug)]
pub struct Word {
    /// Its spellings, the usual one first. Keywords of CQL 5 stand without their colon.
    pub spellings: &'static [&'static str],
    /// What stands behind it, or around it with `@` in its place.
    arguments: &'static str,
    /// The value of a filter that it makes.
    pub value: WordValue,
    /// What it means, in one line of Markdown.
    pub meaning: &'static str,
    /// Whether `orbit` has it.
    pub status: WordStatus,
    /// A query: one that runs if the word is here, and else one that is refused because of the word.
    pub example: &'static str,
}

/// The value of a filter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WordValue {
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
pub enum WordStatus {
    /// Yes.
    Here,
    /// Inside other filters; the word alone asks for something that is not built, which the text names.
    Within(&'static str),
    /// CQL has it, `orbit` not yet.
    NotYet,
    /// No, and it will not; the text says why.
    Refused(&'static str),
}

impl Word {
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
        // The other words of CQL 5 are pieces, whose value is a set of squares.
        dialect == Dialect::Cql5 && self.value == WordValue::Condition
    }

    /// Whether nothing stands with the word.
    pub fn is_alone(&self) -> bool {
        self.arguments.is_empty()
    }
}

// ---- rows

/// A word, and how the parser of its dialect takes it.
#[derive(Debug)]
pub(super) struct WordRow<R> {
    pub word: Word,
    pub reading: R,
    pub parameter: Option<Parameter>,
}

/// How the header takes a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Parameter {
    Input,
    Output,
    MatchString,
    Quiet,
    Silent,
    Result,
    Games,
    MatchCount,
    /// `sort matchcount`.
    Sort,
    Variations,
}

pub(super) type Spellings = &'static [&'static str];

/// A word that is built.
pub(super) const fn here<R: Copy>(
    spellings: Spellings,
    arguments: &'static str,
    value: WordValue,
    reading: R,
    meaning: &'static str,
    example: &'static str,
) -> WordRow<R> {
    let word = Word { spellings, arguments, value, meaning, status: WordStatus::Here, example };
    WordRow { word, reading, parameter: None }
}

impl<R: Copy> WordRow<R> {
    /// The same word with another status.
    pub const fn with_status(self, status: WordStatus) -> WordRow<R> {
        WordRow { word: Word { status, ..self.word }, ..self }
    }

    /// The same word, which may also stand in the header.
    pub const fn and_parameter(self, parameter: Parameter) -> WordRow<R> {
        WordRow { parameter: Some(parameter), ..self }
    }
}

// ---- tables

/// Rows that belong together, as [`WordGroup`].
pub(super) struct WordRows<R: 'static> {
    pub title: &'static str,
    pub about: &'static str,
    pub words: &'static [WordRow<R>],
}

/// The words of a dialect.
pub(super) struct DialectWords<R: 'static> {
    dialect: Dialect,
    groups: Vec<&'static WordRows<R>>,
    index: HashMap<&'static str, &'static WordRow<R>>,
}

impl<R> DialectWords<R> {
    pub fn new(dialect: Dialect, files: &[&'static [WordRows<R>]]) -> DialectWords<R> {
        let groups: Vec<&'static WordRows<R>> = files.iter().copied().flatten().collect();
        let rows = groups.iter().flat_map(|group| group.words);
        let index = rows.flat_map(|row| row.word.spellings.iter().map(move |&spelling| (spelling, row)));
        DialectWords { dialect, index: index.collect(), groups }
    }

    /// What is known of the words apart from the parser.
    pub fn groups(&self) -> impl Iterator<Item = WordGroup> {
        self.groups.iter().map(|&&WordRows { title, about, words }| {
            let words = words.iter().map(|row| &row.word).collect();
            WordGroup { dialect: self.dialect, title, about, words }
        })
    }

    pub fn rows(&self) -> impl Iterator<Item = &'static WordRow<R>> {
        self.groups.iter().flat_map(|group| group.words)
    }

    /// The row of a spelling.
    pub fn find(&self, spelling: &str) -> Option<&'static WordRow<R>> {
        self.index.get(spelling).copied()
    }

    /// The word that a misspelt one most resembles: one that is read in the first of some ways, or else in the next.
    pub fn nearest(&self, misspelt: &str, ways: &[fn(&R) -> bool]) -> Option<&'static str> {
        ways.iter().find_map(|is_meant| {
            let rows = self.rows().filter(|row| is_meant(&row.reading));
            let spellings = rows.flat_map(|row| row.word.spellings).copied();
            let spellings: Vec<&'static str> = spellings.filter(|spelling| spelling.is_ascii()).collect();
            diagnostic::nearest(misspelt, spellings.iter())
        })
    }
}
