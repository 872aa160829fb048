"""The figures of `make accuracy-gate` on the corpus that somebody else wrote: none falls below its floor."""

from functools import cache

import pytest

from capture.sql.fingerprint.gate_accuracy import FLOORS, Verdict, figures, verdicts


@cache
def scored() -> list[Verdict]:
    return list(verdicts())


@pytest.mark.parametrize("figure", FLOORS)
def test_a_figure_is_not_below_its_floor(figure: str) -> None:
    right, whole = figures(scored())[figure]
    assert whole > 80
    assert right >= FLOORS[figure] * whole


def test_every_change_of_the_corpus_has_a_reason_and_a_file() -> None:
    changes = [change for one in scored() for change in one.changes]
    assert len(changes) > 400
    assert all(change.reason and change.file for change in changes)
