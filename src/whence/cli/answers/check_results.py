"""The work of `whence checks`: what checks found of a dataset, as a table."""

from collections.abc import Iterator

from rich.text import Text

from whence.cli.answers.ask import QuestionCommand, show
from whence.cli.answers.tree import past_limit_text
from whence.cli.output.labels import Labels, label, name_of
from whence.cli.output.streams import Exit as ExitCode
from whence.cli.output.streams import Rows, safe
from whence.client.answers.quality import CheckResults
from whence.client.values.quality import CheckResult
from whence.openlineage.facets.assertions import WARN

STOPPED = {
    "checks": "Only the latest 500 runs that read or wrote it were searched.",
    "access": "Only who may read all namespaces sees checks: they may contain any names.",
}


def show_check_results(command: QuestionCommand, node: str, *, as_of: str | None, limit: int | None) -> ExitCode:
    """Print what checks found of a node. As text at most `limit`."""
    shown = limit if command.output is Rows.TEXT else None
    found = command.questions.check_results(node, as_of=as_of, limit=shown)
    return show(command, found, lambda _: _lines(found, limit))


def _lines(found: CheckResults, limit: int | None) -> Iterator[Text]:
    labels = label(map(name_of, (node for one in found.checks for node in (found.node, one.job) if node)))
    yield Text.assemble((labels.of(name_of(found.node)), "bold"), ("  checks", "dim"))
    if not found.checks:
        yield Text("No check was reported.")
    yield from (_line(one, labels) for one in found.checks)
    if len(found.checks) == limit:
        yield Text("There may be more: --limit, --output csv", style="dim")
    if notice := past_limit_text(found.completeness) or _stopped_text(found.completeness.stopped_by):
        yield notice


def _line(one: CheckResult, labels: Labels) -> Text:
    line = Text(f"{one.time[:19]}  ", style="dim")
    line.append(*_outcome(one)).append(safe(".".join(part for part in (one.column, one.assertion) if part)))
    line.append("".join(f"  {part}" for part in _details(one)), style="dim")
    return line.append(f"  by {labels.of(name_of(one.job))}" if one.job else "", style="dim")


def _outcome(one: CheckResult) -> tuple[str, str]:
    if one.held:
        return "held    ", "green"
    return ("warned  ", "yellow") if one.severity == WARN else ("failed  ", "bold red")


def _details(one: CheckResult) -> Iterator[str]:
    if one.expected is not None:
        yield f"expected {safe(one.expected)}"
    if one.actual is not None:
        yield f"found {safe(one.actual)}"
    if one.failures is not None:
        yield f"{one.failures:,} {'failure' if one.failures == 1 else 'failures'}"


def _stopped_text(reason: str | None) -> Text | None:
    if reason is None:
        return None
    return Text.assemble(("Not all is known: ", "bold yellow"), STOPPED.get(reason, f"stopped by {reason}."))
