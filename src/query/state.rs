//! What the parser knows of names that are no words of the language, and of what outlasts a position.

use super::{
    dictionaries::Foreseen,
    functions::Function,
    parser::{Parsed, Parser},
    token::Tok,
    tree::{Dictionary, Holds, Node, Query, Sort, VarId},
    words,
};
use crate::diagnostic::{Diagnostic, Span};

/// How many variables, dictionaries and sorts a query may have.
pub(super) const NAMES_MAX: usize = 4096;

/// Names beside those of variables, and what stands in the query text for more than itself.
#[derive(Default)]
pub(super) struct State {
    pub functions: Vec<Function>,
    pub dictionaries: Vec<Dictionary>,
    pub sorts: Vec<Sort>,
    /// Variables that were named before anything was assigned to them, and where.
    pub unassigned: Vec<(VarId, Span)>,
    /// The parameters of the call at hand.
    pub parameters: Vec<(String, VarId)>,
    /// The calls at hand, as indices of their functions, outermost first.
    pub calls: Vec<usize>,
    /// How many tokens calls have read in all.
    pub tokens_called: usize,
    /// A string that follows a filter such as `player` is no part of it: so within `comment(...)` and `str(...)`.
    pub joins: bool,
    /// Whether side lines are searched.
    pub variations: bool,
    /// What dictionaries hold that are read before they are written, as earlier readings of the text found it.
    pub foreseen: Vec<Foreseen>,
}

impl Parser {
    /// The query, of which everything was read.
    pub(super) fn finish(&mut self, body: Node) -> Parsed<Query> {
        if let Some(&(var, span)) = self.state.unassigned.first() {
            let name = &self.vars[var.0 as usize].name;
            return Err(Diagnostic::error(
                span,
                format!("nothing is ever assigned to `{name}`"),
                "no variable of the query",
            ));
        }
        Ok(Query {
            vars: std::mem::take(&mut self.vars),
            dictionaries: std::mem::take(&mut self.state.dictionaries),
            sorts: std::mem::take(&mut self.state.sorts),
            ..Query::of(body)
        })
    }

    /// Reads what is declared here.
    pub(super) fn after_declarations(&mut self) -> Parsed<&Self> {
        while self.declaration()? {}
        Ok(self)
    }

    /// A function or dictionary that is declared here, which is no filter.
    pub(super) fn declaration(&mut self) -> Parsed<bool> {
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

    /// The error for a declaration where a filter must stand.
    pub(super) fn misplaced_declaration(&mut self, word: &str) -> Parsed<Node> {
        Err(Diagnostic::error(
            self.span(),
            format!("`{word}` declares a name and is no filter"),
            "expected a filter here",
        )
        .help("declarations stand between filters, at the beginning of the query or inside braces"))
    }

    /// A filter that begins with a name of the query, which is the current token.
    pub(super) fn known_name(&mut self, name: &str) -> Parsed<Option<Node>> {
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

    /// A name that a declaration gives to something: no word of the language, no designator, and not in use.
    pub(super) fn new_name(&mut self, what: &str) -> Parsed<String> {
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

    /// The error for a name that a function or dictionary has.
    pub(super) fn refuse_taken(&self, name: &str, span: Span) -> Parsed<()> {
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
