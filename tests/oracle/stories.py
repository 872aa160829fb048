"""Small events for golden cases, and the short text of what a dump says holds."""

import json
from collections.abc import Iterable
from typing import Any

from oracle import dump

Json = dict[str, Any]
STREAMING = {"jobType": {"processingType": "STREAMING", "integration": "FLINK"}}
START = 1_767_225_600_000_000
"""2026-01-01T00:00:00Z; in a story, time 1 is one second later."""


def moment(second: int) -> str:
    """The event time of a story's time."""
    return f"2026-01-01T00:00:{second:02}Z"


def dataset(name: str, facets: Json | None = None) -> Json:
    """A dataset of namespace n."""
    return {"namespace": "n", "name": name, "facets": facets or {}}


def column(path: str, *transformations: Json) -> Json:
    """`a.k` as a columnLineage input field."""
    name, field = path.split(".")
    return {"namespace": "n", "name": name, "field": field} | (
        {"transformations": list(transformations)} if transformations else {}
    )


def column_lineage(**fields: list[str]) -> Json:
    """A columnLineage facet: output column = its input fields."""
    return {
        "columnLineage": {
            "fields": {name: {"inputFields": [column(path) for path in paths]} for name, paths in fields.items()}
        }
    }


def run(
    number: int, state: str | None, at: int, reads: str = "", writes: str | list[Json] = "", job: Json | None = None
) -> Json:
    """A run event of job n/j: `reads` and `writes` are dataset names with spaces between."""
    event: Json = {"eventType": state} if state else {}
    event |= {"eventTime": moment(at), "producer": "p", "run": {"runId": f"01941f29-7c00-7abc-8def-{number:012}"}}
    event |= {"job": {"namespace": "n", "name": "j", "facets": job or {}}}
    outputs = [dataset(name) for name in writes.split()] if isinstance(writes, str) else writes
    return event | {"inputs": [dataset(name) for name in reads.split()], "outputs": outputs}


def declared(at: int, reads: str = "", writes: str = "", job: Json | None = None) -> Json:
    """A job event of job n/j."""
    event = run(0, None, at, reads, writes, job)
    del event["run"]
    return event


def dataset_event(at: int, name: str, facets: Json) -> Json:
    """A dataset event."""
    return {"eventTime": moment(at), "producer": "p", "dataset": dataset(name, facets)}


def state(events: Iterable[Json]) -> list[Json]:
    """The dump of these events, parsed."""
    return [json.loads(line) for line in dump(json.dumps(event).encode() for event in events)]


def history(events: Iterable[Json], boundary: bool = False) -> list[str]:
    """Each span as `owner aspect from-to sure|unsure: edges`.

    An edge is `a>b`, with `=` before it if explicit, `?` if parsed, `!` if unreported, `!!` if incomplete, `~` if
    inferred, `-` if boundary, nothing if columnLineage.
    """
    return span_lines(state(events), boundary)


def span_lines(state: Iterable[Json], boundary: bool = False) -> list[str]:
    """The spans of a dump, in short (`history`)."""
    lines = list(state)
    sets = {line["set"]: line for line in lines if line.get("fact") == "set"}
    spans = [line for line in lines if line.get("derived") == "validity_interval"]
    spans.sort(key=lambda span: (span["owner"], span["aspect"], span["from"]))
    return [_span(span, [sets[one] for one in span["sets"]], boundary) for span in spans]


def _span(span: Json, sets: list[Json], boundary: bool) -> str:
    until = "" if span["to"] is None else _second(span["to"])
    edges = [
        _edge(one["origin"], edge) for one in sets if boundary or one["origin"] != "boundary" for edge in one["edges"]
    ]
    head = f"{_short(span['owner'])} {span['aspect']} {_second(span['from'])}-{until}"
    return f"{head} {'sure' if span['confirmed'] else 'unsure'}: {' '.join(sorted(edges))}".rstrip()


def _second(time: int) -> int:
    return (time - START) // 1_000_000


def _edge(origin: str, edge: list[Any]) -> str:
    source, target, *how = ["masked" * part if isinstance(part, bool) else part for part in edge]
    marks = {"explicit": "=", "inferred": "~", "boundary": "-", "parsed": "?", "unreported": "!", "columnLineage": ""}
    mark = (marks | {"renamed": "»", "incomplete": "!!"})[origin]
    transformation = "/".join(part for part in how if part and part != "UNKNOWN")
    return f"{mark}{_short(source)}>{_short(target)}" + (f"[{transformation}]" if transformation else "")


def _short(node: str) -> str:
    kind, _, *parts = node.split(":")
    return "@" * (kind == "job") + ".".join(parts)
