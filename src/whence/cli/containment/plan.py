"""`whence contain plan`: what would be paused, as text and as a file. Nothing is paused."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Unpack

import msgspec
from rich.console import Console
from rich.text import Text

from whence.cli.answers.ask import QuestionCommand, style_of
from whence.cli.answers.impact import closing_line
from whence.cli.answers.timeline import EXPLAINED
from whence.cli.answers.tree import Style, number
from whence.cli.output.labels import Labels, label, name_of
from whence.cli.output.streams import Exit, Rows, print_csv, print_document, print_lines, safe
from whence.client.acts.containment import ContainmentPlan, DependentJob, ScheduleToPause
from whence.client.options import Reach
from whence.errors import ArtifactError
from whence.govern.containment.assignment import add_schedules
from whence.govern.containment.orchestrators_file import read_orchestrators

SHOWN = 20
"""Jobs of one kind that are shown as text."""


def show_plan(
    command: QuestionCommand, node: str, files: tuple[Path | None, Path | None], **bounds: Unpack[Reach]
) -> Exit:
    """Print the plan for a node. `files`: where to write it, and the orchestrators that start jobs which do not report
    it. Raises ArtifactError, RulesFileError.
    """
    file, orchestrators = files
    rules = read_orchestrators(orchestrators) if orchestrators else ()
    found = add_schedules(command.questions.containment(node, **bounds), rules)
    if file is not None:
        write_plan(found, file)
    match command.output:
        case Rows.JSON:
            print_document(found.document())
        case Rows.CSV:
            print_csv(found.csv())
        case Rows.TEXT:
            console = Console(highlight=False)
            print_lines(plan_lines(found, style_of(console)), console)
    stopped_by = found.completeness.stopped_by
    return Exit.OK if stopped_by in (None, "columns") else Exit.CUT


def write_plan(plan: ContainmentPlan, file: Path) -> None:
    """Write a plan as a file. Raises ArtifactError."""
    try:
        file.write_text(json.dumps(msgspec.to_builtins(plan), indent=2) + "\n", "utf-8")
    except OSError as error:
        raise ArtifactError(str(file), f"cannot be written: {error.strerror}") from None


def read_plan(file: Path) -> ContainmentPlan:
    """A plan from a file. Raises ArtifactError."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=ContainmentPlan)
    except OSError as error:
        raise ArtifactError(str(file), f"cannot be read: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ArtifactError(str(file), f"is no plan of `whence contain plan`: {error}") from None


def plan_lines(plan: ContainmentPlan, style: Style) -> Iterator[Text]:
    """A plan for a person."""
    labels = label(map(name_of, _nodes(plan)), style.glyphs.more)
    yield Text.assemble((labels.of(name_of(plan.node)), "bold"), ("  containment plan", "dim"))
    if not plan.schedules:
        yield Text("There is nothing to pause.")
    else:
        yield Text(f"Pause {number(len(plan.schedules), 'schedule')}, the nearest first:")
    for place, one in enumerate(plan.schedules, 1):
        yield _schedule_line(place, one, labels)
    if running := [one for one in plan.schedules if one.running]:
        yield Text.assemble(
            ("Running now: ", "bold yellow"),
            ", ".join(safe(one.id) for one in running),
            ". Pausing does not stop a run that goes on.",
        )
    yield from _jobs("No schedule is known of", [one for one in plan.jobs if not one.schedules], labels)
    if plan.uncertain:
        text = f"{number(len(plan.uncertain), 'job')} read affected data without reporting which columns: "
        yield Text.assemble(("Cannot know: ", "bold yellow"), text, _some(plan.uncertain, labels))
    if plan.hidden:
        yield Text(f"{number(plan.hidden, 'job')} that you may not see: ask somebody who may.", style="yellow")
    if not plan.completeness.complete and plan.completeness.stopped_by not in (*EXPLAINED, "columns"):
        yield closing_line(plan.completeness)
    yield Text("Nothing was paused.", style="dim")


def _nodes(plan: ContainmentPlan) -> Iterator[str]:
    yield plan.node
    yield from plan.uncertain
    for job in plan.jobs:
        yield from (job.node, job.outermost)


def _schedule_line(place: int, one: ScheduleToPause, labels: Labels) -> Text:
    line = Text(f"{place:>4}. ", style="dim").append(f"{one.system} ").append(safe(one.id), style="bold")
    jobs = ", ".join(labels.of(name_of(job)) for job in one.jobs[:3])
    more = f" and {len(one.jobs) - 3:,} more" if len(one.jobs) > 3 else ""
    line.append(f"  {safe(one.namespace)}  {number(one.distance, 'hop')}: {jobs}{more}", style="dim")
    note = "  it writes the broken data, too: a fix cannot run while it is paused" if one.writes_root else ""
    return line.append(note, style="yellow")


def _jobs(title: str, jobs: list[DependentJob], labels: Labels) -> Iterator[Text]:
    for one in jobs[:SHOWN]:
        within = f" (in {labels.of(name_of(one.outermost))})" if one.outermost != one.node else ""
        name = labels.of(name_of(one.node)) + within
        yield Text.assemble((f"{title} ", "yellow"), (name, "bold"), f": {one.reason}", ("", ""))
    if len(jobs) > SHOWN:
        yield Text(f"      and {number(len(jobs) - SHOWN, 'more job')}: --output json", style="dim")


def _some(nodes: tuple[str, ...], labels: Labels) -> str:
    named = ", ".join(labels.of(name_of(node)) for node in nodes[:SHOWN])
    return named + (f" and {len(nodes) - SHOWN:,} more" if len(nodes) > SHOWN else "")
