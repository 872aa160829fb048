"""Reading a scenario: a closed schema, so that a misspelt key is a mistake with its line."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from whence.errors import RulesFileError
from whence.govern.gamedays.scenario import MINUTE, Column, Expected, Fault, Scenario, Source, Table, Task
from whence.govern.slos.calendar_file import parse_time, read_dataset
from whence.govern.slos.indicator_file import read_duration
from whence.govern.slos.slo_file import read_slos
from whence.govern.yaml_nodes import Node, Reader, parse, read_members, read_version
from whence.govern.yaml_values import read_values
from whence.model.names import JobName
from whence.query.answers.instants import microseconds

_MOST_DAYS = 120


def read_scenario(text: str, file: str = "scenario.yaml") -> Scenario:
    """Read a scenario. Raises RulesFileError with file and line."""
    root = parse(text, file)
    if root is None:
        raise RulesFileError(f"{file}:1", "the file is empty")
    stated = read_members(root, _TOP, tuple(key for key in _TOP if key != "origin"))
    tables = {one.key: one for one in map(_table, stated["datasets"].items())}
    reading = _Reading(tables=tables, namespace=stated["namespace"])
    tasks = tuple(reading.task(node) for node in stated["jobs"].list())
    reading.check_order(tasks, stated["jobs"])
    start = stated["start"]
    fault = read_members(stated["fault"], {"after": read_duration, "jobs": _self}, ("after", "jobs"))
    fault_at = start + fault["after"]
    faults = tuple(reading.fault(key, value, tasks) for key, value in fault["jobs"].items())
    return Scenario(
        name=stated["name"],
        title=stated["title"],
        origin=stated.get("origin", ""),
        start=start,
        fault_at=fault_at,
        fixed_at=fault_at + stated["fixedAfter"],
        tables=tables,
        tasks=tasks,
        faults=faults,
        objectives=read_slos(_objectives(stated["objectives"], tables), file).objectives,
        expected=reading.expected(stated["expected"], tasks),
    )


def _self(node: Node) -> Node:
    return node


def _moment(node: Node) -> int:
    try:
        moment = datetime.fromisoformat(node.filled())
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise node.mistake("write a time with its offset, such as 2026-03-02T00:00:00Z")
    return microseconds(moment)


def _share(node: Node) -> float:
    return _number(node, 1.0)


def _factor(node: Node) -> float:
    return _number(node, 1_000.0)


def _number(node: Node, most: float) -> float:
    try:
        value = float(node.filled())
    except ValueError:
        value = -1.0
    if not 0 <= value <= most:
        raise node.mistake(f"write a number from 0 to {most:g}")
    return value


def _names(node: Node) -> tuple[str, ...]:
    return tuple(item.filled() for item in node.list())


def _members(of: Callable[[Node], Any]) -> Reader:
    return lambda node: {key.filled(): of(value) for key, value in node.items()}


def _time_of_day(node: Node) -> int:
    minutes = parse_time(node.filled())
    if minutes is None:
        raise node.mistake("write a time of the day (UTC), such as 02:30")
    return minutes * MINUTE


_TOP: Mapping[str, Reader] = {
    "version": read_version,
    "name": Node.filled,
    "title": Node.filled,
    "origin": Node.filled,
    "namespace": Node.filled,
    "start": _moment,
    "datasets": _self,
    "jobs": _self,
    "objectives": _self,
    "fault": _self,
    "fixedAfter": read_duration,
    "expected": _self,
}
_TABLE: Mapping[str, Reader] = {
    "id": read_dataset,
    "owner": Node.filled,
    "tier": Node.integer,
    "type": Node.filled,
    "rows": Node.integer,
    "columns": _self,
}
_TASK: Mapping[str, Reader] = {
    "name": Node.filled,
    "reads": _names,
    "writes": _names,
    "at": _time_of_day,
    "every": read_duration,
    "takes": read_duration,
    "dag": Node.filled,
    "commit": Node.filled,
}
_FAULT: Mapping[str, Reader] = {
    "missing": Node.boolean,
    "fails": Node.filled,
    "late": read_duration,
    "rows": _factor,
    "copies": _factor,
    "nulls": _members(_share),
    "drops": lambda node: frozenset(_names(node)),
    "adds": _members(Node.filled),
    "renames": _members(Node.filled),
    "retypes": _members(Node.filled),
    "reads": _members(Node.filled),
    "commit": Node.filled,
}
_MAPPINGS = ("nulls", "adds", "renames", "retypes", "reads")
_EXPECTED: Mapping[str, Reader] = {
    "symptom": _self,
    "root": _self,
    "owner": Node.filled,
    "contained": Node.list,
    "detectedWithin": read_duration,
    "closedWithin": read_duration,
}


def _table(item: tuple[Node, Node]) -> Table:
    key, node = item
    stated = read_members(node, _TABLE, ("id",))
    return Table(
        key=key.filled(),
        name=stated["id"],
        owner=stated.get("owner", ""),
        tier=stated.get("tier"),
        kind=stated.get("type", ""),
        rows=stated.get("rows", 1_000),
        columns=tuple(_columns(stated["columns"])) if "columns" in stated else (),
    )


def _columns(node: Node) -> Iterator[Column]:
    """`name: type`, or `name: {type: …, from: [dataset.column]}`, or `name: [dataset.column]`."""
    for key, value in node.items():
        if value.is_list():
            yield Column(name=key.filled(), sources=tuple(map(_source, value.list())))
        elif value.text:
            yield Column(name=key.filled(), type=value.filled())
        else:
            stated = read_members(value, {"type": Node.filled, "from": Node.list}, ())
            sources = tuple(map(_source, stated.get("from", ())))
            yield Column(name=key.filled(), type=stated.get("type", "string"), sources=sources)


def _source(node: Node) -> Source:
    key, dot, column = node.filled().partition(".")
    if dot and not column:
        raise node.mistake("write dataset.column")
    return key, column


def _objectives(node: Node, tables: Mapping[str, Table]) -> str:
    """The objectives as the text of a `slos.yaml`: their `dataset` is a key of the scenario there."""
    values = read_values(node).root
    if not isinstance(values, dict) or not isinstance(values.get("slos"), list):
        raise node.mistake("write what slos.yaml has: service and slos")
    for one in values["slos"]:
        if isinstance(one, dict) and one.get("dataset") in tables:
            one["dataset"] = str(tables[one["dataset"]].name)
    return json.dumps({"version": 1, **values})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    tables: Mapping[str, Table]
    namespace: str

    def task(self, node: Node) -> Task:
        """A job. Raises RulesFileError."""
        stated = read_members(node, _TASK, ("name", "writes", "at"))
        for key in (*stated.get("reads", ()), *stated["writes"]):
            self._check(node, (key, ""))
        stated["name"] = JobName(self.namespace, stated["name"])
        return Task(**{"reads": (), **stated})

    def check_order(self, tasks: tuple[Task, ...], node: Node) -> None:
        """Refuse sources that are of no dataset that a job reads, and jobs that are not in the order of the data."""
        written = {key for one in tasks for key in one.writes}
        ready = set(self.tables) - written
        for one, place in zip(tasks, node.list(), strict=True):
            for key in one.writes:
                for column in self.tables[key].columns:
                    for source in column.sources:
                        self._check(place, source)
                        if source[0] not in one.reads:
                            raise place.mistake(f"{key}.{column.name} comes from {source[0]}, which it does not read")
            if late := sorted(set(one.reads) - ready):
                raise place.mistake(f"it reads {', '.join(late)}, which a later job writes: write the jobs in order")
            ready |= set(one.writes)

    def fault(self, key: Node, node: Node, tasks: tuple[Task, ...]) -> Fault:
        """The fault of a job. Raises RulesFileError."""
        stated = {name: {} for name in _MAPPINGS} | read_members(node, _FAULT)
        for pair in stated["reads"].items():
            for table in pair:
                self._check(node, (table, ""))
        return Fault(job=self._job(key, tasks), **stated)

    def expected(self, node: Node, tasks: tuple[Task, ...]) -> Expected:
        """What is to be found. Raises RulesFileError."""
        stated = read_members(node, _EXPECTED, tuple(_EXPECTED))
        symptom, root = _source(stated["symptom"]), _source(stated["root"])
        self._check(stated["symptom"], symptom)
        self._check(stated["root"], root)
        return Expected(
            symptom=symptom,
            root=root,
            owner=stated["owner"],
            contained=frozenset(self._job(one, tasks) for one in stated["contained"]),
            detected_within=stated["detectedWithin"],
            closed_within=stated["closedWithin"],
        )

    def _job(self, node: Node, tasks: tuple[Task, ...]) -> JobName:
        name = JobName(self.namespace, node.filled())
        if name not in {one.name for one in tasks}:
            raise node.mistake(f"no job is named {name.name!r}")
        return name

    def _check(self, node: Node, source: Source) -> None:
        key, column = source
        if key not in self.tables:
            raise node.mistake(f"no dataset has the key {key!r}")
        if column and column not in {one.name for one in self.tables[key].columns}:
            raise node.mistake(f"{key} has no column {column!r}")
