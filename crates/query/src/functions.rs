//! Reads functions. A function is a text with parameters, which the parser reads anew at each call.
//!
//! A call means the same as the function's text with the arguments in place of the parameters, so functions are untyped. Any other
//! name in a function has the meaning that it has where the function is called.

use super::{
    parser::{C, ParseResult, Parser, compound, filter, name_of, typed},
    state::Function,
    token::Tok,
    tree::{Node, VarId},
    variables::assigned,
};
use orbit_core::diagnostic::{Diagnostic, Span};

/// The maximum number of tokens that the parser may read in all calls of a query together.
const TOKENS_MAX: usize = 200_000;

const CALLS_MAX: usize = 40;

impl Parser {
    /// Reads `function f(x y) { ... }`.
    pub(super) fn function(&mut self) -> ParseResult<()> {
        self.bump();
        let at = self.span();
        let name = self.new_name("a function")?;
        self.refuse_taken(&name, at)?;
        if self.lookup(&name).is_some() {
            return Err(Diagnostic::error(at, format!("`{name}` is already in use"), "choose another name"));
        }
        self.expect_sign("(", "before the parameters of a function")?;
        let mut parameters = Vec::new();
        while !self.eat_sign(")") {
            let at = self.span();
            let parameter = self.new_name("a parameter, or `)`")?;
            if parameters.contains(&parameter) {
                return Err(Diagnostic::error(
                    at,
                    format!("the parameter `{parameter}` stands twice"),
                    "name each once",
                ));
            }
            parameters.push(parameter);
            self.eat_sign(",");
        }
        let open = self.expect_sign("{", "before the text of a function")?;
        let from = self.position();
        let mut depth = 0;
        loop {
            match self.tok() {
                Tok::Sign("{") => depth += 1,
                Tok::Sign("}") if depth == 0 => break,
                Tok::Sign("}") => depth -= 1,
                Tok::End => {
                    return Err(Diagnostic::error(open, "`{` is not closed", "close it with `}`"));
                }
                _ => {}
            }
            self.bump();
        }
        let body = self.taken(from, self.position());
        let end = self.bump();
        if body.len() == 1 {
            return Err(Diagnostic::error(open.to(end), "empty braces", "expected a filter inside"));
        }
        self.state.functions.push(Function { name, parameters, body });
        Ok(())
    }

    /// Reads a call, `f(...)`. The current token is the name of the function.
    pub(super) fn call(&mut self, index: usize) -> ParseResult<Node> {
        let span = self.bump();
        let function = self.state.functions[index].clone();
        let name = &function.name;
        if !self.is_sign("(") {
            return Err(Diagnostic::error(
                span,
                format!("`{name}` is a function"),
                format!("expected a call: `{name}({})`", function.parameters.join(" ")),
            ));
        }
        let (parameters, mut filters) = self.actuals(&function, span)?;
        let span = span.to(self.last_span());
        self.check_call(index, &function, span)?;
        let outer = std::mem::replace(&mut self.state.parameters, parameters);
        let joins = std::mem::take(&mut self.state.joins);
        self.state.calls.push(index);
        let body = self.with_tokens(function.body.clone(), |parser| {
            let mut filters = Vec::new();
            while !parser.at_end()? {
                filters.push(parser.inside(Parser::node)?);
            }
            Ok(filters)
        });
        self.state.calls.pop();
        self.state.joins = joins;
        self.state.parameters = outer;
        filters.extend(body.map_err(|fault: Diagnostic| within(fault, name))?);
        let Some(last) = filters.pop() else {
            return Err(Diagnostic::error(
                span,
                format!("`{name}` has no filter"),
                "expected one in its text",
            ));
        };
        Ok(compound(filters, last).at(span))
    }

    /// Reads the arguments of a call, and returns the variable for each parameter. An argument that is not the name of a variable
    /// gets a new variable. Also returns the filters that assign these arguments to the new variables.
    #[expect(clippy::type_complexity, reason = "two lists, taken apart by the only caller")]
    fn actuals(&mut self, function: &Function, span: Span) -> ParseResult<(Vec<(String, VarId)>, Vec<Node>)> {
        let name = &function.name;
        let (mut parameters, mut filters) = (Vec::new(), Vec::new());
        let open = self.bump();
        while !self.closes(open)? {
            let Some(parameter) = function.parameters.get(parameters.len()) else {
                return Err(self.wrong_count(function, span));
            };
            let (at, from) = (self.span(), self.position());
            let variable = if let Tok::Word(word) = self.tok() { self.lookup(word) } else { None };
            let value = self.inside(Parser::node)?;
            self.eat_sign(",");
            let alone = self.position() == from + 1
                || self.position() == from + 2 && matches!(self.before(), Some(Tok::Sign(",")));
            if let Some(var) = variable.filter(|_| alone) {
                parameters.push((parameter.clone(), var));
                continue;
            }
            let (kind, whole) = typed(&value);
            let Some((value, holds)) = assigned(value) else {
                return Err(Diagnostic::error(
                    whole,
                    format!("`{name}` is called with {}", name_of(kind)),
                    "parameters are sets of squares, numbers, strings, positions or variables",
                ));
            };
            let var = self.fresh(parameter, holds, at)?;
            filters.push(filter(C::Assign(var, value), whole));
            parameters.push((parameter.clone(), var));
        }
        if parameters.len() < function.parameters.len() {
            return Err(self.wrong_count(function, span));
        }
        self.bump();
        Ok((parameters, filters))
    }

    fn wrong_count(&self, function: &Function, span: Span) -> Diagnostic {
        let Function { name, parameters, .. } = function;
        Diagnostic::error(
            span.to(self.span()),
            format!("`{name}` is called with the wrong number of parameters"),
            format!("expected {}: `{name}({})`", parameters.len(), parameters.join(" ")),
        )
    }

    /// Returns an error if a call would never end, or would read too many tokens.
    fn check_call(&mut self, index: usize, function: &Function, span: Span) -> ParseResult<()> {
        let name = &function.name;
        if self.state.calls.contains(&index) {
            return Err(Diagnostic::error(
                span,
                format!("`{name}` calls itself"),
                "a call is replaced by the text of its function, which would never end",
            ));
        }
        if self.state.calls.len() == CALLS_MAX {
            return Err(Diagnostic::error(
                span,
                format!("calls are nested too deep at `{name}`"),
                format!("at most {CALLS_MAX} levels"),
            ));
        }
        self.state.tokens_called += function.body.len();
        if self.state.tokens_called > TOKENS_MAX {
            return Err(Diagnostic::error(
                span,
                format!("the query is too long once `{name}` is replaced by its text"),
                format!("functions may add {TOKENS_MAX} words and signs"),
            ));
        }
        Ok(())
    }
}

/// Adds the name of a function to an error in the function's text.
fn within(fault: Diagnostic, name: &str) -> Diagnostic {
    if fault.help.is_some() {
        return fault;
    }
    fault.help(format!("found in a call of `{name}`"))
}
