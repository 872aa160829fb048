"""The record of one write of a frame, and its event: pure, from the record."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from whence_client.captures.naming import Naming
from whence_client.events.datasets import Dataset, Field
from whence_client.events.facets import Event, facet
from whence_client.events.ids import new_run_id
from whence_client.events.runs import COMPLETE, RunRef, job_type_facet, run_event
from whence_client.frames.frames import FrameLineage
from whence_client.frames.pending import settle
from whence_client.lineage.facets import lineage_facets


@dataclass(frozen=True)
class FrameWrite:
    """A frame was written. `script` names the program if no run is around it; `rows` is -1 if it is not known."""

    engine: str
    target: Dataset
    fields: tuple[Field, ...]
    lineage: FrameLineage
    script: str
    run_id: str
    at: datetime
    rows: int = -1


def write_event(write: FrameWrite, naming: Naming) -> Event:
    """The run of the write: a child of the run around it, with the lineage of what was written."""
    parent = naming.parent
    job = f"{parent.scope if parent else write.script}.{short_name(write.target)}"
    root = (parent.root or parent) if parent else None
    statistics = {"outputStatistics": facet("OutputStatisticsOutputDatasetFacet", rowCount=write.rows)}
    lineage = write.lineage
    return run_event(
        COMPLETE,
        RunRef(naming.namespace, job, write.run_id, root),
        write.at,
        parent=parent,
        job_facets={"jobType": job_type_facet("QUERY", write.engine.upper())},
        inputs=list(_inputs(lineage)),
        outputs=[
            Dataset(
                write.target.namespace,
                write.target.name,
                write.fields,
                {**write.target.facets, **lineage_facets(lineage.announced(), lineage.rows.edges)},
                statistics if write.rows >= 0 else {},
            )
        ],
    )


def describe_write(
    engine: str, target: Dataset, fields: Iterable[tuple[Any, Any]], lineage: FrameLineage, rows: int = -1
) -> FrameWrite:
    """The record of a write that has just ended. `fields` are the names and types of the columns."""
    described = tuple(Field(str(name), str(type_)) for name, type_ in fields)
    at = datetime.now(timezone.utc)
    return FrameWrite(engine, target, described, settle(lineage), script_name(), new_run_id(), at, rows)


def script_name() -> str:
    """The name of the running program: of its file, else of the interpreter."""
    main = getattr(sys.modules.get("__main__"), "__file__", None) or (sys.argv[0] if sys.argv else "")
    return os.path.splitext(os.path.basename(main))[0] or "python"


def _inputs(lineage: FrameLineage) -> Iterator[Dataset]:
    """The datasets that were read, each with the columns that the lineage has of it."""
    edges = [*lineage.rows.edges]
    for column in lineage.columns.values():
        edges += (*column.direct, *column.indirect)
    fields: dict[tuple[str, str], set[str]] = {tuple(one): set() for one in lineage.inputs}  # type: ignore[misc]
    for edge in edges:
        fields.setdefault(tuple(edge.source.dataset), set()).add(edge.source.field)  # type: ignore[arg-type]
    for (namespace, name), names in sorted(fields.items()):
        yield Dataset(namespace, name, sorted(names))


def short_name(target: Dataset) -> str:
    """The last part of a path without its suffix; the last two parts of a table's name."""
    parts = [part for part in target.name.replace("\\", "/").split("/") if part]
    last = parts[-1] if parts else target.name
    stem, suffix = os.path.splitext(last)
    return stem if len(parts) > 1 and suffix and stem else ".".join(last.split(".")[-2:])
