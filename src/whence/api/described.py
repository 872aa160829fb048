"""What the API's description says of the answers of each question: shapes, statuses, headers."""

from typing import Any

from whence.api import shapes
from whence.api.problems import MEDIA_TYPE
from whence.api.shapes import Envelope, Problem

ENVELOPES: dict[str, Any] = {
    "lineage": Envelope[shapes.Lineage],
    "impact": Envelope[shapes.Impact],
    "paths": Envelope[shapes.Paths],
    "why-not": Envelope[shapes.WhyNot],
    "diff": Envelope[shapes.Diff],
    "history": Envelope[shapes.History],
    "runs": Envelope[shapes.Runs],
    "search": Envelope[shapes.Found],
    "blast": Envelope[shapes.Blast],
}
"""By question."""


def documented(question: str) -> dict[int | str, dict[str, Any]]:
    """The answers of a route, by status."""
    problems = {
        400: "The cursor is not of this question, or `wait_for` is no position",
        404: "Nothing has that name; `candidates` are the nearest",
        422: "A parameter is not as it must be, or a name fits several nodes: `candidates`",
        503: "The store cannot serve now, or does not have `wait_for` yet; with Retry-After",
    }
    return {
        200: {
            "model": ENVELOPES[question],
            "description": "The answer; as CSV all of its rows",
            "headers": {"ETag": {"schema": {"type": "string"}, "description": "Changes when the answer may"}},
            "content": {"text/csv": {"schema": {"type": "string"}}},
        },
        304: {"description": "The answer has not changed since the one with this ETag"},
        **{
            status: {"description": said, "content": {MEDIA_TYPE: {"schema": Problem.model_json_schema()}}}
            for status, said in problems.items()
        },
    }
