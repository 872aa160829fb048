"""A review of a contract as a report: lines of text, and JSON."""

from collections.abc import Iterator
from typing import Any

from whence.govern.contracts.consumers import Stricter
from whence.govern.contracts.review import Class, ContractReader, Review, ReviewedChange

Json = dict[str, Any]

_MOST_READERS = 10


def review_lines(review: Review) -> Iterator[str]:
    """The verdict, every change with its readers, and what is needed."""
    versions = f" {review.old.version} -> {review.new.version}" if review.new.version else ""
    yield f"{review.verdict.text}: {review.new.id}{versions}"
    for one in review.changes:
        yield f"  {one.class_}: {change_text(one)}  ({one.change.place})"
        yield from (f"    {line}" for line in _details(one))
    yield from (f"  missing: {one}" for one in review.missing)
    if review.approvers:
        yield f"  approval needed of: {', '.join(review.approvers)}"
    if review.notified:
        yield f"  to be notified: {', '.join(review.notified)}"


def change_text(one: ReviewedChange) -> str:
    """What changes, from what, to what."""
    change = one.change
    shift = " -> ".join(part for part in (change.before, change.after) if part)
    return f"{change.subject}: {change.kind}{f': {shift}' if shift else ''}"


def _details(one: ReviewedChange) -> Iterator[str]:
    if one.reason:
        yield one.reason
    if one.class_ is Class.UNUSED:
        yield "nobody reads it"
    for reader in one.readers.found[:_MOST_READERS]:
        owners = f", of {', '.join(reader.owners)}" if reader.owners else ""
        yield f"read by {reader.job}, into {reader.target}{owners}"
    if (more := len(one.readers.found) - _MOST_READERS) > 0:
        yield f"and {more:,} more readers"
    if one.readers.unknown:
        yield f"there may be more readers: {one.readers.unknown}"
    yield from map(_stricter_text, one.stricter)
    if one.objectives_unknown:
        yield f"there may be stricter objectives: {one.objectives_unknown}"


def _stricter_text(one: Stricter) -> str:
    objective = one.objective
    before = "kept until now" if one.was_kept else "not kept before, either"
    return (
        f"stricter: {objective.service}/{objective.name} of {objective.dataset}, {objective.text} ({before}), "
        f"of {', '.join(objective.whose)}"
    )


def review_document(review: Review) -> Json:
    """The review as JSON."""
    return {
        "contract": review.new.id,
        "before": review.old.version,
        "after": review.new.version,
        "verdict": review.verdict.text,
        "step": review.step.name.lower(),
        "missing": list(review.missing),
        "approvers": list(review.approvers),
        "notified": list(review.notified),
        "changes": [_change_document(one) for one in review.changes],
    }


def _change_document(one: ReviewedChange) -> Json:
    change = one.change
    return {
        "class": one.class_.value,
        "kind": change.kind.value,
        "table": change.table or None,
        "column": change.column or None,
        "datasets": [str(dataset) for dataset in change.datasets],
        "before": change.before or None,
        "after": change.after or None,
        "place": change.place,
        "verdict": one.verdict.text,
        "step": one.step.name.lower(),
        "reason": one.reason or None,
        "readers": [_reader_document(reader) for reader in one.readers.found],
        "readers_unknown": one.readers.unknown or None,
        "objectives": [_objective_document(stricter) for stricter in one.stricter],
        "objectives_unknown": one.objectives_unknown or None,
    }


def _reader_document(reader: ContractReader) -> Json:
    return {"job": str(reader.job), "target": str(reader.target), "owners": list(reader.owners)}


def _objective_document(one: Stricter) -> Json:
    return {
        "service": one.objective.service,
        "name": one.objective.name,
        "dataset": str(one.objective.dataset),
        "demand": one.objective.text,
        "was_kept": one.was_kept,
        "owners": list(one.objective.whose),
    }
