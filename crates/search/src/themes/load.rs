//! Reads themes from a TOML file and from the files that it includes.

use std::path::Path;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use serde::Deserialize;
use toml::Spanned;

use super::files::{self, Identity, ThemeFile};
use super::{FileCheck, TextFile, Theme, ThemeFault, ThemesError, parse};
use orbit_core::diagnostic::{Diagnostic, Span};

/// The maximum nesting depth of included files.
const DEPTH_MAX: usize = 16;

/// The maximum number of characters in a name, which keeps tables readable.
const NAME_MAX: usize = 40;

/// The content of a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    include: Vec<Spanned<String>>,
    #[serde(default)]
    theme: Vec<ThemeEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ThemeEntry {
    name: Spanned<String>,
    title: Option<String>,
    #[serde(default)]
    group: String,
    query: Spanned<String>,
    #[serde(default)]
    description: String,
    #[serde(default)]
    source: String,
    #[serde(default)]
    hits: Vec<String>,
    #[serde(default)]
    misses: Vec<String>,
}

pub(super) fn load(path: &Path, check: FileCheck<'_>) -> Result<Vec<Theme>, ThemesError> {
    let mut loader = Loader::new(check);
    loader.load(files::find(path, None, check)?)?;
    if loader.themes.is_empty() {
        return Err(ThemesError::Empty { path: path.to_owned() });
    }
    Ok(loader.themes)
}

struct Loader<'a> {
    check: FileCheck<'a>,
    themes: Vec<Theme>,
    /// The place of each theme name in its file, as text: `themes.toml:3:8`.
    places: HashMap<String, String>,
    /// The files that are currently being read. Each of them includes the next one.
    chain: Vec<ThemeFile>,
    /// All files that have been read. Each file is read only once.
    done: HashSet<Identity>,
}

impl<'a> Loader<'a> {
    fn new(check: FileCheck<'a>) -> Loader<'a> {
        let (places, done) = (HashMap::new(), HashSet::new());
        Loader { check, themes: Vec::new(), places, chain: Vec::new(), done }
    }

    fn load(&mut self, found: ThemeFile) -> Result<(), ThemesError> {
        if !self.done.insert(found.identity.clone()) {
            return Ok(());
        }
        let file = Arc::new(found.read()?);
        let File { include, theme } =
            toml::from_str(&file.text).map_err(|error| not_themes(&file, &error))?;
        self.chain.push(found);
        for path in &include {
            self.include(&file, path)?;
        }
        self.chain.pop();
        theme.into_iter().try_for_each(|entry| self.take(&file, entry))
    }

    fn include(&mut self, file: &TextFile, path: &Spanned<String>) -> Result<(), ThemesError> {
        let fault = |message: String, label: &str| file.fault(Diagnostic::error(span(path), message, label));
        let found = files::find(Path::new(path.get_ref()), self.chain.last(), self.check);
        let found = found.map_err(|error| fault(error.to_string(), "included here"))?;
        if self.chain.iter().any(|open| open.identity == found.identity) {
            let chain: Vec<String> =
                self.chain.iter().chain([&found]).map(|file| file.path.display().to_string()).collect();
            let message = format!("a file of themes includes itself: {}", chain.join(" -> "));
            return Err(fault(message, "take this include out").into());
        }
        if self.chain.len() == DEPTH_MAX {
            let message = format!("more than {DEPTH_MAX} files of themes include one another");
            return Err(fault(message, "include this file farther up").into());
        }
        self.load(found).map_err(|error| match error {
            ThemesError::Fault(_) => error,
            other => fault(other.to_string(), "included here").into(),
        })
    }

    fn take(&mut self, file: &Arc<TextFile>, entry: ThemeEntry) -> Result<(), ThemesError> {
        let place = span(&entry.name);
        let fault = |message: String, label: String| file.fault(Diagnostic::error(place, message, label));
        let name = entry.name.into_inner();
        if !is_name(&name) {
            let label =
                format!("write up to {NAME_MAX} letters from a to z, digits and `-`, as in `greek-gift`");
            return Err(fault(format!("`{name}` is no name of a theme"), label).into());
        }
        if let Some(other) = self.places.insert(name.clone(), file.at(place)) {
            let label = format!("the theme at {other} has this name; give one of the two another one");
            return Err(fault(format!("there are two themes `{name}`"), label).into());
        }
        let place = span(&entry.query);
        let query = entry.query.into_inner();
        let parsed = parse(file, &name, &query, place)?;
        self.themes.push(Theme {
            title: entry.title.unwrap_or_else(|| name.clone()),
            name,
            group: entry.group,
            query,
            description: entry.description,
            source: entry.source,
            hits: entry.hits,
            misses: entry.misses,
            parsed,
            file: file.clone(),
            place,
        });
        Ok(())
    }
}

fn span<T>(value: &Spanned<T>) -> Span {
    let range = value.span();
    Span::new(range.start, range.end)
}

fn is_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !name.is_empty() && name.len() <= NAME_MAX && name.bytes().all(fits)
}

/// Returns the error from the TOML parser. If it concerns a whole table, only the first line of the table is shown.
fn not_themes(file: &TextFile, error: &toml::de::Error) -> ThemeFault {
    let range = error.span().unwrap_or(0..0);
    let line = file.text.get(range.clone()).and_then(|text| text.lines().next()).map_or(0, str::len);
    let span = Span::new(range.start, range.start + line);
    let message = error.message().lines().collect::<Vec<_>>().join("; ");
    file.fault(Diagnostic::error(span, message, "this is no file of themes").help(
        "a file has `include = [...]`, if it includes others, and tables `[[theme]]` with `name`, `query` and \
         perhaps `title`, `group`, `description`, `source`, `hits` and `misses`",
    ))
}
