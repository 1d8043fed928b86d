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

/// Computes the columns of a block.
pub fn game_columns(columns: &[Column], block: &Block) -> Vec<GameColumn> {
    columns.iter().map(|column| game_column(column, block)).collect()
}

fn game_column(column: &Column, block: &Block) -> GameColumn {
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
        TextTest::Compare(cmp, a, b) => both(a, b, game, |a, b| compare(*cmp, a, b)),
        TextTest::In(a, b) => both(a, b, game, |a, b| memchr::memmem::find(b, a).is_some()),
    }
}

fn compare(cmp: Cmp, a: &[u8], b: &[u8]) -> bool {
    cmp.holds(a.cmp(b))
}

fn both(a: &Text, b: &Text, game: &dyn GameFacts, test: impl Fn(&[u8], &[u8]) -> bool) -> bool {
    match (bytes(a, game), bytes(b, game)) {
        (Some(a), Some(b)) => test(&a, &b),
        _ => false,
    }
}

fn bytes(text: &Text, game: &dyn GameFacts) -> Option<Vec<u8>> {
    match text {
        Text::Literal(text) => Some(text.clone().into_bytes()),
        Text::Tag(name) => game.tag(name).map(<[u8]>::to_vec),
        Text::Player(Some(Color::White)) => game.tag("White").map(<[u8]>::to_vec),
        Text::Player(Some(Color::Black)) => game.tag("Black").map(<[u8]>::to_vec),
        Text::Player(None) => {
            let (white, black) = (game.tag("White"), game.tag("Black"));
            if white.is_none() && black.is_none() {
                return None;
            }
            let lines = [white.unwrap_or_default(), black.unwrap_or_default()];
            Some(lines.join(&b'\n'))
        }
    }
}
