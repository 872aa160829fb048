"""The figures of `make accuracy-gate` on the corpora of edits: none falls below its floor."""

import pytest

from capture.sql.fingerprint.gate_accuracy import CORPORA, FLOORS, NOT_SCORED_YET
from capture.sql.fingerprint.verdicts import figures


@pytest.mark.parametrize("name", [name for name in CORPORA if name not in NOT_SCORED_YET])
def test_no_figure_is_below_its_floor_and_every_change_has_a_reason(name: str) -> None:
    scored = list(CORPORA[name]())
    found = figures(scored)
    assert sum(whole for _, whole in list(found.values())[:2]) > 80
    assert [figure for figure, (right, whole) in found.items() if right < FLOORS[name][figure] * whole] == []
    changes = [change for one in scored for change in one.changes]
    assert len(changes) >= sum(not one.is_harmless for one in scored)
    assert all(change.reason and change.file for change in changes)
