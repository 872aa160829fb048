"""The capture of polars: hooks where frames are read, collected and written. The plan itself is in `plan`."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from whence_client.captures.contract import ATTACH, Findings, Undo, Versions, check_package
from whence_client.captures.naming import Naming
from whence_client.captures.patches import Observer, Patches, hook_once
from whence_client.captures.session import Session
from whence_client.events.datasets import Dataset as EventDataset
from whence_client.events.facets import Event
from whence_client.frames.frames import FrameLineage, join_rows, read_frames, unknown_frame
from whence_client.frames.handover import adopt_values
from whence_client.frames.memory import memory_of
from whence_client.frames.polars import eager
from whence_client.frames.polars.list_literals import ListLiterals
from whence_client.frames.polars.plan import Plan, find_sink, read_plan, written_schema
from whence_client.frames.writes import FrameWrite, describe_write, write_event
from whence_client.lineage.columns import FILTER, LEFT_THE_ENGINE, NOT_CAPTURED, Dataset, merge
from whence_client.lineage.rows import rows_by
from whence_client.naming.files import name_file
from whence_client.naming.patterns import files_of, folder_of, limit_files

_READERS = ("read_avro", "read_csv", "read_excel", "read_ipc", "read_json", "read_ndjson", "read_ods", "read_parquet")
_SCANNERS = ("scan_csv", "scan_ipc", "scan_ndjson", "scan_parquet")
_MOST_SOURCES = 10_000
"""The sources of scans that are remembered: the oldest go first."""
_WRITERS = ("write_avro", "write_csv", "write_excel", "write_ipc", "write_json", "write_ndjson", "write_parquet")
_SINKS = ("sink_csv", "sink_ipc", "sink_ndjson", "sink_parquet")
_KEEPING = ("slice", "head", "tail", "limit", "clone", "rechunk", "reverse", "sample", "gather_every", "shrink_to_fit")
"""Methods of frames in memory that call no plan and keep the columns."""
_COLLECTORS = ("collect", "_collect_eager")


class PolarsCapture:
    """Column lineage of polars frames, out of the plans that polars runs."""

    name = "polars"
    kind = ATTACH
    versions = Versions("1.38.1", "2.1.0")

    def check(self) -> Findings:
        """Whether polars is there, and of a release that is known."""
        return check_package("polars", self.versions)

    def translate(self, record: FrameWrite, naming: Naming) -> Iterable[Event]:
        """The event of one write."""
        return (write_event(record, naming),)

    def install(self, session: Session) -> Undo:
        """Hook polars, which the job has imported."""
        polars = sys.modules["polars"]
        return hook_once(polars, lambda: _Hooks(self, session, polars).install())


class _Hooks:
    """The hooks of one process."""

    def __init__(self, capture: PolarsCapture, session: Session, polars: Any) -> None:
        self._capture, self._session, self._polars = capture, session, polars
        self._memory = memory_of(session)
        self._patches = Patches(session.guard(capture.name))
        self._sources: dict[tuple[str, str], None] = {}
        self._lists = ListLiterals()
        self._depth: ContextVar[int] = ContextVar("whence_polars_writes", default=0)

    def install(self) -> Undo:
        """Put the hooks in place."""
        polars, observe = self._polars, self._patches.observe
        for name in _READERS:
            if hasattr(polars, name):
                observe(polars, name, self._on_read)
        for name in _SCANNERS:
            if hasattr(polars, name):
                observe(polars, name, self._on_scan)
        observe(polars.DataFrame, "__init__", self._on_creation)
        for name in ("from_pandas", "from_arrow"):
            observe(polars, name, self._on_import)
        observe(polars.Series, "__init__", self._on_values)
        for name in ("replace", "replace_strict"):
            observe(polars.Expr, name, self._on_replacement)
        self._patches.replace(polars, "concat", self._wrap_concat)
        for name in ("to_pandas", "to_numpy", "to_arrow"):
            observe(polars.DataFrame, name, self._on_export)
        for name in (*_KEEPING, "__getitem__"):
            if hasattr(polars.DataFrame, name):
                observe(polars.DataFrame, name, self._on_part)
        for owner, rules in (
            (polars.DataFrame, eager.OF_FRAMES),
            (polars.DataFrame, eager.CHANGES),
            (polars.Series, eager.OF_SERIES),
        ):
            for name, rule in rules.items():
                if hasattr(owner, name):
                    self._hook_eager(owner, name, rule, changes=rules is eager.CHANGES)
        for owner in _iterators_of_groups():
            observe(owner, "__next__", self._on_group)
        observe(polars, "collect_all", self._on_collect_all)
        for name in _COLLECTORS:
            if hasattr(polars.LazyFrame, name):
                observe(polars.LazyFrame, name, self._on_collect)
        for name in _SINKS:
            self._observe_write(polars.LazyFrame, name, self._on_sink)
        for name in _WRITERS:
            self._observe_write(polars.DataFrame, name, self._on_write)
        self._memory.find_planned = self._find_planned
        return self._patches.undo

    def _hook_eager(self, owner: Any, name: str, rule: eager.Rule, *, changes: bool) -> None:
        """A rule of a call that has no plan. Of nested ones the outermost counts: it is the last to be remembered."""
        guard = self._session.guard(self._capture.name)

        def make(original: Any) -> Any:
            @functools.wraps(original)
            def hooked(subject: Any, *args: Any, **named: Any) -> Any:
                before = guard.run(name, self._known, subject) if changes else None
                result = original(subject, *args, **named)
                guard.run(name, self._apply, rule, subject, args, named, result, before)
                return result

            return hooked

        self._patches.replace(owner, name, make)

    def _apply(
        self, rule: eager.Rule, subject: Any, args: Any, named: dict[str, Any], result: Any, changed: Any
    ) -> None:
        made = subject if changed is not None else result
        for one in made if isinstance(made, list) else made.values() if isinstance(made, dict) else [made]:
            if not isinstance(one, (self._polars.DataFrame, self._polars.Series)):
                continue
            lineage = rule(one, args, named, changed or self._known(subject), self._known)
            if isinstance(one, self._polars.DataFrame):
                self._remember(one, eager.complete(lineage, one.columns))
            elif lineage.inputs:
                self._memory.remember(one, lineage, functools.partial(_as_list, one))

    def _known(self, thing: Any) -> FrameLineage:
        """The lineage of a frame or series; columns without sources if nobody knows it."""
        if isinstance(thing, self._polars.Series):
            found = self._memory.find(thing) or self._memory.find_by_buffers(lambda: [thing])
            return found or unknown_frame([thing.name], LEFT_THE_ENGINE)
        if not isinstance(thing, self._polars.DataFrame):
            return unknown_frame((), LEFT_THE_ENGINE)
        return self._memory.find(thing) or self._find(thing) or unknown_frame(thing.columns, LEFT_THE_ENGINE)

    def _observe_write(self, owner: Any, name: str, observer: Observer) -> None:
        """As `observe`, for the outermost of nested writes: `write_parquet` is `lazy().sink_parquet` within."""
        guard = self._session.guard(self._capture.name)

        def make(original: Any) -> Any:
            @functools.wraps(original)
            def observed(*args: Any, **kwargs: Any) -> Any:
                token = self._depth.set(self._depth.get() + 1)
                try:
                    result = original(*args, **kwargs)
                finally:
                    self._depth.reset(token)
                if not self._depth.get():
                    guard.run(name, observer, result, args, kwargs)
                return result

            return observed

        self._patches.replace(owner, name, make)

    def _on_read(self, frame: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        """A file was read at once."""
        if not isinstance(frame, self._polars.DataFrame):
            return  # several sheets of a workbook
        source = args[0] if args else named.get("source")
        paths = [one for path in _paths(source) for one in files_of(path)]
        lineage = read_frames(_name_files(paths), frame.columns) if paths else None
        self._remember(frame, lineage or unknown_frame(frame.columns, NOT_CAPTURED))

    def _on_scan(self, result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        """A file or folder will be read: its plan has the files alone, even if there is one in the folder."""
        for path in _paths(args[0] if args else named.get("source")):
            self._sources[name_file(folder_of(path)).key] = None
        while len(self._sources) > _MOST_SOURCES:
            self._sources.pop(next(iter(self._sources)))

    def _name_paths(self, paths: list[str]) -> tuple[Dataset, ...]:
        """The datasets of the files of a scan: what the job called them, else each file, or the folder of many."""
        called = {self._name_source(path) for path in paths}
        return tuple(sorted(one for one in called if one)) if None not in called else _name_files(paths)

    def _name_source(self, path: str) -> Dataset | None:
        """The file or folder around it that the job named."""
        namespace, name = name_file(path).key
        while name and (namespace, name) not in self._sources:
            name = name.rpartition("/")[0]
        return Dataset(namespace, name) if name else None

    def _wrap_concat(self, original: Any) -> Any:
        guard = self._session.guard(self._capture.name)

        @functools.wraps(original)
        def concat(items: Any, *args: Any, **named: Any) -> Any:
            given = list(items)  # a generator can be read once, which polars itself does first
            result = original(given, *args, **named)
            guard.run("concat", self._on_concat, result, given, named.get("how", args[0] if args else "vertical"))
            return result

        return concat

    def _on_concat(self, result: Any, items: list[Any], how: Any) -> None:
        """Frames or series were put together at once. What aligns them is a plan."""
        if isinstance(result, self._polars.Series):
            lineage = eager.stack([self._known(one) for one in items], "vertical")
            whole = replace(lineage, columns={result.name: merge(lineage.columns.values())})
            self._memory.remember(result, whole, functools.partial(_as_list, result))
        elif isinstance(result, self._polars.DataFrame) and not str(how).startswith("align"):
            self._remember(result, eager.complete(eager.stack(list(map(self._known, items)), how), result.columns))

    def _find_values(self, values: Any) -> FrameLineage | None:
        """The lineage of what a frame is made of; a series is known by its buffers, too."""
        found = self._memory.find(values)
        if found is None and isinstance(values, self._polars.Series):
            return self._memory.find_by_buffers(lambda: [values])
        return found

    def _on_creation(self, result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        """A frame was made of what Python has. Its buffers may lie where another frame's were."""
        data = args[1] if len(args) > 1 else named.get("data")
        self._remember(args[0], adopt_values(data, args[0].columns, self._find_values))

    def _on_import(self, result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        """A frame or series of another library became one of polars."""
        data = args[0] if args else named.get("data")
        if isinstance(result, self._polars.DataFrame):
            self._remember(result, adopt_values(data, result.columns, self._memory.find))

    def _on_export(self, result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        """A frame became one of pandas, or an array."""
        lineage = self._memory.find(args[0]) or self._find(args[0])
        if lineage is not None:
            self._memory.remember(result, lineage)

    def _on_values(self, result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        """A series was made of values, or of another series."""
        values = args[2] if len(args) > 2 else named.get("values", args[1] if len(args) > 1 else named.get("name"))
        found = self._memory.find(values)
        if found is not None and len(args[0]):
            lineage = replace(found, columns={args[0].name: merge(found.columns.values())})
            self._memory.remember(args[0], lineage, lambda: [args[0]])

    def _on_replacement(self, result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        """Values are replaced by those of series, which the plan has as lists."""
        for one in (*args[1:], *named.values()):
            if isinstance(one, self._polars.Series):
                lineage = self._known(one)
                self._lists.remember(one, lineage.rows.decide(merge(lineage.columns.values())))

    def _on_part(self, result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        """Rows or columns of a frame, under their names."""
        source = self._memory.find(args[0])
        if source is not None and isinstance(result, self._polars.DataFrame):
            known = {name: source.columns[name] for name in result.columns if name in source.columns}
            if len(known) == len(result.columns):
                given = (one for each in args[1:] for one in (each if isinstance(each, tuple) else (each,)))
                chosen = [self._known(one) for one in given if isinstance(one, self._polars.Series)]
                rows = rows_by((column for one in chosen for column in one.columns.values()), FILTER)
                self._remember(result, replace(source, columns=known).with_rows(rows | join_rows(chosen)))

    def _on_group(self, result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        """A part of a frame: a group, whose rows the keys decide on."""
        groups = args[0]
        source = self._known(groups._df if hasattr(groups, "_df") else groups.df)
        self._remember(result[1], source.with_rows(self._known(groups._group_indices).rows))

    def _on_collect(self, result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        """A lazy frame was run."""
        plan = self._plan(args[0])
        lineage, path = read_plan(plan), find_sink(plan)
        if path and not self._depth.get():
            self._emit(path, written_schema(plan), lineage)
        if isinstance(result, self._polars.DataFrame):
            self._remember(result, lineage)

    def _find_planned(self, frame: Any) -> FrameLineage | None:
        """The lineage of a lazy frame, which another library will collect."""
        return read_plan(self._plan(frame)) if isinstance(frame, self._polars.LazyFrame) else None

    def _on_collect_all(self, result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        """Several lazy frames were run together."""
        frames = args[0] if args else named.get("lazy_frames", ())
        for frame, made in zip(frames, result):
            self._on_collect(made, (frame,), {})

    def _on_sink(self, result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        """A lazy frame was run into a file; with `lazy=True` it was not, and comes to `collect` later."""
        path = _path(args[1] if len(args) > 1 else named.get("path"))
        if path and not isinstance(result, self._polars.LazyFrame):
            plan = self._plan(args[0])
            self._emit(path, written_schema(plan), read_plan(plan))

    def _on_write(self, result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        """A frame in memory was written."""
        frame = args[0]
        path = _path(
            args[1] if len(args) > 1 else next((named[key] for key in ("file", "workbook") if key in named), None)
        )
        if path:
            lineage = self._memory.find(frame) or self._find(frame)
            self._emit(path, frame.schema, lineage or unknown_frame(frame.columns, LEFT_THE_ENGINE), frame.height)

    def _plan(self, frame: Any) -> Plan:
        polars = self._polars
        return Plan(
            frame,
            self._name_paths,
            lambda inner: self._find(polars.DataFrame._from_pydf(inner)),
            lambda inner: self._memory.find_by_buffers(lambda: [polars.Series._from_pyseries(inner)]),
            self._lists.find,
        )

    def _find(self, frame: Any) -> FrameLineage | None:
        return self._memory.find_by_buffers(frame.get_columns)

    def _remember(self, frame: Any, lineage: FrameLineage) -> None:
        self._memory.remember(frame, lineage, frame.get_columns)

    def _emit(self, path: str, schema: Any, lineage: FrameLineage, rows: int = -1) -> None:
        write = describe_write(self._capture.name, name_file(path), schema.items(), lineage, rows)
        for event in self._capture.translate(write, self._session.naming()):
            self._session.emit(event, capture=self._capture.name)


def _iterators_of_groups() -> Iterator[Any]:
    """The classes that give the groups of a frame one after the other. Before polars 2 those of the groups do."""
    from polars.dataframe import group_by

    for name in ("GroupBy", "RollingGroupBy", "DynamicGroupBy"):
        found = getattr(group_by, f"{name}Iter", None) or getattr(group_by, name, None)
        if hasattr(found, "__next__"):
            yield found


def _dataset(named: EventDataset) -> Dataset:
    return Dataset(named.namespace, named.name)


def _as_list(series: Any) -> list[Any]:
    return [series]


def _path(source: Any) -> str:
    """The path or URI of a file or folder; empty for what is none, as an open file or bytes."""
    path = os.fspath(source) if isinstance(source, (str, os.PathLike)) else ""
    return path if isinstance(path, str) else ""


def _paths(source: Any) -> list[str]:
    """The paths that a job gave, one or several; empty if one of them is none."""
    paths = [_path(one) for one in (source if isinstance(source, (list, tuple)) else (source,))]
    return paths if all(paths) else []


def _name_files(paths: list[str]) -> tuple[Dataset, ...]:
    """Each file, or the folder around many."""
    return tuple(dict.fromkeys(_dataset(name_file(path)) for path in limit_files(paths)))


capture = PolarsCapture()
