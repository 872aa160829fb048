"""What the datasets of an estate contain over time, as far as it is measured: rows, duplicates, missing values."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256

from whence.govern.gamedays.scenario import Column, Fault, Source, Table, Task

_NOISE = 0.03
"""The rows of healthy runs vary by this share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A column as a run wrote it, the share of its values that is missing, and the columns that they come from."""

    name: str
    type: str
    sources: tuple[Source, ...] = ()
    nulls: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a run wrote: `rows` is relative to those of a healthy run, `copies` of them are duplicates of others."""

    rows: float = 1.0
    copies: float = 1.0
    columns: tuple[Written, ...] = ()

    def nulls_of(self, column: str) -> float:
        """The share of missing values of a column: all, if it is not there."""
        return next((one.nulls for one in self.columns if one.name == column), 1.0)


def healthy(table: Table) -> Content:
    """The content of a dataset that no job of the estate writes."""
    return Content(columns=tuple(Written(name=one.name, type=one.type) for one in table.columns))


def write_content(table: Table, task: Task, fault: Fault | None, read: Mapping[str, Content]) -> Content:
    """What a run writes into a table that reads these contents, by key."""
    keys = dict.fromkeys(task.reads) if fault is None else {fault.reads.get(key, key): None for key in task.reads}
    driver = next((read[key] for key in keys), Content())
    columns = tuple(_columns(table, fault, read))
    if fault is None:
        return Content(rows=driver.rows, copies=driver.copies, columns=columns)
    return Content(rows=driver.rows * fault.rows, copies=driver.copies * fault.copies, columns=columns)


def count_rows(table: Table, content: Content, run: str) -> tuple[int, int]:
    """How many rows a run wrote, and how many of them are distinct. The same run always has the same numbers."""
    draw = int.from_bytes(sha256(f"{table.key}/{run}".encode()).digest()[:4], "big") / 2**32
    distinct = table.rows * content.rows * (1 + _NOISE * (2 * draw - 1))
    return round(distinct * content.copies), round(distinct)


def _columns(table: Table, fault: Fault | None, read: Mapping[str, Content]) -> Iterator[Written]:
    for one in table.columns:
        if fault is None:
            yield _column(one, one.name, one.type, one.sources, 0.0, read)
        elif one.name not in fault.drops:
            sources = tuple((fault.reads.get(key, key), column) for key, column in one.sources)
            name, kind = fault.renames.get(one.name, one.name), fault.retypes.get(one.name, one.type)
            yield _column(one, name, kind, sources, fault.nulls.get(one.name, 0.0), read)
    yield from (Written(name=name, type=kind) for name, kind in (fault.adds.items() if fault else ()))


def _column(
    one: Column, name: str, kind: str, sources: tuple[Source, ...], nulls: float, read: Mapping[str, Content]
) -> Written:
    inherited = (read[key].nulls_of(column) if column else 0.0 for key, column in sources)
    return Written(name=name, type=kind, sources=sources, nulls=max(nulls, *inherited, 0.0))
