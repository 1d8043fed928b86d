"""The class `Database`, the functions `open` and `loads` that create it, and functions for boards and themes."""

from __future__ import annotations

import json
import operator
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Union, Unpack

from . import _boards
from ._errors import OptionError, ReadWarning
from ._native import Database as NativeDatabase
from ._native import Game, Hit, Query, Request, RequestOptions, load_themes
from ._native import board_svg as _board_svg
from ._options import Choices, Options, Part, Watch, once
from ._scan import COPY_COLUMNS, VALUE_COLUMNS, Count, Games, Hits, Positions, Scan, Stats, watching

__all__ = [
    "Count",
    "Database",
    "Game",
    "Games",
    "Hit",
    "Hits",
    "Part",
    "Positions",
    "Query",
    "Scan",
    "Stats",
    "board_svg",
    "loads",
    "open",
    "query_of_board",
    "themes",
]

#: A query: text in CQL, a prepared `Query`, or a python-chess board.
AnyQuery = Union[str, Query, Any]
AnyPath = Union[str, "os.PathLike[str]"]


def open(
    *paths: AnyPath,
    variations: bool = False,
    memory: int | None = None,
    engine: str = "auto",
    gpu: str | int = "auto",
    gpu_memory: int | None = None,
    threads: int | None = None,
    reels: bool = True,
    progress: bool | Watch = False,
) -> Database:
    """Opens PGN, EPD and FEN files (plain, .zst, .gz, .bz2), .zip archives and folders of such files, and reels, in the
    order given.

    Args:
        variations: keep side lines and comments, so that queries can search them.
        memory: the maximum number of bytes for a database in memory, 1 GiB by default. If the database needs more, each
            search reads the files again.
        engine: `auto`, `cpu`, `gpu` or `reference`; all give the same results.
        gpu: the graphics card: `auto`, `none`, its number in `orbit devices`, a part of its name, or its PCI bus id.
        gpu_memory: the maximum number of bytes of the card's memory to use. By default, games that stay on the card take at most
            four fifths of its free memory.
        threads: the number of threads for each search, by default one per core.
        reels: read an up-to-date reel in the same folder instead of a PGN file.
        progress: show a bar (with `tqdm`), or call this function with the bytes read, all bytes or None, games and positions.

    Raises:
        DatabaseError: a path cannot be read.

    >>> import orbit_chess
    >>> orbit_chess.open("games/sample.pgn").positions_count > 10_000
    True
    """
    if not paths:
        raise OptionError("`open` needs a path: name PGN files, folders or reels")
    with watching(progress) as watch:
        native = NativeDatabase.open(
            [os.fspath(path) for path in paths],
            variations=variations,
            memory=memory,
            engine=engine,
            gpu=str(gpu),
            gpu_memory=gpu_memory,
            threads=threads,
            reels=reels,
            progress=watch,
        )
    for problem in native.problems:
        warnings.warn(problem, ReadWarning, stacklevel=2)
    return Database(native)


def loads(
    text: str | bytes | bytearray | memoryview,
    *,
    name: str = "text",
    variations: bool = False,
    engine: str = "auto",
    threads: int | None = None,
) -> Database:
    """Opens games in memory: a text, bytes (plain or compressed), or an object that `str` converts to PGN (`chess.pgn.Game`).

    >>> import orbit_chess
    >>> orbit_chess.loads("1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0").count("mate")
    Count(games=1, positions=1)
    """
    if text is None or isinstance(text, os.PathLike) or hasattr(text, "read"):
        raise OptionError(f"`loads` takes the text of games, not {type(text).__name__}: use `open` for a path, and `.read()` for a file")
    data = bytes(text) if isinstance(text, (bytes, bytearray, memoryview)) else str(text).encode()
    native = NativeDatabase.open_bytes(name, data, variations=variations, engine=engine, threads=threads)
    for problem in native.problems:
        warnings.warn(problem, ReadWarning, stacklevel=2)
    return Database(native)


def _json(choices: Mapping[str, Any]) -> str:
    """Returns the choices that are not None as JSON, for the native module."""
    made = {name: value for name, value in choices.items() if value is not None}
    try:
        # `operator.index` converts numpy integers to Python integers.
        text = json.dumps(made, default=operator.index, allow_nan=False, ensure_ascii=False)
        text.encode()
    except (TypeError, ValueError) as error:
        raise OptionError(f"an option is text, a number or a list of texts: {error}") from None
    return text


def query_of_board(board: Any, *transforms: str, similar: bool = False) -> Query:
    """Returns a query for the pieces on a board, under the given transforms (`"shift"`, `"flip"`, `"flipcolor"`, ...).

    The board is a `chess.Board` or a FEN. In the FEN, `A` is any white piece, `a` any black piece, and `_` a square that must be
    empty. Other squares may be empty or not. With a `chess.BaseBoard`, or a FEN without a side to move, either side may be to
    move. With `similar`, the query's value is the similarity of a position to the board, in percent.

    >>> import orbit_chess
    >>> orbit_chess.query_of_board("8/8/8/8/3N4/5k2/8/8 b", "shift", "flip").text
    'shift flip {btm kf3 Nd4}'
    """
    fen = _fen(board) if _boards.is_board(board) else str(board)
    make = Query.similar if similar else Query.board
    return make(fen, list(transforms))


def _fen(board: Any) -> str:
    has_turn = hasattr(board, "turn")
    return f"{board.board_fen()} {'w' if board.turn else 'b'}" if has_turn else str(board.board_fen())


def board_svg(board: Any, *, lit: Sequence[str | int] = (), arrows: Sequence[tuple[Any, Any]] = (), title: str = "") -> str:
    """Draws a board, given as a FEN or a `chess.Board`, as SVG. `lit` are squares to highlight; an arrow is a pair of squares.

    >>> import orbit_chess
    >>> orbit_chess.board_svg("8/8/8/4k3/8/4K3/8/8", lit=["e4"]).startswith("<svg")
    True
    """
    fen = str(board.board_fen()) if _boards.is_board(board) else str(board)
    squares = [_square(square) for square in lit]
    return _board_svg(title, fen, squares, [(_square(start), _square(end)) for start, end in arrows])


def _square(square: str | int) -> int:
    if isinstance(square, int):
        return square
    if len(square) == 2 and square[0] in "abcdefgh" and square[1] in "12345678":
        return "abcdefgh".index(square[0]) + 8 * (int(square[1]) - 1)
    raise OptionError(f"`{square}` is no square: squares are named from a1 to h8")


def themes(path: AnyPath = "catalogue") -> dict[str, dict[str, str]]:
    """Returns the themes of a file, by default the built-in ones. A theme has a title, a group, a query and a description.

    >>> import orbit_chess
    >>> orbit_chess.themes()["greek-gift"]["group"]
    'tactics'
    """
    names = ["title", "group", "query", "description"]
    return {name: dict(zip(names, rest)) for name, *rest in load_themes(os.fspath(path))}


class Database:
    """An open database. Several threads may search it at the same time.

    `orbit_chess.open` and `orbit_chess.loads` return databases. A query is text in CQL, a `Query`, or a board: see
    `query_of_board`.
    """

    def __init__(self, native: NativeDatabase) -> None:
        self._native = native

    def scan(
        self,
        query: AnyQuery | None = None,
        *,
        rows: str = "hits",
        columns: Sequence[str] | None = None,
        values: bool = True,
        copies: bool | str = True,
        spans: bool = False,
        part: Part | None = None,
        progress: bool | Watch = False,
        **choices: Unpack[Choices],
    ) -> Scan:
        """Prepares a search with the options of `orbit scan`. It starts when results are requested from the returned `Scan`.

        Args:
            at: in place of `query`: a position to search for, as a FEN or as moves from the start, such as `"e4 c5"`.
            where: conditions that games must meet, such as `"elo>=2600"` or `["white~Carlsen", "year>=2015"]`.
            player: count only games of a player, and evaluate the query from his side. `player_exact` accepts only this spelling of
                the name. `side` (`white`, `black`), `rating` (`"2600-2700"`), `opponent` and `opponent_rating` restrict them.
            variations: search side lines as well. The database must contain them: see `open`.
            unique: leave out games that equal an earlier game: in moves, result and tags (`"tags"`), or only in moves (`"moves"`).
            first, best: count only the first hit of each game, or only the hit with the greatest value.
            skip, limit: the number of games with hits to skip at the beginning, and the maximum number to return.
            sort: list games by `value`, `elo`, `date`, `length`, `clock`, `spent`, `eval` or `loss`, the greatest first. With
                `reverse`, the least is first.
            sample: the number of games with hits to select at random, with the seed `seed`.
            engine: the engine to use instead of the database's engine.
            verify: recompute everything (True), or this number of segments of 32 positions, with a second engine. A difference
                is an error.
            rows: tables have a row for each hit (`"hits"`), or for each game with hits (`"games"`).
            columns: the names of the columns, instead of the default ones.
            values: add the value of the query to tables.
            copies: add the matching transformed copy of the query to tables. With `"all"`, each hit in `hits` has all of them.
            spans: add the moves that matched to each hit in `hits`, for queries with lines and paths. Tables always have them.
            part: search only this part of the database: see `parts`.
            progress: show a bar (with `tqdm`), or call this function with the bytes read, all bytes or None, games and positions.

        Raises:
            QueryError: the query is invalid.
            OptionError: an option is invalid.

        >>> import orbit_chess
        >>> db = orbit_chess.open("games/sample.pgn")
        >>> db.scan("mate", where="result=1-0", first=True).count().games > 0
        True
        >>> try:
        ...     db.scan("flip {Ra8 kg8")
        ... except orbit_chess.QueryError as error:
        ...     print(error.line, "^" in str(error))
        1 True
        """
        if values not in (True, False) or copies not in (True, False, "all"):
            raise OptionError('`values` is True or False; `copies` is True, False or "all"')
        if columns is not None and (not values or not copies):
            raise OptionError("`columns` says which columns there are: leave out `values` and `copies`")
        prepared = self._query(query, bool(choices.pop("variations", False)), choices.get("at"))
        choices = once(choices)
        without = ([] if values else VALUE_COLUMNS) + ([] if copies else COPY_COLUMNS)
        if rows not in ("hits", "games"):
            raise OptionError(f"`{rows}` is no kind of rows: choose `hits` or `games`")

        def request(games_max: int | None) -> Request:
            limit = choices.get("limit")
            # A smaller sample would be another one, so `Scan.hits` shortens its list itself.
            if games_max is not None and choices.get("sample") is None:
                limit = games_max if limit is None else min(games_max, limit)
            blocks = None if part is None else (part[0], part[1])
            try:
                options = RequestOptions([prepared], _json({**choices, "limit": limit}), blocks)
            except OverflowError as error:
                raise OptionError(f"`part` is one of `parts`: {error}") from None
            return self._native.request(options)

        return Scan(
            request(None),
            self._native,
            prepared,
            rows=rows,
            columns=columns,
            without=without,
            copies=copies,
            spans=spans,
            progress=progress,
            limited=request,
        )

    def count(self, query: AnyQuery | None = None, **options: Unpack[Options]) -> Count:
        """Returns the numbers of games and positions in which a query matches. The options are those of `scan`.

        >>> import orbit_chess
        >>> db = orbit_chess.loads("1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 *")
        >>> db.count("flip flipcolor {Bb5 nc6}")
        Count(games=1, positions=2)
        """
        return self.scan(query, **options).count()

    def hits(self, query: AnyQuery | None = None, **options: Unpack[Options]) -> Hits:
        """Returns all hits as a list. The options are those of `scan`."""
        return self.scan(query, **options).hits()

    def games(self, query: AnyQuery | None = None, **options: Unpack[Options]) -> Games:
        """Returns the games with hits as a list, each once. The options are those of `scan`."""
        # Games are ordered by all of their hits.
        if not options.get("best") and options.get("sort") is None:
            options.setdefault("first", True)
        return self.scan(query, **options).games()

    def stats(self, query: AnyQuery | None, *groupings: str, **options: Unpack[Options]) -> Stats:
        """Returns counts by groups such as `"year"` and `"elo:100"`. The options are those of `scan`. With `at`, `query` is None.

        >>> import orbit_chess
        >>> db = orbit_chess.loads("1. e4 c5 2. Nf3 *")
        >>> [row["key"] for row in db.stats(None, "next", at="e4 c5")]
        ['Nf3']
        """
        return self.scan(query, **options).stats(*groupings)

    def positions(self, query: AnyQuery | None = None, **options: Unpack[Options]) -> Positions:
        """Returns the positions at which a query matches, by default all, as columns of numbers for machine learning. The
        options are those of `scan`."""
        if query is None and options.get("at") is None:
            query = "true"
        return self.scan(query, **options).positions()

    def batch(
        self,
        themes: AnyPath | Mapping[str, AnyQuery] = "catalogue",
        *,
        progress: bool | Watch = False,
        **choices: Unpack[Choices],
    ) -> dict[str, Count]:
        """Returns, for each of many queries, the numbers of games and positions in which it matches. The games are read only once.

        Args:
            themes: a mapping from names to queries, a theme file, or `"catalogue"` for the built-in themes.
            choices: the options of `scan` that select games and hits.

        >>> import orbit_chess
        >>> db = orbit_chess.loads("1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0")
        >>> db.batch({"mates": "mate", "checks": "check"})
        {'mates': Count(games=1, positions=1), 'checks': Count(games=1, positions=1)}
        """
        names, request = self._themes(themes, [], [], choices)
        if not names:
            return {}
        with watching(progress) as watch:
            counts = request.count(watch)
        return {name: Count(*count) for (name, _, _), count in zip(names, counts)}

    def matrix(
        self,
        themes: AnyPath | Mapping[str, AnyQuery] = "catalogue",
        *,
        by: str | None = None,
        only: Sequence[str] = (),
        group: Sequence[str] = (),
        progress: bool | Watch = False,
        **choices: Unpack[Choices],
    ) -> dict[str, Any]:
        """Returns the counts of many queries, in total and by groups of games or positions: the object that
        `orbit batch --format json` prints. The games are read only once.

        Args:
            themes: a mapping from names to queries, a theme file, or `"catalogue"` for the built-in themes.
            by: the groupings by properties of games or positions, such as `"year,elo:200"`.
            only: the names of the themes to count. With `group`, the themes of the groups are also counted.
            group: the groups of themes to count.
            choices: the options of `scan` that select games and hits.

        >>> import orbit_chess
        >>> matrix = orbit_chess.open("games/sample.pgn").matrix(only=["fianchetto"], by="result")
        >>> [(row["key"], row["games_hit"], row["games"]) for row in matrix["themes"][0]["groupings"]["result"]]
        [('1-0', 233, 372), ('1/2-1/2', 183, 344), ('0-1', 174, 284)]
        """
        names, request = self._themes(themes, list(only), list(group), choices)
        if not names:
            return {"games": 0, "positions": 0, "themes": []}
        with watching(progress) as watch:
            made: dict[str, Any] = json.loads(request.matrix(names, by, watch))
        return made

    def _themes(
        self,
        themes: AnyPath | Mapping[str, AnyQuery],
        only: list[str],
        group: list[str],
        choices: Choices,
    ) -> tuple[list[tuple[str, str, str]], Request]:
        """Returns the name, title and group of each theme, and a request with their queries."""
        variations = bool(choices.pop("variations", False))
        if not isinstance(themes, Mapping):
            loaded = load_themes(os.fspath(themes), only, group)
            names = [(name, title, of) for name, title, of, _, _ in loaded]
            queries: list[AnyQuery] = [text for _, _, _, text, _ in loaded]
        elif only or group:
            raise OptionError("`only` and `group` choose among the themes of a file: leave them out, or leave out queries")
        else:
            names, queries = [(name, name, "") for name in themes], list(themes.values())
        prepared = [self._query(query, variations, choices.get("at")) for query in queries]
        return names, self._native.request(RequestOptions(prepared, _json(once(choices))))

    def parts(self, count: int | None = None) -> list[Part]:
        """Divides the database into about `count` parts with about the same number of positions. By default, a single reel has 16
        parts, and each of several reels is one part. The results of `scan` for all parts, joined in order, equal those for
        the whole database. A part is a tuple of numbers, so it can be sent to other processes.

        Raises:
            OptionError: the database has files other than reels. `orbit index` makes reels from them.

        >>> import orbit_chess, subprocess, sys
        >>> command = [sys.executable, "-m", "orbit_chess", "index", "-q", "games/sample.pgn", "-o", folder / "sample.reel"]
        >>> subprocess.run(command, check=True).returncode
        0
        >>> db = orbit_chess.open(folder / "sample.reel", folder / "sample.reel")
        >>> parts = db.parts()
        >>> len(parts), sum(part.positions for part in parts) == db.positions_count
        (2, True)
        >>> sum(db.count("mate", part=part).games for part in parts) == db.count("mate").games
        True
        """
        if count is not None and count < 1:
            raise OptionError(f"a database has 1 part or more, not {count}")
        parts = self._native.parts(count)
        if parts is None:
            raise OptionError("only a database of reels has parts: `orbit index games.pgn -o games.reel` makes a reel of a file")
        return [Part(*part) for part in parts]

    def game(self, number: int) -> Game:
        """Returns a game by its number. Games are counted from 1 over all sources.

        >>> import orbit_chess
        >>> orbit_chess.open("games/sample.pgn").game(1).number
        1
        """
        found = self._native.game(number) if 0 < number < 2**32 else None
        if found is None:
            raise IndexError(f"there is no game {number}: games are numbered from 1")
        return found

    def seen(self, at: str) -> dict[str, Any]:
        """Returns how often a position occurs in main lines, and the first and the last game that have it, as
        `orbit positions --json` prints them. The position is a FEN, or moves from the start. If a reel has a position
        table, the table is used.

        >>> import orbit_chess
        >>> db = orbit_chess.loads("1. e4 c5 2. Nf3 *\\n\\n1. Nf3 c5 2. e4 *")
        >>> seen = db.seen("e4 c5 Nf3")
        >>> seen["games"], seen["last"]["game"]
        (2, 2)
        """
        found: dict[str, Any] = json.loads(self._native.seen(at))
        return found

    @property
    def sources(self) -> list[str]:
        """The names of the sources. For a reel, these are the files from which it was built."""
        return self._native.sources

    @property
    def games_count(self) -> int | None:
        """The number of games; None if the database is not in memory."""
        return self._native.games

    @property
    def positions_count(self) -> int:
        """The number of positions. If PGN is not in memory, this is 0 or an estimate until a search has read everything."""
        return self._native.positions

    def __repr__(self) -> str:
        sources = self._native.sources
        more = f" and {len(sources) - 3} more" if len(sources) > 3 else ""
        return f"Database({', '.join(sources[:3])}{more}: {self._native.positions:,} positions, {self._native.residence})"

    def _query(self, query: AnyQuery | None, variations: bool, at: str | None) -> Query:
        if query is None and at is not None:
            query = Query.at(at)
        elif query is None or at is not None:
            raise OptionError("give either a query or, in its place, a position with the option `at`")
        elif _boards.is_board(query):
            query = query_of_board(query)
        prepared = query if isinstance(query, Query) else Query(query)
        return prepared.with_variations() if variations else prepared


