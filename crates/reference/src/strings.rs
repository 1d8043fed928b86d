//! Evaluates filters on byte strings: joining, slicing and parsing.

use std::ops::Range;

use shakmaty::{Bitboard, Square};

use super::{copies::ExplicitForm, eval::Evaluation};
use orbit_core::diagnostic::{Diagnostic, Span};
use orbit_query::tree::{Number, Spelt, Text};

/// The maximum length in bytes of a string that a query creates.
const LENGTH_MAX: usize = 16 << 20;

impl Evaluation<'_> {
    pub(super) fn joined(
        &mut self,
        a: &Text<ExplicitForm>,
        b: &Text<ExplicitForm>,
        span: Span,
    ) -> Option<Vec<u8>> {
        let (left, right) = (self.text(a), self.text(b));
        let joined = [left?, right?].concat();
        if joined.len() > LENGTH_MAX {
            self.state.fail(
                Diagnostic::error(span, "a string grows too long", "joined here")
                    .help(format!("strings have at most {LENGTH_MAX} bytes")),
            );
            return None;
        }
        Some(joined)
    }

    pub(super) fn slice(
        &mut self,
        of: &Text<ExplicitForm>,
        from: Option<&Number<ExplicitForm>>,
        to: Option<&Number<ExplicitForm>>,
    ) -> Option<Vec<u8>> {
        let text = self.text(of);
        let from = from.map(|from| self.number(from));
        let to = to.map(|to| self.number(to));
        let text = text?;
        let range = clamped(text.len(), from, to)?;
        Some(text[range].to_vec())
    }

    pub(super) fn letter(&mut self, of: &Text<ExplicitForm>, at: &Number<ExplicitForm>) -> Option<Vec<u8>> {
        let (text, at) = (self.text(of), self.number(at));
        let (text, at) = (text?, i64::from(at?));
        let at = if at < 0 { at + text.len() as i64 } else { at };
        text.get(usize::try_from(at).ok()?).map(|&byte| vec![byte])
    }

    pub(super) fn in_case(&mut self, upper: bool, of: &Text<ExplicitForm>) -> Option<Vec<u8>> {
        let text = self.text(of)?;
        Some(if upper { text.to_ascii_uppercase() } else { text.to_ascii_lowercase() })
    }

    pub(super) fn extremum(&mut self, largest: bool, of: &[Text<ExplicitForm>]) -> Option<Vec<u8>> {
        let texts: Vec<Option<Vec<u8>>> = of.iter().map(|text| self.text(text)).collect();
        let texts = texts.into_iter().flatten();
        if largest { texts.max() } else { texts.min() }
    }

    pub(super) fn index_of(&mut self, needle: &Text<ExplicitForm>, text: &Text<ExplicitForm>) -> Option<i32> {
        let (needle, text) = (self.text(needle), self.text(text));
        let (needle, text) = (needle?, text?);
        memchr::memmem::find(&text, &needle).map(|at| at as i32)
    }

    /// Parses a string of decimal digits with an optional minus sign as a number.
    pub(super) fn number_in(&mut self, of: &Text<ExplicitForm>) -> Option<i32> {
        let text = self.text(of)?;
        let digits = text.strip_prefix(b"-").unwrap_or(&text);
        if !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        std::str::from_utf8(&text).ok()?.parse().ok()
    }

    pub(super) fn code_of(&mut self, of: &Text<ExplicitForm>) -> Option<i32> {
        match self.text(of)?[..] {
            [byte] => Some(i32::from(byte)),
            _ => None,
        }
    }

    pub(super) fn of_code(&mut self, of: &Number<ExplicitForm>) -> Option<Vec<u8>> {
        let code = u8::try_from(self.number(of)?).ok()?;
        (code > 0).then(|| vec![code])
    }

    /// Returns the letter for the content of a square. It is `_` if the square is empty.
    pub(super) fn content_name(&self, spelt: Spelt, square: Square) -> Vec<u8> {
        let letter = self.here.placement.at(square).map_or('_', |piece| match spelt {
            Spelt::Type => piece.role.upper_char(),
            Spelt::Piece => piece.char(),
        });
        vec![letter as u8]
    }

    pub(super) fn square_of(&mut self, text: &Text<ExplicitForm>) -> Bitboard {
        let square = self.text(text).and_then(|text| Square::from_ascii(&text).ok());
        square.map_or(Bitboard::EMPTY, Bitboard::from)
    }
}

/// Returns the half-open range of a string between two bounds. Negative bounds count from the end of the string. Bounds outside the
/// string are clamped. Returns `None` if a bound has no value.
pub(super) fn clamped(
    length: usize,
    from: Option<Option<i32>>,
    to: Option<Option<i32>>,
) -> Option<Range<usize>> {
    let bound = |bound: i32| {
        let bound = i64::from(bound);
        let at = if bound < 0 { bound + length as i64 } else { bound };
        at.clamp(0, length as i64) as usize
    };
    let from = from.map_or(Some(0), |from| from.map(bound))?;
    let to = to.map_or(Some(length), |to| to.map(bound))?;
    Some(from..to.max(from))
}
