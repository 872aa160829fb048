"""The figures of `make accuracy-gate` on the corpora of edits: none falls below its floor."""

from functools import cache

import pytest

from capture.sql.fingerprint.gate_accuracy import CORPORA, FLOORS
from capture.sql.fingerprint.verdicts import Verdict, figures


@cache
def scored(name: str) -> list[Verdict]:
    return list(CORPORA[name]())


@pytest.mark.parametrize("name", CORPORA)
def test_no_figure_is_below_its_floor(name: str) -> None:
    found = figures(scored(name))
    assert sum(whole for _, whole in list(found.values())[:2]) > 80
    assert [figure for figure, (right, whole) in found.items() if right < FLOORS[name][figure] * whole] == []


@pytest.mark.parametrize("name", CORPORA)
def test_every_change_of_a_corpus_has_a_reason_and_a_file(name: str) -> None:
    changes = [change for one in scored(name) for change in one.changes]
    assert len(changes) >= sum(not one.is_harmless for one in scored(name))
    assert all(change.reason and change.file for change in changes)
