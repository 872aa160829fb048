"""The work of `whence diagnose`: the possible causes of what is wrong at a node, as text."""

from collections.abc import Iterator
from typing import Unpack

from rich.text import Text

from whence.cli.answers.ask import QuestionCommand, show
from whence.cli.answers.impact import closing_line
from whence.cli.answers.timeline import EXPLAINED, not_known_line
from whence.cli.answers.tree import Style, number
from whence.cli.output.labels import Labels, label, name_of
from whence.cli.output.streams import Exit, Rows, safe
from whence.client.answers.diagnosis import PossibleCause, RootCauses
from whence.client.options import Bounds, Time
from whence.query.answers.probabilities import probability_text

_FACTS = 6
"""Facts of one possible cause that are shown as text: the oldest."""
_NAMED = 3
"""Unmeasured datasets that a line names."""
_SYMPTOMS = {
    "nulls": "missing values",
    "volume": "the number of rows",
    "late": "lateness",
    "values": "the values",
}


def show_diagnosis(
    command: QuestionCommand,
    node: str,
    *,
    since: Time,
    until: Time | None,
    symptom: str | None,
    limit: int,
    **bounds: Unpack[Bounds],
) -> Exit:
    """Print the possible causes of what is wrong at a node, as text at most `limit`."""
    shown = limit if command.output is Rows.TEXT else None
    found = command.questions.diagnose(node, since=since, until=until, symptom=symptom, limit=shown, **bounds)
    return show(command, found, lambda style: _lines(found, limit, style))


def _lines(found: RootCauses, limit: int, style: Style) -> Iterator[Text]:
    labels = label(map(name_of, _nodes(found)), style.glyphs.more)
    period = f"  possible causes from {found.since} to {found.until}"
    yield Text.assemble((labels.of(name_of(found.node)), "bold"), (period, "dim"))
    what = _SYMPTOMS.get(found.symptom, found.symptom)
    seen = "unusual in its own measurements" if found.seen else "not seen in its own measurements"
    yield Text(f"Symptom: {what}, {seen}.", style="dim")
    for place, one in enumerate(found.causes[:limit], 1):
        yield _head(place, one, what, labels)
        yield from (_fact_line(fact.time, fact.text) for fact in one.evidence[:_FACTS])
        if len(one.evidence) > _FACTS:
            yield Text(f"      and {number(len(one.evidence) - _FACTS, 'more fact')}", style="dim")
        if len(one.path) > 1:
            way = f" {style.glyphs.right} ".join(labels.of(name_of(step)) for step in one.path)
            yield Text(f"      {way}", style="dim")
    if len(found.causes) == limit:
        yield Text(f"The first {limit:,}. There may be more: --limit, --output json", style="dim")
    yield from _cannot_know(found, labels)
    yield from (not_known_line(one, labels) for one in found.not_known)
    if not found.completeness.complete and found.completeness.stopped_by not in EXPLAINED:
        yield closing_line(found.completeness)


def _nodes(found: RootCauses) -> Iterator[str]:
    yield found.node
    yield from (node for one in found.not_known for node in one.nodes)
    yield from found.unmeasured.nodes
    if found.deciding is not None:
        yield found.deciding.node
    for one in found.causes:
        yield from (one.node, *one.path)


def _head(place: int, one: PossibleCause, symptom: str, labels: Labels) -> Text:
    line = Text(f"{place:>2}. ", style="dim").append(f"{probability_text(one.probability):>6}  ", style="cyan")
    line.append(labels.of(name_of(one.node)), style="bold")
    line.append(f"  {number(one.distance, 'hop')} upstream" if one.distance else "  the node itself", style="dim")
    # Of another symptom there may be measurements, among its evidence.
    return line.append("" if one.measured else f"  {symptom} not measured", style="yellow")


def _fact_line(time: str, text: str) -> Text:
    return Text.assemble((f"      {time[:19]}  ", "dim"), safe(text))


def _cannot_know(found: RootCauses, labels: Labels) -> Iterator[Text]:
    cannot = ("Cannot know: ", "bold yellow")
    if not found.has_evidence:
        text = "nothing changed and nothing measured is unusual; the order comes from the positions alone."
        yield Text.assemble(cannot, text)
    if found.unmeasured.total:
        text = f"{_SYMPTOMS.get(found.symptom, found.symptom)} of {number(found.unmeasured.total, 'dataset')}: "
        named = ", ".join(labels.of(name_of(node)) for node in found.unmeasured.nodes[:_NAMED])
        more = ", …" if found.unmeasured.total > _NAMED else ""
        yield Text.assemble(cannot, f"{text}no measurement has enough history.", (f"  {named}{more}", "dim"))
    if (one := found.deciding) is not None:
        metrics = ", ".join(safe(metric) for metric in one.metrics[:_NAMED])
        there = f"; the cause is there or upstream of it with {probability_text(one.probability)}."
        node = labels.of(name_of(one.node))
        yield Text.assemble(("Would decide most: ", "bold"), f"{metrics} of {node}{there}")
