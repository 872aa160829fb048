"""What a head changes: of code that is read, column by column; of all other job code, that anything may change."""

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from whence.cli.answers.ask import Questions
from whence.cli.gate.repository import SUBMODULE, Repository
from whence.cli.gate.run_events import NO_RUNS, HeadRuns, known_lineage
from whence.client.values.catalog import KnownJob
from whence.errors import ArtifactError
from whence.govern.gate.code.job_code import JobCode, changes_of_code, is_code_of
from whence.govern.gate.code.run_lineage import OutputLineage, changes_of_run
from whence.govern.gate.judgement import Head
from whence.govern.gate.production import GraphEdge
from whence.govern.gate.project import Project
from whence.model.changes import ColumnChange
from whence.model.ids import digest_of
from whence.model.names import DatasetName, JobName, parse_node

RULES_FILES = ("whence/gate.yaml", "gate.yaml")
"""Where the rules of a repository are looked for."""
POLICIES_FILES = ("whence/policies.yaml", "policies.yaml")
"""Where its policies are looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What lies between a branch and a head: `merge_base` is where they parted, `files` differ since then. `versions`
    identifies the two versions of each.
    """

    repository: Repository
    merge_base: str
    head: Head
    files: tuple[str, ...]
    versions: Mapping[str, str]

    @property
    def submodules(self) -> tuple[str, ...]:
        """The paths of the submodules that differ: their code is in another repository."""
        return tuple(one for one in self.files if SUBMODULE in self.versions[one].removeprefix(":").split()[:2])


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What a head changes, the edges of its code, and the changed files that are no known job's code."""

    changes: tuple[ColumnChange, ...]
    project: Project
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rulebook:
    """The text of the rules that count, and where it is."""

    text: str
    place: str
    notices: tuple[str, ...] = ()


def change_between(folder: Path, base: str, head: str, authors: tuple[str, ...] = (), *, reviewed: str = "") -> Change:
    """What a head changes since it left the branch `base`. Raises ArtifactError.

    `reviewed`: the commit of which a forge made `head`. Who let it merge that, often a reviewer, is no author.
    """
    repository = Repository(folder)
    merge_base, commit = repository.merge_base(base, head), repository.commit(head)
    versions = repository.changed_files(merge_base, commit)
    written = f"{commit}^@" if reviewed and repository.is_merge(commit) else commit
    return Change(
        repository=repository,
        merge_base=merge_base,
        head=Head(
            commit=commit,
            base=merge_base,
            authors=repository.authors(merge_base, written) | frozenset(authors),
            reviewed=reviewed,
        ),
        files=tuple(versions),
        versions=versions,
    )


def rules_at_base(change: Change, path: str = "") -> Rulebook:
    """The rules as they are at the merge base, so that no change judges itself by rules that it brings.

    `path`: where they are in the repository; by default the first of `RULES_FILES` that is there.
    """
    return _file_at_base(change, _named(change, "--rules", path) or RULES_FILES)


def policies_at_base(change: Change, path: str = "") -> Rulebook:
    """The policies as they are at the merge base, for the same reason; by default the first of `POLICIES_FILES`."""
    return _file_at_base(change, _named(change, "--policies", path) or POLICIES_FILES)


def _named(change: Change, option: str, path: str) -> tuple[str, ...]:
    """The file that an option names; none without it. Raises ArtifactError if neither base nor head has it."""
    if not path:
        return ()
    path = posixpath.normpath(path)
    if path not in change.files and not change.repository.has(change.merge_base, path):
        raise ArtifactError(f"{option} {path}", "the repository has no such file; its path begins at the root")
    return (path,)


def _file_at_base(change: Change, places: tuple[str, ...]) -> Rulebook:
    """The first of these files that the base has: one that the head brings takes the place of none."""
    changed = (one for one in places if one in change.files)
    notices = tuple(f"{one} changes: this head is judged by the rules of its base" for one in changed)
    for place in places:
        if (text := change.repository.file_at(change.merge_base, place)) is not None:
            return Rulebook(text=text, place=place, notices=notices)
    return Rulebook(text="", place=places[0], notices=notices)


def compare_job_code(change: Change, questions: Questions, runs: HeadRuns = NO_RUNS) -> Compared:
    """The jobs whose code is in changed files: what their runs report of the head; else, that anything may change.

    Raises what `questions` raises.
    """
    if not change.files:
        return Compared(changes=(), project=Project())
    known = (_job_code(one) for one in questions.jobs() if "sourceCodeLocation" in one.facets)
    jobs, repository = [one for one in known if one], change.repository.remote()
    compared = [one for job in jobs if runs.reports for one in _compare_runs(job, change, questions, runs)]
    exact = {(one.job, one.output) for one in compared}
    rest = [replace(job, outputs=tuple(one for one in job.outputs if (job.job, one) not in exact)) for job in jobs]
    versions = {file: change.versions[file] for file in change.files}
    found = changes_of_code(rest, versions, repository)
    return Compared(
        changes=(*found.changes, *(one for run in compared for one in run.changes)),
        project=Project(
            base=tuple(edge for run in compared for edge in _graph_edges(run.before, run.job)),
            head=tuple(edge for run in compared for edge in _graph_edges(run.after, run.job)),
            base_lineage=tuple(edge for run in compared for edge in run.before.edges),
            head_lineage=tuple(edge for run in compared for edge in run.after.edges),
        ),
        unread=found.unclaimed,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _ComparedRun:
    """A job's output, as production has it and as a run of the head reports it."""

    job: JobName
    output: DatasetName
    before: OutputLineage
    after: OutputLineage
    changes: tuple[ColumnChange, ...]


def _compare_runs(job: JobCode, change: Change, questions: Questions, runs: HeadRuns) -> Iterator[_ComparedRun]:
    repository = change.repository.remote()
    files = [one for one in change.files if is_code_of(job.location, one, repository)]
    file, content = next(iter(files), None), digest_of(part for one in files for part in (one, change.versions[one]))
    for output in job.outputs if file else ():
        report = runs.find(job.job, output, file or "", repository)
        both = known_lineage(questions, job.job, output, report) if report else None
        if both:
            before, after = both
            found = changes_of_run(output, before, after, file or "")
            changes = [replace(one, content=content) if one.kind.is_inexact else one for one in found]
            yield _ComparedRun(job=job.job, output=output, before=before, after=after, changes=tuple(changes))


def _graph_edges(of: OutputLineage, job: JobName) -> Iterator[GraphEdge]:
    return (GraphEdge(source=one.source, target=one.target, owner=job, type=one.type) for one in of.edges)


def _job_code(one: KnownJob) -> JobCode | None:
    name, location = parse_node(one.node), one.facets.get("sourceCodeLocation")
    if not isinstance(name, JobName) or not isinstance(location, dict):
        return None
    outputs = tuple(output for output in map(parse_node, one.outputs) if isinstance(output, DatasetName))
    return JobCode(job=name, outputs=outputs, location=location)
