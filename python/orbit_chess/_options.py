"""The options of searches, with their types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, TypedDict

Watch = Callable[[int, "int | None", int, int], None]


class Part(NamedTuple):
    """A part of a database of reels, to be searched by itself: see `Database.parts`."""

    #: The first block, counted from 0 over all reels.
    first: int
    #: The block behind the last.
    end: int
    #: Positions in these blocks.
    positions: int


class Choices(TypedDict, total=False):
    """Which games and hits count, and which come first. All may be left out; None is the default of each."""

    #: Conditions that games must meet, such as `"elo>=2600"` or `["white~Carlsen", "year>=2015"]`.
    where: str | Sequence[str] | None
    #: Count only games of a player, and evaluate the query from his side.
    player: str | None
    #: The same for one spelling of a name, as the tag has it.
    player_exact: str | None
    #: The side that the player must have.
    side: Literal["white", "black", "any"] | None
    #: The range of the player's rating, such as `"2600-2700"`.
    rating: str | None
    #: The name of the opponent.
    opponent: str | None
    #: The range of the opponent's rating.
    opponent_rating: str | None
    #: Search side lines as well; the database must keep them.
    variations: bool | None
    #: Leave out games that are equal to an earlier one: in everything, or only in their moves.
    unique: Literal["tags", "moves"] | None
    #: Count only the first hit of each game.
    first: bool | None
    #: Count only the hit of each game with the greatest value.
    best: bool | None
    #: Leave out so many of the games that hit.
    skip: int | None
    #: Stop after so many games that hit.
    limit: int | None
    #: The order of games, the greatest first.
    sort: Literal["value", "elo", "date", "length", "clock", "spent", "eval", "loss"] | None
    #: The least first.
    reverse: bool | None
    #: So many of the games that hit, chosen at random.
    sample: int | None
    #: The number that decides what is chosen at random.
    seed: int | None
    #: Another engine than that of the database.
    engine: Literal["auto", "cpu", "gpu", "reference"] | None
    #: Have a second engine compute everything as well, or so many segments of 32 positions; a difference is an error.
    verify: bool | int | None


def once(choices: Choices) -> Choices:
    """The same choices, to be used any number of times: conditions that come one by one are read here."""
    where = choices.get("where")
    if where is None or isinstance(where, str):
        return choices
    return {**choices, "where": list(where)}


class TableOptions(Choices, total=False):
    """The options of `Database.scan` that say what is searched and what its tables have."""

    #: A row for each of the hits, or for each of the games that hit.
    rows: Literal["hits", "games"]
    #: Only these columns.
    columns: Sequence[str] | None
    #: Have the value of the query in tables.
    values: bool
    #: Have the copy that matches in tables; `"all"` for all copies at each hit.
    copies: bool | Literal["all"]
    #: Find what hits of lines and paths consist of.
    spans: bool


class Options(TableOptions, total=False):
    """The options of `Database.scan`."""

    #: Search only this part of the database.
    part: Part | None
    #: Show a bar (with `tqdm`), or call this with bytes, all bytes or None, games and positions.
    progress: bool | Watch
