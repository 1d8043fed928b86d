//! Named queries with descriptions, read from TOML.
//!
//! A file contains a `[[theme]]` table for each theme and may `include` other files; `catalogue` is the built-in file. This module
//! does not depend on games: a theme is a parsed query with its name, its group and its place in a file. Invariant: names are
//! unique, and every query has been parsed.
//!
//! ```
//! let themes = orbit_search::themes::built_in();
//! let gift = themes.iter().find(|theme| theme.name == "greek-gift").unwrap();
//! assert_eq!(gift.group, "tactics");
//! assert!(gift.query.contains("[x]ph7"));
//! ```

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use orbit_core::diagnostic::{Diagnostic, Span, nearest};
use orbit_query::Parsed;

mod files;
mod load;

/// The path that represents the built-in themes.
pub const CATALOGUE: &str = "catalogue";

/// The command that lists the themes of a file.
const LIST: &str = "orbit batch --list THEMES";

/// A named query.
#[derive(Clone, Debug)]
pub struct Theme {
    /// The name, which consists of lower-case letters, digits and `-`. It is unique among all themes that were loaded together.
    pub name: String,
    /// The name for display. By default, it equals `name`.
    pub title: String,
    /// The group under which the theme is listed, or an empty string if it has none.
    pub group: String,
    /// The text of the query.
    pub query: String,
    /// A description of the pattern that the query finds.
    pub description: String,
    /// A reference to an explanation of the pattern.
    pub source: String,
    /// FENs of positions that the query matches. A FEN may be followed by a comma and moves; the query then matches at least one
    /// position along these moves.
    pub hits: Vec<String>,
    /// Positions that the query does not match, in the same form as `hits`.
    pub misses: Vec<String>,
    /// The parsed query.
    #[doc(hidden)]
    pub parsed: Parsed,
    file: Arc<TextFile>,
    /// The place of the query in the text of its file, including quotes.
    place: Span,
}

impl Theme {
    /// Creates an error message about the query that shows its place in the file.
    pub fn fault(&self, diagnostic: &Diagnostic) -> ThemeFault {
        fault_of_query(&self.file, &self.name, &self.query, self.place, diagnostic)
    }
}

/// The reason why themes cannot be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ThemesError {
    /// A file cannot be read.
    #[error("the themes {} cannot be read ({error}): check the path", path.display())]
    Read {
        /// The path as given.
        path: PathBuf,
        /// The system's reason.
        #[source]
        error: io::Error,
    },
    /// A file is not valid UTF-8.
    #[error("the themes {} are not UTF-8: save the file as UTF-8", path.display())]
    Encoding {
        /// The path as given.
        path: PathBuf,
    },
    /// A file is too long.
    #[error("the themes {} are longer than {} MiB: is it the right file?", path.display(), bytes_max >> 20)]
    TooLong {
        /// The path as given.
        path: PathBuf,
        /// The limit.
        bytes_max: u64,
    },
    /// Neither the file nor any file that it includes contains a theme.
    #[error("{} holds no theme: write one as a table `[[theme]]` with a name and a query", path.display())]
    Empty {
        /// The path as given.
        path: PathBuf,
    },
    /// A file has an error at a known place.
    #[error("{0}")]
    Fault(Box<ThemeFault>),
}

/// A message about a place in a theme file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThemeFault {
    /// The message and its place.
    pub diagnostic: Diagnostic,
    /// The text to which the message's span refers.
    text: String,
    /// The name of the text to which the message's span refers.
    origin: String,
}

impl ThemeFault {
    /// Returns the text to which the message's span refers, and the name of this text.
    pub fn text(&self) -> (&str, &str) {
        (&self.text, &self.origin)
    }

    /// Renders the message, and the line to which it refers. If `styled` is true, the result has ANSI colours.
    pub fn render(&self, styled: bool) -> String {
        self.diagnostic.render(&self.text, &self.origin, styled)
    }
}

impl fmt::Display for ThemeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", at(&self.text, &self.origin, self.diagnostic.span), self.diagnostic)
    }
}

/// Loads the themes in a file and the files that it includes, in order. Included themes come first. The path `catalogue` represents
/// the built-in themes: see [`built_in`].
///
/// # Errors
///
/// Fails if a file or a query has an error. The first error is returned.
pub fn load(path: &Path) -> Result<Vec<Theme>, ThemesError> {
    load_allowed(path, &|_| Ok(()))
}

/// Loads themes as [`load()`] does, but reads a file only if `check` accepts it. The error of `check` says why the file may not be
/// read.
pub(crate) fn load_allowed(path: &Path, check: FileCheck<'_>) -> Result<Vec<Theme>, ThemesError> {
    load::load(path, check)
}

/// Returns the themes that are built into the program.
pub fn built_in() -> Vec<Theme> {
    load(Path::new(CATALOGUE)).expect("a test loads the catalogue")
}

/// Returns the built-in theme with this name.
///
/// # Errors
///
/// Fails if no theme has this name. The error suggests a similar name.
pub fn named(name: &str) -> Result<Theme, Diagnostic> {
    let all = built_in();
    let unknown = unknown("theme", name, all.iter().map(|theme| &*theme.name), "orbit batch --list");
    all.into_iter().find(|theme| theme.name == name).ok_or(unknown)
}

/// Returns the theme with this name.
///
/// # Errors
///
/// Fails if no theme has this name. The error suggests a similar name.
pub fn find<'a>(all: &'a [Theme], name: &str) -> Result<&'a Theme, Diagnostic> {
    let unknown = || unknown("theme", name, all.iter().map(|theme| &*theme.name), LIST);
    all.iter().find(|theme| theme.name == name).ok_or_else(unknown)
}

/// Returns the themes with these names and the themes in these groups, in load order. If both lists are empty, returns all themes.
///
/// # Errors
///
/// Fails if a name is not that of a theme, or a group has no themes.
pub fn choose(mut all: Vec<Theme>, names: &[String], groups: &[String]) -> Result<Vec<Theme>, Diagnostic> {
    if names.is_empty() && groups.is_empty() {
        return Ok(all);
    }
    names.iter().try_for_each(|name| find(&all, name).map(drop))?;
    for group in groups {
        if !all.iter().any(|theme| theme.group == *group) {
            return Err(unknown("group of themes", group, all.iter().map(|theme| &*theme.group), LIST));
        }
    }
    all.retain(|theme| names.contains(&theme.name) || groups.contains(&theme.group));
    Ok(all)
}

/// Returns the message that no theme or group is named `name`. `list` is the command that lists the known names.
fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>, list: &str) -> Diagnostic {
    let known: Vec<&str> = known.collect();
    let near = nearest(name, known.iter()).map_or_else(|| with_words_of(name, &known), |hint| vec![hint]);
    let label = match near.is_empty() {
        false => format!("did you mean `{}`?", near.join("`, `")),
        true => format!("`{list}` lists all themes with their groups"),
    };
    Diagnostic::error(Span::new(0, name.len()), format!("there is no {what} `{name}`"), label)
}

/// Returns the first names that contain a word of `name`: `royal-fork` and `pawn-fork` for `fork`.
fn with_words_of<'a>(name: &str, known: &[&'a str]) -> Vec<&'a str> {
    const NAMES_MAX: usize = 4;
    let words = |name: &'a str| name.split('-').filter(|word| word.len() > 2);
    let asked: Vec<String> = name.to_lowercase().split(['-', '_', ' ']).map(str::to_owned).collect();
    let is_like = |word: &str| {
        asked.iter().any(|asked| asked.len() > 2 && (word.starts_with(asked) || asked.starts_with(word)))
    };
    let mut near: Vec<&str> = known.iter().copied().filter(|known| words(known).any(is_like)).collect();
    near.dedup();
    near.truncate(NAMES_MAX);
    near
}

/// A function that checks whether a file may be read. It is not called for built-in files.
type FileCheck<'a> = &'a dyn Fn(&Path) -> Result<(), String>;

/// A file of themes.
#[derive(Debug)]
struct TextFile {
    /// The path as given on the command line or in the including file.
    path: PathBuf,
    text: String,
}

impl TextFile {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn fault(&self, diagnostic: Diagnostic) -> ThemeFault {
        ThemeFault { diagnostic, text: self.text.clone(), origin: self.name() }
    }

    /// Returns a place as `themes.toml:3:8`.
    fn at(&self, span: Span) -> String {
        at(&self.text, &self.name(), span)
    }
}

/// Formats a place as `themes.toml:3:8`. The line and the column, in characters, are counted from 1.
fn at(text: &str, origin: &str, span: Span) -> String {
    let before = &text[..text.floor_char_boundary(span.start)];
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    format!("{origin}:{}:{}", before.matches('\n').count() + 1, before[line..].chars().count() + 1)
}

/// Creates a message about a query. If the query is in the file without escapes, the message refers to the place in the file, and
/// otherwise to the place in the query text.
fn fault_of_query(
    file: &TextFile,
    name: &str,
    query: &str,
    place: Span,
    diagnostic: &Diagnostic,
) -> ThemeFault {
    match file.text.get(place.start..place.end).and_then(|written| written.find(query)) {
        Some(offset) => {
            let offset = place.start + offset;
            let span = Span::new(diagnostic.span.start + offset, diagnostic.span.end + offset);
            file.fault(Diagnostic { span, ..diagnostic.clone() })
        }
        None => ThemeFault {
            diagnostic: diagnostic.clone(),
            text: query.to_owned(),
            origin: format!("{}, query of {name}", file.at(place)),
        },
    }
}

/// Parses a theme's query. `place` is its place in the file.
fn parse(file: &TextFile, name: &str, query: &str, place: Span) -> Result<Parsed, ThemesError> {
    orbit_query::parse(query).map_err(|error| fault_of_query(file, name, query, place, &error).into())
}

impl From<ThemeFault> for ThemesError {
    fn from(fault: ThemeFault) -> ThemesError {
        ThemesError::Fault(Box::new(fault))
    }
}
