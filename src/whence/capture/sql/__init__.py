"""Lineage from SQL text: a script in, column lineage out (docs/how-to/sql.md).

>>> [str(edge.source) for edge in read_script("select a + 1 as b from t", "duckdb").collapsed]
['t.a']
"""

from whence.capture.sql.lineage import (
    RESULT,
    Budget,
    Column,
    Edge,
    ScriptLineage,
    Span,
    StatementLineage,
    Table,
    Unknown,
)
from whence.capture.sql.names.catalog import Catalog
from whence.capture.sql.scripts.script import read_script

__all__ = [
    "RESULT",
    "Budget",
    "Catalog",
    "Column",
    "Edge",
    "ScriptLineage",
    "Span",
    "StatementLineage",
    "Table",
    "Unknown",
    "read_script",
]
