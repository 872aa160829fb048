"""What differed so far between two versions of a dataset, and how much of it the databases have shown."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from whence.capture.sql.trials.execution import Rows
from whence.capture.sql.trials.generation.tables import Database

_MOST_VALUES = 50


@dataclass(slots=True)
class Difference:
    """One dataset on all databases so far.

    `compared`: databases on which both versions ran; `filled`: those where the base has rows.
    """

    compared: int = 0
    filled: int = 0
    types: set[str] = field(default_factory=set)
    columns: set[str] = field(default_factory=set)
    counts: bool = False
    rows: bool = False
    shown: int = 0
    """The databases that show a difference."""
    fails: bool = False
    names: tuple[str, ...] = ()
    values: dict[str, set[str]] = field(default_factory=dict)
    smallest: dict[str, Database] = field(default_factory=dict)
    """The smallest database that shows a difference of each column, and of rows (empty), where their order decides
    nothing.
    """
    first: int = -1
    """The number of the first one."""

    @property
    def is_found(self) -> bool:
        return bool(self.types or self.columns or self.rows or self.fails)

    def add(self, before: Rows, after: Rows, database: Database, is_tied: bool, is_filled: bool) -> None:
        """Compare what the versions made of one database."""
        self.compared += 1
        self.names = before.names
        shared = [name for name in before.names if name in after.types]
        kinds = {name for name in shared if before.types[name] != after.types[name]}
        columns, is_other = compare_rows(before, after, shared)
        if not is_tied:  # the base's own answer does not depend on the order of its rows
            self.filled += is_filled
            for place, name in enumerate(before.names):
                known = self.values.setdefault(name, set())
                if len(known) < _MOST_VALUES:
                    known.update(row[place] for row in before.rows)
        self.types |= kinds
        self.columns |= columns
        self.counts = self.counts or len(before.rows) != len(after.rows)
        self.rows = self.rows or is_other
        self.shown += is_other
        if is_other or kinds:
            self._note(database, (*columns, *([""] if is_other else [])) if not is_tied else ())

    def add_failure(self, database: Database) -> None:
        """The head does not run where the base does."""
        self.compared += 1
        self.fails = True
        self._note(database, ())

    def _note(self, database: Database, shows: Iterable[str]) -> None:
        self.first = database.number if self.first < 0 else self.first
        for name in shows:
            if name not in self.smallest or database.size < self.smallest[name].size:
                self.smallest[name] = database


def compare_rows(before: Rows, after: Rows, shared: list[str]) -> tuple[set[str], bool]:
    """The columns with other values, and whether any row differs; the order of rows does not count."""
    if before.names == after.names and (before.rows == after.rows or sorted(before.rows) == sorted(after.rows)):
        return set(), False
    left, right = _columns(before, shared), _columns(after, shared)
    changed = {name for name in shared if Counter(left[name]) != Counter(right[name])}
    if changed or len(before.rows) != len(after.rows):
        return changed, True
    return set(), Counter(zip(*left.values(), strict=True)) != Counter(zip(*right.values(), strict=True))


def _columns(rows: Rows, names: list[str]) -> Mapping[str, list[str]]:
    places = {name: place for place, name in enumerate(rows.names)}
    return {name: [row[places[name]] for row in rows.rows] for name in names}
