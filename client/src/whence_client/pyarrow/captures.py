"""The captures of PyArrow: one for each module, because a job imports some of them, and each late."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Callable, ClassVar

from whence_client.captures.contract import ATTACH, Findings, Undo, Versions, check_package
from whence_client.captures.naming import Naming
from whence_client.captures.patches import hook_once
from whence_client.captures.session import Session
from whence_client.events.facets import Event
from whence_client.frames.writes import FrameWrite, write_event
from whence_client.pyarrow.hooks import Hooks

_VERSIONS = Versions("16.1.0", "26.0.1")


@dataclass(frozen=True)
class PyarrowCapture:
    """The capture of one module. `put` puts its hooks in place."""

    name: str
    put: Callable[[Hooks], None]
    kind: ClassVar[str] = ATTACH
    versions: ClassVar[Versions] = _VERSIONS

    def check(self) -> Findings:
        """Whether PyArrow is there, and of a release that is known."""
        return check_package("pyarrow", self.versions)

    def translate(self, record: FrameWrite, naming: Naming) -> Iterable[Event]:
        """The event of one write."""
        return (write_event(record, naming),)

    def install(self, session: Session) -> Undo:
        """Hook the module, which the job has imported."""
        module = sys.modules[self.name]

        def put() -> Undo:
            hooks = Hooks(self.name, module, self.translate, session)
            self.put(hooks)
            return hooks.patches.undo

        return hook_once(module, put)


def _hook_parquet(hooks: Hooks) -> None:
    hooks.hook_readers("read_table", "read_pandas")
    hooks.hook_writers("write_table", "write_to_dataset")
    hooks.hook_parquet_files()


def _hook_dataset(hooks: Hooks) -> None:
    hooks.hook_datasets()


def _hook_csv(hooks: Hooks) -> None:
    hooks.hook_readers("read_csv")
    hooks.hook_writers("write_csv")


def _hook_feather(hooks: Hooks) -> None:
    hooks.hook_readers("read_table", "read_feather")
    hooks.hook_writers("write_feather")


def _hook_json(hooks: Hooks) -> None:
    hooks.hook_readers("read_json")


def _hook_orc(hooks: Hooks) -> None:
    hooks.hook_readers("read_table")
    hooks.hook_writers("write_table")


def _hook_pandas_compat(hooks: Hooks) -> None:
    hooks.hook_conversions()


parquet = PyarrowCapture("pyarrow.parquet", _hook_parquet)
dataset = PyarrowCapture("pyarrow.dataset", _hook_dataset)
csv = PyarrowCapture("pyarrow.csv", _hook_csv)
feather = PyarrowCapture("pyarrow.feather", _hook_feather)
json = PyarrowCapture("pyarrow.json", _hook_json)
orc = PyarrowCapture("pyarrow.orc", _hook_orc)
pandas_compat = PyarrowCapture("pyarrow.pandas_compat", _hook_pandas_compat)
