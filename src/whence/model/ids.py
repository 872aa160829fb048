"""64-bit ids minted from identity alone, so that every process mints the same ones without asking.

An id is the first 64 bits of SHA-256 over the kind's letter and the identity's parts as netstrings, with the two lowest
bits replaced by the kind. Minting is cached: names repeat from event to event, so this beats hashing in Spark by far.
"""

from collections.abc import Iterable
from enum import IntEnum
from functools import lru_cache
from hashlib import sha256

from whence.model.names import DatasetName, FieldName, JobName, Node, RunName


class Kind(IntEnum):
    """What a node is: the two lowest bits of its id."""

    DATASET = 0
    FIELD = 1
    JOB = 2
    RUN = 3


def kind_of(node_id: int) -> Kind:
    """The kind that an id carries."""
    return _KINDS[node_id & 3]


_KINDS = tuple(Kind)


CACHED_CHARACTERS = 1_000
"""Longer names are minted each time, so that they do not fill the memory of a process."""


def mint(kind: Kind, *parts: str) -> int:
    """The signed 64-bit id of an identity."""
    return (_mint_once if sum(map(len, parts)) < CACHED_CHARACTERS else _mint)(kind, *parts)


def _mint(kind: Kind, *parts: str) -> int:
    return hash64(netstrings((kind.name[0], *parts))) & ~3 | kind


_mint_once = lru_cache(maxsize=65_536)(_mint)


def netstrings(parts: Iterable[str]) -> str:
    """The parts joined so that no two lists of parts give one text: `4:gold5:churn` (lengths in code points)."""
    return "".join([f"{len(part)}:{part}" for part in parts])


def hash64(text: str) -> int:
    """The first 64 bits of SHA-256, signed."""
    return int.from_bytes(sha256(text.encode()).digest()[:8], "big", signed=True)


_HALF = 1 << 63


def event_id(key: str) -> int:
    """The first half of an event's key (32 hex digits) as a signed integer that sorts as the text does."""
    return int(key[:16], 16) - _HALF


def rest_of(key: str) -> int:
    """The other half, likewise."""
    return int(key[16:], 16) - _HALF


def key_of(event: int, rest: int) -> str:
    """The key of which these are the halves."""
    return f"{event + _HALF:016x}{rest + _HALF:016x}"


def ending_id(event: int, aspect: str) -> int:
    """The id of the statement by which an event ends one aspect of a job: no run's, for those end in other bits."""
    return hash64(netstrings(("E", f"{event + _HALF:016x}", aspect))) & ~3 | Kind.JOB


def dropping_id(statement: int, dataset: int, owner: int, aspect: str) -> int:
    """The id of the statement by which a dropped dataset ends the sets that an owner wrote into it, in one aspect."""
    return hash64(netstrings(("L", str(statement), str(dataset), str(owner), aspect))) & ~3 | Kind.JOB


def baseline_id(owner: int, aspect: int) -> int:
    """The id of the statement that says all that an owner's forgotten statements left."""
    return hash64(netstrings(("B", str(owner), str(aspect)))) & ~3 | Kind.FIELD


def version_id(sets: Iterable[int]) -> int:
    """The content address of lineage sets that are said, or hold, together; NOTHING for none. `sets` are ascending."""
    text = ",".join(map(str, sets))
    return hash64(text) if text else NOTHING


NOTHING = 0
"""The id of the empty version."""


def node_id(node: Node | RunName) -> int:
    """The id of any named node."""
    match node:
        case DatasetName(namespace, name):
            return mint(Kind.DATASET, namespace, name)
        case FieldName(dataset, field):
            return mint(Kind.FIELD, dataset.namespace, dataset.name, field)
        case JobName(namespace, name):
            return mint(Kind.JOB, namespace, name)
        case RunName(run_id, job):
            return mint(Kind.RUN, run_id, job.namespace, job.name)
