"""Logs and exports as databases write them, and what their queries say: golden pairs, written by hand."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from whence.capture.sql import Catalog
from whence.capture.sql_log import FORMATS, Flaw, Settings, capture_log, format_of
from whence.model.events import RunEvent, RunState
from whence.model.lineage import Edge
from whence.model.names import FieldName
from whence.openlineage.accept import accept

GOLDEN = Path(__file__).parent / "golden"
PREFIX = "%m [%p] %u@%d %c "
NAMESPACE = "warehouse"
LOGS = sorted(path for path in GOLDEN.iterdir() if path.suffix != ".txt")


def settings(dialect: str, columns: dict[str, list[str]] | None = None) -> Settings:
    catalog = Catalog.from_columns(columns or {}, dialect)
    return Settings(dialect=dialect, namespace=NAMESPACE, jobs=NAMESPACE, time=0, catalog=catalog)


def format_name(path: Path) -> str:
    """The format of a log: `trino` of `trino.json`, and of `server-476.trino.json`."""
    return path.stem.rpartition(".")[2]


def lines_of(path: Path, processes: int | None = None) -> list[bytes | Flaw]:
    form = format_of(format_name(path), PREFIX)
    return list(capture_log(path, form, settings(form.dialect), processes))


def shown(lines: list[bytes | Flaw]) -> list[tuple[str, ...]]:
    """Ends of runs with their lineage, and flaws."""
    found: list[tuple[str, ...]] = []
    starts: dict[str, int] = {}
    for line in lines:
        if isinstance(line, Flaw):
            found.append((f"flaw {line.place}",))
            continue
        event = accepted(line)
        assert isinstance(event, RunEvent)
        if event.state is RunState.START:
            starts[event.run.name.run_id] = event.time
        else:
            found.append(_run(event, line, starts.pop(event.run.name.run_id)))
    assert not starts
    return found


def _run(event: RunEvent, line: bytes, started: int) -> tuple[str, ...]:
    query = msgspec.json.decode(line)["run"]["facets"]["whence_query"]
    inputs, outputs = (", ".join(one.name.name for one in some) for some in (event.inputs, event.outputs))
    edges = sorted(_edge(edge) for output in event.outputs for edge in output.edges)
    head = f"{event.state.name} {query['user']} {(event.time - started) / 1_000_000:g} s {query['place']}"
    return (head, "  " + f"{inputs} -> {outputs}".strip(), *edges)


def _edge(edge: Edge) -> str:
    arrow = "<=" if edge.type == "DIRECT" else "<-"
    masked = " masked" if edge.masking else ""
    return f"  {_end(edge.target)} {arrow} {_end(edge.source)} {edge.subtype.lower()}{masked}".rstrip()


def _end(node: Any) -> str:
    return f"{node.dataset.name}.{node.field}" if isinstance(node, FieldName) else node.name


def accepted(line: bytes) -> Any:
    """The event as the collector reads it, strictly."""
    found = accept(line, strict=True)
    assert found.warnings == ()
    return found.event


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_what_a_log_says(path: Path) -> None:
    expected = (GOLDEN / f"{path.stem}.txt").read_text("utf-8").splitlines()
    assert sorted(shown(lines_of(path))) == sorted(_blocks(expected))


def _blocks(lines: list[str]) -> list[tuple[str, ...]]:
    """A run or a flaw each, its edges in order of letters."""
    starts = [number for number, line in enumerate(lines) if not line.startswith("  ")]
    blocks = [lines[a:b] for a, b in pairwise([*starts, len(lines)])]
    return [(*block[:2], *sorted(block[2:])) for block in blocks]


def test_every_format_has_a_log_here() -> None:
    assert {format_name(path) for path in LOGS} == set(FORMATS)
