"""The edges as arrays in one file: each node's neighbours lie side by side, both ways (compressed sparse rows).

The file is a copy of the edges that hold or held, as the store has them in one change version
(`store.ingest.change_log`), never the truth. It has ids, no names and no expressions; of facets, it has
what impact counts (owners, types, tiers). It is mapped into memory: opening it is free, and processes share its pages.
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
"""Places of nodes among `Csr.ids`, or of edges."""

MAGIC = b"whence csr 3\n"
_ALIGNED = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Csr:
    """Nodes are known by their place among `ids`, which ascend; edges by their place in downstream order.

    The edges from node n are those from `down_start[n]` to `down_start[n + 1]`: before `down_now[n]` those that hold
    now, then those that only held before, each in the order of their far ends' ids, owners, sets and ordinals.
    `up_start`, `up_now` and `up_edge` have those into it, likewise. An edge belongs to the set `held[edge]`: that is
    `set_id`, and held from `since` until `until` (FOREVER: now). What held no more at `known_since[0]` is left out.

    `canonical` is the node that stands for all names of a thing, `dataset` that of which a node is a field (itself for
    a dataset, -1 for others). The names of `grouped[k]` are `member` from `member_start[k]`, its own first. `by_name`
    is the place of a node's name among all names; `trait` is what is said of a dataset or job under any of its names:
    the JSON array (types, owners, tier) in `trait_text` from `trait_start[trait]` on; -1: nothing. Arrays of some
    owners' edges have no such two.
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
    """How an edge is preferred: 2 × (0 DIRECT, 1 another type, 2 INDIRECT) + 1 if it is not confirmed."""
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
    """Write the file beside its place, then put it there at once: readers see the old one or the new one."""
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
    """What is in the file, mapped, and of which change version it is. None: there is none, or it cannot be read."""
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
    """The places of several runs, one run after the other: (3, 10), (2, 1) → 3, 4, 10."""
    ends = np.cumsum(counts)
    places: Ints = np.arange(int(ends[-1]) if len(ends) else 0)
    found: Ints = places + np.repeat(starts - (ends - counts), counts)
    return found
