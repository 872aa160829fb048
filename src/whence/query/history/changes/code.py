"""When jobs on the way to a node began to run another version of their code.

The store keeps the version of the latest run of a job only. Those of earlier runs are in their events, which a port
reads from the log.
"""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from whence.model.graph import RunRow
from whence.model.ids import node_id
from whence.query.history.changes.scope import Scope, unknown_nodes
from whence.query.history.changes.transitions import MOST_RUNS
from whence.query.history.changes.values import (
    Change,
    ChangeKind,
    NotKnown,
    Part,
    Proof,
    Unknown,
    UpstreamChange,
)
from whence.query.ports.graph import RunEnds
from whence.query.runs.commits import FACET, Commit

ReadCommits = Callable[[Sequence[int]], Mapping[int, Commit]]
"""Ids of runs → the commit that each reported, as far as its events are stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeChanges:
    """Where jobs began to run another version. Of the jobs that report versions (ids), `known` are those whose versions
    were read for the whole period, and `unknown` the others.
    """

    found: Sequence[UpstreamChange] = ()
    known: frozenset[int] = frozenset()
    unknown: frozenset[int] = frozenset()

    def not_known(self, scope: Scope) -> Sequence[NotKnown]:
        """The statement that versions are not known, if some are not."""
        return [unknown_nodes(scope, Unknown.COMMITS, self.unknown)] if self.unknown else []


NO_CODE = CodeChanges()


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Runs of one job in order, of which the versions of the first and of the last are read."""

    runs: Sequence[RunRow]

    @property
    def ends(self) -> tuple[RunRow, RunRow]:
        """The first and the last run."""
        return self.runs[0], self.runs[-1]

    @property
    def halves(self) -> tuple["_Stretch", "_Stretch"]:
        """Both have the run in the middle."""
        middle = len(self.runs) // 2
        return _Stretch(self.runs[: middle + 1]), _Stretch(self.runs[middle:])


def code_changes(graph: RunEnds, scope: Scope, since: int, until: int, read_commits: ReadCommits | None) -> CodeChanges:
    """The runs that were the first with another version than the run before; `read_commits`: None without a log.

    Where the version of the first and the last run of a stretch are equal, those between are not read: a version that
    came and went again in it is not found.
    """
    versioned = frozenset(row.subject_id for row in graph.facets(sorted(scope.jobs), (FACET,)))
    if read_commits is None or not versioned:
        return CodeChanges(unknown=versioned)
    stretches = [_Stretch(some) for some in _runs_by_job(graph, versioned, since, until).values() if len(some) > 1]
    reading = _Reading(read_commits)
    found, unknown = list[UpstreamChange](), set[int]()
    while stretches:
        reading.read(stretches)
        wider = list[_Stretch]()
        for one in stretches:
            before, after = map(reading.version, one.ends)
            if not (before and after):
                unknown.add(node_id(one.runs[0].name.job))
            elif before != after and len(one.runs) == 2:
                found.append(_change(scope, one.runs[1], before, after))
            elif before != after:
                wider += one.halves
        stretches = wider
    return CodeChanges(found=found, known=versioned - unknown, unknown=frozenset(unknown))


class _Reading:
    """The versions of runs, each read once."""

    def __init__(self, read_commits: ReadCommits) -> None:
        self._read_commits = read_commits
        self._versions: dict[int, str] = {}

    def read(self, stretches: Sequence[_Stretch]) -> None:
        """Read those of the first and the last runs, all together."""
        wanted = {run.id for one in stretches for run in one.ends} - self._versions.keys()
        commits = self._read_commits(sorted(wanted)) if wanted else {}
        for id_ in wanted:
            commit = commits.get(id_)
            self._versions[id_] = "" if commit is None else commit.version or commit.url

    def version(self, run: RunRow) -> str:
        """The version of a run that was read; empty if it is not known."""
        return self._versions[run.id]


def _runs_by_job(graph: RunEnds, jobs: AbstractSet[int], since: int, until: int) -> Mapping[int, Sequence[RunRow]]:
    """The ended runs of the period, and the last one of each job before it, in order."""
    rows = graph.run_ends(jobs, since, until, MOST_RUNS)
    found: dict[int, list[RunRow]] = {}
    for row in sorted(rows, key=lambda row: (row.state_at, row.id)):
        found.setdefault(node_id(row.name.job), []).append(row)
    return found


def _change(scope: Scope, run: RunRow, before: str, after: str) -> UpstreamChange:
    job = run.name.job
    return UpstreamChange(
        time=run.state_at,
        kind=ChangeKind.CODE,
        change=Change.CHANGED,
        node=job,
        distance=scope.distances[node_id(job)],
        parts=(Part(change=Change.CHANGED, before=before, after=after),),
        job=job,
        run=run.name,
        proof=Proof(run_id=run.id, time=run.state_at),
    )
