"""Converts positions and games to python-chess objects, and makes pictures for notebooks."""

from __future__ import annotations

import base64
import html
import io
from typing import Any


def _chess() -> Any:
    try:
        import chess
        import chess.pgn
    except ImportError as error:
        raise ImportError("boards are objects of python-chess: install it with `pip install chess`") from error
    return chess


def board(fen: str) -> Any:
    """Converts a FEN to a `chess.Board`, which is a Chess960 board only if its castling rights require this."""
    chess = _chess()
    made = chess.Board(fen, chess960=True)
    if not made.has_chess960_castling_rights():
        made.chess960 = False
    return made


def game(pgn: str) -> Any:
    """Converts PGN to a `chess.pgn.Game`."""
    return _chess().pgn.read_game(io.StringIO(pgn))


def is_board(value: object) -> bool:
    """Returns True if a value is a `chess.BaseBoard`, without importing `chess`."""
    return any(kind.__name__ == "BaseBoard" and kind.__module__ == "chess" for kind in type(value).__mro__)


def image(svg: str, width: int = 240) -> str:
    """Returns an SVG as an HTML image, so that its styles and ids cannot clash with those of the page."""
    data = base64.b64encode(svg.encode()).decode()
    return f'<img width="{width}" src="data:image/svg+xml;base64,{data}">'


def gallery(cells: list[tuple[str, str]], more: int) -> str:
    """Returns SVG pictures as HTML, each with its caption. `more` is the number of pictures that are left out."""
    parts = ['<div style="display:flex;flex-wrap:wrap;gap:12px">']
    for svg, caption in cells:
        parts.append(
            f'<figure style="margin:0;width:240px">{image(svg)}'
            f'<figcaption style="font-size:85%">{html.escape(caption)}</figcaption></figure>'
        )
    parts.append("</div>")
    if more:
        parts.append(f"<p>and {more:,} more</p>")
    return "".join(parts)


def table(rows: list[dict[str, Any]], rows_max: int = 60) -> str:
    """Returns rows as an HTML table with at most `rows_max` rows."""
    if not rows:
        return "<p>no rows</p>"
    names = list(rows[0])
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)

    def text(value: Any) -> str:
        if value is None:
            return ""
        if isinstance(value, float):
            return f"{value:.4f}"
        return html.escape(str(value))

    body = "".join(
        "<tr>" + "".join(f"<td>{text(row.get(name))}</td>" for name in names) + "</tr>" for row in rows[:rows_max]
    )
    more = f"<p>and {len(rows) - rows_max:,} more</p>" if len(rows) > rows_max else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"
