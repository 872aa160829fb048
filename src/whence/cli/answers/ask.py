"""The work of question commands: ask a store or a server, and print the answer. Each function returns the exit code."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Unpack

import msgspec
from rich.console import Console
from rich.text import Text

from whence.cli.answers.impact import impact_lines
from whence.cli.answers.listing import found_lines, is_outdated, path_lines, radius_line
from whence.cli.answers.tree import ASCII, UNICODE, Style, tree
from whence.cli.output.labels import name_of
from whence.cli.output.streams import Exit, Rows, print_csv, print_document, print_lines, safe
from whence.client.acts.containment import ContainmentPlan, RerunPlan
from whence.client.acts.slos import DeclaredObjectives
from whence.client.answers.answer import Answer
from whence.client.answers.diagnosis import RootCauses
from whence.client.answers.graph import Impact, Lineage, Paths, WhyNot
from whence.client.answers.history import ChangesUpstream, Diff, History, RunLineage
from whence.client.answers.quality import CheckResults, Measurements
from whence.client.answers.search import Found
from whence.client.answers.sensitivity import Sensitivity, SubjectData
from whence.client.options import Bounds, Narrowing, Reach, Rerun, Time, Walk
from whence.client.values.catalog import KnownField, KnownJob, NodeFacts
from whence.client.values.contracts import ContractedDataset, ContractHistory
from whence.client.values.gate_records import Approval, RecordedWaiver
from whence.client.values.graph import BlastRadius, Completeness
from whence.client.values.quality import CheckedDataset
from whence.client.values.sensitivity import (
    PolicyEvaluation,
    PolicyOptions,
    Proposal,
    SensitivityOptions,
    SubjectOptions,
)
from whence.model.names import JobName

_LOOKED_AT, _SHOWN = 50, 3
"""The most jobs to look at, and to name, below a job without lineage."""

Draw = Callable[[Style], Iterable[Text]]
"""An answer as lines."""


class Questions(Protocol):
    """The port of question commands: a store (`cli.answers.local.store`), or a server (`client.questions.Client`)."""

    def upstream(self, node: str, **walk: Unpack[Walk]) -> Lineage:
        """The nodes upstream of a node."""
        ...

    def downstream(self, node: str, **walk: Unpack[Walk]) -> Lineage:
        """The nodes downstream of a node."""
        ...

    def blast_radius(self, node: str) -> BlastRadius | None:
        """The blast radius of a node, if it was computed."""
        ...

    def impact(self, node: str, *, limit: int | None = None, **walk: Unpack[Walk]) -> Impact:
        """The nodes that a change affects: the first `limit`, or all."""
        ...

    def paths(
        self, source: str, target: str, *, limit: int = 20, depth: int | None = None, **bounds: Unpack[Bounds]
    ) -> Paths:
        """The paths from one node to another."""
        ...

    def why(self, source: str, target: str, *, limit: int = 5, **bounds: Unpack[Bounds]) -> Paths:
        """The paths between two nodes, with all evidence."""
        ...

    def why_not(self, source: str, target: str, **bounds: Unpack[Bounds]) -> WhyNot:
        """Why no path leads from one node to another."""
        ...

    def measurements(
        self, node: str, *, metrics: Sequence[str] = (), as_of: Time | None = None, limit: int | None = None
    ) -> Measurements:
        """The measurements of a node: the newest `limit`, or all."""
        ...

    def check_results(self, node: str, *, as_of: Time | None = None, limit: int | None = None) -> CheckResults:
        """The results of the checks of a node: the newest `limit`, or all."""
        ...

    def changes(
        self,
        node: str,
        *,
        since: Time = "24h",
        until: Time | None = None,
        limit: int | None = None,
        max_changes: int = 1_000,
        **bounds: Unpack[Bounds],
    ) -> ChangesUpstream:
        """What changed at a node and upstream of it in a period: the newest `limit`, or all."""
        ...

    def sensitivity(self, node: str, *, limit: int | None = None, **options: Unpack[SensitivityOptions]) -> Sensitivity:
        """The sensitivity labels of a node, or those that its data gives to others: the first `limit`, or all."""
        ...

    def subject(
        self, node: str | None = None, *, limit: int | None = None, **options: Unpack[SubjectOptions]
    ) -> SubjectData:
        """Where the data of a person is: the first `limit` datasets, or all."""
        ...

    def diagnose(
        self,
        node: str,
        *,
        since: Time = "24h",
        until: Time | None = None,
        symptom: str | None = None,
        limit: int | None = None,
        **bounds: Unpack[Bounds],
    ) -> RootCauses:
        """The possible causes of what is wrong at a node: the first `limit`, or all."""
        ...

    def containment(self, node: str, **bounds: Unpack[Reach]) -> ContainmentPlan:
        """What to pause so that a broken node goes no further."""
        ...

    def rerun(self, node: str, **options: Unpack[Rerun]) -> RerunPlan:
        """What to run again after a fix of a node, in layers."""
        ...

    def history(self, node: str) -> History:
        """The changes of a node."""
        ...

    def diff(self, before: str, after: str) -> Diff:
        """The differences between two states."""
        ...

    def runs(self, run: str, *, down: bool = False, depth: int | None = None, max_runs: int = 1_000) -> RunLineage:
        """The runs upstream of a run, or downstream."""
        ...

    def search(self, text: str, *, limit: int = 50, **narrowing: Unpack[Narrowing]) -> Found:
        """The results of a search."""
        ...

    def facts(self, nodes: Sequence[str]) -> tuple[NodeFacts, ...]:
        """What is asserted of datasets and jobs; unknown ones are left out."""
        ...

    def contracts(self) -> Iterator[ContractedDataset]:
        """The contracts of all datasets, by dataset."""
        ...

    def contract(self, dataset: str, *, as_of: Time | None = None, transitions: bool = False) -> ContractHistory:
        """The contract of a dataset at a time, with its text; and all its versions."""
        ...

    def objectives(self, datasets: Sequence[str]) -> DeclaredObjectives:
        """The service level objectives that are declared for datasets, with their texts."""
        ...

    def fields(self, namespace: str, name: str) -> tuple[str, ...]:
        """The names of the columns in the schema of a dataset."""
        ...

    def schema(self, namespace: str, name: str) -> tuple[KnownField, ...]:
        """The columns in the schema of a dataset, with their types."""
        ...

    def checks(self, datasets: Sequence[str]) -> tuple[CheckedDataset, ...]:
        """The known checks of datasets, by dataset and job."""
        ...

    def approvals(self, repository: str, commit: str) -> Sequence[Approval]:
        """Who approved a commit of a repository."""
        ...

    def waivers(self, repository: str) -> Sequence[RecordedWaiver]:
        """The recorded waivers of a repository."""
        ...

    def evaluate_policies(
        self, policies: str, *, proposal: Proposal | None = None, **options: Unpack[PolicyOptions]
    ) -> PolicyEvaluation:
        """Of which nodes the policies of a file (its text) do not hold, or may not."""
        ...

    def jobs(self) -> Iterator[KnownJob]:
        """Every job, by name."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionCommand:
    """The target of a question, and the form of the answer."""

    questions: Questions
    output: Rows


def show_upstream(command: QuestionCommand, node: str, **walk: Unpack[Walk]) -> Exit:
    """Print the nodes upstream of a node."""
    found = command.questions.upstream(node, **walk)
    return show(command, found, lambda style: [*tree(found, style), *_dropped_lines(found), *_parts(command, found)])


def show_downstream(command: QuestionCommand, node: str, **walk: Unpack[Walk]) -> Exit:
    """Print the nodes downstream of a node, and its blast radius, if it was computed."""
    found = command.questions.downstream(node, **walk)
    radius = command.questions.blast_radius(node) if walk.get("as_of") is None else None
    lines = [] if radius is None or is_outdated(radius) else [radius_line(radius, time.time_ns() // 1_000)]
    lines += _parts(command, found)
    counted = {"blast_radius": msgspec.to_builtins(radius)}
    return show(command, found, lambda style: [*tree(found, style), *lines, *_dropped_lines(found)], counted)


def show_impact(command: QuestionCommand, node: str, limit: int, **walk: Unpack[Walk]) -> Exit:
    """Print the nodes that a change affects: as text `limit` nodes, else all."""
    found = command.questions.impact(node, limit=limit if command.output is Rows.TEXT else None, **walk)
    return show(command, found, lambda style: [*impact_lines(found, style), *_dropped_lines(found)])


def _parts(command: QuestionCommand, found: Lineage) -> Iterable[Text]:
    """A notice if a job without lineage has jobs that are named after it: a script, a DAG or a notebook of captures."""
    root = name_of(found.root)
    if command.output is not Rows.TEXT or not isinstance(root, JobName) or len(found.nodes) > 1:
        return
    near = command.questions.search(root.name, kinds=["job"], limit=_LOOKED_AT).nodes
    names = [name_of(one.node) for one in near]
    parts = [one for one in names if isinstance(one, JobName) and _is_part(one, root)]
    if parts:
        shown = ", ".join(safe(one.name) for one in parts[:_SHOWN]) + (", …" if len(parts) > _SHOWN else ".")
        yield Text.assemble(
            ("Below it: ", "bold yellow"), f"{shown} Ask for these jobs: they report what it reads and writes."
        )


def _is_part(job: JobName, whole: JobName) -> bool:
    return job.namespace == whole.namespace and job.name.startswith((f"{whole.name}.", f"{whole.name}#"))


def _dropped_lines(found: Lineage | Impact) -> Iterable[Text]:
    """A notice if the dataset in the question was dropped by that time."""
    if found.dropped_at is not None:
        notice = f"the dataset was dropped or renamed at {found.dropped_at}."
        yield Text.assemble(("Deleted: ", "bold yellow"), notice, " Ask --as-of an earlier time for what held before.")


def show_paths(
    command: QuestionCommand, source: str, target: str, *, limit: int, depth: int | None, **bounds: Unpack[Bounds]
) -> Exit:
    """Print the paths from one node to another."""
    found = command.questions.paths(source, target, limit=limit, depth=depth, **bounds)
    return show(command, found, lambda style: path_lines(found, style))


def show_found(command: QuestionCommand, text: str, limit: int, **narrowing: Unpack[Narrowing]) -> Exit:
    """Print the results of a search."""
    found = command.questions.search(text, limit=limit, **narrowing)
    return show(command, found, lambda _: found_lines(found, limit))


def show(command: QuestionCommand, answer: Answer, draw: Draw, beside: dict[str, Any] | None = None) -> Exit:
    """Print an answer in the requested form. `beside`: further members of its document."""
    match command.output:
        case Rows.JSON:
            print_document(answer.document(beside))
        case Rows.CSV:
            print_csv(answer.csv())
        case Rows.TEXT:
            console = Console(highlight=False)
            print_lines(draw(style_of(console)), console)
    return _exit(answer)


def style_of(console: Console) -> Style:
    """The style of trees for this terminal."""
    glyphs = UNICODE if console.encoding.lower().replace("-", "") == "utf8" else ASCII
    width = console.width if console.is_terminal else None
    return Style(now=time.time_ns() // 1_000, width=width, glyphs=glyphs)


def _exit(answer: Answer) -> Exit:
    """The exit code of an answer: a budget that cut it is an error; a requested depth or unreported columns are not."""
    completeness: Completeness | None = getattr(answer, "completeness", None)
    stopped_by = completeness.stopped_by if completeness else None
    return Exit.OK if stopped_by in (None, "depth", "columns") else Exit.CUT
