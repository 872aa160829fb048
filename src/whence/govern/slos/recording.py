"""Which transitions are to be recorded: a pure function of declarations, recorded transitions, facts and a time.

Each transition follows from the one before it. So whoever finds it gives it the same id, and nobody records it twice.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from whence.govern.slos.evaluation.facts import Facts
from whence.govern.slos.evaluation.judge import Judgement, judge
from whence.govern.slos.evaluation.states import State, find_states
from whence.govern.slos.records import Declaration, Transition
from whence.model.names import DatasetName
from whence.model.slo_records import TransitionRecord, transition_id

LATE = "events arrived late"
"""The reason of a transition that only corrects the one before it."""
_INITIAL = State(time=0, state="not evaluated")
"""Of an objective without a transition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """The recorded state, and the id of the transition that led to it."""

    state: State
    id: str = ""


def find_new_transitions(
    declared: Sequence[Declaration],
    last: Transition | None,
    facts: Mapping[DatasetName, Facts],
    now: int,
    current: Judgement | None = None,
) -> Iterator[Transition]:
    """The transitions of one objective after its last one, until a time (µs), in order.

    `declared`: its declarations, in order; `facts`: of its datasets, for any time since the last transition. What
    happened before the first declaration, or before the last transition, makes none. `current`: what the last
    declaration says now, if that is known.
    """
    known = _known(last)
    ends = [*(one.time - 1 for one in declared[1:]), now]
    for one, end in zip(declared, ends, strict=True):
        begin = max(one.time, known.state.time + 1) if known.id else one.time
        known_judgement = current if end == now and one is declared[-1] else None
        for state in _states(one, facts.get(one.dataset, Facts()), begin, min(end, now), known_judgement):
            if state.kind != known.state.kind:
                is_late = bool(known.id) and state.time == known.state.time + 1 and state.time != one.time
                change = _transition(one, known, replace(state, reason=_late(state)) if is_late else state)
                yield change
                known = _Known(state=state, id=change.id)


def _late(state: State) -> str:
    return f"{LATE}: {state.reason}" if state.reason else LATE


def _known(last: Transition | None) -> _Known:
    if last is None:
        return _Known(state=_INITIAL)
    return _Known(state=State(time=last.time, state=last.record.after, notify=last.record.notify), id=last.id)


def _states(one: Declaration, facts: Facts, begin: int, end: int, found: Judgement | None) -> Iterator[State]:
    """A version of Whence that cannot read an objective leaves its state as it is."""
    if begin > end:
        return
    if one.record.ended:
        yield State(time=begin, state="ended")
    elif one.objective is not None:
        yield from find_states(one.objective, found or judge(one.objective, facts, end), begin)


def _transition(one: Declaration, known: _Known, state: State) -> Transition:
    record = TransitionRecord(
        slo=one.id,
        service=one.record.service,
        name=one.record.name,
        dataset=one.record.dataset,
        before=known.state.state,
        after=state.state,
        notify_before=known.state.notify,
        notify=state.notify,
        reason=state.reason,
        run=None if state.run is None else str(state.run),
        version="" if one.record.ended else one.version,
        previous=known.id,
    )
    return Transition(id=transition_id(record), time=state.time, record=record)
