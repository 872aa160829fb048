"""What must hold of a log and the store derived from it."""

from collections import Counter
from collections.abc import Iterable

from sqlalchemy import Engine

from oracle import comparable, unjudged
from oracle import dump as oracle_dump
from whence.log import Kind, Record
from whence.store.lifecycle.dump import dump
from whence.store.status.ledger import Ledger, read_all_receipts, read_ledger

SHOWN = 5


def assert_ledger_balances(engine: Engine, records: list[Record]) -> None:
    """Every record has one outcome: a key is applied once, else a duplicate; what is refused has a reason."""
    expected, seen = {}, set[str]()
    for one in records:
        is_event = one.kind is not Kind.QUARANTINED
        expected[one.position.as_int] = (
            ("duplicate" if one.key in seen else "applied") if is_event else "quarantined",
            one.key,
            "" if is_event else f"{one.pointer or '/'}: {one.reason}",
        )
        if is_event:
            seen.add(one.key)
    stored = {one.position: (one.outcome, one.key, one.reason) for one in read_all_receipts(engine)}
    assert differences(expected.items(), stored.items()) == []
    counts = Counter(outcome for outcome, _, _ in expected.values())
    assert read_ledger(engine) == Ledger(**counts)
    assert all(reason for outcome, _, reason in stored.values() if outcome == "quarantined")


def assert_state_is_the_oracles(engine: Engine, records: list[Record]) -> None:
    """The dump is that of the plain-Python fold over all that was accepted."""
    expected = oracle_dump(one.payload for one in records if one.kind is Kind.EVENT)
    jobs = unjudged(expected)
    assert differences(comparable(dump(engine), jobs), comparable(expected, jobs)) == []


def differences(some: Iterable[object], others: Iterable[object]) -> list[str]:
    """The first few elements that only one of both has: readable where a diff of long lists is not."""
    left, right = Counter(some), Counter(others)
    return [f"only left: {one}" for one in list(left - right)[:SHOWN]] + [
        f"only right: {one}" for one in list(right - left)[:SHOWN]
    ]
