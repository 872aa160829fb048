"""What conditions and keys of a plan contribute to the choice of its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whence_client.lineage.columns import LEFT_THE_ENGINE, NOT_CAPTURED, Column
from whence_client.lineage.rows import Rows, rows_by

if TYPE_CHECKING:
    from collections.abc import Iterable

_GAPS = frozenset((LEFT_THE_ENGINE, NOT_CAPTURED))


def chosen_by(columns: Iterable[Column], subtype: str) -> Rows:
    """What conditions or keys contribute. One over unknown sources may depend on more; a constant, or a function of
    Python, of which all arguments are sources, does not.
    """
    rows = rows_by(columns, subtype)
    return Rows(rows.edges, rows.reasons & _GAPS)
