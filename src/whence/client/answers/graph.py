"""Answers about the graph: what is upstream, downstream, affected and between."""

from typing import ClassVar

from whence.client import notebook
from whence.client.answers.answer import Answer, count_rows, count_text, describe_completeness
from whence.client.values.graph import Affected, Completeness, Counts, Edge, Gap, Path, ReachedNode


class Lineage(Answer, frozen=True, kw_only=True):
    """Nodes upstream or downstream of `root`, by distance and name, with the edges that lead to them.

    `dropped_at`: when the dataset in the question was dropped or renamed, if it was.
    """

    _rows: ClassVar[str] = "nodes"
    _columns: ClassVar[tuple[str, ...]] = ("node", "kind", "depth", "parent", "aliases", "via", "shown", "more", "role")

    root: str
    direction: str
    grain: str
    types: tuple[str, ...]
    dropped_at: str | None
    completeness: Completeness
    nodes: tuple[ReachedNode, ...]
    edges: tuple[Edge, ...]
    gaps: tuple[Gap, ...]

    def _title(self) -> str:
        completeness = describe_completeness(self.completeness)
        return f"{count_rows(self.nodes, 'node')} {self.direction} of {self.root}, {completeness}"


class Impact(Answer, frozen=True, kw_only=True):
    """What breaks if `root` changes: counts of all affected nodes, the nodes by distance and name, and the nearest 100
    jobs that derive one of them. `kinds=["job"]` has all jobs as nodes. `checks`: the nearest 100 jobs that only check
    one of them or the root, which are not affected.
    """

    _rows: ClassVar[str] = "nodes"
    _columns: ClassVar[tuple[str, ...]] = (
        "node",
        "kind",
        "distance",
        "influence",
        "type",
        "owners",
        "tier",
        "path",
        "parent",
        "root",
        "last_run",
    )

    root: str
    grain: str
    types: tuple[str, ...]
    counts: Counts
    jobs: tuple[Affected, ...]
    dropped_at: str | None
    completeness: Completeness
    nodes: tuple[Affected, ...]
    checks: tuple[Affected, ...] = ()

    def _title(self) -> str:
        completeness = describe_completeness(self.completeness)
        return f"impact of {self.root}: {count_text(self.counts.nodes, 'node')}, {completeness}"


class Paths(Answer, frozen=True, kw_only=True):
    """The paths from source to target, the shortest first."""

    _rows: ClassVar[str] = "paths"
    _columns: ClassVar[tuple[str, ...]] = ("steps", "via")

    source: str
    target: str
    grain: str
    types: tuple[str, ...]
    completeness: Completeness
    paths: tuple[Path, ...]

    def __repr__(self) -> str:
        return "\n".join(map(notebook.printable, (self._title(), *map(_chain, self.paths[: notebook.SHOWN]))))

    def _repr_html_(self) -> str:
        lines = [{"path": _chain(path)} for path in self.paths]
        return notebook.html_table(self._title(), ("path",), lines[: notebook.SHOWN], len(lines))

    def _title(self) -> str:
        ends = f"from {self.source} to {self.target}"
        return f"{count_rows(self.paths, 'path')} {ends}, {describe_completeness(self.completeness)}"


class WhyNot(Answer, frozen=True, kw_only=True):
    """Why no path leads from source to target; if one does (`connected`), `path`."""

    _columns: ClassVar[tuple[str, ...]] = (
        *("source", "target", "connected", "reason", "detail", "nearest", "until", "path"),
    )

    source: str
    target: str
    connected: bool
    reason: str | None
    detail: str
    nearest: tuple[str, ...]
    until: str | None
    path: Path | None
    completeness: Completeness

    def _title(self) -> str:
        return f"{self.source} … {self.target}: {self.reason or 'connected'}"


def _chain(path: Path) -> str:
    return " → ".join([*(step.source for step in path.steps[:1]), *(step.target for step in path.steps)])
