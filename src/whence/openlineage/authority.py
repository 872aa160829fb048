"""What the sender of an event may assert, and what they lacked when it was accepted.

What was lacking is a `Restriction`. It is recorded in the event itself, as the member `whence_withheld`, so it is part
of the event's key, and every reader of the log applies the same one (`governed.enforce`), whatever the grants are then.
"""

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

from whence.model.access import Action
from whence.model.catalog import REGISTRY, Registered
from whence.model.events import DatasetEvent, Event
from whence.model.names import DatasetName
from whence.openlineage.wire import Json, objects_in

WITHHELD = "whence_withheld"
"""The member of an event that says what its sender was not entitled to. Only Whence writes it."""

NOT_APPLIED = "not applied"
"""How the warnings about withheld parts begin."""

PERSON, UNVERIFIED = "urn:whence:person:", "urn:whence:unverified:"
"""Producers: a person, and somebody who claimed to be that person."""

RESERVED = "whence."
"""How namespaces begin that are Whence's own."""

Need = tuple[Action, str]
"""An action in a namespace."""


@dataclass(frozen=True, slots=True)
class Authority:
    """What a sender may do, and whether they may use a person's URI as producer of events of a namespace."""

    may: Callable[[Action, str], bool]
    speaks_for: Callable[[str, str], bool]


def person_uri(name: str) -> str:
    """The producer of what a person asserts."""
    return f"{PERSON}{quote(name, safe='')}"


FULL = Authority(lambda *_: True, lambda *_: True)
"""Whoever uses an installation without keys, and tests."""


@dataclass(frozen=True, slots=True)
class Restriction:
    """What the sender of one event lacked: actions in namespaces, and the right to speak as the person they named."""

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
    """The restriction that is recorded in an event; none if there is no such member."""
    said = event.get(WITHHELD)
    if type(said) is not dict:
        return Restriction()
    needs = [(one.get("action"), one.get("namespace")) for _, one in objects_in(said.get("needs"))]
    known = frozenset(
        (Action(action), namespace)
        for action, namespace in needs
        if action in (Action.WRITE, Action.STEWARD) and type(namespace) is str
    )
    return Restriction(known, said.get("person") is True)


def required(event: Event) -> Need:
    """What somebody must be allowed to do in order to send an event at all."""
    match event:
        case DatasetEvent():
            return need_of(event.dataset.name)
        case _:
            return Action.WRITE, event.job.name.namespace


def acted_namespace(name: DatasetName) -> str:
    """The namespace in which an assertion about a dataset is an act: for the facts of a namespace or source itself, the
    namespace of that name.
    """
    is_namespace = name.namespace == REGISTRY and not name.name.startswith(f"{Registered.TAG}/")
    return name.name.partition("/")[2] if is_namespace else name.namespace


def need_of(name: DatasetName) -> Need:
    """What it takes to assert something of a dataset."""
    return Action.STEWARD if name.namespace.startswith(RESERVED) else Action.WRITE, acted_namespace(name)
