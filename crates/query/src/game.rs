//! Reads filters on the game and its tags, on whole positions, and on moves.

use shakmaty::{Bitboard, Color, Square};

use super::{
    edges::special,
    parser::{C, N, P, ParseResult, Parser, S, T, color_word, filter},
    ranges::{CountMode, Within},
    token::Tok,
    tree::{GameResult, Kind as _, Moves, Node, Number, Pieces, Special, Squares, Text},
};
use orbit_core::{
    board::{Code, PieceSet},
    diagnostic::{Diagnostic, Span},
    fen::{RankText, Symbol, ranks},
};

impl Parser {
    // ---- data of the game

    pub(super) fn color(&mut self) -> Option<Color> {
        let Tok::Word(word) = self.tok() else { return None };
        let color = color_word(word)?;
        self.bump();
        Some(color)
    }

    pub(super) fn literal(&mut self, what: &str, example: &str) -> ParseResult<String> {
        match self.tok().clone() {
            Tok::Str(text) => {
                self.bump();
                Ok(text)
            }
            _ => Err(Diagnostic::error(
                self.span(),
                format!("found {}", self.found()),
                format!("expected {what} as a string: `{example}`"),
            )),
        }
    }

    pub(super) fn tag(&mut self, name: &str) -> ParseResult<Node> {
        let span = self.bump();
        self.text(T::Tag(name.into()), span)
    }

    /// Builds a string filter. If a string literal follows, the result is a filter that tests if the string contains the literal.
    pub(super) fn text(&mut self, op: T, span: Span) -> ParseResult<Node> {
        let searched = Text::new(op, span.to(self.last_span()));
        self.refuse_bare_text(span)?;
        let Tok::Str(text) = self.tok().clone() else { return Ok(searched.into()) };
        if self.state.joins {
            return Ok(searched.into());
        }
        let at = self.bump();
        if text.contains(['[', ']', '*', '+', '?']) {
            return Err(Diagnostic::error(
                at,
                "this looks like a regular expression",
                "only plain text is searched for",
            )
            .help({
                let searched = &self.text[searched.span().start..searched.span().end];
                let plain: String = text.chars().fold(String::new(), |mut plain, letter| {
                    plain.extend(r".[]*+?(){}^$|\".contains(letter).then_some('\\'));
                    plain.push(letter);
                    plain
                });
                format!(
                    "a regular expression stands behind `~~`: `{searched} ~~ \"{text}\"`, or `{searched} ~~ \"{plain}\"` \
                     for this very text"
                )
            }));
        }
        let literal = Text::new(T::Literal(text), at);
        Ok(filter(C::TextIn(literal, searched), span.to(at)))
    }

    /// Reads `find [<--] [quiet] [n | lo hi | all | count] F`. The options before F may be in any order.
    pub(super) fn find(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        let (mut back, mut quiet, mut counting) = (false, false, None);
        loop {
            if self.eat_sign("<--") {
                back = true;
            } else if self.eat_word("quiet") {
                quiet = true;
            } else if counting.is_none()
                && let Some(found) = self.find_counting()?
            {
                counting = Some(found);
            } else {
                break;
            }
        }
        let of = self.argument()?;
        self.refuse_alone(None, &of)?;
        let span = span.to(of.span());
        self.note_loose_find(span, &of);
        Ok(match counting {
            None => filter(P::Find { back, quiet, of }, span),
            Some(counting) => {
                let count = N::Find { back, quiet, counted: counting.counted(), of };
                counting.around(Number::new(count, span)).into()
            }
        })
    }

    /// Adds a note on filters such as `find check and wtm`: both conditions must be true at the same position.
    fn note_loose_find(&mut self, span: Span, of: &Node) {
        let Node::Condition(f) = of else { return };
        let [left, _] = of.node().children()[..] else { return };
        if matches!(f.op(), C::And(..) | C::Or(..)) && of.span().start == left.mark().start {
            self.remarks.push(
                Diagnostic::note(
                    span,
                    "`find` takes the `and` or `or` to its right",
                    "one position is looked for",
                )
                .help("to end it earlier write `(find ...) and ...`"),
            );
        }
    }

    fn find_counting(&mut self) -> ParseResult<Option<CountMode>> {
        if self.eat_word("count") {
            return Ok(Some(CountMode::Count));
        }
        if self.eat_word("all") {
            return Ok(Some(CountMode::Range(Within::Known(1, i32::MAX))));
        }
        let follows =
            |parser: &Parser| parser.begins_filter() || parser.is_word("quiet") || parser.is_sign("<--");
        let Some(range) = self.range(follows)? else { return Ok(None) };
        let within = range.within();
        if let Within::Known(lo, hi) = within
            && lo > hi
        {
            return Err(Diagnostic::error(
                self.last_span(),
                format!("the range {lo} {hi} runs backwards"),
                format!("write the lower number first: `find {hi} {lo} ...`"),
            ));
        }
        Ok(Some(CountMode::Range(within)))
    }

    pub(super) fn result(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        let value = self.result_value()?;
        Ok(filter(C::Result(value), span.to(self.last_span())))
    }

    pub(super) fn result_value(&mut self) -> ParseResult<GameResult> {
        let at = self.span();
        let mut text = String::new();
        while text.len() < 7 {
            match self.tok() {
                Tok::Int(value) => text += &value.to_string(),
                Tok::Sign(sign @ ("-" | "/")) => text += sign,
                Tok::Str(literal) if text.is_empty() => {
                    text = literal.clone();
                    self.bump();
                    break;
                }
                _ => break,
            }
            self.bump();
            if matches!(text.as_str(), "1-0" | "0-1" | "1/2-1/2") {
                break;
            }
        }
        match text.as_str() {
            "1-0" => Ok(GameResult::WhiteWins),
            "0-1" => Ok(GameResult::BlackWins),
            "1/2-1/2" => Ok(GameResult::Draw),
            "" => Err(Diagnostic::error(
                at,
                format!("found {}", self.found()),
                "expected `1-0`, `0-1` or `1/2-1/2`",
            )),
            _ => Err(Diagnostic::error(
                at,
                format!("`{text}` is no result"),
                "expected `1-0`, `0-1` or `1/2-1/2`",
            )),
        }
    }

    pub(super) fn fen(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        let at = self.span();
        let text = self.literal("a board", "fen \"8/8/8/8/8/8/8/K6k\"")?;
        let board = text.split_whitespace().next().unwrap_or("");
        let mut args = Vec::with_capacity(64);
        let ranks: Vec<RankText> = ranks(board).collect();
        let fault = |message: String| Diagnostic::error(at, message, "expected eight ranks of eight squares");
        if ranks.len() != 8 {
            return Err(fault(format!("this board has {} ranks", ranks.len())));
        }
        for rank in &ranks {
            let row = 7 - rank.index;
            for (_, first, symbol) in rank.symbols() {
                let no_piece = || fault(format!("`{}` is no piece", symbol.letter()));
                let (pieces, run) = fen_symbol(symbol).ok_or_else(no_piece)?;
                for file in first..first + run {
                    if file >= 8 {
                        return Err(fault(format!("rank {} is too long", row + 1)));
                    }
                    let squares = Bitboard::from(Square::new(row * 8 + file));
                    args.push(filter(S::Designator { pieces, squares }, at));
                }
            }
            if rank.files() != 8 {
                return Err(fault(format!("rank {} has {} squares", row + 1, rank.files())));
            }
        }
        // Braces that end with a designator have a set as their value, but `fen` is a condition. Therefore `true` is added after
        // the designators.
        args.push(filter(C::Bool(true), at));
        Ok(filter(C::Braces(args), span.to(at)))
    }

    // ---- legal moves

    pub(super) fn legal(&mut self) -> ParseResult<Node> {
        let span = self.span();
        let count = self.eat_word("countmoves");
        let pseudo = self.is_word("pseudolegal");
        self.bump();
        let everything = |at| Squares::new(S::Constant(Bitboard::FULL), at);
        let from = if self.is_sign("--") {
            everything(self.span())
        } else {
            let from = self.arrows()?;
            self.want_squares(from, "`--`")?
        };
        let dash = self.expect_sign("--", "between the squares that a move leaves and reaches")?;
        let tied = !self.spaced();
        let mut to = everything(dash);
        if tied && self.begins_filter() && !self.is_sign("(") {
            let reached = self.arrows()?;
            to = self.want_squares(reached, "`--`")?;
        }
        if self.is_sign("=") || self.is_sign("[x]") {
            return Err(Diagnostic::error(
                self.span(),
                "`legal` with a promotion or a capture",
                "expected `--` and sets of squares",
            )
            .help("`legal A--a` are the captures but those en passant"));
        }
        let only = if self.is_sign("(") && !self.spaced() { self.special()? } else { Special::Any };
        let (moves, span) = (Moves { pseudo, only, from, to }, span.to(self.last_span()));
        Ok(if count { filter(N::LegalCount(moves), span) } else { filter(S::Legal(moves), span) })
    }

    pub(super) fn special(&mut self) -> ParseResult<Special> {
        self.bump();
        let at = self.span();
        let mut text = String::new();
        while !self.is_sign(")") && *self.tok() != Tok::End {
            match self.tok() {
                Tok::Word(word) => text += word,
                Tok::Sign(sign) => text += sign,
                _ => text.push('?'),
            }
            self.bump();
        }
        self.expect_sign(")", "after the kind of move")?;
        match text.as_str() {
            "castle" | "o-o" | "o-o-o" | "enpassant" => Ok(special(&text)),
            _ => Err(Diagnostic::error(
                at,
                format!("`{text}` is no kind of move here"),
                "expected `castle`, `o-o`, `o-o-o` or `enpassant`",
            )),
        }
    }
}

/// Returns the pieces that a symbol on a `fen "..."` board names, and the number of squares that the symbol covers.
pub(super) fn fen_symbol(symbol: Symbol) -> Option<(Pieces, u32)> {
    let empty = Pieces { list: PieceSet::EMPTY, ..Pieces::NONE };
    Some(match symbol {
        Symbol::Squares(run @ 1..=8) => (empty, run),
        Symbol::Letter('_') => (empty, 1),
        Symbol::Letter('.') => (Pieces::UNNAMED, 1),
        Symbol::Letter('A') => (Pieces { all_white: true, ..Pieces::NONE }, 1),
        Symbol::Letter('a') => (Pieces { all_black: true, ..Pieces::NONE }, 1),
        Symbol::Letter(letter) => {
            let piece = shakmaty::Piece::from_char(letter)?;
            (Pieces { list: PieceSet::only(Code::from_piece(piece)), ..Pieces::NONE }, 1)
        }
        Symbol::Squares(_) | Symbol::Promoted => return None,
    })
}
