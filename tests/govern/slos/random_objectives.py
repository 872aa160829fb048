"""Random objectives of all kinds, and what happened to their dataset: dense, so that all of them break now and then."""

import random
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction

from whence.govern.contracts.evaluation.quality import CheckResult, Report
from whence.govern.slos.burn_rates import DEFAULT_BURN_RATES
from whence.govern.slos.calendars import ALWAYS, Calendar, Maintenance
from whence.govern.slos.evaluation.facts import Facts, ReportedLineage, ReportedRun, SchemaSeen, Write
from whence.govern.slos.objectives import (
    Age,
    Check,
    Delivery,
    Freshness,
    Indicator,
    Lineage,
    LineageMetric,
    Measured,
    Misses,
    Notify,
    Objective,
    Quality,
    SchemaStability,
    Volume,
    VolumeRule,
)
from whence.model.names import DatasetName, JobName, RunName

MINUTE, HOUR, DAY = 60_000_000, 3_600_000_000, 86_400_000_000
BEGIN = int(datetime(2026, 10, 12, tzinfo=UTC).timestamp()) * 1_000_000
"""Two weeks before clocks are put back in Europe."""
LENGTH = 28 * DAY
DATASETS = tuple(
    DatasetName(f"postgres://{space}:5432", name)
    for space, name in (("prod", "shop.revenue"), ("staging", "shop.revenue"), ("dev", "[bold]a\n\u202e%2F"))
)
CALENDARS = (
    ALWAYS,
    Calendar(name="office", zone="Europe/Berlin", week=(((480, 1_080),),) * 5 + ((), ())),
    Calendar(name="market", zone="America/New_York", week=(((0, 300), (570, 960)),) * 6 + ((),)),
)


def indicators(rng: random.Random) -> tuple[Indicator, ...]:
    """One of each kind."""
    return (
        Freshness(limit=rng.choice((50 * MINUTE, 3 * HOUR, 9 * HOUR)), age=rng.choice(list(Age))),
        Delivery(by=rng.randrange(1_440), rows=rng.choice((1, 90))),
        Quality(metric="nullValues", column="a", unit="percent", operators={"mustBeLessThan": rng.choice((5, 20))}),
        Measured(metric="sum", column="a", operators={"mustBeGreaterThan": rng.choice((5, 20))}),
        Check(assertion="unique", column="a"),
        Volume(rule=rng.choice(list(VolumeRule))),
        SchemaStability(added=rng.random() < 0.5),
        Lineage(metric=LineageMetric.COVERAGE, bound=Fraction(rng.choice((50, 90)), 100)),
        Lineage(metric=LineageMetric.UNKNOWN_UPSTREAM, bound=Fraction(rng.choice((5, 50)), 100)),
        Lineage(metric=LineageMetric.CAPTURE_LATENCY, bound=Fraction(rng.choice((5, 30)) * MINUTE)),
        Lineage(metric=LineageMetric.LOSS),
    )


def random_objectives(rng: random.Random) -> tuple[Objective, ...]:
    """One of each kind, each of a random dataset, with a calendar and alerts."""
    found = []
    for number, indicator in enumerate(indicators(rng)):
        is_time = isinstance(indicator, Freshness)
        one = Objective(
            service="shop",
            name=f"{number}",
            dataset=rng.choice(DATASETS),
            indicator=indicator,
            target=Fraction(rng.randint(60, 99), 100),
            calendar=rng.choice(CALENDARS),
        )
        misses = Misses(bad=rng.randint(1, 2), of=rng.randint(2, 4), notify=rng.choice(list(Notify)))
        one = replace(one, burn_rates=DEFAULT_BURN_RATES) if is_time else replace(one, misses=(misses,))
        begin = BEGIN + rng.randrange(LENGTH)
        upgrade = Maintenance(start=begin, end=begin + rng.randrange(DAY), reason="upgrade")
        found.append(replace(one, maintenance=(upgrade,) if rng.random() < 0.5 else ()))
    return tuple(found)


def random_facts(rng: random.Random) -> Mapping[DatasetName, Facts]:
    """Of each dataset, with equal times, runs that write nothing, and backfills among them."""
    return {name: _facts(rng, place) for place, name in enumerate(DATASETS)}


def _facts(rng: random.Random, place: int) -> Facts:
    times = sorted(BEGIN + rng.randrange(LENGTH // HOUR) * HOUR for _ in range(rng.randint(40, 400)))
    runs = [RunName(f"0197{place:04x}{number:024x}", JobName("airflow", "load")) for number in range(len(times))]
    pairs = list(zip(times, runs, strict=True))
    columns = ((("a", "int"),), (("a", "int"), ("b", "text")), (("a", "text"),))
    return Facts(
        writes=tuple(
            Write(
                time=time,
                run=run,
                rows=rng.choice((None, 0, 40, 100, 100, 100)),
                nominal=rng.choice((None, time - time % DAY, time - 3 * DAY)),
            )
            for time, run in pairs
        ),
        reports=tuple(
            Report(
                time=time,
                run=run,
                numbers={("", "rowCount"): 100, ("a", "nullCount"): rng.randrange(30), ("a", "sum"): rng.randrange(30)},
            )
            for time, run in rng.sample(pairs, 30)
        ),
        checks=tuple(
            CheckResult(name="unique", column="a", held=rng.random() < 0.7, time=time, run=run)
            for time, run in rng.sample(pairs, 30)
        ),
        schemas=tuple(
            SchemaSeen(time=BEGIN + at * DAY, columns=each, last=BEGIN + (at + rng.randint(1, 9)) * DAY)
            for at, each in zip(rng.sample(range(20), 3), columns, strict=True)
        ),
        lineage=tuple(
            ReportedLineage(
                time=time,
                run=run,
                columns=rng.choice((0, 10)),
                covered=rng.randrange(10),
                sources=(sources := rng.randrange(4)),
                unknown=rng.randint(0, sources),
                delay=rng.choice((None, -MINUTE, MINUTE, HOUR)),
            )
            for time, run in rng.sample(pairs, 30)
        ),
        runs=tuple(
            ReportedRun(time=time, run=run, has_start=rng.random() < 0.9, has_end=rng.random() < 0.8)
            for time, run in rng.sample(pairs, 30)
        ),
    )


def shuffled(rng: random.Random, facts: Mapping[DatasetName, Facts]) -> Mapping[DatasetName, Facts]:
    """The same in another order of arrival."""
    return {
        name: Facts(
            writes=tuple(rng.sample(one.writes, len(one.writes))),
            reports=tuple(rng.sample(one.reports, len(one.reports))),
            checks=tuple(rng.sample(one.checks, len(one.checks))),
            schemas=tuple(rng.sample(one.schemas, len(one.schemas))),
            lineage=tuple(rng.sample(one.lineage, len(one.lineage))),
            runs=tuple(rng.sample(one.runs, len(one.runs))),
            since=one.since,
        )
        for name, one in rng.sample(sorted(facts.items()), len(facts))
    }
