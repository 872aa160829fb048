"""The events of recorded explanations of Spark Connect, without Spark."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nightly.spark_battery.replay import event_of
from whence_client.spark.capture.records import read_document
from whence_client.spark.connect.explanation import read_explanation


def replay_explanations(path: Path) -> Iterator[dict[str, Any]]:
    """The events of the queries in a file of one JSON document a line, compressed.

    What a query reads and writes is recorded; its plan is read from the text.
    """
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for document in map(json.loads, file):
            query = read_document(document)
            plan = read_explanation(document["text"]).plan if document["text"] else []
            yield from event_of(query, plan)
