"""`whence breaker`: whether a node may use the newest data that it reads."""

from collections.abc import Iterator
from typing import Protocol

import msgspec
from rich.text import Text

from whence.cli.answers.tree import number
from whence.cli.incidents.shown import second
from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.client.acts.breakers import BreakerReason, CircuitBreaker
from whence.query.answers.instants import iso

_EXITS = {"closed": Exit.OK, "open": Exit.BLOCKED, "unknown": Exit.UNKNOWN}
_STYLES = {"closed": "bold green", "open": "bold red", "unknown": "bold yellow"}
_WORDS = {"unknown": "cannot know"}


class BreakerQuestions(Protocol):
    """The question of a circuit breaker: to a store, or to a server (`client.questions.Client`)."""

    def circuit_breaker(self, node: str, *, as_of: str | None = None) -> CircuitBreaker:
        """The breaker of a node at a time."""
        ...


def show_breaker(questions: BreakerQuestions, node: str, as_of: int | None, output: Output) -> Exit:
    """Print the state of a circuit breaker, with its reasons."""
    found = questions.circuit_breaker(node, as_of=None if as_of is None else iso(as_of))
    if output is Output.JSON:
        print_document(msgspec.to_builtins(found))
    else:
        print_lines(_lines(found))
    return _EXITS.get(found.state, Exit.UNKNOWN)


def _lines(found: CircuitBreaker) -> Iterator[Text]:
    word = _WORDS.get(found.state, found.state)
    yield Text.assemble((word, _STYLES.get(found.state, "")), f"  {safe(found.node)}")
    yield from map(_reason, found.reasons)
    if found.hidden_reasons:
        yield Text(f"  and {number(found.hidden_reasons, 'reason')} at datasets that this key may not see")
    yield from (Text(f"  cannot know: {safe(one)}", style="yellow") for one in found.unknown)
    if found.excused:
        yield Text(f"  {number(found.excused, 'finding')} excused: mitigated, resolved, or good again", style="dim")
    if found.unwatched_datasets:
        names = ", ".join(map(safe, found.unwatched))
        text = f"  nothing watches {found.unwatched_datasets} of {number(found.datasets, 'dataset')}"
        yield Text(f"{text}: {names}" if names else text, style="dim")


def _reason(one: BreakerReason) -> Text:
    what = ", ".join(map(safe, filter(None, (one.rule, one.reason))))
    hops = "itself" if not one.distance else number(one.distance, "hop")
    line = Text(f"  {one.kind} since {second(one.since)}  {safe(one.dataset)}")
    line.append(f": {what}" if what else "")
    return line.append(f"  ({hops}; incident {one.incident}, {one.incident_state})", style="dim")
