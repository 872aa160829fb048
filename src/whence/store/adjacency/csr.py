"""File format of the edges as compressed sparse rows: the neighbours of each node are adjacent, in both directions.

The file is a copy of the current and recent edges at one change version (`store.ingest.change_log`); the tables remain
the source of truth. It contains ids, but no names and no expressions. Of facets it contains only what impact counts:
owners, types, tiers. It is memory-mapped: opening it costs nothing, and processes share its pages.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from whence.store.ingest.change_log import ChangeVersion

Ints = NDArray[np.int64]
Places = NDArray[np.int32]
"""Indices of nodes in `Csr.ids`, or of edges."""

MAGIC = b"whence csr 3\n"
_ALIGNED = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Csr:
    """Nodes are indices into `ids`, which ascends; edges are indices in downstream order.

    The edges out of node n are those from `down_start[n]` to `down_start[n + 1]`. Current edges come first, up to
    `down_now[n]`; past ones follow. Both parts are sorted by far end id, owner, set and ordinal. `up_start`, `up_now`
    and `up_edge` are the same for edges into n. `held[edge]` is the validity interval of an edge: its set `set_id`,
    from `since` until `until` (FOREVER: still valid). Edges that ended before `known_since[0]` are left out.

    `canonical` is the representative of a node's alias group. `dataset` is the dataset of a field, the node itself for
    a dataset, and -1 otherwise. The members of `grouped[k]` are `member` from `member_start[k]`, the representative
    first. `by_name` is the rank of a node's name among all names. `trait` is the class of a dataset or job (-1: none),
    and `trait_text` from `trait_start[trait]` is its JSON array (types, owners, tier). Arrays of some owners only have
    neither `by_name` nor `trait`.
    """

    ids: Ints
    kind: NDArray[np.int8]
    canonical: Places
    dataset: Places
    field_start: Ints
    field: Places
    grouped: Places
    member_start: Ints
    member: Places
    down_start: Ints
    down_now: Ints
    source: Places
    target: Places
    up_start: Ints
    up_now: Ints
    up_edge: Places
    owner: Places
    held: Places
    ordinal: Places
    rank: NDArray[np.int8]
    """The preference of an edge, lowest first: 2 × (0 DIRECT, 1 another type, 2 INDIRECT) + 1 if it is unconfirmed."""
    set_id: Ints
    since: Ints
    until: Ints
    known_since: Ints
    by_name: Places
    trait: Places
    trait_start: Ints
    trait_text: NDArray[np.uint8]


ARRAYS = tuple(one.name for one in fields(Csr))


def write_csr(file: Path, version: ChangeVersion, csr: Csr) -> None:
    """Write the file atomically: a reader sees either the old content or the new one."""
    arrays = {name: np.ascontiguousarray(getattr(csr, name)) for name in ARRAYS}
    head, at = {}, 0
    for name, array in arrays.items():
        head[name] = (array.dtype.str, len(array), at)
        at += -(-array.nbytes // _ALIGNED) * _ALIGNED
    text = json.dumps({"version": version, "arrays": head, "bytes": at}).encode()
    begin = _begin(len(text))
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_name(f"{file.name}.next-{uuid4().hex}")
    try:
        with beside.open("wb") as out:
            out.write(MAGIC + len(text).to_bytes(8, "big") + text)
            for name, array in arrays.items():
                out.seek(begin + head[name][2])
                out.write(array.data)
            out.truncate(begin + at)
            out.flush()
            os.fsync(out.fileno())
        beside.replace(file)
    finally:
        beside.unlink(missing_ok=True)


def read_csr(file: Path) -> tuple[ChangeVersion, Csr] | None:
    """Map a file. Returns its change version and content, or None if it is missing or unreadable."""
    try:
        with file.open("rb") as opened:
            if opened.read(len(MAGIC)) != MAGIC:
                return None
            length = int.from_bytes(opened.read(8), "big")
            head = json.loads(opened.read(length))
            begin = _begin(length)
            if os.fstat(opened.fileno()).st_size != begin + head["bytes"]:
                return None
            mapped = np.memmap(opened, np.uint8, "r")
        return ChangeVersion(*head["version"]), Csr(**_views(mapped, begin, head["arrays"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _views(mapped: NDArray[np.uint8], begin: int, arrays: Mapping[str, tuple[str, int, int]]) -> dict[str, Any]:
    found = {}
    for name in ARRAYS:
        type_, length, at = arrays[name]
        bytes_ = mapped[begin + at : begin + at + length * np.dtype(type_).itemsize]
        found[name] = np.asarray(bytes_).view(type_)
    return found


def _begin(head: int) -> int:
    return -(-(len(MAGIC) + 8 + head) // _ALIGNED) * _ALIGNED


def spread(starts: Ints, counts: Ints) -> Ints:
    """Concatenate the indices of several runs: (3, 10), (2, 1) → 3, 4, 10."""
    ends = np.cumsum(counts)
    places: Ints = np.arange(int(ends[-1]) if len(ends) else 0)
    found: Ints = places + np.repeat(starts - (ends - counts), counts)
    return found
