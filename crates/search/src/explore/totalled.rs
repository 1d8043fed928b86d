//! Answers explorer requests from a position's totals, which are stored in a table of positions.

use super::collect::{ExploredGame, Explorer, ExplorerPart};
use crate::stats::sides_of;
use orbit_engine::Outcome;
use orbit_visits::{LISTED_GAMES, PositionTotals, RankedGame, RankedGames, offer};

impl Explorer {
    /// Returns the partial answer for the games in `totals`. Games have their indices in the reel instead of numbers. Returns
    /// `None` if the totals are not sufficient, because a date in the request includes a day, the request reaches the position by
    /// other moves than those stored in the totals, or too few games are stored for a list.
    pub(super) fn of_totals(&self, totals: &PositionTotals) -> Option<ExplorerPart> {
        let (mut part, asked) = (self.none(), self.asked());
        if !asked.is_by_months() || asked.way.as_ref().is_some_and(|way| *way != totals.way) {
            return None;
        }
        let sides = sides_of(asked.position.state.turn());
        for games in totals.sums.iter().filter(|games| asked.takes(&games.facts)) {
            if asked.way.is_some() && !games.is_by_way {
                part.other_way += games.games;
            }
            let code = games.mv.map(|mv| mv.0);
            let sum = part.moves.entry(code).or_default();
            sum.games += games.games;
            sum.tally.add_sum(games, sides);
            if games.facts.outcome != Outcome::Unknown {
                sum.only = (sum.results() == 1).then(|| ExploredGame::at_place(games.place, code));
            }
        }
        part.top = self.listed(totals, part.top_max, |list| &list.top)?;
        part.recent = self.listed(totals, part.recent_max, |list| &list.recent)?;
        Some(part)
    }

    /// Returns the first `max` games of a list, or `None` if some of them may be missing from the totals.
    fn listed(
        &self,
        totals: &PositionTotals,
        max: usize,
        of_kind: impl Fn(&RankedGames) -> &[(u64, RankedGame)],
    ) -> Option<Vec<(u64, ExploredGame)>> {
        let (mut list, mut least) = (Vec::new(), 0);
        for listed in totals.lists.iter().filter(|listed| self.asked().takes_kind(&listed.facts)) {
            let games = of_kind(listed);
            if let Some((rank, _)) = games.get(LISTED_GAMES - 1) {
                // The list is full, so it may lack games of this rating group, speed and mode. The missing games rank below the
                // last game in the list.
                least = least.max(*rank);
            }
            for (rank, game) in games.iter().filter(|(_, game)| self.asked().takes(&game.facts)) {
                let code = game.mv.map(|mv| mv.0);
                offer(&mut list, max, *rank, || ExploredGame::at_place(game.place, code));
            }
        }
        let is_whole = list.len() == max && list.last().is_none_or(|(rank, _)| *rank >= least);
        (is_whole || least == 0).then_some(list)
    }
}
