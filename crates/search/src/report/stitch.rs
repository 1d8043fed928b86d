//! Joins the reports on blocks (groups of games).

use std::io::{self, Write};
use std::ops::ControlFlow;

use super::{HitTotals, Report};
use orbit_core::visible;

/// Joins the reports of a run in block order. Writes a heading at the start of each source, stops after a given number of games,
/// and counts hits.
#[derive(Debug)]
pub struct Stitcher {
    /// The source names for headings, or `None` to write no headings.
    headings: Option<Vec<String>>,
    /// The source for which the last heading was written.
    source: Option<u32>,
    /// The number of games with hits that must still be skipped.
    skip: u64,
    /// The number of games with hits that may still be listed.
    games_left: u64,
    hit_totals: HitTotals,
}

impl Stitcher {
    /// Creates a stitcher that lists at most `games_max` games with hits. If `headings` contains source names, each source begins
    /// with a heading.
    pub fn new(headings: Option<Vec<String>>, games_max: Option<u64>) -> Stitcher {
        Stitcher {
            headings,
            source: None,
            skip: 0,
            games_left: games_max.unwrap_or(u64::MAX),
            hit_totals: HitTotals::default(),
        }
    }

    /// Skips the first `games` games with hits. These games are not included in [`Stitcher::hit_totals`].
    #[must_use]
    pub fn skipping(mut self, games: u64) -> Stitcher {
        self.skip = games;
        self
    }

    /// Writes the report of the next block. Returns `Break` if no more games are needed.
    ///
    /// # Errors
    ///
    /// Returns the errors of `out`.
    pub fn write(&mut self, report: &Report, out: &mut impl Write) -> io::Result<ControlFlow<()>> {
        let (mut written, mut end) = (0, 0);
        for game in &report.games {
            if self.games_left == 0 {
                break;
            }
            if self.skip > 0 {
                // Up to the last game that must be skipped, the lines about games without hits are skipped as well.
                self.skip -= u64::from(game.is_found);
                out.write_all(&report.text[written..end])?;
                (written, end) = (game.end, game.end);
                continue;
            }
            if let Some(names) = &self.headings
                && self.source != Some(game.source)
                && game.end > end
            {
                out.write_all(&report.text[written..end])?;
                written = end;
                heading(self.source.is_none(), names, game.source, game.first_of_source, out)?;
                self.source = Some(game.source);
            }
            end = game.end;
            if game.is_found {
                self.games_left -= 1;
                self.hit_totals.games += 1;
                self.hit_totals.positions += u64::from(game.hits);
            }
        }
        out.write_all(&report.text[written..end])?;
        Ok(if self.games_left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// Returns the number of games and of positions with hits in all reports so far.
    pub fn hit_totals(&self) -> HitTotals {
        self.hit_totals
    }
}

fn heading(
    is_first: bool,
    names: &[String],
    source: u32,
    first_game: u32,
    out: &mut impl Write,
) -> io::Result<()> {
    let gap = if is_first { "" } else { "\n" };
    let name = visible::line(names.get(source as usize).map_or("", String::as_str));
    writeln!(out, "{gap}{name} (its first game is {first_game})")
}
