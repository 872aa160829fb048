"""What axe-core is asked, beside the rules: it need not describe what is right."""

from typing import Any, Literal

BRIEF: dict[str, Any] = {"resultTypes": ["violations"]}
COLOURS: dict[str, Any] = BRIEF | {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}


def options(scheme: Literal["light", "dark"], rules: dict[str, Any]) -> dict[str, Any]:
    """All rules in light; the dark page is the same one, so there only those that look at colours."""
    return BRIEF | rules if scheme == "light" else COLOURS
