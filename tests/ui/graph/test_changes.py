"""The marks of a comparison: "Added" is what began after the compared time, and nothing else."""

from typing import Any

import pytest

from ui.browser.modules import call_each

BEFORE, SINCE, AFTER = "2026-11-20T00:00:00Z", 1_795_219_200_000.0, "2026-11-22T00:00:00Z"
"""The compared time is 2026-11-21T00:00:00Z."""


def box(only: str | None = None) -> dict[str, Any]:
    return {"id": "a", "only": only}


def line(only: str | None, *first_seen: str) -> dict[str, Any]:
    edges = [{"evidence": [{"first_seen": {"time": one}}]} for one in first_seen]
    return {"id": "a b", "source": "b", "target": "a", "only": only, "edges": edges}


def fates(box: dict[str, Any], *lines: dict[str, Any], first_seen: str | None, deleted: bool = False) -> Any:
    """Of a box, then of its lines. What is known of it is a Map, which JSON has not."""
    known = {"first_seen": first_seen, "deleted": deleted}
    picture = {"boxes": [box], "stubs": [], "lines": list(lines)}
    (answer,) = call_each("graph/changes.ts", "fatedOf", [[picture, [["a", known]] if first_seen else [], SINCE]])
    return [one.get("fate") for one in (*answer["boxes"], *answer["lines"])]


@pytest.mark.parametrize(
    ("only", "first_seen", "deleted", "fate"),
    [
        (None, BEFORE, False, None),
        (None, AFTER, False, "added"),
        ("now", AFTER, False, "added"),
        ("now", BEFORE, False, "connected"),
        ("now", None, False, "connected"),
        ("then", BEFORE, False, "disconnected"),
        ("then", BEFORE, True, "removed"),
        ("then", None, False, "disconnected"),
    ],
)
def test_of_a_box(only: str | None, first_seen: str | None, deleted: bool, fate: str | None) -> None:
    assert fates(box(only), first_seen=first_seen, deleted=deleted) == [fate]


@pytest.mark.parametrize(
    ("only", "times", "fate", "of_target"),
    [
        (None, (AFTER,), None, None),
        ("now", (AFTER,), "added", "changed"),
        ("now", (AFTER, BEFORE), "connected", "changed"),
        ("then", (BEFORE,), "removed", "changed"),
    ],
)
def test_of_a_line_and_of_what_it_leads_to(only: str, times: tuple[str, ...], fate: str, of_target: str) -> None:
    assert fates(box(), line(only, *times), first_seen=BEFORE) == [of_target, fate]
