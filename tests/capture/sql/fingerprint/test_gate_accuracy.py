"""The figures of `make accuracy-gate` on the corpus that somebody else wrote: none falls below its floor."""

from functools import cache

import pytest

from capture.sql.fingerprint.gate_accuracy import (
    FLOORS,
    FLOORS_WITHOUT_KEYS,
    Verdict,
    declared_keys,
    figures,
    verdicts,
)


@cache
def scored(has_keys: bool) -> list[Verdict]:
    return list(verdicts(declared_keys() if has_keys else {}))


@pytest.mark.parametrize("figure", FLOORS)
@pytest.mark.parametrize("has_keys", [True, False])
def test_a_figure_is_not_below_its_floor(figure: str, has_keys: bool) -> None:
    right, whole = figures(scored(has_keys))[figure]
    assert whole > 80
    assert right >= (FLOORS if has_keys else FLOORS_WITHOUT_KEYS)[figure] * whole


def test_every_change_of_the_corpus_has_a_reason_and_a_file() -> None:
    changes = [change for one in scored(True) for change in one.changes]
    assert len(changes) > 400
    assert all(change.reason and change.file for change in changes)
