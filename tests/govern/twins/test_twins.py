"""Twins: the same values by other ways, names and aliases are found; another formula, source or filter is not."""

from typing import Any

import pytest

from whence.govern.twins.derivations import Step
from whence.govern.twins.twins import Reader, TwinGraph, find_twins
from whence.model.names import DatasetName, FieldName
from whence.model.traits import Traits

RAW, STAGE, ONE, TWO, BOARD = (DatasetName("s3://x", name) for name in ("raw", "stage", "[b]one\x1b", "two", "board"))


def of(dataset: DatasetName, column: str) -> FieldName:
    return FieldName(dataset, column)


def total(source: FieldName, formula: str = "SUM(o.amount)", subtype: str = "AGGREGATION") -> Step:
    return Step(source, "DIRECT", subtype, False, formula)


def copy(source: FieldName) -> Step:
    return Step(source, "DIRECT", "IDENTITY", False, source.field)


FILTER = Step(of(RAW, "state"), "INDIRECT", "FILTER", False, "o.state = 'paid'")
SAME = (total(of(STAGE, "money"), "sum(s.money)"), FILTER)


def graph(*steps: Step, **more: Any) -> TwinGraph:
    known = {
        of(ONE, "total"): (total(of(RAW, "amount")), FILTER),
        of(STAGE, "money"): (copy(of(RAW, "amount")),),
        of(TWO, "sum"): steps,
    }
    columns = {*known, of(RAW, "amount"), of(RAW, "state")}
    return TwinGraph(steps=known, columns=columns, **{"traits": {}, **more})


def test_ways_names_and_aliases_do_not_matter() -> None:
    (found,) = find_twins(graph(*SAME))
    assert (found.datasets, found.columns, found.preferred) == ((ONE, TWO), 1, ())
    assert found.sources == (of(RAW, "amount"), of(RAW, "state"))
    (copied,) = find_twins(graph(copy(of(ONE, "total"))))
    assert copied.datasets == (ONE, TWO)


@pytest.mark.parametrize(
    "steps",
    [
        (total(of(STAGE, "money"), "avg(s.money)"), FILTER),
        (total(of(STAGE, "money"), "sum(s.money)"),),
        (total(of(STAGE, "money"), "sum(s.money)"), Step(of(RAW, "state"), "INDIRECT", "FILTER", False, "state = 'x'")),
        (total(of(RAW, "state"), "sum(o.state)"), FILTER),
        (copy(of(RAW, "amount")),),
    ],
)
def test_another_formula_filter_or_source_is_no_twin(steps: tuple[Step, ...]) -> None:
    assert find_twins(graph(*steps)) == []


def test_what_is_not_known_is_no_twin() -> None:
    assert find_twins(graph(*SAME, unreported={of(TWO, "sum")})) == []
    assert find_twins(graph(*SAME, unreported={ONE})) == []


def test_circles_and_long_ways_end() -> None:
    far = {of(RAW, f"c{n}"): (copy(of(RAW, f"c{n + 1}")),) for n in range(5_000)}
    circle = {of(ONE, "a"): (copy(of(ONE, "b")),), of(ONE, "b"): (copy(of(ONE, "a")),)}
    assert find_twins(TwinGraph(steps={**far, **circle}, columns={*far, *circle}, traits={})) == []


def test_who_reads_a_twin_that_is_not_preferred() -> None:
    tagged = {ONE: Traits(tags=frozenset({("canonical", "true", "")})), BOARD: Traits(types=frozenset({"DASHBOARD"}))}
    inputs = {(TWO, BOARD), (ONE, BOARD), (RAW, ONE)}
    (found,) = find_twins(graph(*SAME, traits=tagged, inputs=inputs))
    assert (found.preferred, found.readers) == ((ONE,), (Reader(reader=BOARD, twin=TWO),))
    (nobody,) = find_twins(graph(*SAME, traits={BOARD: tagged[BOARD]}, inputs=inputs))
    assert nobody.readers == ()
    (certified,) = find_twins(graph(*SAME, traits={BOARD: tagged[BOARD]}, inputs=inputs, certified={TWO}))
    assert certified.readers == (Reader(reader=BOARD, twin=ONE),)
