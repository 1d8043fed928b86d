//! Reads keywords that have arguments, and the keywords of match lists, `(match ...)`.

use super::{Cql5Result, keywords, lexer::Cql5Tok, parser::Cql5Parser};
use crate::{
    parser::{C, N, S, filter},
    token::unsupported,
    tree::{Arith, Cmp, Dirs, GameResult, Node, Number, OneOrMore, Pieces, Squares},
};
use orbit_core::{
    board::PieceSet,
    diagnostic::{Diagnostic, Span},
};

/// A range, stored as the comparisons that a number must satisfy.
type NumberRange = Vec<(Cmp, i32)>;

impl Cql5Parser<'_> {
    /// Reads `:attackcount R k 1`.
    pub(super) fn attackcount(&mut self, name: &str, span: Span) -> Cql5Result<Node> {
        let (x, y) = (self.designator()?, self.designator()?);
        let range = self.range(name)?;
        let at = span.to(self.last_span());
        if is_any(&range) {
            // Testing whether any piece attacks is cheaper than counting the attacks.
            return Ok(filter(C::Braces(vec![filter(S::Attacks(x, y), at)]), at));
        }
        Ok(within(&Number::new(N::AttackCount(x, y), at), &range))
    }

    /// Reads a keyword that counts the squares of a designator, such as `:piececount R 2`.
    pub(super) fn counted(&mut self, name: &str, span: Span) -> Cql5Result<Node> {
        let arg = self.designator()?;
        let range = self.range(name)?;
        let at = span.to(self.last_span());
        Ok(within(&of_designator(name, arg, at), &range))
    }

    pub(super) fn result(&mut self, span: Span) -> Cql5Result<Node> {
        let result = match self.tok() {
            Cql5Tok::Text("1-0") => GameResult::WhiteWins,
            Cql5Tok::Text("0-1") => GameResult::BlackWins,
            Cql5Tok::Text("1/2-1/2") => GameResult::Draw,
            _ => {
                return Err(Diagnostic::error(
                    self.span(),
                    format!("{} is no result", self.found()),
                    "expected `1-0`, `0-1` or `1/2-1/2`",
                ));
            }
        };
        let end = self.bump();
        Ok(filter(C::Result(result), span.to(end)))
    }

    pub(super) fn ray(&mut self, name: &str, (dirs, attack): (Dirs, bool), span: Span) -> Cql5Result<Node> {
        if self.tok() != Cql5Tok::Open {
            return Err(Diagnostic::error(
                self.span(),
                format!("found {}", self.found()),
                format!("expected the pieces of the line in parentheses: `:{name} (R A k)`"),
            ));
        }
        let open = self.bump();
        let mut sets = Vec::new();
        while self.tok() != Cql5Tok::Close {
            if self.tok() == Cql5Tok::End {
                return Err(Diagnostic::error(open, "`(` is not closed", "close the ray with `)`"));
            }
            let set = self.designator()?;
            if let S::Designator { pieces, .. } = set.op()
                && pieces.accepts() == PieceSet::EMPTY
            {
                self.remarks.push(
                    Diagnostic::warning(
                        set.span(),
                        "an empty square in a ray",
                        "no line has it: there is none to count",
                    )
                    .help("a ray names the pieces on the line; empty squares between them go without saying"),
                );
            }
            sets.push(set);
        }
        let at = span.to(self.bump());
        let count = sets.len();
        let Some(sets) = OneOrMore::new(sets).filter(|_| count > 1) else {
            return Err(Diagnostic::error(
                at,
                format!("`:{name}` with {count} of the line's pieces"),
                format!("expected at least two: `:{name} (R k)`"),
            ));
        };
        let range = if self.at_range() { self.range(name)? } else { vec![(Cmp::Ge, 1)] };
        let lines = N::RayCount { dirs, attack, sets };
        Ok(within(&Number::new(lines, span.to(self.last_span())), &range))
    }

    // ---- ranges

    fn at_range(&self) -> bool {
        matches!(self.tok(), Cql5Tok::Text(text) if text.starts_with(|c: char| c.is_ascii_digit() || "<>≤≥-".contains(c)))
    }

    /// Reads a range of numbers: `n`, `lo hi`, `lo unlimited`, or a comparison sign and a number.
    fn range(&mut self, name: &str) -> Cql5Result<NumberRange> {
        let from = self.span();
        let Cql5Tok::Text(text) = self.tok() else { return Err(self.no_range(name)) };
        for (sign, cmp) in
            [(">=", Cmp::Ge), ("≥", Cmp::Ge), ("<=", Cmp::Le), ("≤", Cmp::Le), (">", Cmp::Gt), ("<", Cmp::Lt)]
        {
            let Some(number) = text.strip_prefix(sign) else { continue };
            if number.is_empty() {
                self.bump();
                let bound = self.number()?.ok_or_else(|| self.no_range(name))?;
                return Ok(vec![(cmp, bound)]);
            }
            let bound = self.parse_number(number)?.ok_or_else(|| self.no_range(name))?;
            self.bump();
            return Ok(vec![(cmp, bound)]);
        }
        let low = self.number()?.ok_or_else(|| self.no_range(name))?;
        if self.tok() == Cql5Tok::Text("unlimited") {
            self.bump();
            return Ok(vec![(Cmp::Ge, low)]);
        }
        match self.number()? {
            None => Ok(vec![(Cmp::Eq, low)]),
            Some(high) if high < low => Err(Diagnostic::error(
                from.to(self.last_span()),
                "the range runs backwards",
                format!("write the lower number first: `{high} {low}`"),
            )),
            Some(high) => Ok(vec![(Cmp::Ge, low), (Cmp::Le, high)]),
        }
    }

    fn no_range(&self, name: &str) -> Diagnostic {
        Diagnostic::error(
            self.span(),
            format!("`:{name}` lacks its range"),
            format!("found {}; expected a number, two, `1 unlimited` or `>=1`", self.found()),
        )
    }

    /// Reads the current token as a number, if it is one.
    fn number(&mut self) -> Cql5Result<Option<i32>> {
        let Cql5Tok::Text(text) = self.tok() else { return Ok(None) };
        let number = self.parse_number(text)?;
        if number.is_some() {
            self.bump();
        }
        Ok(number)
    }

    fn parse_number(&self, text: &str) -> Cql5Result<Option<i32>> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Ok(None);
        }
        text.parse()
            .map(Some)
            .map_err(|_| Diagnostic::error(self.span(), "number is too large", "expected at most 2147483647"))
    }

    // ---- match lists

    /// Reads the rest of a match list after `(match`: conditions on the game, and one position list.
    pub(super) fn match_list(&mut self, open: Span) -> Cql5Result<Node> {
        let (mut items, mut position) = (Vec::new(), None);
        loop {
            let span = self.span();
            match self.tok() {
                Cql5Tok::Close => break,
                Cql5Tok::End => {
                    return Err(Diagnostic::error(open, "`(` is not closed", "close the list with `)`"));
                }
                Cql5Tok::Open if position.is_some() => {
                    return Err(unsupported(span, "a second position list in a match list").help(
                        "each of them may match another position of the game, which only `find` of CQL 6 can say; \
                         for one position put both into one list: `(position (position ...) (position ...))`",
                    ));
                }
                Cql5Tok::Open => position = Some(self.position_of_match()?),
                Cql5Tok::Keyword { negated, name } => {
                    self.bump();
                    self.match_keyword(negated, name, span, &mut items)?;
                }
                Cql5Tok::Text(text) => {
                    return Err(Diagnostic::error(
                        span,
                        format!("found `{text}`"),
                        "a match list holds keywords and a position list: `(match (position Ra1))`",
                    ));
                }
            }
        }
        let span = open.to(self.bump());
        let position = position.ok_or_else(|| {
            Diagnostic::error(span, "a match list without a position list", "expected `(position ...)` in it")
        })?;
        if items.is_empty() {
            return Ok(position);
        }
        items.push(position);
        Ok(filter(C::Braces(items), span))
    }

    fn match_keyword(
        &mut self,
        negated: bool,
        name: &str,
        span: Span,
        items: &mut Vec<Node>,
    ) -> Cql5Result<()> {
        match name {
            "result" => {
                let node = self.result(span)?;
                let at = node.span();
                items.push(if negated { filter(C::Not(node), at) } else { node });
            }
            "pgn" | "output" => {
                let Cql5Tok::Text(_) = self.tok() else {
                    return Err(Diagnostic::error(
                        self.span(),
                        format!("`:{name}` lacks the name of a file"),
                        format!("found {}", self.found()),
                    ));
                };
                let end = self.bump();
                self.remarks.push(Diagnostic::note(
                    span.to(end),
                    format!("`:{name}` has no effect"),
                    "files and output are chosen on the command line",
                ));
            }
            _ if keywords::is_keyword(name) && !keywords::is_unbuilt(name) => {
                return Err(Diagnostic::error(
                    span,
                    format!("`:{name}` in a match list"),
                    "it belongs into the position list",
                )
                .help(format!("for example `(match (position Ra1 :{name}))`")));
            }
            _ => return Err(unsupported(span, &format!("the keyword `:{name}` of match lists"))),
        }
        Ok(())
    }
}

/// Returns true if a range contains all numbers from 1 upwards, but not 0.
fn is_any(range: &NumberRange) -> bool {
    matches!(range[..], [(Cmp::Ge, 1)] | [(Cmp::Gt, 0)])
}

/// Returns a condition that is true if a number lies in a range.
fn within(number: &Number, range: &NumberRange) -> Node {
    let span = number.span();
    let bounds = range.iter().map(|&(cmp, bound)| {
        let bound = Number::new(N::Int(bound), span);
        filter(N::Compare(cmp, number.clone(), bound), span)
    });
    filter(C::Braces(bounds.collect()), span)
}

fn of_designator(name: &str, of: Squares, at: Span) -> Number {
    let number = |op| Number::new(op, at);
    match name {
        "piececount" => number(N::Cardinality(of)),
        "power" => number(N::Power(of)),
        _ => {
            // The value is White's total minus Black's, so a transform that swaps colours reverses its sign, as the language
            // requires.
            let sides =
                [Pieces { all_white: true, ..Pieces::NONE }, Pieces { all_black: true, ..Pieces::NONE }];
            let [white, black] = sides.map(|pieces| {
                let side = S::Designator { pieces, squares: shakmaty::Bitboard::FULL };
                let own = S::Intersect(of.clone(), Squares::new(side, at));
                number(N::Power(Squares::new(own, at)))
            });
            number(N::Arith(Arith::Sub, white, black))
        }
    }
}
