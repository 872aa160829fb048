"""The record of what a process has read from topics and written to them, and its event: pure, from the record."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from whence_client.captures.naming import Naming
from whence_client.events.datasets import Dataset
from whence_client.events.facets import Event, facet
from whence_client.events.runs import RunRef, job_type_facet, run_event


@dataclass(frozen=True, order=True)
class Topic:
    """A topic of the cluster that `bootstrap` names, and the messages of the run so far."""

    bootstrap: str
    name: str
    messages: int


@dataclass(frozen=True)
class Traffic:
    """What a process has read and written until `at`. `script` names the program if no run is around it."""

    state: str
    reads: tuple[Topic, ...]
    writes: tuple[Topic, ...]
    script: str
    run_id: str
    at: datetime


def traffic_event(traffic: Traffic, naming: Naming) -> Event:
    """The state of the run: a child of the run around it, with the topics and the number of their messages."""
    parent = naming.parent
    root = (parent.root or parent) if parent else None
    job = f"{parent.scope if parent else traffic.script}.kafka"
    return run_event(
        traffic.state,
        RunRef(naming.namespace, job, traffic.run_id, root),
        traffic.at,
        parent=parent,
        job_facets={"jobType": job_type_facet("JOB", "KAFKA", "STREAMING")},
        inputs=[_describe(one, naming, "input") for one in traffic.reads],
        outputs=[_describe(one, naming, "output") for one in traffic.writes],
    )


def _describe(topic: Topic, naming: Naming, role: str) -> Dataset:
    kind = "InputStatisticsInputDatasetFacet" if role == "input" else "OutputStatisticsOutputDatasetFacet"
    facets = {f"{role}Statistics": facet(kind, rowCount=topic.messages)}
    return replace(naming.topic(topic.bootstrap, topic.name), run_facets=facets)
