"""From when until when rules are violated: what an evaluation of everything at every time says, and golden pairs."""

import json
import random
from collections.abc import Mapping
from dataclasses import replace

from whence.govern.contracts.evaluation.judge import judge_rules
from whence.govern.contracts.evaluation.observations import ObservedData
from whence.govern.contracts.evaluation.quality import CheckResult, Report
from whence.govern.contracts.evaluation.service_levels import LastWrite
from whence.govern.contracts.evaluation.transitions import judge_columns
from whence.govern.contracts.evaluation.verdicts import Outcome
from whence.govern.contracts.evaluation.violations import ObservedHistory, find_violations
from whence.model.graph import SchemaRow
from whence.model.names import DatasetName
from whence.query.history.schemas import columns_of, schema_at
from whence.query.lookup.contracts import (
    ContractedDataset,
    ContractVersion,
    PromisedColumn,
    PromisedLevel,
    PromisedRule,
)

MINUTE, END = 60_000_000, 40
NAME = DatasetName("postgres://prod:5432", "shop.\u202eorders\x1b[31m")
TYPES = ("integer", "string", "")


def version(at: int, **members: object) -> ContractVersion:
    made = ContractVersion(id="shop", version="1", applied_at=at * MINUTE)
    return replace(made, **members)  # type: ignore[arg-type]  # of any kind


def schema(number: int, first: int, last: int, columns: Mapping[str, str]) -> SchemaRow:
    payload = json.dumps({"fields": [{"name": name, "type": type_} for name, type_ in columns.items()]})
    return SchemaRow(1, number, first * MINUTE, 0, last * MINUTE, 0, payload)


def random_version(chance: random.Random, at: int) -> ContractVersion:
    columns = [
        PromisedColumn(name=name, logical_type=chance.choice(TYPES), required=chance.random() < 0.5)
        for name in chance.sample(("ID", "b", "c"), chance.randrange(4))
    ]
    rules = [
        PromisedRule(name="no gaps", column=chance.choice(("", "b"))),
        PromisedRule(name="few nulls", column="b", metric="nullValues", operators={"mustBeLessThan": 3}),
        PromisedRule(name="rows", metric="rowCount", operators={"mustBeGreaterThan": 5}),
        PromisedRule(name="never", metric="invalidValues", operators={"mustBe": 0}),
    ]
    levels = [PromisedLevel(property="freshness", value=chance.randrange(1, 6), unit="minutes")]
    return version(
        at,
        version=chance.choice(("1", "2", "")),
        columns=tuple(columns),
        rules=tuple(chance.sample(rules, chance.randrange(5))),
        levels=tuple(levels * chance.randrange(2)),
    )


def random_history(chance: random.Random) -> ObservedHistory:
    schemas = []
    for number in range(chance.randrange(4)):
        first = chance.randrange(END)
        columns = {name: chance.choice(("int", "text", "odd")) for name in chance.sample(("id", "b", "C"), 2)}
        schemas.append(schema(number, first, chance.randrange(first, END), columns))
    reports = [
        Report(time=chance.randrange(END) * MINUTE, run=None, numbers=dict(chance.sample(NUMBERS, chance.randrange(4))))
        for _ in range(chance.randrange(10))
    ]
    checks = [
        CheckResult(
            name=chance.choice(("no gaps", "rows")),
            column=chance.choice(("", "B")),
            held=chance.random() < 0.5,
            time=chance.randrange(END) * MINUTE,
            run=None,
        )
        for _ in range(chance.randrange(6))
    ]
    writes = [LastWrite(chance.randrange(END) * MINUTE, None) for _ in range(chance.randrange(8))]
    return ObservedHistory(
        schemas=tuple(schemas),
        reports=tuple(sorted(reports, key=lambda one: -one.time)),
        checks=tuple(sorted(checks, key=lambda one: -one.time)),
        writes=tuple(sorted(writes, key=lambda one: one.time)),
    )


NUMBERS = [(("b", "nullCount"), 2), (("b", "nullCount"), 7), (("", "rowCount"), 3), (("", "rowCount"), 9)]


def violated_at(held: ContractVersion | None, seen: ObservedHistory, time: int) -> Mapping[tuple[str, str], Outcome]:
    """Everything that an evaluation of the whole contract at a time says."""
    if held is None:
        return {}
    written = [one for one in seen.writes if one.time <= time]
    data = ObservedData(
        columns=columns_of(schema_at(seen.schemas, time)),
        reports=tuple(one for one in seen.reports if one.time <= time),
        checks=tuple(one for one in seen.checks if one.time <= time),
        written=written[-1] if written else None,
    )
    verdicts = (*judge_columns(held, data.columns), *judge_rules(held, data, time))
    return {(one.rule, one.column.casefold()): one.outcome for one in verdicts}


def test_they_are_what_evaluations_at_every_time_say() -> None:
    compared = 0
    for seed in range(200):
        chance = random.Random(seed)
        begins = chance.sample(range(END), chance.randrange(1, 4))
        versions = sorted((random_version(chance, at) for at in begins), key=lambda one: -one.applied_at)
        contract, seen = ContractedDataset(name=NAME, versions=tuple(versions)), random_history(chance)
        found = find_violations(contract, seen, END * MINUTE)
        expected = set[tuple[str, str]]()
        for time in (one * MINUTE + late for one in range(END) for late in (0, 1)):
            outcomes = violated_at(contract.at(time), seen, time)
            unknown = {key for key, one in outcomes.items() if one is Outcome.NOT_EVALUATED}
            wrong = {key for key, one in outcomes.items() if one is Outcome.VIOLATED}
            expected = wrong | (expected & unknown)
            open_ones = [one for one in found if one.since <= time and (one.until is None or time < one.until)]
            assert {(one.verdict.rule, one.verdict.column.casefold()) for one in open_ones} == expected, (seed, time)
            assert len(open_ones) == len(expected)
            then = [one for one in find_violations(contract, seen, time) if one.until is None]
            assert [(one.since, one.good_at) for one in then] == [(one.since, one.good_at) for one in open_ones]
            compared += len(expected)
    assert compared > 5_000


def test_a_report_that_arrives_late_begins_it_earlier_and_leaves_what_it_is() -> None:
    few = PromisedRule(name="few nulls", column="b", metric="nullValues", operators={"mustBe": 0})
    contract = ContractedDataset(name=NAME, versions=(version(1, rules=(few,)),))

    def at(time: int, nulls: int) -> Report:
        return Report(time=time * MINUTE, run=None, numbers={("b", "nullCount"): nulls})

    seen = ObservedHistory(reports=(at(9, 4), at(5, 0)))
    late = replace(seen, reports=(at(9, 4), at(7, 2), at(5, 0)))
    (one,) = find_violations(contract, seen, END * MINUTE)
    (other,) = find_violations(contract, late, END * MINUTE)
    assert (one.since, other.since) == (9 * MINUTE, 7 * MINUTE)
    assert one.good_at == other.good_at == 5 * MINUTE
    assert (one.verdict.expected, one.verdict.observed) == ("nullValues mustBe 0", "4")


def test_a_new_version_that_drops_the_rule_ends_it_and_one_that_keeps_it_does_not() -> None:
    ids = PromisedColumn(name="id", logical_type="integer")
    seen = ObservedHistory(schemas=(schema(1, 2, 30, {"id": "text"}),))
    kept = ContractedDataset(name=NAME, versions=(version(9, columns=(ids,)), version(1, columns=(ids,))))
    dropped = ContractedDataset(name=NAME, versions=(version(9), version(1, columns=(ids,))))
    ended = ContractedDataset(name=NAME, versions=(version(9, version=""), version(1, columns=(ids,))))
    spans = [
        [(one.since, one.until) for one in find_violations(contract, seen, END * MINUTE)]
        for contract in (kept, dropped, ended)
    ]
    assert spans == [[(2 * MINUTE, None)], [(2 * MINUTE, 9 * MINUTE)], [(2 * MINUTE, 9 * MINUTE)]]


def test_a_schema_that_comes_and_goes_leaves_what_it_is() -> None:
    """Of each schema only the first and the last report are known: the last one moves."""
    ids = PromisedColumn(name="id", logical_type="integer")
    contract = ContractedDataset(name=NAME, versions=(version(1, columns=(ids,)),))
    before = ObservedHistory(schemas=(schema(1, 1, 5, {"id": "int"}), schema(2, 6, 10, {"id": "text"})))
    after = ObservedHistory(schemas=(schema(1, 1, 12, {"id": "int"}), schema(2, 6, 10, {"id": "text"})))
    (one,) = find_violations(contract, before, END * MINUTE)
    (other,) = find_violations(contract, after, END * MINUTE)
    assert (one.since, one.until, one.good_at) == (6 * MINUTE, None, 0)
    assert (other.since, other.until, other.good_at) == (6 * MINUTE, 10 * MINUTE + 1, 0)
