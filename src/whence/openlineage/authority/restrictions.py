"""Restrictions: what the sender of an event may assert, and what they lacked when it was accepted.

A `Restriction` is stored in the event itself, as the member `whence_withheld`. It is therefore part of the event's key,
and every reader of the log applies the same one (`governed_parts.enforce`), whatever the grants are by then.
"""

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

from whence.model.access import Action
from whence.model.catalog import REGISTRY, namespace_of_registered
from whence.model.events import DatasetEvent, Event
from whence.model.names import DatasetName
from whence.openlineage.json.wire import Json, objects_in

WITHHELD = "whence_withheld"
"""The member of an event that lists what its sender was not entitled to. Only Whence writes it."""

NOT_APPLIED = "not applied"
"""The beginning of all warnings about withheld parts."""

PERSON, UNVERIFIED = "urn:whence:person:", "urn:whence:unverified:"
"""Producer URIs: a person, and a sender whose claim to be that person is unverified."""

RESERVED = "whence."
"""The prefix of namespaces reserved for Whence."""

Need = tuple[Action, str]
"""An action in a namespace."""


@dataclass(frozen=True, slots=True)
class Authority:
    """What a sender may do, and whether they may use a person's URI as the producer of events of a namespace."""

    is_allowed: Callable[[Action, str], bool]
    can_speak_for: Callable[[str, str], bool]


def person_uri(name: str) -> str:
    """The producer URI of a person's assertions."""
    return f"{PERSON}{quote(name, safe='')}"


FULL = Authority(lambda *_: True, lambda *_: True)
"""The authority of every sender in an installation without keys, and in tests."""


@dataclass(frozen=True, slots=True)
class Restriction:
    """What the sender of one event lacked: actions in namespaces, and the right to assert as the person they claim."""

    needs: frozenset[Need] = frozenset()
    person: bool = False

    def __bool__(self) -> bool:
        return bool(self.needs) or self.person

    @property
    def document(self) -> Json:
        """The value of `whence_withheld`."""
        needs = sorted(self.needs, key=lambda need: (need[1], need[0]))
        document: Json = {"needs": [{"action": str(action), "namespace": namespace} for action, namespace in needs]}
        return document | ({"person": True} if self.person else {})


def read_restriction(event: Json) -> Restriction:
    """The restriction stored in an event; an empty one if the event has no such member."""
    document = event.get(WITHHELD)
    if type(document) is not dict:
        return Restriction()
    needs = [(entry.get("action"), entry.get("namespace")) for _, entry in objects_in(document.get("needs"))]
    known = frozenset(
        (Action(action), namespace)
        for action, namespace in needs
        if action in (Action.WRITE, Action.STEWARD) and type(namespace) is str
    )
    return Restriction(known, document.get("person") is True)


def event_need(event: Event) -> Need:
    """The action and namespace that a sender needs to send an event at all."""
    match event:
        case DatasetEvent():
            return dataset_need(event.dataset.name)
        case _:
            return Action.WRITE, event.job.name.namespace


def governing_namespace(name: DatasetName) -> str:
    """The namespace whose rules govern an assertion about a dataset. Facts about a namespace or source belong to the
    namespace of that name, and what a gate records to the namespace of its repository.
    """
    return namespace_of_registered(name) if name.namespace == REGISTRY else name.namespace


def dataset_need(name: DatasetName) -> Need:
    """The action and namespace that a sender needs to assert something about a dataset."""
    return Action.STEWARD if name.namespace.startswith(RESERVED) else Action.WRITE, governing_namespace(name)
