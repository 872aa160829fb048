"""`whence versions`: the versions of a dataset, the newest first, with the one to roll back to."""

from collections.abc import Iterator

from rich.text import Text

from whence.cli.answers.ask import QuestionCommand, show
from whence.cli.answers.tree import number
from whence.cli.output.labels import Labels, label, name_of, short_run
from whence.cli.output.streams import Exit, Rows, safe
from whence.client.answers.history import DatasetVersions
from whence.client.questions import Client
from whence.client.values.timeline import DatasetVersion

_NOT_COMPLETED = {"FAIL": "its run failed", "ABORT": "its run was aborted"}
"""What a version says of a run that ended, and did not complete."""


def show_versions(questions: Client, node: str, *, since: str | None, limit: int, output: Rows) -> Exit:
    """Print the newest versions. `since`: when the data broke, for the version to roll back to."""
    found = questions.versions(node, limit=limit + 1 if output is Rows.TEXT else None)
    trusted = _trusted(questions, node, since) if output is Rows.TEXT else None
    command = QuestionCommand(questions=questions, output=output)
    return show(command, found, lambda _: version_lines(found, trusted, limit))


def _trusted(questions: Client, node: str, since: str | None) -> str | None:
    """The version that the run of the rollback point wrote; None if there is none, or nobody asked."""
    point = questions.rollback(node, since=since) if since else None
    return next((one.version for one in point.runs if one.run == point.point), None) if point else None


def version_lines(found: DatasetVersions, trusted: str | None, limit: int) -> Iterator[Text]:
    """The newest versions, at most `limit`. `trusted`: the one to roll back to."""
    labels = label(map(name_of, [found.node, *(one.job for one in found.versions if one.job)]))
    yield Text.assemble((labels.of(name_of(found.node)), "bold"), ("  versions", "dim"))
    if not found.versions:
        yield Text("No version is known. `whence capture run delta` and `iceberg` read the histories of tables.")
    for one in found.versions[:limit]:
        line = _line(one, labels)
        yield line.append("  ← roll back to this", style="bold green") if one.version == trusted else line
        if one.lost:
            yield Text(f"    {number(one.lost, 'version')} before it left the table's history unread", style="yellow")
    if len(found.versions) > limit:
        yield Text("There are more: --limit, --output csv", style="dim")
    if found.completeness.hidden_nodes:
        hidden = number(found.completeness.hidden_nodes, "run")
        yield Text(f"Cannot know: the versions of {hidden} that this key may not see.", style="yellow")


def _line(one: DatasetVersion, labels: Labels) -> Text:
    rows = number(one.rows, "row") if one.rows is not None else ""
    user = f"by {one.user}" if one.user else ""
    parts = (one.operation, "" if one.has_new_data else "no new data", rows, _run(one, labels), user)
    line = Text.assemble("  ", (safe(one.version), "bold cyan"), (f"  {one.time[:19]}", "dim"))
    line.append("".join(f"  {safe(part)}" for part in parts if part))
    return line.append(f"  {_NOT_COMPLETED[one.run_state]}", "bold red") if one.run_state in _NOT_COMPLETED else line


def _run(one: DatasetVersion, labels: Labels) -> str:
    if one.run is None or one.job is None:
        return "run not known"
    return f"{labels.of(name_of(one.job))} · run {short_run(one.run.removeprefix('run:'))}"
