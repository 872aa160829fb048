"""`whence slo evaluate` and `whence slo backtest`: the objectives of a file against a store on this machine."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from rich.text import Text

from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.cli.slos.budget_text import budget_text
from whence.cli.slos.files import load_slos, open_catalog
from whence.client.acts.slos import SloBudget
from whence.govern.slos.burn_rates import length_text
from whence.govern.slos.documents import budget_document, evaluation_document
from whence.govern.slos.evaluation.alerts import Burn
from whence.govern.slos.evaluation.judge import Judgement, Outcome, judge
from whence.govern.slos.evaluation.observations import observe_datasets
from whence.govern.slos.evaluation.transitions import Transition, replay
from whence.govern.slos.objectives import Notify, Objective
from whence.query.answers.instants import iso
from whence.store.snapshots.graph import open_graph

Judged = tuple[Objective, Judgement]


def show_evaluated(file: Path, url: str, log: str, as_of: int | None, output: Output) -> Exit:
    """Print what the objectives of a file say at a time (µs), or now. Raises RulesFileError, StoreError."""
    objectives = load_slos(file).objectives
    at = _now() if as_of is None else as_of
    with open_graph(url) as graph:
        facts = observe_datasets(open_catalog(graph, log), graph, objectives, at, at)
    found = [(one, judge(one, facts[one.dataset], at)) for one in objectives]
    if output is Output.JSON:
        print_document({"at": iso(at), "slos": [evaluation_document(*one) for one in found]})
    else:
        print_lines(Text(line) for one in found for line in _lines(*one))
    return _exit_of([judgement.outcome for _, judgement in found])


def _exit_of(outcomes: Sequence[Outcome]) -> Exit:
    if Outcome.VIOLATED in outcomes:
        return Exit.BLOCKED
    return Exit.UNKNOWN if Outcome.NOT_EVALUATED in outcomes else Exit.OK


def show_backtest(file: Path, url: str, log: str, age: int, output: Output) -> Exit:
    """Print the transitions of the objectives of a file in the last `age` (µs). Raises RulesFileError, StoreError."""
    objectives = load_slos(file).objectives
    until = _now()
    with open_graph(url) as graph:
        facts = observe_datasets(open_catalog(graph, log), graph, objectives, until - age, until)
    found = replay(objectives, facts, until - age, until)
    counts = _counts(found)
    if output is Output.JSON:
        document = {"since": iso(until - age), "until": iso(until), **counts}
        print_document({**document, "transitions": [_transition(one) for one in found]})
        return Exit.OK
    print_lines(Text(_transition_line(one)) for one in found)
    names = ", ".join(f"{count} {name if count != 1 else name.removesuffix('s')}" for name, count in counts.items())
    print_lines([Text(f"{names} since {_second(until - age)}")])
    return Exit.OK


def _now() -> int:
    return time.time_ns() // 1_000


def _second(at: int) -> str:
    """A time as people read it: its second. Documents have the exact one."""
    return iso(at - at % 1_000_000)


def _counts(found: Sequence[Transition]) -> dict[str, int]:
    begun = [one.notify for one in found if one.begins]
    return {
        "pages": begun.count(Notify.PAGE),
        "tickets": begun.count(Notify.TICKET),
        "violations": begun.count(None),
    }


def _lines(one: Objective, found: Judgement) -> Iterator[str]:
    since = f" since {_second(found.since)}" if found.since is not None else ""
    yield f"{safe(one.name)}: {found.outcome}{since}  {safe(str(one.dataset))}"
    details = [found.reason, found.observed, f"expected {found.expected}" if found.expected else ""]
    if any(details):
        yield f"  {safe(', '.join(part for part in details if part))}"
    if found.budget is not None:
        yield f"  {budget_text(msgspec.convert(budget_document(one, found.budget), SloBudget))}"
    yield from (f"  {_burn_text(burn)}" for burn in found.burns)
    yield from (f"  {alert.notify} since {_second(alert.start)}: {alert.rule}" for alert in found.open_alerts)


def _burn_text(burn: Burn) -> str:
    long, short = length_text(burn.rate.long), length_text(burn.rate.short)
    return (
        f"burns {burn.long:.3g} times in {long}, {burn.short:.3g} in {short}; {burn.rate.notify} at {burn.factor:.4g}"
    )


def _transition(one: Transition) -> dict[str, Any]:
    return {
        "time": iso(one.time),
        "dataset": one.dataset,
        "slo": one.objective,
        "change": "begins" if one.begins else "ends",
        "notify": None if one.notify is None else one.notify.value,
        "rule": one.rule or None,
    }


def _transition_line(one: Transition) -> str:
    what = f"{one.notify}: {one.rule}" if one.notify else "violated"
    state = "begins" if one.begins else "ends"
    return f"{_second(one.time)}  {safe(one.objective)}  {state}: {what}  {safe(one.dataset)}"
