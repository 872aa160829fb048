"""The certification of datasets in a store, at a time: the rules that were declared until then, and what they say."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from whence.govern.certification.judge import CertificationStatus, judge
from whence.govern.certification.observations import UpstreamLineage, read_facts, read_lineage
from whence.govern.certification.records import CERTIFICATION
from whence.govern.certification.rules import Rule
from whence.govern.contracts.evaluation.observations import Observed, ids_of
from whence.govern.declared_rules import DeclaredRule, held_rules
from whence.model.catalog import Entry, EntryFilter, Window, entry_sort_key
from whence.model.graph import FacetRow, HeldFacetRow
from whence.model.ids import Kind
from whence.model.names import DatasetName
from whence.model.traits import Traits, read_traits
from whence.query.ports.catalog import Catalog
from whence.query.traversal.traits import read_trait_facets

_PAGE = 5_000
AT_ONCE = 500
"""Datasets whose facts are in memory at one time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CertifiedDataset:
    """A dataset, what the rules say of it, and what people tagged it: `certified` by hand, or `canonical`."""

    name: DatasetName
    found: CertificationStatus
    is_tagged: bool = False
    is_canonical: bool = False


def certify(
    catalog: Catalog,
    graph: Observed,
    names: Sequence[DatasetName],
    now: int,
    at: int | None = None,
    rules: Iterable[Rule] | None = None,
) -> Iterator[CertifiedDataset]:
    """Certify datasets at a time (µs), None: at `now`, by the current lineage; by the rules that held then, or by some
    others. Types, and tiers that no tag gives, are those of now.
    """
    until = now if at is None else at
    stated = rules_by_namespace(held_rules(CERTIFICATION, catalog, until)) if rules is None else _by_namespace(rules)
    chunks = [names[first : first + AT_ONCE] for first in range(0, len(names), AT_ONCE)]
    scoped = [list(_apply_rules(graph, some, stated, at)) for some in chunks]
    lineage = _read_shared_lineage(graph, [one.name for some in scoped for one in some if one.rules], at)
    for several in scoped:
        facts = read_facts(catalog, graph, {one.name: one.rules for one in several if one.rules}, now, at, lineage)
        for one in several:
            yield CertifiedDataset(
                name=one.name,
                found=judge(one.rules, facts[one.name], until) if one.rules else CertificationStatus(),
                is_tagged=one.is_tagged,
                is_canonical=one.is_canonical,
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class _ScopedDataset:
    """A dataset, the rules that fit it, and what people tagged it."""

    name: DatasetName
    rules: Sequence[Rule]
    is_tagged: bool
    is_canonical: bool


def _apply_rules(
    graph: Observed, names: Sequence[DatasetName], stated: Mapping[str, Sequence[Rule]], at: int | None
) -> Iterator[_ScopedDataset]:
    traits = read_all_traits(graph, names, at)
    for name in names:
        tags = traits[name].tags_of("")
        yield _ScopedDataset(
            name=name,
            rules=[one for one in stated.get(name.namespace, ()) if one.scope.fits(name, traits[name])],
            is_tagged="certified" in tags,
            is_canonical="canonical" in tags,
        )


def _read_shared_lineage(graph: Observed, names: Sequence[DatasetName], at: int | None) -> UpstreamLineage | None:
    """The lineage upstream of all datasets, read once: each part of them is made of nearly the same. None if that is
    too much at once.
    """
    if len(names) <= AT_ONCE:
        return None
    found = read_lineage(graph, ids_of(graph, names), at)
    return found if found[0].complete else None


def rules_by_namespace(declared: Iterable[DeclaredRule[Rule]]) -> Mapping[str, Sequence[Rule]]:
    """The rules of each namespace that this version of Whence can read."""
    found: dict[str, list[Rule]] = {}
    for one in declared:
        if one.rule is not None:
            found.setdefault(one.namespace, []).append(one.rule)
    return found


def _by_namespace(rules: Iterable[Rule]) -> Mapping[str, Sequence[Rule]]:
    found: dict[str, list[Rule]] = {}
    for one in rules:
        for namespace in one.namespaces:
            found.setdefault(namespace, []).append(one)
    return found


def read_all_traits(
    graph: Observed, names: Sequence[DatasetName], at: int | None = None
) -> Mapping[DatasetName, Traits]:
    """The traits of datasets, under all their names, with the tags of a time (µs), None: now."""
    ids = ids_of(graph, names)
    rows: dict[int, list[FacetRow | HeldFacetRow]] = {}
    for row in read_trait_facets(graph, {id_ for some in ids.values() for id_ in some}, at):
        rows.setdefault(row.subject_id, []).append(row)
    return {name: read_traits(row for id_ in sorted(some) for row in rows.get(id_, ())) for name, some in ids.items()}


def list_named(catalog: Catalog, namespaces: Iterable[str], until: int) -> Iterator[Entry]:
    """The datasets of namespaces that were there at a time (µs), by namespace and name."""
    for namespace in sorted(namespaces):
        after = None
        while page := catalog.listed(Kind.DATASET, EntryFilter(namespace=namespace), Window(limit=_PAGE, after=after)):
            yield from (one for one in page if one.first_seen <= until)
            after = entry_sort_key(page[-1])
