"""The defined KPIs and their measurements over time. Works without Spark."""

from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files
from itertools import groupby, takewhile
from operator import attrgetter, itemgetter

from whence.derive.delta.table import find_table, table_uri


@dataclass(frozen=True, slots=True)
class Kpi:
    """A KPI: its definition in words and in SQL."""

    name: str
    unit: str
    definition: str
    query: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A row of the table `kpi`."""

    measured_at: datetime
    name: str
    value: float | None
    unit: str
    numerator: float | None
    denominator: float | None


@cache
def kpis() -> tuple[Kpi, ...]:
    """All KPIs, by name."""
    found = (one for one in (files(__package__) / "definitions").iterdir() if one.name.endswith(".sql"))
    return tuple(
        sorted((_parse(one.name.removesuffix(".sql"), one.read_text("utf-8")) for one in found), key=attrgetter("name"))
    )


def read_series(root: str) -> dict[str, tuple[Measured, ...]]:
    """All measurements of each KPI, oldest first, read without Spark. Empty if nothing was measured yet.

    Raises TableError if the table cannot be read.
    """
    table = find_table(table_uri(root, "kpi"))
    if table is None:
        return {}
    rows = sorted(table.to_pyarrow_table().to_pylist(), key=lambda row: (row["name"], row["measured_at"]))
    return {name: tuple(Measured(**row) for row in some) for name, some in groupby(rows, key=itemgetter("name"))}


def _parse(name: str, text: str) -> Kpi:
    lines = text.splitlines()
    words = [line.removeprefix("--").strip() for line in takewhile(lambda line: line.startswith("--"), lines)]
    return Kpi(name, words[0], " ".join(words[1:]), "\n".join(lines[len(words) :]))
