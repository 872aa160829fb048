"""Search of datasets, fields and jobs by the words of their names, and by their tags, owners and descriptions.

A name with the word ranks before a name with a word that begins with it, and that before a name with a word that
contains it. Of names that match alike, those of certified and canonical datasets come first. Similar words (one or two
letters differ) are searched only if nothing else matches. Nodes with a matching tag, owner or description follow.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz.distance import OSA

from whence.model.graph import SearchTerms, TextMatch
from whence.model.ids import Kind
from whence.model.names import FieldName, JobName, Node
from whence.model.search_words import max_edits, split_words
from whence.model.sensitivity import Grade
from whence.query.answers.values import dataset_of
from whence.query.lookup.standings import NO_STANDINGS, STANDINGS, Standing, Standings
from whence.query.ports.graph import Words

_KINDS = (Kind.DATASET, Kind.FIELD, Kind.JOB)
_PARTS = re.compile(r"[\s./:]+")
EXACT, BEGINS, INSIDE, ALIKE = range(4)
_FACETS = ("tags", "ownership", "documentation", "schema")
BY = {"tags": "tag", "ownership": "owner", "documentation": "description", "schema": "description"}
"""The matching part of a node, by the facet that contains it."""

Rank = tuple[object, ...]
IsPreferred = Callable[[Node], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class HitLabel:
    """A sensitivity label of a search result that the search asked for: its grade, and how much of it is certain."""

    category: str
    grade: Grade
    proven: Grade


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Search results, best first, with their ranks. `complete`: there are no others.

    `labels`: those of each result that the search asked for; empty if it asked for none. `not_labelled`: how many more
    columns may have them, because of what is not known. `standings`: why each of them may be relied on.
    """

    text: str
    names: tuple[Node, ...]
    ranks: tuple[Rank, ...]
    complete: bool
    labels: tuple[tuple[HitLabel, ...], ...] = ()
    not_labelled: int = 0
    standings: tuple[tuple[Standing, ...], ...] = ()

    @property
    def by(self) -> tuple[str, ...]:
        """The matching part of each result: `name`, `tag`, `owner`, `description`, `label` or `standing`."""
        return tuple(str(rank[1]) for rank in self.ranks)


def search(names: Words, text: str, limit: int = 50, standings: Standings = NO_STANDINGS) -> Found:
    """Nodes that match all words of `text`, in their name (for a field, also in its dataset's; for all, also in the
    namespace), or in one facet.

    Complete names come first, then by the rank of the worst word; then what is of a certified or canonical dataset,
    datasets and fields before jobs, short names before long ones, and by name.
    """
    parts = tuple(found for part in _PARTS.split(text) if (found := split_words(part)))

    def is_preferred(name: Node) -> bool:
        of = dataset_of(name)
        return of is not None and of in standings

    ranked, complete = _named(names, SearchTerms(parts), text, limit, is_preferred)
    if len(ranked) <= limit:
        matches, all_matches = _facet_matches(names, SearchTerms(parts), limit + 1, is_preferred)
        complete = complete and all_matches
        ranked |= {name: rank for name, rank in matches.items() if name not in ranked}
    if not ranked:
        ranked, complete = _named(names, SearchTerms(parts, typos=True), text, limit, is_preferred)
    best = sorted(ranked, key=lambda name: ranked[name])[:limit]
    ranks = tuple(ranked[name] for name in best)
    return Found(
        text=text,
        names=tuple(best),
        ranks=ranks,
        complete=complete and len(ranked) <= limit,
        standings=standings_of(best, standings),
    )


def standings_of(names: Sequence[Node], standings: Standings) -> tuple[tuple[Standing, ...], ...]:
    """Why each of some nodes may be relied on; empty: nobody says so. A column has those of its dataset."""
    known = [standings.get(of, frozenset()) if (of := dataset_of(name)) is not None else () for name in names]
    return tuple(tuple(one for one in STANDINGS if one in some) for some in known)


def _named(
    names: Words, clue: SearchTerms, text: str, limit: int, is_preferred: IsPreferred
) -> tuple[dict[Node, Rank], bool]:
    if not clue.parts:
        return {}, True
    candidates = [names.find(clue, kind, limit + 1) for kind in _KINDS]
    hits = (hit for some in candidates for hit in some.hits)
    folded = text.strip().casefold()
    ranked = {hit.name: rank for hit in hits if (rank := _rank(hit.name, clue, folded, is_preferred))}
    return ranked, all(some.complete for some in candidates)


def _facet_matches(
    names: Words, clue: SearchTerms, limit: int, is_preferred: IsPreferred
) -> tuple[dict[Node, Rank], bool]:
    found, complete = names.facet_matches(clue.words, limit)
    # A node that matches in several facets counts for the first of them.
    several = sorted(found, key=lambda one: -_FACETS.index(one.facet))
    return {one.name: _text_match(one, is_preferred) for one in several}, complete


def _text_match(one: TextMatch, is_preferred: IsPreferred) -> Rank:
    name, place = one.name, _FACETS.index(one.facet)
    return (1, BY[one.facet], place, not is_preferred(name), isinstance(name, JobName), len(_own(name)), str(name))


def _rank(name: Node, clue: SearchTerms, text: str, is_preferred: IsPreferred) -> Rank | None:
    """The rank of a name, or None if it does not match."""
    sure = []
    for word in clue.words:
        if (fit := _fit(word, name, clue.typos)) is None:
            return None
        sure.append(fit)
    own = _own(name)
    whole, folded = own.casefold(), f".{str(name).casefold()}"
    ends = (whole != text, not folded.endswith((f".{text}", f"/{text}", f":{text}")))
    kept_last = not is_preferred(name), isinstance(name, JobName)
    return (0, "name", *ends, max(sure), sum(sure), *kept_last, len(own), str(name))


def _fit(word: str, name: Node, typos: bool) -> int | None:
    if isinstance(name, FieldName):
        fits = (_fit_text(word, name.field, typos), _fit_text(word, name.dataset.name, typos))
        namespace = name.dataset.namespace
    else:
        fits, namespace = (_fit_text(word, name.name, typos), None), name.namespace
    known = [fit for fit in (*fits, INSIDE if word in _folded(namespace) else None) if fit is not None]
    return min(known) if known else None


@lru_cache(maxsize=8_192)
def _fit_text(word: str, text: str, typos: bool) -> int | None:
    has = split_words(text)
    if word in has:
        return EXACT
    if any(each.startswith(word) for each in has):
        return BEGINS
    if len(word) > 2 and any(word in each for each in has):
        return INSIDE
    allowed = max_edits(word) if typos else 0
    near = [OSA.distance(word, each, score_cutoff=allowed) for each in has] if allowed else []
    least = min(near, default=allowed + 1)
    return ALIKE + least - 1 if least <= allowed else None


@lru_cache(maxsize=1_024)
def _folded(text: str) -> str:
    return text.casefold()


def _own(name: Node) -> str:
    return name.field if isinstance(name, FieldName) else name.name
