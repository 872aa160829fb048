"""Ids of runs: from the source's own id where it has one, so that a repeated capture is the same run; else by time.

>>> run_id("mlflow://tracking", "a1b2") == run_id("mlflow://tracking", "a1b2")
True
"""

from __future__ import annotations

import os
import time
import uuid

_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "https://pypi.org/project/whence-client/runs")


def run_id(instance: str, *ids: object) -> str:
    """The UUIDv5 of a source's instance and the parts of its own id: task, try …, each as text."""
    # Lengths keep ("a", "bc") and ("ab", "c") apart.
    parts = [str(one) for one in (instance, *ids)]
    return str(uuid.uuid5(_NAMESPACE, "".join(f"{len(part)}:{part}" for part in parts)))


def new_run_id() -> str:
    """A UUIDv7: of a run whose source gives it no id. Later ids sort after earlier ones."""
    milliseconds = time.time_ns() // 1_000_000
    value = (milliseconds & ((1 << 48) - 1)) << 80 | int.from_bytes(os.urandom(10), "big")
    value = value & ~(0xF << 76) | 7 << 76
    return str(uuid.UUID(int=value & ~(0b11 << 62) | 0b10 << 62))
