//! Named queries with what they are about, read from TOML.
//!
//! A file is a list of tables `[[theme]]` and may `include` others; `catalogue` is the one that is built
//! in. Nothing here knows games: a theme is a query that was understood, with its name, its group and
//! where it stands. The invariant: names are unique, and every query has been read.
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

/// The name of the themes that are built in.
pub const CATALOGUE: &str = "catalogue";

/// A named query.
#[derive(Clone, Debug)]
pub struct Theme {
    /// Lower case letters, digits and `-`; unique among all that were loaded together.
    pub name: String,
    /// The name for reading; the same one if none is given.
    pub title: String,
    /// What it is listed with; empty if nothing is given.
    pub group: String,
    /// The query as written.
    pub query: String,
    /// What the query takes as the theme.
    pub description: String,
    /// Where the theme is explained.
    pub source: String,
    /// FENs of positions that the query hits. Moves may follow after a comma: then it hits a position on the way.
    pub hits: Vec<String>,
    /// The same of positions and moves in which it hits nothing.
    pub misses: Vec<String>,
    /// The query as understood.
    pub parsed: Parsed,
    file: Arc<TextFile>,
    /// Of the query in the text of its file, quotes included.
    place: Span,
}

impl Theme {
    /// A message about the query, with its place in the file.
    pub fn fault(&self, diagnostic: &Diagnostic) -> ThemeFault {
        fault_of_query(&self.file, &self.name, &self.query, self.place, diagnostic)
    }
}

/// Why themes cannot be loaded.
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
    /// A file is not text.
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
    /// A file holds no theme, nor do those that it includes.
    #[error("{} holds no theme: write one as a table `[[theme]]` with a name and a query", path.display())]
    Empty {
        /// The path as given.
        path: PathBuf,
    },
    /// What stands at a place of a file is wrong.
    #[error("{0}")]
    Fault(Box<ThemeFault>),
}

/// A message about a place in a file of themes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThemeFault {
    /// What is wrong.
    pub diagnostic: Diagnostic,
    /// The text that its span is of.
    text: String,
    /// The name of that text.
    origin: String,
}

impl ThemeFault {
    /// The text that the span of the diagnostic is of, and the name of that text.
    pub fn text(&self) -> (&str, &str) {
        (&self.text, &self.origin)
    }

    /// Draws the message with the line that it is about; `styled` adds ANSI colours.
    pub fn render(&self, styled: bool) -> String {
        self.diagnostic.render(&self.text, &self.origin, styled)
    }
}

impl fmt::Display for ThemeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", at(&self.text, &self.origin, self.diagnostic.span), self.diagnostic)
    }
}

/// Reads the themes of a file and of those that it includes, in the order in which they stand, what is
/// included first. The path `catalogue` is [`built_in`].
///
/// # Errors
///
/// The first thing that is wrong with a file or with a query.
pub fn load(path: &Path) -> Result<Vec<Theme>, ThemesError> {
    load::load(path)
}

/// The themes that come with the program.
pub fn built_in() -> Vec<Theme> {
    load(Path::new(CATALOGUE)).expect("a test loads the catalogue")
}

/// The built-in theme of a name.
///
/// # Errors
///
/// That no theme has the name, with the one that was probably meant.
pub fn named(name: &str) -> Result<Theme, Diagnostic> {
    let all = built_in();
    let unknown = unknown("theme", name, all.iter().map(|theme| &*theme.name), "orbit batch --list");
    all.into_iter().find(|theme| theme.name == name).ok_or(unknown)
}

/// The message about a name that none of some themes or groups has. `list` is the command that lists them.
pub fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>, list: &str) -> Diagnostic {
    let known: Vec<&str> = known.collect();
    let label = match nearest(name, known.iter()) {
        Some(hint) => format!("did you mean `{hint}`?"),
        None => format!("`{list}` lists all themes with their groups"),
    };
    Diagnostic::error(Span::new(0, name.len()), format!("there is no {what} `{name}`"), label)
}

/// A file of themes.
#[derive(Debug)]
struct TextFile {
    /// The path as given, or as the including file has it.
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

    /// A place as `themes.toml:3:8`.
    fn at(&self, span: Span) -> String {
        at(&self.text, &self.name(), span)
    }
}

/// A place as `themes.toml:3:8`: line and column, in characters, from 1.
fn at(text: &str, origin: &str, span: Span) -> String {
    let before = &text[..text.floor_char_boundary(span.start)];
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    format!("{origin}:{}:{}", before.matches('\n').count() + 1, before[line..].chars().count() + 1)
}

/// A message about a query, in the file if the query stands there as it is, else in the query alone.
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

/// Reads the query of a theme that stands at a place of a file.
fn parse(file: &TextFile, name: &str, query: &str, place: Span) -> Result<Parsed, ThemesError> {
    orbit_query::parse(query).map_err(|error| fault_of_query(file, name, query, place, &error).into())
}

impl From<ThemeFault> for ThemesError {
    fn from(fault: ThemeFault) -> ThemesError {
        ThemesError::Fault(Box::new(fault))
    }
}
