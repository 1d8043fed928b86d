//! The groups of a block's games and positions, as numbers.
//!
//! Counting compares groups all the time, so that within a block a group is a [`Code`]; each distinct
//! tag value is looked at once. Codes of different blocks do not compare: their [`Key`]s do.

use hashbrown::HashMap;

use super::Key;
use super::grouping::{By, Rating};
use crate::engine::{Answer, CopyHits, Hits};
use crate::reel::{Block, GameRow};
use crate::report::labels::MoveNumbers;
use crate::report::tags::{Date, rating};
use crate::report::words::decode;

/// A group within one block: a number as it is, or the index of a text.
pub(super) type Code = i64;

/// What is not known.
const UNKNOWN: Code = Code::MIN;

/// The groups of one property in one block.
pub(super) enum Column {
    /// All games and positions are one group.
    Whole,
    /// Two groups for each game, often the same one twice.
    Games { codes: Vec<[Code; 2]>, names: Option<Names> },
    /// Steps of half-moves.
    Plies(u32),
    /// Steps of moves, and how the moves of each game are numbered.
    Moves { step: u32, numbers: Vec<MoveNumbers> },
    /// Steps of the query's values.
    Values(u32),
    /// Copies that match.
    Copies,
}

/// Texts, each with one code.
#[derive(Default)]
pub(super) struct Names {
    texts: Vec<String>,
    codes: HashMap<String, Code>,
}

impl Names {
    fn code(&mut self, text: String) -> Code {
        let next = self.texts.len() as Code;
        let Names { texts, codes } = self;
        *codes.entry_ref(&*text).or_insert_with(|| {
            texts.push(text.clone());
            next
        })
    }
}

/// One hit: its slot, and its index among the hits of the block.
#[derive(Clone, Copy)]
pub(super) struct HitAt<'a> {
    pub(super) slot: usize,
    pub(super) index: usize,
    pub(super) hits: &'a Hits,
    pub(super) copies: &'a CopyHits,
}

impl Column {
    pub(super) fn new(by: &By, block: &Block) -> Column {
        let mut names = Names::default();
        let codes: Vec<[Code; 2]> = match by {
            By::Ply(step) => return Column::Plies(*step),
            By::Move(step) => {
                let numbers = block.games().map(|game| MoveNumbers::of(&game)).collect();
                return Column::Moves { step: *step, numbers };
            }
            By::Value(step) => return Column::Values(*step),
            By::Copy => return Column::Copies,
            By::Year => return Column::numbers(years(block)),
            By::Decade => {
                let decade = |year| if year == UNKNOWN { year } else { year / 10 * 10 };
                return Column::numbers(years(block).map(decade));
            }
            By::Elo(rating, step) => return Column::numbers(ratings(block, *rating, (*step).into())),
            By::Result => block.games().map(|game| [names.code(game.outcome().text().into()); 2]).collect(),
            By::Eco(length) => {
                let length = usize::from(*length);
                tag(block, "ECO", |value| eco(value, length).map(|code| names.code(code)))
                    .map(twice)
                    .collect()
            }
            By::Tag(name) => {
                tag(block, name, |value| text(value).map(|text| names.code(text))).map(twice).collect()
            }
            By::Player => {
                let mut players = |side| -> Vec<Code> {
                    tag(block, side, |value| text(value).map(|text| names.code(text))).collect()
                };
                let (white, black) = (players("White"), players("Black"));
                white.into_iter().zip(black).map(|(white, black)| [white, black]).collect()
            }
        };
        Column::Games { codes, names: Some(names) }
    }

    fn numbers(codes: impl Iterator<Item = Code>) -> Column {
        Column::Games { codes: codes.map(twice).collect(), names: None }
    }

    /// Whether it is a property of hits alone; see [`By::is_of_hits`].
    pub(super) fn is_of_hits(&self) -> bool {
        matches!(self, Column::Values(_) | Column::Copies)
    }

    /// Lists the groups of a position, whether it hits or not: those of all, if it must hit to have any.
    pub(super) fn codes(&self, game: usize, ply: usize, out: &mut Vec<Code>) {
        out.clear();
        match self {
            Column::Whole | Column::Values(_) | Column::Copies => out.push(0),
            Column::Games { codes, .. } => {
                let [first, second] = codes[game];
                out.push(first);
                if second != first {
                    out.push(second);
                }
            }
            Column::Plies(step) => out.push(steps(ply as Code, *step)),
            Column::Moves { step, numbers } => out.push(steps(numbers[game].full(ply as u32).into(), *step)),
        }
    }

    /// The ply after `ply` from which on the groups are others.
    pub(super) fn run_end(&self, game: usize, ply: usize) -> usize {
        match self {
            Column::Plies(step) => (ply / *step as usize + 1) * *step as usize,
            Column::Moves { step, numbers } => {
                let number = numbers[game].full(ply as u32);
                let left = (number / step + 1) * step - number;
                // A move has two plies, and this may be the second one.
                let is_second = numbers[game].full(ply as u32 + 1) > number;
                ply + 2 * left as usize - usize::from(is_second)
            }
            _ => usize::MAX,
        }
    }

    /// Lists the groups of a position that hits.
    pub(super) fn codes_of_hit(&self, game: usize, ply: usize, hit: HitAt, out: &mut Vec<Code>) {
        match self {
            Column::Values(step) => {
                out.clear();
                out.push(match hit.hits.answer(hit.slot) {
                    Answer::Bool(_) => UNKNOWN,
                    Answer::Set(squares) => steps(squares.count() as Code, *step),
                    Answer::Num(number) => number.map_or(UNKNOWN, |number| steps(number.into(), *step)),
                });
            }
            Column::Copies => {
                out.clear();
                out.extend(hit.copies.of(hit.index).iter().map(|&copy| Code::from(copy) + 1));
            }
            _ => self.codes(game, ply, out),
        }
    }

    /// The group that [`Column::codes`] means.
    pub(super) fn key(&self, code: Code) -> Key {
        match self {
            Column::Whole | Column::Values(_) | Column::Copies => Key::Whole,
            _ => self.key_of_hit(code),
        }
    }

    /// The group that [`Column::codes_of_hit`] means.
    pub(super) fn key_of_hit(&self, code: Code) -> Key {
        match self {
            Column::Whole => Key::Whole,
            Column::Values(_) if code == UNKNOWN => Key::Text(String::from("true")),
            _ if code == UNKNOWN => Key::Unknown,
            Column::Games { names: Some(names), .. } => Key::Text(names.texts[code as usize].clone()),
            _ => Key::Number(code),
        }
    }
}

fn twice(code: Code) -> [Code; 2] {
    [code; 2]
}

/// The largest multiple of a step that is not above a number.
fn steps(number: Code, step: u32) -> Code {
    let step = Code::from(step);
    number.div_euclid(step) * step
}

/// What `read` makes of a tag of each game; each distinct value is read once.
fn tag(block: &Block, name: &str, mut read: impl FnMut(&[u8]) -> Option<Code>) -> impl Iterator<Item = Code> {
    let name = block.tag_name(name.as_bytes());
    let values = block.tag_values();
    let mut codes: Vec<Option<Code>> = vec![None; if name.is_some() { values.len() } else { 0 }];
    block.games().map(move |game: GameRow| {
        let Some(value) = name.and_then(|name| game.tag_value(name)) else { return UNKNOWN };
        *codes[value.0 as usize].get_or_insert_with(|| {
            let value = values.get(value.0).expect("games have values of their block");
            read(value.trim_ascii()).unwrap_or(UNKNOWN)
        })
    })
}

fn years(block: &Block) -> impl Iterator<Item = Code> {
    let dates = tag(block, "Date", year).zip(tag(block, "UTCDate", year));
    dates.map(|(date, utc)| if date == UNKNOWN { utc } else { date })
}

fn year(date: &[u8]) -> Option<Code> {
    Date::parse(&decode(date)).map(|date| date.year.into())
}

fn ratings(block: &Block, which: Rating, step: Code) -> impl Iterator<Item = Code> {
    let side = |name| tag(block, name, |value| rating(value).map(Code::from));
    let pairs = side("WhiteElo").zip(side("BlackElo"));
    let known = |rating: Code| (rating != UNKNOWN).then_some(rating);
    let below = move |sum: Code, count: Code| sum.div_euclid(count * step) * step;
    pairs.map(move |(white, black)| {
        let code = match (which, known(white), known(black)) {
            (Rating::Higher, white, black) => white.max(black).map(|elo| below(elo, 1)),
            (Rating::Mean, Some(white), Some(black)) => Some(below(white + black, 2)),
            (Rating::Mean, Some(one), None) | (Rating::Mean, None, Some(one)) => Some(below(one, 1)),
            (Rating::White, Some(white), _) => Some(below(white, 1)),
            (Rating::Black, _, Some(black)) => Some(below(black, 1)),
            (Rating::Difference, Some(white), Some(black)) => Some(below(white - black, 1)),
            _ => None,
        };
        code.unwrap_or(UNKNOWN)
    })
}

/// The code of an opening: a letter from A to E and two digits. What follows, as in `B90n` or
/// `B90/05`, is passed over.
fn eco(value: &[u8], length: usize) -> Option<String> {
    let letter = value.first()?.to_ascii_uppercase();
    let digits = value.get(1..3)?;
    let is_code = (b'A'..=b'E').contains(&letter) && digits.iter().all(u8::is_ascii_digit);
    let code = [letter, digits[0], digits[1]];
    is_code.then(|| code[..length].iter().map(|&byte| char::from(byte)).collect())
}

/// What a tag says, unless it says that it is not known.
fn text(value: &[u8]) -> Option<String> {
    (!matches!(value, b"" | b"?")).then(|| decode(value).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn years_are_read_from_odd_dates() {
        for (date, found) in [
            ("1997.05.11", Some(1997)),
            ("1997.??.??", Some(1997)),
            ("1997", Some(1997)),
            ("2020-01-31", Some(2020)),
            ("????.??.??", None),
            ("0000.00.00", None),
            ("199?.??.??", None),
            ("19970511", None),
            ("11.05.1997", None),
            ("997", None),
            ("", None),
        ] {
            assert_eq!(year(date.as_bytes()), found, "{date}");
        }
    }

    #[test]
    fn openings_have_a_letter_and_two_digits() {
        for (value, length, found) in [
            ("B90", 3, Some("B90")),
            ("b90n", 3, Some("B90")),
            ("B90/05", 2, Some("B9")),
            ("E00", 1, Some("E")),
            ("F00", 3, None),
            ("B9", 1, None),
            ("?", 3, None),
            ("B9ö", 3, None),
            ("", 1, None),
        ] {
            assert_eq!(eco(value.as_bytes(), length).as_deref(), found, "{value}");
        }
    }

    #[test]
    fn steps_go_down() {
        for (number, step, found) in [(0, 10, 0), (9, 10, 0), (10, 10, 10), (-1, 10, -10), (7, 1, 7)] {
            assert_eq!(steps(number, step), found);
        }
    }
}
