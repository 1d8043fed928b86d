"""The class `Scan`, whose methods run a search, and the classes of its results: counts, hits, rows, statistics, heat maps."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar, overload

from . import _boards
from ._native import Game, Hit, Query, Request, Stream
from ._options import Watch

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

#: The columns that `values=False` leaves out of tables.
VALUE_COLUMNS = ["value", "squares", "squares_count"]
#: The columns that `copies=False` leaves out of tables.
COPY_COLUMNS = ["matched", "copy", "pattern", "transform", "copies"]

_T = TypeVar("_T")


class Count(NamedTuple):
    """The numbers of games and positions in which a query matches."""

    games: int
    positions: int


class _Listed(Sequence[_T]):
    """A list that shows its first items when printed. A slice is a list of the same class."""

    def __init__(self, items: list[_T]) -> None:
        self._items = items

    @overload
    def __getitem__(self, index: int) -> _T: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> _T | Self:
        return type(self)(self._items[index]) if isinstance(index, slice) else self._items[index]

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        shown = ",\n ".join(map(repr, self._items[:10]))
        more = f",\n and {len(self) - 10:,} more" if len(self) > 10 else ""
        return f"[{shown}{more}]"


class Hits(_Listed[Hit]):
    """A list of hits, which a notebook draws as boards."""

    def _repr_html_(self) -> str:
        cells = [(hit.svg(), caption(hit)) for hit in self._items[:12]]
        return _boards.gallery(cells, len(self) - len(cells))


class Games(_Listed[Game]):
    """A list of games, which a notebook shows as a table."""

    def _repr_html_(self) -> str:
        names = ["number", "white", "black", "result", "date", "plies"]
        return _boards.table([{name: getattr(game, name) for name in names} for game in self._items])


class Stats(Sequence[dict[str, Any]]):
    """Counts by groups: a list with one row per group, which `pandas.DataFrame` and `polars.DataFrame` accept directly.

    Each row is a dictionary with the same keys as the rows of `orbit scan --stats --stats-format json`. `grouping` is the name of
    the grouping, and `key` is the name of the group.

    Attributes:
        total: the row for all games.
        groupings: the rows of each grouping, by the name of the grouping.
    """

    def __init__(self, data: dict[str, Any]) -> None:
        self.total: dict[str, Any] = data["total"]
        self.groupings: dict[str, list[dict[str, Any]]] = data["groupings"]
        self._rows = [{"grouping": name, **row} for name, rows in self.groupings.items() for row in rows]

    def __getitem__(self, index: Any) -> Any:
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return f"Stats({', '.join(self.groupings)}: {len(self):,} rows)"

    def _repr_html_(self) -> str:
        return _boards.table(self._rows)


class _Rows:
    """A source of Arrow record batches."""

    _request: Request
    _stream: Stream | None = None

    def _begin(self) -> Stream:
        raise NotImplementedError

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Starts a search, and returns its rows as a capsule of the Arrow PyCapsule interface."""
        self._stream = self._begin()
        return self._stream.__arrow_c_stream__(requested_schema)

    @contextlib.contextmanager
    def _faults(self) -> Iterator[None]:
        """Raises the exception that ended the stream. Consumers of a stream replace it with their own errors, even for Ctrl-C."""
        self._stream = None
        try:
            yield
        except BaseException as error:
            fault = self._stream.fault() if self._stream is not None else None
            if fault is not None and fault is not error:
                raise fault from None
            raise
        self._request.warn()

    def pyarrow(self) -> pyarrow.Table:
        """Returns all rows as a `pyarrow.Table`."""
        import pyarrow

        with self._faults():
            return pyarrow.table(self)

    def polars(self) -> polars.DataFrame:
        """Returns all rows as a `polars.DataFrame`."""
        import polars

        with self._faults():
            return polars.DataFrame(self)

    def pandas(self) -> pandas.DataFrame:
        """Returns all rows as a `pandas.DataFrame`. This also needs `pyarrow`."""
        with self._faults():
            return self.pyarrow().to_pandas(maps_as_pydicts="strict")

    @property
    def columns(self) -> dict[str, str]:
        """The names and Arrow types of the columns."""
        return dict(self._begin().columns)


class Positions(_Rows):
    """The positions at which a query matches, as columns of numbers for machine learning: the result of `Scan.positions`.

    The column `board` has 64 numbers for each position, in the order a1, b1, ..., h8. An empty square is 0. A white pawn, knight,
    bishop, rook, queen and king are 1 to 6; 8 is added for a black man.
    """

    def __init__(self, request: Request) -> None:
        self._request = request

    def _begin(self) -> Stream:
        return self._request.stream("positions")

    def numpy(self) -> dict[str, Any]:
        """Returns all columns as numpy arrays. The array `board` has 64 columns. This needs `pyarrow`.

        An unknown rating or value is the minimum of the array's type. All other unknown values are -1.
        """
        import numpy

        table = self.pyarrow().combine_chunks()
        out: dict[str, Any] = {}
        for name in table.column_names:
            column = table.column(name)
            chunk = column.chunk(0) if column.num_chunks else column.combine_chunks()
            if name == "board":
                out[name] = chunk.flatten().to_numpy(zero_copy_only=True).reshape(-1, 64)
            elif name == "black_to_move":
                out[name] = chunk.to_numpy(zero_copy_only=False)
            else:
                # The type of an array does not depend on whether some values are unknown.
                wide = {"move_from": "int8", "move_to": "int8", "promotion": "int8"}.get(name)
                chunk = chunk.cast(wide) if wide else chunk
                if chunk.null_count == 0:
                    out[name] = chunk.to_numpy(zero_copy_only=True)
                    continue
                known = numpy.dtype(chunk.type.to_pandas_dtype())
                small = name in ("result", "move_from", "move_to", "promotion")
                out[name] = chunk.fill_null(-1 if small else numpy.iinfo(known).min).to_numpy(zero_copy_only=False)
        return out


class Scan(_Rows):
    """A query on a database, with its options. Each method that returns results runs a new search.

    A scan is a source of Arrow record batches. It has one row for each hit or, with `rows="games"`, for each game with hits. The
    columns are those of `orbit scan --format jsonl`, which `docs/output.md` describes.

    >>> import orbit_chess
    >>> scan = orbit_chess.open("games/sample.pgn").scan("check", limit=2)
    >>> [name for name in scan.columns][:4]
    ['schema', 'game', 'source', 'number_in_source']
    >>> scan.pyarrow().num_rows == len(scan.hits())
    True
    """

    def __init__(
        self,
        request: Request,
        database: Any,
        query: Query,
        *,
        rows: str,
        columns: Sequence[str] | None,
        without: Sequence[str],
        copies: bool | str,
        spans: bool,
        progress: bool | Watch,
        limited: Callable[[int], Request],
    ) -> None:
        self._request = request
        self._database = database
        self._rows = rows
        self._columns = None if columns is None else list(columns)
        self._without = list(without)
        self._all_copies = copies == "all"
        self._spans = spans
        self._progress = progress
        self._limited = limited
        #: The query.
        self.query = query

    def __repr__(self) -> str:
        return f"Scan({self.query.text!r})"

    def _begin(self) -> Stream:
        return self._request.stream(self._rows, self._columns, self._without)

    def __iter__(self) -> Iterator[Hit]:
        """Iterates over the hits while the search runs.

        >>> import itertools, orbit_chess
        >>> scan = orbit_chess.open("games/sample.pgn").scan("mate")
        >>> len(list(itertools.islice(scan, 3)))
        3
        """
        return self._request.stream_hits(self._all_copies, self._spans)

    def count(self) -> Count:
        """Returns the numbers of games and positions with hits."""
        with watching(self._progress) as watch:
            return Count(*self._request.count(watch)[0])

    def hits(self, limit: int | None = None) -> Hits:
        """Returns a list of all hits, or of those in the first `limit` games. Hits keep their games in memory.

        >>> import orbit_chess
        >>> hits = orbit_chess.open("games/sample.pgn").scan("mate").hits(limit=2)
        >>> [hit.san[-1] for hit in hits]
        ['#', '#']
        """
        request = self._request if limit is None else self._limited(limit)
        with watching(self._progress) as watch:
            hits = request.hits(self._all_copies, self._spans, watch)
        if limit is not None:
            # A sample is not limited by the request.
            games = list(dict.fromkeys(hit.game.number for hit in hits))
            kept = set(games[:limit])
            hits = [hit for hit in hits if hit.game.number in kept]
        return Hits(hits)

    def games(self, limit: int | None = None) -> Games:
        """Returns a list of the games with hits, without repetitions."""
        games: dict[int, Game] = {}
        for hit in self.hits(limit):
            game = hit.game
            games.setdefault(game.number, game)
        return Games(list(games.values()))

    def stats(self, *groupings: str) -> Stats:
        """Returns counts by groups such as `"year"`, `"elo:100"` or `"year*result"`: see `docs/statistics.md`.

        >>> import orbit_chess
        >>> stats = orbit_chess.open("games/sample.pgn").scan("mate").stats("result")
        >>> sorted(row["key"] for row in stats)[:2]
        ['0-1', '1-0']
        >>> stats.total["games_hit"] > 10
        True
        """
        with watching(self._progress) as watch:
            return Stats(json.loads(self._request.statistics(",".join(groupings), watch)))

    def positions(self) -> Positions:
        """Returns the positions with hits as columns of numbers for machine learning.

        >>> import orbit_chess
        >>> boards = orbit_chess.open("games/sample.pgn").scan("mate").positions().numpy()
        >>> boards["board"].shape[1], boards["board"].dtype.name
        (64, 'uint8')
        """
        return Positions(self._request)

    def pgn(self, path: str | os.PathLike[str]) -> int:
        """Writes the games with hits to a file, as they are in their sources, and returns their number. The option `sort`, or a
        `sort` filter in the query, determines the order. If the file name ends in `.zst`, the file is compressed."""
        with watching(self._progress) as watch:
            return self._request.pgn(os.fspath(path), watch)

    def report(self, path: str | os.PathLike[str], *, seed: int = 0, title: str | None = None) -> None:
        """Writes a report as an HTML page that needs no other file. The default title is the first line of the query. The
        option `sort` determines the order of the games. `seed` is the seed for the random selection of the shown hits."""
        with watching(self._progress) as watch:
            page = self._request.report(seed, title, watch)
        self._database.write_file(os.fspath(path), page)

    def heat(self) -> Heat:
        """Returns a heat map, which shows where on the board the hits are."""
        with watching(self._progress) as watch:
            return Heat(self._request.heat(watch))

    @property
    def engine(self) -> str:
        """The engine that would run the search: `cpu`, `gpu` or `reference`."""
        return self._request.engine()


class Heat:
    """A heat map, which a notebook draws.

    Attributes:
        svg: the picture; None if all transformed copies of the query are in one place and its value is not a set of squares.
    """

    def __init__(self, svg: str | None) -> None:
        self.svg = svg

    def _repr_html_(self) -> str:
        if self.svg is None:
            return "<p>no heat map: write the query under <code>shift</code>, or as a set such as <code>k attackedby N</code></p>"
        return _boards.image(self.svg, 420)


def caption(hit: Hit) -> str:
    """Returns the line of text below the picture of a hit."""
    game = hit.game
    players = f"{game.white or '?'} - {game.black or '?'}"
    return f"{game.number}: {players}, {hit.label} {hit.san or ''}".strip()


@contextlib.contextmanager
def watching(progress: bool | Watch) -> Iterator[Watch | None]:
    """Yields the callback for a search's progress: the caller's function, one that updates a tqdm bar, or None."""
    if progress is False or progress is None:
        yield None
        return
    if progress is not True:
        yield progress
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield None
        return
    with tqdm(unit="B", unit_scale=True) as bar:

        def watch(read: int, total: int | None, games: int, positions: int) -> None:
            bar.total = total
            bar.set_postfix_str(f"{games:,} games", refresh=False)
            bar.update(read - bar.n)

        yield watch
