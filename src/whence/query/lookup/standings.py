"""Which datasets may be relied on: those that are certified or tagged canonical. Search prefers them."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Literal

from whence.errors import QuestionError
from whence.model.ids import Kind, kind_of, node_id
from whence.model.names import DatasetName, Node
from whence.model.traits import parse_traits
from whence.query.answers.values import dataset_of
from whence.query.ports.catalog import Catalog
from whence.query.ports.graph import Past
from whence.query.traversal.representatives import Representatives

Standing = Literal["certified", "canonical"]
STANDINGS: tuple[Standing, ...] = ("certified", "canonical")
Standings = Mapping[DatasetName, AbstractSet[Standing]]
GetStandings = Callable[[], Standings]
NO_STANDINGS: Standings = {}

_TERM = re.compile(r"(?P<standing>certified|canonical):(?P<value>\S*)", re.IGNORECASE)
_VALUES = {"true": True, "false": False}


def read_standings(catalog: Catalog, graph: Past, statuses: Mapping[DatasetName, str]) -> Standings:
    """The standings of datasets that have one, under all their names. `statuses`: what rules of certification say: the
    tag `certified` counts where none applies.
    """
    tagged = dict(_tagged(catalog))
    ids_by_name = {name: id_ for id_, name in graph.nodes(tagged).items() if isinstance(name, DatasetName)}
    found = {name: {one for one in tagged[id_] if _counts(one, name, statuses)} for name, id_ in ids_by_name.items()}
    for name, status in statuses.items():
        if status == "certified":
            found.setdefault(name, set()).add("certified")
    return _under_all_names(graph, {name: some for name, some in found.items() if some})


def _tagged(catalog: Catalog) -> Iterable[tuple[int, AbstractSet[Standing]]]:
    for id_, payload in catalog.tag_facets():
        keys = parse_traits([("tags", payload)]).tags_of("")
        if kind_of(id_) is Kind.DATASET and (some := {one for one in STANDINGS if one in keys}):
            yield id_, some


def _counts(one: Standing, name: DatasetName, statuses: Mapping[DatasetName, str]) -> bool:
    return one != "certified" or name not in statuses


def _under_all_names(graph: Past, found: Mapping[DatasetName, set[Standing]]) -> Standings:
    identity = Representatives(graph)
    ids = {name: node_id(name) for name in found}
    identity.learn((id_, id_) for id_ in ids.values())
    members = {name: identity.members(identity.canonical(id_)) for name, id_ in ids.items()}
    names = graph.nodes({id_ for some in members.values() for id_ in some})
    all_names: dict[DatasetName, set[Standing]] = {}
    for name, some in found.items():
        for other in (name, *(names[id_] for id_ in members[name] if id_ in names)):
            if isinstance(other, DatasetName):
                all_names.setdefault(other, set()).update(some)
    return all_names


@dataclass(frozen=True, slots=True)
class StandingTerm:
    """Datasets, and their columns, that have a standing, or have it not."""

    standing: Standing
    wanted: bool

    def fits(self, name: Node, standings: Standings) -> bool:
        """Whether a node has what is wanted. Jobs have none, and lack none."""
        of = dataset_of(name)
        return of is not None and (self.standing in standings.get(of, ())) is self.wanted


def split_standing_terms(text: str) -> tuple[str, Sequence[StandingTerm]]:
    """The words of a search without its terms, and the terms: `certified:true`, `canonical:false`.

    Raises QuestionError for another value: taken as a word, it would find nothing.
    """
    parts = text.split()
    terms = [found for part in parts if (found := _TERM.fullmatch(part))]
    words = [part for part in parts if not _TERM.fullmatch(part)]
    return " ".join(words) if terms else text, tuple(dict.fromkeys(map(_term, terms)))


def _term(found: re.Match[str]) -> StandingTerm:
    value = found["value"].casefold()
    standing = next(one for one in STANDINGS if one == found["standing"].casefold())
    if value not in _VALUES:
        raise QuestionError("q", f"write {standing}:true or {standing}:false, not {found[0]!r}")
    return StandingTerm(standing, _VALUES[value])
