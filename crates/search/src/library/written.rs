//! Writes the results of a request to files: games as PGN, and reports.

use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::{Database, DatabaseError, Scan};
use crate::choice::Order;
use crate::executor::Executor;
use crate::report::PgnWriter;
use crate::report::findings::Findings;
use crate::request::RequestError;
use crate::run::{
    About, Comment, FindingsCollector, GamesCollector, GamesTaken, ListReach, OrderedCollector, Run,
    TakeError,
};
use orbit_core::files::{OutputFile, Unfinished, refuse_clashes};
use orbit_database::StreamedBlock;
use orbit_engine::Wants;

impl Scan<'_> {
    /// Writes the games that the first query finds to a file, in the original text. They are in database order, or in the order set
    /// by [`Scan::order`] or the query; games that must be sorted stay in memory until the end. The file is compressed if its name
    /// ends in `.zst`, and gets its name only when it is complete. Returns the number of games.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written or is an input of the database, if the text of a game cannot be read, or if
    /// [`Scan::for_each`] fails.
    pub fn pgn(self, path: &Path) -> Result<u64, DatabaseError> {
        let (file, _listed) = self.database.output(path)?;
        let executor = self.executor()?;
        let by_query = executor.sorts_games().then_some((Order::ByQuery, usize::MAX));
        match self.order.or(by_query) {
            None => self.write_as_read(file, &executor),
            Some(order) => self.write_in_order(file, order),
        }
    }

    /// Writes the first `max` games in the given order. These games are known only after all games have been searched.
    fn write_in_order(self, file: OutputFile, (order, max): (Order, usize)) -> Result<u64, DatabaseError> {
        let skip = self.skipped();
        let collector = OrderedCollector::new(order, self.room(max), Vec::new(), Some(Comment::None));
        let (part, _) = self.collect(&collector)?;
        let (mut writer, mut written) = (PgnWriter::new(file), 0);
        for game in part.list().into_iter().skip(skip).filter_map(|held| held.text) {
            writer.write(game.text())?;
            written += 1;
        }
        writer.finish()?.finish()?;
        Ok(written)
    }

    fn write_as_read(mut self, file: OutputFile, executor: &Executor) -> Result<u64, DatabaseError> {
        let collector = GamesCollector::new(Comment::None, ListReach::new(self.skip, self.games_max));
        let choice = std::mem::take(&mut self.choice);
        let run = Run::new(executor, &choice, &collector);
        let stream = self.stream(run.wants().contains(Wants::GAME_TEXTS))?;
        let (mut texts, names) = (stream.texts(), run.names(stream.source_names()));
        let mut wanted = GamesTaken::new(self.skip, self.games_max);
        let (mut writer, mut written, mut fault) = (PgnWriter::new(file), 0, None);
        let mut progress = self.begin(&stream);
        let summary = run.for_each_part(stream, &names, |streamed: StreamedBlock, part| {
            self.step(&mut progress, &streamed);
            for mut game in part.games {
                if !wanted.takes_next() {
                    continue;
                }
                let text = game.read(&streamed, &mut texts);
                let text = text.map_err(|error| DatabaseError::from(TakeError::Text(error)));
                match text.and_then(|text| Ok(writer.write(text)?)) {
                    Ok(()) => written += 1,
                    Err(error) => {
                        fault = Some(error);
                        return ControlFlow::Break(());
                    }
                }
            }
            if wanted.are_all() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        fault.map_or(Ok(()), Err)?;
        self.finish(progress, executor, &summary)?;
        writer.finish()?.finish()?;
        Ok(written)
    }

    /// Returns the content of a report on the first query. At most `sample_max` hits are shown, drawn at random with the seed
    /// `seed`. If [`Scan::order`] was called, hits are drawn only from the first games in this order, and games are listed in this
    /// order. [`Findings::page`] writes the report as HTML.
    ///
    /// # Errors
    ///
    /// Fails if the scan skips, limits or samples games, or if [`Scan::collect`] fails.
    pub fn findings(self, sample_max: usize, seed: u64) -> Result<Findings, DatabaseError> {
        let is_cut = |(order, max)| max < usize::MAX || matches!(order, Order::Sampled { .. });
        if self.order.is_some_and(is_cut) || self.skip > 0 || self.games_max.is_some() {
            return Err(RequestError::new(
                "reports and heat maps are of all games: leave out {skip}, {limit} and {sample}",
            )
            .into());
        }
        let executor = self.executor()?;
        let query = self.queries[0].clone();
        let collector = FindingsCollector::new(query.filter(), executor.ty(), sample_max, seed);
        let collector = collector.with_spans(executor.has_spans()).sorted_by(&executor.queries()[0].query);
        let collector = if self.choice.player.is_some() { collector.for_player() } else { collector };
        let collector = match self.order {
            Some((order, _)) => collector.ordered(order),
            None => collector,
        };
        let (chosen, database) = (self.choice.in_words(), self.database);
        let (part, _) = self.collect(&collector)?;
        let (engine, sources) = (executor.engine().info().name, database.sources());
        let (text, sentence) = (query.text(), executor.sentence(query.text()));
        let about = About { title: None, query: text, sentence: &sentence, engine, sources, chosen: &chosen };
        Ok(collector.findings(part, &about))
    }

    /// Returns the content of a heat map for the first query. Draw it with [`Findings::heat_map`].
    ///
    /// # Errors
    ///
    /// Fails if games or hits are limited, skipped or sorted, or if [`Scan::collect`] fails.
    pub fn heat(self) -> Result<Findings, DatabaseError> {
        self.check_takes_all()?;
        self.findings(0, 0)
    }
}

impl Database {
    /// Writes a string to a file. The file gets its name only when it is complete.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written or is an input of the database.
    pub fn write_file(&self, path: &Path, text: &str) -> Result<(), DatabaseError> {
        let (mut file, _listed) = self.output(path)?;
        file.write_all(text.as_bytes())?;
        Ok(file.finish()?)
    }

    /// Begins to write a file. Until the second value is dropped, the temporary file is on the list of unfinished files.
    fn output(&self, path: &Path) -> Result<(OutputFile, ListedTemporary<'_>), DatabaseError> {
        refuse_clashes(self.files(), [path])?;
        let file = OutputFile::create(path)?;
        let temporary = file.temporary_path().map(Path::to_owned);
        temporary.iter().for_each(|temporary| self.unfinished.add(temporary));
        Ok((file, ListedTemporary { unfinished: &self.unfinished, temporary }))
    }
}

/// A temporary file on the list of unfinished files. When this value is dropped, the file is taken off the list.
struct ListedTemporary<'a> {
    unfinished: &'a Unfinished,
    /// The path, or `None` for pipes and devices, which are written directly.
    temporary: Option<PathBuf>,
}

impl Drop for ListedTemporary<'_> {
    fn drop(&mut self) {
        self.temporary.iter().for_each(|temporary| self.unfinished.forget(temporary));
    }
}
