"""What can go wrong."""

from __future__ import annotations


class OrbitError(Exception):
    """Any error of a database, a query or a search."""


class QueryError(OrbitError, ValueError):
    """A query is not understood. Its text is the query with the place marked.

    Attributes:
        query: the text of the query.
        message: what is wrong, by itself.
        line, column: where, counted from 1.
        label: what stands beside the mark.
        help: a remedy, or None.
    """

    query: str = ""
    message: str = ""
    line: int = 0
    column: int = 0
    label: str = ""
    help: str | None = None


class OptionError(OrbitError, ValueError):
    """An option, a condition, a grouping or a name is not understood, or has no effect on the query."""


class DatabaseError(OrbitError, OSError):
    """A database cannot be opened or read."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class OutputError(OrbitError, OSError):
    """A file cannot be written."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class JobError(OrbitError, RuntimeError):
    """A job is not there, or parts of it could not be computed; those that are complete stay."""


class ReadWarning(UserWarning):
    """A file was not read, or not to its end; what was read is searched."""
