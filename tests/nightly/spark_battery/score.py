"""Compares the events of a run of the statements with the truth written beside them (`statements.py`).

A source that is reported as INDIRECT and is a DIRECT source of the same output is not counted, such as the tested
value of `coalesce(a, b)`: the truth lists conditions by statement, and lets the value stand for both.
"""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nightly.spark_battery import statements
from nightly.spark_battery.statements import Statement

Event = Mapping[str, Any]


@dataclass(slots=True)
class Reported:
    """What events report of one output."""

    direct: dict[str, set[str]] = field(default_factory=dict)
    indirect: set[str] = field(default_factory=set)
    announced: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Verdict:
    """One statement: its DIRECT edges that are right, wrong and missing, and every difference in words."""

    name: str
    right: int
    wrong: int
    missing: int
    differences: tuple[str, ...]


def judge(events: Iterable[Event], root: str, names: Iterable[str]) -> list[Verdict]:
    """The verdicts of the named statements. `root` is the directory that they ran in."""
    ended = [event for event in events if event.get("eventType") in ("COMPLETE", "FAIL")]
    chosen = set(names)
    ran = [one for one in statements.STATEMENTS if one.name in chosen]
    return [_judge(one, _events_of(one, ran, ended, root), root) for one in ran]


def _events_of(one: Statement, ran: list[Statement], ended: list[Event], root: str) -> list[Event]:
    """The events that ended the statement: of several that write one output, those at its place."""
    state = "FAIL" if one.fails else "COMPLETE"
    written = [event for event in ended if event["eventType"] == state and f"out:{one.out}" in _outputs(event, root)]
    same = [other for other in ran if other.out == one.out and other.fails == one.fails]
    return [written[same.index(one)]] if len(same) > 1 and len(same) == len(written) else written


def _outputs(event: Event, root: str) -> set[str]:
    return {_short(output["name"], root) for output in event["outputs"]}


def _short(name: str, root: str) -> str:
    inputs = {f"{root}/{path}": short for short, path in statements.IO.INPUTS.items()}
    for prefix in ("out/", "wh/shop.db/", "wh/shop.", "lake/shop/"):
        if name.startswith(f"{root}/{prefix}"):
            return f"out:{name.removeprefix(f'{root}/{prefix}')}"
    return inputs.get(name, name)


def _judge(one: Statement, events: list[Event], root: str) -> Verdict:
    if one.fails:
        is_reported = any("errorMessage" in event["run"]["facets"] for event in events)
        return Verdict(one.name, 0, 0, 0, () if is_reported else ("no FAIL with a message",))
    reported = _reported(events, root)
    wanted = {name: set(sources) for name, sources in one.direct.items()}
    for name, sources in one.opaque.items():
        wanted.setdefault(name, set()).update(sources)
    right = wrong = missing = 0
    differences = [] if events else ["no event"]
    for name in sorted(wanted.keys() | reported.direct.keys()):
        found = reported.direct.get(name, set())
        allowed = one.announced.get(name)
        lost = set() if allowed is not None else wanted.get(name, set()) - found
        invented = found - (allowed if allowed is not None else wanted.get(name, set()) | one.either)
        right, wrong, missing = right + len(found - invented), wrong + len(invented), missing + len(lost)
        differences += [f"{name} lacks {source}" for source in sorted(lost)]
        differences += [f"{name} has {source}" for source in sorted(invented)]
        if ((allowed is not None and found != allowed) or name in one.opaque) and name not in reported.announced:
            differences.append(f"{name} is not announced")
    return Verdict(one.name, right, wrong, missing, (*differences, *_influences(one, reported, wanted)))


def _influences(one: Statement, reported: Reported, wanted: Mapping[str, set[str]]) -> Iterable[str]:
    values = set().union(*wanted.values(), *one.announced.values())
    yield from (f"no influence of {source}" for source in sorted(one.influences - reported.indirect))
    invented = reported.indirect - one.influences - one.either - values
    yield from (f"influence of {source}" for source in sorted(invented))
    yield from (f"{name} has a source" for name in sorted(one.none) if reported.direct.get(name))


def _reported(events: Iterable[Event], root: str) -> Reported:
    found = Reported()
    for facets in (output["facets"] for event in events for output in event["outputs"]):
        lineage = facets.get("columnLineage", {})
        evidence = facets.get("whence_columnEvidence", {})
        found.announced |= {one["field"] for key in ("doubts", "unexplained") for one in evidence.get(key, ())}
        for name, members in lineage.get("fields", {}).items():
            _add_sources(found, name, members["inputFields"], root)
        found.indirect |= {_source(one, root) for one in lineage.get("dataset", ())}
    return found


def _add_sources(found: Reported, name: str, sources: Iterable[Mapping[str, Any]], root: str) -> None:
    for one in sources:
        for transformation in one["transformations"]:
            if transformation["type"] == "DIRECT":
                found.direct.setdefault(name, set()).add(_source(one, root))
            else:
                found.indirect.add(_source(one, root))


def _source(one: Mapping[str, Any], root: str) -> str:
    return f"{_short(one['name'], root)}.{one['field']}"


def print_verdicts(spark: str, verdicts: list[Verdict]) -> None:
    """Print what differs, and the line of a table."""
    for one in verdicts:
        if one.differences:
            sys.stdout.write(f"{one.name}: {'; '.join(one.differences)}\n")
    exact = sum(not one.differences for one in verdicts)
    right, wrong, missing = (sum(getattr(one, name) for one in verdicts) for name in ("right", "wrong", "missing"))
    sys.stdout.write(f"| {spark} | {len(verdicts)} | {exact} | {right}, {wrong}, {missing} |\n")
    sys.stdout.flush()
