"""A run that the code declares: `with run("load") as it: it.reads(...); it.writes(...)`."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from contextvars import Token
from datetime import datetime, timezone
from types import TracebackType
from typing import Any

from whence_client.captures.session import Session, process_session, with_errors, within
from whence_client.events.datasets import Dataset
from whence_client.events.facets import Facet, facet
from whence_client.events.ids import new_run_id
from whence_client.events.runs import RUNNING, START, RunRef, job_type_facet, run_event
from whence_client.runs.active import enter, leave
from whence_client.runs.code import CodeLocation, caller_location
from whence_client.runs.datasets import resolve_dataset, with_schema
from whence_client.runs.declared_columns import declare_columns
from whence_client.runs.end_state import error_facets, state_of

CAPTURE = "python"
UNKNOWN = Dataset("unknown", "unknown")
"""What `reads` and `writes` return for an object that names no dataset; it is in no event."""


class Run:
    """One run of a job. It starts and ends as a context, also of `async with`. No method raises.

    `inputs` and `outputs` are what is known before the start. `namespace` is that of the job: by default of the
    environment, else of the parent run. `run_id` is a UUID of the caller's choice. `part_of`: see `RunRef`.
    """

    def __init__(
        self,
        name: str,
        *,
        namespace: str = "",
        inputs: Iterable[Any] = (),
        outputs: Iterable[Any] = (),
        parent: RunRef | None = None,
        run_id: str = "",
        job_type: str = "JOB",
        part_of: str = "",
        run_facets: Mapping[str, Facet] | None = None,
        job_facets: Mapping[str, Facet] | None = None,
        location: CodeLocation | None = None,
        session: Session | None = None,
    ) -> None:
        self._session = session or process_session()
        self._guard = self._session.guard(CAPTURE)
        self._lock = threading.Lock()
        self._inputs: dict[tuple[str, str], Dataset] = {}
        self._outputs: dict[tuple[str, str], Dataset] = {}
        self._tokens: list[Token[Any]] = []
        self._location = location or self._guard.run("code", caller_location)
        self.parent = parent or self._session.parent()
        namespace = namespace or self._session.naming().namespace
        self.ref = within(RunRef(namespace, name, run_id or new_run_id(), part_of=part_of), self.parent)
        self._run_facets = dict(run_facets or {})
        self._job_facets = {"jobType": job_type_facet(job_type), **(job_facets or {})}
        self.reads(*inputs)
        for output in outputs:
            self.writes(output)

    def reads(self, *things: Any, schema: Any = None) -> Any:
        """Declare inputs: names, paths, URIs, Datasets, frames. Returns the Dataset; a tuple if there are several.

        `schema` is the columns of a single input: names, a mapping to types, or a frame.
        """
        datasets = tuple(self._add(self._inputs, thing, schema) for thing in things)
        return datasets[0] if len(datasets) == 1 else datasets

    def writes(
        self,
        thing: Any,
        *,
        columns: Mapping[str, Any] | None = None,
        rows: Mapping[str, Any] | None = None,
        schema: Any = None,
        row_count: int | None = None,
    ) -> Dataset:
        """Declare an output, and how its columns are made.

        `columns`: of each column its source: `orders["amount"]`, an expression over the inputs (`"sum(amount)"`,
        `"orders.price * qty"`), `derived(...)`, a list of these, or None. `rows`: what decides on the rows, by kind:
        `{"FILTER": "status = 'paid'", "JOIN": [orders["id"], items["order_id"]], "GROUP_BY": "region"}`.
        """
        dataset = self._add(self._outputs, thing, schema)
        with self._guard("writes"):
            facets = dict(dataset.facets)
            if columns or rows:
                with self._lock:
                    inputs = tuple(self._inputs.values())
                declaration = declare_columns(columns or {}, rows or {}, inputs)
                facets.update(declaration.facets)
                for column, problem in declaration.problems.items():
                    self._guard.note(f"column {column} of {dataset.name}", problem)
            run_facets = dict(dataset.run_facets)
            if row_count is not None:
                run_facets["outputStatistics"] = facet("OutputStatisticsOutputDatasetFacet", rowCount=int(row_count))
            fields = dataset.schema_fields or tuple(columns or ())
            dataset = Dataset(dataset.namespace, dataset.name, fields, facets, run_facets)
            self._keep(self._outputs, dataset)
        return dataset

    def parameters(self, values: Mapping[str, Any]) -> None:
        """Report what the run was started with; secrets are masked by their names."""
        with self._guard("parameters"):
            documents = [{"key": str(key), "name": str(key), "value": str(value)} for key, value in values.items()]
            self.add_facet("executionParameters", facet("ExecutionParametersRunFacet", parameters=documents))

    def add_facet(self, key: str, value: Facet) -> None:
        """Put a facet on the run; one of the same key is replaced."""
        with self._lock:
            self._run_facets[key] = value

    def start(self, at: datetime | None = None) -> None:
        """Report the start. The context does it."""
        self._emit(START, at)

    def progress(self) -> None:
        """Report what is known so far: of a run that lasts for hours."""
        self._emit(RUNNING)

    def finish(self, error: BaseException | None = None, at: datetime | None = None) -> None:
        """Report the end, with the errors of captures that nothing has reported. The context does it."""
        with self._guard("finish"):
            self._run_facets.update(error_facets(error))
        self._emit(state_of(error), at, is_end=True)

    def activate(self) -> None:
        """Make this the run of the calling code, until `deactivate`. The context does it."""
        self._tokens.append(enter(self))

    def deactivate(self) -> None:
        """Make the run before it that of the calling code."""
        if self._tokens:
            leave(self, self._tokens.pop())

    def flush(self, seconds: float) -> bool:
        """Wait until all events are sent, at most so long. True if they are. A collector that is away, or gives no
        answer, is waited for as briefly as at the end of a process.
        """
        outbox = self._session.outbox
        return outbox.flush(seconds, stall=outbox.settings.exit_seconds / 2)

    def __enter__(self) -> Run:
        self.start()
        self.activate()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.deactivate()
        self.finish(error)

    async def __aenter__(self) -> Run:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, trace)

    def _emit(self, state: str, at: datetime | None = None, *, is_end: bool = False) -> None:
        with self._guard(state.lower()):
            location = self._location.facets(wait=is_end) if self._location else {}
            with self._lock:
                event = run_event(
                    state,
                    self.ref,
                    at or datetime.now(timezone.utc),
                    parent=self.parent,
                    run_facets=self._run_facets,
                    job_facets={**self._job_facets, **location},
                    inputs=tuple(self._inputs.values()),
                    outputs=tuple(self._outputs.values()),
                )
            errors = self._session.take_errors() if is_end else {}
            self._session.outbox.emit(with_errors(event, errors) if errors else event)

    def _add(self, known: dict[tuple[str, str], Dataset], thing: Any, schema: Any) -> Dataset:
        with self._guard("a dataset"):
            dataset = with_schema(resolve_dataset(thing, self.ref.namespace), schema)
            self._keep(known, dataset)
            return dataset
        return UNKNOWN

    def _keep(self, known: dict[tuple[str, str], Dataset], dataset: Dataset) -> None:
        if dataset.key == UNKNOWN.key:
            return
        with self._lock:
            before = known.get(dataset.key)
            if before is not None:
                fields = dataset.schema_fields or before.schema_fields
                facets = {**before.facets, **dataset.facets}
                dataset = Dataset(*dataset.key, fields, facets, {**before.run_facets, **dataset.run_facets})
            known[dataset.key] = dataset
