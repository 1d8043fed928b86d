//! The numbers by which FIDE identifies players.

use crate::board::Color;

/// Returns the name of the tag that contains the FIDE number of the player of `side`.
pub const fn tag(side: Color) -> &'static str {
    match side {
        Color::White => "WhiteFideId",
        Color::Black => "BlackFideId",
    }
}

/// Reads the FIDE number in a tag value. The value must consist of digits, except for blanks around them. 0 means that the player
/// has no number.
pub fn of_value(value: &[u8]) -> Option<u32> {
    let digits = value.trim_ascii();
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(digits).ok().filter(|_| is_number)?.parse().ok().filter(|number| *number > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_digits_alone() {
        for (value, number) in [
            ("1503014", Some(1_503_014)),
            (" 400041 ", Some(400_041)),
            ("0", None),
            ("-1", None),
            ("+5", None),
            ("", None),
            ("?", None),
            ("99999999999", None),
        ] {
            assert_eq!(of_value(value.as_bytes()), number, "{value}");
        }
    }
}
