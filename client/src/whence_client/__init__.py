"""Whence in your own process: lineage of your Python jobs, and captures of the libraries that they use.

    import whence_client as whence

    @whence.job(inputs=["s3://lake/raw/orders"], outputs=["s3://lake/silver/orders"])
    def clean_orders(): ...

    with whence.run("report") as run:
        orders = run.reads("s3://lake/silver/orders", schema=["id", "amount", "day"])
        run.writes("s3://lake/gold/daily", columns={"total": "sum(amount)", "day": orders["day"]})

It needs nothing but Python 3.9 and its standard library, and never breaks or delays the job that it runs in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whence_client.events.datasets import Column, Dataset, Field
    from whence_client.naming.tables import name_table_of_url as table
    from whence_client.runs.active import active as current_run
    from whence_client.runs.commit_metadata import commit_metadata
    from whence_client.runs.declared_columns import derived
    from whence_client.runs.job import job, track_lineage
    from whence_client.runs.run import Run
    from whence_client.runs.run import Run as run

__all__ = [
    "Column",
    "Dataset",
    "Field",
    "Run",
    "commit_metadata",
    "current_run",
    "derived",
    "flush",
    "job",
    "load_ipython_extension",
    "run",
    "table",
    "track_lineage",
    "unload_ipython_extension",
]

_PLACES = {
    "Column": ("whence_client.events.datasets", "Column"),
    "Dataset": ("whence_client.events.datasets", "Dataset"),
    "Field": ("whence_client.events.datasets", "Field"),
    "Run": ("whence_client.runs.run", "Run"),
    "commit_metadata": ("whence_client.runs.commit_metadata", "commit_metadata"),
    "current_run": ("whence_client.runs.active", "active"),
    "derived": ("whence_client.runs.declared_columns", "derived"),
    "job": ("whence_client.runs.job", "job"),
    "run": ("whence_client.runs.run", "Run"),
    "table": ("whence_client.naming.tables", "name_table_of_url"),
    "track_lineage": ("whence_client.runs.job", "track_lineage"),
}


def __getattr__(name: str) -> Any:
    """The public names, imported when they are used: `import whence_client` costs nothing."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _PLACES[name]
    found = getattr(import_module(module), attribute)
    globals()[name] = found
    return found


def flush(seconds: float = 10.0) -> bool:
    """Wait until all events of this process are sent, at most so long. True if they are."""
    from whence_client.outbox import process_outbox

    return process_outbox().flush(seconds)


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext whence_client`: each cell of the notebook is a run."""
    from whence_client.runs.notebook import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """`%unload_ext whence_client`."""
    from whence_client.runs.notebook import unload

    unload(shell)
