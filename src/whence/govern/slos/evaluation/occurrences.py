"""Occurrences that an objective counts: a run's measurement, a check's result, a delivery, a changed schema."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from whence.govern.contracts.evaluation.quality import Report, judge_quality
from whence.govern.contracts.evaluation.verdicts import Outcome, Range, RuleVerdict, fulfils, number_text
from whence.govern.slos.calendars import Calendar, hours_on, zone_named
from whence.govern.slos.evaluation.facts import Facts, SchemaSeen, Silence, Write, refreshing
from whence.govern.slos.evaluation.lineage_occurrences import find_lineage_occurrences
from whence.govern.slos.evaluation.occurrence import Occurrence
from whence.govern.slos.evaluation.volume import Volumes, judge_volumes
from whence.govern.slos.objectives import (
    DAY,
    Check,
    Delivery,
    Freshness,
    Lineage,
    Measured,
    Objective,
    Quality,
    SchemaStability,
    Volume,
)
from whence.query.answers.instants import iso, microseconds
from whence.query.lookup.contracts import ContractVersion, PromisedRule


def find_occurrences(one: Objective, facts: Facts, until: int) -> tuple[Occurrence, ...]:
    """The occurrences of an objective until a time (µs), in order. `facts`: what had happened by then."""
    found = (each for each in _find(one, facts, until) if each.time <= until)
    return tuple(sorted(found, key=lambda each: (each.time, str(each.run), each.observed, each.good is not False)))


def _find(one: Objective, facts: Facts, until: int) -> Iterator[Occurrence]:
    match one.indicator:
        case Quality():
            yield from (_quality(one.indicator, report) for report in facts.reports)
        case Measured():
            yield from _measured(one.indicator, facts.reports)
        case Check():
            yield from _checks(one.indicator, facts)
        case Delivery():
            yield from _deliveries(one.indicator, one.calendar, facts, until)
        case Volume():
            yield from _volumes(one.indicator, facts)
        case SchemaStability():
            yield from _schemas(one.indicator, facts)
        case Lineage():
            yield from find_lineage_occurrences(one.indicator, facts)
        case Freshness():
            return


def _quality(indicator: Quality, report: Report) -> Occurrence:
    rule = PromisedRule(
        name="",
        column=indicator.column,
        metric=indicator.metric,
        unit=indicator.unit,
        operators=indicator.operators,
        arguments=indicator.arguments,
    )
    held = ContractVersion(id="", version="", applied_at=0, rules=(rule,))
    (found,) = judge_quality(held, (report,), ())
    return _of_verdict(found, report)


def _of_verdict(found: RuleVerdict, report: Report) -> Occurrence:
    good = {Outcome.HOLDS: True, Outcome.VIOLATED: False, Outcome.NOT_EVALUATED: None}[found.outcome]
    return Occurrence(
        time=report.time,
        good=good,
        observed=found.observed,
        expected=found.expected,
        reason=found.reason,
        run=report.run,
    )


def _measured(indicator: Measured, reports: Sequence[Report]) -> Iterator[Occurrence]:
    bounds = ", ".join(f"{key} {value}" for key, value in sorted(indicator.operators.items()))
    for report in reports:
        value = report.number(indicator.column, indicator.metric)
        if value is not None:
            found = Range(value, value)
            yield Occurrence(
                time=report.time,
                good=fulfils(indicator.operators, found),
                observed=found.describe(indicator.operators),
                expected=f"{indicator.metric} {bounds}",
                run=report.run,
            )


def _checks(indicator: Check, facts: Facts) -> Iterator[Occurrence]:
    for one in facts.checks:
        if one.name == indicator.assertion and one.column.casefold() == indicator.column.casefold():
            observed = one.found or ("held" if one.held else "failed")
            expected = f"the check {one.name} holds"
            yield Occurrence(time=one.time, good=one.held, observed=observed, expected=expected, run=one.run)


def _deliveries(indicator: Delivery, calendar: Calendar, facts: Facts, until: int) -> Iterator[Occurrence]:
    """One for each deadline after the first write. What came too late for one deadline does not count for the next."""
    writes = [one for one in refreshing(facts) if one.rows is None or one.rows >= indicator.rows]
    if not writes:
        return
    index, late = 0, 0
    for deadline in _deadlines(indicator, calendar, writes[0].time, until):
        after = max(deadline - indicator.within, late if late <= deadline else 0)
        while index < len(writes) and writes[index].time <= after:
            index += 1
        write = writes[index] if index < len(writes) else None
        late = write.time if write is not None and write.time > deadline else late
        if write is None and facts.silence is not None and facts.silence.since <= deadline:
            yield _unknown_delivery(deadline, facts.silence)
        else:
            yield _delivery(deadline, write)


def _unknown_delivery(deadline: int, silence: Silence) -> Occurrence:
    return Occurrence(time=deadline, good=None, reason=silence.text, is_unknown=True)


def _delivery(deadline: int, write: Write | None) -> Occurrence:
    """`write`: the first that counts for the deadline or a later one."""
    expected = f"a write by {iso(deadline)}"
    if write is None or write.time > deadline:
        ended = None if write is None else write.time
        observed = "no write" if write is None else f"the write came at {iso(write.time)}"
        return Occurrence(time=deadline, good=False, observed=observed, expected=expected, ended=ended)
    return Occurrence(
        time=deadline, good=True, observed=f"written at {iso(write.time)}", expected=expected, run=write.run
    )


def _deadlines(indicator: Delivery, calendar: Calendar, since: int, until: int) -> Iterator[int]:
    """The deadlines of days with open hours, after an instant and until another (µs)."""
    zone = zone_named(calendar.zone)
    first = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=since)).astimezone(zone).date()
    days = [first + timedelta(days=number) for number in range((until - since) // DAY + 3)]
    for day, hours in zip(days, hours_on(calendar, days), strict=True):
        local = datetime(day.year, day.month, day.day, indicator.by // 60, indicator.by % 60, tzinfo=zone)
        deadline = microseconds(local.astimezone(UTC))
        if hours and since < deadline <= until:
            yield deadline


def _volumes(indicator: Volume, facts: Facts) -> Iterator[Occurrence]:
    written = sorted((one for one in facts.writes if one.rows is not None), key=_write_order)
    series = Volumes(times=tuple(one.time for one in written), rows=tuple(float(one.rows or 0) for one in written))
    for write, found in zip(written, judge_volumes(indicator, series), strict=True):
        yield Occurrence(
            time=write.time,
            good=found.good,
            observed=f"{number_text(found.rows)} rows",
            expected="" if found.least is None else f"{found.least:,.0f} to {found.most:,.0f} rows",
            reason=found.reason,
            run=write.run,
            is_learning=found.good is None,
        )


def _write_order(one: Write) -> tuple[int, str, float]:
    return one.time, str(one.run), float(one.rows or 0)


def _schemas(indicator: SchemaStability, facts: Facts) -> Iterator[Occurrence]:
    """Each new schema, compared with the last one that was good, and each return of that one."""
    ordered = sorted(facts.schemas, key=lambda one: (one.time, one.columns))
    held = ordered[0] if ordered else None
    for after in ordered[1:]:
        assert held is not None
        lost = _differences(held, after, added=indicator.added)
        yield Occurrence(
            time=after.time,
            good=not lost,
            observed="; ".join(lost) or "columns were added",
            expected="the columns and types of before",
        )
        if not lost:
            held = after
        elif held.last > after.last and (back := _return_after(after.last, facts)) is not None:
            yield Occurrence(time=back, good=True, observed="they are as before")


def _return_after(other: int, facts: Facts) -> int | None:
    """When a schema was back that was reported again after another one, which was reported last at `other` (µs).

    Of each schema only the first and the last report are known, and the last one moves: so it is the first write after
    the other schema; of datasets without writes, such as those that only a catalog reports, when that one ended.
    """
    if not facts.writes:
        return other + 1
    return min((one.time for one in facts.writes if other < one.time), default=None)


def _differences(before: SchemaSeen, after: SchemaSeen, *, added: bool) -> list[str]:
    old, new = dict(before.columns), dict(after.columns)
    found = [f"{name} is missing" for name in old if name not in new]
    found += [f"{name} is {new[name]}, was {type_}" for name, type_ in old.items() if new.get(name, type_) != type_]
    return found + [f"{name} is new" for name in new if added and name not in old]
