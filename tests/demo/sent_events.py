"""The events of the demo's pipeline as they were sent: which run they belong to, and which edges they report."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from demo.expected import STEPS, Derivation, Variant

Event = dict[str, Any]
Edge = tuple[str, str, str]
"""Source column, type, target: a column, or a whole dataset."""
PIPELINE = "churn_pipeline"


def split_by_variant(events: Sequence[Event], variants: Sequence[Variant]) -> Mapping[Variant, list[Event]]:
    """The events of each run of the pipeline. Raises AssertionError if one belongs to none of them."""
    of_pipeline = [event for event in events if "job" in event and event["job"]["namespace"] == "demo"]
    roots = list(dict.fromkeys(event["run"]["runId"] for event in of_pipeline if job_of(event) == PIPELINE))
    by_root = {root: [event for event in of_pipeline if _root(event) == root] for root in roots}
    assert sum(map(len, by_root.values())) == len(of_pipeline)
    return dict(zip(variants, by_root.values(), strict=True))


def job_of(event: Event) -> str:
    """The name of the event's job."""
    name: str = event["job"]["name"]
    return name


def runs_of(events: Iterable[Event]) -> set[str]:
    """The ids of the runs that the events are of."""
    return {event["run"]["runId"] for event in events}


def sent_edges(event: Event, data: Path) -> Iterator[Edge]:
    """The column lineage that an event reports, with paths relative to the pipeline's data."""
    for output in event["outputs"]:
        target = short_path(output["name"], data)
        facet = output.get("facets", {}).get("columnLineage", {"fields": {}})
        yield from _pairs(facet.get("dataset", ()), target, data)
        for column, entry in facet["fields"].items():
            yield from _pairs(entry["inputFields"], f"{target}.{column}", data)


def expected_edges(variant: Variant) -> set[Edge]:
    """The edges that the code of a variant has."""
    return {edge for dataset, step in STEPS[variant].items() for edge in _written(dataset, step)}


def short_path(name: str, data: Path) -> str:
    """A dataset of the pipeline, as `expected.py` writes it."""
    return Path(name).relative_to(data).as_posix()


def _root(event: Event) -> str:
    parent = event["run"]["facets"].get("parent", {"root": event})
    root: str = parent["root"]["run"]["runId"]
    return root


def _written(dataset: str, step: Derivation) -> Iterator[Edge]:
    for kind, columns in (("DIRECT", step.direct), ("INDIRECT", step.indirect)):
        yield from ((source, kind, f"{dataset}.{column}") for column, sources in columns.items() for source in sources)
    yield from ((source, "INDIRECT", dataset) for source in step.whole)


def _pairs(sources: Iterable[Event], target: str, data: Path) -> Iterator[Edge]:
    for source in sources:
        name = f"{short_path(source['name'], data)}.{source['field']}"
        yield from ((name, transformation["type"], target) for transformation in source["transformations"])
