"""The capture of pandas: hooks around its methods, which carry lineage from frames to what is made of them.

Only the outermost call counts: what pandas calls within a method says less than its rule. A frame that a method without
a rule made has the lineage of the calls within it that have one, else none: its writes say so.
"""

from __future__ import annotations

import functools
import sys
from collections import ChainMap
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Callable

from whence_client.captures.contract import ATTACH, Findings, Undo, Versions, check_package
from whence_client.captures.naming import Naming
from whence_client.captures.patches import Patches, hook_once
from whence_client.captures.session import Session
from whence_client.events.facets import Event
from whence_client.frames.arrays import is_array
from whence_client.frames.frames import FrameLineage, unknown_frame
from whence_client.frames.memory import memory_of
from whence_client.frames.pandas import assignment, columnwise, construction, grouping, joining, selection
from whence_client.frames.pandas.arrays import choose_values, watch_function
from whence_client.frames.pandas.calls import (
    Call,
    Rule,
    descend,
    is_frame,
    is_series,
    is_tracked,
    labels_in,
    parameters_of,
)
from whence_client.frames.pandas.files import QUERIES, READERS, WRITERS, Files
from whence_client.frames.pandas.functions import (
    CHOOSING,
    KEYED,
    result_of,
    watch_arguments,
    watch_assigned,
    watch_location,
)
from whence_client.frames.writes import FrameWrite, write_event
from whence_client.lineage.columns import LEFT_THE_ENGINE, NOT_CAPTURED, unknown


class PandasCapture:
    """Column lineage of pandas frames, from the calls that made them."""

    name = "pandas"
    kind = ATTACH
    versions = Versions("1.5.0", "3.1.1")

    def check(self) -> Findings:
        """Whether pandas is there, and of a release that is known."""
        return check_package("pandas", self.versions)

    def translate(self, record: FrameWrite, naming: Naming) -> Iterable[Event]:
        """The event of one write."""
        return (write_event(record, naming),)

    def install(self, session: Session) -> Undo:
        """Hook pandas, which the job has imported."""
        pandas = sys.modules["pandas"]
        return hook_once(pandas, lambda: _Hooks(self, session, pandas).install())


class _Hooks:
    """The hooks of one process."""

    def __init__(self, capture: PandasCapture, session: Session, pandas: Any) -> None:
        self._capture, self._session, self._pandas = capture, session, pandas
        self._guard = session.guard(capture.name)
        self._patches = Patches(self._guard)
        self._memory = memory_of(session)
        self._files = Files(self._memory, self._emit)
        self._within = self._memory.calls
        self._have_values_left = False

    def install(self) -> Undo:
        """Put the hooks in place."""
        pandas = self._pandas
        groups, windows = grouping.group_classes(), grouping.window_classes()
        both = {**columnwise.BOTH, **selection.BOTH, **grouping.BOTH}
        self._hook_rules(pandas.Series, {**both, **columnwise.OF_SERIES})
        frames = {**both, **columnwise.OF_FRAMES, **selection.OF_FRAMES, **joining.OF_FRAMES, **grouping.OF_FRAMES}
        self._hook_rules(pandas.DataFrame, frames)
        for owner in (pandas.DataFrame, pandas.Series):
            self._hook_rules(owner, assignment.CHANGES, changes=True)
            self._hook(owner, "__init__", construction.construct, changes=True)
        self._hook(pandas.DataFrame, "assign", assignment.assign)
        for owner in groups:
            self._hook_rules(owner, grouping.OF_GROUPS)
        for owner in windows:
            self._hook_rules(owner, grouping.OF_WINDOWS)
        self._hook_rules(pandas, {**construction.OF_MODULE, **joining.OF_MODULE, **grouping.OF_MODULE}, is_module=True)
        self._hook_locations()
        self._hook_descent()
        self._hook_accessors()
        self._hook_arrays()
        self._hook_numpy()
        self._hook_values()
        self._hook_files()
        return self._patches.undo

    def _hook_rules(
        self, owner: Any, rules: Mapping[str, Rule], *, changes: bool = False, is_module: bool = False
    ) -> None:
        for name, rule in rules.items():
            if callable(getattr(owner, name, None)):  # not a property, as `nth` of groups
                self._hook(owner, name, rule, changes=changes, is_module=is_module)

    def _hook(self, owner: Any, name: str, rule: Rule, *, changes: bool = False, is_module: bool = False) -> None:
        """Call a rule after the outermost call. `changes`: it gives the lineage of the object itself afterwards."""
        reads_variables, calls_functions = name in ("query", "eval"), name in (*KEYED, *CHOOSING)

        def make(original: Any) -> Any:
            names = parameters_of(original)[0 if is_module else 1 :]

            @functools.wraps(original)
            def hooked(*args: Any, **named: Any) -> Any:
                if reads_variables:  # pandas finds them in the frame of its caller, which is one further up now
                    named["level"] = named.get("level", 0) + 1
                if getattr(self._within, "call", False) or not (is_module or args):
                    return original(*args, **named)
                subject = None if is_module else args[0]
                before = self._memory.find(subject) if subject is not None else None
                if name == "assign":
                    named = watch_assigned(named, before, self._memory, self._guard)
                elif calls_functions and before is not None:
                    args, named = watch_arguments(name, args, named, self._within)
                self._within.call = True
                try:
                    result = original(*args, **named)
                finally:
                    self._within.call = False
                given = args if is_module else args[1:]
                if before is not None or given or named:
                    named = {**dict(zip(names, given)), **named}
                    if reads_variables:
                        caller = sys._getframe(named["level"])
                        named.setdefault("local_dict", ChainMap(caller.f_locals, caller.f_globals))
                    self._guard.run(name, self._apply, rule, name, before, subject, given, named, result, changes)
                return result

            return hooked

        self._patches.replace(owner, name, make)

    def _apply(
        self,
        rule: Rule,
        name: str,
        before: FrameLineage | None,
        subject: Any,
        args: tuple[Any, ...],
        named: dict[str, Any],
        result: Any,
        changes: bool,
    ) -> None:
        args, named = tuple(map(result_of, args)), {label: result_of(value) for label, value in named.items()}
        is_inplace = result is None and bool(named.get("inplace"))
        target = subject if changes or is_inplace else result
        if not is_tracked(target) or (before is None and not self._is_known((*args, *named.values()))):
            return
        source = before or FrameLineage()
        if before is None and (is_frame(subject) or is_series(subject)) and name != "__init__":
            source = unknown_frame(labels_in(subject), LEFT_THE_ENGINE)
        made = subject if is_inplace else result
        call = Call(name, source, subject, args, named, made, self._memory.find, self._have_values_left)
        lineage = rule(call)
        if lineage is not None:
            self._memory.remember(target, _in_order(lineage, target) if is_frame(target) else lineage)
        taken = assignment.TAKEN[name](call) if changes and name in assignment.TAKEN else None
        if taken is not None:
            self._memory.remember(result, taken)

    def _is_known(self, values: Iterable[Any]) -> bool:
        """Whether any of the values, or of the items of a list or mapping among them, has a lineage."""
        for value in values:
            inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, (list, tuple)) else ()
            if self._memory.find(value) is not None or any(self._memory.find(one) is not None for one in inner):
                return True
        return False

    def _hook_locations(self) -> None:
        """`loc`, `iloc`, `at`, `iat`: they belong to an object, whose lineage counts."""
        from pandas.core.indexing import _AtIndexer, _LocationIndexer, _ScalarAccessIndexer

        for owner in (_LocationIndexer, _ScalarAccessIndexer, _AtIndexer):
            self._hook_member(owner, "__getitem__", selection.get_location)
            self._hook_member(owner, "__setitem__", assignment.set_location, changes=True)

    def _hook_descent(self) -> None:
        """`__finalize__`: a method without a rule made a frame of another one. Its datasets are known, no more."""
        from pandas.core.generic import NDFrame

        def make(original: Any) -> Any:
            @functools.wraps(original)
            def hooked(made: Any, other: Any, *args: Any, **named: Any) -> Any:
                result = original(made, other, *args, **named)
                if not getattr(self._within, "call", False):
                    self._guard.run("__finalize__", self._descend, result, other)
                return result

            return hooked

        self._patches.replace(NDFrame, "__finalize__", make)

    def _descend(self, result: Any, other: Any) -> None:
        source = self._memory.find(other)
        if source is not None and is_tracked(result) and self._memory.find(result) is None:
            self._memory.remember(result, descend(source, labels_in(result), NOT_CAPTURED))

    def _hook_member(self, owner: Any, name: str, rule: Rule, *, changes: bool = False, member: str = "obj") -> None:
        """A rule of a helper object of a frame: its subject is the frame."""
        is_location = owner.__name__ == "_LocationIndexer"

        def make(original: Any) -> Any:
            @functools.wraps(original)
            def hooked(helper: Any, *args: Any, **named: Any) -> Any:
                if getattr(self._within, "call", False):
                    return original(helper, *args, **named)
                subject = getattr(helper, member, None)
                before = self._memory.find(subject)
                if before is not None and is_location:
                    args = watch_location(args, self._within)
                self._within.call = True
                try:
                    result = original(helper, *args, **named)
                finally:
                    self._within.call = False
                if before is not None:
                    kind = "iloc" if type(helper).__name__.startswith("_i") else name
                    self._guard.run(name, self._apply, rule, kind, before, subject, args, named, result, changes)
                return result

            return hooked

        self._patches.replace(owner, name, make)

    def _hook_accessors(self) -> None:
        """`.str`, `.dt`, `.cat`: their methods and properties belong to a series."""
        from pandas.core.indexes.accessors import Properties
        from pandas.core.strings.accessor import StringMethods

        for name in [
            one for one in vars(StringMethods) if not one.startswith("_") and callable(vars(StringMethods)[one])
        ]:
            self._hook_member(StringMethods, name, columnwise.use_accessor, member="_orig")
        self._hook_member(StringMethods, "__getitem__", columnwise.use_accessor, member="_orig")
        for name in ("_delegate_property_get", "_delegate_method"):
            self._hook_member(Properties, name, columnwise.use_accessor, member="_parent")

    def _hook_arrays(self) -> None:
        """The values of a frame as an array of numpy, which models are fitted on."""

        def observe(original: Any) -> Any:
            @functools.wraps(original)
            def observed(frame: Any, *args: Any, **named: Any) -> Any:
                result = original(frame, *args, **named)
                if not getattr(self._within, "call", False) and is_array(result):
                    self._guard.run("to_numpy", self._remember_values, frame, result)
                return result

            return observed

        for owner in (self._pandas.DataFrame, self._pandas.Series):
            self._patches.replace(owner, "to_numpy", observe)
            self._patches.replace(owner, "values", lambda original: property(observe(original.fget)))

    def _hook_numpy(self) -> None:
        """What numpy chooses between columns. Only arrays of one dimension are followed."""
        if "numba" in sys.modules:
            return  # it compiles the very functions that were there when it was imported

        def observe(name: str, args: tuple[Any, ...], named: dict[str, Any], result: Any) -> None:
            if not getattr(self._within, "call", False) and is_array(result) and result.ndim == 1:
                self._guard.run(name, self._remember_choice, name, args, named, result)

        for name in ("where", "select"):
            watched = functools.partial(watch_function, observe=functools.partial(observe, name))
            self._patches.replace(sys.modules["numpy"], name, watched)

    def _remember_choice(self, name: str, args: tuple[Any, ...], named: dict[str, Any], result: Any) -> None:
        lineage = choose_values(name, args, named, self._memory.find)
        if lineage is not None:
            self._memory.remember(result, lineage)

    def _hook_values(self) -> None:
        """What takes values of a frame to Python: collections that the job makes afterwards may have them."""

        def make(original: Any) -> Any:
            @functools.wraps(original)
            def noting(frame: Any, *args: Any, **named: Any) -> Any:
                if not getattr(self._within, "call", False) and self._memory.find(frame) is not None:
                    self._have_values_left = True
                return original(frame, *args, **named)

            return noting

        for name in ("__iter__", "items", "tolist", "to_list", "to_dict", "unique"):
            self._patches.replace(self._pandas.Series, name, make)
        for name in ("iterrows", "itertuples", "to_dict", "to_records"):
            self._patches.replace(self._pandas.DataFrame, name, make)

    def _remember_values(self, frame: Any, values: Any) -> None:
        lineage = self._memory.find(frame)
        if lineage is not None:
            self._have_values_left = True
            self._memory.remember(values, lineage)

    def _hook_files(self) -> None:
        pandas = self._pandas
        for name in READERS:
            if hasattr(pandas, name):
                self._hook_end(pandas, name, self._files.on_read)
        for name in QUERIES:
            if hasattr(pandas, name):
                self._hook_end(pandas, name, self._files.on_query)
        for owner in (pandas.DataFrame, pandas.Series):
            for name in WRITERS:
                if hasattr(owner, name):
                    self._hook_end(owner, name, self._files.on_write)
            self._hook_end(owner, "to_sql", self._files.on_table)

    def _emit(self, write: FrameWrite) -> None:
        for event in self._capture.translate(write, self._session.naming()):
            self._session.emit(event, capture=self._capture.name)

    def _hook_end(self, owner: Any, name: str, observer: Callable[[str, Any, Any, Any], None]) -> None:
        """Observe the outermost read or write."""

        def make(original: Any) -> Any:
            names = parameters_of(original)

            @functools.wraps(original)
            def hooked(*args: Any, **named: Any) -> Any:
                if getattr(self._within, "call", False):
                    return original(*args, **named)
                self._within.call = True
                try:
                    result = original(*args, **named)
                finally:
                    self._within.call = False
                self._guard.run(name, observer, name, result, args, {**dict(zip(names, args)), **named})
                return result

            return hooked

        self._patches.replace(owner, name, make)


def _in_order(lineage: FrameLineage, frame: Any) -> FrameLineage:
    """The lineage with the columns that the frame has, in their order."""
    known = lineage.columns
    return replace(lineage, columns={label: known.get(label) or unknown(NOT_CAPTURED) for label in frame.columns})


capture = PandasCapture()
