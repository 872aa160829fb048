"""Names of a graph for a filtered search: fetches more candidates until enough of them match the filter."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from whence.model.graph import Candidates, Hit, SearchTerms, TextMatch, TextMatches
from whence.model.ids import Kind, kind_of, node_id
from whence.model.names import FieldName
from whence.model.traits import Traits
from whence.query.answers.overfetch import until_enough
from whence.query.answers.values import Filter
from whence.query.ports.graph import Past, Words
from whence.query.traversal.filters import has_traits, in_namespace
from whence.query.traversal.representatives import Representatives
from whence.query.traversal.traits import TraitReader

Named = TypeVar("Named", Hit, TextMatch)
_PLAIN = {"dataset": Kind.DATASET, "field": Kind.FIELD, "job": Kind.JOB}


def narrowed(graph: Past, only: Filter) -> Words:
    """The names that match a filter, or the graph itself if all do. `jobs` and `within` apply to traversals only."""
    return graph if only.is_empty else Narrowed(graph, only, TraitReader(Representatives(graph)))


@dataclass(slots=True)
class Narrowed:
    """Names that match a filter. The traits of all aliases are merged; each name has its own namespace."""

    graph: Past
    only: Filter
    knowledge: TraitReader

    def find(self, clue: SearchTerms, kind: Kind, limit: int) -> Candidates:
        """As in the port."""
        if not self._may_be(kind):
            return Candidates((), True)
        return Candidates(*until_enough(lambda most: self.graph.find(clue, kind, most), self.fitting, limit))

    def facet_matches(self, words: Sequence[str], limit: int) -> TextMatches:
        """As in the port."""
        return TextMatches(*until_enough(lambda most: self.graph.facet_matches(words, most), self.fitting, limit))

    def _may_be(self, kind: Kind) -> bool:
        """Whether nodes of a kind may match: a field has a fixed kind, but facets may call a dataset or job a VIEW."""
        wanted = {_PLAIN.get(one.lower()) for one in self.only.kinds}
        return not wanted or kind in wanted or (None in wanted and kind is not Kind.FIELD)

    def fitting(self, found: Sequence[Named]) -> list[Named]:
        """Those of some names that match the filter."""
        spaces = self.only.namespaces
        near = [one for one in found if not spaces or in_namespace(one.name, spaces)]
        identity = self.knowledge.identity
        identity.learn(map(_end, near))
        self.knowledge.learn(identity.canonical(one.id) for one in near)
        return [one for one in near if has_traits(one.name, self._traits(one.id), self.only)]

    def _traits(self, id_: int) -> Traits:
        return self.knowledge.of(self.knowledge.identity.canonical(id_))


def _end(one: Hit | TextMatch) -> tuple[int, int]:
    """The id, and that of its dataset (0 for a job)."""
    if isinstance(one.name, FieldName):
        return one.id, node_id(one.name.dataset)
    return one.id, one.id if kind_of(one.id) is Kind.DATASET else 0
