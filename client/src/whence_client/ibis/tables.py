"""The tables that expressions of ibis begin at: of databases, of files, and frames in memory."""

from __future__ import annotations

from typing import Any

from whence_client.captures.naming import Naming
from whence_client.duckdb.catalog import Catalog
from whence_client.events.datasets import Dataset as EventDataset
from whence_client.frames.frames import FrameLineage, read_frame, unknown_frame
from whence_client.frames.memory import FrameMemory
from whence_client.lineage.columns import LEFT_THE_ENGINE, Dataset

_MADE = "_whence_tables"
"""The attribute of a backend with the lineage of its views of files and temporary tables, by name. A dictionary by
backend would not do: two databases in memory are equal.
"""


_JOB = "_whence_job"
"""The attribute of a backend with the job that its tables in memory are named after: several runs may use them."""


def remember_table(backend: Any, name: str, lineage: FrameLineage) -> None:
    """Keep the lineage of what a view of a file, or a temporary table, has."""
    vars(backend).setdefault(_MADE, {})[name] = lineage


def forget_table(backend: Any, name: str) -> None:
    """A lasting table took the name."""
    vars(backend).get(_MADE, {}).pop(name, None)


def read_table(node: Any, memory: FrameMemory, naming: Naming, job: str) -> FrameLineage | None:
    """The lineage of a table; None if the node is none, or has no name that holds everywhere."""
    names, kind = list(node.schema.names), type(node).__name__
    if kind == "InMemoryTable":
        return memory.find(getattr(node.data, "obj", None)) or unknown_frame(names, LEFT_THE_ENGINE)
    if kind != "DatabaseTable":
        return None
    made = vars(node.source).get(_MADE, {}).get(node.name)
    if made is not None:
        return made  # type: ignore[no-any-return]
    space = node.namespace
    found = name_table_of(node.source, (space.catalog, space.database, node.name), naming, job)
    return read_frame(Dataset(found.namespace, found.name), names) if found else None


def name_table_of(backend: Any, parts: tuple[str | None, ...], naming: Naming, job: str) -> EventDataset | None:
    """The dataset of a table by catalog, database and name; None for databases whose names are not known here."""
    job = vars(backend).setdefault(_JOB, job)
    known = tuple(part for part in parts if part)
    if backend.name == "duckdb":
        catalog = Catalog(backend.con, naming, job)
        try:
            return catalog.table(known)
        finally:
            catalog.close()
    if backend.name == "sqlite":
        files = {str(row[1]): str(row[2]) for row in backend.con.execute("PRAGMA database_list").fetchall()}
        path = files.get(known[-2] if len(known) > 1 else "main", "")
        local = EventDataset(naming.namespace, f"{job}.{'.'.join(known)}")
        return naming.table("sqlite", known[-1:], path=path) if path else local
    return None
