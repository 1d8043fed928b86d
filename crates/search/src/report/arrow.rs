//! The columns of tables as Arrow arrays, for data frames and databases that share memory with the program.
//!
//! A row has the same content as its JSON line, because both are made from the same cells. Whole numbers are 64-bit integers,
//! numbers with a fraction are 64-bit floats, strings are UTF-8, and lists are Arrow lists. The squares of pieces and the tags are
//! maps; a span is a struct.

mod positions;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::{
    ArrayBuilder, Float64Builder, Int64Builder, ListBuilder, MapBuilder, MapFieldNames, StringBuilder,
    StructBuilder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};

pub use self::positions::PositionRows;

use super::columns::{Column, ColumnType, Columns, SpanCells, TableCell, cell, span_cells};
use super::row::Rows;
use crate::found::Found;
use orbit_engine::Wants;
use orbit_reel::GameRow;

/// Table rows, stored by column in memory. [`ArrowTable::add`] appends the rows of a game, and [`ArrowTable::finish`] returns all
/// rows.
pub struct ArrowTable {
    columns: Columns,
    cells: Vec<ArrowCells>,
    rows: usize,
}

/// The cells of a column.
pub(super) enum ArrowCells {
    Numbers(Int64Builder),
    Decimals(Float64Builder),
    Texts(StringBuilder),
    NumberLists(ListBuilder<Int64Builder>),
    TextLists(ListBuilder<StringBuilder>),
    Pieces(MapBuilder<StringBuilder, ListBuilder<StringBuilder>>),
    Tags(MapBuilder<StringBuilder, StringBuilder>),
    Span(StructBuilder),
}

impl ArrowTable {
    /// Creates an empty table with these columns.
    pub fn new(columns: Columns) -> ArrowTable {
        let cells = columns.list().iter().map(|column| ArrowCells::from_column(*column)).collect();
        ArrowTable { columns, cells, rows: 0 }
    }

    /// Returns the names and types of the columns, in order.
    pub fn schema(&self) -> SchemaRef {
        ArrowTable::new(self.columns).finish().schema()
    }

    /// Returns the number of rows added so far.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Appends the rows of a game.
    pub fn add(&mut self, found: &Found, game: &GameRow, rows: Rows) {
        // A cell with the same value in all rows of a game is computed only once.
        let mut shared: Vec<Option<TableCell<'static>>> = vec![None; self.cells.len()];
        let ArrowTable { columns, cells, rows: count } = self;
        found.rows_with(game, rows, columns.row_parts(), &mut |row| {
            let span = columns.have_spans().then(|| span_cells(found, row)).flatten();
            for ((&column, shared), cells) in columns.list().iter().zip(&mut shared).zip(&mut *cells) {
                if let Some(shared) = shared {
                    cells.push(shared);
                    continue;
                }
                let cell = cell(column, found, row, span.as_ref());
                cells.push(&cell);
                *shared = column.is_of_game().then(|| owned(cell)).flatten();
            }
            *count += 1;
        });
    }

    /// Returns all rows as one record batch.
    pub fn finish(mut self) -> RecordBatch {
        let arrays: Vec<ArrayRef> = self.cells.iter_mut().map(ArrowCells::finish).collect();
        let fields = self.columns.list().iter().zip(&arrays);
        let fields: Fields = fields
            .map(|(column, array)| Field::new(column.name(), array.data_type().clone(), true))
            .collect();
        let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(self.rows));
        RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)
            .expect("each column has a cell for each row")
    }
}

/// Returns an owned copy of a cell. Supports only those kinds of cells whose value can be the same in all rows of a game, and
/// returns `None` for the others.
fn owned(cell: TableCell) -> Option<TableCell<'static>> {
    match cell {
        TableCell::Null => Some(TableCell::Null),
        TableCell::Number(number) => Some(TableCell::Number(number)),
        TableCell::Decimal(number) => Some(TableCell::Decimal(number)),
        TableCell::Text(text) => Some(TableCell::Text(Cow::Owned(text.into_owned()))),
        TableCell::Tags(tags) => {
            let owned = |(name, value): (Cow<str>, Cow<str>)| {
                (Cow::Owned(name.into_owned()), Cow::Owned(value.into_owned()))
            };
            Some(TableCell::Tags(tags.into_iter().map(owned).collect()))
        }
        _ => None,
    }
}

impl ArrowCells {
    /// Creates a column without cells.
    fn from_column(column: Column) -> ArrowCells {
        let texts = || ListBuilder::new(StringBuilder::new());
        let names =
            || Some(MapFieldNames { entry: "entries".into(), key: "key".into(), value: "value".into() });
        match (column, column.ty()) {
            (_, ty @ (ColumnType::Number | ColumnType::Decimal | ColumnType::Text)) => ArrowCells::flat(ty),
            (Column::SpanNodes | Column::SpanPlies, _) => {
                ArrowCells::NumberLists(ListBuilder::new(Int64Builder::new()))
            }
            (_, ColumnType::List) => ArrowCells::TextLists(texts()),
            (Column::Matched, _) => {
                ArrowCells::Pieces(MapBuilder::new(names(), StringBuilder::new(), texts()))
            }
            (Column::Tags, _) => {
                ArrowCells::Tags(MapBuilder::new(names(), StringBuilder::new(), StringBuilder::new()))
            }
            (_, ColumnType::Object) => ArrowCells::Span(span_builder()),
        }
    }

    /// Creates an empty column of a flat table, in which lists and objects are strings.
    pub(super) fn flat(ty: ColumnType) -> ArrowCells {
        match ty {
            ColumnType::Number => ArrowCells::Numbers(Int64Builder::new()),
            ColumnType::Decimal => ArrowCells::Decimals(Float64Builder::new()),
            _ => ArrowCells::Texts(StringBuilder::new()),
        }
    }

    /// Appends a cell.
    pub(super) fn push(&mut self, cell: &TableCell) {
        match (self, cell) {
            (ArrowCells::Numbers(cells), TableCell::Number(number)) => cells.append_value(*number),
            (ArrowCells::Numbers(cells), _) => cells.append_null(),
            // Both numbers are exactly representable as floats, so the quotient is the float nearest to the decimal number.
            (ArrowCells::Decimals(cells), TableCell::Decimal(number)) => {
                cells.append_value(*number as f64 / 1000.0)
            }
            (ArrowCells::Decimals(cells), _) => cells.append_null(),
            (ArrowCells::Texts(cells), TableCell::Text(text)) => cells.append_value(text),
            (ArrowCells::Texts(cells), _) => cells.append_null(),
            (ArrowCells::NumberLists(cells), TableCell::Numbers(numbers)) => push_numbers(cells, numbers),
            (ArrowCells::NumberLists(cells), _) => cells.append_null(),
            (ArrowCells::TextLists(cells), TableCell::Words(words)) => push_texts(cells, words),
            (ArrowCells::TextLists(cells), _) => cells.append_null(),
            (ArrowCells::Pieces(cells), TableCell::Pieces(pieces)) => {
                for (name, squares) in pieces {
                    cells.keys().append_value(name);
                    push_texts(cells.values(), squares);
                }
                end_entry(cells, true);
            }
            (ArrowCells::Pieces(cells), _) => end_entry(cells, false),
            (ArrowCells::Tags(cells), TableCell::Tags(tags)) => {
                for (name, value) in tags {
                    cells.keys().append_value(name);
                    cells.values().append_value(value);
                }
                end_entry(cells, true);
            }
            (ArrowCells::Tags(cells), _) => end_entry(cells, false),
            (ArrowCells::Span(cells), TableCell::Span(span)) => push_span(cells, Some(span)),
            (ArrowCells::Span(cells), _) => push_span(cells, None),
        }
    }

    /// Returns the cells as an array, and leaves the column empty.
    pub(super) fn finish(&mut self) -> ArrayRef {
        match self {
            ArrowCells::Numbers(cells) => ArrayBuilder::finish(cells),
            ArrowCells::Decimals(cells) => ArrayBuilder::finish(cells),
            ArrowCells::Texts(cells) => ArrayBuilder::finish(cells),
            ArrowCells::NumberLists(cells) => ArrayBuilder::finish(cells),
            ArrowCells::TextLists(cells) => ArrayBuilder::finish(cells),
            ArrowCells::Pieces(cells) => ArrayBuilder::finish(cells),
            ArrowCells::Tags(cells) => ArrayBuilder::finish(cells),
            ArrowCells::Span(cells) => ArrayBuilder::finish(cells),
        }
    }
}

fn push_numbers(cells: &mut ListBuilder<Int64Builder>, numbers: &[u32]) {
    numbers.iter().for_each(|&number| cells.values().append_value(number.into()));
    cells.append(true);
}

fn push_texts(cells: &mut ListBuilder<StringBuilder>, texts: &[impl AsRef<str>]) {
    texts.iter().for_each(|text| cells.values().append_value(text));
    cells.append(true);
}

fn end_entry<V: ArrayBuilder>(cells: &mut MapBuilder<StringBuilder, V>, is_valid: bool) {
    cells.append(is_valid).expect("each key has a value");
}

/// Creates a builder for spans (the moves and positions that matched), with the field names of the JSON output.
fn span_builder() -> StructBuilder {
    let list = |ty| DataType::List(Arc::new(Field::new_list_field(ty, true)));
    let fields = [
        ("kind", DataType::Utf8),
        ("nodes", list(DataType::Int64)),
        ("plies", list(DataType::Int64)),
        ("moves", list(DataType::Utf8)),
        ("text", DataType::Utf8),
        ("length", DataType::Int64),
    ];
    let fields: Fields = fields.into_iter().map(|(name, ty)| Field::new(name, ty, true)).collect();
    let numbers = || Box::new(ListBuilder::new(Int64Builder::new()));
    StructBuilder::new(
        fields,
        vec![
            Box::new(StringBuilder::new()),
            numbers(),
            numbers(),
            Box::new(ListBuilder::new(StringBuilder::new())),
            Box::new(StringBuilder::new()),
            Box::new(Int64Builder::new()),
        ],
    )
}

fn push_span(cells: &mut StructBuilder, span: Option<&SpanCells>) {
    fn field<B: ArrayBuilder>(cells: &mut StructBuilder, index: usize) -> &mut B {
        cells.field_builder(index).expect("spans have such a field")
    }
    type Numbers = ListBuilder<Int64Builder>;
    type Texts = ListBuilder<StringBuilder>;
    match span {
        Some(span) => {
            field::<StringBuilder>(cells, 0).append_value(span.kind);
            push_numbers(field::<Numbers>(cells, 1), &span.nodes);
            push_numbers(field::<Numbers>(cells, 2), &span.plies);
            push_texts(field::<Texts>(cells, 3), &span.moves);
            field::<StringBuilder>(cells, 4).append_value(&span.text);
            field::<Int64Builder>(cells, 5).append_value(span.moves.len() as i64);
        }
        None => {
            field::<StringBuilder>(cells, 0).append_null();
            field::<Numbers>(cells, 1).append_null();
            field::<Numbers>(cells, 2).append_null();
            field::<Texts>(cells, 3).append_null();
            field::<StringBuilder>(cells, 4).append_null();
            field::<Int64Builder>(cells, 5).append_null();
        }
    }
    cells.append(span.is_some());
}

/// The rows of a block (a group of games), and the range of rows for each found game.
pub(crate) struct ArrowBlock {
    /// The rows.
    pub(crate) batch: RecordBatch,
    /// For each found game, its index in the block and its range of rows.
    pub(crate) games: Vec<(u32, Range<usize>)>,
}

/// Converts the hits in a block to rows.
pub(crate) trait ArrowRows: Sync {
    /// Returns the facts about games and hits that the rows need.
    fn wants(&self) -> Wants;

    /// Returns the names and types of the columns.
    fn schema(&self) -> SchemaRef;

    /// Returns the rows of the first `games_max` found games.
    fn block(&self, found: &Found, games_max: usize) -> ArrowBlock;
}

/// Rows with table columns, one for each hit or each game.
pub(crate) struct HitRows {
    pub(crate) columns: Columns,
    pub(crate) rows: Rows,
}

impl ArrowRows for HitRows {
    fn wants(&self) -> Wants {
        self.columns.wants()
    }

    fn schema(&self) -> SchemaRef {
        ArrowTable::new(self.columns).schema()
    }

    fn block(&self, found: &Found, games_max: usize) -> ArrowBlock {
        let (mut table, mut games) = (ArrowTable::new(self.columns), Vec::new());
        for game in found.games_found().take(games_max) {
            let begin = table.rows();
            table.add(found, &game, self.rows);
            games.push((game.index() as u32, begin..table.rows()));
        }
        ArrowBlock { batch: table.finish(), games }
    }
}
