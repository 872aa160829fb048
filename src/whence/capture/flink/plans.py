"""A compiled plan: the lineage of each table that it writes, operator by operator from the tables that it reads."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from whence.capture.flink.expressions import column_at, read_expression
from whence.capture.flink.operators import Rows, apply_operator
from whence.capture.flink.row_types import field_names
from whence.capture.flink.tables import column_names, find_dataset
from whence.capture.members import object_at, objects_at, text_at
from whence.errors import ArtifactError
from whence.openlineage.json.wire import Json
from whence_client.events.datasets import Dataset
from whence_client.lineage.columns import (
    FILTER,
    NOT_CAPTURED,
    Column,
    Edges,
    influence,
    read_column,
    transform,
    unknown,
)
from whence_client.lineage.columns import Dataset as SourceDataset

_TYPE = re.compile(r"(?:stream|batch)-exec-(.+?)(?:_\d+)?")
_LARGEST = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A table that a plan writes: its columns, and what decides its rows."""

    dataset: Dataset
    columns: Mapping[str, Column]
    influences: Edges


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a plan reads and writes. `gaps`: why something is not known, by table or operator."""

    version: str
    inputs: tuple[Dataset, ...]
    outputs: tuple[Written, ...]
    gaps: Mapping[str, str]


def read_plan(path: Path) -> Plan:
    """The plan in a file, as `COMPILE PLAN` writes it. Raises ArtifactError."""
    try:
        if path.stat().st_size > _LARGEST:
            raise ArtifactError(str(path), f"it has more than {_LARGEST >> 20} MiB")
        document: Any = json.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, RecursionError) as error:
        raise ArtifactError(str(path), f"it cannot be read: {error}") from None
    except ValueError:
        raise ArtifactError(str(path), "it is no JSON") from None
    if not isinstance(document, dict) or not text_at(document, "flinkVersion") or not objects_at(document, "nodes"):
        raise ArtifactError(str(path), "it is no compiled plan of Flink")
    try:
        return _Reading(document).read()
    except RecursionError:
        raise ArtifactError(str(path), "its expressions are nested too deeply") from None


@dataclass(slots=True)
class _Reading:
    document: Json
    inputs: dict[tuple[str, str], Dataset] = field(default_factory=dict)
    outputs: list[Written] = field(default_factory=list)
    gaps: dict[str, str] = field(default_factory=dict)

    def read(self) -> Plan:
        """Every operator after those whose rows it gets: Flink lists them so."""
        rows: dict[str, Rows] = {}
        sources: dict[str, list[str]] = {}
        for edge in objects_at(self.document, "edges"):
            sources.setdefault(str(edge.get("target")), []).append(str(edge.get("source")))
        for node in objects_at(self.document, "nodes"):
            id_ = str(node.get("id"))
            rows[id_] = self._operator(node, [rows[one] for one in sources.get(id_, ()) if one in rows])
        return Plan(
            version=text_at(self.document, "flinkVersion"),
            inputs=tuple(self.inputs.values()),
            outputs=tuple(self.outputs),
            gaps=self.gaps,
        )

    def _operator(self, node: Json, inputs: list[Rows]) -> Rows:
        found = _TYPE.fullmatch(text_at(node, "type"))
        kind = found[1] if found else ""
        if kind == "table-source-scan":
            return self._scan(node)
        if kind == "sink" and inputs:
            self._sink(node, inputs[0])
            return inputs[0]
        rows = apply_operator(kind, node, inputs)
        if rows.columns and all(one.reasons == {NOT_CAPTURED} and not one.direct for one in rows.columns):
            self.gaps.setdefault(f"operator {node.get('id')}", f"an operator {kind or 'without a type'} is not read")
        return rows

    def _scan(self, node: Json) -> Rows:
        source = object_at(node, "scanTableSource")
        table = object_at(source, "table")
        dataset = self._dataset(table)
        names = column_names(table)
        if dataset is None:
            return _project(source, Rows(tuple(unknown(self._reason(table)) for _ in names)), node)
        self.inputs[dataset.key] = Dataset(dataset.namespace, dataset.name, names)
        read = SourceDataset(*dataset.key)
        return _project(source, Rows(tuple(read_column(read, one) for one in names)), node)

    def _sink(self, node: Json, rows: Rows) -> None:
        table = object_at(node, "dynamicTableSink", "table")
        dataset = self._dataset(table)
        if dataset is not None:
            names = column_names(table)
            named = Dataset(dataset.namespace, dataset.name, names)
            columns = dict(zip(names, rows.columns, strict=False))
            self.outputs.append(Written(dataset=named, columns=columns, influences=rows.influences))

    def _dataset(self, table: Json) -> Dataset | None:
        try:
            return find_dataset(table)
        except (ArtifactError, ValueError) as error:
            reason = error.reason if isinstance(error, ArtifactError) else str(error)
            self.gaps[text_at(table, "identifier").replace("`", "")] = reason
            return None

    def _reason(self, table: Json) -> str:
        """Why the columns of a source have none: nothing is read, or it is not known."""
        return NOT_CAPTURED if text_at(table, "identifier").replace("`", "") in self.gaps else "no_source"


def _project(source: Json, rows: Rows, node: Json) -> Rows:
    """The rows of a scan after what its source does for the plan: filters, then the columns that are needed."""
    columns, influences = rows.columns, rows.influences
    for ability in objects_at(source, "abilities"):
        predicates = [read_expression(one, columns) for one in objects_at(ability, "predicates")]
        influences |= influence(predicates, FILTER)
        paths = ability.get("projectedFields")
        if isinstance(paths, list):
            columns = tuple(_projected(path, columns) for path in paths)
        elif text_at(ability, "type") == "AggregatePushDown":
            columns = tuple(unknown(NOT_CAPTURED) for _ in field_names(node))
    missing = max(0, len(field_names(node)) - len(columns))
    return Rows((*columns, *(unknown("no_source") for _ in range(missing))), influences)


def _projected(path: object, columns: tuple[Column, ...]) -> Column:
    """A column, or a part of one, which is made of the whole."""
    indexes = path if isinstance(path, list) and path else [None]
    column = column_at(columns, indexes[0])
    return column if len(indexes) == 1 else transform((column,))


def list_plans(folder: Path) -> Iterator[Path]:
    """The files of JSON below a folder, or the one file."""
    if folder.is_file():
        yield folder
        return
    yield from sorted(one for one in folder.rglob("*.json") if one.is_file())
