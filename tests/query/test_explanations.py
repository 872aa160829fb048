"""What flows where, and what a possible cause explains: what is well beside the way counts against it."""

import math
from dataclasses import replace

import pytest
from sqlalchemy import Engine

from bench.rca.incidents import FAULTS
from fixtures.stores_of_events import apply_bodies
from query.test_diagnosis import DAYS, LAST, ask, written
from query.worlds.revenue_story import job, table
from whence.model.access import Grant, Role, Viewer
from whence.model.names import DatasetName, FieldName
from whence.model.symptom import Symptom
from whence.query.diagnosis.case import Aspect, Candidate, Case, Series
from whence.query.diagnosis.features import features_of
from whence.query.diagnosis.flows import end_of, link_of, read_flows
from whence.query.diagnosis.ranking import Ranking, rank
from whence.query.diagnosis.signals import known_symptom_of, read_signals, symptom_of
from whence.query.diagnosis.weights import KINDS, WEIGHTS

DAY = 86_400_000_000
LEFT, RIGHT, WRONG, BESIDE = (table("prod", name) for name in ("raw.left", "raw.right", "gold.sum", "gold.beside"))


def test_a_filter_leads_rows_and_no_values_and_a_join_leads_both() -> None:
    raw, total = FieldName(LEFT, "id"), FieldName(WRONG, "total")
    links = [
        link_of(end_of(raw), end_of(total), "DIRECT", "IDENTITY"),
        link_of(end_of(FieldName(RIGHT, "ok")), end_of(WRONG), "INDIRECT", "FILTER"),
        link_of(end_of(FieldName(BESIDE, "id")), end_of(WRONG), "INDIRECT", "JOIN"),
    ]
    flows = read_flows(one for one in links if one is not None)
    assert flows.value_parents[WRONG] == {LEFT, BESIDE}
    assert flows.row_parents[WRONG] == {RIGHT, BESIDE}
    assert flows.value_columns(WRONG, "total") == {WRONG: ("total",), LEFT: ("id",), BESIDE: ("id",)}
    assert flows.value_columns(WRONG, "other") == {WRONG: ("other",), BESIDE: ("id",)}


def test_lineage_of_whole_datasets_leads_both_unless_columns_are_known() -> None:
    whole = [link_of((LEFT, ""), (WRONG, ""), "UNKNOWN", "")]
    column = link_of((RIGHT, "a"), (WRONG, "total"), "DIRECT", "IDENTITY")
    flows = read_flows(one for one in whole if one is not None)
    assert flows.value_parents[WRONG] == flows.row_parents[WRONG] == {LEFT}
    assert flows.value_columns(WRONG, "") == {WRONG: None, LEFT: None}
    flows = read_flows(one for one in [*whole, column] if one is not None)
    assert flows.value_parents[WRONG] == {RIGHT}
    assert flows.row_parents[WRONG] == {LEFT, RIGHT}


def test_a_dataset_is_no_way_to_itself_and_a_job_is_none() -> None:
    assert link_of((LEFT, "a"), (LEFT, "b"), "DIRECT", "") is None
    assert link_of(end_of(job("prod", "one")), (LEFT, "b"), "DIRECT", "") is None
    assert link_of(None, (LEFT, "b"), "DIRECT", "") is None


def counted(*newest: float) -> tuple[Series, ...]:
    """A share of missing values: a month of 1 to 3 %, and then the newest."""
    shares = [0.01 + 0.01 * (day % 3) for day in range(30)] + list(newest)
    points = tuple((day * DAY, share) for day, share in enumerate(shares))
    return (Series(aspect=Aspect.NULLS, metric="nullCount", points=points, column="c"),)


def case_of(*others: Candidate, symptom: Symptom | None = Symptom.NULLS) -> Case:
    """Nulls at a dataset of two sources that nobody measures."""
    return Case(
        since=29 * DAY + 1,
        until=30 * DAY,
        symptom=symptom,
        candidates=(
            Candidate(key=0, distance=0, parents=(1, 2), value_parents=(1, 2), row_parents=(1, 2), series=counted(0.5)),
            Candidate(key=1, distance=1, columns=("c",)),
            Candidate(key=2, distance=1, columns=("c",)),
        ),
        others=others,
    )


def beside(source: int, newest: float) -> Candidate:
    return Candidate(
        key=3 + source,
        distance=0,
        parents=(source,),
        value_parents=(source,),
        row_parents=(source,),
        series=counted(newest),
        value_columns=("c",),
    )


def probability(ranking: Ranking, key: int) -> float:
    return next(one.probability for one in ranking.ranked if one.candidate.key == key)


def test_a_well_dataset_beside_the_way_speaks_against_its_source_and_a_wrong_one_for_it() -> None:
    neither, well, wrong = rank(case_of()), rank(case_of(beside(1, 0.02))), rank(case_of(beside(1, 0.5)))
    assert probability(neither, 1) == pytest.approx(probability(neither, 2))
    assert probability(well, 1) < 0.5 * probability(well, 2)
    assert probability(wrong, 1) > 2 * probability(wrong, 2)
    for one in (neither, well, wrong):
        assert math.fsum(each.probability for each in one.ranked) == pytest.approx(1)


def test_each_feature_has_a_weight_for_each_kind_of_fault() -> None:
    names, rows = features_of(read_signals(case_of(beside(1, 0.5))))
    assert list(names) == list(WEIGHTS)
    assert rows.shape == (3, len(names))
    assert {len(several) for several in WEIGHTS.values()} == {len(FAULTS)}
    assert KINDS == FAULTS


def test_without_a_symptom_and_anything_unusual_none_is_known() -> None:
    calm = replace(case_of(symptom=None), candidates=(Candidate(key=0, distance=0, series=counted(0.02)),))
    assert known_symptom_of(read_signals(calm)) is None
    assert symptom_of(read_signals(calm)) is Symptom.VALUES
    assert known_symptom_of(read_signals(case_of(symptom=None))) is Symptom.NULLS


def test_columns_beside_that_the_source_does_not_feed_say_nothing() -> None:
    unfed = Candidate(key=4, distance=0, parents=(1,), row_parents=(1,), series=counted(0.02), value_columns=())
    found = rank(case_of(unfed))
    assert probability(found, 1) == pytest.approx(probability(found, 2), rel=0.05)


def test_a_cycle_and_a_score_beyond_all_bounds_have_an_answer() -> None:
    points = tuple((day * DAY, 1e-9 if day < 30 else 1e18) for day in range(31))
    huge = (Series(aspect=Aspect.VALUES, metric="mean", points=points, column="c"),)
    ring = Case(
        since=29 * DAY + 1,
        until=30 * DAY,
        symptom=None,
        candidates=(
            Candidate(key=0, distance=0, parents=(1,), value_parents=(1,), row_parents=(1,), series=huge),
            Candidate(key=1, distance=1, parents=(0,), value_parents=(0,), row_parents=(0,)),
        ),
    )
    found = rank(ring)
    assert math.fsum(one.probability for one in found.ranked) == pytest.approx(1)


def story(beside: DatasetName, environment: str) -> list[bytes]:
    """Two sources of a sum, both unmeasured, of which the sum has nulls on the last day; another reader is well."""
    left, right = FieldName(LEFT, "a"), FieldName(RIGHT, "b")
    events = []
    for day in range(DAYS):
        at, few = 24 * day, 10 + day % 3
        nulls = 600 if day == DAYS - 1 else few
        events += [
            written(job("prod", "left"), at + 1, LEFT, "a", "int", None),
            written(job("prod", "right"), at + 2, RIGHT, "b", "int", None),
            written(job("prod", "sum"), at + 3, WRONG, "total", "int", nulls, (left, right)),
            written(job(environment, "beside"), at + 4, beside, "c", "int", few, (left,)),
        ]
    return events


def chances(store: Engine, viewer: Viewer | None = None) -> dict[DatasetName, float]:
    found = ask(store, FieldName(WRONG, "total"), viewer=viewer, period=LAST)
    return {one.dataset: one.probability for one in found.causes}


def test_the_store_gives_what_is_beside_the_way(store: Engine) -> None:
    apply_bodies(store, story(BESIDE, "prod"))
    found = chances(store)
    assert found.keys() == {LEFT, RIGHT, WRONG}
    assert found[LEFT] < 0.8 * found[RIGHT]


def test_a_hidden_dataset_beside_the_way_tells_nothing(store: Engine) -> None:
    apply_bodies(store, story(DatasetName("postgres://secret:5432", "hidden.payroll"), "staging"))
    ada = Viewer(
        name="user:ada",
        grants=(Grant(Role.READER, "postgres://prod:5432"), Grant(Role.READER, "spark-prod")),
    )
    shown, everything = chances(store, ada), chances(store)
    assert shown[LEFT] == pytest.approx(shown[RIGHT], abs=0.1)
    assert everything[LEFT] < 0.8 * everything[RIGHT]
