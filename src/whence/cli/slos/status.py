"""`whence slo list`, `show` and `status`: the declared objectives of a server."""

from collections.abc import Iterator, Sequence

import msgspec
from rich.text import Text

from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.cli.slos.budget_text import budget_text, remaining_text
from whence.client.acts.slos import Slo, SloDetail, Slos, SloTransition
from whence.client.questions import Client
from whence.query.answers.instants import iso

_MOST_TRANSITIONS = 20
"""Transitions in a text."""
_HOUR = 3_600


def show_slos(questions: Client, dataset: str, as_of: int | None, output: Output) -> Exit:
    """Print the declared objectives, one line each."""
    found = questions.slos(dataset=dataset, as_of=_text(as_of))
    _print_all(found, [line for one in found.slos for line in _summary(one)], output)
    return Exit.OK


def show_status(questions: Client, dataset: str, as_of: int | None, output: Output) -> Exit:
    """Print what the declared objectives say. The exit code is that of `whence slo evaluate`."""
    found = questions.slos(dataset=dataset, as_of=_text(as_of))
    _print_all(found, [line for one in found.slos for line in _lines(one)], output)
    states = {one.state for one in found.slos}
    if "violated" in states:
        return Exit.BLOCKED
    return Exit.UNKNOWN if "not evaluated" in states else Exit.OK


def show_slo(questions: Client, name: str, as_of: int | None, output: Output) -> Exit:
    """Print an objective with its transitions."""
    found = questions.slo(name, as_of=_text(as_of))
    if output is Output.JSON:
        print_document(msgspec.to_builtins(found))
    else:
        print_lines(map(Text, _detail_lines(found)))
    return Exit.OK


def _text(as_of: int | None) -> str | None:
    return None if as_of is None else iso(as_of)


def _print_all(found: Slos, lines: Sequence[str], output: Output) -> None:
    if output is Output.JSON:
        print_document(msgspec.to_builtins(found))
        return
    rest = [f"and {found.hidden} of datasets that this key may not see"] if found.hidden else []
    print_lines(map(Text, [*(lines or ["No objective is declared."]), *rest]))


def _summary(one: Slo) -> Iterator[str]:
    left = remaining_text(one.budget) if one.budget else ""
    parts = (f"{_named(one)}: {_state(one)}", left, safe(one.dataset))
    yield "  ".join(filter(None, parts))


def _lines(one: Slo) -> Iterator[str]:
    since = f" since {_second(one.since)}" if one.since else ""
    yield f"{_named(one)}: {_state(one)}{since}  {safe(one.dataset)}"
    details = [one.reason, one.observed, f"expected {one.expected}" if one.expected else ""]
    if any(details):
        yield f"  {safe(', '.join(part for part in details if part))}"
    if one.budget:
        yield f"  {budget_text(one.budget)}"
    for burn in one.burn_rates:
        long, short = (
            f"{window.burn_rate:.3g} in {_length(window.seconds)}" for window in (burn.long_window, burn.short_window)
        )
        yield f"  burns {long}, {short}; {burn.notify} at {burn.factor:.4g}"
    yield from (f"  {alert.notify} since {_second(alert.since)}: {alert.rule}" for alert in one.alerts)


def _detail_lines(found: SloDetail) -> Iterator[str]:
    one = found.slo
    yield from _lines(one)
    yield f"  declared {_second(one.declared_at)} by {safe(one.declared_by)}"
    if one.description:
        yield f"  {safe(one.description)}"
    if one.runbook:
        yield f"  runbook: {safe(one.runbook)}"
    shown = found.transitions[:_MOST_TRANSITIONS]
    yield from (f"  {_transition(change)}" for change in shown)
    if len(found.transitions) > len(shown):
        yield f"  and {len(found.transitions) - len(shown)} older transitions"


def _transition(one: SloTransition) -> str:
    notify = f", {one.notify}" if one.notify else ""
    reason = f": {safe(one.reason)}" if one.reason else ""
    return f"{_second(one.time)}  {one.before} → {one.after}{notify}{reason}"


def _named(one: Slo) -> str:
    return f"{safe(one.service)}/{safe(one.name)}"


def _state(one: Slo) -> str:
    return f"{one.state}, {one.notify}" if one.notify else one.state


def _length(seconds: float) -> str:
    return f"{seconds / _HOUR:g} h" if seconds >= _HOUR else f"{seconds / 60:g} min"


def _second(time: str) -> str:
    """A time as people read it: its second."""
    return f"{time.partition('.')[0].removesuffix('Z')}Z"
