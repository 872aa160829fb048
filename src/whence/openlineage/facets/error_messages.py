"""Errors of runs, from the facets in which producers report them: messages, and lineage that was not extracted."""

from collections.abc import Mapping
from typing import Any

from whence.openlineage.facets.facets import Facets

ERROR_FACETS = ("errorMessage", "spark.exception")
"""The standard facet, and openlineage-spark's own (1.53), which has the same `message`. The first message counts."""


def find_error_message(facets: Mapping[str, Any]) -> str | None:
    """The error message in a run's facets (by key), or None if it is absent or blank."""
    messages = [facets[key].get("message") for key in ERROR_FACETS if isinstance(facets.get(key), dict)]
    return next((text.strip() for text in messages if isinstance(text, str) and text.strip()), None)


def is_partial(facets: Facets) -> bool:
    """Whether the producer reports that the run's lineage is incomplete (reference rule 20)."""
    if "extractionError" in facets:
        return True
    logs = facets["debug"].get("logs") if "debug" in facets else None
    return type(logs) is list and any(type(entry) is str and entry.startswith("Incomplete lineage") for entry in logs)
