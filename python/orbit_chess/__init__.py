"""Search chess games for patterns written in CQL, the Chess Query Language.

Open a database once and run any number of queries on it:

>>> import orbit_chess
>>> db = orbit_chess.open("games/sample.pgn")
>>> count = db.count("mate")
>>> count.games > 10
True

A scan is a query with its options. The search starts only when you ask for results. The rows are Arrow record batches, which
data frames and databases read without copying, while the search runs:

>>> scan = db.scan("flipcolor {Bh7 kg8}", where="result=1-0")
>>> import polars                                                # doctest: +SKIP
>>> polars.DataFrame(scan)                                       # doctest: +SKIP

Hits are objects. Notebooks show them as boards:

>>> hit = scan.hits(limit=1)[0]
>>> hit.game.result, hit.board().piece_at(55) is not None or hit.board().piece_at(15) is not None
('1-0', True)
"""

from ._database import Count, Database, Game, Games, Hit, Hits, Scan, Stats, board_svg, loads, open
from ._database import Part, Positions, Query, query_of_board, themes
from ._errors import DatabaseError, JobError, OptionError, OrbitError, OutputError, QueryError, ReadWarning
from ._native import VERSION as __version__

__all__ = [
    "Count",
    "Database",
    "DatabaseError",
    "Game",
    "Games",
    "Hit",
    "Hits",
    "JobError",
    "OptionError",
    "OrbitError",
    "OutputError",
    "Part",
    "Positions",
    "Query",
    "QueryError",
    "ReadWarning",
    "Scan",
    "Stats",
    "board_svg",
    "loads",
    "open",
    "query_of_board",
    "themes",
]
