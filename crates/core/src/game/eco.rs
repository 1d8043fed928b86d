//! Reads the codes of openings (ECO).

use std::cmp::Ordering;

/// The code of an opening in the Encyclopaedia of Chess Openings: `B90`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Eco {
    /// The three bytes of the code: a letter from A to E and two digits.
    code: [u8; 3],
}

impl Eco {
    /// Returns the code as text.
    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.code).expect("codes are ASCII")
    }
}

/// One end of a range of ECO codes. It is a whole code, or a prefix such as `B9`, which covers all codes that begin with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EcoBound(String);

impl EcoBound {
    /// Reads a code or the beginning of one, in upper or lower case: `B90`, `b9`, `B`.
    pub fn parse(text: &str) -> Option<EcoBound> {
        let text = text.trim().to_ascii_uppercase();
        let (letter, digits) = text.split_at_checked(1)?;
        let is_bound = ("A"..="E").contains(&letter)
            && digits.len() <= 2
            && digits.bytes().all(|digit| digit.is_ascii_digit());
        is_bound.then_some(EcoBound(text))
    }

    /// Compares a code with the codes that this bound covers: `Less` if it comes before all of them, `Equal` if it is one of them,
    /// `Greater` if it comes after all of them.
    pub fn order_of(&self, eco: &Eco) -> Ordering {
        eco.as_str()[..self.0.len()].cmp(&self.0)
    }
}

/// Reads a range such as `B90-B99`, `B90-99` or `A-C`; an en dash or `..` may replace the hyphen. Returns `None` if the text is
/// not a range.
///
/// # Errors
///
/// Fails if one of the ends is not a code, or if the first end comes after the second.
pub fn range(text: &str) -> Option<Result<[EcoBound; 2], ()>> {
    let (first, last) = ["-", "\u{2013}", ".."].iter().find_map(|sign| text.split_once(sign))?;
    let first = EcoBound::parse(first)?;
    let last = last.trim();
    let last = match last.len() == 2 && last.bytes().all(|digit| digit.is_ascii_digit()) {
        true => EcoBound::parse(&format!("{}{last}", &first.0[..1])),
        false => EcoBound::parse(last),
    };
    let length = last.as_ref().map_or(0, |last| last.0.len().min(first.0.len()));
    Some(last.filter(|last| first.0[..length] <= last.0[..length]).map(|last| [first, last]).ok_or(()))
}

/// Reads the code at the start of a tag value; blanks may precede it, and the letter may be lower case. Text after the code, as in
/// `B90n` or `B90/05`, is ignored.
pub fn of_value(value: &[u8]) -> Option<Eco> {
    let &[letter, ten, one, ..] = value.trim_ascii() else { return None };
    let code = [letter.to_ascii_uppercase(), ten, one];
    let is_code = (b'A'..=b'E').contains(&code[0]) && code[1..].iter().all(u8::is_ascii_digit);
    is_code.then_some(Eco { code })
}
