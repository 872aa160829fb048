"""Values over complete rows: what they read of the rows, and what does not depend on these."""

from collections.abc import Iterator, Sequence

from whence.capture.sql.fingerprint.row_identity import Change, change_everywhere
from whence.capture.sql.provenance.formulas import BINDERS, Formula, Formulas


def reads_inside(value: Formula, wanted: frozenset[Formula]) -> bool:
    """Whether a subquery in a value reads one of the wanted columns."""
    seen: set[Formula] = set()
    remaining = [(value, False)]
    while remaining:
        part, is_inside = remaining.pop()
        if part in wanted and is_inside:
            return True
        if part.is_open and part not in seen and part.op != "aggregate":
            seen.add(part)
            inner = is_inside or (part.op in BINDERS and part.op != "of")
            remaining += [(arg, inner) for arg in part.args if isinstance(arg, Formula)]
    return False


class OuterValues:
    """Subqueries that do not depend on the rows around them are the same before and after these are complete."""

    def __init__(self, store: Formulas, instance: Formula, values: Sequence[Formula]) -> None:
        self.store = store
        moved = {store.make("of", instance, one): one for one in _scalars(values) if not one.is_open}
        self.change: Change = change_everywhere(store, lambda part: moved.get(part, part)) if moved else _unchanged


def _unchanged(value: Formula) -> Formula:
    return value


def _scalars(values: Sequence[Formula]) -> Iterator[Formula]:
    seen: set[Formula] = set()
    remaining = [*values]
    while remaining:
        part = remaining.pop()
        if part.op == "scalar":
            yield part
        elif part.has_scalar and part not in seen:
            seen.add(part)
            remaining += part.parts
