//! Returns hits as Arrow record batches, for data frames and databases.

use std::ops::{ControlFlow, Range};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use arrow_select::concat::concat_batches;

use super::{DatabaseError, Scan};
use crate::choice::Order;
use crate::executor::Executor;
use crate::found::BlockResult;
use crate::report::{ArrowBlock, ArrowRows, Column, Columns, HitRows, PositionRows, Rows};
use crate::request::check_columns;
use crate::run::{ReportRoom, extras_of, names_of, wanted_of};
use orbit_database::{MemoryBudget, Summary};
use orbit_engine::{Rank, Wants};

/// The minimum number of rows in each record batch except the last.
const BATCH_ROWS: usize = 16_384;

/// A selection of table columns.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TableColumns {
    /// All columns of the JSON Lines output.
    All,
    /// All columns of the JSON Lines output, except these.
    Without(Vec<Column>),
    /// Only these columns.
    Only(Vec<Column>),
}

/// A request that returns its hits as rows of Arrow record batches. It is created by [`Scan::table`] or [`Scan::positions`].
///
/// ```
/// use std::ops::ControlFlow;
///
/// use orbit_search::{Database, Query, Rows, TableColumns};
///
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
/// let database = Database::open(["games/sample.pgn"])?;
/// let query = Query::parse("flipcolor {Bh7 kg8}")?;
/// let table = database.scan(&query).table(Rows::Hits, &TableColumns::All)?;
/// assert_eq!(table.schema().field(1).name(), "game");
/// let mut rows = 0;
/// table.for_each(|batch| {
///     rows += batch.num_rows();
///     ControlFlow::Continue(())
/// })?;
/// assert_eq!(rows as u64, database.scan(&query).count()?[0].positions);
/// # Ok::<(), orbit_search::DatabaseError>(())
/// ```
#[must_use]
pub struct Table<'a> {
    scan: Scan<'a>,
    executor: Executor,
    rows: Box<dyn ArrowRows>,
}

/// The table rows for one block (a group of games).
struct BlockRows {
    rows: ArrowBlock,
    /// For each game with rows in this block, its rank and number. Empty if rows are in database order.
    ranks: Vec<(Rank, u32)>,
}

impl<'a> Scan<'a> {
    /// Returns the hits of the first query as a table with one row per hit or per game. `docs/output.md` describes the columns.
    ///
    /// # Errors
    ///
    /// Fails if `columns` is empty, the engine rejects the query, or the requested graphics card does not exist.
    pub fn table(self, rows: Rows, columns: &TableColumns) -> Result<Table<'a>, DatabaseError> {
        let executor = self.executor()?;
        let all = Columns::with_object_defaults(extras_of(&executor, &self.choice));
        let columns = match columns {
            TableColumns::All => all,
            TableColumns::Only(columns) => {
                check_columns(Some(columns))?;
                Columns::new(columns)
            }
            TableColumns::Without(left_out) => {
                let kept = all.list().iter().filter(|column| !left_out.contains(column));
                Columns::new(&kept.copied().collect::<Vec<_>>())
            }
        };
        Ok(Table { scan: self, executor, rows: Box::new(HitRows { columns, rows }) })
    }

    /// Returns the matching positions of the first query as numeric columns: see [`PositionRows`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Scan::table`].
    pub fn positions(self) -> Result<Table<'a>, DatabaseError> {
        let executor = self.executor()?;
        Ok(Table { scan: self, executor, rows: Box::new(PositionRows) })
    }
}

impl Table<'_> {
    /// Returns the names and types of the columns.
    pub fn schema(&self) -> SchemaRef {
        self.rows.schema()
    }

    /// Passes the rows to `take` in batches until `take` breaks. Rows are in database order or in the order set by [`Scan::order`].
    /// [`Scan::limit_games`] limits the number of games.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Scan::for_each`].
    pub fn for_each(
        self,
        mut take: impl FnMut(RecordBatch) -> ControlFlow<()>,
    ) -> Result<Summary, DatabaseError> {
        let Table { mut scan, executor, rows } = self;
        let schema = rows.schema();
        let by_query = executor.sorts_games().then_some((Order::ByQuery, usize::MAX));
        let order = scan.order.or(by_query);
        let wants = rows.wants() | scan.choice.wants();
        let wants = wants | order.map_or(Wants::HITS, |(order, _)| order.wants());
        let outputs = [wanted_of(wants, scan.queries[0].filter())];
        let names = names_of(&executor, wants, scan.database.sources().to_vec());
        let (choice, report_room) = (scan.choice.clone(), ReportRoom::new(1));
        let most = match order {
            None => scan.room(usize::MAX),
            Some(_) => usize::MAX,
        };
        let mut waiting = Waiting { schema, batches: Vec::new(), rows: 0 };
        let mut top = order.map(|(order, max)| order.top::<RecordBatch>(scan.room(max)));
        let (mut skip, mut left) = (scan.skipped(), scan.games_max.unwrap_or(u64::MAX));
        let work = |result: BlockResult<'_>, room: &MemoryBudget| {
            let found = result.first();
            let make = || rows.block(&found, most);
            let rows = report_room.make(found.answers.hits.count(), room, make, |rows: &ArrowBlock| {
                rows.batch.get_array_memory_size() as u64
            });
            let ranked = order.map_or(Vec::new(), |(order, _)| {
                rows.games
                    .iter()
                    .map(|(index, _)| {
                        let game = found.block.game(*index as usize);
                        (order.rank(&game, &found), game.number())
                    })
                    .collect()
            });
            BlockRows { rows, ranks: ranked }
        };
        let summary = scan.run(&executor, &outputs, &choice, &names, work, |_, found| {
            let BlockRows { rows: ArrowBlock { batch, games }, ranks } = found;
            if let Some(top) = &mut top {
                for ((rank, number), (_, rows)) in ranks.into_iter().zip(games) {
                    top.offer(rank, number, || slice(&batch, rows));
                }
                return ControlFlow::Continue(());
            }
            let skipped = games.len().min(skip);
            let listed = (games.len() - skipped).min(usize::try_from(left).unwrap_or(usize::MAX));
            let end = |games_before: usize| games_before.checked_sub(1).map_or(0, |last| games[last].1.end);
            let rows = end(skipped)..end(skipped + listed);
            (skip, left) = (skip - skipped, left - listed as u64);
            let flow = waiting.add(slice(&batch, rows), &mut take);
            if left == 0 { ControlFlow::Break(()) } else { flow }
        })?;
        let mut flow = ControlFlow::Continue(());
        if let Some(top) = top {
            flow = top.list(scan.skip).try_for_each(|rows| waiting.add(rows, &mut take));
        }
        if flow.is_continue() {
            let _ = waiting.end(&mut take);
        }
        Ok(summary)
    }
}

fn slice(batch: &RecordBatch, rows: Range<usize>) -> RecordBatch {
    batch.slice(rows.start, rows.len())
}

/// Rows that wait until there are enough for a batch.
struct Waiting {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    rows: usize,
}

impl Waiting {
    fn add(
        &mut self,
        batch: RecordBatch,
        take: &mut impl FnMut(RecordBatch) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if batch.num_rows() > 0 {
            self.rows += batch.num_rows();
            self.batches.push(batch);
        }
        if self.rows < BATCH_ROWS { ControlFlow::Continue(()) } else { self.end(take) }
    }

    /// Passes the collected rows to `take`.
    fn end(&mut self, take: &mut impl FnMut(RecordBatch) -> ControlFlow<()>) -> ControlFlow<()> {
        self.rows = 0;
        match self.batches.len() {
            0 => ControlFlow::Continue(()),
            1 => self.batches.drain(..).try_for_each(take),
            _ => {
                let batches = std::mem::take(&mut self.batches);
                take(concat_batches(&self.schema, &batches).expect("the batches have one schema"))
            }
        }
    }
}
