"""Runs of a recorded or real kfp as text: `events.txt` was checked by hand against tests/nightly/kubeflow/shop.py."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from whence.capture.kubeflow.source import LocalRuns, capture
from whence_client.captures import Naming, Window

Json = dict[str, Any]


def open_root(folder: Path, root: str, **options: str) -> LocalRuns:
    """The capture of a pipeline root of the shop in a folder; what is not complete has failed."""
    paths = {"root": str(folder / "runs" / root), "pipelines": str(folder / "pipelines")}
    return capture.configure({**paths, "quiet": "0", **options})


def events_of(source: LocalRuns) -> list[Json]:
    """All events of a root."""
    naming = Naming("shop", source.instance)
    return list(chain.from_iterable(source.translate(one, naming) for one, _ in source.records(None, Window())))


def lines_of(folder: Path, place: str) -> Iterator[str]:
    """All runs below a folder, each named by its number in its root. `place` is where the shop was when they ran."""
    for root in sorted((folder / "runs").iterdir()):
        events = [one for one in events_of(open_root(folder, root.name)) if "run" in one]
        ids = list(dict.fromkeys(_run_around(one) for one in events))
        events.sort(key=lambda one: (ids.index(_run_around(one)), _order(one)))
        runs = dict.fromkeys(_run_of(one) for one in events if "whence_kubeflowRun" in one["run"]["facets"])
        short = {name: f"RUN{number}" for number, name in enumerate(runs, 1)}
        for line in chain.from_iterable(map(_lines, events)):
            for name, label in (*short.items(), (f"{place}/", ""), (f"runs/{root.name}/", "")):
                line = line.replace(name, label)
            yield line if line.startswith(" ") else f"{root.name} {line}"


def _run_around(event: Json) -> str:
    facets = event["run"]["facets"]
    return str(facets.get("parent", event)["run"]["runId"])


def _order(event: Json) -> tuple[str, list[int], str]:
    """Tasks that run beside one another end in any order: sorted by the job and the iteration."""
    iteration = event["run"]["facets"].get("whence_kubeflowTask", {}).get("iteration", [])
    return event["job"]["name"], iteration, event["eventTime"]


def _run_of(event: Json) -> str:
    return str(event["run"]["facets"]["whence_kubeflowRun"]["run"])


def _lines(event: Json) -> Iterator[str]:
    facets, job = event["run"]["facets"], event["job"]
    own = facets.get("whence_kubeflowTask", {})
    kind = job["facets"]["jobType"]["jobType"]
    at = f" {own['iteration']}" if "iteration" in own else ""
    run = f" {_run_of(event)}" if kind == "PIPELINE" else ""
    yield f"{event['eventType']} {kind} {job['name']}{at}{run}"
    for name in facets.get("whence_kubeflowRun", {}).get("cachedTasks", ()):
        yield f"  cached {name}"
    yield from (f"  reads {_dataset(one)}" for one in event["inputs"])
    yield from sorted(f"  writes {_dataset(one)}" for one in event["outputs"])
    for one in facets.get("whence_metrics", {}).get("metrics", ()):
        yield f"  measured {one['key']}={one['value']}"
    if error := facets.get("errorMessage"):
        yield f"  failed: {error['message']}"
    for one in facets.get("extractionError", {}).get("errors", ()):
        yield f"  not known: {one['errorMessage']}"


def _dataset(one: Json) -> str:
    kind = one["facets"]["whence_kubeflowArtifact"]["type"].removeprefix("system.")
    return f"{kind} {one['namespace']} {one['name']}"
