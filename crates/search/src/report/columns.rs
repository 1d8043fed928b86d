//! Defines the columns of tables: their names, their types, and their values at a hit. JSON Lines, CSV and Parquet all use this
//! module, so their contents agree.

use std::borrow::Cow;

use super::SpanMoves;
use super::row::{Row, RowParts, Rows};
use crate::found::Found;
use orbit_core::board::Color;
use orbit_core::game::{Date, Eval, Rating, tags};
use orbit_core::named::choices;
use orbit_core::text::decode;
use orbit_engine::Answer;
use orbit_engine::Wants;
use orbit_reel::GameRow;

/// The version of the columns. It is increased when a column is removed or its meaning changes.
pub const SCHEMA: u32 = 1;

/// The type of a column. Unknown values are null in JSON and Parquet, and empty in CSV.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ColumnType {
    /// A whole number.
    Number,
    /// A number with at most three digits after the decimal point.
    Decimal,
    /// A string.
    Text,
    /// A list: an array in JSON, and elsewhere a string with blanks between the entries.
    List,
    /// An object in JSON, and elsewhere a string.
    Object,
}

/// Declares each column once, so that the enum and the names cannot disagree.
macro_rules! columns {
    ($($column:ident $name:literal $ty:ident)*) => {
        /// A column of a table. `docs/output.md` describes all columns.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Column {
            $(#[doc = concat!("`", $name, "`")] $column,)*
        }

        choices! { Column, "column", $(Column::$column => $name, "";)* }

        impl Column {
            /// All columns.
            pub const ALL: [Column; [$($name),*].len()] = [$(Column::$column),*];

            /// Returns the name.
            pub const fn name(self) -> &'static str {
                match self { $(Column::$column => $name,)* }
            }

            /// Returns the type of the column's values.
            pub const fn ty(self) -> ColumnType {
                match self { $(Column::$column => ColumnType::$ty,)* }
            }
        }
    };
}

columns! {
    Schema "schema" Number
    Game "game" Number
    Source "source" Text
    NumberInSource "number_in_source" Number
    Offset "offset" Number
    Event "event" Text
    Site "site" Text
    Date "date" Text
    Year "year" Number
    Round "round" Text
    White "white" Text
    Black "black" Text
    Result "result" Text
    WhiteElo "white_elo" Number
    BlackElo "black_elo" Number
    Eco "eco" Text
    Ply "ply" Number
    Move "move" Text
    San "san" Text
    Fen "fen" Text
    Next "next" Text
    Value "value" Number
    Squares "squares" List
    SquaresCount "squares_count" Number
    Matched "matched" Object
    Copy "copy" Number
    Pattern "pattern" Text
    Transform "transform" Text
    Copies "copies" Number
    Hits "hits" Number
    Url "url" Text
    Node "node" Number
    Line "line" Text
    SpanKind "span_kind" Text
    SpanNodes "span_nodes" List
    SpanPlies "span_plies" List
    SpanMoves "span_moves" List
    SpanText "span_text" Text
    SpanLength "span_length" Number
    Text "text" Text
    Missing "missing" List
    Besides "besides" List
    Side "side" Text
    Clock "clock" Decimal
    Spent "spent" Decimal
    Eval "eval" Decimal
    EvalMate "eval_mate" Number
    Loss "loss" Decimal
    Span "span" Object
    Tags "tags" Object
    OpeningName "opening_name" Text
    OpeningEco "opening_eco" Text
}

/// The number of columns that every table has by default. They are the first ones in [`Column::ALL`].
const COMMON: usize = Column::Url as usize + 1;

const NODE: [Column; 2] = [Column::Node, Column::Line];
const MEASURES: [Column; 5] = [Column::Clock, Column::Spent, Column::Eval, Column::EvalMate, Column::Loss];
const SPAN: [Column; 6] = [
    Column::SpanKind,
    Column::SpanNodes,
    Column::SpanPlies,
    Column::SpanMoves,
    Column::SpanText,
    Column::SpanLength,
];

/// The optional facts in the rows of a search. Each field is true if rows have the fact.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Extras {
    /// True if rows have the node (the number of the position in the game) and the side line, as in searches of side lines.
    pub nodes: bool,
    /// True if rows have spans (the moves and positions that matched), as for queries that match more than one position.
    pub spans: bool,
    /// True if rows contain the value of the query, because it is a string.
    pub texts: bool,
    /// True if rows have the differences between the position and the board with which the query compares it.
    pub likeness: bool,
    /// True if rows say which side the selected player had.
    pub player: bool,
    /// True if rows have clocks and evaluations.
    pub measures: bool,
}

/// A list of table columns, in order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Columns {
    columns: [Column; Column::ALL.len()],
    count: usize,
}

impl Columns {
    /// Returns the default columns of CSV and Parquet.
    pub fn with_table_defaults(extras: Extras) -> Columns {
        Columns::with(extras, &SPAN, &[])
    }

    /// Returns the default fields of JSON, where spans and tags are objects.
    pub fn with_object_defaults(extras: Extras) -> Columns {
        Columns::with(extras, &[Column::Span], &[Column::Tags])
    }

    fn with(extras: Extras, spans: &[Column], tags: &[Column]) -> Columns {
        let chosen =
            |is_chosen: bool, columns: &[Column]| if is_chosen { columns.to_vec() } else { Vec::new() };
        let parts = [
            Column::ALL[..COMMON].to_vec(),
            chosen(extras.nodes, &NODE),
            chosen(extras.spans, spans),
            chosen(extras.texts, &[Column::Text]),
            chosen(extras.likeness, &[Column::Missing, Column::Besides]),
            chosen(extras.player, &[Column::Side]),
            chosen(extras.measures, &MEASURES),
            tags.to_vec(),
        ];
        Columns::new(&parts.concat())
    }

    /// Creates a list of columns; duplicates are removed.
    pub fn new(columns: &[Column]) -> Columns {
        let mut out = Columns { columns: Column::ALL, count: 0 };
        for &column in columns {
            if !out.list().contains(&column) {
                out.columns[out.count] = column;
                out.count += 1;
            }
        }
        out
    }

    /// Returns the columns.
    pub fn list(&self) -> &[Column] {
        &self.columns[..self.count]
    }

    /// Returns the row parts that must be computed for these columns.
    pub(super) fn row_parts(&self) -> RowParts {
        let have = |column: Column| self.list().contains(&column);
        RowParts {
            played: have(Column::Move) || have(Column::San),
            next: have(Column::Next),
            fen: have(Column::Fen),
        }
    }

    /// Returns the facts about games and hits that these columns need, and no others.
    pub fn wants(&self) -> Wants {
        use Column as C;
        let have = |wanted: &[Column]| self.list().iter().any(|column| wanted.contains(column));
        let copies = have(&[C::Matched, C::Copy, C::Pattern, C::Transform, C::Copies]);
        Wants::TAGS
            | Wants::VALUES.when(have(&[C::Value, C::Squares, C::SquaresCount, C::Text]))
            | (Wants::LOWEST_COPY | Wants::COPY_NAMES).when(copies)
            | Wants::SPANS.when(self.have_spans())
            | Wants::COMMENTS.when(self.read_comments())
    }

    /// Returns whether any of the columns is read from game comments.
    pub fn read_comments(&self) -> bool {
        self.list().iter().any(|column| MEASURES.contains(column))
    }

    /// Returns whether any of the columns shows spans, the moves and positions that matched.
    pub fn have_spans(&self) -> bool {
        self.list().iter().any(|column| *column == Column::Span || SPAN.contains(column))
    }
}

impl std::fmt::Debug for Columns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.list()).finish()
    }
}

/// The value of a column in a row.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum TableCell<'a> {
    Null,
    Number(i64),
    /// A number in thousandths.
    Decimal(i64),
    Text(Cow<'a, str>),
    Numbers(Vec<u32>),
    Words(Vec<Cow<'a, str>>),
    /// The names of the query's piece designators, each with the squares of the pieces that it matched.
    Pieces(Vec<(&'a str, Vec<String>)>),
    Span(SpanCells),
    Tags(Vec<(Cow<'a, str>, Cow<'a, str>)>),
}

/// A hit's span (the moves and positions that matched) as table cells.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct SpanCells {
    pub(super) kind: &'static str,
    pub(super) nodes: Vec<u32>,
    pub(super) plies: Vec<u32>,
    pub(super) moves: Vec<String>,
    pub(super) text: String,
}

impl Column {
    /// Returns whether the column has the same value in all rows of a game.
    pub(super) fn is_of_game(self) -> bool {
        use Column as C;
        (self as usize) < C::Ply as usize
            || matches!(self, C::Hits | C::Tags | C::OpeningName | C::OpeningEco)
    }
}

/// Appends the rows of a game to `out`. `push` appends a cell, given the index of its column; `end` is appended after each row. A
/// cell that is the same in all rows of a game is written once and then copied. Returns the number of hits.
pub(super) fn push_rows(
    (found, game): (&Found, &GameRow),
    (rows, columns): (Rows, Columns),
    push: impl Fn(usize, TableCell, &mut Vec<u8>),
    end: &[u8],
    out: &mut Vec<u8>,
) -> usize {
    let mut shared = vec![None; columns.list().len()];
    found.rows_with(game, rows, columns.row_parts(), &mut |row| {
        let span = columns.have_spans().then(|| span_cells(found, row)).flatten();
        for (index, (&column, shared)) in columns.list().iter().zip(&mut shared).enumerate() {
            if let Some(shared) = shared.clone() {
                out.extend_from_within(shared);
                continue;
            }
            let begin = out.len();
            push(index, cell(column, found, row, span.as_ref()), out);
            *shared = column.is_of_game().then_some(begin..out.len());
        }
        out.extend_from_slice(end);
    })
}

/// Returns the value of a column in a row.
pub(super) fn cell<'a>(
    column: Column,
    found: &'a Found,
    row: &'a Row,
    span: Option<&SpanCells>,
) -> TableCell<'a> {
    use Column as C;
    let game = &row.game;
    match column {
        C::Schema => TableCell::Number(SCHEMA.into()),
        C::Game => TableCell::Number(game.number().into()),
        C::Source => text(found.names.source(game)),
        C::NumberInSource => TableCell::Number(game.number_in_source().into()),
        C::Offset => TableCell::Number(i64::try_from(game.offset()).unwrap_or(i64::MAX)),
        C::Event => tag(row, "Event"),
        C::Site => tag(row, "Site"),
        C::Date => Date::from_game(game)
            .and_then(Date::iso)
            .map_or(TableCell::Null, |date| TableCell::Text(date.into())),
        C::Year => Date::from_game(game).map_or(TableCell::Null, |date| TableCell::Number(date.year.into())),
        C::Round => tag(row, "Round"),
        C::White => tag(row, "White"),
        C::Black => tag(row, "Black"),
        C::Result => text(game.outcome().text()),
        C::WhiteElo => number(Rating::White.of_game(game)),
        C::BlackElo => number(Rating::Black.of_game(game)),
        C::Eco => tag(row, "ECO"),
        C::OpeningName => game.opening().map_or(TableCell::Null, |opening| text(&opening.name)),
        C::OpeningEco => game.opening().map_or(TableCell::Null, |opening| text(opening.eco.as_str())),
        C::Ply => TableCell::Number(row.ply.into()),
        C::Move => match &row.san {
            Some(san) => TableCell::Text(format!("{} {san}", row.label).into()),
            None => TableCell::Null,
        },
        C::San => row.san.as_deref().map_or(TableCell::Null, text),
        C::Fen => text(&row.fen),
        C::Next => text(&row.next),
        C::Value => {
            if let Answer::Num(value) = row.value {
                number(value)
            } else {
                TableCell::Null
            }
        }
        C::Squares => match row.value {
            Answer::Set(set) => {
                TableCell::Words(set.into_iter().map(|square| square.to_string().into()).collect())
            }
            _ => TableCell::Null,
        },
        C::SquaresCount => match row.value {
            Answer::Set(set) => TableCell::Number(set.count() as i64),
            _ => TableCell::Null,
        },
        C::Matched => match found.matched(row) {
            pieces if pieces.is_empty() => TableCell::Null,
            pieces => {
                let squares =
                    |set: orbit_core::board::Bitboard| set.into_iter().map(|square| square.to_string());
                TableCell::Pieces(
                    pieces.into_iter().map(|(name, set)| (name, squares(set).collect())).collect(),
                )
            }
        },
        C::Copy => number(row.copy.map(|copy| i64::from(copy) + 1)),
        C::Pattern => named(&found.names.copies, row),
        C::Transform => match found.difference_at(row) {
            Some(difference) => TableCell::Text(difference.placement.to_string().into()),
            None => named(&found.names.transforms, row),
        },
        C::Missing => men(found.difference_at(row).map(|difference| &difference.missing[..])),
        C::Side => match found.sides {
            Some(_) => text(if found.side(game).is_white() { "white" } else { "black" }),
            None => TableCell::Null,
        },
        C::Clock => row.measures.clock.map_or(TableCell::Null, TableCell::Decimal),
        C::Spent => row.measures.spent.map_or(TableCell::Null, TableCell::Decimal),
        C::Eval => match row.measures.eval {
            Some(eval @ Eval::Centipawns(_)) => TableCell::Decimal(eval.thousandths()),
            _ => TableCell::Null,
        },
        C::EvalMate => match row.measures.eval {
            Some(Eval::Mate(Color::White, moves)) => TableCell::Number(moves.into()),
            Some(Eval::Mate(Color::Black, moves)) => TableCell::Number(-i64::from(moves)),
            _ => TableCell::Null,
        },
        C::Loss => row.measures.loss.map_or(TableCell::Null, TableCell::Decimal),
        C::Besides => men(found.difference_at(row).map(|difference| &difference.besides[..])),
        C::Copies => TableCell::Number(row.copies as i64),
        C::Hits => TableCell::Number(row.hits as i64),
        C::Url => row.url().map_or(TableCell::Null, |url| TableCell::Text(url.into())),
        C::Node => TableCell::Number(row.node.into()),
        C::Line => text(&row.line),
        // An empty string as the value of the query remains an empty string and does not become null.
        C::Text => row.text.map_or(TableCell::Null, |text| TableCell::Text(decode(text))),
        C::Tags => TableCell::Tags(tags_of(game)),
        C::Span => span.map_or(TableCell::Null, |span| TableCell::Span(span.clone())),
        C::SpanKind | C::SpanNodes | C::SpanPlies | C::SpanMoves | C::SpanText | C::SpanLength => {
            span.map_or(TableCell::Null, |span| of_span(column, span))
        }
    }
}

fn of_span<'a>(column: Column, span: &SpanCells) -> TableCell<'a> {
    match column {
        Column::SpanKind => TableCell::Text(span.kind.into()),
        Column::SpanNodes => TableCell::Numbers(span.nodes.clone()),
        Column::SpanPlies => TableCell::Numbers(span.plies.clone()),
        Column::SpanMoves => TableCell::Words(span.moves.iter().cloned().map(Cow::Owned).collect()),
        Column::SpanText => TableCell::Text(span.text.clone().into()),
        _ => TableCell::Number(span.moves.len() as i64),
    }
}

/// Returns the span of a hit (the moves and positions that matched), for the columns that show it.
pub(super) fn span_cells(found: &Found, row: &Row) -> Option<SpanCells> {
    let span = found.span(&row.game, row.node)?;
    let moves = SpanMoves::new(&span, &row.game);
    Some(SpanCells {
        kind: span.kind.name(),
        plies: span.nodes.iter().map(|&node| row.game.ply_of(node)).collect(),
        nodes: span.nodes.clone(),
        moves: moves.sans().map(str::to_owned).collect(),
        text: moves.text(usize::MAX),
    })
}

/// Returns a string as a cell, or null if the string is empty.
fn text(text: &str) -> TableCell<'_> {
    if text.is_empty() { TableCell::Null } else { TableCell::Text(text.into()) }
}

fn men(names: Option<&[String]>) -> TableCell<'_> {
    names.map_or(TableCell::Null, |names| TableCell::Words(names.iter().map(Cow::from).collect()))
}

fn number<'a>(number: Option<impl Into<i64>>) -> TableCell<'a> {
    number.map_or(TableCell::Null, |number| TableCell::Number(number.into()))
}

/// Returns a tag as a cell, or null if the tag's value means "unknown".
fn tag<'a>(row: &'a Row, name: &str) -> TableCell<'a> {
    tags::known(&row.game, name).map_or(TableCell::Null, TableCell::Text)
}

fn named<'a>(names: &'a [String], row: &Row) -> TableCell<'a> {
    row.copy.and_then(|copy| names.get(copy as usize)).map_or(TableCell::Null, |name| text(name))
}

/// Returns the tags of a game. If a tag name occurs several times, the first tag counts, as in queries.
fn tags_of<'a>(game: &GameRow<'a>) -> Vec<(Cow<'a, str>, Cow<'a, str>)> {
    let mut tags: Vec<(Cow<str>, Cow<str>)> = Vec::new();
    for (name, value) in game.tags() {
        let name = decode(name);
        if tags.iter().all(|(known, _)| *known != name) {
            tags.push((name, decode(value)));
        }
    }
    tags.sort();
    tags
}
