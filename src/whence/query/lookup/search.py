"""Search of datasets, fields and jobs by the words of their names, and by their tags, owners and descriptions.

A name with the word ranks before a name with a word that begins with it, and that before a name with a word that
contains it. Similar words (one or two letters differ) are searched only if nothing else matches. Nodes with a matching
tag, owner or description follow.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz.distance import OSA

from whence.model.graph import SearchTerms, TextMatch
from whence.model.ids import Kind
from whence.model.names import FieldName, JobName, Node
from whence.model.search_words import max_edits, split_words
from whence.model.sensitivity import Grade
from whence.query.ports.graph import Words

_KINDS = (Kind.DATASET, Kind.FIELD, Kind.JOB)
_PARTS = re.compile(r"[\s./:]+")
EXACT, BEGINS, INSIDE, ALIKE = range(4)
_FACETS = ("tags", "ownership", "documentation", "schema")
BY = {"tags": "tag", "ownership": "owner", "documentation": "description", "schema": "description"}
"""The matching part of a node, by the facet that contains it."""

Rank = tuple[object, ...]


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
    columns may have them, because of what is not known.
    """

    text: str
    names: tuple[Node, ...]
    ranks: tuple[Rank, ...]
    complete: bool
    labels: tuple[tuple[HitLabel, ...], ...] = ()
    not_labelled: int = 0

    @property
    def by(self) -> tuple[str, ...]:
        """The matching part of each result: `name`, `tag`, `owner`, `description`, or `label`."""
        return tuple(str(rank[1]) for rank in self.ranks)


def search(names: Words, text: str, limit: int = 50) -> Found:
    """Nodes that match all words of `text`, in their name (for a field, also in its dataset's; for all, also in the
    namespace), or in one facet.

    Complete names come first, then by the rank of the worst word; then datasets and fields before jobs, short names
    before long ones, and by name.
    """
    parts = tuple(found for part in _PARTS.split(text) if (found := split_words(part)))
    ranked, complete = _named(names, SearchTerms(parts), text, limit)
    if len(ranked) <= limit:
        matches, all_matches = _facet_matches(names, SearchTerms(parts), limit + 1)
        complete = complete and all_matches
        ranked |= {name: rank for name, rank in matches.items() if name not in ranked}
    if not ranked:
        ranked, complete = _named(names, SearchTerms(parts, typos=True), text, limit)
    best = sorted(ranked, key=lambda name: ranked[name])[:limit]
    ranks = tuple(ranked[name] for name in best)
    return Found(text=text, names=tuple(best), ranks=ranks, complete=complete and len(ranked) <= limit)


def _named(names: Words, clue: SearchTerms, text: str, limit: int) -> tuple[dict[Node, Rank], bool]:
    if not clue.parts:
        return {}, True
    candidates = [names.find(clue, kind, limit + 1) for kind in _KINDS]
    hits = (hit for some in candidates for hit in some.hits)
    ranked = {hit.name: rank for hit in hits if (rank := _rank(hit.name, clue, text.strip().casefold()))}
    return ranked, all(some.complete for some in candidates)


def _facet_matches(names: Words, clue: SearchTerms, limit: int) -> tuple[dict[Node, Rank], bool]:
    found, complete = names.facet_matches(clue.words, limit)
    # A node that matches in several facets counts for the first of them.
    return {one.name: _text_match(one) for one in sorted(found, key=lambda one: -_FACETS.index(one.facet))}, complete


def _text_match(one: TextMatch) -> Rank:
    name = one.name
    return (1, BY[one.facet], _FACETS.index(one.facet), isinstance(name, JobName), len(_own(name)), str(name))


def _rank(name: Node, clue: SearchTerms, text: str) -> Rank | None:
    """The rank of a name, or None if it does not match."""
    sure = []
    for word in clue.words:
        if (fit := _fit(word, name, clue.typos)) is None:
            return None
        sure.append(fit)
    own = _own(name)
    whole, folded = own.casefold(), f".{str(name).casefold()}"
    ends = (whole != text, not folded.endswith((f".{text}", f"/{text}", f":{text}")))
    return (0, "name", *ends, max(sure), sum(sure), isinstance(name, JobName), len(own), str(name))


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
