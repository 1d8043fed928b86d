//! Runs one search as the CQL program does: prints lines during the search, and writes games.

use std::ops::ControlFlow;
use std::path::Path;

use orbit_database::{BlockStream, GameTexts, StreamedBlock, Summary};
use orbit_query::TypedQuery;
use orbit_query::tree::Comments;
use orbit_search::choice::{Choice, Order};
use orbit_search::executor::{Executor, ScanError};
use orbit_search::found::Names;
use orbit_search::report::{CommentStyle, Phases, summary_lines};
use orbit_search::run::{
    Collector as _, Collectors, Comment, GamesCollector, ListReach, MessagesCollector, OrderedCollector,
    Parts, Run, TotalsCollector, WrittenGame,
};

use super::options::CqlOptions;
use crate::common::{Out, ProgressDisplay, grouped};
use crate::failure::Failure;
use crate::games::GameOutputs;
use crate::sink::OutputFiles;
use crate::terminal::Remark;

/// A search that behaves like the CQL program, with its collectors and outputs.
pub(super) struct CqlSearch {
    choice: Choice,
    collectors: Collectors,
    names: Names,
    sums: Parts,
    texts: GameTexts,
    games: GameOutputs,
    /// True if games are written to standard output. Messages are then printed to stderr.
    games_to_stdout: bool,
    shows_matches: bool,
    /// The number of the last requested game. Later games are not read.
    last_game: Option<u32>,
    line_increment: Option<u64>,
    lines_printed: u64,
    progress: ProgressDisplay,
    fault: Option<Failure>,
}

impl CqlSearch {
    pub(super) fn new(
        options: &CqlOptions,
        scan: &Executor,
        database: &BlockStream,
        output: &Path,
    ) -> Result<CqlSearch, Failure> {
        let query = &scan.queries()[0].query;
        let comment = Comment::Query(style(options, query));
        let mut games = GameOutputs::new(comment.clone(), 0, None);
        let games_to_stdout = output == Path::new("-");
        games.add(OutputFiles::new(database).open(Some(output))?);
        let mut collectors = Collectors {
            totals: Some(TotalsCollector),
            messages: Some(MessagesCollector),
            ..Collectors::default()
        };
        let is_sorted = !query.sorts.is_empty() || query.header.sort_match_count;
        let comes = if is_sorted { Comment::None } else { comment.clone() };
        collectors.games = Some(GamesCollector::new(comes, ListReach::new(0, None)));
        if is_sorted {
            collectors.ordered =
                Some(OrderedCollector::new(Order::ByQuery, usize::MAX, Vec::new(), Some(comment)));
        }
        let choice = Choice::default();
        let names = Run::new(scan, &choice, &collectors).names(database.source_names());
        Ok(CqlSearch {
            choice,
            collectors,
            names,
            sums: Parts::default(),
            texts: database.texts(),
            games,
            games_to_stdout,
            shows_matches: options.shows_matches,
            last_game: query.header.games.map(|(_, last)| last),
            line_increment: options.line_increment,
            lines_printed: 0,
            progress: ProgressDisplay::new_if(true),
            fault: None,
        })
    }

    pub(super) fn run(&mut self, scan: &Executor, database: BlockStream) -> Result<Summary, ScanError> {
        let collectors = std::mem::take(&mut self.collectors);
        let (choice, names) = (std::mem::take(&mut self.choice), std::mem::take(&mut self.names));
        let run = Run::new(scan, &choice, &collectors);
        let summary = run.for_each_part(database, &names, |taken, parts| {
            if let Err(fault) = self.take(&collectors, &taken, parts) {
                self.fault = Some(fault);
                return ControlFlow::Break(());
            }
            let read = taken.block.games_before.saturating_add(taken.block.games_read());
            match self.last_game {
                Some(last) if last <= read => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        });
        self.progress.clear();
        self.collectors = collectors;
        summary
    }

    fn take(
        &mut self,
        collectors: &Collectors,
        taken: &StreamedBlock,
        mut parts: Parts,
    ) -> Result<(), Failure> {
        let hit = parts.totals.iter().flat_map(|part| &part.queries).map(|part| part.games).sum();
        self.progress.update_search(taken, hit);
        self.print(parts.messages.take().map_or(Vec::new(), |part| part.lines))?;
        let games = parts.games.take().map_or(Vec::new(), |part| part.games);
        collectors.take(&mut self.sums, parts, taken, &mut self.texts)?;
        for game in games {
            if self.shows_matches {
                self.show_match(taken, &game)?;
            }
            // In database order, games are written immediately. In any other order, they are kept until the end.
            if collectors.ordered.is_none() {
                self.games.take(taken, game, &mut self.texts, &self.progress)?;
            }
        }
        self.print_increment();
        Ok(())
    }

    fn print_increment(&mut self) {
        let Some(increment) = self.line_increment else { return };
        let read = self.sums.totals.as_ref().map_or(0, |part| part.totals.games());
        while self.lines_printed < read / increment {
            self.lines_printed += 1;
            message!("{} games", grouped(self.lines_printed * increment));
        }
    }

    fn show_match(&self, taken: &StreamedBlock, game: &WrittenGame) -> Result<(), Failure> {
        let WrittenGame::Unread { index, .. } = game else { return Ok(()) };
        let number = taken.block.game(*index as usize).number();
        self.print(vec![number.to_string().into_bytes()])
    }

    /// Prints lines that the query or an option requests: to standard output, or to stderr if games are written to standard output.
    fn print(&self, lines: Vec<Vec<u8>>) -> Result<(), Failure> {
        if lines.is_empty() {
            return Ok(());
        }
        let lines = lines.iter().map(|line| String::from_utf8_lossy(line));
        if self.games_to_stdout {
            lines.for_each(|line| message!("{line}"));
            return Ok(());
        }
        self.progress.beside_stdout(|| {
            let mut out = Out::new();
            lines.into_iter().try_for_each(|line| out.line(line))?;
            out.finish()
        })
    }

    /// Writes the games that were kept for sorting, renames the output file to its final name, and prints the persistent variables.
    pub(super) fn finish(&mut self, scan: &Executor) -> Result<(), Failure> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        let held = self.sums.ordered.take().unwrap_or_default().list();
        held.iter()
            .filter_map(|game| game.text.as_ref())
            .try_for_each(|game| self.games.write(game.text()))?;
        self.games.finish()?;
        let persistent = scan.engine().info().persistent;
        self.print(persistent.iter().map(|(name, value)| [name.as_bytes(), b": ", value].concat()).collect())
    }

    pub(super) fn print_summary(
        &self,
        scan: &Executor,
        phases: Phases,
        summary: &Summary,
        is_interrupted: bool,
    ) {
        let totals = self.sums.totals.as_ref().map(|part| part.totals.clone()).unwrap_or_default();
        let hits =
            self.sums.totals.as_ref().and_then(|part| part.queries.first().copied()).unwrap_or_default();
        let stop = if is_interrupted { "interrupted after " } else { "" };
        let how = scan.engine_and_threads();
        let lines = summary_lines(&totals, hits, phases, !summary.finished, &how);
        let before = std::iter::once(stop).chain(std::iter::repeat(""));
        before.zip(lines).for_each(|(before, line)| Remark::from(line).behind(before).print());
    }
}

fn style(options: &CqlOptions, query: &TypedQuery) -> CommentStyle {
    let shown = |sort: &orbit_query::tree::Sort| (!sort.quiet).then(|| sort.name.clone());
    CommentStyle {
        comments: query.header.comments != Comments::Silent,
        numbers: !options.no_header,
        matches: query.header.sort_match_count,
        sorts: query.sorts.iter().map(shown).collect(),
        tags: !options.no_set_tag,
        removes: !options.no_remove_comment,
    }
}
