//! Reads sequences of positions and moves: `line` and `path`.

use super::{
    edges::{parts, sibling},
    parser::{N, P, ParseResult, Parser, filter},
    repeats::Repeat,
    token::Tok,
    tree::{
        Chain, ConditionOp, Edge, Focus, GameCondition, GameNumber, GamePosition, GameSquares, Kind as _,
        Line, LineStep, MoveOf, Node, NumberOp, Path, PathStep, PositionOp, Ref, SquaresOp, Written,
    },
    words,
};
use orbit_core::diagnostic::{Diagnostic, Span};

/// The maximum number of suffixes, such as `*` or `{2}`, after one constituent (filter) of a line.
const SUFFIXES_MAX: usize = 8;

/// A move of a path while the parser reads its targets, the filters for the position after the move.
struct OpenMove {
    edge: Edge<Written>,
    targets: Vec<Node>,
}

impl OpenMove {
    fn close(self) -> Chain<PathStep<Written>> {
        Chain::One(PathStep::Edge { edge: self.edge, targets: self.targets })
    }
}

/// Joins parts of a `line` or `path` into one sequence. A single part is returned unchanged.
fn sequence<T>(mut all: Vec<Chain<T>>) -> Chain<T> {
    match (all.pop(), all.is_empty()) {
        (Some(only), true) => only,
        (last, _) => {
            all.extend(last);
            Chain::Sequence(all)
        }
    }
}

// ---- line

impl Parser {
    /// Reads `line --> c1 --> c2 ...`.
    pub(super) fn line(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        let (mut range, mut lasts, mut single_color, mut nestban) = (None, false, false, None);
        let (mut first_match, mut quiet, mut only) = (false, false, None);
        loop {
            let at = self.span();
            if range.is_none()
                && let Some(found) = self.range(Parser::goes_on_with_line)?
            {
                range = Some(found.into_numbers());
                continue;
            }
            let Tok::Word(word) = self.tok().clone() else { break };
            match word.as_str() {
                "singlecolor" => single_color = true,
                "nestban" => nestban = Some(at),
                "firstmatch" => first_match = true,
                "lastposition" => lasts = true,
                "quiet" => quiet = true,
                "primary" | "secondary" => match only.replace(sibling(&word)) {
                    Some(known) if known != sibling(&word) => {
                        return Err(Diagnostic::error(
                            at,
                            "`line` with `primary` and `secondary`",
                            "no move is both: write one of them",
                        ));
                    }
                    _ => {}
                },
                _ => break,
            }
            self.bump();
        }
        let back = self.is_sign("<--");
        if !back && !self.is_sign("-->") {
            return Err(Diagnostic::error(
                self.span(),
                format!("found {}", self.found()),
                "expected `-->` or `<--` before each position: `line --> check --> mate`",
            ));
        }
        if let Some(at) = nestban.filter(|_| back) {
            return Err(Diagnostic::error(
                at,
                "`nestban` in a line that runs back",
                "it goes with `-->` only",
            ));
        }
        self.bump();
        let chain = self.line_chain(back)?;
        let line = Line {
            range,
            back,
            single_color,
            nestban: nestban.is_some(),
            first_match,
            sibling: only,
            quiet,
            chain,
        };
        let span = span.to(self.last_span());
        Ok(if lasts {
            filter(P::Game(GamePosition::LineEnd(line)), span)
        } else {
            filter(N::Game(GameNumber::Line(line)), span)
        })
    }

    fn goes_on_with_line(&self) -> bool {
        match self.tok() {
            Tok::Sign("-->" | "<--") => true,
            Tok::Word(word) => {
                ["singlecolor", "nestban", "firstmatch", "lastposition", "quiet", "primary", "secondary"]
                    .contains(&word.as_str())
            }
            _ => false,
        }
    }

    /// Reads the constituents (filters) of a line, which are separated by arrows. The parser has already read the first arrow.
    fn line_chain(&mut self, back: bool) -> ParseResult<Chain<LineStep<Written>>> {
        let mut all = vec![self.line_part(back)?];
        loop {
            match (back, self.tok()) {
                (false, Tok::Sign("-->")) | (true, Tok::Sign("<--")) => {}
                (_, Tok::Sign("-->" | "<--")) => {
                    return Err(Diagnostic::error(
                        self.span(),
                        "`-->` and `<--` in one line",
                        "a line runs one way: write all arrows the same",
                    ));
                }
                _ => return Ok(sequence(all)),
            }
            self.bump();
            all.push(self.line_part(back)?);
        }
    }

    fn line_part(&mut self, back: bool) -> ParseResult<Chain<LineStep<Written>>> {
        self.descend()?;
        let mut chain = if self.is_sign("(") && self.holds_line_chain() {
            self.bump();
            let chain = self.line_chain(back)?;
            self.expect_sign(")", "after a chain of positions")?;
            chain
        } else {
            let filter = self.constituent(Parser::node)?;
            self.refuse_alone(None, &filter)?;
            let tied = asks_for_move(filter.node());
            Chain::One(LineStep { filter, tied })
        };
        let (mut last, mut count) = (None::<Repeat>, 0);
        while let Some(repeat) = self.repeat()? {
            count += 1;
            let fault = |message| {
                Err(Diagnostic::error(repeat.at, message, "leave one of the suffixes out")
                    .help("`true*`, `true+`, `true?` and `true{2,3}` are suffixes, and `true{2}+` is one behind another"))
            };
            if last.is_some_and(|last| last.plus) && (repeat.plus || repeat.braces) {
                return fault("a repetition of `+`");
            }
            // A part that can match the empty sequence may be repeated only if it is in parentheses.
            if chain.can_be_empty() && !matches!(chain, Chain::Sequence(_)) {
                return fault("a repetition of what may be left out");
            }
            if count > SUFFIXES_MAX {
                return fault("too many suffixes");
            }
            chain = repeat.repeat(chain);
            last = Some(repeat);
        }
        self.ascend();
        Ok(chain)
    }

    /// In a line, returns true if the parentheses at the current token contain a chain of filters, not a single filter. A chain
    /// contains an arrow, or a suffix such as `*` after the last filter. In nested parentheses, as in `((a --> b))`, the chain can
    /// be in any of them.
    fn holds_line_chain(&self) -> bool {
        let is_open = |at: &usize| matches!(self.peek(*at), Tok::Sign("("));
        let mut open = (0..).take_while(is_open).count();
        let (mut depth, mut at) = (open, open);
        // These two are about the innermost of the first parentheses that are still open. Its own tokens are those at depth `open`.
        let (mut inner_line, mut is_filter) = (false, false);
        while open > 0 {
            let is_own = depth == open && !is_filter;
            match self.peek(at) {
                Tok::Sign("(" | "{") => depth += 1,
                Tok::Sign(")" | "}") => {
                    let is_repeated = || {
                        matches!(self.peek(at - 1), Tok::Sign("*" | "+" | "?"))
                            || matches!(self.peek(at - 1), Tok::Sign("}")) && self.repeat_ends_at(at - 1)
                    };
                    if is_own && is_repeated() {
                        return true;
                    }
                    if depth == open {
                        open -= 1;
                        (inner_line, is_filter) = (false, false);
                    }
                    depth -= 1;
                }
                Tok::Word(word) if is_own && word == "line" => inner_line = true,
                Tok::Sign("-->") if is_own && inner_line => is_filter = true,
                Tok::Sign("-->") if is_own => return true,
                Tok::Sign("<--")
                    if is_own
                        && !inner_line
                        && !matches!(self.peek(at - 1), Tok::Word(word) if word == "find") =>
                {
                    return true;
                }
                Tok::End => return false,
                _ => {}
            }
            at += 1;
        }
        false
    }
}

/// Returns true if `filter`, which belongs to a line, contains a `move` filter that tests the moves played from the position of
/// `filter` in the line. Ignores filters that are evaluated at other positions.
fn asks_for_move(filter: Ref<Written>) -> bool {
    let played = |of: &super::tree::Move<Written>| of.of == MoveOf::Played;
    match filter {
        Ref::Condition(f) => match f.op() {
            ConditionOp::Game(GameCondition::Move(of)) => return played(of),
            ConditionOp::Game(
                GameCondition::At { .. } | GameCondition::Echo(_) | GameCondition::Edge { .. },
            ) => return false,
            _ => {}
        },
        Ref::Squares(f) => match f.op() {
            SquaresOp::Game(GameSquares::Move(of)) => return played(of),
            SquaresOp::Game(GameSquares::Elsewhere(_)) => return false,
            _ => {}
        },
        Ref::Number(f) => match f.op() {
            NumberOp::Find { .. }
            | NumberOp::Game(
                GameNumber::Line(_)
                | GameNumber::Path(_)
                | GameNumber::Echo(_)
                | GameNumber::Elsewhere(_)
                | GameNumber::CountMoves { .. }
                | GameNumber::Move(_),
            ) => return false,
            _ => {}
        },
        Ref::Text(f) => {
            if let super::tree::TextOp::Game(super::tree::GameText::Elsewhere(_)) = f.op() {
                return false;
            }
        }
        Ref::Position(f) => match f.op() {
            PositionOp::Find { .. }
            | PositionOp::Game(
                GamePosition::LineEnd(_) | GamePosition::PathEnd(_) | GamePosition::Elsewhere(_),
            ) => return false,
            _ => {}
        },
    }
    filter.children().into_iter().any(asks_for_move)
}

// ---- path

/// The options of a path, which come before its constituents (moves and filters).
struct PathOptions {
    path: Path<Written>,
    /// True if the option `lastposition` is present.
    lasts: bool,
}

impl Parser {
    /// Reads a path: `path ...`. It ends at a closing bracket, at the end of the query, or at a blank line.
    pub(super) fn path(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        let outer = self.stop_at_blank_line();
        let PathOptions { mut path, lasts } = self.path_options()?;
        let at = self.span();
        if path.piece_path && path.focus.is_none() {
            return Err(Diagnostic::error(at, "`piecepath` without a focus", "whose way?")
                .help("it writes the ways of the pieces in focus: `path piecepath focus A --`"));
        }
        path.chain = self.path_chain()?;
        if !has_edge(&path.chain) {
            if let Chain::Sequence(all) = &path.chain
                && all.is_empty()
            {
                return Err(self.empty_path(at));
            }
            self.remarks.push(
                Diagnostic::warning(span.to(self.last_span()), "this path has no move", "it never matches")
                    .help("each `--` or `[x]` of a path is a move: `path -- check`"),
            );
        }
        self.reach(outer);
        self.note_end();
        let span = span.to(self.last_span());
        Ok(if lasts {
            filter(P::Game(GamePosition::PathEnd(path)), span)
        } else {
            filter(N::Game(GameNumber::Path(path)), span)
        })
    }

    /// Adds a warning if a move or a suffix follows the blank line that ended a path. It was probably meant as part of the path.
    fn note_end(&mut self) {
        if self.is_apart() && (self.at_dash() || matches!(self.tok(), Tok::Sign("+" | "*" | "?"))) {
            self.remarks.push(
                Diagnostic::warning(self.span(), "a blank line ended the path before", "no part of the path")
                    .help("to go on with the path take the blank line out; parentheses and braces may hold blank lines"),
            );
        }
    }

    /// Adds a note if a `path` or `pathlastposition` was read as a part of the path before it. The user probably meant it to follow
    /// that path.
    fn note_swallowed(&mut self) {
        let Tok::Word(word) = self.tok() else { return };
        if !["path", "pathlastposition"].contains(&word.as_str()) {
            return;
        }
        let remark = Diagnostic::note(
            self.span(),
            format!("`{word}` belongs to the path before"),
            "asked of the position behind the move",
        );
        self.remarks.push(remark.help(
            "a path takes all that follows; to end it write braces around it, `{path -- check} ...`, or a blank line",
        ));
    }

    fn empty_path(&self, at: Span) -> Diagnostic {
        if self.at_blank_line() {
            return Diagnostic::error(at, "a blank line ends this path", "before its first move")
                .help("a path reaches as far as the bracket around it, or a blank line");
        }
        Diagnostic::error(
            at,
            format!("found {}", self.found()),
            "expected the moves of the path: `path -- check`",
        )
    }

    fn path_options(&mut self) -> ParseResult<PathOptions> {
        let chain = Chain::Sequence(Vec::new());
        let path = Path {
            range: None,
            focus: None,
            max: None,
            primary: false,
            nestban: false,
            first_match: false,
            keep_all_best: false,
            piece_path: false,
            verbose: false,
            title: None,
            quiet: false,
            chain,
        };
        let mut options = PathOptions { path, lasts: false };
        loop {
            if options.path.range.is_none()
                && let Some(range) = self.range(Parser::goes_on_with_path)?
            {
                options.path.range = Some(range.into_numbers());
                continue;
            }
            let at = self.span();
            if !self.path_option(&mut options)? {
                return Ok(options);
            }
            if options.path.primary && options.path.focus.is_some() {
                return Err(Diagnostic::error(
                    at,
                    "a path with `primary` and a focus",
                    "write one of them: `primary` takes every first move, whosever it is",
                ));
            }
        }
    }

    /// Reads one option of a path. Returns false if no option follows.
    fn path_option(&mut self, PathOptions { path, lasts }: &mut PathOptions) -> ParseResult<bool> {
        let Tok::Word(word) = self.tok().clone() else { return Ok(false) };
        let at = self.span();
        match word.as_str() {
            "focus" | "singlecolor" if path.focus.is_some() => {
                return Err(Diagnostic::error(
                    at,
                    "a path with two focuses",
                    "`focus` and `singlecolor` stand once, and not together",
                ));
            }
            "focus" => {
                self.bump();
                let capture = self.eat_word("capture");
                let of = self.constituent(Parser::arrows)?;
                path.focus = Some(Focus::Pieces { capture, of: self.want_squares(of, "`focus`")? });
                return Ok(true);
            }
            "max" if path.max.is_none() => {
                self.bump();
                let of = self.constituent(Parser::relation)?;
                path.max = Some(self.want_number(of, "`max`")?);
                return Ok(true);
            }
            "title" => {
                self.bump();
                path.title = Some(self.literal("a title", "title \"knight\"")?);
                return Ok(true);
            }
            "singlecolor" => path.focus = Some(Focus::SideToMove),
            "lastposition" => *lasts = true,
            "primary" => path.primary = true,
            "nestban" => path.nestban = true,
            "firstmatch" => path.first_match = true,
            "keepallbest" => path.keep_all_best = true,
            "piecepath" => path.piece_path = true,
            "verbose" => path.verbose = true,
            "quiet" => path.quiet = true,
            "secondary" => {
                return Err(Diagnostic::error(
                    at,
                    "`secondary` before the moves of a path",
                    "no such option",
                )
                .help(
                    "`path {secondary} --` begins behind such a move, `path -- secondary` goes on by one",
                ));
            }
            _ => return Ok(false),
        }
        self.bump();
        Ok(true)
    }

    fn goes_on_with_path(&self) -> bool {
        match self.tok() {
            Tok::Sign(sign) => ["(", "{", ".", "[]", "~", "#", "--", "[x]", "[forall]", "///"].contains(sign),
            Tok::Word(word) => {
                !words::is_inside(word) || PATH_OPTIONS.contains(&word.as_str()) && !self.assigns_next()
            }
            Tok::Designator { .. } => true,
            Tok::Int(_) | Tok::Str(_) | Tok::Group { .. } | Tok::End => false,
        }
    }

    /// Reads moves, filters and chains, up to a closing bracket or a token that cannot begin a filter.
    fn path_chain(&mut self) -> ParseResult<Chain<PathStep<Written>>> {
        let (mut all, mut open) = (Vec::new(), None::<OpenMove>);
        loop {
            if let Some(repeat) = self.repeat()? {
                let Some(step) = open.take() else {
                    return Err(no_move_to_repeat(repeat.at));
                };
                all.push(repeat.repeat(step.close()));
                self.refuse_second_suffix()?;
            } else if self.at_dash() {
                all.extend(open.take().map(OpenMove::close));
                let dash = self.dash(None, false)?;
                let bare = dash.span();
                open = self.step(dash).ok();
                self.note_blank_in_path(bare, true);
            } else if self.is_sign("(") && self.holds_path_chain() {
                all.extend(open.take().map(OpenMove::close));
                all.push(self.path_in_parentheses()?);
            } else if self.begins_constituent() {
                self.refuse_legal()?;
                if open.is_some() || !all.is_empty() {
                    self.note_swallowed();
                }
                let filter = self.constituent_of_path()?;
                self.refuse_alone(None, &filter)?;
                self.note_blank_in_path(filter.span(), false);
                match (self.step(filter), &mut open) {
                    (Ok(step), _) => all.extend(open.replace(step).map(OpenMove::close)),
                    (Err(filter), Some(open)) => open.targets.push(filter),
                    (Err(filter), None) => all.push(Chain::One(PathStep::Filter(filter))),
                }
            } else {
                all.extend(open.map(OpenMove::close));
                return Ok(sequence(all));
            }
        }
    }

    /// Turns a filter into a move of the path, if the filter is the `--` or `[x]` that the parser has just read. Returns any other
    /// filter unchanged, as the error.
    fn step(&self, filter: Node) -> Result<OpenMove, Node> {
        if self.last_dash != Some(filter.span()) {
            return Err(filter);
        }
        let kept = filter.clone();
        match parts(filter) {
            Some((edge, target)) => Ok(OpenMove { edge, targets: target.into_iter().collect() }),
            None => Err(kept),
        }
    }

    fn path_in_parentheses(&mut self) -> ParseResult<Chain<PathStep<Written>>> {
        self.descend()?;
        let open = self.bump();
        let chain = self.path_chain()?;
        if let Chain::Sequence(all) = &chain
            && all.is_empty()
        {
            return Err(Diagnostic::error(
                open.to(self.span()),
                format!("found {} behind `(`", self.found()),
                "expected a move or a filter",
            ));
        }
        self.expect_sign(")", "after a chain of moves")?;
        self.ascend();
        let Some(repeat) = self.repeat()? else { return Ok(chain) };
        if !has_edge(&chain) {
            return Err(no_move_to_repeat(repeat.at));
        }
        self.refuse_second_suffix()?;
        Ok(repeat.repeat(chain))
    }

    fn refuse_second_suffix(&mut self) -> ParseResult<()> {
        match self.repeat()? {
            None => Ok(()),
            Some(second) => Err(Diagnostic::error(
                second.at,
                "a second suffix behind a move",
                "a move or chain of a path takes one suffix",
            )
            .help("parentheses make a chain of what was repeated: `(-- {2})+`")),
        }
    }

    /// Rejects `legal` and `countmoves` in a path, because the `--` after these words is part of the filter and not a move of the
    /// path.
    fn refuse_legal(&self) -> ParseResult<()> {
        let Tok::Word(word) = self.tok() else { return Ok(()) };
        if !matches!(word.as_str(), "legal" | "pseudolegal" | "countmoves") {
            return Ok(());
        }
        Err(Diagnostic::error(
            self.span(),
            format!("`{word}` among the moves of a path"),
            "write it in braces, since a dash here is a move of the path",
        )
        .help(format!("for example `path -- {{{word} ...}}`")))
    }

    fn begins_constituent(&self) -> bool {
        match self.tok() {
            Tok::End => false,
            Tok::Sign(sign) => ["(", "{", ".", "[]", "~", "#", "-", "[forall]", "///"].contains(sign),
            Tok::Word(word) => !words::is_inside(word),
            Tok::Designator { .. } | Tok::Int(_) | Tok::Str(_) | Tok::Group { .. } => true,
        }
    }

    /// In a path, returns true if the parentheses at the current token contain a chain of moves and filters, not a single filter. A
    /// chain contains a `--` or `[x]` outside of braces, or it is followed by a token that cannot continue a filter.
    fn holds_path_chain(&self) -> bool {
        let (mut depth, mut braces, mut at) = (0u32, 0u32, 0);
        loop {
            match self.peek(at) {
                Tok::Sign("(") => depth += 1,
                Tok::Sign("{") => braces += 1,
                Tok::Sign("}") => braces = braces.saturating_sub(1),
                Tok::Sign(")") if depth == 1 => break,
                Tok::Sign(")") => depth -= 1,
                Tok::Sign("--" | "[x]") if braces == 0 => return true,
                Tok::End => return true,
                _ => {}
            }
            at += 1;
        }
        match self.peek(at + 1) {
            // Without a blank before the dash, as in `(P | N)--`, the parentheses contain the origin squares of the move.
            Tok::Sign("--" | "[x]") => self.spaced_ahead(at + 1),
            Tok::Sign(sign) => !GOES_ON.contains(sign),
            Tok::Word(word) => !GOES_ON.contains(&word.as_str()),
            _ => true,
        }
    }
}

/// The words for path options. No filter begins with one of them.
const PATH_OPTIONS: [&str; 11] = [
    "focus",
    "singlecolor",
    "lastposition",
    "nestban",
    "firstmatch",
    "keepallbest",
    "piecepath",
    "verbose",
    "quiet",
    "title",
    "max",
];

/// The tokens after a closing parenthesis that continue the filter before it.
const GOES_ON: [&str; 27] = [
    "and",
    "or",
    "in",
    "attacks",
    "attack",
    "attackedby",
    "attacked",
    "&",
    "|",
    "->",
    "<-",
    ":",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "[<]",
    "[<=]",
    "[>]",
    "[>=]",
    "-",
    "/",
    "%",
    "~~",
    "[",
];

fn no_move_to_repeat(at: Span) -> Diagnostic {
    Diagnostic::error(
        at,
        "a suffix without a move before it",
        "it repeats a move with its filters, or a chain in parentheses",
    )
    .help("`path -- check{5}` repeats the move and its filter; a filter before the first move stands once")
}

fn has_edge(chain: &Chain<PathStep<Written>>) -> bool {
    let mut found = false;
    chain.each(&mut |step| found |= matches!(step, PathStep::Edge { .. }));
    found
}

#[cfg(test)]
mod tests {
    use crate::parse;

    #[test]
    fn chains_that_cannot_be_are_refused() {
        for (text, message) in [
            ("line --> true**", "a repetition of what may be left out"),
            ("line --> (check?)+", "a repetition of what may be left out"),
            ("line --> (check? --> true*){3}+", "a repetition of what may be left out"),
            ("line --> true++", "a repetition of `+`"),
            ("line --> true{,}", "`{,}` says nothing"),
            ("line --> true{3,2}", "the count 3 to 2 runs backwards"),
            ("line --> true --> 3", "the number 3 as a condition"),
            ("line --> true <-- true", "`-->` and `<--` in one line"),
            ("line nestban <-- true", "`nestban` in a line that runs back"),
            ("line primary secondary --> true", "`line` with `primary` and `secondary`"),
            ("path -- + *", "a second suffix behind a move"),
            ("path (--)+ ?", "a second suffix behind a move"),
            ("path check + --", "a suffix without a move before it"),
            ("path (check)+ --", "a suffix without a move before it"),
            ("path focus A primary --", "a path with `primary` and a focus"),
            ("path singlecolor focus A --", "a path with two focuses"),
            ("path secondary --", "`secondary` before the moves of a path"),
            ("path -- legal --", "`legal` among the moves of a path"),
            ("path 3", "the number 3 as a condition"),
            ("path\n\n--", "a blank line ends this path"),
            ("--check", "`--` touches a condition on its right"),
            ("check--", "`--` touches a condition on its left"),
            ("countmoves secondary", "`countmoves` without a move filter"),
            ("P--=Qa8", "a promotion with squares"),
        ] {
            assert_eq!(parse(text).expect_err(text).message, message, "{text}");
        }
        for (text, help) in [
            ("P--e8 =Q", "what a pawn becomes touches its move: `P--e8=Q`"),
            ("line --> true{2, 3}", "counts and lists of squares have no blanks"),
            ("line --> ply+ wtm", "`{+}` repeats what stands before it"),
            ("path -- legal --", "for example `path -- {legal ...}`"),
        ] {
            let found = parse(text).expect_err(text).help.expect(text);
            assert!(found.contains(help), "{text}: {found}");
        }
    }

    #[test]
    fn slips_that_mean_something_else_are_remarked() {
        for (text, remark) in [
            ("P --e4", "`P` and `--` are two filters"),
            ("-- e4", "`--` and `e4` are two filters"),
            ("P--e4 (check)", "`P--e4` and what stands in parentheses are two filters"),
            ("not x=3", "`x` is assigned under `not`"),
            ("path -- {2} pathlastposition", "`pathlastposition` belongs to the path before"),
            ("path -- check\n\n-- mate", "a blank line ended the path before"),
            ("path check", "this path has no move"),
            ("find check and wtm", "`find` takes the `and` or `or` to its right"),
        ] {
            let remarks: Vec<String> = parse(text).unwrap().remarks.into_iter().map(|r| r.message).collect();
            assert_eq!(remarks, [remark], "{text}");
        }
        for text in
            ["P--e4", "path -- P", "{path -- {2}} pathlastposition:wtm", "(find check) and wtm", "-- check"]
        {
            assert!(parse(text).unwrap().remarks.is_empty(), "{text}");
        }
    }

    #[test]
    fn constituents_that_ask_for_their_move_are_tied() {
        use crate::tree::{GameNumber, Node, NumberOp};
        for (text, tied) in [
            ("move from P", true),
            ("not move from P", true),
            ("{wtm move to e4}", true),
            ("move previous from P", false),
            ("find {move from P}", false),
            ("parent:(move from P)", false),
            ("P--", false),
        ] {
            let query = parse(&format!("line --> {text} --> true")).unwrap().query;
            let Node::Number(line) = &query.body else { panic!("{text}") };
            let NumberOp::Game(GameNumber::Line(line)) = line.op() else { panic!("{text}") };
            let mut steps = Vec::new();
            line.chain.each(&mut |step| steps.push(step.tied));
            assert_eq!(steps, [tied, false], "{text}");
        }
    }
}
