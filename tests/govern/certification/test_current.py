"""Certification in a store: what each fact decides, and as of a time the same as a store that ends there."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from sqlalchemy import Engine

from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply_bodies
from govern.certification.shop_story import (
    BOARD,
    DAY,
    DEV,
    PROD,
    REVENUE,
    RULES,
    TESTED,
    TRIAL,
    contracted,
    fulfilled,
    objective,
    owned,
    raw,
    ruled,
    written,
)
from whence.govern.certification.current import CertifiedDataset, certify
from whence.govern.certification.judge import Outcome
from whence.govern.certification.rules_file import read_certification
from whence.model.names import DatasetName
from whence.store.connection.engine import reading, sqlite_url
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import StoreGraph

NOW = 1_790_000_000_000_000


def certified(engine: Engine, name: DatasetName, at: int | None = None, now: int = NOW) -> CertifiedDataset:
    with reading(engine) as connection:
        (found,) = certify(StoreCatalog(connection), StoreGraph(connection), [name], now, at)
    return found


def outcomes(found: CertifiedDataset) -> dict[str, tuple[str, str]]:
    return {one.requirement: (one.outcome.value, one.text) for rule in found.found.rules for one in rule.requirements}


def test_a_dataset_that_fulfils_everything_is_certified(store: Engine) -> None:
    apply_bodies(store, [*fulfilled(REVENUE, NOW), *ruled(NOW - DAY)])
    found = certified(store, REVENUE)
    assert found.found.status == "certified", outcomes(found)
    assert outcomes(found) == {
        "owner": ("met", "owned by team:shop"),
        "contract": ("met", "contract version 1.0.0 holds"),
        "lineage": ("met", "the sources of 100.0% of 1 columns upstream are known"),
        "objectives": ("met", "its objective met for 30 days"),
        "checks": ("met", "1 check passed last"),
    }
    assert certified(store, BOARD).found.status == "no rule"
    assert certified(store, raw(REVENUE)).found.status == "no rule"
    assert certified(store, REVENUE, NOW - 2 * DAY).found.status == "no rule"  # before the rule


CHANGES: dict[str, tuple[Callable[[int], bytes], str, str]] = {
    "nobody owns it": (lambda at: owned(REVENUE, at), "owner", "not met"),
    "a column is promised that is not there": (
        lambda at: contracted(REVENUE, at, "2.0.0", "vat"),
        "contract",
        "not met",
    ),
    "a check failed last": (lambda at: written(REVENUE, at, 99, good=False), "checks", "not met"),
    "a job writes it without columns": (lambda at: written(REVENUE, at, 99, columns=False), "lineage", "not met"),
    "the objective is stricter": (lambda at: objective(REVENUE, at, "1h"), "objectives", "not met"),
}


@pytest.mark.parametrize("story", CHANGES)
def test_each_requirement_lapses_alone_and_the_past_stays(story: str, store: Engine) -> None:
    change, requirement, outcome = CHANGES[story]
    apply_bodies(store, [*fulfilled(REVENUE, NOW), *ruled(NOW - 5 * DAY), change(NOW + 1_000)])
    later = certified(store, REVENUE, now=NOW + 2_000)
    assert later.found.status == "not certified"
    assert {name for name, (found, _) in outcomes(later).items() if found != "met"} == {requirement}
    assert outcomes(later)[requirement][0] == outcome
    before = certified(store, REVENUE, NOW + 500, NOW + 2_000)
    if requirement == "owner":  # who owned it before somebody else did is not kept
        assert outcomes(before)["owner"][0] == "not evaluated"
    else:
        assert before.found.status == "certified", outcomes(before)


def test_what_is_missing_is_not_met_and_what_is_young_is_not_evaluated(store: Engine) -> None:
    bodies = [written(TESTED, NOW - day * DAY, 200 + day) for day in range(10)]
    apply_bodies(store, [*bodies, objective(TESTED, NOW - DAY), written(TRIAL, NOW, 300, columns=False), *ruled(NOW)])
    found = outcomes(certified(store, TESTED))
    assert found["owner"] == ("not met", "nobody owns it")
    assert found["contract"] == ("not met", "it has no contract")
    assert found["objectives"] == ("not evaluated", "its objective: it is measured for 9 of 30 days")
    trial = outcomes(certified(store, TRIAL))
    assert trial["objectives"] == ("not met", "no objective is declared")
    assert trial["lineage"][0] == "not met"


def test_as_of_a_time_it_is_what_a_store_that_ends_there_says(store: Engine, tmp_path: Path) -> None:
    """The oracle: apply only the events until then. Owners are stated once: of earlier ones nothing is kept."""
    chance = random.Random(7)
    timed: list[tuple[int, bytes]] = [(NOW - 40 * DAY, owned(REVENUE, NOW - 40 * DAY, "team:shop"))]
    for number in range(60):
        at = NOW - 40 * DAY + number * 16 * DAY // 24
        timed.append((at, written(REVENUE, at, number, good=chance.random() < 0.8, columns=chance.random() < 0.8)))
    for at, body in [
        (NOW - 39 * DAY, objective(REVENUE, NOW - 39 * DAY)),
        (NOW - 5 * DAY, objective(REVENUE, NOW - 5 * DAY, "12h")),
        (NOW - 38 * DAY, contracted(REVENUE, NOW - 38 * DAY)),
        (NOW - 3 * DAY, contracted(REVENUE, NOW - 3 * DAY, "2.0.0", "vat")),
        *((NOW - 37 * DAY, body) for body in ruled(NOW - 37 * DAY)),
    ]:
        timed.append((at, body))
    apply_bodies(store, [body for _, body in timed])
    seen = set[str]()
    for round_ in range(12):
        at = NOW - chance.randrange(40 * DAY)
        ended = open_migrated(sqlite_url(tmp_path / f"ended{round_}.db"))
        apply_bodies(ended, [body for time, body in timed if time <= at])
        then, rebuilt = certified(store, REVENUE, at), certified(ended, REVENUE, now=at)
        assert then == rebuilt, at
        seen |= {each.text for rule in then.found.rules for each in rule.requirements}
        ended.dispose()
    assert len(seen) > 8  # the times differ


def test_all_rules_that_apply_have_to_hold_in_any_order(store: Engine) -> None:
    several = f"""\
version: 1
rules:
  - {{name: z, namespaces: ["{PROD}"], require: {{contract: false, checks: false, objectives: false, lineage: false}}}}
  - {{name: a, namespaces: ["{PROD}"], where: {{tag: [gold]}}}}
  - {{name: b, namespaces: ["{PROD}"], require: {{lineage: 50%}}}}
"""
    apply_bodies(store, [owned(REVENUE, NOW, "ada"), *ruled(NOW, several)])
    found = certified(store, REVENUE)
    assert [one.rule.name for one in found.found.rules] == ["b", "z"]
    assert found.found.status == "not certified"
    assert found.found.with_outcome(Outcome.MET) == ("owner",)
    rules: Sequence[object] = read_certification(RULES)
    assert len(rules) == 1
    assert DEV in RULES


def test_many_datasets_are_certified_as_each_of_them_is_alone(
    sqlite_store: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of many, the lineage is read once for all."""
    names = [TESTED, REVENUE, TRIAL, raw(REVENUE), BOARD]
    hole = written(TRIAL, NOW - DAY, 98, columns=False)
    apply_bodies(sqlite_store, [*fulfilled(REVENUE, NOW), *fulfilled(TESTED, NOW, first=400), hole, *ruled(NOW - DAY)])
    alone = [certified(sqlite_store, one) for one in names]
    assert {"certified", "not certified", "no rule"} <= {one.found.status for one in alone}
    monkeypatch.setattr("whence.govern.certification.current.AT_ONCE", 2)
    with reading(sqlite_store) as connection:
        assert list(certify(StoreCatalog(connection), StoreGraph(connection), names, NOW)) == alone
