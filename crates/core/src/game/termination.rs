//! Reads the way in which a game ended: `Normal`, `Time forfeit`, and the texts of chess sites.

use super::tags;

/// The name of the tag that says how a game ended.
pub const TAG: &str = "Termination";

/// Returns the way in which a game ended, in lower case: a word of the PGN standard such as `time forfeit`, or the value itself. A
/// chess.com sentence such as `Somebody won on time` is replaced by the standard's word with the same meaning.
///
/// Source: the PGN standard, section 9.8.1; games of chess.com.
pub fn of_value(value: &[u8]) -> Option<String> {
    let text = tags::known_value(TAG, value)?.to_lowercase();
    let ends = |ends: &[&str]| ends.iter().any(|end| text.ends_with(end));
    let class = if ends(&[" won on time", " drawn by timeout vs insufficient material"]) {
        "time forfeit"
    } else if ends(&[" won - game abandoned", " drawn - game abandoned"]) {
        "abandoned"
    } else if text.contains(" won by ") || text.contains(" drawn by ") {
        "normal"
    } else {
        &text
    };
    Some(class.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_words() {
        for (value, class) in [
            ("Normal", "normal"),
            ("Time forfeit", "time forfeit"),
            ("Rules infraction", "rules infraction"),
            ("Ann won on time", "time forfeit"),
            ("Game drawn by timeout vs insufficient material", "time forfeit"),
            ("Ann won by resignation", "normal"),
            ("Game drawn by agreement", "normal"),
            ("Ann won - game abandoned", "abandoned"),
            (" Sudden Illness ", "sudden illness"),
        ] {
            assert_eq!(of_value(value.as_bytes()).as_deref(), Some(class), "{value}");
        }
        for value in ["", "?", " "] {
            assert_eq!(of_value(value.as_bytes()), None);
        }
    }
}
