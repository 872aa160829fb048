"""The event of one statement of SQL that DuckDB ran: pure, from a record. Whence reads the columns out of the text."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from whence_client.captures.naming import Naming
from whence_client.events.datasets import Dataset
from whence_client.events.facets import Event, facet
from whence_client.events.runs import COMPLETE, RunRef, job_type_facet, run_event


@dataclass(frozen=True)
class Statement:
    """A statement that wrote something. `script` names the program if no run is around it, `short` its output."""

    text: str
    inputs: tuple[Dataset, ...]
    output: Dataset
    short: str
    script: str
    run_id: str
    at: datetime


def statement_event(statement: Statement, naming: Naming) -> Event:
    """The run of the statement: a child of the run around it."""
    parent = naming.parent
    root = (parent.root or parent) if parent else None
    job = f"{parent.scope if parent else statement.script}.{statement.short}"
    return run_event(
        COMPLETE,
        RunRef(naming.namespace, job, statement.run_id, root),
        statement.at,
        parent=parent,
        job_facets={
            "jobType": job_type_facet("QUERY", "DUCKDB"),
            "sql": facet("SQLJobFacet", query=statement.text, dialect="duckdb"),
        },
        inputs=statement.inputs,
        outputs=[statement.output],
    )
