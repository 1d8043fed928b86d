//! Inserts filters from the command line into a script, and shows diagnostics for the result.

use std::path::{Path, PathBuf};

use orbit_core::diagnostic::{Diagnostic, Severity, Span};
use orbit_query::{Dialect, Parsed};

use super::options::CqlOptions;
use crate::failure::Failure;
use crate::query_text::read;
use crate::terminal;

/// The default script, which every position matches.
const EVERYTHING: &str = "cql() .";
/// The origin that diagnostics show for filters from command-line options.
const OPTIONS: &str = "options of orbit cql";

/// A script, and the text that command-line options add to it.
pub(super) struct Script {
    pub(super) path: Option<PathBuf>,
    text: String,
    /// The text to insert before the filters of the script, at the byte offset `at`.
    before: String,
    at: usize,
    /// The offset in `before` of the text that is within the braces of transforms, if there are transforms.
    inner: usize,
    /// The text to add after the filters.
    after: &'static str,
}

impl Script {
    /// Reads the script that the options name, or uses the default script.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, or if options add filters to a CQL 5 script.
    pub(super) fn from_options(options: &CqlOptions) -> Result<Script, Failure> {
        let path = options.script.as_deref().map(|path| with_ending(path, "cql"));
        let text = path.as_deref().map_or(Ok(EVERYTHING.into()), read)?;
        let (before, inner, after) = added(options);
        let mut script = Script { path, text, before, at: 0, inner, after };
        if !script.before.is_empty() && Dialect::detect(&script.text) == Dialect::Cql5 {
            return Err(Failure::Other(format!(
                "{} is CQL 5, and options can add no filters to it: `orbit convert` makes CQL 6 of it",
                script.origin()
            )));
        }
        script.at = orbit_query::body_start(&script.text).map_err(|fault| script.failure(&fault))?;
        Ok(script)
    }

    /// Parses the script as a query.
    ///
    /// # Errors
    ///
    /// Returns the error in the script.
    pub(super) fn parse(&self) -> Result<Parsed, Failure> {
        let Script { text, before, at, inner, after, .. } = self;
        let with = |before: &str, after: &str| [&text[..*at], before, &text[*at..], after].concat();
        if !after.is_empty() {
            // Braces that are missing in the script must not be closed by the braces of transforms.
            let alone = orbit_query::parse_dialect(&with(&before[*inner..], ""), None);
            alone.map_err(|mut fault| {
                let moved = |place: usize| if place < *at { place } else { place + inner };
                fault.span = Span::new(moved(fault.span.start), moved(fault.span.end));
                self.failure(&fault)
            })?;
        }
        let whole = with(before, after);
        orbit_query::parse_dialect(&whole, None).map_err(|fault| self.failure(&fault))
    }

    pub(super) fn failure(&self, diagnostic: &Diagnostic) -> Failure {
        Failure::Query(self.render(diagnostic))
    }

    /// Prints warnings.
    pub(super) fn print_remarks(&self, remarks: &[Diagnostic]) {
        for remark in remarks.iter().filter(|remark| remark.severity <= Severity::Hint) {
            terminal::drawn_message(&self.render(remark));
        }
    }

    /// Returns the default name of the output file.
    pub(super) fn output(&self) -> PathBuf {
        let stem = self.path.as_deref().and_then(Path::file_stem).unwrap_or("cql".as_ref());
        let mut name = stem.to_os_string();
        name.push("-out.pgn");
        PathBuf::from(name)
    }

    fn origin(&self) -> String {
        self.path.as_deref().map_or_else(|| "query".into(), |path| path.display().to_string())
    }

    fn render(&self, diagnostic: &Diagnostic) -> String {
        let Span { start, end } = diagnostic.span;
        let (begin, length) = (self.at, self.before.len());
        if (begin..begin + length).contains(&start) {
            let span = Span::new(start - begin, (end - begin).min(length));
            let diagnostic = Diagnostic { span, ..diagnostic.clone() };
            return terminal::rendered(&diagnostic, &self.before, OPTIONS, 1);
        }
        // Places after the inserted text are moved back by its length. Places in the text that is appended become the end of the
        // script.
        let place =
            |at: usize| if at > begin { at.saturating_sub(length).clamp(begin, self.text.len()) } else { at };
        let span = Span::new(place(start), place(end));
        terminal::rendered(&Diagnostic { span, ..diagnostic.clone() }, &self.text, &self.origin(), 1)
    }
}

/// Returns the text to insert before the filters of a script, the offset in it at which the text within the braces of transforms
/// begins, and the text to add after the filters.
fn added(options: &CqlOptions) -> (String, usize, &'static str) {
    let CqlOptions { assignments, filters, transforms, .. } = options;
    let mut before: String = transforms.iter().map(|word| format!(" {word}")).collect();
    let after = if transforms.is_empty() { "" } else { "\n}" };
    if !transforms.is_empty() {
        before.push_str(" {");
    }
    let inner = before.len();
    for assignment in assignments {
        before.push_str(&format!(" {{{assignment}}}"));
    }
    // Each filter is on its own lines, since it may end with a comment.
    for filters in filters {
        before.push_str(&format!(" {{\n{filters}\n}}"));
    }
    if !before.is_empty() {
        before.push('\n');
    }
    (before, inner, after)
}

/// Returns the path with `ending` as its extension if a file of that name exists, and otherwise the path itself.
pub(super) fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut longer = path.as_os_str().to_os_string();
    longer.push(".");
    longer.push(ending);
    let longer = PathBuf::from(longer);
    if !path.exists() && longer.exists() { longer } else { path.to_path_buf() }
}
