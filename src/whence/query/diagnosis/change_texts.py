"""Sentences about changes, as evidence."""

from whence.model.names import FieldName, JobName, Node
from whence.query.history.changes.values import Change, ChangeKind, Part, UpstreamChange

_MOST_PARTS = 3
"""Parts of a change that its sentence names."""


def change_text(one: UpstreamChange) -> str:
    """What changed, without its dataset: `column amount changed from int to varchar`."""
    if one.kind is ChangeKind.RUN:
        return f"job {_short(one.node)} began to fail ({one.parts[0].after})"
    if one.kind is ChangeKind.CODE:
        return f"code of job {_short(one.node)} {_turn(one.parts[0])}"
    texts = [part_text(one.kind, part) for part in one.parts[:_MOST_PARTS]]
    more = len(one.parts) - _MOST_PARTS
    return "; ".join([*texts, f"and {more} more"] if more > 0 else texts)


def part_text(kind: ChangeKind, part: Part) -> str:
    """What one thing did, without its dataset."""
    match kind:
        case ChangeKind.SCHEMA:
            return f"column {part.name} {_turn(part)}"
        case ChangeKind.LINEAGE:
            end = "" if part.end is None else f" from {_short(part.end)}"
            return f"lineage{end}{f' to {part.name}' if part.name else ''} {_turn(part)}"
        case ChangeKind.QUALITY:
            return f"check {part.name} failed: {part.after}" if part.after else f"check {part.name} failed"
        case ChangeKind.OBJECTIVE:
            return f"objective {part.name} {_turn(part)}"
    return f"contract: {part.name} {_turn(part)}"


def _turn(part: Part) -> str:
    match part.change:
        case Change.ADDED | Change.REMOVED:
            return f"was {part.change.value}"
        case Change.RENAMED:
            return f"was renamed from {part.before}" if part.before else "was renamed"
        case Change.VIOLATED:
            return f"is violated: {part.after}" if part.after else "is violated"
    return f"changed from {part.before or 'nothing'} to {part.after or 'nothing'}"


def _short(node: Node) -> str:
    match node:
        case FieldName(dataset, field):
            return f"{dataset.name}.{field}"
        case JobName():
            return node.name
    return node.name
