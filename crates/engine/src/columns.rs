//! Computes the columns of a block that have one value for each game. Each column contains the values of one part of a
//! plan that is constant within a game. This part is either a condition, such as a test of a tag, or a number.

use super::{Outcome, game_texts::text_of_game};
use orbit_core::{
    game::{date, rating},
    text,
};
use orbit_plan::{Cmp, GameResult, TRUE, TagColumn, TextTest};
use orbit_reel::{Block, GameRow};

/// One column of a block, with one entry for each game.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GameColumn {
    /// For each game, all ones if the condition holds or the number is known, otherwise 0.
    pub mask: Vec<u64>,
    /// For each game, the number, or 0 if it is unknown. The list is empty if the column is a condition.
    pub number: Vec<u64>,
}

/// Computes one column for all games of a block. `last_game` is the number of the database's last game, if it is known.
pub fn game_column(column: &TagColumn, block: &Block, last_game: Option<u32>) -> GameColumn {
    let mut out = GameColumn::default();
    for game in block.games() {
        match column {
            TagColumn::Result(result) => out.mask.push(mask(ended(game.outcome(), *result))),
            TagColumn::Text(test) => out.mask.push(mask(holds(test, &game))),
            TagColumn::Swapped => out.mask.push(mask(game.is_swapped())),
            TagColumn::Elo(_) | TagColumn::Year | TagColumn::GameNumber | TagColumn::LastGameNumber => {
                let number = number(column, &game, last_game);
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

fn number(column: &TagColumn, game: &GameRow, last_game: Option<u32>) -> Option<i32> {
    match column {
        TagColumn::GameNumber => i32::try_from(game.number()).ok(),
        TagColumn::LastGameNumber => i32::try_from(last_game?).ok(),
        TagColumn::Year => date::year_as_cql(game),
        TagColumn::Elo(side) => rating::of_game_as_cql(game, *side),
        TagColumn::Result(_) | TagColumn::Text(_) | TagColumn::Swapped => None,
    }
}

fn holds(test: &TextTest, game: &GameRow) -> bool {
    match test {
        TextTest::HasValue(text) => text_of_game(text, game).is_some(),
        TextTest::Compare(cmp, a, b) => match (text_of_game(a, game), text_of_game(b, game)) {
            (Some(a), Some(b)) => cmp.holds(text::compare(&a, &b)),
            _ => *cmp == Cmp::Ne,
        },
        TextTest::In(a, b) => match (text_of_game(a, game), text_of_game(b, game)) {
            (Some(a), Some(b)) => text::occurs_in(&a, &b),
            _ => false,
        },
    }
}
