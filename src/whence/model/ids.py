"""64-bit ids computed from identity alone, so that every process computes the same ones without coordination.

An id is the first 64 bits of SHA-256 over the kind's letter and the identity's parts as netstrings, with the two lowest
bits replaced by the kind. Ids are cached: names repeat between events, so this is much faster than hashing in Spark.
"""

from collections.abc import Iterable
from enum import IntEnum
from functools import lru_cache
from hashlib import sha256

from whence.model.names import DatasetName, FieldName, JobName, Node, RunName


class Kind(IntEnum):
    """The kind of a node: the two lowest bits of its id."""

    DATASET = 0
    FIELD = 1
    JOB = 2
    RUN = 3


def kind_of(node_id: int) -> Kind:
    """The kind that an id encodes."""
    return _KINDS[node_id & 3]


_KINDS = tuple(Kind)


MAX_CACHED_CHARACTERS = 1_000
"""Ids of longer names are not cached, so that they do not fill the memory of a process."""


def compute_id(kind: Kind, *parts: str) -> int:
    """The signed 64-bit id of an identity."""
    return _compute_id(int(kind), parts)


def _compute_id(kind: int, parts: tuple[str, ...]) -> int:
    return (_cached_id if sum(map(len, parts)) < MAX_CACHED_CHARACTERS else _hash_identity)(kind, parts)


def _hash_identity(kind: int, parts: tuple[str, ...]) -> int:
    return hash64(netstrings((_LETTERS[kind], *parts))) & ~3 | kind


_LETTERS = tuple(kind.name[0] for kind in Kind)
_DATASET, _FIELD, _JOB, _RUN = map(int, Kind)
"""As plain integers, since the hash of an enum's member takes longer than the look-up of an id."""


_cached_id = lru_cache(maxsize=65_536)(_hash_identity)


def netstrings(parts: Iterable[str]) -> str:
    """Joins the parts so that different lists have different texts: `4:gold5:churn` (lengths in code points)."""
    return "".join([f"{len(part)}:{part}" for part in parts])


def digest_of(parts: Iterable[str]) -> str:
    """16 hex digits that identify a list of texts."""
    return sha256(netstrings(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def hash64(text: str) -> int:
    """The first 64 bits of SHA-256, signed."""
    return int.from_bytes(sha256(text.encode()).digest()[:8], "big", signed=True)


_HALF = 1 << 63


def event_id(key: str) -> int:
    """The first half of an event's key (32 hex digits) as a signed integer that sorts as the text does."""
    return int(key[:16], 16) - _HALF


def event_id_rest(key: str) -> int:
    """The second half of an event's key, encoded like the first."""
    return int(key[16:], 16) - _HALF


def join_event_key(event: int, rest: int) -> str:
    """The event key made of these two halves."""
    return f"{event + _HALF:016x}{rest + _HALF:016x}"


def ending_statement_id(event: int, aspect: str) -> int:
    """The id of the statement by which an event ends one aspect of a job. Ids of runs end in other bits."""
    return hash64(netstrings(("E", f"{event + _HALF:016x}", aspect))) & ~3 | Kind.JOB


def drop_statement_id(statement: int, dataset: int, owner: int, aspect: str) -> int:
    """The id of the statement by which a dropped dataset ends the sets that an owner wrote into it, in one aspect."""
    return hash64(netstrings(("L", str(statement), str(dataset), str(owner), aspect))) & ~3 | Kind.JOB


def baseline_statement_id(owner: int, aspect: int) -> int:
    """The id of the statement that replaces an owner's deleted statements: it asserts what they left in force."""
    return hash64(netstrings(("B", str(owner), str(aspect)))) & ~3 | Kind.FIELD


def version_id(sets: Iterable[int]) -> int:
    """The content address of lineage sets that are asserted, or hold, together; EMPTY_VERSION for none.

    `sets` are ascending.
    """
    text = ",".join(map(str, sets))
    return hash64(text) if text else EMPTY_VERSION


EMPTY_VERSION = 0
"""The id of the empty version."""


def node_id(node: Node | RunName) -> int:
    """The id of any named node."""
    match node:
        case DatasetName():
            return _compute_id(_DATASET, (node.namespace, node.name))
        case FieldName():
            return _compute_id(_FIELD, (node.dataset.namespace, node.dataset.name, node.field))
        case JobName():
            return _compute_id(_JOB, (node.namespace, node.name))
        case RunName():
            return _compute_id(_RUN, (node.run_id, node.job.namespace, node.job.name))
