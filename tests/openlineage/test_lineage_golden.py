"""Events and the lineage that they say, as pairs in golden/lineage.txt (rules 14, 27, 29, 39-45)."""

import json
from typing import Any

import pytest

from fixtures.golden_cases import Case, load
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.openlineage.lineage_sets.event_lineage import derive_lineage_sets
from whence.openlineage.read import read_event

HEAD = {"eventTime": "2026-01-01T00:00:00Z", "producer": "p", "schemaURL": "s"}
OWNER = {"run": {"runId": "01941f29-7c00-7abc-8def-000000000001"}, "job": {"namespace": "n", "name": "j"}}
CASES = load("lineage.txt")


@pytest.mark.parametrize("case", CASES, ids=[case.title for case in CASES])
def test_lineage_of_event(case: Case) -> None:
    assert lineage_lines({**HEAD, **({} if "dataset" in case.given else OWNER), **case.given}) == case.expected


def lineage_lines(event: dict[str, Any]) -> list[str]:
    """The event's lineage sets, sorted, and its warnings."""
    read = read_event(json.dumps(event).encode())
    lines = []
    for one in sorted(derive_lineage_sets(read), key=lambda one: (str(one.output or ""), one.level, one.origin)):
        lines.append(f"{text(one.output) if one.output else '-'} {one.level} {one.origin}")
        lines += sorted(f"  {text(edge.target)} <- {text(edge.source)} [{how(edge)}]" for edge in one.edges)
    return lines + [f"! {warning}" for warning in read.warnings]


def text(node: Node) -> str:
    match node:
        case JobName(_, name):
            return f"@{name}"
        case FieldName(dataset, field):
            return f"{text(dataset)}:{field}"
        case DatasetName("n", name):
            return name
        case DatasetName(namespace, name):
            return f"{namespace} {name}"


def how(edge: Edge) -> str:
    description = f'"{edge.description}"' if edge.description else ""
    return " ".join(filter(None, (edge.type, edge.subtype, "masked" if edge.masking else "", description)))
