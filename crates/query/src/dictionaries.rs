//! Reads dictionaries, which map keys to values. The first use of a dictionary determines the types of its keys and values.
//!
//! A query may read a dictionary before it writes the first value. The parser then assumes a type for the keys and values. If the
//! assumption turns out to be wrong, it reads the text again with another type ([`Foreseen`]).

use super::{
    parser::{C, N, P, ParseResult, Parser, S, T, filter, name_of, typed},
    state::{EntryPart, Foreseen, NAMES_MAX},
    token::Tok,
    tree::{
        Assigned, Dictionary, DictionaryId, GameCondition, GameNumber, GamePosition, GameSquares, GameText,
        Holds, Life, Node, Written,
    },
    variables::assigned,
};
use orbit_core::diagnostic::{Diagnostic, Span};

impl Parser {
    /// Reads `dictionary D`, `local dictionary D`, `persistent dictionary D`.
    pub(super) fn dictionary(&mut self) -> ParseResult<()> {
        let local = self.is_word("local");
        if (local || self.is_word("persistent")) && *self.peek(1) == Tok::Word("dictionary".into()) {
            self.bump();
        } else if local {
            return Err(Diagnostic::error(
                self.span(),
                "`local` without `dictionary`",
                "write `local dictionary D`",
            ));
        }
        self.bump();
        let at = self.span();
        let name = self.new_name("a dictionary")?;
        self.refuse_taken(&name, at)?;
        if self.lookup(&name).is_some() {
            return Err(Diagnostic::error(at, format!("`{name}` is already in use"), "choose another name"));
        }
        if self.state.dictionaries.len() == NAMES_MAX {
            return Err(Diagnostic::error(at, "too many dictionaries", format!("at most {NAMES_MAX}")));
        }
        let life = if local { Life::Game } else { Life::Run { quiet: true } };
        self.state.dictionaries.push(Dictionary { name, keys: None, values: None, life });
        // `dictionary D[k] = v` declares the dictionary and also writes its first entry.
        if self.is_sign("[") {
            self.rewind(self.position() - 1);
        }
        Ok(())
    }

    pub(super) fn find_dictionary(&self, name: &str) -> Option<DictionaryId> {
        let all = &self.state.dictionaries;
        all.iter().position(|known| known.name == name).map(|index| DictionaryId(index as u32))
    }

    /// Returns the dictionary that the current token names, if no key in `[...]` follows the name.
    fn dictionary_alone(&self) -> Option<DictionaryId> {
        let Tok::Word(name) = self.tok() else { return None };
        self.find_dictionary(name).filter(|_| !matches!(self.peek(1), Tok::Sign("[")))
    }

    /// Reads `#D`, the number of keys of a dictionary. The parser has already read the `#`.
    pub(super) fn dictionary_size(&mut self, span: Span) -> Option<Node> {
        let dictionary = self.dictionary_alone()?;
        let span = span.to(self.bump());
        Some(filter(N::Game(GameNumber::Size(dictionary)), span))
    }

    /// Reads `D[k]` or `D[k] = v`. The current token is the name of the dictionary.
    pub(super) fn entry(&mut self, dictionary: DictionaryId) -> ParseResult<Node> {
        let span = self.bump();
        if !self.is_sign("[") {
            let name = &self.state.dictionaries[dictionary.0 as usize].name;
            let fault = Diagnostic::error(
                span,
                format!("`{name}` is a dictionary"),
                format!("expected a key: `{name}[ply]`; `#{name}` is the number of its keys"),
            );
            return Err(match self.sign_text() {
                "[x]" => fault.help(format!("`[x]` is the sign of captures: `{name}[(x)]` has the key `x`")),
                _ => fault,
            });
        }
        let key = self.key(dictionary)?;
        if self.eat_sign("=") {
            let value = self.argument()?;
            let span = span.to(value.span());
            let value = self.part(dictionary, EntryPart::Value, value)?;
            return Ok(filter(C::Game(GameCondition::SetEntry { dictionary, key, value }), span));
        }
        let span = span.to(self.last_span());
        Ok(match self.foresee(dictionary, EntryPart::Value) {
            Holds::Squares | Holds::Piece => filter(S::Game(GameSquares::Entry { dictionary, key }), span),
            Holds::Number => filter(N::Game(GameNumber::Entry { dictionary, key }), span),
            Holds::Text => filter(T::Game(GameText::Entry { dictionary, key }), span),
            Holds::Position => filter(P::Game(GamePosition::Entry { dictionary, key }), span),
        })
    }

    /// Reads `[k]`.
    pub(super) fn key(&mut self, dictionary: DictionaryId) -> ParseResult<Assigned<Written>> {
        self.bump();
        let key = self.inside(Parser::node)?;
        let key = self.part(dictionary, EntryPart::Key, key)?;
        self.expect_sign("]", "behind the key of a dictionary")?;
        Ok(key)
    }

    /// Checks that a key or a value has the type of the other keys or values in its dictionary. The first key and the first value
    /// determine these types.
    fn part(
        &mut self,
        dictionary: DictionaryId,
        part: EntryPart,
        node: Node,
    ) -> ParseResult<Assigned<Written>> {
        let (kind, at) = typed(&node);
        let Dictionary { name, life, .. } = self.state.dictionaries[dictionary.0 as usize].clone();
        let what = if part == EntryPart::Key { "keys" } else { "values" };
        let Some((value, holds)) = assigned(node) else {
            return Err(Diagnostic::error(
                at,
                format!("`{name}` cannot have {} among its {what}", name_of(kind)),
                "keys and values are sets of squares, numbers, strings or positions",
            ));
        };
        if holds == Holds::Position && life != Life::Game {
            return Err(Diagnostic::error(
                at,
                format!("`{name}` cannot hold a position"),
                "a position belongs to its game, and the dictionary outlasts it",
            )
            .help(format!("write `local dictionary {name}`, which is emptied before each game")));
        }
        let foreseen =
            self.state.foreseen.iter_mut().find(|known| known.dictionary == name && known.part == part);
        if let Some(foreseen) = foreseen.filter(|foreseen| !foreseen.certain) {
            foreseen.certain = true;
            foreseen.holds = holds;
        }
        let known = *self.held(dictionary, part).get_or_insert(holds);
        if known != holds {
            return Err(Diagnostic::error(
                at,
                format!("the {what} of `{name}` are {}", plural(known)),
                format!("this is {}", name_of(kind)),
            )
            .help("a dictionary keeps the types of its first key and value"));
        }
        Ok(value)
    }

    fn held(&mut self, dictionary: DictionaryId, part: EntryPart) -> &mut Option<Holds> {
        let dictionary = &mut self.state.dictionaries[dictionary.0 as usize];
        match part {
            EntryPart::Key => &mut dictionary.keys,
            EntryPart::Value => &mut dictionary.values,
        }
    }

    /// Returns the type of a dictionary's keys or values. If the text so far does not determine the type, assumes one.
    fn foresee(&mut self, dictionary: DictionaryId, part: EntryPart) -> Holds {
        if let Some(holds) = *self.held(dictionary, part) {
            return holds;
        }
        let name = self.state.dictionaries[dictionary.0 as usize].name.clone();
        let known = self.state.foreseen.iter().find(|known| known.dictionary == name && known.part == part);
        let holds = known.map_or(Holds::Number, |known| known.holds);
        if known.is_none() {
            let certain = false;
            self.state.foreseen.push(Foreseen { dictionary: name, part, holds, certain });
        }
        *self.held(dictionary, part) = Some(holds);
        holds
    }

    /// Reads `x ∊ S F`, or `x ∊ D F` with a dictionary D. The parser has already read the tokens before S or D.
    pub(super) fn element_loop(&mut self, span: Span, name: &str) -> ParseResult<Node> {
        match self.dictionary_alone() {
            Some(dictionary) => self.key_loop(span, name, dictionary),
            None => self.square_loop(span, name.to_string(), false),
        }
    }

    /// Reads `string x in D F`.
    pub(super) fn string_loop(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        let name = self.new_name("the variable of a loop")?;
        if !self.eat_word("in") && !self.eat_sign("[element]") {
            return Err(Diagnostic::error(
                self.span(),
                format!("found {}", self.found()),
                "expected `in`: `string x in D F`",
            ));
        }
        let Some(dictionary) = self.dictionary_alone() else {
            return Err(Diagnostic::error(
                self.span(),
                format!("found {}", self.found()),
                "expected the name of a dictionary",
            ));
        };
        let node = self.key_loop(span, &name, dictionary)?;
        let dictionary = &self.state.dictionaries[dictionary.0 as usize];
        match dictionary.keys {
            Some(Holds::Text) => Ok(node),
            Some(other) if !self.is_foreseen(&dictionary.name) => Err(Diagnostic::error(
                span,
                format!("the keys of `{}` are {}", dictionary.name, plural(other)),
                "`string` asks for strings",
            )
            .help(format!("for keys of any type write `{name} ∊ {} F`", dictionary.name))),
            _ => Ok(node),
        }
    }

    fn is_foreseen(&self, name: &str) -> bool {
        self.state.foreseen.iter().any(|known| known.dictionary == name && !known.certain)
    }

    fn key_loop(&mut self, span: Span, name: &str, dictionary: DictionaryId) -> ParseResult<Node> {
        self.bump();
        let holds = self.foresee(dictionary, EntryPart::Key);
        let (var, body) = self.with_variable(name, holds, span)?;
        let span = span.to(body.span());
        Ok(filter(C::Game(GameCondition::KeyLoop { dictionary, var, body }), span))
    }

    /// Returns an error if the query reads a dictionary but never writes to it.
    pub(super) fn refuse_unwritten(&self, body: &Node) -> ParseResult<()> {
        let unwritten = self.state.foreseen.iter().find(|known| !known.certain);
        let Some(Foreseen { dictionary, .. }) = unwritten else { return Ok(()) };
        Err(Diagnostic::error(
            body.span(),
            format!("nothing is ever put into `{dictionary}`"),
            format!("expected an assignment such as `{dictionary}[ply] = 1`"),
        ))
    }
}

fn plural(holds: Holds) -> &'static str {
    match holds {
        Holds::Squares | Holds::Piece => "sets of squares",
        Holds::Number => "numbers",
        Holds::Text => "strings",
        Holds::Position => "positions",
    }
}
