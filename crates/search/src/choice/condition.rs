//! Conditions: comparisons joined by `and`, `or` and parentheses.

use std::fmt;
use std::str::FromStr;

use super::comparison::{Comparison, ConditionError};
use orbit_core::game::Measures;
use orbit_engine::Wants;
use orbit_reel::GameRow;

/// A condition on a game, or on the position of a hit.
///
/// A condition consists of one or more comparisons, joined by `and`, `or` and parentheses; `and` binds tighter than `or`. A
/// comparison is a name, an operator and a value. The name is a known tag in upper or lower case, `tag:Name` for any other tag (see
/// [`tag_named`](orbit_core::game::known::tag_named)), or one of these:
///
/// * `player`: the tags `White` and `Black`, one of which must match;
/// * `elo`: the higher of the two ratings, as in CQL;
/// * `date`: the tag `Date`, or else `UTCDate`; `year`: the year of this date;
/// * `result`: the result at the end of the movetext, not the tag;
/// * `title`: the title of either player; `white-title`, `black-title`: the title of one side;
/// * `time-control`: the [`Speed`](orbit_core::game::Speed) of the game;
/// * `opening-name`, `opening-eco`: the [`Opening`](orbit_core::game::Opening), determined from the positions of the game and
///   not from its tags;
/// * `moves`: the number of moves in the main line, where White's move and Black's reply count as one.
///
/// `clock`, `spent`, `eval` and `loss` are [measures](orbit_core::game::Measure) of positions. Comparisons of measures do not
/// exclude games; they select the hits whose positions meet the condition. If a position lacks a measure, every comparison of that
/// measure fails there, even `!=`.
///
/// `=` compares the whole value and ignores case. `*` matches any text. A date needs to match only up to the last part that is
/// given (`date=2015.03`). For ratings and openings, `=` also compares the parsed tag: `eco=B90` matches `B90n`. `~` matches values
/// that contain the text. `<`, `<=`, `>` and `>=` compare numbers, dates and openings; for openings, `=` also accepts a range, as
/// in `eco=B90-B99`. `!=` and `!~` negate `=` and `~`. An unknown value matches nothing. Values that contain the words `and` or
/// `or` must be quoted.
///
/// ```
/// use orbit_search::choice::Condition;
///
/// assert!("elo>=2600".parse::<Condition>().is_ok());
/// assert!("white>Carlsen".parse::<Condition>().is_err());
/// assert!("whte=Carlsen".parse::<Condition>().is_err());
/// assert!("tag:ClubCode=NL".parse::<Condition>().is_ok());
/// assert!("elo>=2600 and (white~Carlsen or black~Carlsen)".parse::<Condition>().is_ok());
/// assert_eq!("elo>=2600 AND year>2000".parse::<Condition>().unwrap().comparisons().count(), 2);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Condition {
    /// The condition as the user wrote it.
    text: String,
    joined: ConditionJoin,
    is_of_positions: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum ConditionJoin {
    One(Comparison),
    All(Vec<ConditionJoin>),
    Any(Vec<ConditionJoin>),
}

/// The maximum nesting depth of parentheses.
const DEPTH_MAX: usize = 50;

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Condition, ConditionError> {
        let mut reader = ConditionReader { text, at: 0, depth: 0 };
        let joined = reader.any()?;
        match reader.rest() {
            "" => {
                let is_of_positions =
                    joined.comparisons().iter().any(|compared| compared.measure().is_some());
                Ok(Condition { text: text.trim().to_owned(), joined, is_of_positions })
            }
            rest => Err(ConditionError::NoWord { at: reader.place(), rest: rest.to_owned() }),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Condition {
    /// Returns the comparisons in the order in which they are written.
    pub fn comparisons(&self) -> impl Iterator<Item = &Comparison> {
        self.joined.comparisons().into_iter()
    }

    /// Returns the facts about games that the condition needs.
    pub fn wants(&self) -> Wants {
        self.comparisons().map(Comparison::wants).collect()
    }

    /// Returns whether the condition compares a measure of positions. If not, it depends only on the game.
    pub fn is_of_positions(&self) -> bool {
        self.is_of_positions
    }

    /// Returns whether the condition holds at a position of a game. `measures` are the measures of this position.
    pub fn holds_at(&self, game: &GameRow, measures: &Measures) -> bool {
        self.joined.holds(&|compared| compared.holds(game) && compared.holds_at(measures))
    }

    /// Returns whether a game can meet the condition. All comparisons of measures are assumed to hold.
    pub fn holds(&self, game: &GameRow) -> bool {
        self.joined.holds(&|compared| compared.holds(game))
    }
}

impl ConditionJoin {
    fn comparisons(&self) -> Vec<&Comparison> {
        match self {
            ConditionJoin::One(compared) => vec![compared],
            ConditionJoin::All(parts) | ConditionJoin::Any(parts) => {
                parts.iter().flat_map(ConditionJoin::comparisons).collect()
            }
        }
    }

    fn holds(&self, is: &impl Fn(&Comparison) -> bool) -> bool {
        match self {
            ConditionJoin::One(compared) => is(compared),
            ConditionJoin::All(parts) => parts.iter().all(|part| part.holds(is)),
            ConditionJoin::Any(parts) => parts.iter().any(|part| part.holds(is)),
        }
    }
}

/// A recursive descent parser for conditions.
struct ConditionReader<'a> {
    text: &'a str,
    /// The byte offset of the unread text.
    at: usize,
    /// The number of open parentheses.
    depth: usize,
}

impl<'a> ConditionReader<'a> {
    fn any(&mut self) -> Result<ConditionJoin, ConditionError> {
        self.list("or", Self::all, ConditionJoin::Any)
    }

    fn all(&mut self) -> Result<ConditionJoin, ConditionError> {
        self.list("and", Self::one, ConditionJoin::All)
    }

    /// Reads conditions joined by `word`. If there is only one, it is returned without a list around it.
    fn list(
        &mut self,
        word: &'static str,
        mut part: impl FnMut(&mut Self) -> Result<ConditionJoin, ConditionError>,
        join: impl FnOnce(Vec<ConditionJoin>) -> ConditionJoin,
    ) -> Result<ConditionJoin, ConditionError> {
        let first = part(self)?;
        let mut parts = vec![first];
        while self.takes(word) {
            let at = self.place();
            parts.push(part(self).map_err(|error| match error {
                ConditionError::At { at: place, error } if place == at => match *error {
                    ConditionError::NoOperator(rest) => ConditionError::NotJoined { at, word, rest },
                    error => ConditionError::At { at, error: Box::new(error) },
                },
                error => error,
            })?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { join(parts) })
    }

    fn one(&mut self) -> Result<ConditionJoin, ConditionError> {
        let (at, rest) = (self.place(), self.rest());
        if rest.is_empty() && !self.text.trim().is_empty() || rest.starts_with(')') {
            return Err(ConditionError::Missing { at });
        }
        if rest.starts_with('(') {
            if self.depth == DEPTH_MAX {
                return Err(ConditionError::TooDeep { at, max: DEPTH_MAX });
            }
            self.skip(1);
            self.depth += 1;
            let joined = self.any()?;
            match self.rest() {
                rest if rest.starts_with(')') => self.skip(1),
                "" => return Err(ConditionError::Unclosed { at }),
                rest => {
                    return Err(ConditionError::NoWord { at: self.place(), rest: rest.to_owned() });
                }
            }
            self.depth -= 1;
            return Ok(joined);
        }
        let compared = &rest[..self.comparison_end(rest)];
        self.skip(compared.len());
        let is_alone = compared.trim() == self.text.trim();
        compared.parse().map(ConditionJoin::One).map_err(|error| match is_alone {
            true => error,
            false => ConditionError::At { at, error: Box::new(error) },
        })
    }

    /// Returns the length of the comparison with which `text` begins. A comparison ends before the word `and` or `or`, or before an
    /// unmatched closing parenthesis.
    fn comparison_end(&self, text: &str) -> usize {
        let (mut open, mut quoted) = (0_usize, false);
        // The last letter that is not a blank, and the place after it.
        let (mut before, mut end) = (' ', 0);
        for (at, letter) in text.char_indices() {
            match letter {
                letter if letter.is_whitespace() => continue,
                '"' if quoted => quoted = false,
                '"' => quoted = "=~<>".contains(before),
                _ if quoted => {}
                '(' => open += 1,
                ')' if open > 0 => open -= 1,
                ')' if self.depth > 0 => return at,
                _ if end < at && (joining(&text[at..], "and") || joining(&text[at..], "or")) => return end,
                _ => {}
            }
            (before, end) = (letter, at + letter.len_utf8());
        }
        text.len()
    }

    /// If the unread text begins with `word`, skips it and returns true.
    fn takes(&mut self, word: &'static str) -> bool {
        let is_next = joining(self.rest(), word);
        if is_next {
            self.skip(word.len());
        }
        is_next
    }

    /// Returns the unread text without surrounding blanks.
    fn rest(&self) -> &'a str {
        self.text[self.at..].trim()
    }

    /// Skips the first `bytes` bytes of [`rest`](Self::rest).
    fn skip(&mut self, bytes: usize) {
        let left = &self.text[self.at..];
        self.at += left.len() - left.trim_start().len() + bytes;
    }

    /// Returns the character position at which [`rest`](Self::rest) begins, counted from 1.
    fn place(&self) -> usize {
        let left = &self.text[self.at..];
        let at = self.at + left.len() - left.trim_start().len();
        self.text[..at].chars().count() + 1
    }
}

/// Returns whether `text` begins with `word` (`and` or `or`) as a separate word, ignoring case.
fn joining(text: &str, word: &str) -> bool {
    let (first, behind) = text.split_at_checked(word.len()).unwrap_or((text, ""));
    first.eq_ignore_ascii_case(word)
        && (behind.is_empty() || behind.starts_with(|c: char| c.is_whitespace() || c == '('))
}
