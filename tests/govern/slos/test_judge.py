"""What objectives say of what happened: the outcome, since when, the budget, and the alerts."""

import random
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import pytest

from whence.govern.contracts.evaluation.quality import CheckResult, Report
from whence.govern.slos.burn_rates import DEFAULT_BURN_RATES
from whence.govern.slos.calendars import ALWAYS, Calendar, Maintenance
from whence.govern.slos.evaluation.facts import Facts, SchemaSeen, Write
from whence.govern.slos.evaluation.judge import Outcome, judge
from whence.govern.slos.evaluation.transitions import replay
from whence.govern.slos.objectives import (
    Age,
    Check,
    Delivery,
    Freshness,
    Indicator,
    Measured,
    Misses,
    Notify,
    Objective,
    Quality,
    SchemaStability,
    Volume,
)
from whence.model.names import DatasetName, JobName, RunName

MINUTE, HOUR, DAY = 60_000_000, 3_600_000_000, 86_400_000_000
MONDAY = int(datetime(2026, 9, 7, tzinfo=UTC).timestamp()) * 1_000_000
DATASET = DatasetName("postgres://prod:5432", "shop.public.revenue")
OFFICE = Calendar(zone="Europe/Berlin", week=(((480, 1_080),),) * 5 + ((), ()))


def run(number: int) -> RunName:
    return RunName(f"0197{number:028x}", JobName("shop", "load"))


def objective(indicator: Indicator, target: str = "0.99", **members: Any) -> Objective:
    one = Objective(service="shop", name="one", dataset=DATASET, indicator=indicator, target=Fraction(target))
    return replace(one, **members)


def fresh(**members: Any) -> Objective:
    return objective(Freshness(limit=30 * MINUTE), **{"burn_rates": DEFAULT_BURN_RATES, **members})


def writes(*minutes: int) -> Facts:
    return Facts(writes=tuple(Write(time=MONDAY + one * MINUTE) for one in minutes))


def reports(*values: float) -> Facts:
    """One a day at noon, of the column `a` in 100 rows."""
    return Facts(
        reports=tuple(
            Report(
                time=MONDAY + day * DAY + 12 * HOUR,
                run=run(day),
                numbers={("", "rowCount"): 100, ("a", "nullCount"): value, ("a", "sum"): value},
            )
            for day, value in enumerate(values)
        )
    )


class TestFreshness:
    def test_without_a_write_nothing_is_evaluated(self) -> None:
        found = judge(fresh(), Facts(), MONDAY)
        assert (found.outcome, found.since) == (Outcome.NOT_EVALUATED, None)
        assert found.reason == "no completed run has written the dataset"

    def test_the_moment_of_a_violation_is_that_of_the_limit(self) -> None:
        for asked in (31, 45, 10_000):
            found = judge(fresh(), writes(0), MONDAY + asked * MINUTE)
            assert (found.outcome, found.since) == (Outcome.VIOLATED, MONDAY + 30 * MINUTE)
        assert judge(fresh(), writes(0), MONDAY + 30 * MINUTE).outcome is Outcome.HOLDS

    def test_nothing_is_too_old_while_it_is_closed(self) -> None:
        """Berlin is two hours ahead: the office is open from 06:00 to 16:00 UTC."""
        one = fresh(calendar=OFFICE)
        night = judge(one, writes(16 * 60 - 10), MONDAY + 24 * HOUR)
        assert night.outcome is Outcome.HOLDS
        morning = judge(one, writes(16 * 60 - 10), MONDAY + 31 * HOUR)
        assert (morning.outcome, morning.since) == (Outcome.VIOLATED, MONDAY + 30 * HOUR)

    def test_business_age_stops_over_night(self) -> None:
        one = replace(fresh(calendar=OFFICE), indicator=Freshness(limit=30 * MINUTE, age=Age.BUSINESS))
        found = judge(one, writes(16 * 60 - 10), MONDAY + 31 * HOUR)
        assert (found.outcome, found.since) == (Outcome.VIOLATED, MONDAY + 30 * HOUR + 20 * MINUTE)

    def test_no_rows_and_backfills_refresh_nothing(self) -> None:
        at = MONDAY + 50 * MINUTE
        last = Write(time=MONDAY, nominal=MONDAY - DAY, rows=5)
        for rows, nominal in ((0, None), (5, MONDAY - 9 * DAY), (0, MONDAY)):
            facts = Facts(writes=(last, Write(time=MONDAY + 40 * MINUTE, rows=rows, nominal=nominal)))
            assert judge(fresh(), facts, at).since == MONDAY + 30 * MINUTE
        again = Facts(writes=(last, Write(time=MONDAY + 40 * MINUTE, nominal=MONDAY - DAY, rows=1)))
        assert judge(fresh(), again, at).outcome is Outcome.HOLDS

    def test_maintenance_removes_open_time_and_does_not_make_it_good(self) -> None:
        upgrade = Maintenance(start=MONDAY + HOUR, end=MONDAY + 2 * HOUR, reason="upgrade")
        found = judge(fresh(maintenance=(upgrade,)), writes(0), MONDAY + 3 * HOUR)
        assert found.budget is not None
        assert (found.budget.bad, found.budget.total, found.budget.suppressed) == (90 * MINUTE, 120 * MINUTE, HOUR)
        assert found.budget.suppressed_share > 0.2

    def test_a_change_of_the_rules_at_night_is_none(self) -> None:
        """An outage at night opens no alert; one of three hours in open hours opens pages within two short windows."""
        every = range(0, 5 * 1_440, 10)
        night = writes(*(one for one in every if not 1_440 + 20 * 60 <= one < 1_440 + 24 * 60))
        one = fresh(calendar=OFFICE)
        assert judge(one, night, MONDAY + 5 * DAY).alerts == ()
        day = writes(*(one for one in every if not 1_440 + 8 * 60 <= one < 1_440 + 11 * 60))
        found = judge(one, day, MONDAY + 5 * DAY)
        pages = [alert for alert in found.alerts if alert.notify is Notify.PAGE]
        stale_from = MONDAY + DAY + 7 * HOUR + 80 * MINUTE
        assert stale_from < pages[0].start <= stale_from + 10 * MINUTE
        assert len(pages) == 2  # one of each pair of windows
        assert all(alert.end is not None for alert in pages)


def degraded_month() -> Facts:
    """A clean week, four days of writes every 35 minutes at a limit of 30, and a day with an outage of three hours."""
    clean = range(0, 7 * 1_440, 10)
    degraded = range(7 * 1_440, 11 * 1_440, 35)
    outage = [one for one in range(11 * 1_440, 21 * 1_440, 10) if not 14 * 1_440 + 540 <= one < 14 * 1_440 + 720]
    return writes(*clean, *degraded, *outage)


FACTS = degraded_month()


class TestPages:
    @pytest.mark.parametrize("calendar", [OFFICE, ALWAYS])
    def test_four_pages_at_most(self, calendar: Calendar) -> None:
        found = replay([fresh(calendar=calendar)], {DATASET: FACTS}, MONDAY, MONDAY + 21 * DAY)
        pages = [one.time for one in found if one.begins and one.notify is Notify.PAGE]
        assert 1 <= len(pages) <= 4
        violations = [one for one in found if one.begins and one.notify is None]
        assert len(violations) > 60

    @pytest.mark.parametrize("calendar", [OFFICE, ALWAYS])
    def test_no_page_in_seven_clean_days(self, calendar: Calendar) -> None:
        assert replay([fresh(calendar=calendar)], {DATASET: FACTS}, MONDAY, MONDAY + 7 * DAY) == ()

    def test_the_order_of_arrival_changes_nothing(self) -> None:
        objectives = [fresh(calendar=OFFICE), replace(fresh(), name="two")]
        expected = replay(objectives, {DATASET: FACTS}, MONDAY, MONDAY + 21 * DAY)
        for seed in range(5):
            shuffled = list(FACTS.writes)
            random.Random(seed).shuffle(shuffled)
            found = replay(objectives[::-1], {DATASET: Facts(writes=tuple(shuffled))}, MONDAY, MONDAY + 21 * DAY)
            assert repr(found).encode() == repr(expected).encode()


class TestOccurrences:
    NULLS = Quality(metric="nullValues", column="a", unit="percent", operators={"mustBeLessThan": 5})

    def test_each_run_counts(self) -> None:
        found = judge(objective(self.NULLS, "0.5"), reports(0, 9, 9, 1), MONDAY + 4 * DAY)
        assert (found.outcome, found.since) == (Outcome.HOLDS, MONDAY + 3 * DAY + 12 * HOUR)
        assert [(one.start, one.end) for one in found.violations] == [
            (MONDAY + DAY + 12 * HOUR, MONDAY + 3 * DAY + 12 * HOUR)
        ]
        assert found.budget is not None
        assert (found.budget.total, found.budget.bad, found.budget.allowed) == (4, 2, 2)
        assert (found.observed, found.run) == ("1 %", run(3))

    def test_since_is_the_first_of_a_streak(self) -> None:
        found = judge(objective(self.NULLS), reports(0, 9, 9), MONDAY + 4 * DAY)
        assert (found.outcome, found.since) == (Outcome.VIOLATED, MONDAY + DAY + 12 * HOUR)

    def test_what_is_not_measured_is_not_good(self) -> None:
        other = replace(self.NULLS, column="b")
        found = judge(objective(other), reports(0, 9), MONDAY + 4 * DAY)
        assert (found.outcome, found.reason) == (Outcome.NOT_EVALUATED, "no run has measured it (dataQualityMetrics)")
        found = judge(objective(self.NULLS), Facts(), MONDAY)
        assert (found.outcome, found.reason) == (Outcome.NOT_EVALUATED, "no run has reported it")

    def test_an_alert_has_hysteresis(self) -> None:
        one = objective(self.NULLS, misses=(Misses(bad=2, of=3, notify=Notify.PAGE),))
        noon = MONDAY + 12 * HOUR
        found = judge(one, reports(9, 0, 9, 0, 9, 0, 0, 0, 0, 9), MONDAY + 20 * DAY)
        assert [(alert.start, alert.end) for alert in found.alerts] == [(noon + 2 * DAY, noon + 7 * DAY)]

    def test_a_measurement_and_a_check(self) -> None:
        one = objective(Measured(metric="sum", column="A", operators={"mustBeGreaterThan": 5}))
        assert judge(one, reports(9, 3), MONDAY + 4 * DAY).outcome is Outcome.VIOLATED
        one = objective(Check(assertion="not_null", column="a"))
        results = (
            CheckResult(name="not_null", column="A", held=True, time=MONDAY, run=run(1)),
            CheckResult(name="not_null", column="b", held=False, time=MONDAY + 1, run=run(1)),
            CheckResult(name="unique", column="a", held=False, time=MONDAY + 2, run=run(1)),
        )
        found = judge(one, Facts(checks=results), MONDAY + DAY)
        assert (found.outcome, found.since) == (Outcome.HOLDS, MONDAY)

    def test_maintenance_and_backfills_are_not_counted(self) -> None:
        upgrade = Maintenance(start=MONDAY + DAY, end=MONDAY + 2 * DAY, reason="upgrade")
        facts = replace(
            reports(0, 9, 9),
            writes=(
                Write(time=MONDAY, run=run(0), nominal=MONDAY),
                Write(time=MONDAY + 2 * DAY, run=run(2), nominal=MONDAY - 90 * DAY),
            ),
        )
        found = judge(objective(self.NULLS, maintenance=(upgrade,)), facts, MONDAY + 4 * DAY)
        assert found.outcome is Outcome.HOLDS
        assert found.budget is not None
        assert (found.budget.total, found.budget.suppressed) == (1, 2)

    def test_a_later_fact_is_not_known_before(self) -> None:
        facts = replace(
            reports(0, 9),
            writes=(
                Write(time=MONDAY + 12 * HOUR, run=run(0), nominal=MONDAY),
                Write(time=MONDAY + 9 * DAY, run=run(7), nominal=MONDAY + 8 * DAY),
            ),
        )
        assert judge(objective(self.NULLS), facts, MONDAY + DAY).outcome is Outcome.HOLDS
        assert judge(objective(self.NULLS), facts, MONDAY + 2 * DAY).outcome is Outcome.VIOLATED


class TestDeliveries:
    ONE = objective(Delivery(by=360), calendar=OFFICE, misses=(Misses(bad=1, of=1, notify=Notify.PAGE),))

    def test_a_late_delivery_mends_the_outcome_and_not_the_budget(self) -> None:
        """Deadlines are at 04:00 UTC: Tuesday's is met, Wednesday's is missed by two hours, Thursday's is met."""
        facts = writes(0, 1_440 + 180, 2 * 1_440 + 360, 3 * 1_440 + 200)
        deadline = MONDAY + 2 * DAY + 4 * HOUR
        found = judge(self.ONE, facts, deadline + HOUR)
        assert (found.outcome, found.since, found.observed) == (Outcome.VIOLATED, deadline, "no write")
        found = judge(self.ONE, facts, deadline + 3 * HOUR)
        assert (found.outcome, found.since) == (Outcome.HOLDS, deadline + 2 * HOUR)
        assert found.budget is not None
        assert (found.budget.bad, found.budget.total) == (1, 3)
        found = judge(self.ONE, facts, MONDAY + 3 * DAY + 12 * HOUR)
        assert found.outcome is Outcome.HOLDS
        assert [alert.start for alert in found.alerts] == [deadline]

    def test_what_came_too_late_does_not_count_for_the_next_deadline(self) -> None:
        facts = writes(0, 1_440 + 180, 2 * 1_440 + 360)
        found = judge(self.ONE, facts, MONDAY + 3 * DAY + 5 * HOUR)
        assert found.outcome is Outcome.VIOLATED
        assert found.since == MONDAY + 3 * DAY + 4 * HOUR

    def test_no_delivery_is_expected_on_closed_days(self) -> None:
        facts = writes(*(day * 1_440 + 180 for day in range(5)))
        assert judge(self.ONE, facts, MONDAY + 6 * DAY).outcome is Outcome.HOLDS
        assert judge(self.ONE, facts, MONDAY + 7 * DAY + 5 * HOUR).outcome is Outcome.VIOLATED


class TestSchemas:
    def columns(self, **types: str) -> tuple[tuple[str, str], ...]:
        return tuple(sorted(types.items()))

    def test_a_lost_column_and_a_changed_type_are_bad(self) -> None:
        seen = (
            SchemaSeen(time=MONDAY, columns=self.columns(a="int", b="text")),
            SchemaSeen(time=MONDAY + DAY, columns=self.columns(a="int", b="text", c="int")),
            SchemaSeen(time=MONDAY + 2 * DAY, columns=self.columns(a="text", c="int")),
        )
        found = judge(objective(SchemaStability()), Facts(schemas=seen), MONDAY + 3 * DAY)
        assert (found.outcome, found.since) == (Outcome.VIOLATED, MONDAY + 2 * DAY)
        assert found.observed == "b is missing; a is text, was int"
        found = judge(objective(SchemaStability(added=True)), Facts(schemas=seen), MONDAY + 3 * DAY)
        assert found.since == MONDAY + DAY
        found = judge(objective(SchemaStability()), Facts(schemas=seen[:1]), MONDAY + 3 * DAY)
        assert found.outcome is Outcome.HOLDS

    def test_a_change_is_bad_until_the_columns_are_back(self) -> None:
        before, after = self.columns(a="int", b="text"), self.columns(a="int")
        seen = (
            SchemaSeen(time=MONDAY, columns=before, last=MONDAY + 5 * DAY),
            SchemaSeen(time=MONDAY + DAY, columns=after, last=MONDAY + 2 * DAY),
        )
        written = tuple(Write(time=MONDAY + day * DAY, run=run(day), rows=100) for day in range(6))
        found = judge(objective(SchemaStability()), Facts(schemas=seen, writes=written), MONDAY + 5 * DAY)
        assert (found.outcome, found.since) == (Outcome.HOLDS, MONDAY + 3 * DAY)
        assert [(one.start, one.end) for one in found.violations] == [(MONDAY + DAY, MONDAY + 3 * DAY)]
        assert not found.open_alerts
        found = judge(objective(SchemaStability()), Facts(schemas=seen, writes=written), MONDAY + 2 * DAY)
        assert (found.outcome, found.since) == (Outcome.VIOLATED, MONDAY + DAY)

    @pytest.mark.parametrize("written", [(), (0, 3, 4)])
    def test_further_reports_do_not_move_the_time_at_which_columns_were_back(self, written: tuple[int, ...]) -> None:
        before, after = self.columns(a="int", b="text"), self.columns(a="int")
        other = SchemaSeen(time=MONDAY + DAY, columns=after, last=MONDAY + 2 * DAY)
        runs = tuple(Write(time=MONDAY + day * DAY, run=run(day)) for day in written)
        ends = [
            judge(
                objective(SchemaStability()),
                Facts(schemas=(SchemaSeen(time=MONDAY, columns=before, last=MONDAY + day * DAY), other), writes=runs),
                MONDAY + day * DAY,
            ).since
            for day in (4, 5, 9)
        ]
        assert ends == [MONDAY + (3 * DAY if written else 2 * DAY + 1)] * 3

    def test_the_past_does_not_know_that_columns_come_back(self) -> None:
        seen = (
            SchemaSeen(time=MONDAY, columns=self.columns(a="int", b="text"), last=MONDAY + 5 * DAY),
            SchemaSeen(time=MONDAY + DAY, columns=self.columns(a="int"), last=MONDAY + DAY),
        )
        facts = Facts(schemas=seen, writes=tuple(Write(time=MONDAY + day * DAY, run=run(day)) for day in (0, 1, 3)))
        outcomes = [judge(objective(SchemaStability()), facts, MONDAY + day * DAY).outcome for day in (1, 2, 3)]
        assert outcomes == [Outcome.VIOLATED, Outcome.VIOLATED, Outcome.HOLDS]

    def test_further_changes_are_compared_with_the_last_good_columns(self) -> None:
        seen = (
            SchemaSeen(time=MONDAY, columns=self.columns(a="int", b="text"), last=MONDAY),
            SchemaSeen(time=MONDAY + DAY, columns=self.columns(a="int"), last=MONDAY + DAY),
            SchemaSeen(time=MONDAY + 2 * DAY, columns=self.columns(a="int", c="int"), last=MONDAY + 3 * DAY),
        )
        found = judge(objective(SchemaStability()), Facts(schemas=seen), MONDAY + 3 * DAY)
        assert (found.outcome, found.since, found.observed) == (Outcome.VIOLATED, MONDAY + DAY, "b is missing")


def test_a_short_history_is_still_learned() -> None:
    written = tuple(Write(time=MONDAY + day * DAY, run=run(day), rows=100) for day in range(10))
    found = judge(objective(Volume()), Facts(writes=written), MONDAY + 10 * DAY)
    assert (found.outcome, found.reason) == (Outcome.LEARNING, "the history has 9 of 14 runs")
