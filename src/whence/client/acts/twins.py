"""Twins in answers: values, and the question about them."""

from typing import Any, TypeVar

import msgspec

from whence.client.connection import Connection
from whence.client.options import Time, iso_text

Value = TypeVar("Value")


class TwinReader(msgspec.Struct, frozen=True, kw_only=True):
    """A model or dashboard that reads a twin which is not preferred."""

    reader: str
    twin: str


class TwinGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Datasets whose columns come from the same sources by the same formulas."""

    datasets: tuple[str, ...]
    columns: int
    sources: tuple[str, ...]
    hidden_sources: int
    preferred: tuple[str, ...]
    readers: tuple[TwinReader, ...]


class TwinsReport(msgspec.Struct, frozen=True, kw_only=True):
    """All groups. `complete`: whether all lineage was read."""

    complete: bool
    groups: tuple[TwinGroup, ...]


class TwinsAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of a server."""

    data: TwinsReport


class TwinQuestions:
    """The question about twins, for a client of a server."""

    _connection: Connection

    def _converted(self, value: Any, type_: type[Value]) -> Value:
        raise NotImplementedError

    def twins(self, *, as_of: Time | None = None) -> TwinsReport:
        """Datasets whose columns come from the same sources by the same formulas, and who reads the wrong one."""
        document = self._connection.get("/api/v2/reports/twins", {"as_of": iso_text(as_of)})
        return self._converted(document, TwinsAnswer).data
