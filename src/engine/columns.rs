//! Tags to per-game columns: everything in a plan that is constant in a game, computed once a game.

use shakmaty::Color;

use super::{GameFacts, Outcome};
use crate::{
    plan::{Cmp, Column, GameResult, TRUE, Text, TextTest},
    reel::Block,
};

/// One column of a block.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GameColumn {
    /// For each game, all ones if the condition holds or the number is known.
    pub mask: Vec<u64>,
    /// For each game, the number, 0 where it is not known; empty for conditions.
    pub number: Vec<u64>,
}

/// Computes a column of a block.
pub fn game_column(column: &Column, block: &Block) -> GameColumn {
    let mut out = GameColumn::default();
    for game in block.games() {
        match column {
            Column::Result(result) => out.mask.push(mask(ended(game.outcome(), *result))),
            Column::Text(test) => out.mask.push(mask(holds(test, &game))),
            Column::Elo(_) | Column::Year | Column::GameNumber => {
                let number = number(column, &game);
                out.mask.push(mask(number.is_some()));
                out.number.push(i64::from(number.unwrap_or(0)) as u64);
            }
        }
    }
    out
}

fn mask(value: bool) -> u64 {
    if value { TRUE } else { 0 }
}

fn ended(outcome: Outcome, result: GameResult) -> bool {
    matches!(
        (outcome, result),
        (Outcome::WhiteWins, GameResult::WhiteWins)
            | (Outcome::BlackWins, GameResult::BlackWins)
            | (Outcome::Draw, GameResult::Draw)
    )
}

fn number(column: &Column, game: &dyn GameFacts) -> Option<i32> {
    match column {
        Column::GameNumber => i32::try_from(game.number()).ok(),
        Column::Year => {
            let year = game.tag("Date")?.get(..4)?;
            year.iter().all(u8::is_ascii_digit).then(|| digits(year)).flatten()
        }
        Column::Elo(Some(Color::White)) => digits(game.tag("WhiteElo")?),
        Column::Elo(Some(Color::Black)) => digits(game.tag("BlackElo")?),
        Column::Elo(None) => {
            let side = |name| game.tag(name).and_then(digits);
            side("WhiteElo").max(side("BlackElo"))
        }
        Column::Result(_) | Column::Text(_) => None,
    }
}

/// The number that a text begins with, if it is at least 1.
fn digits(text: &[u8]) -> Option<i32> {
    let len = text.iter().take_while(|b| b.is_ascii_digit()).count();
    str::from_utf8(&text[..len]).ok()?.parse().ok().filter(|&number| number >= 1)
}

fn holds(test: &TextTest, game: &dyn GameFacts) -> bool {
    match test {
        TextTest::HasValue(text) => bytes(text, game).is_some(),
        TextTest::Compare(cmp, a, b) => match both(a, b, game) {
            Some((a, b)) => cmp.holds(a.cmp(&b)),
            None => *cmp == Cmp::Ne,
        },
        TextTest::In(a, b) => both(a, b, game).is_some_and(|(a, b)| memchr::memmem::find(&b, &a).is_some()),
    }
}

/// Two strings, if both have a value; a literal beside a name is spelt as names are.
fn both(a: &Text, b: &Text, game: &dyn GameFacts) -> Option<(Vec<u8>, Vec<u8>)> {
    let names = is_name(a) || is_name(b);
    let value = |text: &Text| match text {
        Text::Literal(text) if names => Some(spelt(text.as_bytes())),
        text => bytes(text, game),
    };
    Some((value(a)?, value(b)?))
}

fn is_name(text: &Text) -> bool {
    match text {
        Text::Literal(_) => false,
        Text::Tag(name) => name == "White" || name == "Black",
        Text::Player(_) => true,
    }
}

fn bytes(text: &Text, game: &dyn GameFacts) -> Option<Vec<u8>> {
    match text {
        Text::Literal(text) => Some(text.clone().into_bytes()),
        Text::Tag(name) => tag(name, game),
        Text::Player(Some(Color::White)) => tag("White", game),
        Text::Player(Some(Color::Black)) => tag("Black", game),
        Text::Player(None) => Some([tag("White", game)?, tag("Black", game)?].join(&b'\n')),
    }
}

/// A tag as the language reads it.
fn tag(name: &str, game: &dyn GameFacts) -> Option<Vec<u8>> {
    let value = game.tag(name);
    Some(match name {
        "White" | "Black" => spelt(value.unwrap_or(b"?")),
        "Event" | "Site" => value.unwrap_or(b"?").to_vec(),
        "Date" | "EventDate" => filled(value.unwrap_or_default()),
        _ => value?.to_vec(),
    })
}

/// A name with one blank behind each comma, and no blanks twice or at the end.
fn spelt(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len() + 4);
    let mut after_blank = false;
    for &byte in name {
        if matches!(byte, b' ' | b'\t') {
            after_blank = true;
            continue;
        }
        if after_blank || out.last() == Some(&b',') {
            out.push(b' ');
        }
        after_blank = false;
        out.push(byte);
    }
    out
}

/// A date with `?` for all that is missing: `2015` is `2015.??.??`, `2015.5.3` is `2015.05.03`. What is no date
/// stays as it is.
fn filled(date: &[u8]) -> Vec<u8> {
    let part = |text: &[u8], digits: usize| match text {
        text if text.len() <= digits && text.iter().all(|&b| b == b'?') => Some(vec![b'?'; digits]),
        text if text.len() == digits && text.iter().all(u8::is_ascii_digit) => Some(text.to_vec()),
        [digit] if digits == 2 && digit.is_ascii_digit() => Some(vec![b'0', *digit]),
        _ => None,
    };
    let mut parts = date.split(|&b| b == b'.');
    match [4, 2, 2].map(|digits| part(parts.next().unwrap_or_default(), digits)) {
        [Some(year), Some(month), Some(day)] if parts.next().is_none() => [year, month, day].join(&b'.'),
        _ => date.to_vec(),
    }
}
