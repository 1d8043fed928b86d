//! Collects the moves played in a position.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::asked::ExplorerRequest;
use crate::found::{BlockResult, Found};
use crate::run::{Collector, Part, PartError};
use crate::stats::{MoveTally, sides_of};
use orbit_core::board::{Color, PackedMove, legal};
use orbit_core::game::{lichess_id, tags};
use orbit_database::MemoryBudget;
use orbit_engine::{Outcome, Wants};
use orbit_reel::GameRow;
use orbit_reel::replay::position_at;
use orbit_visits::{TabledFacts, offer};

/// A collector for the games that reach a position.
#[derive(Clone, Debug)]
pub struct Explorer {
    asked: ExplorerRequest,
}

/// The moves played in a position in some blocks (groups of games).
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ExplorerPart {
    /// The games, grouped by the move played in the position. The key is `None` for games that end there.
    pub(super) moves: BTreeMap<Option<u16>, ExploredMove>,
    /// The number of games that reach the position by moves other than those in the request.
    pub(super) other_way: u64,
    /// The listed games with their ranks, highest rank first: in `top` by rating, and in `recent` by date.
    pub(super) top: Vec<(u64, ExploredGame)>,
    pub(super) recent: Vec<(u64, ExploredGame)>,
    pub(super) top_max: usize,
    pub(super) recent_max: usize,
}

/// The games in which a particular move was played.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ExploredMove {
    /// The number of games, including games without a result.
    pub games: u64,
    /// The results of these games and the ratings of their players, from the perspective of the side to move in the position.
    pub tally: MoveTally,
    /// The only game with a result, if there is exactly one.
    pub(super) only: Option<ExploredGame>,
}

/// A game as shown in lists.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct ExploredGame {
    /// The lichess ID of the game if it was played on lichess, otherwise its number in the database.
    pub id: String,
    pub number: u32,
    /// The names of White and Black.
    pub players: [String; 2],
    pub ratings: [Option<u32>; 2],
    pub result: String,
    pub speed: Option<String>,
    /// `rated` or `casual`, determined from the event name that lichess uses.
    pub mode: Option<String>,
    pub year: Option<u16>,
    pub month: Option<u8>,
    /// The move played in the position.
    pub(super) mv: Option<u16>,
}

impl ExploredMove {
    /// Returns the number of games that have a result.
    pub(super) fn results(&self) -> u64 {
        let results = self.tally.results;
        results.wins + results.draws + results.losses
    }

    /// Adds the counts for another move.
    pub(super) fn add(&mut self, other: &ExploredMove) {
        self.games += other.games;
        self.tally.add(other.tally.clone());
    }
}

impl Explorer {
    /// Creates a collector for a request.
    pub fn new(asked: ExplorerRequest) -> Explorer {
        Explorer { asked }
    }

    /// Returns an empty part, which is the result if there are no games.
    pub fn none(&self) -> ExplorerPart {
        let ExplorerRequest { top_max, recent_max, .. } = self.asked;
        ExplorerPart { top_max, recent_max, ..ExplorerPart::default() }
    }

    /// Returns the request.
    pub fn asked(&self) -> &ExplorerRequest {
        &self.asked
    }

    fn takes_players(&self, game: &GameRow) -> bool {
        let fits = |(name, color): &(_, Option<Color>)| {
            let name: &orbit_core::game::PlayerName = name;
            let has = |side| tags::player(game, side).is_some_and(|player| name.fits(&player));
            Color::ALL.into_iter().any(|side| color.is_none_or(|color| color == side) && has(side))
        };
        self.asked.player.as_ref().is_none_or(fits)
    }

    /// Returns the last node (index of a position in its game) at which the requested position occurs and is followed by a move. If
    /// no occurrence is followed by a move, returns the last occurrence.
    fn last_visit(&self, found: &Found, game: &GameRow) -> Option<u32> {
        let same = |slot: &usize| legal::as_counted(&position_at(found.block, *slot)) == self.asked.position;
        let nodes =
            found.answers.hits.slots(game.slots()).filter(same).map(|slot| (slot - game.first_slot()) as u32);
        let nodes: Vec<u32> = nodes.collect();
        let moved = nodes.iter().rev().find(|&&node| game.move_from(node).is_some());
        moved.or(nodes.last()).copied()
    }
}

impl Collector for Explorer {
    type Part = ExplorerPart;

    fn wants(&self) -> Wants {
        Wants::HITS | Wants::TAGS
    }

    fn look(&self, result: &BlockResult, _: &MemoryBudget) -> ExplorerPart {
        let found = result.first();
        let mut part = self.none();
        for game in found.games_with_hits().filter(|game| found.counts(game)) {
            let Some(node) = self.last_visit(&found, &game) else { continue };
            let facts = TabledFacts::from_game(&game);
            if self.asked.takes(&facts) && self.takes_players(&game) {
                part.other_way += u64::from(self.asked.is_other_way(&game));
                let (mv, turn) = (game.move_from(node), self.asked.position.state.turn());
                part.add((&facts, game.number()), mv, turn, |mv| ExploredGame::new(&game, game.number(), mv));
            }
        }
        part
    }
}

impl ExplorerPart {
    /// Adds a game. `facts` and `number` describe it, and `shown` creates its entry for the lists.
    pub(super) fn add(
        &mut self,
        (facts, number): (&TabledFacts, u32),
        mv: Option<PackedMove>,
        turn: Color,
        shown: impl Fn(Option<u16>) -> ExploredGame,
    ) {
        let code = mv.map(|mv| mv.0);
        let shown = || shown(code);
        let sum = self.moves.entry(code).or_default();
        sum.games += 1;
        sum.tally.add_facts(facts, sides_of(turn));
        if facts.outcome == Outcome::Unknown {
            return;
        }
        sum.only = (sum.results() == 1).then(shown);
        if let Some(rank) = facts.rank_by_rating(number) {
            offer(&mut self.top, self.top_max, rank, shown);
        }
        if let Some(rank) = facts.rank_by_date(number) {
            offer(&mut self.recent, self.recent_max, rank, shown);
        }
    }
}

impl ExplorerPart {
    /// Adds the games of the next part.
    pub(crate) fn add_all(&mut self, next: ExplorerPart) {
        self.top_max = self.top_max.max(next.top_max);
        self.recent_max = self.recent_max.max(next.recent_max);
        self.other_way += next.other_way;
        for (mv, more) in next.moves {
            let sum = self.moves.entry(mv).or_default();
            sum.games += more.games;
            let had = sum.only.take();
            sum.only = if sum.results() + more.results() == 1 { had.or(more.only) } else { None };
            sum.tally.add(more.tally);
        }
        next.top.into_iter().for_each(|(rank, game)| offer(&mut self.top, self.top_max, rank, || game));
        next.recent
            .into_iter()
            .for_each(|(rank, game)| offer(&mut self.recent, self.recent_max, rank, || game));
    }
}

impl Part for ExplorerPart {
    fn merge(&mut self, next: ExplorerPart) -> Result<(), PartError> {
        self.add_all(next);
        Ok(())
    }
}

impl ExploredGame {
    /// Creates an entry that contains only the move and the index of the game in its reel (a database file of orbit). The other
    /// fields are read later.
    pub(super) fn at_place(place: u32, mv: Option<u16>) -> ExploredGame {
        ExploredGame { number: place, mv, ..ExploredGame::default() }
    }

    /// Creates the entry for a game. `number` is the number of the game in the database.
    pub(super) fn new(game: &GameRow, number: u32, mv: Option<u16>) -> ExploredGame {
        let TabledFacts { date, ratings, outcome, speed, is_rated } = TabledFacts::from_game(game);
        ExploredGame {
            id: lichess_id(game).unwrap_or_else(|| number.to_string()),
            number,
            players: Color::ALL
                .map(|side| tags::player(game, side).map_or_else(|| "?".into(), |name| name.into_owned())),
            ratings,
            result: outcome.text().to_owned(),
            speed: speed.map(|speed| speed.name().to_owned()),
            mode: is_rated.map(|is_rated| if is_rated { "rated" } else { "casual" }.to_owned()),
            year: date.map(|date| date.year),
            month: date.and_then(|date| date.month),
            mv,
        }
    }
}
