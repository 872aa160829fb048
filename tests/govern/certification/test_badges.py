"""Badges: what each says; pictures that are well-formed, legible, and fetch and run nothing."""

from fractions import Fraction
from xml.etree import ElementTree

import pytest

from whence.govern.certification.badges import (
    Badge,
    certification_badge,
    draw,
    lineage_badge,
    objectives_badge,
)
from whence.govern.slos.evaluation.judge import Outcome

HOLDS, VIOLATED, LEARNING = Outcome.HOLDS, Outcome.VIOLATED, Outcome.LEARNING
CASES = [
    (certification_badge("certified"), "certification", "certified", "brightgreen"),
    (certification_badge("not certified"), "certification", "not certified", "red"),
    (certification_badge("not evaluated"), "certification", "not evaluated", "lightgrey"),
    (certification_badge("no rule"), "certification", "no rule", "lightgrey"),
    (lineage_badge(None), "lineage", "unknown", "lightgrey"),
    (lineage_badge(Fraction(1)), "lineage", "100%", "brightgreen"),
    (lineage_badge(Fraction(9_999, 10_000)), "lineage", "99%", "brightgreen"),
    (lineage_badge(Fraction(94, 100)), "lineage", "94%", "yellow"),
    (lineage_badge(Fraction(1, 3)), "lineage", "33%", "red"),
    (objectives_badge([]), "objectives", "none", "lightgrey"),
    (objectives_badge([HOLDS, HOLDS]), "objectives", "2 of 2 hold", "brightgreen"),
    (objectives_badge([HOLDS, VIOLATED, None]), "objectives", "1 of 3 violated", "red"),
    (objectives_badge([HOLDS, LEARNING, None]), "objectives", "1 of 3 evaluated", "lightgrey"),
]


@pytest.mark.parametrize(("badge", "label", "message", "colour"), CASES)
def test_what_a_badge_says(badge: Badge, label: str, message: str, colour: str) -> None:
    assert badge == Badge(label, message, colour)  # type: ignore[arg-type]
    root = ElementTree.fromstring(draw(badge))
    texts = [one.text for one in root.iter("{http://www.w3.org/2000/svg}text")]
    assert (root.get("role"), root.get("aria-label"), texts) == ("img", f"{label}: {message}", [label, message])
    assert {one.tag.rpartition("}")[2] for one in root.iter()} == {"svg", "title", "rect", "g", "text"}
    widths = [int(one.get("width", "0")) for one in root.iter("{http://www.w3.org/2000/svg}rect")]
    assert sum(widths) == int(root.get("width", "0"))


def test_a_text_is_no_markup() -> None:
    evil = Badge('"><script>', "<image href='http://x'/>&", "red")
    root = ElementTree.fromstring(draw(evil))
    assert {one.tag.rpartition("}")[2] for one in root.iter()} == {"svg", "title", "rect", "g", "text"}
    assert root.get("aria-label") == f"{evil.label}: {evil.message}"


@pytest.mark.parametrize("badge", [one[0] for one in CASES])
def test_white_text_is_legible_on_every_colour(badge: Badge) -> None:
    """Contrast by WCAG 2.2: at least 4.5 for text of this size."""
    rects = list(ElementTree.fromstring(draw(badge)).iter("{http://www.w3.org/2000/svg}rect"))
    for rect in rects:
        fill = (rect.get("fill") or "").lstrip("#")
        channels = [int(fill[place : place + 2], 16) / 255 for place in (0, 2, 4)]
        red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in channels)
        assert 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05) >= 4.5, fill
