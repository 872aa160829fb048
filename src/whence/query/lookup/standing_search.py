"""Search among what has, or lacks, a standing: `certified:true`, `canonical:false`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from whence.errors import QuestionError
from whence.model.graph import Candidates, Hit, SearchTerms, TextMatch, TextMatches
from whence.model.ids import Kind, node_id
from whence.query.answers.overfetch import until_enough
from whence.query.answers.values import Filter
from whence.query.lookup.filtered_search import Narrowed
from whence.query.lookup.search import Found, Rank, standings_of
from whence.query.lookup.standings import Standings, StandingTerm
from whence.query.ports.graph import Past, Words
from whence.query.traversal.representatives import Representatives
from whence.query.traversal.traits import TraitReader

Named = TypeVar("Named", Hit, TextMatch)


@dataclass(frozen=True, slots=True)
class StandingNames:
    """The names that fit all terms of a search."""

    names: Words
    terms: Sequence[StandingTerm]
    standings: Standings

    def find(self, clue: SearchTerms, kind: Kind, limit: int) -> Candidates:
        """As in the port."""
        if kind is Kind.JOB:
            return Candidates((), True)
        return Candidates(*until_enough(lambda most: self.names.find(clue, kind, most), self.fitting, limit))

    def facet_matches(self, words: Sequence[str], limit: int) -> TextMatches:
        """As in the port."""
        return TextMatches(*until_enough(lambda most: self.names.facet_matches(words, most), self.fitting, limit))

    def fitting(self, found: Sequence[Named]) -> list[Named]:
        """Those of some names that fit."""
        return [one for one in found if all(term.fits(one.name, self.standings) for term in self.terms)]


def search_standings(
    graph: Past, only: Filter, terms: Sequence[StandingTerm], standings: Standings, limit: int
) -> Found:
    """All datasets with a standing, by name. Raises QuestionError if none is asked for: all others would be found."""
    if not any(one.wanted for one in terms):
        raise QuestionError("q", f"write words beside {terms[0].standing}:false, such as a part of a name")
    named = {node_id(one): one for one in standings if all(term.fits(one, standings) for term in terms)}
    hits = [Hit(id_, name) for id_, name in graph.nodes(named).items() if named[id_] == name]
    if not only.is_empty:
        hits = Narrowed(graph, only, TraitReader(Representatives(graph))).fitting(hits)
    ranked: list[Rank] = sorted((0, "standing", named[one.id].namespace, named[one.id].name, one.id) for one in hits)
    best = ranked[:limit]
    names = tuple(named[int(str(rank[-1]))] for rank in best)
    return Found(
        text="",
        names=names,
        ranks=tuple(best),
        complete=len(ranked) <= limit,
        standings=standings_of(names, standings),
    )
