"""The changes between two versions of what is written into one table."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from whence.capture.sql.fingerprint.data_types.terms import type_text
from whence.capture.sql.fingerprint.descriptions import explain_rows, formula_text
from whence.capture.sql.fingerprint.targets import Target, TargetColumn
from whence.capture.sql.provenance.formulas import Formula
from whence.model.changes import ChangeKind


@dataclass(frozen=True, slots=True)
class TargetChange:
    """One change of a column of a table, or of the whole table if `column` is None. `line`: of the head's script."""

    column: str | None
    kind: ChangeKind
    before: str = ""
    after: str = ""
    reason: str = ""
    line: int = 0


def compare_targets(
    before: Sequence[Target], after: Sequence[Target], is_untouched: bool | None = None
) -> tuple[TargetChange, ...]:
    """The changes of one table, of which each statement that writes it is one target.

    Both versions must be read with the same store: their formulas are compared by identity. `is_untouched`: whether the
    code and everything upstream of it are the same, so that what is not known is no change; None: its text decides.
    """
    if len(before) != len(after):
        line = after[0].span.line if after else 0
        reason = f"{len(after)} statements write it instead of {len(before)}"
        return (TargetChange(None, ChangeKind.ROWS, reason=reason, line=line),)
    changes: dict[TargetChange, None] = {}
    for one, other in zip(before, after, strict=True):
        is_same = one.text == other.text if is_untouched is None else is_untouched
        changes.update(dict.fromkeys(_compare(one, other, is_same)))
    return tuple(changes)


def _compare(before: Target, after: Target, is_same_text: bool) -> Iterator[TargetChange]:
    for name in after.missing:
        if name not in before.missing:
            reason = f"no source has a column {name}"
            yield TargetChange(None, ChangeKind.BROKEN_REFERENCE, name, "", reason, after.span.line)
    if (before.problem or after.problem) and not is_same_text:
        reason = after.problem or before.problem
        yield TargetChange(None, ChangeKind.UNKNOWN, reason=f"not read completely: {reason}", line=after.span.line)
        return
    yield from _compare_rows(before, after, is_same_text)
    if before.is_positional or after.is_positional:
        yield from _compare_positions(before, after, is_same_text)
    else:
        yield from _compare_columns(before, after, is_same_text)


def _compare_rows(before: Target, after: Target, is_same_text: bool) -> Iterator[TargetChange]:
    line = after.span.line
    if before.rows is not after.rows:
        unread = _unread(before.rows) or _unread(after.rows)
        if unread and not is_same_text:
            yield TargetChange(None, ChangeKind.UNKNOWN, reason=f"not read: {unread}", line=line)
            return
        yield TargetChange(None, ChangeKind.ROWS, reason=explain_rows(before.rows, after.rows), line=line)
    elif before.rows.is_volatile and not is_same_text:
        reason = "its rows depend on a function that gives another value each time, or on syntax that is not read"
        yield TargetChange(None, ChangeKind.UNKNOWN, reason=reason, line=line)
    elif before.order != after.order:
        old, new = (", ".join(map(formula_text, one.order)) for one in (before, after))
        yield TargetChange(None, ChangeKind.ORDER, old, new, "ORDER BY changed", line)


def _compare_positions(before: Target, after: Target, is_same_text: bool) -> Iterator[TargetChange]:
    """INSERT without a list of columns: the order of the values decides where they go."""
    if len(before.columns) != len(after.columns):
        reason = f"{len(after.columns)} values are inserted by position instead of {len(before.columns)}"
        yield TargetChange(None, ChangeKind.VALUES, reason=reason, line=after.span.line)
        return
    if before.rows is after.rows:
        for one, other in zip(before.columns, after.columns, strict=True):
            yield from _compare_values(one, other, is_same_text)


def _compare_columns(before: Target, after: Target, is_same_text: bool) -> Iterator[TargetChange]:
    old, new = ({column.name: column for column in one.columns} for one in (before, after))
    removed = [column for column in before.columns if column.name not in new]
    added = [column for column in after.columns if column.name not in old]
    for column in removed:
        renamed = next((one for one in added if one.formula is column.formula), None)
        if renamed is not None:
            added.remove(renamed)
            reason = f"the same value is called {renamed.name} now"
            yield TargetChange(column.name, ChangeKind.RENAMED, column.name, renamed.name, reason, renamed.line)
            continue
        reason = "the query does not give it any more"
        yield TargetChange(column.name, ChangeKind.REMOVED, column.text, "", reason, after.span.line)
    for column in added:
        yield TargetChange(column.name, ChangeKind.ADDED, "", column.text, "the query gives it now", column.line)
    if before.rows is after.rows:
        for column in before.columns:
            if column.name in new:
                yield from _compare_values(column, new[column.name], is_same_text)


def _compare_values(before: TargetColumn, after: TargetColumn, is_same_text: bool) -> Iterator[TargetChange]:
    old, new = before.formula, after.formula
    texts = (before.text, after.text) if before.text != after.text else (formula_text(old), formula_text(new))
    if old is new:
        if old.is_volatile and not is_same_text:
            reason = "it depends on a function that gives another value each time, or on syntax that is not read"
            yield TargetChange(before.name, ChangeKind.UNKNOWN, *texts, reason, after.line)
        elif None not in (before.data_type, after.data_type) and before.data_type is not after.data_type:
            types = type_text(before.data_type), type_text(after.data_type)
            yield TargetChange(before.name, ChangeKind.TYPE, *types, "it may have another type", after.line)
        return
    unread = _unread(old) or _unread(new)
    if unread and not is_same_text:
        yield TargetChange(before.name, ChangeKind.UNKNOWN, *texts, f"not read: {unread}", after.line)
    elif _without_casts(old) is _without_casts(new):
        reason = "the same value is cast to another type"
        yield TargetChange(before.name, ChangeKind.TYPE, _type_text(old), _type_text(new), reason, after.line)
    else:
        yield TargetChange(before.name, ChangeKind.VALUES, *texts, "its formula changed", after.line)


def _unread(formula: Formula) -> str:
    """The part of a formula that was not read; empty if all of it was."""
    seen: set[Formula] = set()
    remaining = [formula]
    while remaining:
        part = remaining.pop()
        if part.op == "volatile" and part.args[:1] == ("unread",):
            return str(part.args[1]) or "a part of the query"
        if part.is_volatile and part not in seen:
            seen.add(part)
            remaining += part.parts
    return ""


def _without_casts(formula: Formula) -> Formula:
    while formula.op in ("cast", "trycast") and isinstance(formula.args[0], Formula):
        formula = formula.args[0]
    return formula


def _type_text(formula: Formula) -> str:
    if formula.op not in ("cast", "trycast"):
        return "its own type"
    return formula_text(formula.args[1]) if isinstance(formula.args[1], Formula) else ""
