"""The keyword arguments of searches, such as `where` and `limit`, as typed dictionaries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, TypedDict

Watch = Callable[[int, "int | None", int, int], None]


class Part(NamedTuple):
    """A part of a database of reels, which can be searched alone: see `Database.parts`."""

    #: The index of the first block, counted from 0 over all reels.
    first: int
    #: The index of the last block, plus 1.
    end: int
    #: The number of positions in these blocks.
    positions: int


class Choices(TypedDict, total=False):
    """Options that select games and hits, and order them. Each option may be left out, and defaults to None."""

    #: In place of a query: the position to search for, as a FEN or as moves from the start, such as `"e4 c5"`.
    at: str | None
    #: Conditions that games must meet, such as `"elo>=2600"` or `["white~Carlsen", "year>=2015"]`.
    where: str | Sequence[str] | None
    #: Count only games of a player, and evaluate the query from his side.
    player: str | None
    #: Like `player`, but only for games in which the name has this exact spelling.
    player_exact: str | None
    #: The side that the player must have.
    side: Literal["white", "black", "any"] | None
    #: The range of the player's rating, such as `"2600-2700"`.
    rating: str | None
    #: The name of the opponent.
    opponent: str | None
    #: The range of the opponent's rating.
    opponent_rating: str | None
    #: Search side lines as well. The database must contain them: see `open`.
    variations: bool | None
    #: Leave out games that equal an earlier game: in moves, result and tags, or only in their moves.
    unique: Literal["tags", "moves"] | None
    #: Count only the first hit of each game.
    first: bool | None
    #: Count only the hit with the greatest value in each game.
    best: bool | None
    #: The number of games with hits to skip at the beginning.
    skip: int | None
    #: The number of games with hits after which the search stops.
    limit: int | None
    #: The value by which games are sorted, the greatest first.
    sort: Literal["value", "elo", "date", "length", "clock", "spent", "eval", "loss"] | None
    #: Sort the games with the least value first.
    reverse: bool | None
    #: The number of games with hits to select at random.
    sample: int | None
    #: The seed for the random selection.
    seed: int | None
    #: The engine to use instead of the database's engine.
    engine: Literal["auto", "cpu", "gpu", "reference"] | None
    #: Recompute everything (True), or this number of segments of 32 positions, with a second engine. A difference is an error.
    verify: bool | int | None


def once(choices: Choices) -> Choices:
    """Returns options that can be used several times: conditions that are an iterator are read into a list."""
    where = choices.get("where")
    if where is None or isinstance(where, str):
        return choices
    return {**choices, "where": list(where)}


class TableOptions(Choices, total=False):
    """The options of `Database.scan` that determine which games are searched and which columns the tables have."""

    #: The rows of tables: one for each hit, or one for each game with hits.
    rows: Literal["hits", "games"]
    #: The names of the columns, instead of the default ones.
    columns: Sequence[str] | None
    #: Add the value of the query to tables.
    values: bool
    #: Add the matching copy (transformed query) to tables, or all matching copies to each hit (`"all"`).
    copies: bool | Literal["all"]
    #: Find the moves that matched, for queries with lines and paths.
    spans: bool


class Options(TableOptions, total=False):
    """The options of `Database.scan`."""

    #: Search only this part of the database.
    part: Part | None
    #: Show a bar (with `tqdm`), or call this function with four numbers: bytes read, all bytes (or None), games and
    #: positions.
    progress: bool | Watch
