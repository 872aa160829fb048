"""`python -m bench.sql_reader.accuracy --confidence`: how often an edge is right that the reader is not sure of, by
its reason.

Every golden case is read without the columns of its tables: of all of them, and of each alone. An edge is right if the
case expects it. Left out is what the case itself leaves open, and scripts with a star that could not be expanded.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from capture.sql.golden_cases import Case, Claim, claims_of, golden_cases
from whence.capture.sql import Catalog, Column, Edge, ScriptLineage, read_script
from whence.capture.sql.provenance.confidence import DDL, UNPLACED


@dataclass(slots=True)
class Band:
    """The edges of one confidence and reason."""

    edges: int = 0
    right: int = 0
    misplaced: int = 0
    """Of the wrong ones, those whose source is right: they only lead to a column of another name."""

    @property
    def share(self) -> float:
        return self.right / self.edges


def bands(cases: Iterable[Case] | None = None) -> dict[tuple[float, str], Band]:
    """All edges of all cases, by confidence and reason."""
    found: dict[tuple[float, str], Band] = defaultdict(Band)
    for case in golden_cases() if cases is None else cases:
        seen: set[tuple[Claim, float, str]] = set()
        for columns in _less(case.columns):
            catalog = Catalog.from_columns(columns, case.dialect) if columns else None
            lineage = read_script(case.sql, case.dialect, catalog)
            if not _has_star(lineage):
                _judge(lineage, case, seen, found)
    return found


def _less(columns: Mapping[str, tuple[str, ...]]) -> Iterator[Mapping[str, tuple[str, ...]]]:
    """No table's columns, then those of all but one."""
    yield {}
    if len(columns) > 1:
        for left_out in columns:
            yield {table: of for table, of in columns.items() if table != left_out}


def _has_star(lineage: ScriptLineage) -> bool:
    """Where a star could not be expanded, that is said, and the names around it are not to be had."""
    return any(unknown.reason == "star_not_expanded" for one in lineage for unknown in one.unknowns)


def _judge(
    lineage: ScriptLineage,
    case: Case,
    seen: set[tuple[Claim, float, str]],
    found: dict[tuple[float, str], Band],
) -> None:
    sourced = {(claim.source, claim.type, claim.subtype) for claim in case.claims}
    for edge, claim in zip(lineage.collapsed, claims_of(lineage), strict=True):
        key = (claim, edge.confidence, edge.reason)
        if key in seen or not _is_judged(edge, case):
            continue
        seen.add(key)
        band = found[round(edge.confidence, 2), edge.reason]
        band.edges += 1
        band.right += claim in case.claims
        band.misplaced += claim not in case.claims and (claim.source, claim.type, claim.subtype) in sourced


def _is_judged(edge: Edge, case: Case) -> bool:
    """Not a star: it has no column that could be right. Nor what the case itself leaves open, of tables unknown."""
    if any(str(end).endswith("*") for end in (edge.source, edge.target)):
        return False
    known = {table.lower() for table in case.columns}
    source, target = (end.table if isinstance(end, Column) else end for end in (edge.source, edge.target))
    placed = edge.reason != UNPLACED[1] or str(target).lower() in known
    return placed and (str(source).lower() in known or edge.reason == DDL[1])


def table(found: Mapping[tuple[float, str], Band]) -> Iterator[str]:
    """A line for each confidence and reason, the surest first."""
    yield f"{'confidence':10}  {'reason':34} {'edges':>6} {'right':>7} {'misplaced':>10}"
    for (confidence, reason), band in sorted(found.items(), reverse=True):
        yield f"{confidence:10.2f}  {reason:34} {band.edges:6} {band.share:7.3f} {band.misplaced:10}"
