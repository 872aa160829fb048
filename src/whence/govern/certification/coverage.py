"""How complete the lineage of a dataset is: of which columns upstream the sources are known. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from whence.model.names import DatasetName, FieldName, Node


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownLineage:
    """How values pass between columns. `columns`: those of each dataset; `sources`: of each column the columns that its
    values are made of; `unreported`: columns, and whole datasets, of which a job does not report that; `derived`: the
    datasets that are made of another one. `complete`: no budget cut the reading.
    """

    columns: Mapping[DatasetName, frozenset[FieldName]] = field(default_factory=dict)
    sources: Mapping[FieldName, frozenset[FieldName]] = field(default_factory=dict)
    unreported: frozenset[Node] = frozenset()
    derived: frozenset[Node] = frozenset()
    complete: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Of one dataset: the columns upstream (its own among them) whose sources are known, and those of which a job does
    not report them. `has_inputs`: something is known of which it is made. `complete`: no budget cut the reading.
    """

    explained: frozenset[FieldName] = frozenset()
    unexplained: frozenset[FieldName] = frozenset()
    has_inputs: bool = False
    complete: bool = True

    @property
    def share(self) -> Fraction | None:
        """The share of columns upstream whose sources are known; None if there is no such column."""
        whole = len(self.explained) + len(self.unexplained)
        return Fraction(len(self.explained), whole) if whole else None


def coverage_of(known: KnownLineage, dataset: DatasetName) -> Coverage:
    """The coverage of a dataset, under the name that the lineage gives to it."""
    reached = set(known.columns.get(dataset, ()))
    frontier = list(reached)
    while frontier:
        found = known.sources.get(frontier.pop(), frozenset()) - reached
        reached |= found
        frontier += found
    unexplained = frozenset(one for one in reached if one in known.unreported or one.dataset in known.unreported)
    explained = frozenset(one for one in reached - unexplained if known.sources.get(one))
    return Coverage(
        explained=explained,
        unexplained=unexplained,
        has_inputs=dataset in known.derived or any(one.dataset == dataset for one in explained),
        complete=known.complete,
    )
