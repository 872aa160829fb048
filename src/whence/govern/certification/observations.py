"""The facts of datasets that rules of certification need, read from the store, as of a time."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from whence.govern.certification.coverage import KnownLineage, coverage_of
from whence.govern.certification.facts import NOTHING_HAPPENED, DeclaredObjective, Facts, HeldContract, LastCheck
from whence.govern.certification.rules import Rule
from whence.govern.contracts.evaluation.answers import count_unevaluated, count_violations, evaluate, with_silence
from whence.govern.contracts.evaluation.observations import Observed, ids_of, observe
from whence.govern.slos.evaluation.observations import observe_datasets
from whence.govern.slos.objectives import DAY
from whence.govern.slos.records import Declaration, held_declarations
from whence.model.catalog import FacetRecord
from whence.model.names import DatasetName, FieldName, Node
from whence.model.traits import parse_traits
from whence.openlineage.facets.assertions import WARN, ChecksPage
from whence.query.lookup.contracts import ContractedDataset, contract_versions
from whence.query.ports.catalog import Catalog
from whence.query.sensitivity.whole_graph import WholeGraph

OWNERS = "ownership"
INDIRECT = "INDIRECT"
UpstreamLineage = tuple[KnownLineage, Mapping[DatasetName, DatasetName]]
"""All lineage upstream of some datasets, and the name that it gives to each of them."""


def read_facts(
    catalog: Catalog,
    graph: Observed,
    rules: Mapping[DatasetName, Sequence[Rule]],
    now: int,
    at: int | None,
    shared: UpstreamLineage | None = None,
) -> Mapping[DatasetName, Facts]:
    """The facts of the datasets that have rules, as of a time (µs), None: as of `now`, by the current lineage.
    `shared`: the lineage upstream of them and others, if it is known already.

    What is read of a dataset does not depend on its rules, but for how far back its objectives have to be known.
    """
    ids = ids_of(graph, list(rules))
    facets = catalog.facets({id_ for some in ids.values() for id_ in some})
    lineage, canonical = shared or read_lineage(graph, ids, at)
    contracts = _contracts(catalog, graph, facets, ids, now, at)
    objectives = _objectives(catalog, graph, ids, _days(rules.values()), now if at is None else at)
    checks = dict(zip(ids, map(_last_checks, graph.checks_of_each([*ids.values()], at)), strict=True))
    return {
        name: Facts(
            owners=_owners(facets, some),
            owners_since=_owners_since(facets, some),
            contract=contracts.get(name),
            coverage=coverage_of(lineage, canonical[name]),
            objectives=objectives.get(name, ()),
            checks=checks[name][0],
            are_all_checks=checks[name][1],
        )
        for name, some in ids.items()
    }


def read_lineage(graph: Observed, ids: Mapping[DatasetName, frozenset[int]], at: int | None) -> UpstreamLineage:
    """All lineage upstream of some datasets with their ids, and the name that it gives to each of them."""
    found = WholeGraph(graph, at)
    found.read(sorted({id_ for some in ids.values() for id_ in some}))
    names = found.names()
    columns: dict[DatasetName, set[FieldName]] = {}
    for name in names.values():
        if isinstance(name, FieldName):
            columns.setdefault(name.dataset, set()).add(name)
    lineage = KnownLineage(
        columns={dataset: frozenset(some) for dataset, some in columns.items()},
        sources=_sources(found, names),
        unreported=frozenset(names[id_] for id_ in found.unreported if id_ in names),
        derived=frozenset(names[near] for far, near in found.inputs if near in names and far in names),
        complete=found.is_complete,
    )
    return lineage, {name: _canonical(name, some, names) for name, some in ids.items()}


def _canonical(name: DatasetName, ids: Iterable[int], names: Mapping[int, Node]) -> DatasetName:
    given = (names.get(id_) for id_ in sorted(ids))
    return next((one for one in given if isinstance(one, DatasetName)), name)


def _sources(found: WholeGraph, names: Mapping[int, Node]) -> Mapping[FieldName, frozenset[FieldName]]:
    """The columns that the values of each column are made of: what only influences them is no source."""
    sources: dict[FieldName, set[FieldName]] = {}
    for row in found.rows:
        source, target = names.get(row.far_id), names.get(row.near_id)
        if isinstance(source, FieldName) and isinstance(target, FieldName) and row.type != INDIRECT:
            sources.setdefault(target, set()).add(source)
    return {target: frozenset(some) for target, some in sources.items()}


Facets = Mapping[int, Mapping[str, FacetRecord]]


def _owner_facets(facets: Facets, ids: Iterable[int]) -> Iterator[FacetRecord]:
    return (facets[id_][OWNERS] for id_ in sorted(ids) if OWNERS in facets.get(id_, {}))


def _owners(facets: Facets, ids: Iterable[int]) -> frozenset[str]:
    return parse_traits((OWNERS, one.payload) for one in _owner_facets(facets, ids)).owners


def _owners_since(facets: Facets, ids: Iterable[int]) -> int:
    return max((one.time for one in _owner_facets(facets, ids)), default=0)


def _contracts(
    catalog: Catalog,
    graph: Observed,
    facets: Facets,
    ids: Mapping[DatasetName, frozenset[int]],
    now: int,
    at: int | None,
) -> Mapping[DatasetName, HeldContract]:
    """The contract of each dataset, under the name that it was applied to."""
    until = now if at is None else at
    stated = {
        name: [ContractedDataset(name=name, versions=contract_versions(facets.get(id_, {}))) for id_ in sorted(some)]
        for name, some in ids.items()
    }
    dataset = {name: one for name, several in stated.items() for one in several if one.at(until) is not None}
    held = {name: version for name, one in dataset.items() if (version := one.at(until)) is not None}
    found = {
        name: evaluate(held[name], with_silence(catalog, dataset[name], data, until), until)
        for name, data in observe(graph, held, at).items()
    }
    return {
        name: HeldContract(
            version=held[name].version,
            violations=count_violations(one),
            unevaluated=count_unevaluated(one),
            last_day=held[name].last_day,
        )
        for name, one in found.items()
    }


def _days(rules: Iterable[Sequence[Rule]]) -> int:
    """The longest time for which objectives have to be met."""
    return max((one.requirements.objectives or 0 for some in rules for one in some), default=0)


def _objectives(
    catalog: Catalog, graph: Observed, ids: Mapping[DatasetName, Collection[int]], days: int, until: int
) -> Mapping[DatasetName, tuple[DeclaredObjective, ...]]:
    """The objectives that hold at a time (µs), by all names of their dataset, with what happened to it."""
    if not days:
        return {}
    names = {one: name for name in ids for one in _names(graph, name)}
    found: dict[DatasetName, list[Declaration]] = {}
    for one in held_declarations(catalog, until).values():
        if one.dataset in names:
            found.setdefault(names[one.dataset], []).append(one)
    stated = [one.objective for some in found.values() for one in some if one.objective is not None]
    longest = [replace(one, window=max(one.window, days * DAY)) for one in stated]
    facts = observe_datasets(catalog, graph, longest, until, until)
    return {
        name: tuple(
            DeclaredObjective(
                name=f"{one.record.service}/{one.record.name}",
                objective=one.objective,
                facts=facts.get(one.dataset, NOTHING_HAPPENED),
            )
            for one in sorted(some, key=lambda one: one.id)
        )
        for name, some in found.items()
    }


def _names(graph: Observed, name: DatasetName) -> Sequence[DatasetName]:
    (ids,) = ids_of(graph, [name]).values()
    return [one for one in graph.nodes(sorted(ids)).values() if isinstance(one, DatasetName)] or [name]


def _last_checks(page: ChecksPage) -> tuple[tuple[LastCheck, ...], bool]:
    """The last result of each check of a dataset by all its names, and whether all results were read."""
    last: dict[tuple[str, str], LastCheck] = {}
    for run in sorted(page.found, key=lambda run: (run.time, run.run_id)):
        for one in run.checks:
            if one.severity != WARN:
                key = (one.name, one.column or "")
                last[key] = LastCheck(name=one.name, column=key[1], held=one.held, time=run.time)
    return tuple(last[key] for key in sorted(last)), page.stopped_by is None
