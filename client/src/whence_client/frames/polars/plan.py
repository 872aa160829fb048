"""The lineage of a polars plan, by the class of each of its nodes.

A plan is read through the traverser that polars has for its GPU engine (`LazyFrame._ldf.visit`): nodes with resolved
schemas, in which selectors and stars are expanded.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Callable

from whence_client.frames.frames import FrameLineage, join_inputs, join_rows, read_frames, unknown_frame
from whence_client.frames.polars.expressions import Scope, read_named, selected_by
from whence_client.lineage.columns import (
    EMPTY,
    FILTER,
    GROUP_BY,
    JOIN,
    LEFT_THE_ENGINE,
    NOT_CAPTURED,
    OPAQUE_FUNCTION,
    SORT,
    Column,
    Dataset,
    add_reason,
    get_field,
    merge,
    transform,
    unknown,
)
from whence_client.lineage.rows import Rows, rows_by


@dataclass
class Plan:
    """A plan that is being read. `name_paths` names files, the other functions know what is in memory."""

    frame: Any
    name_paths: Callable[[list[str]], tuple[Dataset, ...]]
    find_frame: Callable[[Any], FrameLineage | None]
    find_series: Callable[[Any], FrameLineage | None]
    find_list: Callable[[list[Any]], Column | None] = lambda values: None
    nodes: Any = None
    _read: dict[int, FrameLineage] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.nodes = self.frame._ldf.visit()

    @functools.cached_property
    def optimized_text(self) -> str:
        """The plan in words, as polars executes it."""
        return str(self.frame.explain())

    @functools.cached_property
    def text(self) -> str:
        """The plan in words, as the user wrote it."""
        return str(self.frame.explain(optimized=False))

    def scope(self, *frames: FrameLineage) -> Scope:
        """The scope of expressions over frames."""
        columns: dict[str, Column] = {}
        for one in reversed(frames):
            columns.update(one.columns)
        return Scope(columns, self.nodes, lambda: self.text, self._series_column, self.find_list)

    def _series_column(self, series: Any) -> Column | None:
        found = self.find_series(series)
        return found.rows.decide(merge(found.columns.values())) if found is not None else None

    def read(self, number: int) -> FrameLineage:
        """The lineage of a node; a node that several others have as their input is read once."""
        if number not in self._read:
            self._read[number] = self._read_node(number)
        return self._read[number]

    def schema(self, number: int) -> dict[str, Any]:
        """The columns of a node with their types."""
        self.nodes.set_node(number)
        return dict(self.nodes.get_schema())

    def _read_node(self, number: int) -> FrameLineage:
        self.nodes.set_node(number)
        below = tuple(self.nodes.get_inputs())
        try:
            node = self.nodes.view_current_node()
        except NotImplementedError:
            node = None
        inputs = [self.read(one) for one in below]
        names = self.schema(number)
        rule = _RULES.get(type(node).__name__, _other)
        found = rule(node, inputs, names, self)
        named = inputs[0].columns if type(node).__name__ == "Sink" else names  # a sink itself has no columns
        columns = {name: found.columns.get(name) or unknown(NOT_CAPTURED) for name in named}
        return FrameLineage(columns, join_rows([found, *inputs]), join_inputs([found, *inputs]))


def read_plan(plan: Plan) -> FrameLineage:
    """The lineage of the whole plan."""
    return plan.read(plan.nodes.get_node())


def find_sink(plan: Plan) -> str:
    """The path that the root of a plan writes; empty if it is not a sink of one file."""
    try:
        node = plan.nodes.view_current_node()
    except NotImplementedError:
        return ""
    if type(node).__name__ != "Sink":
        return ""
    target = (json.loads(node.payload).get("File") or {}).get("target")
    path = target.get("inner") if isinstance(target, dict) else None
    return str(path or "")


def written_schema(plan: Plan) -> dict[str, Any]:
    """The columns, with their types, that a sink at the root writes; those of the root if it is none."""
    root = plan.nodes.get_node()
    below = plan.nodes.get_inputs()
    schema = plan.schema(below[0] if find_sink(plan) and below else root)
    plan.nodes.set_node(root)
    return schema


Names = Mapping[str, Any]
Inputs = list[FrameLineage]


def _scan(node: Any, inputs: Inputs, names: Names, plan: Plan) -> FrameLineage:
    made = {name for name in (_row_index(node), getattr(node.file_options, "include_file_paths", None)) if name}
    datasets = plan.name_paths([str(path) for path in node.paths])
    frame = read_frames(datasets, [name for name in names if name not in made])
    frame = FrameLineage({**frame.columns, **dict.fromkeys(made, EMPTY)}, inputs=frame.inputs)
    return frame.with_rows(_predicate(node.predicate, frame, plan)).with_rows(_partitions(node, frame, plan))


def _partitions(node: Any, frame: FrameLineage, plan: Plan) -> Rows:
    """A filter that chose folders of a partitioned dataset: only the plan's text still has it."""
    if getattr(node, "hive_parts", None) is None or not node.paths:
        return Rows()
    chosen = selected_by(plan.optimized_text, str(node.paths[0]))
    return rows_by((frame.columns.get(name) or unknown(NOT_CAPTURED) for name in chosen), FILTER)


def _row_index(node: Any) -> str:
    index = getattr(node.file_options, "row_index", None)
    return str(index[0]) if index else ""


def _predicate(predicate: Any, frame: FrameLineage, plan: Plan) -> Rows:
    """A filter that was moved into a leaf; what polars adds at run time for speed chooses no row."""
    if predicate is None or "dynamic_pred" in str(
        getattr(plan.nodes.view_expression(predicate.node), "function_data", "")
    ):
        return Rows()
    return rows_by((read_named(predicate, plan.scope(frame)),), FILTER)


def _memory(node: Any, inputs: Inputs, names: Names, plan: Plan) -> FrameLineage:
    frame = plan.find_frame(node.df) or unknown_frame(names, LEFT_THE_ENGINE)
    return frame.with_rows(_predicate(node.selection, frame, plan))


def _select(node: Any, inputs: Inputs, names: Names, plan: Plan) -> FrameLineage:
    scope = plan.scope(*inputs)
    return FrameLineage({str(one.output_name): read_named(one, scope) for one in node.expr})


def _with_columns(node: Any, inputs: Inputs, names: Names, plan: Plan) -> FrameLineage:
    scope = plan.scope(*inputs)
    made = {str(one.output_name): read_named(one, scope) for one in node.exprs}
    return FrameLineage({**inputs[0].columns, **made})


def _reduce(node: Any, inputs: Inputs, names: Names, plan: Plan) -> FrameLineage:
    scope = plan.scope(*inputs)
    return FrameLineage({str(one.output_name): read_named(one, scope) for one in node.exprs})


def _group(node: Any, inputs: Inputs, names: Names, plan: Plan) -> FrameLineage:
    scope = plan.scope(*inputs)
    keys = {str(one.output_name): read_named(one, scope) for one in node.keys}
    made = {str(one.output_name): read_named(one, scope) for one in node.aggs}
    window = node.options.dynamic or node.options.rolling
    index = str(getattr(window, "index_column", "")) if window else ""
    if index:
        keys[index] = transform((scope.column(index),))
        made.update({one: keys[index] for one in ("_lower_boundary", "_upper_boundary") if one in names})
    columns = {**keys, **made}
    if node.apply:
        columns = _hide(inputs, names)
    return FrameLineage(columns, rows_by(keys.values(), GROUP_BY))


def _join(node: Any, inputs: Inputs, names: Names, plan: Plan) -> FrameLineage:
    left, right = inputs
    how, suffix, coalesced = _how(node.options[0]), str(node.options[3]), bool(node.options[4])
    on_left = [read_named(one, plan.scope(left)) for one in node.left_on]
    on_right = [read_named(one, plan.scope(right)) for one in node.right_on]
    by_left, by_right = _groups_of_nearest(node.options[0])
    within = [left.columns[one] for one in by_left if one in left.columns]
    within += [right.columns[one] for one in by_right if one in right.columns]
    edges = rows_by((*on_left, *on_right, *within), JOIN)
    if node.predicate is not None:
        edges |= rows_by((read_named(node.predicate, plan.scope(left, right)),), JOIN)
    if how in ("Semi", "Anti"):
        return FrameLineage(left.columns, edges)
    columns = {**_suffixed(left, right, suffix), **left.columns}
    if how == "Right":
        columns = {**_suffixed(left, right, suffix), **_without(left, node.left_on if coalesced else ())}
        columns.update({name: right.columns[name] for name in right.columns if name not in columns})
    if how == "Full" and coalesced:
        for one, other in zip(node.left_on, node.right_on):
            both = (left.columns.get(str(one.output_name)), right.columns.get(str(other.output_name)))
            columns[str(one.output_name)] = merge(column for column in both if column)
    return FrameLineage(columns, edges)


def _how(option: Any) -> str:
    return str(option if isinstance(option, str) else option[0])


def _groups_of_nearest(option: Any) -> tuple[list[str], list[str]]:
    """The columns of `by` of a join with the nearest row, left and right."""
    lists = [one for one in option if isinstance(one, list)] if _how(option) == "AsOf" else []
    return (lists[0], lists[1]) if len(lists) == 2 else ([], [])


def _suffixed(left: FrameLineage, right: FrameLineage, suffix: str) -> dict[str, Column]:
    """The right frame's columns under the names that they may have in a join."""
    return {name if name not in left.columns else f"{name}{suffix}": column for name, column in right.columns.items()}


def _without(frame: FrameLineage, keys: Iterable[Any]) -> dict[str, Column]:
    names = {str(one.output_name) for one in keys}
    return {name: column for name, column in frame.columns.items() if name not in names}


def _sort(node: Any, inputs: Inputs, names: Names, plan: Plan) -> FrameLineage:
    scope = plan.scope(*inputs)
    return FrameLineage(inputs[0].columns, rows_by((read_named(one, scope) for one in node.by_column), SORT))


def _filter(node: Any, inputs: Inputs, names: Names, plan: Plan) -> FrameLineage:
    return inputs[0].with_rows(_predicate(node.predicate, inputs[0], plan))


def _distinct(node: Any, inputs: Inputs, names: Names, plan: Plan) -> FrameLineage:
    subset = node.options[1] or list(inputs[0].columns)
    keys = (inputs[0].columns[name] for name in subset if name in inputs[0].columns)
    return inputs[0].with_rows(rows_by(keys, GROUP_BY))


def _union(node: Any, inputs: Inputs, names: Names, plan: Plan) -> FrameLineage:
    return FrameLineage({name: merge(one.columns.get(name, EMPTY) for one in inputs) for name in names})


def _merge_sorted(node: Any, inputs: Inputs, names: Names, plan: Plan) -> FrameLineage:
    merged = _union(node, inputs, names, plan)
    keys = node.key if isinstance(node.key, (list, tuple)) else [node.key]
    return merged.with_rows(rows_by((merged.columns[str(key)] for key in keys if str(key) in merged.columns), SORT))


def _beside(node: Any, inputs: Inputs, names: Names, plan: Plan) -> FrameLineage:
    columns: dict[str, Column] = {}
    for one in inputs:
        columns.update(one.columns)
    return FrameLineage(columns)


def _same(node: Any, inputs: Inputs, names: Names, plan: Plan) -> FrameLineage:
    return inputs[0]


def _map(node: Any, inputs: Inputs, names: Names, plan: Plan) -> FrameLineage:
    function, source = node.function, inputs[0]
    rule = _MAPS.get(str(function[0]))
    if rule is not None:
        return rule(function, source, names)
    kept = {name: column for name, column in source.columns.items() if name in names}
    everything = add_reason(transform(source.columns.values()), NOT_CAPTURED)
    return FrameLineage({**dict.fromkeys(names, everything), **kept})


def _explode(function: Any, source: FrameLineage, names: Names) -> FrameLineage:
    return FrameLineage({**source.columns, **{one: transform((source.columns[one],)) for one in function[1]}})


def _unnest(function: Any, source: FrameLineage, names: Names) -> FrameLineage:
    structs = [source.columns[name] for name in function[1] if name in source.columns]
    made = {name: _field_of(structs, name) for name in names if name not in source.columns or name in function[1]}
    return FrameLineage({**source.columns, **made})


def _field_of(structs: list[Column], name: str) -> Column:
    known = [one for one in structs if name in one.fields]
    return get_field(known[0], name) if known else transform(structs)


def _unpivot(function: Any, source: FrameLineage, names: Names) -> FrameLineage:
    lists = [one for one in function[1:] if isinstance(one, (list, tuple))]
    labels = [str(one) for one in function[1:] if isinstance(one, str)]
    index = [str(one) for one in lists[0]] if lists else []
    values = [str(one) for one in lists[1]] if len(lists) > 1 else []
    chosen = values or [name for name in source.columns if name not in index]
    made = {labels[-1] if labels else "value": merge(source.columns[name] for name in chosen)}
    return FrameLineage({**source.columns, **{name: EMPTY for name in names if name not in index}, **made})


def _row_number(function: Any, source: FrameLineage, names: Names) -> FrameLineage:
    return FrameLineage({**{name: EMPTY for name in names if name not in source.columns}, **source.columns})


_MAPS: dict[str, Callable[[Any, FrameLineage, Names], FrameLineage]] = {
    "explode": _explode,
    "unnest": _unnest,
    "unpivot": _unpivot,
    "row_index": _row_number,
}


def _hide(inputs: Inputs, names: Names) -> dict[str, Column]:
    everything = add_reason(transform(column for one in inputs for column in one.columns.values()), OPAQUE_FUNCTION)
    return dict.fromkeys(names, everything)


def _other(node: Any, inputs: Inputs, names: Names, plan: Plan) -> FrameLineage:
    """A node without a rule, or one that calls a Python function: every column may come from every other."""
    if not inputs:
        return unknown_frame(names, NOT_CAPTURED)
    if node is None:
        return FrameLineage(_hide(inputs, names))
    everything = add_reason(transform(column for one in inputs for column in one.columns.values()), NOT_CAPTURED)
    return FrameLineage(dict.fromkeys(names, everything))


_RULES: dict[str, Callable[[Any, Inputs, Names, Plan], FrameLineage]] = {
    "Scan": _scan,
    "DataFrameScan": _memory,
    "Select": _select,
    "HStack": _with_columns,
    "Reduce": _reduce,
    "GroupBy": _group,
    "Join": _join,
    "Sort": _sort,
    "Filter": _filter,
    "Distinct": _distinct,
    "Union": _union,
    "MergeSorted": _merge_sorted,
    "HConcat": _beside,
    "MapFunction": _map,
    "SimpleProjection": _same,
    "Slice": _same,
    "Cache": _same,
    "Sink": _same,
}
