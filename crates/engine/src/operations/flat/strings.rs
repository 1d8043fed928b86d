//! The strings of flat programs. A register holds the number of a string, and equal strings have equal numbers.
//!
//! The strings that a game creates are removed at its end, while the literals of the program stay. All strings together
//! take at most [`BYTES_MAX`] bytes, and there are at most [`STRINGS_MAX`] of them. A game that creates more is left to
//! the reference engine.

use std::{hash::BuildHasher, ops::Range};

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use shakmaty::{Bitboard, Color, Piece, Square};

use super::{FlatMachine, Stopped, only, patterns::MatchGroups};
use crate::{game_texts::text_of_game, operations::tree::NodeRange};
use orbit_core::{
    board::{Code, PieceSet, Position},
    regexes::CompiledPattern,
    text,
};
use orbit_plan::{Cmp, EMPTY, FlatProgram, LITERALS, Label, NO_VALUE, RegisterWord, Spelt, TextInstr};

/// The maximum total length of all strings of a game, in bytes.
const BYTES_MAX: usize = 64 << 20;

/// The maximum number of strings of a game.
const STRINGS_MAX: usize = 1 << 20;

/// The maximum length of a string, in bytes. The reference engine has the same limit.
const LENGTH_MAX: usize = 16 << 20;

/// The number of string bytes that count as one visited position, because processing them takes about as long. The
/// interrupt is checked after a certain number of visited positions.
const BYTES_A_POSITION: usize = 16;

/// The maximum capacity that the strings of one game leave for those of the next, in bytes and in strings.
const KEPT_MAX: [usize; 2] = [1 << 20, 1 << 14];

/// The reason why compiling a pattern of a program cannot fail.
const SMALL: &str = "the parser refuses larger patterns";

/// All one-byte strings. They occupy no memory in [`FlatStrings`].
static LETTERS: [u8; 256] = {
    let mut letters = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        letters[byte] = byte as u8;
        byte += 1;
    }
    letters
};

/// The literals of a program and the strings of the current game.
pub(super) struct FlatStrings {
    bytes: Vec<u8>,
    /// The byte range of each string whose number is at least [`LITERALS`].
    places: Vec<Range<u32>>,
    /// For each string in `places`, true if it is valid UTF-8. Other strings are in an unknown encoding, so equal
    /// letters may have different bytes.
    are_utf8: Vec<bool>,
    /// Two tables that map the contents of strings to their numbers: one for the literals, one for the strings of the
    /// game.
    known: [HashTable<u32>; 2],
    hasher: DefaultHashBuilder,
    /// The number of literals, and their total length in bytes.
    literals: [usize; 2],
    /// A buffer in which a new string is built.
    made: Vec<u8>,
    /// For each node (position), the number of the string that is its FEN; 0 if the FEN has not been built yet.
    fens: Vec<u64>,
    /// The numbers of the strings that are constant in the game; `None` for those that have not been built yet.
    of_game: Vec<Option<u64>>,
    pub(super) patterns: Vec<CompiledPattern>,
    /// The results of matching regular expressions with strings of the game, by pattern and string: the number of the part that
    /// matches, and the groups of the match.
    pub(super) matches: HashMap<(u16, u64), (u64, Option<MatchGroups>)>,
    /// The groups of the last match.
    pub(super) groups: Option<MatchGroups>,
}

impl FlatStrings {
    pub(super) fn new(program: &FlatProgram) -> FlatStrings {
        let mut out = FlatStrings {
            bytes: Vec::new(),
            places: Vec::new(),
            are_utf8: Vec::new(),
            known: [HashTable::new(), HashTable::new()],
            hasher: DefaultHashBuilder::default(),
            literals: [0; 2],
            made: Vec::new(),
            fens: Vec::new(),
            of_game: vec![None; program.of_games.len()],
            patterns: program
                .patterns
                .iter()
                .map(|pattern| CompiledPattern::new(pattern).expect(SMALL))
                .collect(),
            matches: HashMap::new(),
            groups: None,
        };
        for literal in &program.texts {
            let hash = out.hasher.hash_one(literal.as_bytes());
            out.add(literal.as_bytes(), hash, 0);
        }
        out.literals = [out.places.len(), out.bytes.len()];
        out
    }

    /// Removes the strings of the last game.
    pub(super) fn begin(&mut self) {
        let [places, bytes] = self.literals;
        self.fens.clear();
        self.of_game.fill(None);
        self.matches.clear();
        self.groups = None;
        if self.places.len() == places {
            return;
        }
        self.places.truncate(places);
        self.are_utf8.truncate(places);
        self.bytes.truncate(bytes);
        self.known[1].clear();
        let [bytes_max, strings_max] = KEPT_MAX;
        self.bytes.shrink_to(bytes_max);
        self.made.shrink_to(bytes_max);
        self.places.shrink_to(strings_max);
        self.are_utf8.shrink_to(strings_max);
        self.known[1].shrink_to(strings_max, |_| 0);
    }

    /// Returns the number of a string, which becomes a literal, so that it stays when a game ends. The current game
    /// must not have created any string yet.
    pub(super) fn keep(&mut self, text: &[u8]) -> Result<u64, Stopped> {
        let hash = match text {
            [] | [_] => return self.number_of(text),
            _ => self.hasher.hash_one(text),
        };
        if let Some(string) = self.find(text, hash) {
            return Ok(string);
        }
        self.check_room(text)?;
        let string = self.add(text, hash, 0);
        self.literals = [self.places.len(), self.bytes.len()];
        Ok(string)
    }

    /// Returns the bytes of the string whose number is `string`.
    pub(super) fn get(&self, string: u64) -> &[u8] {
        match string {
            0..EMPTY => std::slice::from_ref(&LETTERS[string as usize]),
            EMPTY => &[],
            _ => {
                let Range { start, end } = self.places[(string - LITERALS) as usize];
                &self.bytes[start as usize..end as usize]
            }
        }
    }

    fn is_utf8(&self, string: u64) -> bool {
        match string {
            0..EMPTY => string < 128,
            EMPTY => true,
            _ => self.are_utf8[(string - LITERALS) as usize],
        }
    }

    /// Adds a string to the literals if `whose` is 0, or to the strings of the game if it is 1. Returns the number of
    /// the string.
    fn add(&mut self, text: &[u8], hash: u64, whose: usize) -> u64 {
        let place = self.places.len() as u32;
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(text);
        self.places.push(start..self.bytes.len() as u32);
        self.are_utf8.push(std::str::from_utf8(text).is_ok());
        let FlatStrings { bytes, places, known, hasher, .. } = self;
        known[whose].insert_unique(hash, place, |&place| {
            let Range { start, end } = places[place as usize];
            hasher.hash_one(&bytes[start as usize..end as usize])
        });
        number(place)
    }

    /// Returns the number of the string in the buffer `made`. A new string is added to the strings of the game.
    fn finish(&mut self) -> Result<u64, Stopped> {
        let made = std::mem::take(&mut self.made);
        let number = self.number_of(&made);
        self.made = made;
        number
    }

    fn number_of(&mut self, text: &[u8]) -> Result<u64, Stopped> {
        match text {
            [] => return Ok(EMPTY),
            [byte] => return Ok(u64::from(*byte)),
            _ => {}
        }
        let hash = self.hasher.hash_one(text);
        if let Some(string) = self.find(text, hash) {
            return Ok(string);
        }
        self.check_room(text)?;
        Ok(self.add(text, hash, 1))
    }

    /// Returns the number of a string of at least two bytes, if it has one.
    fn find(&self, text: &[u8], hash: u64) -> Option<u64> {
        let find = |known: &HashTable<u32>| {
            known.find(hash, |&place| self.get(number(place)) == text).map(|&place| number(place))
        };
        self.known.iter().find_map(find)
    }

    /// Returns an error if there is no room for another string.
    fn check_room(&self, text: &[u8]) -> Result<(), Stopped> {
        let is_long = text.len() > LENGTH_MAX || self.bytes.len() + text.len() > BYTES_MAX;
        if is_long || self.places.len() >= STRINGS_MAX { Err(Stopped) } else { Ok(()) }
    }
}

/// Returns the number of the string that has the index `place` in `places`.
fn number(place: u32) -> u64 {
    LITERALS + u64::from(place)
}

impl FlatMachine<'_> {
    /// Returns the string in a register, or `None` if the register has no value.
    fn string(&self, word: RegisterWord) -> Option<&[u8]> {
        let string = self.get(word);
        (string as i64 != NO_VALUE).then(|| self.strings.get(string))
    }

    /// Builds a string and writes its number to a register. If `make` returns `None`, the register is set to
    /// `NO_VALUE`.
    pub(super) fn put_string(
        &mut self,
        to: RegisterWord,
        make: impl FnOnce(&Self, &mut Vec<u8>) -> Option<()>,
    ) -> Result<(), Stopped> {
        let mut made = std::mem::take(&mut self.strings.made);
        made.clear();
        let has_value = make(self, &mut made).is_some();
        let bytes = made.len();
        self.strings.made = made;
        self.look_at(bytes / BYTES_A_POSITION)?;
        let string = if has_value { self.strings.finish()? } else { NO_VALUE as u64 };
        self.set(to, string);
        Ok(())
    }

    /// Counts the bytes of the strings in some registers as work, so that the interrupt is checked in time.
    fn read(&mut self, strings: &[RegisterWord]) -> Result<(), Stopped> {
        let bytes: usize = strings.iter().filter_map(|&string| self.string(string)).map(<[u8]>::len).sum();
        self.look_at(bytes / BYTES_A_POSITION)
    }

    /// Runs a string instruction. Returns the target if the instruction jumps, or `None` to continue with the next
    /// instruction.
    pub(super) fn text(
        &mut self,
        nodes: NodeRange<'_>,
        instr: TextInstr,
        at: usize,
    ) -> Result<Option<Label>, Stopped> {
        match instr {
            TextInstr::Joined { to, a, b } => self.put_string(to, |this, out| {
                let (a, b) = (this.string(a)?, this.string(b)?);
                out.extend_from_slice(a);
                out.extend_from_slice(b);
                Some(())
            })?,
            TextInstr::Slice { to, of, from, end } => self.put_string(to, |this, out| {
                let text = this.string(of)?;
                out.extend_from_slice(&text[this.part(text.len(), from, end)?]);
                Some(())
            })?,
            TextInstr::Spliced { to, of, with, from, end } => self.put_string(to, |this, out| {
                let (text, with) = (this.string(of)?, this.string(with)?);
                let part = this.part(text.len(), from, end)?;
                out.extend_from_slice(&text[..part.start]);
                out.extend_from_slice(with);
                out.extend_from_slice(&text[part.end..]);
                Some(())
            })?,
            TextInstr::Letter { to, of, at: place } => self.put_string(to, |this, out| {
                let text = this.string(of)?;
                let place = i64::from(this.value(place)?);
                let place = if place < 0 { place + text.len() as i64 } else { place };
                out.push(*text.get(usize::try_from(place).ok()?)?);
                Some(())
            })?,
            TextInstr::InCase { to, of, upper } => self.put_string(to, |this, out| {
                out.extend_from_slice(this.string(of)?);
                if upper {
                    out.make_ascii_uppercase();
                } else {
                    out.make_ascii_lowercase();
                }
                Some(())
            })?,
            TextInstr::OfCode { to, code } => {
                let code = self.value(code).filter(|code| (1..256).contains(code));
                self.set_value(to, code);
            }
            TextInstr::Content { to, set, contents, spelt } => {
                let letter = self.letter_on(nodes, at, set, contents, spelt);
                self.set_value(to, letter.map(|letter| letter as i32));
            }
            TextInstr::OfGame { to, text } => self.of_game(nodes, text, to)?,
            TextInstr::Match { to, of, pattern } => self.first_match(to, of, pattern)?,
            TextInstr::NextMatch { of, from, pattern, done } => {
                return self.next_match(of, from, pattern, done);
            }
            TextInstr::ForgetGroups => self.strings.groups = None,
            TextInstr::Group { to, group } => self.group_text(to, group)?,
            TextInstr::GroupStart { to, group } => self.group_start(to, group)?,
            TextInstr::Fen { to } => self.fen(nodes, at, to)?,
            TextInstr::Digits { to, of } => self.put_string(to, |this, out| {
                let number = this.value(of)?;
                out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
                Some(())
            })?,
            TextInstr::Names { to, set } => self.put_string(to, |this, out| {
                names(Bitboard(this.get(set)), out);
                Some(())
            })?,
            TextInstr::Man { to, set } => {
                let square = only(self.get(set)).map(|square| Square::new(square.into()));
                let letter = self.letter_on(nodes, at, set, PieceSet::ALL, Spelt::Piece);
                self.put_string(to, |_, out| {
                    if let Some((square, letter)) = square.zip(letter) {
                        out.push(letter);
                        name(square, out);
                    }
                    Some(())
                })?;
            }
            TextInstr::Length { to, of } => {
                let length = self.string(of).map(|text| text.len() as i32);
                self.set_value(to, length);
            }
            TextInstr::IndexOf { to, needle, text } => {
                self.read(&[needle, text])?;
                let both = self.string(needle).zip(self.string(text));
                let place = both.and_then(|(needle, text)| memchr::memmem::find(text, needle));
                self.set_value(to, place.map(|place| place as i32));
            }
            TextInstr::ToNumber { to, of } => {
                self.read(&[of])?;
                let number = self.string(of).and_then(spelled_number);
                self.set_value(to, number);
            }
            TextInstr::CodeOf { to, of } => {
                let code = self.string(of).filter(|text| text.len() == 1).map(|text| i32::from(text[0]));
                self.set_value(to, code);
            }
            TextInstr::SquareOf { to, of } => {
                let square = self.string(of).and_then(|text| Square::from_ascii(text).ok());
                self.set(to, square.map_or(0, |square| 1 << square as u32));
            }
            TextInstr::UnlessCompare { cmp, a, b, as_bytes, no } => {
                self.read(&[a, b])?;
                return Ok((!self.holds(cmp, [a, b], as_bytes)).then_some(no));
            }
            TextInstr::UnlessIn { needle, text, no } => {
                self.read(&[needle, text])?;
                let both = self.string(needle).zip(self.string(text));
                let is_in = both.is_some_and(|(needle, text)| text::occurs_in(needle, text));
                return Ok((!is_in).then_some(no));
            }
        }
        Ok(None)
    }

    /// Returns the pieces, of both colours, that are named by the letters of a string; the empty set if the register
    /// has no value.
    pub(super) fn pieces_of(&self, letters: RegisterWord) -> PieceSet {
        let pieces = self.string(letters).unwrap_or_default().iter();
        let pieces = pieces.filter_map(|&letter| Piece::from_char(char::from(letter)));
        pieces.fold(PieceSet::NONE, |all, piece| all.union(PieceSet::only(Code::from_piece(piece))))
    }

    /// Returns true if a relation holds between two strings that both have values. If `as_bytes` is true, their bytes
    /// are compared, otherwise their letters. For two strings in UTF-8, both comparisons give the same result.
    fn holds(&self, cmp: Cmp, both: [RegisterWord; 2], as_bytes: bool) -> bool {
        let [Some(a), Some(b)] = both.map(|word| self.string(word)) else { return false };
        let as_bytes = as_bytes || both.into_iter().all(|word| self.strings.is_utf8(self.get(word)));
        cmp.holds(if as_bytes { a.cmp(b) } else { text::compare(a, b) })
    }

    /// Returns the range between two indices in a string of `length` bytes. A negative index counts from the end of the
    /// string.
    fn part(
        &self,
        length: usize,
        from: Option<RegisterWord>,
        end: Option<RegisterWord>,
    ) -> Option<Range<usize>> {
        let place = |bound: Option<RegisterWord>, otherwise: usize| {
            let Some(bound) = bound else { return Some(otherwise) };
            let bound = i64::from(self.value(bound)?);
            let place = if bound < 0 { bound + length as i64 } else { bound };
            Some(place.clamp(0, length as i64) as usize)
        };
        let (from, end) = (place(from, 0)?, place(end, length)?);
        Some(from..end.max(from))
    }

    /// Returns the letter of the piece, or of the empty square, on the only square of a set. Returns `None` if the set
    /// does not have exactly one square, or if the piece is not in `contents`.
    fn letter_on(
        &mut self,
        nodes: NodeRange<'_>,
        at: usize,
        set: RegisterWord,
        contents: PieceSet,
        spelt: Spelt,
    ) -> Option<u8> {
        let square = only(self.get(set))?;
        let code = self.boards.at(nodes, self.games, at).board.at(Square::new(square.into()));
        contents.contains(code).then(|| spelt.letter(code) as u8)
    }

    fn of_game(&mut self, nodes: NodeRange<'_>, text: u16, to: RegisterWord) -> Result<(), Stopped> {
        let place = usize::from(text);
        if self.strings.of_game[place].is_none() {
            let bytes = text_of_game(&self.program.of_games[place], &self.games.block.game(nodes.game));
            self.put_string(to, |_, out| {
                out.extend_from_slice(&bytes?);
                Some(())
            })?;
            self.strings.of_game[place] = Some(self.get(to));
        }
        self.set(to, self.strings.of_game[place].expect("it was made"));
        Ok(())
    }

    fn fen(&mut self, nodes: NodeRange<'_>, at: usize, to: RegisterWord) -> Result<(), Stopped> {
        self.strings.fens.resize(nodes.len(), 0);
        if self.strings.fens[at] == 0 {
            let position = self.boards.at(nodes, self.games, at);
            self.put_string(to, |_, out| {
                write_fen(&position, out);
                Some(())
            })?;
            self.strings.fens[at] = self.get(to);
        }
        self.set(to, self.strings.fens[at]);
        Ok(())
    }
}

/// Parses decimal digits with an optional minus sign.
fn spelled_number(text: &[u8]) -> Option<i32> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(text).ok().filter(|_| is_number)?.parse().ok()
}

fn name(square: Square, out: &mut Vec<u8>) {
    out.extend([b'a' + square as u8 % 8, b'1' + square as u8 / 8]);
}

/// Writes the name of the square if the set has exactly one; otherwise, a list of names in brackets.
fn names(squares: Bitboard, out: &mut Vec<u8>) {
    let alone = squares.count() == 1;
    if !alone {
        out.push(b'[');
    }
    for (place, square) in squares.into_iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        name(square, out);
    }
    if !alone {
        out.push(b']');
    }
}

/// Writes a FEN: piece placement, side to move, castling rights, the square passed over by a double pawn step, and
/// constant counters.
fn write_fen(position: &Position, out: &mut Vec<u8>) {
    let (board, state) = (position.board, position.state);
    for rank in (0..8).rev() {
        let mut empty = 0;
        for square in (8 * rank..8 * rank + 8).map(Square::new) {
            match board.at(square).piece() {
                None => empty += 1,
                Some(piece) => {
                    if empty > 0 {
                        out.push(b'0' + empty);
                    }
                    empty = 0;
                    out.push(piece.char() as u8);
                }
            }
        }
        if empty > 0 {
            out.push(b'0' + empty);
        }
        out.push(if rank > 0 { b'/' } else { b' ' });
    }
    out.extend(if state.turn().is_white() { b"w " } else { b"b " });
    let before = out.len();
    let rights = [(Color::White, true), (Color::White, false), (Color::Black, true), (Color::Black, false)];
    let granted = rights.iter().zip(b"KQkq");
    let granted = granted.filter(|((color, king_side), _)| state.castling_rook(*color, *king_side).is_some());
    out.extend(granted.map(|(_, letter)| *letter));
    if out.len() == before {
        out.push(b'-');
    }
    out.push(b' ');
    match state.en_passant() {
        Some(square) => name(square, out),
        None => out.push(b'-'),
    }
    out.extend(b" 0 1");
}
