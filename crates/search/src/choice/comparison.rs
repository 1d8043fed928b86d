//! The comparisons that make up a condition: `white~Carlsen`, `elo>=2600`, `eco=B9*`, `clock<30`. A comparison tests a tag, another
//! fact about a game, or a measure of a position, such as the time on the clock.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use orbit_core::board::Color;
use orbit_core::diagnostic::nearest;
use orbit_core::game::eco::{Eco, EcoBound};
use orbit_core::game::known::{self, TagKind, known_tag, nearest_tag, tag_named};
use orbit_core::game::measures::thousandths_of;
use orbit_core::game::{
    Date, GameHeader as _, Measure, Measures, Rating, Speed, date, eco, rating, tags, termination, title,
};
use orbit_engine::Wants;
use orbit_reel::GameRow;

/// A single comparison in a [`Condition`](super::Condition).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Comparison {
    /// The comparison as the user wrote it.
    text: String,
    field: ComparisonField,
    test: ComparisonTest,
    /// True for the operators `!=` and `!~`, which negate the test.
    is_not: bool,
}

/// A comparison that requires the whole value of a tag to equal a string.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WholeText<'a> {
    /// The tags to compare. The comparison holds if at least one of them has this value.
    pub tags: Vec<&'a str>,
    /// The name of the field or tag, as the user wrote it.
    pub name: &'a str,
    /// The value, as the user wrote it.
    pub value: &'a str,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum ComparisonField {
    Player,
    Elo,
    Date,
    Year,
    Result,
    /// The title of either player.
    Title,
    Speed,
    /// The name of the opening, as determined from the positions in the game.
    OpeningName,
    /// The ECO code of the opening, as determined from the positions in the game.
    OpeningEco,
    /// The number of moves in the main line. White's move and Black's reply count as one.
    Moves,
    /// A measure of a position, such as the clock. All other fields are facts about a game.
    Measure(Measure),
    Tag {
        name: String,
        /// True if the user wrote the name after `tag:`.
        is_own: bool,
        kind: TagKind,
    },
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum ComparisonTest {
    /// The value matches a pattern. The strings are the parts of the pattern between `*` characters, in lower case. If a number is
    /// given, values that parse as this number also match.
    Parts(Vec<String>, Option<i64>),
    /// The compared value must contain this string, which is in lower case.
    Contains(String),
    Number(Compare, i64),
    /// A comparison with a number in thousandths.
    Thousandths(Compare, i64),
    Date(Compare, Date),
    /// The opening satisfies all of these comparisons. There is one for a bound and two for a range.
    Eco(Vec<(Compare, EcoBound)>),
}

/// A comparison operator for numbers, dates and openings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Compare {
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Compare {
    fn holds(self, order: Ordering) -> bool {
        match self {
            Compare::Equal => order.is_eq(),
            Compare::Less => order.is_lt(),
            Compare::LessOrEqual => order.is_le(),
            Compare::Greater => order.is_gt(),
            Compare::GreaterOrEqual => order.is_ge(),
        }
    }
}

/// The reason why a string is not a valid condition.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConditionError {
    /// There is no operator.
    #[error(
        "`{0}` compares nothing: write a name, one of = != ~ !~ < <= > >= and a value, such as `white~Carlsen` or `elo>=2600`"
    )]
    NoOperator(String),
    /// The text before the operator is not a tag name, or a second operator follows.
    #[error(
        "`{0}` does not begin with the name of a tag and one operator; write it as `white~Carlsen` or `eco=B9*`"
    )]
    NoName(String),
    /// The name is neither a field nor a known tag.
    #[error("there is no field and no known tag `{name}`{}; write `tag:{name}` for a tag of your own", did_you_mean(.hint))]
    Unknown {
        /// The name as the user wrote it.
        name: String,
        /// A similar known name, which the message suggests.
        hint: Option<&'static str>,
    },
    /// The name after `tag:` resembles a known tag.
    #[error(
        "`tag:{name}` is no known tag (did you mean `{hint}`?); write `tag::{name}` for a tag of exactly this name"
    )]
    Resembles {
        /// The name as the user wrote it.
        name: String,
        /// The name of a similar known tag, which the message suggests.
        hint: &'static str,
    },
    /// The name or the value is missing.
    #[error("`{0}` lacks a name or a value; write both, such as `eco=B9*`")]
    Half(String),
    /// The operator requires a number or a date, but the value is neither.
    #[error("`{operator}` compares numbers and dates, and `{value}` is neither; use `=` or `~` for texts")]
    NoOrder {
        /// The operator, such as `<`.
        operator: &'static str,
        /// The value.
        value: String,
    },
    /// The field requires a date or a year, but the value is neither.
    #[error("`{0}` is no date; write `2015`, `2015.03` or `2015.03.07`")]
    NoDate(String),
    /// The field requires an opening or a range of openings, but the value is neither.
    #[error("`{0}` is no opening and no range of openings; write `B90`, `B9` or `B90-B99`")]
    NoEco(String),
    /// The field requires an integer, but the value is not one.
    #[error("`{0}` is no number: `{1}` is compared with a whole number")]
    NoNumber(String, &'static str),
    /// The field requires a number, but the value is not one.
    #[error("`{0}` is no number: `{1}` is compared with a number of {2}, such as `{1}<30` or `{1}>=0.5`")]
    NoDecimal(String, &'static str, &'static str),
    /// A field that has no order is used with an operator for numbers and dates.
    #[error("`{0}` is neither a number nor a date: compare it with =, !=, ~ or !~")]
    NotOrdered(&'static str),
    /// A measure, which is a number, is used with a string operator.
    #[error("`{0}` is a number: compare it with =, !=, <, <=, > or >=")]
    NoText(&'static str),
    /// The value is not a time control class, such as `blitz`.
    #[error("`{0}` is no class of time controls; write one of {names}, or compare the tag itself as `timecontrol=300+3`", names = Speed::ALL.map(Speed::name).join(", "))]
    NoSpeed(String),
    /// The value is not a game result.
    #[error("`{0}` is no result; write 1-0, 0-1, 1/2-1/2 or *")]
    NoResult(String),
    /// One of several comparisons is invalid.
    #[error("at character {at}: {error}")]
    At {
        /// The character position of the comparison, counted from 1.
        at: usize,
        /// The error in the comparison.
        error: Box<ConditionError>,
    },
    /// The text after `and` or `or` is not a comparison.
    #[error(
        "at character {at}: `{rest}` behind `{word}` compares nothing: write a condition there, as in `white~Carlsen or \
         black~Carlsen`, or put a value with the word `{word}` in quotation marks, as in `event~\"now or never\"`"
    )]
    NotJoined {
        /// The character position, counted from 1, of the text that is not a comparison.
        at: usize,
        /// `and` or `or`.
        word: &'static str,
        /// The text after the word.
        rest: String,
    },
    /// A condition is missing.
    #[error("at character {at}: a condition is missing; write one, such as `white~Carlsen`")]
    Missing {
        /// The character position, counted from 1, at which the condition is missing.
        at: usize,
    },
    /// A condition follows another one without `and` or `or` between them.
    #[error("at character {at}: `{rest}` follows a condition; write `and` or `or` between conditions")]
    NoWord {
        /// The character position of the second condition, counted from 1.
        at: usize,
        /// The text from the second condition to the end.
        rest: String,
    },
    /// A parenthesis is not closed.
    #[error("the bracket at character {at} is not closed; write `)` where the conditions in it end")]
    Unclosed {
        /// The character position of the opening parenthesis, counted from 1.
        at: usize,
    },
    /// Parentheses are nested too deeply.
    #[error("at character {at}: there are more than {max} brackets in each other; leave some out")]
    TooDeep {
        /// The character position, counted from 1, of the first parenthesis that is nested too deeply.
        at: usize,
        /// The maximum nesting depth.
        max: usize,
    },
}

/// The names of the fields that are not tags, such as `player` and `elo`.
const FIELDS: [&str; 16] = [
    "player",
    "elo",
    "date",
    "year",
    "result",
    "title",
    "white-title",
    "black-title",
    "time-control",
    "opening-name",
    "opening-eco",
    "moves",
    "clock",
    "spent",
    "eval",
    "loss",
];

fn did_you_mean(hint: &Option<&str>) -> String {
    hint.map_or(String::new(), |hint| format!(" (did you mean `{hint}`?)"))
}

/// The operators. Each one precedes its own prefixes; otherwise, `<=` would be read as `<`.
const OPERATORS: [&str; 8] = ["!=", "!~", "<=", ">=", "=", "~", "<", ">"];

impl FromStr for Comparison {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Comparison, ConditionError> {
        let found = (0..text.len()).find_map(|at| {
            let rest = text.get(at..)?;
            OPERATORS.iter().find(|operator| rest.starts_with(**operator)).map(|operator| (at, *operator))
        });
        let (at, operator) = found.ok_or_else(|| ConditionError::NoOperator(text.to_owned()))?;
        let (name, value) = (text[..at].trim(), text[at + operator.len()..].trim());
        if name.is_empty() || value.is_empty() {
            return Err(ConditionError::Half(text.to_owned()));
        }
        // Values that contain the words `and` or `or` are quoted.
        let quoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
        let (value, is_quoted) = (quoted.unwrap_or(value), quoted.is_some());
        let own = name.strip_prefix("tag:");
        let bare = own.map_or(name, |own| own.strip_prefix(':').unwrap_or(own));
        let is_letter =
            |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-' && own.is_none();
        let is_name = !bare.is_empty() && bare.bytes().all(is_letter);
        if !is_name || !is_quoted && value.starts_with(['=', '~', '<', '>']) {
            return Err(ConditionError::NoName(text.to_owned()));
        }
        let field = match own {
            Some(own) => ComparisonField::own(own)?,
            None => ComparisonField::from_name(name)?,
        };
        let test = test(&field, operator, value)?;
        Ok(Comparison { text: text.trim().to_owned(), field, test, is_not: operator.starts_with('!') })
    }
}

fn test(
    field: &ComparisonField,
    operator: &'static str,
    value: &str,
) -> Result<ComparisonTest, ConditionError> {
    let compare = match operator {
        "<" => Compare::Less,
        "<=" => Compare::LessOrEqual,
        ">" => Compare::Greater,
        ">=" => Compare::GreaterOrEqual,
        "~" | "!~" => match field {
            ComparisonField::Measure(measure) => return Err(ConditionError::NoText(measure.name())),
            ComparisonField::Result if value == "draw" => {
                return Ok(ComparisonTest::Contains(String::from("1/2-1/2")));
            }
            _ => return Ok(ComparisonTest::Contains(value.to_lowercase())),
        },
        _ => Compare::Equal,
    };
    let is_equal = compare == Compare::Equal;
    let number = |name| value.parse().map_err(|_| ConditionError::NoNumber(value.to_owned(), name));
    let text = || {
        ComparisonTest::Parts(
            value.to_lowercase().split('*').map(str::to_owned).collect(),
            value.parse().ok(),
        )
    };
    match field {
        ComparisonField::Elo => Ok(ComparisonTest::Number(compare, number("elo")?)),
        ComparisonField::Year => Ok(ComparisonTest::Number(compare, number("year")?)),
        ComparisonField::Moves => Ok(ComparisonTest::Number(compare, number("moves")?)),
        ComparisonField::Measure(measure) => {
            let no_number = || ConditionError::NoDecimal(value.to_owned(), measure.name(), measure.unit());
            Ok(ComparisonTest::Thousandths(compare, thousandths_of(value).ok_or_else(no_number)?))
        }
        ComparisonField::Speed if is_equal => {
            let is = |speed: &Speed| speed.name().eq_ignore_ascii_case(value);
            let speed = Speed::ALL.into_iter().find(is);
            let speed = speed.ok_or_else(|| ConditionError::NoSpeed(value.to_owned()))?;
            Ok(ComparisonTest::Parts(vec![speed.name().to_owned()], None))
        }
        ComparisonField::Result if is_equal => match value {
            "1-0" | "0-1" | "1/2-1/2" | "*" => Ok(ComparisonTest::Parts(vec![value.to_owned()], None)),
            "1/2" | "draw" => Ok(ComparisonTest::Parts(vec![String::from("1/2-1/2")], None)),
            _ => Err(ConditionError::NoResult(value.to_owned())),
        },
        ComparisonField::Date | ComparisonField::Tag { kind: TagKind::Date, .. }
            if !(is_equal && is_date_text(value)) =>
        {
            let date = Date::parse(value).filter(|date| {
                // `Date::parse` accepts dates with invalid parts, because PGN tags contain them. In a condition, an invalid part is
                // reported as an error.
                date.parts().into_iter().flatten().count() == date_parts(value)
            });
            Ok(ComparisonTest::Date(compare, date.ok_or_else(|| ConditionError::NoDate(value.to_owned()))?))
        }
        ComparisonField::OpeningEco | ComparisonField::Tag { kind: TagKind::Eco, .. } if !is_equal => {
            let no_eco = || ConditionError::NoEco(value.to_owned());
            Ok(ComparisonTest::Eco(vec![(compare, EcoBound::parse(value).ok_or_else(no_eco)?)]))
        }
        ComparisonField::OpeningEco | ComparisonField::Tag { kind: TagKind::Eco, .. } => {
            match eco::range(value) {
                Some(Ok([first, last])) => Ok(ComparisonTest::Eco(vec![
                    (Compare::GreaterOrEqual, first),
                    (Compare::LessOrEqual, last),
                ])),
                Some(Err(())) => Err(ConditionError::NoEco(value.to_owned())),
                None => Ok(match EcoBound::parse(value).filter(|_| value.len() < 3) {
                    Some(bound) => ComparisonTest::Eco(vec![(Compare::Equal, bound)]),
                    None => text(),
                }),
            }
        }
        _ if is_equal => Ok(text()),
        ComparisonField::Player => Err(ConditionError::NotOrdered("player")),
        ComparisonField::Title => Err(ConditionError::NotOrdered("title")),
        ComparisonField::Speed => Err(ConditionError::NotOrdered("time-control")),
        ComparisonField::Result => Err(ConditionError::NotOrdered("result")),
        ComparisonField::OpeningName => Err(ConditionError::NotOrdered("opening-name")),
        _ => {
            let no_order = || ConditionError::NoOrder { operator, value: value.to_owned() };
            Ok(ComparisonTest::Number(compare, value.parse().map_err(|_| no_order())?))
        }
    }
}

/// Returns whether a date in a condition contains `*` or unknown parts (`2015.*`, `????.??.??`). Such a date is compared as a
/// string.
fn is_date_text(value: &str) -> bool {
    value.contains('*') || (value.contains('?') && value.split('.').count() == 3)
}

fn date_parts(value: &str) -> usize {
    value.split(['.', '-', '/']).count()
}

impl ComparisonField {
    fn from_name(name: &str) -> Result<ComparisonField, ConditionError> {
        Ok(match name.to_ascii_lowercase().as_str() {
            "player" => ComparisonField::Player,
            "elo" => ComparisonField::Elo,
            "date" => ComparisonField::Date,
            "year" => ComparisonField::Year,
            "result" => ComparisonField::Result,
            "title" => ComparisonField::Title,
            "white-title" => ComparisonField::tag(title::tag(Color::White), false),
            "black-title" => ComparisonField::tag(title::tag(Color::Black), false),
            "time-control" => ComparisonField::Speed,
            "opening-name" => ComparisonField::OpeningName,
            "opening-eco" => ComparisonField::OpeningEco,
            "moves" => ComparisonField::Moves,
            lower => match (Measure::named(lower), known_tag(name)) {
                (Some(measure), _) => ComparisonField::Measure(measure),
                (None, Some(known)) => ComparisonField::tag(known, false),
                (None, None) => {
                    let hint = nearest(lower, FIELDS.iter()).or_else(|| nearest_tag(name));
                    return Err(ConditionError::Unknown { name: name.to_owned(), hint });
                }
            },
        })
    }

    /// Creates the field for a tag from `name`, the text that the user wrote after `tag:`. Fails if the name resembles a known
    /// tag's name.
    fn own(name: &str) -> Result<ComparisonField, ConditionError> {
        match tag_named(name) {
            Ok(name) => Ok(ComparisonField::tag(name, true)),
            Err(hint) => Err(ConditionError::Resembles { name: name.to_owned(), hint }),
        }
    }

    fn tag(name: &str, is_own: bool) -> ComparisonField {
        ComparisonField::Tag { name: name.to_owned(), is_own, kind: known::kind(name) }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Comparison {
    /// Returns the facts about games that the comparison needs.
    pub fn wants(&self) -> Wants {
        match self.field {
            ComparisonField::Result
            | ComparisonField::OpeningName
            | ComparisonField::OpeningEco
            | ComparisonField::Moves => Wants::HITS,
            ComparisonField::Measure(measure) => Wants::from_measure(measure),
            _ => Wants::TAGS,
        }
    }

    /// Returns the string that the whole value must equal, or `None` for comparisons of other kinds.
    pub fn whole_text(&self) -> Option<WholeText<'_>> {
        let is_whole =
            matches!(&self.test, ComparisonTest::Parts(parts, _) if parts.len() == 1) && !self.is_not;
        let tags = match &self.field {
            ComparisonField::Player => Color::ALL.map(tags::player_tag).to_vec(),
            ComparisonField::Tag { name, kind: TagKind::Text, .. } => vec![name.as_str()],
            _ => return None,
        };
        let (name, value) = self.text.split_once('=').filter(|_| is_whole)?;
        Some(WholeText { tags, name: name.trim(), value: value.trim().trim_matches('"') })
    }

    /// Returns the tag name if the user wrote it after `tag:`.
    pub fn own_tag(&self) -> Option<&str> {
        if let ComparisonField::Tag { name, is_own: true, .. } = &self.field { Some(name) } else { None }
    }

    /// Returns the name of the field that corresponds to the compared tag but is determined from the moves: `opening-name` for the
    /// tag `Opening`. Returns `None` if there is no such field.
    pub fn field_of_moves(&self) -> Option<&'static str> {
        let ComparisonField::Tag { name, .. } = &self.field else { return None };
        match name.to_ascii_lowercase().as_str() {
            "opening" => Some("opening-name"),
            "eco" => Some("opening-eco"),
            _ => None,
        }
    }

    /// Returns the measure that is compared, or `None` if the comparison is about games.
    pub fn measure(&self) -> Option<Measure> {
        if let ComparisonField::Measure(measure) = self.field { Some(measure) } else { None }
    }

    /// Returns the number in thousandths with which a measure is compared.
    pub fn bound(&self) -> Option<i64> {
        if let ComparisonTest::Thousandths(_, bound) = self.test { Some(bound) } else { None }
    }

    /// Returns whether the comparison holds at a position with these measures. Comparisons about games hold at every position.
    pub fn holds_at(&self, measures: &Measures) -> bool {
        let ComparisonField::Measure(measure) = self.field else { return true };
        measures.get(measure).is_some_and(|number| self.test.fits_thousandths(number) != self.is_not)
    }

    /// Returns whether the comparison holds for a game. Comparisons of measures hold for every game.
    pub fn holds(&self, game: &GameRow) -> bool {
        let fits = match &self.field {
            ComparisonField::Player => [Color::White, Color::Black]
                .iter()
                .any(|&side| self.test.fits_tag(game, tags::player_tag(side), TagKind::Text)),
            ComparisonField::Elo => self.test.fits_number(Rating::Higher.of_game(game)),
            ComparisonField::Year => {
                self.test.fits_number(Date::from_game(game).map(|date| date.year.into()))
            }
            ComparisonField::Date => self.test.fits_tag(game, date::tag(game), TagKind::Date),
            ComparisonField::Result => self.test.fits(game.outcome().text()),
            ComparisonField::Title => [Color::White, Color::Black]
                .iter()
                .any(|&side| self.test.fits_tag(game, title::tag(side), TagKind::Text)),
            ComparisonField::Speed => {
                Speed::from_game(game).is_some_and(|speed| self.test.fits(speed.name()))
            }
            ComparisonField::OpeningName => {
                game.opening().is_some_and(|opening| self.test.fits(&opening.name))
            }
            ComparisonField::OpeningEco => {
                game.opening().is_some_and(|opening| self.test.fits_eco(&opening.eco))
            }
            ComparisonField::Moves => self.test.fits_number(Some(game.plies().div_ceil(2) as i64)),
            ComparisonField::Measure(_) => return true,
            ComparisonField::Tag { name, kind, .. } => self.test.fits_tag(game, name, *kind),
        };
        fits != self.is_not
    }
}

impl ComparisonTest {
    fn fits_tag(&self, game: &GameRow, name: &str, kind: TagKind) -> bool {
        let Some(value) = game.tag_named(name) else { return false };
        let rating = || rating::of_value(value).map(i64::from);
        match (kind, self) {
            (TagKind::Rating, ComparisonTest::Number(..)) => self.fits_number(rating()),
            (TagKind::Rating, ComparisonTest::Parts(..)) => {
                self.fits(&tags::text(value)) || self.fits_number(rating())
            }
            (TagKind::Eco, ComparisonTest::Eco(_)) => {
                eco::of_value(value).is_some_and(|eco| self.fits_eco(&eco))
            }
            (TagKind::Eco, ComparisonTest::Parts(..)) => {
                self.fits(&tags::text(value)) || eco::of_value(value).is_some_and(|eco| self.fits_eco(&eco))
            }
            (TagKind::Termination, ComparisonTest::Parts(..) | ComparisonTest::Contains(_)) => {
                self.fits(&tags::text(value))
                    || termination::of_value(value).is_some_and(|class| self.fits(&class))
            }
            _ => self.fits(&tags::text(value)),
        }
    }

    fn fits_eco(&self, eco: &Eco) -> bool {
        match self {
            ComparisonTest::Eco(bounds) => {
                bounds.iter().all(|(compare, bound)| compare.holds(bound.order_of(eco)))
            }
            _ => self.fits(eco.as_str()),
        }
    }

    fn fits(&self, value: &str) -> bool {
        match self {
            ComparisonTest::Contains(part) => value.to_lowercase().contains(part),
            ComparisonTest::Parts(parts, number) => {
                let is_same = number.is_some_and(|number| value.parse() == Ok(number));
                is_same || has_parts(&value.to_lowercase(), parts)
            }
            ComparisonTest::Number(..) => {
                let sign = usize::from(value.starts_with(['+', '-']));
                let digits = value.bytes().skip(sign).take_while(u8::is_ascii_digit).count();
                self.fits_number(value[..sign + digits].parse().ok())
            }
            ComparisonTest::Thousandths(..) => {
                thousandths_of(value).is_some_and(|number| self.fits_thousandths(number))
            }
            // A range of openings is compared by `fits_eco`. A value that reaches this line is not an opening, so it is in no
            // range.
            ComparisonTest::Eco(_) => false,
            ComparisonTest::Date(compare, bound) => {
                Date::parse(value).is_some_and(|date| compare_dates(date, *bound, *compare))
            }
        }
    }

    fn fits_thousandths(&self, number: i64) -> bool {
        if let ComparisonTest::Thousandths(compare, bound) = self {
            compare.holds(number.cmp(bound))
        } else {
            false
        }
    }

    fn fits_number(&self, number: Option<i64>) -> bool {
        match (self, number) {
            (_, None) => false,
            (ComparisonTest::Number(compare, bound), Some(number)) => compare.holds(number.cmp(bound)),
            (_, Some(number)) => self.fits(&number.to_string()),
        }
    }
}

/// Returns whether `text` consists of the strings in `parts`, in this order, with any text between them.
fn has_parts(text: &str, parts: &[String]) -> bool {
    let [first, middle @ .., last] = parts else {
        return parts.first().is_some_and(|only| only == text);
    };
    let Some(mut rest) = text.strip_prefix(first.as_str()) else { return false };
    for part in middle {
        match rest.find(part.as_str()) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last.as_str())
}

/// Compares two dates by year, then by month and day if `bound` has them. Returns false if the result depends on a part of `date`
/// that is unknown.
pub(crate) fn compare_dates(date: Date, bound: Date, compare: Compare) -> bool {
    for (part, bound) in date.parts().into_iter().zip(bound.parts()) {
        let Some(bound) = bound else { break };
        match part.map(|part| part.cmp(&bound)) {
            None => return false,
            Some(Ordering::Equal) => {}
            Some(order) => return compare.holds(order),
        }
    }
    compare.holds(Ordering::Equal)
}
