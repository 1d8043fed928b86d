//! Reads filters that test moves: `L--R`, `L[x]R`, `currentmove`, `countmoves`, `move`.
//!
//! A dash is `--` or `[x]`. The parts L, R, `=P` and `(T)` are read as parts of a dash filter only if no blank separates them from
//! the dash.

use shakmaty::{Bitboard, Rank};

use super::{
    parser::{C, N, P, ParseResult, Parser, S, T, compound, filter, name_of, typed},
    token::Tok,
    tree::{
        Edge, Elsewhere, GameCondition, GameNumber, GamePosition, GameSquares, GameText, Move, MoveOf,
        MoveValue, Node, Pieces, Promotion, Sibling, Special, Squares, Type, Written, contents_where,
    },
    valued::valued,
};
use orbit_core::{
    board::{Code, PieceSet},
    diagnostic::{Diagnostic, Span},
};

/// The numbers of the white pawn and the black pawn, as in `Code`.
const PAWNS: [u8; 2] = [1, 9];

impl Parser {
    /// Returns true if the current token is `--` or `[x]`.
    pub(super) fn at_dash(&self) -> bool {
        self.is_sign("--") || self.is_sign("[x]")
    }

    /// If a dash (`--` or `[x]`) directly follows `left`, reads the move filter whose origin squares are `left`. Otherwise returns
    /// `left`.
    pub(super) fn with_dash(&mut self, left: Node) -> ParseResult<Node> {
        // `N--n--` is two filters: `n` is the right operand of the first `--`, so it cannot be the left operand of the second
        // one.
        if !self.at_dash() || self.spaced() || self.last_dash == Some(left.span()) {
            return Ok(left);
        }
        match left {
            Node::Squares(from) => self.dash(Some(from), false),
            other => {
                let ((ty, span), sign) = (typed(&other), self.sign_text());
                let dash = self.span();
                let fault = Diagnostic::error(
                    span.to(dash),
                    format!("`{sign}` touches {} on its left", name_of(ty)),
                    "expected a set of squares, which the moves leave",
                );
                Err(if ty == Type::Str && sign == "[x]" {
                    fault.help(
                        "`[x]` is the sign of captures: write `[(x)]` for the character at the number `x`",
                    )
                } else if ty == Type::Num {
                    fault.help("to subtract a negative number write a blank between the signs: `5 - -2`")
                } else {
                    fault.help(format!("a blank before `{sign}` makes two filters of this"))
                })
            }
        }
    }

    /// Reads a dash (`--` or `[x]`) and the parts that directly follow it. `from` is the set directly before the dash. `entering`
    /// is true if the filter tests the move that led to the current position.
    pub(super) fn dash(&mut self, from: Option<Squares>, entering: bool) -> ParseResult<Node> {
        let start = from.as_ref().map_or(self.span(), Squares::span);
        let edge = self.edge(from, entering)?;
        let target = self.target()?;
        let span = start.to(self.last_span());
        self.last_dash = Some(span);
        Ok(moved(edge, target, span))
    }

    /// Adds a warning about a blank between squares and a dash (`--` or `[x]`). Because of the blank, they are two filters, but
    /// were probably meant as one.
    pub(super) fn note_blank(&mut self, last: Option<&Node>) {
        let (Some(last), true) = (last, self.spaced()) else { return };
        let is_bare = |edge: &Edge<Written>| edge.to.is_none() && edge.promotion.is_none();
        if let Node::Condition(f) = last
            && matches!(f.op(), C::Game(GameCondition::Edge { target: None, .. }))
            && self.is_sign("(")
        {
            return self.note_blank_target(last.span());
        }
        let touches = match last {
            Node::Squares(f) if matches!(f.op(), S::Designator { .. }) => self.at_dash(),
            Node::Condition(f) => match f.op() {
                C::Game(GameCondition::Edge { edge, target: None }) => {
                    is_bare(edge) && matches!(self.tok(), Tok::Designator { .. })
                }
                _ => false,
            },
            _ => false,
        };
        if touches {
            self.note_blank_at_dash(last.span());
        } else if matches!(self.tok(), Tok::Designator { .. }) {
            self.note_words(last.span());
        } else if self.is_sign("(") && is_legal(last) {
            self.note_two_filters(last.span(), |left, _| {
                format!("of a legal move only its kind is asked, without a blank: `{left}(castle)`")
            });
        }
    }

    /// Adds a warning about a blank between a dash (`--` or `[x]`) and squares. One of the two begins at `first`, and the other is
    /// the current token.
    fn note_blank_at_dash(&mut self, first: Span) {
        self.note_two_filters(first, |left, right| {
            format!("squares that a move leaves or reaches touch the dash: `{left}{right}`")
        });
    }

    /// Adds a warning if a word and the designator after it are two filters, but were probably meant as one.
    fn note_words(&mut self, word: Span) {
        match &self.text[word.start..word.end] {
            "move" => self.note_two_filters(word, |_, _| {
                "the parts of `move` have names: `move from N to f3`; or write `N--f3`".into()
            }),
            "eco" => self.note_two_filters(word, |_, code| {
                format!("text stands in quotation marks: `eco \"{code}\"`")
            }),
            _ => {}
        }
    }

    /// Adds a warning that the filter at `first` and the one at the current token are two filters, because a blank separates them.
    /// `help` returns the advice, from the texts of both.
    fn note_two_filters(&mut self, first: Span, help: impl Fn(&str, &str) -> String) {
        let second = self.span();
        let [left, right] = [first, second].map(|span| &self.text[span.start..span.end]);
        let remark = Diagnostic::warning(
            first.to(second),
            format!("`{left}` and `{right}` are two filters"),
            "a blank separates them",
        );
        let remark = remark.help(help(left, right));
        self.remarks.push(remark);
    }

    /// Adds a warning about a blank between a designator and a dash (`--` or `[x]`) in a path. There is a warning only if the
    /// designator names only squares or only pieces, because the user then probably meant it as part of the move.
    pub(super) fn note_blank_in_path(&mut self, last: Span, is_move: bool) {
        let before = self.tokens[..self.at].iter().rposition(|token| token.span.start == last.start);
        let of_piece =
            |token: &Tok| matches!(token, Tok::Designator { squares, .. } if *squares == Bitboard::FULL);
        let of_squares = |token: &Tok| matches!(token, Tok::Designator { pieces: Pieces::UNNAMED, .. });
        let alone = before.is_some_and(|before| before + 1 == self.at && of_piece(&self.tokens[before].tok));
        let meant = if is_move { of_squares(self.tok()) } else { alone && self.at_dash() };
        if self.spaced() && meant {
            self.note_blank_at_dash(last);
        }
    }

    /// Adds a warning about a blank between a dash (`--` or `[x]`) and a parenthesis.
    fn note_blank_target(&mut self, dash: Span) {
        let moves = &self.text[dash.start..dash.end];
        let remark = Diagnostic::warning(
            dash.to(self.span()),
            format!("`{moves}` and what stands in parentheses are two filters"),
            "a blank separates them",
        );
        let help = format!("what is asked behind the move touches it: `{moves}(...)`");
        self.remarks.push(remark.help(help));
    }

    fn edge(&mut self, from: Option<Squares>, entering: bool) -> ParseResult<Edge<Written>> {
        let (sign, capture) = (self.sign_text(), self.is_sign("[x]"));
        self.bump();
        let mut to = None;
        let touches = !self.spaced() && self.begins_filter() && !self.at_dash() && !self.is_sign("(");
        if touches && !self.at_repeat() {
            let reached = self.arrows()?;
            let (ty, span) = typed(&reached);
            let Node::Squares(reached) = reached else {
                return Err(Diagnostic::error(
                    span,
                    format!("`{sign}` touches {} on its right", name_of(ty)),
                    "expected a set of squares, which the moves reach",
                )
                .help(format!(
                    "a filter of the position behind the move stands in parentheses, `{sign}({0})`; with a blank these \
                     are two filters, `{sign} {0}`",
                    &self.text[span.start..span.end]
                )));
            };
            to = Some(reached);
        }
        let promotes = self.is_sign("=") && !self.spaced();
        let promotion = if promotes { Some(self.promotion()?) } else { None };
        if promotion.is_some() {
            self.note_promotion(from.as_ref(), to.as_ref());
        }
        Ok(Edge { entering, capture, from, to, promotion })
    }

    /// Adds a warning about a promotion of pieces other than pawns, or on a square that is not on the first or last rank.
    fn note_promotion(&mut self, from: Option<&Squares>, to: Option<&Squares>) {
        let last_ranks = Bitboard::from(Rank::First) | Bitboard::from(Rank::Eighth);
        let designator = |of: Option<&Squares>| match of?.op() {
            S::Designator { pieces, squares } => Some((*pieces, *squares)),
            _ => None,
        };
        let label = match (designator(from), designator(to)) {
            (Some((pieces, _)), _)
                if !PAWNS.into_iter().any(|pawn| pieces.accepts().contains(Code(pawn))) =>
            {
                "only pawns become another piece"
            }
            (_, Some((_, squares))) if (squares & last_ranks).is_empty() => {
                "pawns do so on the first and last rank"
            }
            _ => return,
        };
        let span = from.or(to).map_or(self.last_span(), Squares::span).to(self.last_span());
        self.remarks.push(Diagnostic::warning(span, "this promotion never happens", label));
    }

    /// Reads the promotion piece after a move: `=N`, `=.`, `="NQ"`.
    fn promotion(&mut self) -> ParseResult<Promotion<Written>> {
        self.bump();
        if self.eat_sign(".") {
            return Ok(Promotion::Pieces(PieceSet::WHITE.union(PieceSet::BLACK)));
        }
        if let Tok::Designator { .. } = self.tok() {
            return Ok(Promotion::Pieces(self.promoted()?));
        }
        let at = self.span();
        match self.primary()? {
            Node::Text(letters) => Ok(Promotion::Letters(letters)),
            other => Err(Diagnostic::error(
                at,
                format!("a promotion to {}", name_of(typed(&other).0)),
                "expected a piece, `.` or letters: `--=Q`, `--=\"NQ\"`",
            )),
        }
    }

    /// Reads one kind of promotion piece. The colour of the piece does not matter.
    fn promoted(&mut self) -> ParseResult<PieceSet> {
        let at = self.span();
        let Tok::Designator { pieces, squares } = *self.tok() else {
            return Err(Diagnostic::error(
                at,
                format!("found {}", self.found()),
                "expected the piece that a pawn becomes: `Q`, `[NR]`",
            ));
        };
        if squares != shakmaty::Bitboard::FULL || pieces == Pieces::UNNAMED {
            return Err(Diagnostic::error(
                at,
                "a promotion with squares",
                "write the piece alone: `Q`, `[NR]`",
            )
            .help("the square stands behind the dash: `P--h8=Q`"));
        }
        self.bump();
        let kinds = pieces.accepts();
        Ok(contents_where(|code| {
            let kind = code.0 & 7;
            kind != 0 && [kind, kind | 8].into_iter().any(|code| kinds.contains(Code(code)))
        }))
    }

    /// Reads the target `(T ...)` of a dash (`--` or `[x]`): filters that must match after the move. Returns `None` unless a
    /// parenthesis directly follows.
    fn target(&mut self) -> ParseResult<Option<Node>> {
        if !self.is_sign("(") || self.spaced() {
            return Ok(None);
        }
        let filters = self.filters_in_parentheses("a filter of the position behind the move")?;
        Ok(Some(filters))
    }

    /// Reads filters in parentheses, `(F ...)`, as one filter.
    fn filters_in_parentheses(&mut self, what: &str) -> ParseResult<Node> {
        let open = self.expect_sign("(", &format!("before {what}"))?;
        let mut filters = Vec::new();
        while !self.closes(open)? {
            filters.push(self.inside(Parser::node)?);
            self.note_blank(filters.last());
        }
        let end = self.bump();
        match filters.pop() {
            Some(last) => Ok(compound(filters, last).at(open.to(end))),
            None => Err(Diagnostic::error(open.to(end), "empty parentheses", format!("expected {what}"))),
        }
    }

    /// Reads `currentmove L--R(T)`.
    pub(super) fn entering_move(&mut self) -> ParseResult<Node> {
        let (span, word) = (self.span(), self.found());
        self.bump();
        let from = self.before_dash(&word)?;
        let node = self.dash(from, true)?;
        let span = span.to(node.span());
        Ok(node.at(span))
    }

    /// Reads `countmoves L--R(T)`, `countmoves legal L--R`.
    pub(super) fn count_moves(&mut self) -> ParseResult<Node> {
        if matches!(self.peek(1), Tok::Word(word) if word == "legal" || word == "pseudolegal") {
            return self.legal();
        }
        let (span, word) = (self.span(), self.found());
        self.bump();
        let from = self.before_dash(&word)?;
        let edge = self.edge(from, false)?;
        let target = self.target()?;
        let count = GameNumber::CountMoves { edge, target };
        Ok(filter(N::Game(count), span.to(self.last_span())))
    }

    /// Reads the squares L of a move filter `L--R`, up to the dash. Returns `None` if L is missing. A missing dash is an error.
    fn before_dash(&mut self, word: &str) -> ParseResult<Option<Squares>> {
        if self.at_dash() {
            return Ok(None);
        }
        let missing = |parser: &Parser, span: Span| {
            Diagnostic::error(
                span,
                format!("{word} without a move filter"),
                format!("expected `--` or `[x]` here, not {}", parser.found()),
            )
            .help(format!("for example {word} with `P--e4`; the squares touch the dash"))
        };
        if !self.begins_filter() {
            return Err(missing(self, self.span()));
        }
        let at = self.span();
        let from = self.arrows()?;
        if !self.at_dash() {
            return Err(missing(self, at));
        }
        if self.spaced() {
            let squares = &self.text[at.start..self.last_span().end];
            let moves = format!("{} {squares}{}", word.trim_matches('`'), self.sign_text());
            let label = format!("the squares touch it: `{moves}`");
            let message = format!("a blank before `{}`", self.sign_text());
            return Err(Diagnostic::error(self.span(), message, label));
        }
        Ok(Some(self.want_squares(from, "`--`")?))
    }

    // ---- move

    /// Reads `move [from S] [to S] [capture S] ...`.
    pub(super) fn move_word(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        let mut of = Move {
            of: MoveOf::Played,
            value: MoveValue::Whether,
            from: None,
            to: None,
            capture: None,
            promote: None,
            en_passant_square: None,
            only: Special::Any,
            null: false,
            sibling: None,
            comment: None,
        };
        let (mut first, mut counts) = (true, None);
        loop {
            let at = self.span();
            if counts.is_none() && self.eat_word("count") {
                counts = Some(at);
            } else if !self.move_part(&mut of, first)? {
                break;
            }
            first = false;
            // `comment(...)` must be the last part of a `move` filter.
            if of.comment.is_some() {
                break;
            }
        }
        match (counts, of.of) {
            (Some(_), MoveOf::Legal | MoveOf::Pseudolegal) => of.value = MoveValue::Count,
            (Some(at), MoveOf::Played | MoveOf::Previous) => {
                return Err(Diagnostic::error(
                    at,
                    "`count` of moves that were played",
                    "`move` counts legal moves: `move legal count`",
                )
                .help("`countmoves --` counts the moves that were played here"));
            }
            (None, _) => {}
        }
        let span = span.to(self.last_span());
        Ok(match of.value {
            MoveValue::Whether => filter(C::Game(GameCondition::Move(of)), span),
            MoveValue::From | MoveValue::To | MoveValue::Capture => {
                filter(S::Game(GameSquares::Move(of)), span)
            }
            MoveValue::Count => filter(N::Game(GameNumber::Move(of)), span),
        })
    }

    /// Reads one part of a `move` filter, such as `from S`. Returns false if no part follows.
    fn move_part(&mut self, of: &mut Move<Written>, first: bool) -> ParseResult<bool> {
        let Tok::Word(word) = self.tok().clone() else { return Ok(false) };
        let at = self.span();
        let twice = || {
            Diagnostic::error(
                at,
                format!("`{word}` contradicts what `move` says before"),
                "write one of both",
            )
        };
        let value = match word.as_str() {
            "from" => MoveValue::From,
            "to" => MoveValue::To,
            "capture" | "captures" => MoveValue::Capture,
            _ => MoveValue::Whether,
        };
        match word.as_str() {
            "from" => self.squares_of_move(&mut of.from)?,
            "to" => self.squares_of_move(&mut of.to)?,
            "capture" | "captures" => self.squares_of_move(&mut of.capture)?,
            "enpassantsquare" => self.squares_of_move(&mut of.en_passant_square)?,
            "promote" if of.promote.is_none() => {
                self.bump();
                of.promote = Some(self.promoted()?);
            }
            "castle" | "o-o" | "o-o-o" | "enpassant" if of.only == Special::Any => {
                self.bump();
                of.only = special(&word);
            }
            "null" => {
                self.bump();
                of.null = true;
            }
            "primary" | "secondary" if of.sibling.is_none() => {
                self.bump();
                of.sibling = Some(sibling(&word));
            }
            "previous" | "legal" | "pseudolegal" if of.of == MoveOf::Played => {
                self.bump();
                of.of = match word.as_str() {
                    "previous" => MoveOf::Previous,
                    "legal" => MoveOf::Legal,
                    _ => MoveOf::Pseudolegal,
                };
            }
            "comment" if matches!(self.peek(1), Tok::Sign("(")) && of.comment.is_none() => {
                self.bump();
                of.comment = Some(self.joined()?);
            }
            "promote" | "castle" | "o-o" | "o-o-o" | "enpassant" | "primary" | "secondary" | "previous"
            | "legal" | "pseudolegal" => return Err(twice()),
            _ => return Ok(false),
        }
        if first {
            of.value = value;
        }
        Ok(true)
    }

    fn squares_of_move(&mut self, part: &mut Option<Squares>) -> ParseResult<()> {
        let (at, word) = (self.span(), self.found());
        self.bump();
        if part.is_some() {
            return Err(Diagnostic::error(at, format!("{word} stands twice in `move`"), "write it once"));
        }
        let of = self.primary()?;
        *part = Some(self.want_squares(of, &format!("{word} of `move`"))?);
        Ok(())
    }
}

/// Returns true for `legal --` and `countmoves legal --`, with or without squares.
fn is_legal(node: &Node) -> bool {
    match node {
        Node::Squares(f) => matches!(f.op(), S::Legal(_)),
        Node::Number(f) => matches!(f.op(), N::LegalCount(_)),
        _ => false,
    }
}

/// Returns the kind of move that a word such as `castle` or `o-o` names. Returns [`Special::Any`] for other words.
pub(super) fn special(word: &str) -> Special {
    match word {
        "castle" => Special::Castle,
        "o-o" => Special::KingSide,
        "o-o-o" => Special::QueenSide,
        "enpassant" => Special::EnPassant,
        _ => Special::Any,
    }
}

/// Returns the moves that `primary` or `secondary` names: the first move from a position, or all others.
pub(super) fn sibling(word: &str) -> Sibling {
    if word == "primary" { Sibling::Primary } else { Sibling::Secondary }
}

/// Returns a move filter. Its type is that of its target, the filter for the position after the move: if the target is a number,
/// the move filter is a number, too.
fn moved(edge: Edge<Written>, target: Option<Node>, span: Span) -> Node {
    match target.map(valued) {
        None => filter(C::Game(GameCondition::Edge { edge, target: None }), span),
        Some(Node::Condition(of)) => {
            filter(C::Game(GameCondition::Edge { edge, target: Some(of.into()) }), span)
        }
        Some(Node::Squares(target)) => {
            filter(S::Game(GameSquares::Elsewhere(Elsewhere::Edge { edge, target })), span)
        }
        Some(Node::Number(target)) => {
            filter(N::Game(GameNumber::Elsewhere(Elsewhere::Edge { edge, target })), span)
        }
        Some(Node::Text(target)) => {
            filter(T::Game(GameText::Elsewhere(Elsewhere::Edge { edge, target })), span)
        }
        Some(Node::Position(target)) => {
            filter(P::Game(GamePosition::Elsewhere(Elsewhere::Edge { edge, target })), span)
        }
    }
}

/// Splits a move filter into the test of the move and the optional target, the filter for the position after the move. Returns
/// `None` for other filters.
pub(super) fn parts(dash: Node) -> Option<(Edge<Written>, Option<Node>)> {
    Some(match dash {
        Node::Condition(f) => match f.into_op() {
            C::Game(GameCondition::Edge { edge, target }) => (edge, target),
            _ => return None,
        },
        Node::Squares(f) => match f.into_op() {
            S::Game(GameSquares::Elsewhere(Elsewhere::Edge { edge, target })) => (edge, Some(target.into())),
            _ => return None,
        },
        Node::Number(f) => match f.into_op() {
            N::Game(GameNumber::Elsewhere(Elsewhere::Edge { edge, target })) => (edge, Some(target.into())),
            _ => return None,
        },
        Node::Text(f) => match f.into_op() {
            T::Game(GameText::Elsewhere(Elsewhere::Edge { edge, target })) => (edge, Some(target.into())),
            _ => return None,
        },
        Node::Position(f) => match f.into_op() {
            P::Game(GamePosition::Elsewhere(Elsewhere::Edge { edge, target })) => (edge, Some(target.into())),
            _ => return None,
        },
    })
}
