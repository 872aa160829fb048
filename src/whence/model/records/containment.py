"""What Whence records of containment, as a facet of registry datasets: each step of an act, before and after it.

A step is under the rules of the namespace of the schedule that it is about. Each has a dataset of its own, so that none
replaces another.
"""

from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, unquote

from whence.model.catalog import RegistryKind
from whence.model.names import DatasetName

CONTAINMENT = "whence_containment"
"""The facet's key."""

PhaseText = Literal["intended", "paused", "unchanged", "resuming", "resumed", "released", "failed"]
"""`intended`: it is about to be paused. `paused`: it is, by us. `unchanged`: it was paused before. `resuming`: it is
about to be resumed. `resumed`: it is, by us. `released`: the incident needs it no more, and nothing was changed.
`failed`: the orchestrator did not do what it was asked.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord:
    """A step at the time of its event. `orchestrator`: the name that the sender has for it; `node`: the broken data;
    `receipt`: what is needed to undo it, as JSON.
    """

    system: str
    namespace: str
    id: str
    phase: PhaseText
    orchestrator: str = ""
    node: str = ""
    plan: str = ""
    reason: str = ""
    receipt: str = ""


def step_dataset(incident: str, step: str, namespace: str) -> DatasetName:
    """The registry dataset of a step. `step`: an id that its sender chose, so that a step sent twice is one."""
    return RegistryKind.CONTAINMENT.dataset_of(f"{_quoted(incident)}/{_quoted(step)}/{namespace}")


def begin_of_steps(incident: str) -> str:
    """How the names of all steps of an incident begin, after their kind."""
    return f"{_quoted(incident)}/"


def incident_of(name: DatasetName) -> str:
    """The incident of a step."""
    return unquote(name.name.split("/", 3)[1])


def step_of(name: DatasetName) -> str:
    """The id of a step."""
    return unquote(name.name.split("/", 3)[2])


def _quoted(text: str) -> str:
    return quote(text, safe="", errors="surrogatepass")
