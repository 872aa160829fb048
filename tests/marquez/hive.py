"""Hive tables as OpenLineage's Hive hook reports them: named by the metastore, with their paths as LOCATION symlinks.

The first table is read into the second, that into the third. Influence is said in one of three forms.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from marquez.shop import DAY, HOUR, RUNS
from whence.model.events import RunState
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, RunName
from whence.openlineage.write import column_lineage, dataset, facet, run_event

PATHS = (
    ("file", "/opt/wh"),
    ("hdfs://nn:8020", "/wh"),
    ("s3://lake", "wh"),
    ("gs://lake", "wh"),
    ("abfss://c@acct.dfs.core.windows.net", "/wh"),
    ("dbfs", "/user/hive/wh"),
)
FORMS = ("dataset", "copied", "column")
COLUMNS = ("key", "value", "literal")
"""Of every table; nothing flows into `literal`."""

VALUES = (("key", "key", "IDENTITY"), ("value", "value", "TRANSFORMATION"), ("key", "value", "AGGREGATION"))
"""Column of the input, column of the output, how."""
INFLUENCES = (("key", "FILTER"), ("key", "JOIN"), ("value", "GROUP_BY"))


@dataclass(frozen=True, slots=True)
class Warehouse:
    """Where the tables of a metastore lie, how events say what influences them, and whether they call them by path."""

    number: int
    place: tuple[str, str]
    form: str
    by_path: bool = False

    @property
    def tables(self) -> tuple[DatasetName, ...]:
        """By the names of the metastore, in the order of the flow."""
        return tuple(
            DatasetName(f"hive://meta{self.number}:9083", f"db.{name}") for name in ("first", "second", "third")
        )

    @property
    def jobs(self) -> tuple[JobName, ...]:
        """Each reads a table and writes the next one."""
        return tuple(JobName("hive", f"warehouse{self.number}.insert{place}") for place in (0, 1))

    def path(self, table: DatasetName) -> DatasetName:
        """Where a table lies."""
        namespace, base = self.place
        return DatasetName(namespace, f"{base}/{self.number}/{table.name}")

    def names(self, table: DatasetName) -> tuple[DatasetName, DatasetName]:
        """Both names of a table."""
        return table, self.path(table)

    def bodies(self) -> list[bytes]:
        """A START and a COMPLETE of each of the two jobs."""
        events = [one for place in (0, 1) for one in self._run(place, *self.tables[place : place + 2])]
        return [json.dumps(one).encode() for one in events]

    def edges(self) -> Iterable[tuple[str, str, str, str]]:
        """Column of the input, column of the output, type and subtype of each edge from a table to the next."""
        yield from ((one, other, "DIRECT", how) for one, other, how in VALUES)
        columns = ("value",) if self.form == "column" else COLUMNS
        yield from ((one, other, "INDIRECT", how) for one, how in INFLUENCES for other in columns)

    def _run(self, number: int, source: DatasetName, target: DatasetName) -> Iterable[dict[str, Any]]:
        run = RunName(RUNS[number], self.jobs[number])
        ends: dict[str, Any] = {
            "inputs": [self._dataset(source)],
            "outputs": [self._dataset(target, self._edges(source, target))],
        }
        yield run_event(DAY + number * HOUR, RunState.START, run, **ends)
        yield run_event(DAY + number * HOUR + 1, RunState.COMPLETE, run, **ends)

    def _dataset(self, table: DatasetName, edges: Sequence[Edge] = ()) -> dict[str, Any]:
        own, other, kind = table, self.path(table), "LOCATION"
        if self.by_path:
            own, other, kind = other, own, "TABLE"
        link = {"namespace": other.namespace, "name": other.name, "type": kind}
        facets = {
            "schema": facet("SchemaDatasetFacet", fields=[{"name": name, "type": "string"} for name in COLUMNS]),
            "symlinks": facet("SymlinksDatasetFacet", identifiers=[link]),
        }
        return dataset(own, facets=facets | ({"columnLineage": column_lineage(edges)} if edges else {}))

    def _edges(self, source: DatasetName, target: DatasetName) -> list[Edge]:
        source, target = (self.path(one) if self.by_path else one for one in (source, target))
        values = [_edge(FieldName(source, one), FieldName(target, other), "DIRECT", how) for one, other, how in VALUES]
        forms: dict[str, Sequence[DatasetName | FieldName]] = {
            "dataset": [target],
            "copied": [FieldName(target, name) for name in ("key", "value")],
            "column": [FieldName(target, "value")],
        }
        ends = forms[self.form]
        return values + [_edge(FieldName(source, one), end, "INDIRECT", how) for end in ends for one, how in INFLUENCES]


def _edge(source: FieldName, target: DatasetName | FieldName, type_: str, subtype: str) -> Edge:
    return Edge(source=source, target=target, type=type_, subtype=subtype)
