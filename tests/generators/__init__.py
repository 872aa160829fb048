"""Hypothesis strategies for OpenLineage events in a small, hostile universe of names; and mutated bodies."""

from generators.arrivals import arrivals, body
from generators.events import dataset_events, events, histories, job_events, run_events
from generators.governed import governed_events, sent, viewers
from generators.mutations import mutations

__all__ = [
    "arrivals",
    "body",
    "dataset_events",
    "events",
    "governed_events",
    "histories",
    "job_events",
    "mutations",
    "run_events",
    "sent",
    "viewers",
]
