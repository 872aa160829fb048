"""A store that forgets says of the rest what it would say if it had forgotten nothing; and what it forgets is gone."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, select

from fixtures.examples import examples
from fixtures.readings_of_events import empty, readings_of
from fixtures.stores_of_events import apply_bodies
from generators import body, histories
from oracle import dump as oracle_dump
from oracle.lines import without_words
from oracle.nodes import run_number, text
from oracle.reading import Reading, read
from retention.worlds import DAY, FIRST_DAY
from whence.derive.reading.record import Reading as RecordReading
from whence.derive.writing.merge import merge_chunk
from whence.model.events import RunState
from whence.model.names import JobName, RunName
from whence.openlineage.write import run_event
from whence.query.answers.instants import FIRST
from whence.store.connection.engine import reading
from whence.store.ingest.recompute import recompute
from whence.store.ingest.retention_summary import RetentionHorizon, run_summary
from whence.store.lifecycle.dump import dump
from whence.store.lifecycle.purge import enforce_horizon, preview_purge
from whence.store.status.late_jobs import list_late_jobs
from whence.store.status.ledger import read_all_receipts, read_ledger

SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture)
Line = dict[str, Any]

LASTING = ("dataset", "job", "field", "alias")
"""Facts that no horizon takes."""
STAMP = ("time", "rank", "key")


def arrive(engine: Engine, readings: Sequence[RecordReading], start: int, end: int) -> None:
    """Merge and settle the readings from one place to another."""
    merge_chunk(engine, readings[start:end])
    recompute(engine, {"log": end + 1})


def forgotten_runs(readings: Iterable[Reading], horizon: RetentionHorizon) -> set[str]:
    """The run ids that a horizon takes, told from the events alone."""
    seen: dict[Any, int] = {}
    contains: dict[Any, set[Any]] = {}
    for one in readings:
        if one.kind == "run":
            seen[one.subject] = max(seen.get(one.subject, one.time), one.time)
            contains.setdefault(one.subject, set()).update(container for _, container in one.containers)
    kept = {run for run, time in seen.items() if time >= horizon.runs}
    for job in {run[2:] for run in seen}:
        newest = sorted((run for run in seen if run[2:] == job), key=lambda run: (seen[run], run_number(run)))
        kept.update(newest[len(newest) - horizon.keep :] if horizon.keep else ())
    while more := {container for run in kept for container in contains.get(run, ())} - kept:
        kept |= more
    return {text(run) for run in seen if run not in kept}


def lines(engine: Engine) -> list[Line]:
    return [json.loads(line) for line in dump(engine)]


def remembered(state: Iterable[Line], horizon: RetentionHorizon) -> list[str]:
    """What holds now and held since the horizon, and who and what there is: all that forgetting must not touch."""
    lines = list(map(without_words, state))
    chosen = [{**line, "key": line["key"][:16]} for line in held_tags(lines, horizon)]
    for line in lines:
        if line.get("derived") == "validity_interval":
            if line["to"] is None or line["to"] > horizon.history:
                chosen.append(line)
        elif "derived" in line or line["fact"] in LASTING:
            chosen.append({**line, "first": line["first"][0], "last": line["last"][0]} if "first" in line else line)
        elif line["fact"] == "facet" and not line["subject"].startswith("run:"):
            chosen.append({**line, "key": line["key"][:16]})
    return sorted(json.dumps(line, sort_keys=True) for line in chosen)


def held_tags(state: Iterable[Line], horizon: RetentionHorizon) -> list[Line]:
    """The reports of tags that held since the horizon; of those before which no event can come any more, the ones that
    changed them.
    """
    found: list[Line] = []
    held: dict[tuple[str, str], Line] = {}
    reports = [one for one in state if one.get("fact") == "tags"]
    for one in sorted(reports, key=lambda one: [one[part] for part in STAMP]):
        which = one["subject"], one["name"]
        before, held[which] = held.get(which), one
        if one["time"] > horizon.history:
            found += [before] if before and before["time"] <= horizon.history else []
            is_repeated = before and one["time"] < horizon.runs and one["payload"] == before["payload"]
            found += [] if is_repeated else [one]
    return [*found, *(one for one in held.values() if one["time"] <= horizon.history)]


def measured(state: Iterable[Line], gone: set[str]) -> list[str]:
    """What the runs that are not forgotten measured."""
    return sorted(
        json.dumps(line, sort_keys=True)
        for line in state
        if line.get("fact") == "measurement" and line["run"] and line["run"] not in gone
    )


@settings(max_examples=examples(60), suppress_health_check=SLOW)
@given(data=st.data())
def test_forgetting_changes_nothing_that_is_still_remembered(small: Engine, data: st.DataObject) -> None:
    bodies = [body(event) for event in data.draw(histories(14))]
    cut = data.draw(st.integers(1, len(bodies)))
    if in_order := data.draw(st.booleans()):
        bodies.sort(key=lambda one: read(one).time)
    readings = [read(one) for one in bodies]
    times = sorted({one.time for one in readings})
    # In order, nearly all that comes later is in time, and all that came before is old.
    runs = readings[cut - 1].time + 1 if in_order else data.draw(st.sampled_from(times)) + data.draw(st.integers(0, 1))
    history = min(runs, data.draw(st.sampled_from(times)))
    horizon = RetentionHorizon(runs=runs, keep=data.draw(st.sampled_from([0, 0, 1, 2])), history=history)
    gone = forgotten_runs(readings[:cut], horizon)
    kept = [place < cut or text(one.subject) not in gone for place, one in enumerate(readings)]
    bodies = [one for one, keep in zip(bodies, kept, strict=True) if keep]
    arriving = readings_of(bodies)
    empty(small)
    arrive(small, arriving, 0, cut)
    ledger = read_ledger(small)
    with preview_purge(small, horizon) as expired:
        planned, marked = dict(expired.rows), list(expired.iterate_keys())
    assert enforce_horizon(small, horizon) == planned
    assert read_ledger(small) == ledger
    state = lines(small)
    assert not {line["node"] for line in state if line.get("fact") == "run"} & gone
    expected = [json.loads(line) for line in oracle_dump(bodies[:cut])]
    assert remembered(state, horizon) == remembered(expected, horizon)
    assert measured(state, set()) == measured(expected, gone)
    assert {line["key"] for line in state if line.get("fact") == "measurement" and not line["run"]} <= {
        line["key"] for line in state if line.get("fact") == "event"
    }
    assert not [
        line for line in state if line.get("derived") == "validity_interval" and (line["to"] or runs + 1) <= history
    ]
    reports = [line for line in state if line.get("fact") == "tags"]
    assert len(reports) == len(held_tags(reports, horizon))
    with preview_purge(small, horizon) as expired:
        assert not any(expired.rows.values()), (dict(expired.rows), marked)

    arrive(small, arriving, cut, len(bodies))
    known = {read(one).key for one in bodies[:cut]}
    late = [one for one in bodies[cut:] if read(one).time < runs]
    in_time = [*bodies[:cut], *(one for one in bodies[cut:] if read(one).time >= runs)]
    refused = [one for one in read_all_receipts(small) if one.outcome == "quarantined"]
    assert len(refused) == len(late)
    assert read_ledger(small).received == len(bodies)
    assert known or not late
    assert remembered(lines(small), horizon) == remembered(map(json.loads, oracle_dump(in_time)), horizon)
    enforce_horizon(small, horizon)
    assert remembered(lines(small), horizon) == remembered(map(json.loads, oracle_dump(in_time)), horizon)


def test_clocks_that_are_wrong_by_ages_break_no_sum(store: Engine) -> None:
    """A START of the year 1 is what some clients send that have no time. 64 bits hold the lengths of 145 such runs."""
    job, now = JobName("n", "daily"), FIRST_DAY
    runs = [RunName(f"0190b3a1-0000-7000-8000-{number:012d}", job) for number in range(200)]
    events = [run_event(FIRST if one != runs[-1] else now, RunState.START, one) for one in runs]
    events += [run_event(now + number, RunState.COMPLETE, one) for number, one in enumerate(runs)]
    apply_bodies(store, [json.dumps(one).encode() for one in events])
    with reading(store) as connection:
        assert list_late_jobs(connection, now - DAY, now + DAY) == []
    enforce_horizon(store, RetentionHorizon(runs=now + DAY, keep=0, history=now))
    with reading(store) as connection:
        (summed,) = connection.execute(select(run_summary)).all()
    assert (summed.runs, summed.timed, summed.microseconds) == (200, 1, 199)
