"""Strict validation of events against the specification's schemas; errors have JSON pointers."""

from functools import cache

import jsonschema_rs

from whence.errors import EventError
from whence.openlineage.json.wire import Json, pointer_step
from whence.openlineage.validation.schemas import EVENTS, schema_of

_LENGTH = 300


def require_valid(event: Json) -> None:
    """Validate an event. Raises EventError if it violates a schema of OpenLineage 2-0-2 or a standard facet's."""
    violations = _validator(_kind(event)).iter_errors(event)
    errors = sorted({(_pointer(error), error.message[:_LENGTH]) for error in violations})
    if errors:
        (pointer, reason), *more = errors
        raise EventError(pointer, f"{reason} (and {len(more)} more)" if more else reason)


def _kind(event: Json) -> str:
    has_run, has_job, has_dataset = (key in event for key in ("run", "job", "dataset"))
    if has_job and has_dataset and not has_run:
        raise EventError("", "a job and a dataset without a run: neither a job event nor a dataset event")
    if has_run and (has_job or not has_dataset):
        return "run"
    if has_job:
        return "job"
    if has_dataset:
        return "dataset"
    raise EventError("", "an event needs a run and a job, a job, or a dataset")


@cache
def _validator(kind: str) -> jsonschema_rs.Draft202012Validator:
    # The mask: reasons are stored and shown, so they must not quote values that may be secrets.
    return jsonschema_rs.Draft202012Validator(schema_of(EVENTS[kind]), mask="the value")


def _pointer(error: jsonschema_rs.ValidationError) -> str:
    return "".join(pointer_step(part) for part in error.instance_path)
