//! Reads declarations of names, and filters that begin with a declared name.

use super::{
    parser::{ParseResult, Parser},
    token::Tok,
    tree::{Holds, Node, TypedQuery},
    words,
};
use orbit_core::diagnostic::{Diagnostic, Span};

impl Parser {
    /// Builds the query after the whole text has been read.
    pub(super) fn finish(&mut self, body: Node) -> ParseResult<TypedQuery> {
        if let Some(&(var, span)) = self.state.unassigned.first() {
            let name = &self.vars[var.0 as usize].name;
            return Err(Diagnostic::error(
                span,
                format!("nothing is ever assigned to `{name}`"),
                "no variable of the query",
            ));
        }
        Ok(TypedQuery {
            vars: std::mem::take(&mut self.vars),
            dictionaries: std::mem::take(&mut self.state.dictionaries),
            sorts: std::mem::take(&mut self.state.sorts),
            ..TypedQuery::new(body)
        })
    }

    /// Reads the declarations at the current token, if any, up to the filter after them.
    pub(super) fn after_declarations(&mut self) -> ParseResult<&Self> {
        while self.declaration()? {}
        Ok(self)
    }

    /// Reads a declaration of a function or a dictionary, if one begins at the current token. Returns false otherwise. A
    /// declaration is not a filter.
    pub(super) fn declaration(&mut self) -> ParseResult<bool> {
        let Tok::Word(word) = self.tok() else { return Ok(false) };
        match word.as_str() {
            "function" => self.function()?,
            "dictionary" | "local" => self.dictionary()?,
            "persistent" if matches!(self.peek(1), Tok::Word(next) if next == "dictionary") => {
                self.dictionary()?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Returns the error for a declaration where a filter is expected.
    pub(super) fn misplaced_declaration(&mut self, word: &str) -> ParseResult<Node> {
        Err(Diagnostic::error(
            self.span(),
            format!("`{word}` declares a name and is no filter"),
            "expected a filter here",
        )
        .help("declarations stand between filters, at the beginning of the query or inside braces"))
    }

    /// Reads a filter that begins with a name defined in the query. The name is the current token.
    pub(super) fn known_name(&mut self, name: &str) -> ParseResult<Option<Node>> {
        let span = self.span();
        if self.assigns_next() {
            return self.assignment(name).map(Some);
        }
        if matches!(self.peek(1), Tok::Sign("[element]")) {
            self.bump();
            self.bump();
            return self.element_loop(span, name).map(Some);
        }
        if let Some(function) = self.state.functions.iter().position(|known| known.name == name) {
            return self.call(function).map(Some);
        }
        if let Some(dictionary) = self.find_dictionary(name) {
            return self.entry(dictionary).map(Some);
        }
        let Some(var) = self.lookup(name) else { return Ok(None) };
        if self.is_unassigned(var) {
            return Err(Diagnostic::error(
                span,
                format!("`{name}` is read before anything is assigned to it"),
                "its first assignment stands further on",
            )
            .help(
                "the first assignment in the text says what a variable holds; `isbound` may stand before it",
            ));
        }
        self.bump();
        let indexed = self.is_sign("[") && !self.spaced();
        if indexed && self.vars[var.0 as usize].holds == Holds::Text {
            return self.text_variable_part(var, span).map(Some);
        }
        let node = self.variable(var, span);
        if indexed {
            return Err(self.no_parts(name));
        }
        Ok(Some(node))
    }

    fn no_parts(&self, name: &str) -> Diagnostic {
        Diagnostic::error(
            self.span(),
            format!("`[` behind `{name}`, which is neither a string nor a dictionary"),
            "only these have parts",
        )
        .help("a designator that follows is separated by a blank")
    }

    /// Reads a new name in a declaration. The name must not be a word of the language, a designator, or a name already in use.
    pub(super) fn new_name(&mut self, what: &str) -> ParseResult<String> {
        let span = self.span();
        let found = match self.tok() {
            Tok::Word(name) if !words::is_reserved(name) => name.clone(),
            Tok::Designator { .. } => {
                return Err(Diagnostic::error(
                    span,
                    "a piece designator as a name",
                    format!("expected the name of {what}, such as `s`"),
                ));
            }
            _ => {
                return Err(Diagnostic::error(
                    span,
                    format!("found {}", self.found()),
                    format!("expected the name of {what}"),
                ));
            }
        };
        self.bump();
        Ok(found)
    }

    /// Returns an error if a function or a dictionary already has this name.
    pub(super) fn refuse_taken(&self, name: &str, span: Span) -> ParseResult<()> {
        let has = if self.state.functions.iter().any(|known| known.name == name) {
            "function"
        } else if self.find_dictionary(name).is_some() {
            "dictionary"
        } else {
            return Ok(());
        };
        Err(Diagnostic::error(
            span,
            format!("`{name}` is the name of a {has}"),
            "variables, pieces, functions and dictionaries share their names: choose another one",
        ))
    }
}
