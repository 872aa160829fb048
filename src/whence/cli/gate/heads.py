"""What a head changes: of code that is read, column by column; of all other job code, that anything may change."""

from dataclasses import dataclass
from pathlib import Path

from whence.cli.answers.ask import Questions
from whence.cli.gate.repository import Repository
from whence.client.values import KnownJob
from whence.govern.gate.job_code import JobCode, changes_of_code
from whence.govern.gate.judgement import Head
from whence.govern.gate.project import Project
from whence.model.changes import ColumnChange
from whence.model.names import DatasetName, JobName, parse_node

RULES_FILES = ("whence/gate.yaml", "gate.yaml")
"""Where the rules of a repository are looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What lies between a branch and a head: `merge_base` is where they parted, `files` differ since then."""

    repository: Repository
    merge_base: str
    head: Head
    files: tuple[str, ...]


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


def change_between(folder: Path, base: str, head: str, authors: tuple[str, ...] = ()) -> Change:
    """What a head changes since it left the branch `base`. Raises ArtifactError."""
    repository = Repository(folder)
    merge_base, commit = repository.merge_base(base, head), repository.commit(head)
    return Change(
        repository=repository,
        merge_base=merge_base,
        head=Head(
            commit=commit,
            base=merge_base,
            authors=repository.authors(merge_base, commit) | frozenset(authors),
        ),
        files=repository.changed_files(merge_base, commit),
    )


def rules_at_base(change: Change, path: str = "") -> Rulebook:
    """The rules as they are at the merge base, so that no change judges itself by rules that it brings.

    `path`: where they are in the repository; by default the first of `RULES_FILES` that is there.
    """
    for place in (path,) if path else RULES_FILES:
        text = change.repository.file_at(change.merge_base, place)
        if place in change.files:
            notice = f"{place} changes: this head is judged by the rules of its base"
            return Rulebook(text=text or "", place=place, notices=(notice,))
        if text is not None:
            return Rulebook(text=text, place=place)
    return Rulebook(text="", place=path or RULES_FILES[0])


def compare_job_code(change: Change, questions: Questions) -> Compared:
    """The jobs whose code is in changed files. Raises what `questions` raises."""
    if not change.files:
        return Compared(changes=(), project=Project())
    jobs = (_job_code(one) for one in questions.jobs() if "sourceCodeLocation" in one.facets)
    found = changes_of_code(filter(None, jobs), change.files, change.repository.remote())
    return Compared(changes=found.changes, project=Project(), unread=found.unclaimed)


def _job_code(one: KnownJob) -> JobCode | None:
    name, location = parse_node(one.node), one.facets.get("sourceCodeLocation")
    if not isinstance(name, JobName) or not isinstance(location, dict):
        return None
    outputs = tuple(output for output in map(parse_node, one.outputs) if isinstance(output, DatasetName))
    return JobCode(job=name, outputs=outputs, location=location)
