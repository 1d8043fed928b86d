//! Codes of openings.

/// The code of an opening in the Encyclopaedia of Chess Openings: `B90`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Eco {
    /// A letter from A to E and two digits.
    code: [u8; 3],
}

impl Eco {
    /// The code.
    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.code).expect("codes are ASCII")
    }
}

/// The code that a tag begins with, blanks aside, in either case. What follows, as in `B90n` or `B90/05`, is passed
/// over.
pub fn of_value(value: &[u8]) -> Option<Eco> {
    let &[letter, ten, one, ..] = value.trim_ascii() else { return None };
    let code = [letter.to_ascii_uppercase(), ten, one];
    let is_code = (b'A'..=b'E').contains(&code[0]) && code[1..].iter().all(u8::is_ascii_digit);
    is_code.then_some(Eco { code })
}
