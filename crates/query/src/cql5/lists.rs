//! Reads CQL 5 lists into typed trees.

use super::{
    Cql5Result, designator,
    keywords::{self, KeywordReading},
    lexer::Cql5Tok,
    notes,
    parser::{Cql5Parser, Join},
};
use crate::{
    parser::{C, S, filter},
    token::unsupported,
    tree::{ConditionKeyword, ListTransform, Node, Squares, TypedQuery},
};
use orbit_core::diagnostic::{Diagnostic, Span};

const DEPTH_MAX: u32 = 100;

/// The filters and transform keywords of a CQL 5 list that have been read so far.
#[derive(Default)]
struct ParsedList {
    items: Vec<Node>,
    transforms: Vec<ListTransform>,
}

impl Cql5Parser<'_> {
    pub(super) fn query(mut self) -> Cql5Result<crate::Parsed> {
        let (open, word) = (self.bump(), self.span());
        let body = match self.tok() {
            Cql5Tok::Text("position") => {
                self.bump();
                self.list(open, Join::All)?
            }
            Cql5Tok::Text("match") => {
                self.bump();
                self.match_list(open)?
            }
            _ => {
                return Err(Diagnostic::error(
                    open.to(word),
                    "this is no list of CQL 5",
                    "expected `(position ...)` or `(match ...)`",
                )
                .help("leave out `--dialect cql5` for a query of CQL 6"));
            }
        };
        self.end()?;
        notes::dialects(&body, self.text, &mut self.remarks);
        Ok(crate::Parsed { query: TypedQuery::new(body), remarks: self.remarks })
    }

    /// Checks that nothing follows the list.
    fn end(&self) -> Cql5Result<()> {
        match self.tok() {
            Cql5Tok::End => Ok(()),
            Cql5Tok::Close => {
                Err(Diagnostic::error(self.span(), "one `)` too many", "the query ended before it"))
            }
            Cql5Tok::Open => Err(Diagnostic::error(
                self.span(),
                "a second list",
                "a query is one list: several that must match the same position stand inside it",
            )
            .help("for example `(position (position Ra1) (position kh8))`")),
            _ => Err(Diagnostic::error(
                self.span(),
                "text behind the list",
                "a query of CQL 5 is one list, with its conditions and transforms inside",
            )
            .help("for example `(position Rc3 qg3 :wtm :shift)`; a query of CQL 6 holds no such list")),
        }
    }

    // ---- lists

    /// Reads the rest of a list, including its closing parenthesis. The parser has already read the opening parenthesis and
    /// `position`.
    fn list(&mut self, open: Span, join: Join) -> Cql5Result<Node> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(Diagnostic::error(
                open,
                "lists are nested too deep",
                format!("at most {DEPTH_MAX} levels"),
            ));
        }
        let mut list = ParsedList::default();
        loop {
            match self.tok() {
                Cql5Tok::Close => break,
                Cql5Tok::End => {
                    return Err(Diagnostic::error(open, "`(` is not closed", "close the list with `)`"));
                }
                Cql5Tok::Open => list.items.push(self.nested(Join::All)?),
                Cql5Tok::Text(text) => list.items.push(self.item(text)?),
                Cql5Tok::Keyword { negated, name } => self.keyword(negated, name, &mut list)?,
            }
        }
        let span = open.to(self.bump());
        self.depth -= 1;
        if list.items.is_empty() {
            let what = if join == Join::All { "every position matches" } else { "no position matches" };
            self.remarks.push(Diagnostic::warning(span, "the list holds no condition", what));
        }
        let inside = match (&list.items[..], &list.transforms[..]) {
            ([first, .., last], [_, ..]) => first.span().to(last.span()),
            _ => span,
        };
        let body = joined(list.items, join, inside);
        Ok(match list.transforms.is_empty() {
            true => body,
            false => filter(C::Form(ConditionKeyword::Lists(list.transforms, body)), span),
        })
    }

    /// Reads a list inside a list, with or without the word `position`.
    fn nested(&mut self, join: Join) -> Cql5Result<Node> {
        let open = self.bump();
        match self.tok() {
            Cql5Tok::Text("position") => {
                self.bump();
                self.list(open, Join::All)
            }
            Cql5Tok::Text("match") => Err(Diagnostic::error(
                open.to(self.span()),
                "a match list inside a list",
                "`(match ...)` may only stand around the whole query",
            )),
            _ => self.list(open, join),
        }
    }

    /// Reads the position list that is part of a match list.
    pub(super) fn position_of_match(&mut self) -> Cql5Result<Node> {
        let next = self.tokens[(self.at + 1).min(self.tokens.len() - 1)];
        if next.tok != Cql5Tok::Text("position") {
            return Err(Diagnostic::error(
                self.span().to(next.span),
                "a list without a name in a match list",
                "expected `(position ...)`",
            ));
        }
        self.nested(Join::All)
    }

    /// Reads an item of a list that is neither a keyword nor a list. It must be a designator.
    fn item(&mut self, text: &str) -> Cql5Result<Node> {
        let span = self.span();
        if let Some(error) = self.stray(text) {
            return Err(error);
        }
        if keywords::is_keyword(text) {
            return Err(Diagnostic::error(
                span,
                format!("`{text}` without its colon"),
                format!("keywords of CQL 5 begin with one: `:{text}`"),
            ));
        }
        let set = self.designator()?;
        if let S::Designator { pieces, squares } = set.op() {
            if squares.is_empty() {
                self.remarks.push(
                    Diagnostic::warning(span, format!("`{text}` never matches"), "it names no square")
                        .help("without brackets a designator stands for all squares"),
                );
            } else if pieces.accepts() == orbit_core::board::PieceSet::ALL {
                self.remarks.push(
                    Diagnostic::warning(
                        span,
                        format!("`{text}` matches whatever stands there"),
                        "it names no piece",
                    )
                    .help("`◑` or `U` is any piece, `.` an empty square"),
                );
            }
        }
        Ok(set.into())
    }

    /// Returns the error for a text that looks like CQL 6, or like an argument without its keyword. Returns `None` for any other
    /// text.
    fn stray(&self, text: &str) -> Option<Diagnostic> {
        let help = match text {
            "and" => "all of a list must match: leave the word out",
            "or" => "write the choices as lists: `:or ((position Ra1) (position Rh1))`",
            "not" => "write what must not be as a list: `:not (position Ra1)`",
            "attacks" | "attack" | "attackedby" | "->" | "→" | "<-" | "←" => {
                "attacks are counted: `:attackcount R k 1 unlimited`"
            }
            "count" => "there is no count of copies in CQL 5, a list is a condition",
            _ if text.starts_with(|c: char| c.is_ascii_digit() || "<>-".contains(c)) => {
                return Some(Diagnostic::error(
                    self.span(),
                    format!("`{text}` without a keyword that takes it"),
                    "numbers follow `:attackcount`, `:piececount`, `:power`, `:powerdifference` and rays",
                ));
            }
            _ => return None,
        };
        let error = Diagnostic::error(self.span(), format!("`{text}` is CQL 6"), "this is a list of CQL 5")
            .help(help);
        Some(error)
    }

    /// Reads the current token as a designator.
    pub(super) fn designator(&mut self) -> Cql5Result<Squares> {
        match self.tok() {
            Cql5Tok::Text(text) => {
                let node = designator::read(text, self.span().start)?;
                self.bump();
                Ok(node)
            }
            _ => Err(Diagnostic::error(
                self.span(),
                format!("found {}", self.found()),
                "expected a piece designator such as `♖`, `R`, `R[a-h1]` or `○`",
            )),
        }
    }

    // ---- keywords

    fn keyword(&mut self, negated: bool, name: &str, list: &mut ParsedList) -> Cql5Result<()> {
        let span = self.bump();
        let node = match keywords::reading(name) {
            Some(KeywordReading::Transform(transform)) => {
                return self.transform(transform, negated, name, span, list);
            }
            Some(KeywordReading::Condition(read)) => read(self, name, span)?,
            Some(KeywordReading::Unbuilt | KeywordReading::Piece(_)) | None => {
                return Err(unknown(name, span));
            }
        };
        let node = match negated {
            false => node,
            true => {
                let span = span.to(node.span());
                filter(C::Not(node), span)
            }
        };
        list.items.push(node);
        Ok(())
    }

    /// Reads a condition that consists only of its keyword.
    pub(super) fn leaf(&mut self, op: C, name: &str, span: Span) -> Cql5Result<Node> {
        self.no_argument(name, span)?;
        Ok(filter(op, span))
    }

    /// Reads the list after `:not`.
    pub(super) fn not(&mut self, name: &str, span: Span) -> Cql5Result<Node> {
        let inner = self.one_list(name, Join::All)?;
        Ok(filter(C::Not(inner), span.to(self.last_span())))
    }

    fn transform(
        &mut self,
        transform: ListTransform,
        negated: bool,
        name: &str,
        span: Span,
        list: &mut ParsedList,
    ) -> Cql5Result<()> {
        if negated {
            return Err(Diagnostic::error(
                span,
                format!("`!:{name}`: a transform cannot be negated"),
                "`!` stands before conditions only",
            )
            .help(format!("write `:not (position ... :{name})` if no image is to match")));
        }
        self.no_argument(name, span)?;
        if list.transforms.contains(&transform) {
            self.remarks.push(Diagnostic::warning(
                span,
                format!("`:{name}` stands in this list already"),
                "it counts once",
            ));
        } else {
            list.transforms.push(transform);
        }
        Ok(())
    }

    /// Returns an error if a keyword takes no arguments, but the text or list after it looks like an argument.
    fn no_argument(&self, name: &str, span: Span) -> Cql5Result<()> {
        let error = || {
            Diagnostic::error(
                span.to(self.span()),
                format!("`:{name}` takes no argument"),
                format!("found {} behind it", self.found()),
            )
        };
        match self.tok() {
            Cql5Tok::Open if keywords::transform(name).is_some() => {
                Err(error()
                    .help(format!("it stands in the list that it transforms: `(position ... :{name})`")))
            }
            Cql5Tok::Text("count") => Err(error().help("CQL 5 does not count copies: a list is a condition")),
            Cql5Tok::Text(text) if text.starts_with(|c: char| c.is_ascii_digit() || "<>-".contains(c)) => {
                Err(error().help("leave the number out"))
            }
            _ => Ok(()),
        }
    }

    /// Reads the lists after `:and` or `:or`. Either the lists follow each other directly, or one pair of parentheses encloses all
    /// of them.
    pub(super) fn lists(&mut self, name: &str, join: Join) -> Cql5Result<Node> {
        let from = self.last_span();
        let mut all = vec![self.one_list(name, join)?];
        while self.tok() == Cql5Tok::Open {
            all.push(self.nested(join)?);
        }
        Ok(joined(all, join, from.to(self.last_span())))
    }

    fn one_list(&mut self, name: &str, join: Join) -> Cql5Result<Node> {
        if self.tok() == Cql5Tok::Open {
            return self.nested(join);
        }
        let many = if name == "not" { "(position Ra1)" } else { "((position Ra1) (position Rh1))" };
        Err(Diagnostic::error(
            self.span(),
            format!("found {}", self.found()),
            format!("expected a list behind `:{name}`: `:{name} {many}`"),
        ))
    }
}

/// Returns the error for a keyword that is unknown or not supported yet.
fn unknown(name: &str, span: Span) -> Diagnostic {
    if keywords::is_unbuilt(name) {
        return unsupported(span, &format!("the keyword `:{name}`"));
    }
    let error =
        Diagnostic::error(span, format!("unknown keyword `:{name}`"), "no keyword of a position list");
    match keywords::nearest(name) {
        Some(hint) => error.help(format!("did you mean `:{hint}`?")),
        None => error,
    }
}

/// Turns a filter of any type into a condition that is true if the filter matches.
fn condition(node: Node) -> Node {
    if let Node::Condition(_) = node {
        return node;
    }
    let span = node.span();
    filter(C::Braces(vec![node]), span)
}

/// Joins items into one condition. It matches if all items match or, for `Join::Any`, if at least one item matches.
fn joined(mut items: Vec<Node>, join: Join, span: Span) -> Node {
    match (items.len(), join) {
        (0, _) => filter(C::Bool(join == Join::All), span),
        (1, _) => condition(items.remove(0)).at(span),
        (_, Join::All) => filter(C::Braces(items), span),
        (_, Join::Any) => any_of(items),
    }
}

/// Joins alternatives with `or` into a balanced tree.
fn any_of(mut items: Vec<Node>) -> Node {
    if items.len() == 1 {
        return condition(items.remove(0));
    }
    let right = items.split_off(items.len().div_ceil(2));
    let (left, right) = (any_of(items), any_of(right));
    let span = left.span().to(right.span());
    filter(C::Or(left, right), span)
}
