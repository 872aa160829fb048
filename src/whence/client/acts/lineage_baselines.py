"""Lineage baselines in answers: values, and the questions about them."""

from typing import Any, TypeVar
from urllib.parse import quote

import msgspec

from whence.client.connection import Connection
from whence.client.options import Time, iso_text

Value = TypeVar("Value")


class LineageChange(msgspec.Struct, frozen=True, kw_only=True):
    """An edge that differs (`added`, `removed` or `changed`), with its transformations before and after. `source`: None
    if a job does not report what the target is made of.
    """

    change: str
    source: str | None
    target: str
    before: tuple[str, ...]
    after: tuple[str, ...]


class LineageBaselineRow(msgspec.Struct, frozen=True, kw_only=True):
    """The baseline of a dataset: whether the lineage is still the accepted one (`ok`, `drifted`, `not evaluated`, `no
    baseline`), who accepted it, how many edges it has, and how many differ.
    """

    node: str
    state: str
    certification: str | None
    accepted_at: str | None
    accepted_by: str | None
    edges: int
    differing: int


class LineageBaseline(LineageBaselineRow, frozen=True, kw_only=True):
    """A baseline with what differs. `hidden`: changes of edges that the key may not see; `more`: changes beyond the
    named ones; `forgotten`: removed edges that the store does not know any more.
    """

    at: str
    reason: str | None
    digest: str | None
    position: str | None
    changes: tuple[LineageChange, ...]
    hidden: int
    more: int
    forgotten: int


class LineageBaselines(msgspec.Struct, frozen=True, kw_only=True):
    """The baselines at a time, and the certified datasets that have none."""

    at: str
    baselines: tuple[LineageBaselineRow, ...]
    without: tuple[str, ...]


class LineageBaselineAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer about one dataset."""

    data: LineageBaseline


class LineageBaselinesAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer about all datasets."""

    data: LineageBaselines


class LineageBaselineQuestions:
    """The questions about lineage baselines, for a client of a server."""

    _connection: Connection

    def lineage_baseline(self, dataset: str, *, as_of: Time | None = None) -> LineageBaseline:
        """The accepted lineage upstream of a dataset at a time, and each edge that differs from it."""
        document = self._connection.get(_path(dataset), {"as_of": iso_text(as_of)})
        return self._converted(document, LineageBaselineAnswer).data

    def lineage_baselines(self, *, as_of: Time | None = None) -> LineageBaselines:
        """The datasets whose lineage somebody accepted, and the certified datasets without a baseline."""
        document = self._connection.get("/api/v2/lineage-baselines", {"as_of": iso_text(as_of)})
        return self._converted(document, LineageBaselinesAnswer).data

    def accept_lineage(self, dataset: str, reason: str, *, end: bool = False) -> LineageBaseline:
        """Accept the current lineage upstream of a dataset as the holder of the key, a steward of its namespace; or end
        its baseline. Raises QuestionError if it has none to end, AccessError without the role.
        """
        document = self._connection.post(_path(dataset), {"reason": reason, "end": end})
        return self._converted(document, LineageBaselineAnswer).data

    def _converted(self, value: Any, type_: type[Value]) -> Value:
        """An answer as a value. Raises ServerVersionError."""
        raise NotImplementedError


def _path(dataset: str) -> str:
    return f"/api/v2/nodes/{quote(dataset, safe='')}/lineage-baseline"
