"""The occurrences of indicators of lineage: what each run reported, and whether it did. Pure."""

from collections.abc import Iterator
from fractions import Fraction
from functools import partial

from whence.govern.slos.evaluation.facts import Facts, ReportedLineage, ReportedRun
from whence.govern.slos.evaluation.occurrence import Occurrence
from whence.govern.slos.objectives import Lineage, LineageMetric


def find_lineage_occurrences(indicator: Lineage, facts: Facts) -> Iterator[Occurrence]:
    """One for each completed run that wrote the dataset; of lost events, for each run of the jobs that write it."""
    match indicator.metric:
        case LineageMetric.COVERAGE:
            yield from (_coverage(indicator.bound, one) for one in facts.lineage)
        case LineageMetric.UNKNOWN_UPSTREAM:
            yield from (_unknown_upstream(indicator.bound, one) for one in facts.lineage)
        case LineageMetric.CAPTURE_LATENCY:
            yield from (_latency(indicator.bound, one) for one in facts.lineage)
        case LineageMetric.LOSS:
            yield from map(_loss, facts.runs)


def _coverage(least: Fraction, one: ReportedLineage) -> Occurrence:
    new = partial(Occurrence, time=one.time, run=one.run, expected=f"at least {_percent(least)}")
    if not one.columns:
        return new(good=None, reason="no run has reported the columns of the dataset")
    observed = f"the run reports sources of {one.covered} of {one.columns} columns"
    return new(good=Fraction(one.covered, one.columns) >= least, observed=observed)


def _unknown_upstream(most: Fraction, one: ReportedLineage) -> Occurrence:
    new = partial(Occurrence, time=one.time, run=one.run, expected=f"at most {_percent(most)}")
    if not one.sources:
        return new(good=None, reason="the run reports no dataset that it read")
    observed = f"nobody knows where {one.unknown} of {one.sources} sources come from"
    return new(good=Fraction(one.unknown, one.sources) <= most, observed=observed)


def _latency(most: Fraction, one: ReportedLineage) -> Occurrence:
    new = partial(Occurrence, time=one.time, run=one.run, expected=f"at most {_seconds(int(most))}")
    if one.delay is None:
        return new(good=None, reason="the log does not have the event of the run any more, or was not read")
    delay = max(one.delay, 0)  # the clock of the run may be ahead
    return new(good=delay <= most, observed=f"received {_seconds(delay)} after it happened")


def _loss(one: ReportedRun) -> Occurrence:
    missing = [name for name, has in (("start", one.has_start), ("end", one.has_end)) if not has]
    observed = f"its {' and its '.join(missing)} never came" if missing else "its start and its end came"
    return Occurrence(time=one.time, good=not missing, observed=observed, expected="start and end", run=one.run)


def _percent(share: Fraction) -> str:
    return f"{float(100 * share):.6g} %"


def _seconds(micros: int) -> str:
    return f"{micros / 1_000_000:.6g} s"
