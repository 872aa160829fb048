"""The figures of `make accuracy-gate` on the corpora of edits: none falls below its floor. What is scored with keys
declared and without is scored with them; both ways with `--long`.
"""

import pytest

from capture.sql.fingerprint.gate_accuracy import CORPORA, FLOORS, NOT_SCORED_YET
from capture.sql.fingerprint.verdicts import figures

KEYED = ", keys declared by tests"
NAMES = tuple(name for name in CORPORA if name not in NOT_SCORED_YET)
TWICE = {
    f"{name.removesuffix(KEYED)}{end}" for name in NAMES if name.endswith(KEYED) for end in ("", ", no key declared")
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "name" in metafunc.fixturenames:
        is_long = metafunc.config.getoption("long")
        metafunc.parametrize("name", [name for name in NAMES if is_long or name not in TWICE])


def test_no_figure_is_below_its_floor_and_every_change_has_a_reason(name: str) -> None:
    scored = list(CORPORA[name]())
    found = figures(scored)
    assert sum(whole for _, whole in list(found.values())[:2]) > 80
    assert [figure for figure, (right, whole) in found.items() if right < FLOORS[name][figure] * whole] == []
    changes = [change for one in scored for change in one.changes]
    assert len(changes) >= sum(not one.is_harmless for one in scored)
    assert all(change.reason and change.file for change in changes)
