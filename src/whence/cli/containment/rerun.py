"""`whence rerun plan`: what to run again, as layers, requests of Airflow, arguments of dbt, or a plain list."""

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any, Unpack
from urllib.parse import quote

from rich.text import Text

from whence.cli.answers.ask import QuestionCommand, show
from whence.cli.answers.impact import closing_line
from whence.cli.answers.timeline import EXPLAINED
from whence.cli.answers.tree import Style, number
from whence.cli.containment.forms import RerunForm
from whence.cli.output.labels import Labels, label, name_of
from whence.cli.output.streams import Exit, print_lines, safe
from whence.client.acts.containment import JobToRerun, RerunPlan
from whence.client.options import Rerun

_AIRFLOW = "airflow"
SHOWN = 20
"""Skipped jobs that are shown as text."""


def show_rerun(command: QuestionCommand, node: str, form: RerunForm, **options: Unpack[Rerun]) -> Exit:
    """Print what to run again."""
    found = command.questions.rerun(node, **options)
    match form:
        case RerunForm.LAYERS:
            return show(command, found, lambda style: _lines(found, style))
        case RerunForm.AIRFLOW:
            print_lines(Text(json.dumps(one)) for one in airflow_requests(found))
        case RerunForm.DBT:
            print_lines([Text(safe(dbt_arguments(found)))])
        case RerunForm.LIST:
            print_lines(Text(safe(one.node)) for one in found.jobs)
    stopped_by = found.completeness.stopped_by
    return Exit.OK if stopped_by in (None, "columns") else Exit.CUT


def airflow_requests(plan: RerunPlan) -> Iterator[dict[str, Any]]:
    """Requests that clear tasks, in the order of the layers: each when those before it have ended.

    `only_failed` is false, or Airflow would leave tasks that succeeded with wrong data. `dry_run` is true: set it to
    false to clear them.
    """
    for layer, jobs in groupby(plan.jobs, key=lambda one: one.layer):
        tasks: dict[tuple[str, str], set[str]] = {}
        for run in (run for job in jobs for run in job.runs if run.system == _AIRFLOW and run.dag_run):
            tasks.setdefault((run.id, str(run.dag_run)), set()).add(run.task or "")
        for (dag, dag_run), names in sorted(tasks.items()):
            body: dict[str, Any] = {
                "dry_run": True,
                "only_failed": False,
                "reset_dag_runs": True,
                "dag_run_id": dag_run,
            }
            if "" not in names:  # else the DAG itself does the work: all of its tasks
                body |= {"task_ids": sorted(names), "include_downstream": False}
            path = f"/api/v2/dags/{quote(dag, safe='')}/clearTaskInstances"
            yield {"layer": layer, "method": "POST", "path": path, "body": body}


def dbt_arguments(plan: RerunPlan) -> str:
    """The arguments of `dbt build` that select the models. dbt finds their order itself."""
    models = [one.dbt for one in plan.jobs if one.dbt]
    return f"--select {' '.join(dict.fromkeys(models))}" if models else "no job of this plan builds a dbt model"


def _lines(plan: RerunPlan, style: Style) -> Iterator[Text]:
    nodes = [plan.node, *plan.targets, *(one.node for one in plan.jobs), *(one.node for one in plan.skipped)]
    labels = label(map(name_of, nodes), style.glyphs.more)
    head = f"  what to run again{f' since {plan.since}' if plan.since else ''}"
    yield Text.assemble((labels.of(name_of(plan.node)), "bold"), (head, "dim"))
    if not plan.jobs:
        yield Text("There is nothing to run again.")
    for layer, jobs in groupby(plan.jobs, key=lambda one: one.layer):
        for place, one in enumerate(jobs):
            yield _job_line(f"{layer:>3}. " if place == 0 else "     ", one, labels)
    for left in plan.skipped[:SHOWN]:
        yield Text(f"     not {labels.of(name_of(left.node))}: {left.reason}", style="dim")
    if len(plan.skipped) > SHOWN:
        yield Text(f"     and {number(len(plan.skipped) - SHOWN, 'more job')} that need not run", style="dim")
    if plan.hidden:
        yield Text(f"{number(plan.hidden, 'job')} that you may not see: ask somebody who may.", style="yellow")
    if not plan.completeness.complete and plan.completeness.stopped_by not in EXPLAINED:
        yield closing_line(plan.completeness)


def _job_line(start: str, one: JobToRerun, labels: Labels) -> Text:
    line = Text(start, style="dim").append(labels.of(name_of(one.node)), style="bold")
    schedules = dict.fromkeys(f"{run.system} {safe(run.id)}" for run in one.runs)
    line.append(f"  {', '.join(schedules)}" if schedules else "", style="cyan")
    line.append(f"  {number(len(one.runs), 'run')}" if len(one.runs) > 1 else "", style="dim")
    line.append(f"  dbt {safe(one.dbt)}" if one.dbt else "", style="dim")
    return line.append("  in a cycle: no order is right" if one.cyclic else "", style="yellow")
