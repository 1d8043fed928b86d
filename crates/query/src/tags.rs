//! Parses the filters on PGN tags, comments and annotation glyphs (NAGs), and the filters that read or write text files.

use super::{
    parser::{C, N, ParseResult, Parser, T, filter},
    token::Tok,
    tree::{Control, GameCondition, GameNumber, GameText, Node, Number, Text},
};
use orbit_core::diagnostic::Diagnostic;

/// The tags that `settag` cannot set: CQL has its own words for them, or they determine the start of the game.
const FIXED: [&str; 8] = ["White", "Black", "Event", "Site", "Date", "EventDate", "ECO", "FEN"];

/// Awards for chess studies, with their abbreviations in the study database `hhdb`.
const AWARDS: [(&str, &str); 4] = [("prize", "p"), ("hm", "hm"), ("commendation", "c"), ("award", "p|hm|c")];

/// Annotation glyphs with a textual form, each with its number (NAG).
const GLYPHS: [(&str, u8); 13] = [
    ("!", 1),
    ("?", 2),
    ("!!", 3),
    ("??", 4),
    ("!?", 5),
    ("?!", 6),
    ("=", 10),
    ("+/=", 14),
    ("=/+", 15),
    ("+/-", 16),
    ("-/+", 17),
    ("+-", 18),
    ("-+", 19),
];

impl Parser {
    /// Reads `fen`, `fen "..."`.
    pub(super) fn fen_word(&mut self) -> ParseResult<Node> {
        if matches!(self.peek(1), Tok::Str(_)) && !self.state.joins {
            return self.fen();
        }
        Ok(self.leaf(T::Game(GameText::Fen)))
    }

    /// Reads `originalcomment`, `originalcomment "text"`, `originalcomment "!"`.
    pub(super) fn original_comment(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        if let (Tok::Str(text), false) = (self.tok(), self.state.joins)
            && let Some(glyph) = glyph(text)
        {
            let span = span.to(self.bump());
            return Ok(filter(C::Game(GameCondition::Glyph(glyph)), span));
        }
        self.text(T::Game(GameText::OriginalComment), span)
    }

    /// Reads `settag("X" s)`.
    pub(super) fn set_tag(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        self.expect_sign("(", "after `settag`")?;
        let at = self.span();
        let name = self.literal("the name of a tag", "settag(\"Theme\" \"excelsior\")")?;
        if FIXED.contains(&name.as_str()) {
            return Err(Diagnostic::error(
                at,
                format!("the tag `{name}` cannot be set"),
                format!("`settag` leaves {} as they are", FIXED.join(", ")),
            ));
        }
        let value = self.inside(Parser::node)?;
        let value = self.want_text(value, "`settag`")?;
        let span = span.to(self.expect_sign(")", "behind the value of the tag")?);
        Ok(filter(C::Game(GameCondition::SetTag { name, value }), span))
    }

    /// Reads `writefile(name s)`.
    pub(super) fn write_file(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        self.expect_sign("(", "after `writefile`")?;
        let name = self.inside(Parser::sum)?;
        let name = self.want_text(name, "`writefile`")?;
        self.refuse_file_name(&name)?;
        let value = self.inside(Parser::sum)?;
        let value = self.want_text(value, "`writefile`")?;
        let span = span.to(self.expect_sign(")", "behind the text of `writefile`")?);
        Ok(filter(C::Game(GameCondition::WriteFile { name, value }), span))
    }

    fn refuse_file_name(&self, name: &Text) -> ParseResult<()> {
        match name.op() {
            T::Literal(text) if !text.ends_with(".cqo") && !text.ends_with(".cql") => Err(Diagnostic::error(
                name.span(),
                format!("`writefile` does not write `{text}`"),
                "the names of its files end in `.cqo` or `.cql`",
            )),
            _ => Ok(()),
        }
    }

    /// Reads `hhdb [special] prize`, `hm`, `commendation` or `award`. The Event tag of a study begins with its award, as in `1.p`,
    /// `1/2.hm`, `.p`, `sp.c` and `1.sp.p`. The value is the place: 1 if the tag names none, and 0 for a special award.
    pub(super) fn study_award(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        let special = self.eat_word("special");
        let at = self.span();
        let kind = match self.tok() {
            Tok::Word(word) => AWARDS.iter().find(|(name, _)| name == word).map(|(_, letters)| letters),
            _ => None,
        };
        let Some(kind) = kind else {
            return Err(Diagnostic::error(
                at,
                format!("`hhdb` with {}", self.found()),
                "expected `prize`, `hm`, `commendation` or `award`, or one of them behind `special`",
            )
            .help("what else the collection notes is in tags and comments: `originalcomment \"cook\"`"));
        };
        let span = span.to(self.bump());
        let found = |pattern: String| {
            let text = Text::new(T::Tag("Event".into()), span);
            Text::new(T::Game(GameText::Match { text, pattern }), span)
        };
        let number = |op| Number::new(op, span);
        let special_place = r"^(?:\d+(?:/\d+)?\.)?sp\.";
        let any_place = r"^(?:(?:\d+(?:/\d+)?\.)?sp|\d+(?:/\d+)?)?\.";
        let award = |place: &str| found(format!(r"{place}(?:{kind})(?![A-Za-z])"));
        let named = number(N::Control(Control::If {
            condition: found(r"^\d".into()).into(),
            then: number(N::Game(GameNumber::ToNumber(found(r"^\d+".into())))),
            other: number(N::Int(1)),
        }));
        let place = number(N::Control(Control::If {
            condition: award(special_place).into(),
            then: number(N::Int(0)),
            other: named,
        }));
        let award = award(if special { special_place } else { any_place });
        Ok(filter(N::Control(Control::Braces { first: vec![award.into()], last: place }), span))
    }

    /// Reads `lastgamenumber`.
    pub(super) fn last_game_number(&mut self) -> ParseResult<Node> {
        Ok(self.leaf(N::Game(GameNumber::LastGameNumber)))
    }
}

/// Returns the number of the annotation glyph that a literal such as `"!"` or `"$5"` names.
fn glyph(text: &str) -> Option<u8> {
    match text.strip_prefix('$') {
        Some(number) => number.parse().ok(),
        None => GLYPHS.into_iter().find(|(sign, _)| *sign == text).map(|(_, glyph)| glyph),
    }
}
