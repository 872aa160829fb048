"""Badges: a status of a dataset in two or three words, for READMEs and dashboards. Pure: no name is in any of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from math import floor
from typing import Literal

from whence.govern.slos.evaluation.judge import Outcome
from whence.model.records.certification import CertificationText

Colour = Literal["brightgreen", "yellow", "red", "lightgrey"]
"""The names that shields.io has for them."""

_HEX: dict[Colour, str] = {"brightgreen": "#2f7d32", "yellow": "#8a6100", "red": "#b3261e", "lightgrey": "#5f6368"}
"""White text has a contrast of 4.5 and more on each (WCAG AA)."""
LEAST_COVERAGE = Fraction(95, 100)
"""The share of columns upstream below which a badge is not green: that of the promotion gate."""
_LETTER, _PADDING = 7, 12
"""Pixels: of a letter at 11 px, and beside the text. The text is stretched to fit, whatever the font."""


@dataclass(frozen=True, slots=True)
class Badge:
    """What a badge says: of what, and how it is."""

    label: str
    message: str
    colour: Colour


def certification_badge(status: CertificationText) -> Badge:
    """Whether the rules certify a dataset."""
    colours: dict[CertificationText, Colour] = {"certified": "brightgreen", "not certified": "red"}
    return Badge("certification", status, colours.get(status, "lightgrey"))


def lineage_badge(share: Fraction | None) -> Badge:
    """The share of columns upstream whose sources are known; None: nobody reports a column. It is rounded down, so that
    100 % is nothing less.
    """
    if share is None:
        return Badge("lineage", "unknown", "lightgrey")
    colour: Colour = "brightgreen" if share >= LEAST_COVERAGE else "yellow" if share >= Fraction(1, 2) else "red"
    return Badge("lineage", f"{floor(100 * share)}%", colour)


def objectives_badge(outcomes: Sequence[Outcome | None]) -> Badge:
    """How many of the objectives of a dataset hold now. None: this version of Whence cannot read it."""
    if not outcomes:
        return Badge("objectives", "none", "lightgrey")
    if violated := outcomes.count(Outcome.VIOLATED):
        return Badge("objectives", f"{violated} of {len(outcomes)} violated", "red")
    holding = outcomes.count(Outcome.HOLDS)
    if holding < len(outcomes):
        return Badge("objectives", f"{holding} of {len(outcomes)} evaluated", "lightgrey")
    return Badge("objectives", f"{holding} of {holding} hold", "brightgreen")


def draw(badge: Badge) -> str:
    """A badge as SVG: without scripts, styles, links or anything from elsewhere."""
    left, right = (_LETTER * len(text) + _PADDING for text in (badge.label, badge.message))
    width = left + right
    title = escape(f"{badge.label}: {badge.message}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" aria-label="{title}">'
        f"<title>{title}</title>"
        f'<rect width="{left}" height="20" fill="#3c4043"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{_HEX[badge.colour]}"/>'
        '<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f"{_text(badge.label, left / 2)}{_text(badge.message, left + right / 2)}"
        "</g></svg>\n"
    )


def _text(text: str, middle: float) -> str:
    return f'<text x="{middle:g}" y="14" textLength="{_LETTER * len(text)}">{escape(text)}</text>'
