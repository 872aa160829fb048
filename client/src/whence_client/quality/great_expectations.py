"""The capture of Great Expectations: what a validation definition, alone or in a checkpoint, found of its data."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from typing import Any

from whence_client.captures.contract import ATTACH, Findings, Undo, Versions, check_package
from whence_client.captures.naming import Naming
from whence_client.captures.patches import Patches, hook_once, is_hooked
from whence_client.captures.session import Session
from whence_client.events.datasets import Dataset
from whence_client.events.facets import Event
from whence_client.frames.frames import FrameLineage
from whence_client.frames.memory import memory_of
from whence_client.frames.writes import describe_write, script_name, write_event
from whence_client.lineage.columns import IDENTITY
from whence_client.quality.checks import Validation, validation_event
from whence_client.quality.expectations import Result, count_rows, measure_columns, read_checks

TOOL = "GREAT_EXPECTATIONS"
FRAMES = "frames"
_NO_FRAME = "{asset} checks a frame that no capture knows; run it below `whence run`"
_NO_TABLE = "{asset} checks {kind}, which names no dataset"
_PATHS = ("path", "filepath_or_buffer")


class GreatExpectationsCapture:
    """The checks of Great Expectations, on the table, the file or the frame that they were made of."""

    name = "great_expectations"
    kind = ATTACH
    versions = Versions("1.24.1", "1.24.1")

    def check(self) -> Findings:
        """Whether Great Expectations is there, and of a release that is known."""
        return check_package("great-expectations", self.versions)

    def translate(self, record: Validation, naming: Naming) -> Iterable[Event]:
        """The event of one validation."""
        return (validation_event(record, naming),)

    def install(self, session: Session) -> Undo:
        """Hook Great Expectations, which the job has imported."""
        module = sys.modules["great_expectations"]

        def put() -> Undo:
            patches = Patches(session.guard(self.name))
            patches.observe(vars(module)["ValidationDefinition"], "run", Reporter(session).observe)
            return patches.undo

        return hook_once(module, put)


def is_installed() -> bool:
    """Whether the hooks are in place, so that nobody else needs to report validations."""
    module = sys.modules.get("great_expectations")
    return module is not None and is_hooked(module)


class Reporter:
    """Reports validations of one process."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._memory = memory_of(session)

    def observe(self, result: Any, args: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        """A validation definition has run."""
        frame = (named.get("batch_parameters") or {}).get("dataframe")
        self.report(args[0], result, frame)

    def report(self, definition: Any, result: Any, frame: Any = None) -> None:
        """Send the result of a validation definition. `frame` is what it was given to check."""
        naming = self._session.naming()
        dataset, problem = self._dataset(definition, result, frame, naming)
        record = describe_validation(definition, result, dataset, problem)
        for event in capture.translate(record, naming):
            self._session.emit(event, capture=capture.name)

    def _dataset(self, definition: Any, result: Any, frame: Any, naming: Naming) -> tuple[Dataset | None, str]:
        asset = definition.asset
        if asset.type == "dataframe":
            dataset = self._name_frame(asset.name, frame, naming)
            return dataset, "" if dataset else _NO_FRAME.format(asset=asset.name)
        if asset.type == "table":
            return _name_table(asset, naming), ""
        path = _path_of(result.meta.get("batch_spec") or {})
        return (naming.file(path), "") if path else (None, _NO_TABLE.format(asset=asset.name, kind=asset.type))

    def _name_frame(self, asset: str, frame: Any, naming: Naming) -> Dataset | None:
        """The dataset that a frame was read from; a frame that was changed since is a dataset of the job."""
        lineage = self._memory.find(frame) if frame is not None else None
        if lineage is None:
            return None
        source = _source_of(lineage)
        if source is not None:
            return source
        job = naming.parent.scope if naming.parent else script_name()
        dataset = Dataset(naming.namespace, f"{job}.{FRAMES}.{asset}")
        fields = [(one, frame.dtypes[one]) for one in frame.columns]
        write = describe_write("pandas", dataset, fields, lineage, len(frame))
        self._session.emit(write_event(write, naming), capture=capture.name)
        return dataset


def describe_validation(definition: Any, result: Any, dataset: Dataset | None, problem: str = "") -> Validation:
    """The record of a validation that has ended. Its ids and times are those of Great Expectations."""
    results = [_members(one) for one in result.results]
    meta = result.meta
    at = meta["run_id"].run_time
    is_whole = getattr(definition.batch_definition, "partitioner", None) is None
    ids = (str(meta.get("validation_id") or definition.name), at.isoformat(), str(result.batch_id or ""))
    return Validation(
        tool=TOOL,
        job=f"great_expectations.{definition.name}",
        ids=ids,
        at=max(at, _loaded(meta, at)),
        checks=read_checks(results),
        dataset=dataset,
        problem=problem,
        rows=count_rows(results) if is_whole else None,
        metrics=measure_columns(results) if is_whole else {},
    )


def _members(result: Any) -> Result:
    config = result.expectation_config
    named = ("type", "kwargs", "id", "severity", "description")
    return {
        "success": result.success,
        "expectation_config": {name: getattr(config, name, None) for name in named},
        "result": result.result,
        "exception_info": result.exception_info,
    }


def _loaded(meta: Mapping[str, Any], default: datetime) -> datetime:
    """When the batch was read: of a checkpoint, the time of the run is that of its beginning."""
    text = str((meta.get("batch_markers") or {}).get("ge_load_time") or "")
    try:
        return datetime.strptime(text, "%Y%m%dT%H%M%S.%fZ").replace(tzinfo=timezone.utc)
    except ValueError:
        return default


def _name_table(asset: Any, naming: Naming) -> Dataset:
    """The table of an asset, by the address that its data source connects to."""
    url = asset.datasource.get_execution_engine().engine.url.render_as_string(hide_password=True)
    schema = getattr(asset, "_effective_schema_name", None)
    return naming.table_of_url(url, str(asset.table_name), schema=schema if isinstance(schema, str) else "")


def _path_of(spec: Mapping[str, Any]) -> str:
    """The file that a batch was read from; empty if it was read from none."""
    options = spec.get("reader_options") or {}
    found = next((one[name] for one in (spec, options) for name in _PATHS if one.get(name)), "")
    return str(found) if isinstance(found, str) or hasattr(found, "__fspath__") else ""


def _source_of(lineage: FrameLineage) -> Dataset | None:
    """The dataset that a frame is, column by column and row by row; None if it was made of it in any way."""
    if len(lineage.inputs) != 1 or lineage.rows.edges or lineage.rows.reasons:
        return None
    (source,) = lineage.inputs
    for name, column in lineage.columns.items():
        edges = tuple(column.direct)
        if len(edges) != 1 or column.indirect or column.reasons:
            return None
        if (edges[0].subtype, edges[0].source.dataset, edges[0].source.field) != (IDENTITY, source, str(name)):
            return None
    return Dataset(*source)


capture = GreatExpectationsCapture()
