"""Search of names, labels and what is certified: what the command line, the API and the UI find nodes by."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from whence.model.graph import Candidates, Hit, SearchTerms, TextMatch, TextMatches
from whence.model.ids import Kind, kind_of, node_id
from whence.model.names import FieldName, JobName, Node
from whence.model.sensitivity import Grade
from whence.query.answers.overfetch import until_enough
from whence.query.answers.values import Filter, dataset_of
from whence.query.lookup.filtered_search import Narrowed, narrowed
from whence.query.lookup.search import Found, HitLabel, Rank, search, standings_of
from whence.query.lookup.standing_search import StandingNames, search_standings
from whence.query.lookup.standings import GetStandings, split_standing_terms
from whence.query.ports.graph import Past, Words
from whence.query.sensitivity.estate_labels import EstateLabels
from whence.query.sensitivity.label_terms import LabelTerm, split_label_terms
from whence.query.traversal.representatives import Representatives
from whence.query.traversal.traits import TraitReader

Named = TypeVar("Named", Hit, TextMatch)
GradesOf = Callable[[str], NDArray[np.uint8]]

LEAST_READ = 10_000
"""The names of so many labelled nodes are read and sorted, also if fewer are wanted."""


def search_nodes(
    graph: Past,
    only: Filter,
    text: str,
    limit: int,
    get_labels: Callable[[], EstateLabels],
    get_standings: GetStandings,
) -> Found:
    """Nodes that match the words of `text`, have all its labels (`label:pii>=partial`), and are certified or canonical
    as it asks (`certified:true`), the best first; without words the nodes with the highest grades, else by name.
    Raises QuestionError for a label that does not exist.

    `get_labels` is called if the text has labels. A dataset with several names is found by labels under the name that
    represents it.
    """
    words, standing_terms = split_standing_terms(text)
    words, terms = split_label_terms(words)
    standings = get_standings()
    names = StandingNames(narrowed(graph, only), standing_terms, standings) if standing_terms else narrowed(graph, only)
    if not terms:
        is_list = standing_terms and not words.strip()
        found = search_standings(graph, only, standing_terms, standings, limit) if is_list else None
        return replace(found or search(names, words, limit, standings), text=text)
    having = _Having(Representatives(graph), get_labels(), terms)
    if words.strip():
        found = search(LabelledNames(names, having), words, limit, standings)
    else:
        found = _search_labels(graph, only, having, limit, StandingNames(graph, standing_terms, standings))
    unknown = having.count_unknown()
    return replace(
        found,
        text=text,
        labels=having.labels_of(found.names),
        standings=standings_of(found.names, standings),
        not_labelled=unknown,
        complete=found.complete and not unknown,
    )


@dataclass(frozen=True, slots=True)
class _Having:
    """Which nodes have all labels of a search."""

    identity: Representatives
    labels: EstateLabels
    terms: Sequence[LabelTerm]

    def is_so(self) -> NDArray[np.bool_]:
        """By index of the labels."""
        return self._all(self.labels.at_most, self.labels.at_most)

    def count_unknown(self) -> int:
        """How many other columns may have them, because of what is not known."""
        may = self._all(self.labels.possible, self.labels.at_most) & ~self.is_so() & self.labels.is_column
        return int(may.sum())

    def _all(self, highest: GradesOf, lowest: GradesOf) -> NDArray[np.bool_]:
        """By index: whether the highest grades reach what every term asks for, and the lowest do not exceed it."""
        found = np.ones(len(self.labels.ids), np.bool_)
        for term in self.terms:
            found &= (highest(term.category) >= term.at_least) & (lowest(term.category) <= term.at_most)
        return found

    def keep(self, several: Sequence[Named]) -> list[Named]:
        """Those of some results that have all labels."""
        places, has = self.places([one.name for one in several]), self.is_so()
        return [one for one, place in zip(several, places, strict=True) if place >= 0 and has[place]]

    def labels_of(self, names: Sequence[Node]) -> tuple[tuple[HitLabel, ...], ...]:
        """The labels of results, in the order of the search."""
        return tuple(tuple(self._label(term, place) for term in self.terms) for place in self.places(names))

    def _label(self, term: LabelTerm, place: int) -> HitLabel:
        grade, proven = (of(term.category)[place] for of in (self.labels.at_most, self.labels.proven))
        return HitLabel(category=term.category, grade=Grade(int(grade)), proven=Grade(int(proven)))

    def places(self, names: Sequence[Node]) -> list[int]:
        """The index of the labels of each name; -1: it has none, as jobs have."""
        ends = [(node_id(name), 0 if (of := dataset_of(name)) is None else node_id(of)) for name in names]
        self.identity.learn(ends)
        found: list[int] = self.labels.places(self.identity.canonical(id_) for id_, _ in ends).tolist()
        return found


@dataclass(slots=True)
class LabelledNames:
    """The names that have all labels of a search."""

    names: Words
    having: _Having

    def find(self, clue: SearchTerms, kind: Kind, limit: int) -> Candidates:
        """As in the port."""
        if kind is Kind.JOB:
            return Candidates((), True)
        return Candidates(*until_enough(lambda most: self.names.find(clue, kind, most), self.having.keep, limit))

    def facet_matches(self, words: Sequence[str], limit: int) -> TextMatches:
        """As in the port."""
        return TextMatches(*until_enough(lambda most: self.names.facet_matches(words, most), self.having.keep, limit))


def _search_labels(graph: Past, only: Filter, having: _Having, limit: int, standing: StandingNames) -> Found:
    """All nodes with the labels, the highest grade first, then by name."""
    order = _by_grade(having)
    fits = _fitting(graph, only)

    def fetch(count: int) -> tuple[Sequence[tuple[Rank, Hit]], bool]:
        several = order[: max(count, LEAST_READ)]
        return [*_ranked(graph, having, several)], len(several) == len(order)

    def keep(several: Sequence[tuple[Rank, Hit]]) -> list[tuple[Rank, Hit]]:
        kept = {hit.id for hit in standing.fitting(fits([hit for _, hit in several]))}
        return [one for one in several if one[1].id in kept]

    matches, complete = until_enough(fetch, keep, limit + 1)
    best = sorted(matches, key=lambda one: one[0])[:limit]
    return Found(
        text="",
        names=tuple(hit.name for _, hit in best),
        ranks=tuple(rank for rank, _ in best),
        complete=complete and len(matches) <= limit,
    )


def _fitting(graph: Past, only: Filter) -> Callable[[Sequence[Hit]], list[Hit]]:
    if only.is_empty:
        return list
    return Narrowed(graph, only, TraitReader(Representatives(graph))).fitting


def _by_grade(having: _Having) -> Sequence[tuple[int, int]]:
    """The grade of the first label, and the id, of each node that has them all."""
    has, labels = np.flatnonzero(having.is_so()), having.labels
    grades = labels.at_most(having.terms[0].category)[has]
    order = np.lexsort((labels.ids[has], -grades.astype(np.int64)))
    return list(zip(grades[order].tolist(), labels.ids[has][order].tolist(), strict=True))


def _ranked(graph: Past, having: _Having, several: Iterable[tuple[int, int]]) -> Iterable[tuple[Rank, Hit]]:
    """Nodes with their ranks."""
    grades = {id_: grade for grade, id_ in several}
    for id_, name in {**graph.nodes(grades), **_made_names(having, grades)}.items():
        if isinstance(name, JobName) or kind_of(id_) is Kind.RUN:
            continue
        of = dataset_of(name)
        assert of is not None
        column = name.field if isinstance(name, FieldName) else ""
        rank = (0, "label", -grades[id_], of.namespace, of.name, isinstance(name, FieldName), column)
        yield rank, Hit(id_, name)


def _made_names(having: _Having, ids: Iterable[int]) -> Mapping[int, Node]:
    made = having.labels.made_names
    return {id_: made[id_] for id_ in ids if id_ in made}
