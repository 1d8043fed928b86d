//! Reports of blocks, one after the other.

use std::io::{self, Write};
use std::ops::ControlFlow;

use super::{HitTotals, Report};
use orbit_core::visible;

/// Joins the reports of a run in the order of its blocks: writes a heading where another source
/// begins, stops after so many games, and counts.
#[derive(Debug)]
pub struct Stitcher {
    /// The names to head games with; `None` for no headings.
    headings: Option<Vec<String>>,
    /// The source of the last heading.
    source: Option<u32>,
    /// Games that hit and are still to be left out.
    skip: u64,
    /// Games that hit and are still to be listed.
    games_left: u64,
    hit_totals: HitTotals,
}

impl Stitcher {
    /// Writes a heading before the first game of each source if `headings` gives the sources'
    /// names, and at most `games_max` games with hits.
    pub fn new(headings: Option<Vec<String>>, games_max: Option<u64>) -> Stitcher {
        Stitcher {
            headings,
            source: None,
            skip: 0,
            games_left: games_max.unwrap_or(u64::MAX),
            hit_totals: HitTotals::default(),
        }
    }

    /// Passes over so many games with hits first. They are not counted.
    #[must_use]
    pub fn skipping(mut self, games: u64) -> Stitcher {
        self.skip = games;
        self
    }

    /// Writes the report of the next block; breaks when no more games are wanted.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn write(&mut self, report: &Report, out: &mut impl Write) -> io::Result<ControlFlow<()>> {
        let (mut written, mut end) = (0, 0);
        for game in &report.games {
            if self.games_left == 0 {
                break;
            }
            if self.skip > 0 {
                // What lies before a game that is passed over is passed over with it.
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

    /// Games and positions so far.
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
