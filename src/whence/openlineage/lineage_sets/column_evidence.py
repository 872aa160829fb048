"""The whence_columnEvidence facet: which columns of an output have sources that are not known."""

from collections.abc import Iterator

from whence.openlineage.facets.facets import Facets, active_facet
from whence.openlineage.json.wire import Json, objects_in

COLUMN_EVIDENCE = "whence_columnEvidence"

_SOURCELESS = frozenset(("no_source", "seed", "snapshot"))
"""The reasons that a column has no source; any other means that its source is not known."""
_LOST = frozenset(("left_the_engine", "not_captured"))
"""The reasons of doubts about what is missing; any other is about a known source."""


def list_incomplete_columns(facets: Facets) -> tuple[str, ...]:
    """The columns of which the facet states that not all of their sources are known, sorted."""
    facet = active_facet(facets, COLUMN_EVIDENCE)
    return () if facet is None else tuple(sorted(set(_incomplete_columns(facet))))


def _incomplete_columns(facet: Json) -> Iterator[str]:
    for column, reason in _column_reasons(facet.get("unexplained")):
        if reason not in _SOURCELESS:
            yield column
    for column, reason in _column_reasons(facet.get("doubts")):
        if reason in _LOST:
            yield column


def _column_reasons(entries: object) -> Iterator[tuple[str, str]]:
    """Columns and the first words of their reasons: `seed` of `seed: it is loaded from a file`."""
    for _, entry in objects_in(entries):
        column, reason = entry.get("field"), entry.get("reason")
        if type(column) is str and column and "\0" not in column and type(reason) is str:
            yield column, reason.partition(":")[0]
