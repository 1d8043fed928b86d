//! Groups hits by adjacent moves: the moves after a hit, or the move that led to it.
//!
//! Moves are transformed back by [`Found::frame`], or shown as they were played. If the hit has a span (the moves that matched),
//! the groups are based on the moves after the last move of the span, or the move before its first move.

use std::cell::RefCell;
use std::cmp::Reverse;

use serde::{Deserialize, Serialize};
use shakmaty::ByColor;

use super::codes::{GroupCode, NameCodes};
use super::{GroupKey, SideResults};
use crate::found::Found;
use crate::report::Frame;
use orbit_core::board::Color;
use orbit_core::game::rating::RATING_MAX;
use orbit_core::game::{Date, Rating, tags};
use orbit_engine::{MatchSpan, Outcome};
use orbit_reel::GameRow;
use orbit_reel::replay::position_at;
use orbit_visits::{GameSum, TabledFacts};

/// The names of the groups for hits with no following move, and for hits with no preceding move.
const END: &str = "(end)";
const START: &str = "(start)";

/// The moves adjacent to a hit by which hits are grouped.
#[derive(Clone, Copy)]
pub(super) enum AdjacentMoves {
    /// The moves after the hit. There is a group for the first move, for the first two moves, and so on, up to this number.
    Next(u8),
    /// The move before the hit.
    Previous,
}

/// The groups of each hit by adjacent moves.
pub(super) struct PlayedColumn {
    beside: AdjacentMoves,
    is_played: bool,
    names: RefCell<NameCodes>,
}

impl PlayedColumn {
    pub(super) fn new(beside: AdjacentMoves, is_played: bool) -> PlayedColumn {
        PlayedColumn { beside, is_played, names: RefCell::default() }
    }

    pub(super) fn key(&self, code: GroupCode) -> GroupKey {
        self.names.borrow().key(code)
    }

    /// Appends the groups of a hit by the moves after or before it. `slot` is the index of its position in the block, and `hit` is
    /// its index among the hits in the block. Returns the side that plays the first of these moves or, if the line has no such
    /// move, the side that would have played it.
    pub(super) fn codes(
        &self,
        (found, game, span): (&Found, &GameRow, Option<&MatchSpan>),
        (slot, hit): (usize, usize),
        out: &mut Vec<GroupCode>,
    ) -> Color {
        let frame = if self.is_played { Frame::AS_PLAYED } else { found.frame(game, hit) };
        let node = (slot - game.first_slot()) as u32;
        let at = |node: u32| position_at(found.block, game.first_slot() + node as usize);
        let mut names = self.names.borrow_mut();
        match self.beside {
            AdjacentMoves::Next(plies) => {
                let node = last(span, node);
                let mut position = at(node);
                let mover = position.state.turn();
                let mut path = String::new();
                for mv in (node..).map_while(|node| game.move_from(node)).take(plies.into()) {
                    if !path.is_empty() {
                        path.push(' ');
                    }
                    path.push_str(&frame.san(mv, &position));
                    out.push(names.code(path.clone()));
                    position.play(mv);
                }
                if out.is_empty() {
                    out.push(names.code(END.to_owned()));
                }
                mover
            }
            AdjacentMoves::Previous => {
                let node = first(span, node, game);
                let Some((before, mv)) = game.parent_of(node).zip(game.move_to(node)) else {
                    out.push(names.code(START.to_owned()));
                    return !at(node).state.turn();
                };
                let position = at(before);
                out.push(names.code(frame.san(mv, &position)));
                position.state.turn()
            }
        }
    }
}

/// Returns the node at which a hit ends: the position after the last move of its span, or the hit itself.
fn last(span: Option<&MatchSpan>, node: u32) -> u32 {
    span.and_then(|span| span.moves.last().copied()).unwrap_or(node)
}

/// Returns the node at which a hit begins: the position before the first move of its span, or the hit itself.
fn first(span: Option<&MatchSpan>, node: u32, game: &GameRow) -> u32 {
    let first = span.and_then(|span| span.moves.first().copied());
    first.and_then(|first| game.parent_of(first)).unwrap_or(node)
}

/// Additional sums over the games in a group of moves. A game in which both sides play the moves is counted for each side.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct MoveTally {
    /// The results of the games for the side that plays the moves.
    pub results: SideResults,
    /// The number of known ratings of sides that play the moves, and the sum of these ratings.
    pub rated: [u64; 2],
    /// Three numbers about sides that play the moves, in games with a result and a rated opponent: the number of such sides, their
    /// points (2 for a win, 1 for a draw), and the sum of the opponents' ratings.
    pub opposed: [u64; 3],
    /// The first and the last year of the games.
    pub years: Option<[u16; 2]>,
    /// The game of the highest-rated players.
    pub best: Option<BestGame>,
}

/// The game in a group whose players have the highest mean rating. If no game has both ratings, it is the game with the highest
/// single rating.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BestGame {
    /// The mean of both ratings, or the only known rating.
    pub rating: u32,
    /// True if both ratings are known. Such games are preferred over games with one known rating.
    pub are_both_rated: bool,
    /// The name of the source.
    pub source: String,
    /// The number of the game within its source, from 1.
    pub number: u32,
    /// The names of White and Black, as far as they are known.
    pub players: [Option<String>; 2],
    /// The year, if it is known.
    pub year: Option<u16>,
}

/// Facts about one game, read from its tags.
pub(super) struct StoredFacts<'a> {
    game: GameRow<'a>,
    source: &'a str,
    ratings: ByColor<Option<u64>>,
    mean: Option<u32>,
    year: Option<u16>,
}

impl<'a> StoredFacts<'a> {
    pub(super) fn new(found: &Found<'a>, game: &GameRow<'a>) -> StoredFacts<'a> {
        let rating = |rating: Rating| rating.of_game(game).and_then(|rating| u64::try_from(rating).ok());
        StoredFacts {
            game: *game,
            source: found.names.source(game),
            ratings: ByColor { white: rating(Rating::White), black: rating(Rating::Black) },
            mean: rating(Rating::Mean).map(|rating| rating as u32),
            year: Date::from_game(game).map(|date| date.year),
        }
    }

    fn best(&self, (are_both_rated, rating): (bool, u32)) -> BestGame {
        let player = |side| tags::player(&self.game, side).map(|name| name.into_owned());
        BestGame {
            rating,
            are_both_rated,
            source: self.source.to_owned(),
            number: self.game.number_in_source(),
            players: Color::ALL.map(player),
            year: self.year,
        }
    }
}

impl BestGame {
    /// Returns whether this game is preferred over another one. Games with two known ratings come first, then games with higher
    /// ratings. Ties are broken by source and number.
    fn is_before(&self, other: &BestGame) -> bool {
        self.place() < other.place()
    }

    fn place(&self) -> (Reverse<(bool, u32)>, &str, u32) {
        (Reverse(self.rank()), &self.source, self.number)
    }

    fn rank(&self) -> (bool, u32) {
        (self.are_both_rated, self.rating)
    }
}

impl MoveTally {
    /// Adds a game. `sides` are the sides that play the moves of the group.
    pub(super) fn add_game(&mut self, facts: &StoredFacts, sides: ByColor<bool>) {
        self.add_known(facts.game.outcome(), 1, facts.ratings.map(known), facts.year, sides);
        let is_higher = |rank: &_| self.best.as_ref().is_none_or(|best| *rank >= best.rank());
        let ratings = &facts.ratings;
        let rank = facts.mean.map(|mean| (ratings.white.is_some() && ratings.black.is_some(), mean));
        let best = rank.filter(is_higher).map(|rank| facts.best(rank));
        self.add_best(best);
    }

    /// Adds a game without player names. Such a game never becomes the best game.
    pub(crate) fn add_facts(&mut self, facts: &TabledFacts, sides: ByColor<bool>) {
        let [white, black] = facts.ratings.map(|rating| known(rating.map(u64::from)));
        self.add_known(facts.outcome, 1, ByColor { white, black }, facts.date.map(|date| date.year), sides);
    }

    /// Adds the sums over several games, without player names.
    pub(crate) fn add_sum(&mut self, sum: &GameSum, sides: ByColor<bool>) {
        let [white, black] = sum.ratings;
        let year = sum.facts.date.map(|date| date.year);
        self.add_known(sum.facts.outcome, sum.games, ByColor { white, black }, year, sides);
    }

    /// Adds games with the same result. For each side, `ratings` has the number of known ratings and their sum.
    fn add_known(
        &mut self,
        outcome: Outcome,
        games: u64,
        ratings: ByColor<[u64; 2]>,
        year: Option<u16>,
        sides: ByColor<bool>,
    ) {
        let SideResults { wins, draws, losses } = SideResults::from_outcome(outcome, sides);
        self.results.add(&SideResults { wins: games * wins, draws: games * draws, losses: games * losses });
        for side in Color::ALL.into_iter().filter(|&side| *sides.get(side)) {
            let [known, sum] = ratings.get(side);
            self.rated = [self.rated[0] + known, self.rated[1] + sum];
            let [known, sum] = ratings.get(!side);
            if outcome != Outcome::Unknown {
                let SideResults { wins, draws, .. } = SideResults::from_outcome(outcome, sides_of(side));
                let [games, points, ratings] = self.opposed;
                self.opposed = [games + known, points + known * (2 * wins + draws), ratings + sum];
            }
        }
        self.add_years(year.map(|year| [year; 2]));
    }

    /// Returns the tally of one game in which the side `mover` plays a move.
    pub(crate) fn from_game(found: &Found, game: &GameRow, mover: Color) -> MoveTally {
        let mut tally = MoveTally::default();
        tally.add_game(&StoredFacts::new(found, game), sides_of(mover));
        tally
    }

    pub(crate) fn add(&mut self, other: MoveTally) {
        self.results.add(&other.results);
        self.rated.iter_mut().zip(other.rated).for_each(|(sum, more)| *sum += more);
        self.opposed.iter_mut().zip(other.opposed).for_each(|(sum, more)| *sum += more);
        self.add_years(other.years);
        self.add_best(other.best);
    }

    fn add_years(&mut self, years: Option<[u16; 2]>) {
        self.years = match (self.years, years) {
            (Some([first, last]), Some(more)) => Some([first.min(more[0]), last.max(more[1])]),
            (ours, more) => ours.or(more),
        };
    }

    fn add_best(&mut self, other: Option<BestGame>) {
        let Some(other) = other else { return };
        if self.best.as_ref().is_none_or(|best| other.is_before(best)) {
            self.best = Some(other);
        }
    }

    /// Returns whether the tally is consistent with `games` games with hits, of which `results` have a result.
    pub(super) fn is_sound(&self, games: u64, results: u64) -> bool {
        let MoveTally { rated, opposed, .. } = self;
        let most = RATING_MAX.into();
        let is_mean = |count: u64, sum: u64| sum.checked_div(count).map_or(sum == 0, |mean| mean <= most);
        let fits = rated[0] <= 2 * games && opposed[0] <= 2 * results && opposed[1] <= 2 * opposed[0];
        let are_means = is_mean(rated[0], rated[1]) && is_mean(opposed[0], opposed[2]);
        fits && are_means && self.results.is_sound(results)
    }

    /// Returns the mean rating of the sides that play the moves, or `None` if no rating is known.
    pub fn rating(&self) -> Option<u64> {
        let [count, sum] = self.rated;
        (sum + count / 2).checked_div(count)
    }

    /// Returns the mean rating of the opponents of the sides that play the moves, in games with a result. Returns `None` if none of
    /// these ratings is known.
    pub fn opponent_rating(&self) -> Option<u64> {
        let [games, _, ratings] = self.opposed;
        (ratings + games / 2).checked_div(games)
    }

    /// Returns the performance rating by Elo's formula: the rating for which the expected score against opponents with the mean
    /// rating equals the actual score. It differs from this mean by at most 800 points. Returns `None` if there are no games with a
    /// result and a rated opponent.
    pub fn performance(&self) -> Option<i64> {
        let [games, points, ratings] = self.opposed;
        if games == 0 {
            return None;
        }
        let (points, lost) = (points as f64, (2 * games - points) as f64);
        let above = (400.0 * (points / lost).log10()).clamp(-800.0, 800.0);
        Some((ratings as f64 / games as f64 + above).round() as i64)
    }
}

/// Returns the number of known ratings (0 or 1), and the rating or 0.
fn known(rating: Option<u64>) -> [u64; 2] {
    rating.map_or([0; 2], |rating| [1, rating])
}

/// Returns true for `side` and false for the other side.
pub(crate) fn sides_of(side: Color) -> ByColor<bool> {
    ByColor { white: side.is_white(), black: side.is_black() }
}
