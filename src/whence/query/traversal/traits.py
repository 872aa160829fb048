"""Traits of nodes (`model.traits`), read from a graph."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from whence.model.graph import ALL_TIME, FacetRow, HeldFacetRow
from whence.model.ids import Kind, kind_of
from whence.model.traits import NO_TRAITS, TRAIT_FACETS, Traits, parse_traits
from whence.openlineage.facets.steward_tags import TAG_FACETS
from whence.query.ports.graph import Graph
from whence.query.traversal.representatives import Representatives

_UNDATED = tuple(name for name in TRAIT_FACETS if name not in TAG_FACETS)
"""The facets of traits whose history is not stored."""


def read_trait_facets(graph: Graph, ids: Iterable[int], at: int | None) -> Sequence[FacetRow | HeldFacetRow]:
    """The facets of datasets and jobs that have traits. Tags are those of a time (µs; None, ALL_TIME: now), other
    traits those of now.
    """
    wanted = sorted(set(ids))
    if not wanted:
        return []
    if at is None or at == ALL_TIME:
        return graph.facets(wanted, TRAIT_FACETS)
    return [*graph.facets(wanted, _UNDATED), *graph.tags_at(wanted, at)]


@dataclass(slots=True)
class TraitReader:
    """Reads traits once for each dataset or job, with the tags of a time (`at`, µs; None: now). The traits of all
    aliases are merged.
    """

    identity: Representatives
    at: int | None = None
    _traits: dict[int, Traits] = field(default_factory=dict)

    def learn(self, nodes: Iterable[int]) -> None:
        """Read the traits of canonical nodes, for `of`."""
        self.learn_subjects({self.subject(node) for node in nodes})

    def learn_subjects(self, ids: Iterable[int]) -> None:
        """Read the traits of canonical datasets and jobs, for `of_subject`."""
        subjects = set(ids) - self._traits.keys()
        members = {member: subject for subject in subjects for member in self.identity.members(subject)}
        facets_by_subject: dict[int, list[tuple[str, str]]] = {}
        for row in read_trait_facets(self.identity.graph, members, self.at):
            facets_by_subject.setdefault(members[row.subject_id], []).append((row.name, row.payload))
        self._traits |= dict.fromkeys(subjects, NO_TRAITS)
        self._traits |= {subject: parse_traits(facets) for subject, facets in facets_by_subject.items()}

    def of(self, node: int) -> Traits:
        """The traits of a node; for a field, those of its dataset."""
        return self.of_subject(self.subject(node))

    def of_subject(self, subject: int) -> Traits:
        """The traits of a canonical dataset or job."""
        return self._traits[subject]

    def subject(self, node: int) -> int:
        """The dataset or job whose facets describe the node."""
        return self.identity.dataset_of[node] if kind_of(node) is Kind.FIELD else node
