"""Reading one query from the JVM: its plan as JSON, what its leaves read, and what it writes."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from whence_client.spark.capture.leaves import read_leaf
from whence_client.spark.capture.records import Query, Target
from whence_client.spark.capture.scala import call, class_name, read_option, read_sequence
from whence_client.spark.capture.write_commands import CHANGES, WRITES
from whence_client.spark.plan.row_changes import ROW_CHANGES
from whence_client.spark.plan.trees import expression_id, kind, trees_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whence_client.lineage.columns import Dataset
    from whence_client.spark.plan.attributes import Leaf
    from whence_client.spark.plan.trees import Tree

MOST_CHARACTERS = 32_000_000
"""A plan whose JSON is longer is not read."""

KEPT_ACTIONS = frozenset(("localCheckpoint", "checkpoint"))
"""Actions without a target whose result later plans refer to by expression ids."""

SET_VARIABLE = "SetVariable"
"""The command that sets variables, to which later plans refer by name."""

_SEVERAL = "multi-commands"
"""The action of `FROM … INSERT … INSERT …`."""

_SILENT_LEAVES = frozenset(("Range", "OneRowRelation", "CTERelationRef", "UnionLoopRef"))


@dataclass
class _Leaves:
    """The leaves found so far, by the expression id of their first attribute."""

    leaves: dict[int, Leaf] = field(default_factory=dict)
    symlinks: dict[Dataset, Dataset] = field(default_factory=dict)
    expansions: dict[int, Any] = field(default_factory=dict)
    rdds: dict[int, int] = field(default_factory=dict)


def is_analyzed(execution: Any) -> bool:
    """Whether Spark analyzed a query before it failed. One that names no table or column that exists reads nothing."""
    return read_option(execution.tracker().phases().get("analysis")) is not None


def read_queries(action: str, execution: Any) -> Iterator[Query]:
    """The records of a query execution: none of a command that moves no data, one of each INSERT of several."""
    plan, session = execution.analyzed(), call(execution, "sparkSession")
    is_several = action == _SEVERAL and class_name(plan) == "Union"
    for command in read_sequence(plan.children()) if is_several else (plan,):
        found = _read_command(action, command, session)
        if found is not None:
            # What each of several wrote is not known apart: their plan is run as one.
            rows, size = _written(execution) if found.target and found.plan and not is_several else (-1, -1)
            if not _is_skipped(command, rows):
                yield replace(found, rows=rows, size=size)


def _is_skipped(command: Any, rows: int) -> bool:
    """Whether a command left alone what exists. Where it makes a table, another command writes the rows."""
    mode = call(command, "mode")
    if mode is None or str(mode.toString()) != "Ignore":
        return False
    return rows == 0 or class_name(command) in ("CreateDataSourceTableAsSelectCommand", "SaveAsV1TableCommand")


def _read_command(action: str, plan: Any, session: Any) -> Query | None:
    command = class_name(plan)
    if command in CHANGES:
        target = CHANGES[command](plan, session)
        return Query(action, command, [], target=target, sql=read_sql(plan)) if target else None
    if command not in WRITES:
        is_kept = action in KEPT_ACTIONS or command == SET_VARIABLE
        return read_plan(action, command if command == SET_VARIABLE else "", plan, session, None) if is_kept else None
    target = WRITES[command](plan, session)
    if target is None:
        return None
    read = plan if command in ROW_CHANGES else _query_of(plan)
    if read is None:
        return None
    query = read_plan(action, command, read, session, target)
    return replace(query, sql=read_sql(plan))


def read_plan(action: str, command: str, plan: Any, session: Any, target: Target | None) -> Query:
    """The record of a plan. Raises ValueError if it is too large."""
    text = plan.toJSON()
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"the plan has {len(text)} characters of JSON, more than {MOST_CHARACTERS}")
    tree = json.loads(text)
    found = _Leaves()
    if command in ROW_CHANGES and not tree[0]["num-children"]:
        for part in filter(None, (call(plan, name) for name in ("target", "source"))):
            _read_leaves(part, json.loads(part.toJSON()), session, found)
    else:
        _read_leaves(plan, tree, session, found)
    return Query(
        action,
        command,
        tree,
        found.leaves,
        found.expansions,
        target,
        symlinks=tuple(found.symlinks.items()),
        schema=tuple(_schema_of(plan)) if target else (),
        rdds=found.rdds,
    )


def _schema_of(plan: Any) -> Iterator[tuple[str, Any]]:
    """The columns of a plan with their types; its JSON has no type of a computed one."""
    schema = call(plan, "schema")
    for one in json.loads(schema.json())["fields"] if schema is not None else ():
        yield str(one["name"]), one["type"]


def read_sql(plan: Any) -> str:
    """The SQL text of a statement that was one; else empty."""
    text = call(plan.origin(), "sqlText")
    return str(read_option(text) or "") if text is not None else ""


def _query_of(command: Any) -> Any:
    query = call(command, "query", "plan", "analyzedPlan", "data")
    return read_option(query) if class_name(query) in ("Some", "None$") else query


def _read_leaves(plan: Any, tree: Tree, session: Any, found: _Leaves) -> None:
    leaves = read_sequence(plan.collectLeaves())
    nodes = [node for node in tree if not node["num-children"]]
    for leaf, node in zip(leaves, nodes):
        number = _first_id(node)
        if kind(node) in _SILENT_LEAVES or number is None or number in found.leaves:
            continue
        named = read_leaf(leaf, session)
        found.leaves[number] = named.leaf
        if kind(node) == "LogicalRDD":
            found.rdds[number] = leaf.rdd().id()
        if named.symlink and isinstance(named.leaf, tuple):
            found.symlinks[named.leaf[0]] = named.symlink
    if any(kind(node) == "Expand" and not node.get("projections") for node in tree):
        _read_expansions(plan, found)
    if _has_subqueries(tree):
        for subquery in read_sequence(plan.subqueriesAll()):
            _read_leaves(subquery, json.loads(subquery.toJSON()), session, found)


def _first_id(node: dict[str, Any]) -> int | None:
    first = next(trees_in(node.get("output")), None)
    return expression_id(first[0]) if first else None


def _has_subqueries(tree: Tree) -> bool:
    return any(
        isinstance(one.get("plan"), list)
        for node in tree
        for value in node.values()
        for expression in trees_in(value)
        for one in expression
    )


def _read_expansions(plan: Any, found: _Leaves) -> None:
    """The projections of `Expand`, whose JSON leaves them out where they are not all alike."""
    for expand in _find(plan, "Expand"):
        output = expand.output()
        rows = [
            [json.loads(expression.toJSON()) for expression in read_sequence(row)]
            for row in read_sequence(expand.projections())
        ]
        found.expansions[output.apply(0).exprId().id()] = rows


def _find(plan: Any, name: str) -> Iterator[Any]:
    waiting = [plan]
    while waiting:
        one = waiting.pop()
        if class_name(one) == name:
            yield one
        waiting += read_sequence(one.children())


def _written(execution: Any) -> tuple[int, int]:
    """The rows and bytes that a command wrote, by Spark's own counts; -1 where it has none."""
    executed = execution.executedPlan()
    command = call(executed, "cmd")
    metrics = executed.metrics() if command is None else command.metrics()
    return _count(metrics, "numOutputRows"), _count(metrics, "numOutputBytes")


def _count(metrics: Any, name: str) -> int:
    metric = read_option(metrics.get(name))
    return int(metric.value()) if metric is not None else -1
