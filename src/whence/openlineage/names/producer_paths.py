"""Paths of files as the producer of an event means them (state.md, "Names", *Paths of Airflow*).

Airflow's OpenLineage provider names the file of an asset by the path of its URI, which is percent-encoded, and the file
of an operator by its path without the first slash. Every other producer names files by their paths.

>>> correct_path(AIRFLOW + "2.20.3", "file", "/prod%20lake/a%2520b.csv")
'/prod lake/a%20b.csv'
>>> correct_path(AIRFLOW + "2.20.3", "file", "data/a.csv")
'/data/a.csv'
>>> correct_path("https://example.org/other", "file", "/prod%20lake/a.csv")
'/prod%20lake/a.csv'
"""

import re
from urllib.parse import unquote

from whence.openlineage.json.split_event import SplitEvent
from whence.openlineage.json.wire import text_of

AIRFLOW = "https://github.com/apache/airflow/tree/providers-openlineage/"
"""How the producer URI of Airflow's OpenLineage provider begins. The rest is its version."""

_NOT_ENCODED = re.compile(r"%(?![0-9A-Fa-f]{2})|[\x00-\x20\"<>\\^`{|}\x7f]")
"""Characters that no URI contains: a path with one of them was not taken from a URI."""


def correct_path(producer: str, namespace: str, name: str) -> str:
    """The name of an input or output as its producer means it: the path of a local file, any other name unchanged."""
    if not producer.startswith(AIRFLOW) or not (namespace == "file" or namespace.startswith("file://")):
        return name
    return _decode_path(name) if name.startswith("/") else f"/{name}"


def has_corrected_paths(event: SplitEvent) -> bool:
    """Whether the name of an input or output differs from the one that its producer means."""
    producer = text_of(event.wire.producer)
    return producer.startswith(AIRFLOW) and any(
        correct_path(producer, namespace, name) != name
        for namespace, name, _ in (*event.datasets.inputs, *event.datasets.outputs)
    )


def _decode_path(path: str) -> str:
    if "%" not in path or _NOT_ENCODED.search(path):
        return path
    try:
        decoded = unquote(path, errors="strict")
    except UnicodeDecodeError:
        return path  # decoded leniently, names that differ would become one
    return path if "\0" in decoded else decoded
