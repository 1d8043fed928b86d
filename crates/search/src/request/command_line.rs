//! Writes a request as a command line of `orbit scan`.
//!
//! Invariant: parsing the command line yields a request that equals the original. Equal requests have equal command lines, even if
//! users typed them differently or on different machines.

use super::Request;
use crate::choice::SortKey;
use orbit_core::named::Named as _;
use orbit_core::text::{shell_quoted, shell_word};
use orbit_engine::verify::Sample;
use orbit_reel::Alike;

/// The number of games that a search for similar positions lists by default.
pub const SIMILAR_GAMES: u64 = 50;

/// The board transforms that exist as options. The command line applies them in this order, outermost first.
const TRANSFORMS: [&str; 9] = [
    "shift",
    "shifthorizontal",
    "shiftvertical",
    "flip",
    "flipvertical",
    "fliphorizontal",
    "rotate90",
    "flipcolor",
    "reversecolor",
];

/// A command line that is built by appending options.
struct ShellWords(String);

impl ShellWords {
    /// Appends an option without a value, if `is_set` is true.
    fn flag(&mut self, name: &str, is_set: bool) {
        if is_set {
            self.0 += &format!(" --{name}");
        }
    }

    /// Appends an option and its value, if there is a value.
    fn option(&mut self, name: &str, value: Option<impl AsRef<str>>) {
        if let Some(value) = value {
            let value = value.as_ref();
            let between = if value.starts_with('-') { '=' } else { ' ' };
            self.0 += &format!(" --{name}{between}{}", shell_word(value));
        }
    }
}

impl Request {
    /// Returns the `orbit scan` command line for this request and some files, quoted for a POSIX shell. Options are in a fixed
    /// order. Options with default values are left out, as are `count` and `columns`, which affect only the output.
    ///
    /// Returns `None` if no single command can express the request: there are several queries, the options cannot express the
    /// transforms of a board in this order, or similar positions are listed in an order other than best first.
    ///
    /// ```
    /// use orbit_search::Request;
    ///
    /// let request: Request = serde_json::from_str(r#"{"query":"mate","where":"elo>=2600","limit":5}"#)?;
    /// let line = request.command_line(&["games.pgn".to_owned()]);
    /// assert_eq!(line.as_deref(), Some("orbit scan --where 'elo>=2600' --limit 5 'mate' games.pgn"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn command_line(&self, files: &[String]) -> Option<String> {
        let named = [&self.theme, &self.board, &self.similar, &self.at];
        let asked = self.query.len() + named.into_iter().flatten().count();
        let mut transforms = TRANSFORMS.into_iter();
        if asked != 1 || !self.transforms.iter().all(|name| transforms.any(|known| known == name)) {
            return None;
        }
        let Request { sort, best, limit, .. } = self;
        let (mut sort, mut best, mut limit) = (*sort, *best, limit.map(u64::from));
        if self.similar.is_some() {
            if (sort, best, limit.is_some()) != (Some(SortKey::Value), true, true) {
                return None;
            }
            (sort, best) = (None, false);
            limit = limit.filter(|&limit| limit != SIMILAR_GAMES);
        }
        let number = |number: Option<u64>| number.map(|number| number.to_string());
        let mut words = ShellWords(String::from("orbit scan"));
        words.option("theme", self.theme.as_ref());
        words.option("board", self.board.as_ref());
        words.option("similar", self.similar.as_ref());
        words.option("at", self.at.as_ref());
        self.transforms.iter().for_each(|name| words.flag(name, true));
        words.option("dialect", self.dialect.map(|dialect| dialect.name()));
        words.flag("variations", self.variations);
        words.flag("unique", self.unique == Some(Alike::Tags));
        words.flag("unique=moves", self.unique == Some(Alike::Moves));
        let engine = self.engine.filter(|engine| *engine != Default::default());
        words.option("engine", engine.map(|engine| engine.name()));
        match self.verify {
            None => {}
            Some(Sample::All) => words.flag("verify", true),
            Some(Sample::Segments(segments)) => words.flag(&format!("verify={segments}"), true),
        }
        self.conditions.iter().for_each(|condition| words.option("where", Some(condition)));
        words.option("player", self.player.as_ref());
        words.option("player-exact", self.player_exact.as_ref());
        words.option("as", self.side.map(|side| side.name()));
        words.option("rating", self.rating.as_ref());
        words.option("opponent", self.opponent.as_ref());
        words.option("opponent-rating", self.opponent_rating.as_ref());
        words.flag("first", self.first);
        words.flag("best", best);
        words.option("skip", number(Some(self.skip).filter(|&skip| skip > 0)));
        words.option("limit", number(limit));
        words.option("sort", sort.map(|key| key.name()));
        words.flag("reverse", self.reverse);
        words.option("sample", number(self.sample.map(u64::from)));
        words.option("seed", number(Some(self.seed).filter(|&seed| seed > 0)));
        let ShellWords(mut line) = words;
        if let Some(query) = self.query.first() {
            // Blanks at the ends of a query are insignificant, so they are removed. A query that then begins with a dash needs
            // `-e`; otherwise it would be parsed as an option.
            let query = query.trim();
            let option = if query.starts_with('-') { " -e" } else { "" };
            line += &format!("{option} {}", shell_quoted(query));
        }
        for file in files {
            let folder = if file.starts_with('-') && file != "-" { "./" } else { "" };
            line += &format!(" {}", shell_word(&format!("{folder}{file}")));
        }
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn requests_are_written_as_command_lines() {
        for (fields, line) in [
            (json!({"query": " mate\n"}), Some("'mate' a.pgn")),
            (json!({"query": "--(o-o)"}), Some("-e '--(o-o)' a.pgn")),
            (json!({"query": "player \"O'Kelly\""}), Some(r#"'player "O'\''Kelly"' a.pgn"#)),
            (json!({"theme": "greek-gift", "first": true}), Some("--theme greek-gift --first a.pgn")),
            (
                json!({"board": "8/8/8/8/3N4/8/8/8 w", "transforms": ["shift", "flipcolor"], "engine": "auto"}),
                Some("--board '8/8/8/8/3N4/8/8/8 w' --shift --flipcolor a.pgn"),
            ),
            (
                json!({"at": "e4 c5", "where": ["elo>=2600", "white~o"], "unique": "moves", "verify": 7}),
                Some("--at 'e4 c5' --unique=moves --verify=7 --where 'elo>=2600' --where 'white~o' a.pgn"),
            ),
            (
                json!({"query": "mate", "player": "Tal", "as": "white", "rating": "-2700", "skip": 2, "limit": 3,
                    "sort": "date", "reverse": true, "engine": "reference", "dialect": "cql6", "variations": true}),
                Some(
                    "--dialect cql6 --variations --engine reference --player Tal --as white --rating=-2700 --skip 2 \
                     --limit 3 --sort date --reverse 'mate' a.pgn",
                ),
            ),
            (
                json!({"similar": "8/8/8/8/3N4/8/8/8", "best": true, "sort": "value", "limit": 50}),
                Some("--similar 8/8/8/8/3N4/8/8/8 a.pgn"),
            ),
            (json!({"similar": "8/8/8/8/3N4/8/8/8"}), None),
            (json!({"query": ["mate", "check"]}), None),
            (json!({}), None),
            (json!({"board": "8/8/8/8/3N4/8/8/8", "transforms": ["flip", "shift"]}), None),
            (json!({"board": "8/8/8/8/3N4/8/8/8", "transforms": ["rotate45"]}), None),
        ] {
            let request: Request = serde_json::from_value(fields).unwrap();
            let line = line.map(|line| format!("orbit scan {line}"));
            assert_eq!(request.command_line(&["a.pgn".to_owned()]), line);
        }
        let files = ["-", "-x.pgn", "of two words.pgn", "~a.pgn"].map(str::to_owned);
        let line = Request::new("mate").command_line(&files).unwrap();
        assert_eq!(line, "orbit scan 'mate' - ./-x.pgn 'of two words.pgn' '~a.pgn'");
    }
}
