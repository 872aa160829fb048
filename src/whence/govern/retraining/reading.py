"""The triggers of the models in a store at a time: reads models and what they are made of."""

from collections.abc import Iterator, Mapping, Sequence

from whence.govern.incidents.current import read_all_traits
from whence.govern.incidents.incident import Incident
from whence.govern.retraining.model_scope import read_scopes
from whence.govern.retraining.triggers import NEWS, RetrainRoute, RetrainTrigger, find_triggers
from whence.govern.slos.objectives import kind_of_indicator
from whence.govern.slos.records import held_declarations
from whence.model.names import DatasetName
from whence.query.history.changes.schemas import schema_changes
from whence.query.history.changes.transitions import TimelineGraph
from whence.query.ports.catalog import Catalog

MODEL = "MODEL"


def read_triggers(
    catalog: Catalog, graph: TimelineGraph, routes: Sequence[RetrainRoute], incidents: Sequence[Incident], now: int
) -> Iterator[RetrainTrigger]:
    """The triggers of the models that some routes are about, by the current lineage. `incidents`: those of `now`."""
    if not routes:
        return
    kinds = _kinds(catalog, now)
    models = [name for name in list_models(catalog, graph) if any(one.is_for(name) for one in routes)]
    for model, scope in zip(models, read_scopes(graph, models), strict=True):
        changes, _ = schema_changes(graph, scope, now - NEWS, now)
        yield from find_triggers(model, scope, incidents, changes, kinds, now)


def list_models(catalog: Catalog, graph: TimelineGraph) -> Sequence[DatasetName]:
    """The datasets of type MODEL, by name."""
    typed = catalog.entries(catalog.carrying("datasetType")).values()
    names = [one.name for one in typed if isinstance(one.name, DatasetName)]
    return sorted(name for name, traits in read_all_traits(graph, names).items() if MODEL in traits.types)


def _kinds(catalog: Catalog, now: int) -> Mapping[str, str]:
    """The kinds of the indicators of objectives, by the rule of their findings."""
    return {
        f"{one.record.service}/{one.record.name}": kind_of_indicator(one.objective.indicator)
        for one in held_declarations(catalog, now).values()
        if one.objective is not None
    }
