"""Spark's Python daemon, which imports the workers' modules before forking: workers start at once and share that
memory.
"""

import gc
import importlib

from pyspark.daemon import manager

from whence.derive.rows.sql_selection import is_enrichment_enabled

_NEEDED = (
    "pyspark.sql.pandas.serializers",
    "whence.derive.writing.parallel_recompute",
    "whence.derive.sources.segments",
)
_SQL = "whence.derive.rows.sql_lineage"
"""The parser takes 18 MiB, in each worker that imports it itself."""


def main() -> None:
    """Import the modules, then fork workers on Spark's request."""
    for module in (*_NEEDED, *((_SQL,) if is_enrichment_enabled() else ())):
        importlib.import_module(module)
    gc.freeze()  # imported objects are never garbage; the collector does not touch them, so they stay shared
    manager()


if __name__ == "__main__":
    main()
