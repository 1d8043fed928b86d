//! Evaluates the filters that write output for a game: comments, tags, sort values and messages.

use super::{
    copies::{ExplicitForm, PlainFilter},
    eval::Evaluation,
    found::{Note, Noted},
    script_files::ScriptFiles,
};
use orbit_core::{
    diagnostic::{Diagnostic, Span},
    record::{Annotation, AnnotationKind},
};
use orbit_query::{
    answer::SortValue,
    tree::{Number, SortId, Text},
};

impl<'a> Evaluation<'a> {
    /// Adds a note, such as a comment, at a position. An enclosing filter that does not match removes the note again.
    pub(super) fn note(&mut self, at: usize, what: Noted) {
        self.state.notes.push(Note { at, what });
    }

    pub(super) fn comment(&mut self, of: &[PlainFilter]) -> bool {
        let text = self.written(of);
        self.note(self.here.at, Noted::Asked(text));
        true
    }

    /// Adds a comment that a filter writes automatically.
    pub(super) fn note_automatic(&mut self, at: usize, text: impl Into<Vec<u8>>) {
        self.note(at, Noted::Automatic(text.into()));
    }

    pub(super) fn message(&mut self, quiet: bool, of: &[PlainFilter]) -> bool {
        let mut text = Vec::new();
        if !quiet {
            let at = self.position_text(self.here.at, Noted::Asked);
            text = format!("Game: {} {at}: ", self.here.spot.game.number()).into_bytes();
        }
        text.extend(self.written(of));
        self.state.messages.push(text);
        true
    }

    pub(super) fn set_tag(&mut self, name: &str, value: &Text<ExplicitForm>) -> bool {
        let Some(value) = self.text(value) else { return false };
        self.state.tags.insert(name.to_owned(), value);
        true
    }

    pub(super) fn remove_comment(&mut self) -> bool {
        self.state.removed.insert(self.here.at);
        true
    }

    pub(super) fn sort_number(&mut self, sort: SortId, of: &Number<ExplicitForm>) -> Option<i32> {
        self.sorted_by(sort, |this| this.number(of), |&number| SortValue::Number(number))
    }

    pub(super) fn sort_text(&mut self, sort: SortId, of: &Text<ExplicitForm>) -> Option<Vec<u8>> {
        self.sorted_by(sort, |this| this.text(of), |text| SortValue::Text(text.clone()))
    }

    /// Stores the best value of a `sort` in the game, with the comments written for it. Of equal values, the first is kept.
    fn sorted_by<T>(
        &mut self,
        sort: SortId,
        evaluate: impl FnOnce(&mut Self) -> Option<T>,
        key: impl FnOnce(&T) -> SortValue,
    ) -> Option<T> {
        let before = self.state.notes.len();
        let sorts = std::mem::replace(&mut self.state.sorts, true);
        let value = self.unselected(evaluate);
        self.state.sorts = sorts;
        let spans = self.take_spans(before);
        let notes = self.state.notes.split_off(before);
        let here = self.here.at;
        self.state.notes.extend(spans.into_iter().map(|span| Note { at: here, what: Noted::Span(span) }));
        let smallest = self.declared.sorts[sort.0 as usize].smallest;
        if let Some(value) = &value {
            let (key, sorted) = (key(value), self.state.sorted(sort));
            let is_better =
                sorted.best.as_ref().is_none_or(|best| if smallest { key < *best } else { key > *best });
            if is_better {
                sorted.best = Some(key);
                sorted.at = here;
                sorted.notes = notes;
            }
        }
        value
    }

    pub(super) fn write_file(
        &mut self,
        name: &Text<ExplicitForm>,
        value: &Text<ExplicitForm>,
        span: Span,
    ) -> bool {
        let (Some(name), Some(value)) = (self.text(name), self.text(value)) else { return false };
        self.with_files(span, |files| files.append(&name, &value)).is_some()
    }

    pub(super) fn read_file(&mut self, name: &Text<ExplicitForm>, span: Span) -> Option<Vec<u8>> {
        let name = self.text(name)?;
        self.with_files(span, |files| files.read(&name))
    }

    /// Calls `work` with the files that the query may access. If `work` fails, the search ends with an error.
    fn with_files<T>(
        &mut self,
        span: Span,
        mut work: impl FnMut(&ScriptFiles) -> Result<T, String>,
    ) -> Option<T> {
        let done = match &self.declared.files {
            Some(files) => work(files).map_err(|why| Diagnostic::error(span, "a file cannot be used", why)),
            None => Err(Diagnostic::error(span, "a query may use no files", "here")
                .help("`orbit scan --files FOLDER` lets a query use the files below FOLDER")),
        };
        done.map_err(|fault| self.state.fail(fault)).ok()
    }

    /// Returns the words of the comments after the move to the current position or, at the start of the game, before the first
    /// move. They are joined with single spaces, because PGN files may break lines anywhere. Comments before the first move of a
    /// side line are left out. Returns `None` if there are no words.
    pub(super) fn original_comment(&mut self, span: Span) -> Option<Vec<u8>> {
        let comments = self.annotations(span).iter().filter_map(|annotation| match &annotation.kind {
            AnnotationKind::Comment(text) => Some(&text[..]),
            AnnotationKind::Before(_) | AnnotationKind::Nag(_) => None,
        });
        let words = comments.flat_map(|text| text.split(u8::is_ascii_whitespace));
        let words: Vec<&[u8]> = words.filter(|word| !word.is_empty()).collect();
        (!words.is_empty()).then(|| words.join(&b' '))
    }

    pub(super) fn has_glyph(&mut self, glyph: u8, span: Span) -> bool {
        let is_wanted = |annotation: &Annotation| annotation.kind == AnnotationKind::Nag(glyph.into());
        self.annotations(span).iter().any(is_wanted)
    }

    /// Returns the annotations of the current position. Reading them counts towards the step limit, because there may be many, even
    /// without words.
    fn annotations(&mut self, span: Span) -> &'a [Annotation] {
        let (all, at) = (self.here.spot.game.annotations(), self.here.at);
        let from = all.partition_point(|annotation| (annotation.node as usize) < at);
        let end = from + all[from..].partition_point(|annotation| annotation.node as usize == at);
        let here = &all[from..end];
        let bytes = here.iter().map(|annotation| match &annotation.kind {
            AnnotationKind::Comment(text) | AnnotationKind::Before(text) => text.len(),
            AnnotationKind::Nag(_) => 0,
        });
        self.state.step_bytes(bytes.sum(), span);
        self.state.step_nodes(here.len(), span);
        here
    }
}
