"""The tests that a head needs: those of what it changes and affects, and all of critical datasets downstream."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from whence.govern.gate.impact import UNKNOWN_DATASET, Assessment, Impact, is_hidden
from whence.model.changes import ChangeKind, ColumnChange
from whence.model.names import DatasetName, FieldName, Node


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownTest:
    """A test of data.

    `name`: as its tool selects it; `assertion`: what it asserts (`not_null`); `file`: where it is written, if known.
    `reads`: the columns that decide on its result, and the datasets of which any column may. `tables`:
    the datasets whose rows it reads. `is_changed`: the head brings it, or changes it.
    """

    name: str
    assertion: str
    tables: tuple[DatasetName, ...]
    reads: tuple[Node, ...]
    file: str = ""
    is_changed: bool = False


class Because(StrEnum):
    """Why a test is selected; the first that holds."""

    NEW = "the test is new, or changed"
    CHANGED = "it reads what changes"
    AFFECTED = "it reads what is affected"
    TIER = "its dataset is critical, and affected"
    INCOMPLETE = "more may be affected than is known"


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectedTest:
    """A test that the head needs, and why. `node`: the changed or affected node that it reads."""

    test: KnownTest
    because: Because
    node: Node | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TestSelection:
    """The tests that are enough for a head, of `known` ones. `incomplete`: why all are selected, if so."""

    selected: tuple[SelectedTest, ...] = ()
    known: int = 0
    incomplete: str = ""

    @property
    def saved(self) -> float:
        """The share of the known tests that need not run, from 0 to 1."""
        return 1 - len(self.selected) / self.known if self.known else 0.0


def select_tests(assessment: Assessment, tests: Sequence[KnownTest], tiers: frozenset[int]) -> TestSelection:
    """The tests that changes of these columns may break. `tiers`: datasets of these keep all their tests.

    Where the search for what is affected was cut, every test is selected: fewer might miss one.
    """
    changed, affected = _Region(assessment), _Region(assessment)
    for one in assessment.changes:
        if not one.change.kind.is_harmless:
            (affected if one.change.inherited else changed).add(*_changed_nodes(one.change))
            affected.add(*(node.node for node in one.impact.affected))
    critical = affected.datasets_of(assessment, tiers) | changed.datasets_of(assessment, tiers)
    incomplete = next(filter(None, (_cut(one.impact) for one in assessment.changes)), "")
    found = (_select(one, changed, affected, critical, incomplete) for one in tests)
    selected = tuple(one for one in found if one is not None)
    return TestSelection(selected=selected, known=len(tests), incomplete=incomplete)


def affected_datasets(assessment: Assessment) -> tuple[DatasetName, ...]:
    """The datasets that changes concern, the changed ones first: those whose tests matter."""
    causes = [one for one in assessment.changes if not one.change.kind.is_harmless]
    subjects = [one.change.dataset for one in causes]
    found = [*subjects, *(node for one in causes for node in one.impact.subjects if isinstance(node, DatasetName))]
    return tuple(dict.fromkeys(one for one in found if not is_hidden(one)))


def _cut(impact: Impact) -> str:
    return "" if impact.incomplete == UNKNOWN_DATASET else impact.incomplete


def _select(
    test: KnownTest, changed: "_Region", affected: "_Region", critical: frozenset[DatasetName], incomplete: str
) -> SelectedTest | None:
    if test.is_changed:
        return SelectedTest(test=test, because=Because.NEW)
    for region, because in ((changed, Because.CHANGED), (affected, Because.AFFECTED)):
        if node := region.node_of(test):
            return SelectedTest(test=test, because=because, node=node)
    if node := next((one for one in test.tables if changed.canonical(one) in critical), None):
        return SelectedTest(test=test, because=Because.TIER, node=node)
    return SelectedTest(test=test, because=Because.INCOMPLETE) if incomplete else None


def _changed_nodes(change: ColumnChange) -> Iterator[Node]:
    if change.column is None:
        yield change.dataset
        return
    yield FieldName(change.dataset, change.column)
    if change.kind is ChangeKind.RENAMED:
        yield from (FieldName(change.dataset, name) for name in (change.before, change.after) if name)


class _Region:
    """Columns, and datasets of which every column counts, by the names that production gives datasets.

    Columns are compared without regard to case: a test more is better than one that is missed.
    """

    def __init__(self, assessment: Assessment) -> None:
        self._names = assessment.names
        self._wholes: set[DatasetName] = set()
        self._fields: dict[DatasetName, set[str]] = {}

    def canonical(self, dataset: DatasetName) -> DatasetName:
        return self._names.get(dataset, dataset)

    def add(self, *nodes: Node) -> None:
        for node in nodes:
            match node:
                case FieldName(dataset, field):
                    self._fields.setdefault(self.canonical(dataset), set()).add(field.casefold())
                case DatasetName():
                    self._wholes.add(self.canonical(node))

    def node_of(self, test: KnownTest) -> Node | None:
        """A node of the region that decides on a test."""
        for table in test.tables:
            if self.canonical(table) in self._wholes:
                return table
        return next((one for one in test.reads if self._has(one)), None)

    def _has(self, node: Node) -> bool:
        match node:
            case FieldName(dataset, field):
                return field.casefold() in self._fields.get(self.canonical(dataset), ())
            case DatasetName():
                return self.canonical(node) in self._fields
        return False

    def datasets_of(self, assessment: Assessment, tiers: frozenset[int]) -> frozenset[DatasetName]:
        """The datasets of the region that are of one of these tiers."""
        named = [*self._wholes, *self._fields]
        return frozenset(one for one in named if assessment.facts_of(one).tier in tiers)
