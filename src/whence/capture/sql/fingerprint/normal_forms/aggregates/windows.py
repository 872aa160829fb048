"""Frames and directions of windows."""

import re
from collections.abc import Sequence

from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.provenance.formulas import Formula, Formulas


def is_default_frame(spec_text: str, has_order: bool) -> bool:
    """Whether a window has the same frame without its clause."""
    text = re.sub(r"\s+", " ", spec_text.upper()).strip()
    if has_order:
        return text in ("RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW", "RANGE UNBOUNDED PRECEDING")
    return re.fullmatch(r"(ROWS|RANGE) BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING", text) is not None


def turn_lead(store: Formulas, function: Formula, order: Sequence[Formula]) -> tuple[Formula, list[Formula]]:
    """LEAD as LAG over the opposite order."""
    if function.op != "lead" or not order or any(one.op != "ordered" for one in order):
        return function, list(order)
    return store.make("lag", *function.args), [_opposite(one) for one in order]


def _opposite(ordered: Formula) -> Formula:
    flags = [flag for flag in ("desc", "nulls_first") if flag not in ordered.args]
    return ordered.store.make("ordered", *flags, *formulas_of(ordered))
