//! Descriptions of the words of the language, and the type of the word tables. A row of such a table contains a word and a value
//! that determines how the parser reads the word.
//!
//! Each dialect has its own table and its own parser, so the type of this value is a type parameter.

use std::collections::HashMap;

use super::Dialect;
use orbit_core::diagnostic;

/// A group of words about one topic.
#[derive(Debug)]
pub struct WordGroup {
    /// The dialect of the words.
    pub dialect: Dialect,
    /// The title of the group.
    pub title: &'static str,
    /// Text about all words of the group, in Markdown; may be empty.
    pub about: &'static str,
    /// The words, in the order in which the help shows them.
    pub words: Vec<&'static Word>,
}

/// One word of the language.
#[derive(Debug)]
pub struct Word {
    /// The spellings of the word. The usual spelling comes first. Keywords of CQL 5 are listed without their colon.
    pub spellings: &'static [&'static str],
    /// The arguments that follow the word. If the text contains `@`, it describes the whole filter, in which the word replaces the
    /// `@`.
    arguments: &'static str,
    /// The kind of value that a filter with this word has.
    pub value: WordValue,
    /// The meaning of the word, in one line of Markdown.
    pub meaning: &'static str,
    /// The status of the word: whether `orbit` supports it.
    pub status: WordStatus,
    /// An example query. If the word is supported, the query is valid. Otherwise the parser rejects it because of the word.
    pub example: &'static str,
}

/// The kind of a filter's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WordValue {
    /// True or false.
    Condition,
    /// A set of squares.
    Squares,
    /// A number.
    Number,
    /// A string.
    Text,
    /// A position of the game.
    Position,
    /// A filter with this word has the same kind of value as its operand.
    AsF,
    /// No value, because the word is not a filter but a part of one.
    NoValue,
}

/// The status of a word: whether `orbit` supports it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WordStatus {
    /// Supported.
    Here,
    /// Supported only inside other filters. The text names the use of the word that is not supported yet.
    Within(&'static str),
    /// A CQL word that is not supported yet.
    NotYet,
    /// Will never be supported. The text is the reason.
    Refused(&'static str),
}

impl Word {
    /// Returns the syntax of a filter with the word, such as `not F` or `S attacks S`. F is any filter, S a set of squares, N a
    /// number, T a string, P a position; TEXT is a string literal, and RANGE is `N` or `N N`.
    pub fn form(&self, spelling: &str) -> String {
        match self.arguments {
            "" => spelling.into(),
            around if around.contains('@') => around.replace('@', spelling),
            behind => format!("{spelling} {behind}"),
        }
    }

    /// Returns true if the word is written with a colon before it in this dialect.
    pub fn takes_colon(&self, dialect: Dialect) -> bool {
        // The only CQL 5 words without a colon are piece symbols, whose value is a set of squares.
        dialect == Dialect::Cql5 && self.value == WordValue::Condition
    }

    /// Returns true if the word has no arguments.
    pub fn is_alone(&self) -> bool {
        self.arguments.is_empty()
    }
}

// ---- rows

/// A word, and a value that determines how the parser of its dialect reads the word.
#[derive(Debug)]
pub(super) struct WordRow<R> {
    pub word: Word,
    pub reading: R,
    pub parameter: Option<Parameter>,
}

/// The parameters of a header.
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

/// Returns the row of a supported word.
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
    /// Returns the row with another support status.
    pub const fn with_status(self, status: WordStatus) -> WordRow<R> {
        WordRow { word: Word { status, ..self.word }, ..self }
    }

    /// Returns the row with the note that its word can also be the header parameter `parameter`.
    pub const fn and_parameter(self, parameter: Parameter) -> WordRow<R> {
        WordRow { parameter: Some(parameter), ..self }
    }
}

// ---- tables

/// Rows for the words of one [`WordGroup`].
pub(super) struct WordRows<R: 'static> {
    pub title: &'static str,
    pub about: &'static str,
    pub words: &'static [WordRow<R>],
}

/// The table of the words of a dialect.
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

    /// Iterates over the word groups, without the information for the parser.
    pub fn groups(&self) -> impl Iterator<Item = WordGroup> {
        self.groups.iter().map(|&&WordRows { title, about, words }| {
            let words = words.iter().map(|row| &row.word).collect();
            WordGroup { dialect: self.dialect, title, about, words }
        })
    }

    pub fn rows(&self) -> impl Iterator<Item = &'static WordRow<R>> {
        self.groups.iter().flat_map(|group| group.words)
    }

    /// Returns the row of the word with this spelling. Returns `None` if there is no such word.
    pub fn find(&self, spelling: &str) -> Option<&'static WordRow<R>> {
        self.index.get(spelling).copied()
    }

    /// Returns the word that is most similar to a misspelt one. The words that pass the first test in `ways` are searched first. If
    /// none of them is similar enough, those that pass the second test are searched, and so on.
    pub fn nearest(&self, misspelt: &str, ways: &[fn(&R) -> bool]) -> Option<&'static str> {
        ways.iter().find_map(|is_meant| {
            let rows = self.rows().filter(|row| is_meant(&row.reading));
            let spellings = rows.flat_map(|row| row.word.spellings).copied();
            let spellings: Vec<&'static str> = spellings.filter(|spelling| spelling.is_ascii()).collect();
            diagnostic::nearest(misspelt, spellings.iter())
        })
    }
}
