//! Selects games and their hits, and decides which games come first.
//!
//! A [`Choice`] is applied to the hits in a block (a group of whole games). An [`Order`] ranks games, and [`TopGames`] keeps the
//! games with the best ranks. Blocks can be processed on any thread. Invariant: the selection depends only on the games and their
//! hits, never on threads, blocks or files.

mod comparison;
mod condition;
pub(crate) mod exact;
mod order;
mod player;

pub(crate) use comparison::{Compare, compare_dates};
pub use comparison::{Comparison, ConditionError, WholeText};
pub use condition::Condition;
pub use exact::{ExactPosition, WrittenPosition, missing_rights};
pub use order::{Order, SortKey, TopGames, chance};
pub use player::{NoRatings, Player, Ratings, Side};

pub use orbit_core::game::Measure;

use orbit_core::board::Color;
use orbit_engine::{Answers, Hits, Wants};
use orbit_reel::replay::position_at;
use orbit_reel::{Block, GameMeasures, GameRow};

/// The rules that select games and the hits in them.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// The conditions on games and on the positions of hits. All of them must be met.
    pub conditions: Vec<Condition>,
    /// The player whose games are selected, or `None` to select the games of all players. Queries are evaluated from the player's
    /// side.
    pub player: Option<Player>,
    /// The position to which hits are restricted, or `None` to select hits in all positions.
    pub position: Option<ExactPosition>,
    /// True if only the first hit of each game is selected.
    pub first: bool,
    /// True if only the hit with the greatest value in each game is selected. Ties go to the first hit. The value of a set is its
    /// number of squares.
    pub best: bool,
}

impl Choice {
    /// Returns a description of the selection for a report. It is empty if all games and hits are selected.
    pub fn in_words(&self) -> String {
        let conditions: Vec<String> = self.of_games().map(Condition::to_string).collect();
        let conditions = joined(&conditions);
        let positions = match self.positions_in_words() {
            words if words.is_empty() => words,
            words => format!(" at positions with {words}"),
        };
        let of = self.player.as_ref();
        let of = of.map_or(String::new(), |player| format!(" of {player}, seen from that side,"));
        let games = match conditions.is_empty() {
            true => format!("games{}", of.trim_end_matches(',')),
            false => format!("games{of} with {conditions}"),
        };
        let is_any_game = conditions.is_empty() && of.is_empty();
        match (is_any_game, self.first, self.best) {
            (true, false, false) if positions.is_empty() => String::new(),
            (_, false, false) if positions.is_empty() => games,
            (true, false, false) => format!("hits{positions}"),
            (_, false, false) => format!("hits{positions} of {games}"),
            (_, true, _) => format!("the first hit{positions} of {games}"),
            (_, false, true) => format!("the best hit{positions} of {games}"),
        }
    }

    /// Returns a description of the conditions on positions. It is empty if there are none.
    pub fn positions_in_words(&self) -> String {
        let conditions: Vec<String> = self.of_positions().map(Condition::to_string).collect();
        joined(&conditions)
    }

    /// Iterates over the conditions on games.
    pub fn of_games(&self) -> impl Iterator<Item = &Condition> {
        self.conditions.iter().filter(|condition| !condition.is_of_positions())
    }

    /// Iterates over the conditions on positions.
    pub fn of_positions(&self) -> impl Iterator<Item = &Condition> {
        self.conditions.iter().filter(|condition| condition.is_of_positions())
    }

    /// Returns whether the selection needs game comments.
    pub fn reads_comments(&self) -> bool {
        self.wants().contains(Wants::COMMENTS)
    }

    /// Returns the facts about games that the selection needs.
    pub fn wants(&self) -> Wants {
        let (player, values) = (Wants::TAGS.when(self.player.is_some()), Wants::VALUES.when(self.best));
        player | values | self.conditions.iter().map(Condition::wants).collect::<Wants>()
    }

    /// For each game in a block, returns true if it is selected. Returns `None` if all games are selected.
    pub fn games(&self, block: &Block) -> Option<Vec<bool>> {
        match self.sides(block) {
            Some(sides) => Some(sides.iter().map(Option::is_some).collect()),
            None => {
                let has_any = self.of_games().next().is_some();
                has_any.then(|| block.games().map(|game| self.fits(&game)).collect())
            }
        }
    }

    /// For each game in a block, returns the player's side, or `None` if the game is not selected. Returns `None` for the whole
    /// block if no player is set.
    pub fn sides(&self, block: &Block) -> Option<Vec<Option<Color>>> {
        let mut sides = self.player.as_ref()?.sides(block);
        sides
            .iter_mut()
            .zip(block.games())
            .for_each(|(side, game)| *side = side.filter(|_| self.fits(&game)));
        Some(sides)
    }

    fn fits(&self, game: &GameRow) -> bool {
        self.conditions.iter().all(|condition| condition.holds(game))
    }

    /// Returns true if every hit in a selected game is selected.
    pub fn keeps_all_hits(&self) -> bool {
        !self.first && !self.best && self.position.is_none() && self.of_positions().next().is_none()
    }

    /// Removes the hits that are not selected. `games` is the result of [`Choice::games`] for this block.
    pub fn apply(&self, block: &Block, games: Option<&[bool]>, hits: &mut Hits) {
        let has_positions = self.of_positions().next().is_some();
        if games.is_none() && !self.first && !has_positions && self.position.is_none() {
            return;
        }
        for game in block.games() {
            let (first, end) = (game.first_slot(), game.end_slot());
            if games.is_some_and(|games| !games[game.index()]) {
                hits.clear(first..end);
                continue;
            }
            if let Some(wanted) = &self.position {
                let others = hits.slots(first..end).filter(|&slot| !wanted.is(&position_at(block, slot)));
                others.collect::<Vec<_>>().into_iter().for_each(|slot| hits.clear(slot..slot + 1));
            }
            if has_positions {
                self.apply_to_positions(&game, hits);
            }
            if self.first {
                let hit = hits.slots(first..end).next();
                hit.iter().for_each(|hit| hits.clear(hit + 1..end));
            }
        }
    }

    /// Removes the hits of a game that fail the conditions on positions.
    fn apply_to_positions(&self, game: &GameRow, hits: &mut Hits) {
        let (first, end) = (game.first_slot(), game.end_slot());
        let slots: Vec<usize> = hits.slots(first..end).collect();
        if slots.is_empty() {
            return;
        }
        let measures = GameMeasures::from_game(game);
        for slot in slots {
            let found = measures.at((slot - first) as u32);
            if !self.of_positions().all(|condition| condition.holds_at(game, &found)) {
                hits.clear(slot..slot + 1);
            }
        }
    }

    /// Applies the selection to the answers of a query about whole games. A game counts as found only if it is selected and, if
    /// there are conditions on positions, has a selected hit. `games` is the result of [`Choice::games`] for this block.
    pub fn keep_found(&self, block: &Block, games: Option<&[bool]>, answers: &mut Answers) {
        let needs_hit = self.of_positions().next().is_some();
        if games.is_none() && !needs_hit {
            return;
        }
        let is_selected = |game: usize| games.is_none_or(|games| games[game]);
        let Answers { hits, games: told, commentary, .. } = answers;
        if let Some(commentary) = commentary {
            commentary.games.retain(|game| is_selected(game.index as usize));
        }
        for (game, told) in block.games().zip(told.iter_mut().flatten()) {
            told.is_found &= is_selected(game.index()) && (!needs_hit || hits.any_in(game.slots()));
        }
    }

    /// Returns the facts that an engine must report if the caller needs the facts in `wanted`. If [`Choice::best`] is true, these
    /// include all transformed copies of the query that match at a hit, because [`Choice::keep_best`] needs them.
    pub fn outputs(&self, wanted: Wants) -> Wants {
        match wanted.detail() {
            Some(_) if self.best => wanted | Wants::ALL_COPIES,
            _ => wanted,
        }
    }

    /// Removes all but the best hit of each game, if [`Choice::best`] is true and hits have values. The engine must have reported
    /// the facts that [`Choice::outputs`] returns.
    pub fn keep_best(&self, block: &Block, answers: &mut Answers) {
        if !self.best {
            return;
        }
        let mut kept = answers.hits.clone();
        for game in block.games() {
            let (first, end) = (game.first_slot(), game.end_slot());
            if let Some(best) = order::best(&answers.hits, first..end) {
                kept.clear(first..best);
                kept.clear(best + 1..end);
            }
        }
        answers.copies = answers.copies.as_ref().map(|copies| copies.only(&answers.hits, &kept));
        answers.hits = kept;
    }
}

/// Joins conditions with `and`. Conditions that contain `or` are parenthesized.
fn joined(conditions: &[String]) -> String {
    let one = |text: &String| match conditions.len() > 1 && text.contains(" or ") {
        true => format!("({text})"),
        false => text.clone(),
    };
    conditions.iter().map(one).collect::<Vec<_>>().join(" and ")
}
