"""The error message of a run, in the facets that producers report it in."""

from collections.abc import Mapping
from typing import Any

ERROR_FACETS = ("errorMessage", "spark.exception")
"""The standard's facet, and openlineage-spark's own (1.53), which has the same `message`. The first that has one."""


def error_message(facets: Mapping[str, Any]) -> str | None:
    """The message in a run's facets, by key; None if there is none, or it is blank."""
    said = [facets[key].get("message") for key in ERROR_FACETS if isinstance(facets.get(key), dict)]
    return next((text.strip() for text in said if isinstance(text, str) and text.strip()), None)
