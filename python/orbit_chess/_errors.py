"""The exceptions and warnings of the package."""

from __future__ import annotations


class OrbitError(Exception):
    """Any error of a database, a query or a search."""


class QueryError(OrbitError, ValueError):
    """A query is invalid. As text, the exception shows the query with the place of the error marked.

    Attributes:
        query: the text of the query.
        message: a description of the error, without its place.
        line, column: the place of the error, counted from 1.
        label: the text beside the mark.
        help: a suggested remedy, or None.
    """

    query: str = ""
    message: str = ""
    line: int = 0
    column: int = 0
    label: str = ""
    help: str | None = None


class OptionError(OrbitError, ValueError):
    """An option, a condition, a grouping or a name is invalid, or has no effect on the query."""


class DatabaseError(OrbitError, OSError):
    """A database cannot be opened or read."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class OutputError(OrbitError, OSError):
    """A file cannot be written."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class JobError(OrbitError, RuntimeError):
    """A job does not exist, or some of its parts could not be computed. The files of complete parts are kept."""


class ReadWarning(UserWarning):
    """A file was not read, or was not read to its end. The games that were read are searched."""
