"""What a gate recorded is the same in whatever order and however often the events arrive, and after retention."""

import json
import random
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Engine

from fixtures.readings_of_events import empty
from fixtures.stores_of_events import apply_accepted
from oracle import comparable
from oracle import dump as oracle_dump
from whence.govern.assertions import assert_facets
from whence.govern.gate.records import (
    approval_facets,
    approvals_of,
    find_promotion,
    find_verdict,
    list_records,
    promotion_facets,
    verdict_facets,
    waiver_facets,
    waivers_of,
)
from whence.govern.retention import Limits, apply_plan, compute_horizon
from whence.model.catalog import RegistryKind, Window
from whence.model.gate_records import WaiverRecord, approval_dataset, promotion_dataset, verdict_dataset, waiver_dataset
from whence.model.names import DatasetName
from whence.openlineage.accept import Accepted, accept
from whence.openlineage.authority.restrictions import person_uri
from whence.store.connection.engine import reading
from whence.store.lifecycle.dump import dump
from whence.store.snapshots.catalog import StoreCatalog

REPOSITORY, LONG_AGO = "github.com/shop/pipeline", 1_600_000_000_000_000
MODEL = DatasetName("s3://models", "churn/v1")
WAIVER = WaiverRecord(reason="known", expires="2027-01-31")


def accepted_event(at: int, person: str, subject: DatasetName, facets: Mapping[str, Any]) -> Accepted:
    event = assert_facets(subject, LONG_AGO + at, person_uri(person), facets)
    return accept(json.dumps(event).encode())


def events() -> list[Accepted]:
    made = [
        accepted_event(
            1, "key:gate", verdict_dataset(REPOSITORY, "a"), verdict_facets({"verdict": "blocked", "commit": "a"})
        ),
        accepted_event(
            2, "key:gate", verdict_dataset(REPOSITORY, "b"), verdict_facets({"verdict": "note", "commit": "b"})
        ),
        accepted_event(
            3, "key:gate", verdict_dataset(REPOSITORY, "a"), verdict_facets({"verdict": "pass", "commit": "a"})
        ),
        accepted_event(
            4, "key:gate", verdict_dataset("github.com/x/pipeline", "a"), verdict_facets({"verdict": "note"})
        ),
        accepted_event(5, "user:bob", waiver_dataset(REPOSITORY, "C-1"), waiver_facets(WAIVER)),
        accepted_event(6, "user:bob", waiver_dataset(REPOSITORY, "C-2"), waiver_facets(WAIVER)),
        accepted_event(7, "user:eve", waiver_dataset(REPOSITORY, "C-2"), waiver_facets(None)),
    ]
    for at, text in ((12, "blocked"), (13, "pass")):
        facets = promotion_facets({"verdict": text, "node": str(MODEL)})
        made.append(accepted_event(at, "key:gate", promotion_dataset(MODEL), facets))
    for at, person, subject, approves in (
        (8, "user:bob", "user:bob", True),
        (9, "user:ann", "user:ann", True),
        (10, "user:ann", "user:ann", False),
        (11, "user:eve", "user:mallory", True),
    ):
        made.append(
            accepted_event(at, person, approval_dataset(REPOSITORY, "a", subject), approval_facets(approves=approves))
        )
    return made


def known(engine: Engine) -> object:
    """All that a store says of the repository."""
    with reading(engine) as connection:
        catalog = StoreCatalog(connection)
        found = find_verdict(catalog, REPOSITORY, "a")
        first = list_records(catalog, RegistryKind.VERDICT, "", Window(limit=2))
        after = (first[-1].time, first[-1].name.name)
        rest = list_records(catalog, RegistryKind.VERDICT, "", Window(limit=2, after=after))
        promoted = find_promotion(catalog, MODEL)
        return (
            promoted and json.loads(promoted.payload)["verdict"],
            found and json.loads(found.payload)["verdict"],
            [(one.person, one.commit) for one in approvals_of(catalog, REPOSITORY, "a")],
            [(one.change, one.owner, one.expires.isoformat()) for one in waivers_of(catalog, REPOSITORY)],
            [one.name.name for one in (*first, *rest)],
        )


EXPECTED = (
    "pass",
    "pass",
    [("user:bob", "a")],
    [("C-1", "user:bob", "2027-01-31")],
    [f"gate-verdict/{one}" for one in ("a/github.com/x/pipeline", "a/github.com/shop/pipeline", "b/" + REPOSITORY)],
)


def test_any_order_any_repetition_one_state(store: Engine) -> None:
    whole = events()
    for seed in range(6):
        dice = random.Random(seed)
        order = whole + dice.sample(whole, 4)
        dice.shuffle(order)
        empty(store)
        for start in range(0, len(order), 5):
            apply_accepted(store, order[start : start + 5], 1 + start)
        assert known(store) == EXPECTED
        assert comparable(dump(store)) == comparable(oracle_dump([one.payload for one in order]))


def test_retention_keeps_what_is_recorded(store: Engine) -> None:
    apply_accepted(store, events())
    apply_plan(store, compute_horizon(Limits(), 1_795_154_400_000_000))
    assert known(store) == EXPECTED
