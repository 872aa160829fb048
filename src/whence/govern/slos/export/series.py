"""The series of objectives in `/metrics`: who serves them and who asks for them use the same names and labels."""

from typing import Final

from whence.govern.gate.rendering.names import printable, shortened
from whence.model.slo_records import StateText

ID, SERVICE, NAME = "id", "service", "slo"
"""The labels of every series of an objective."""

INFO: Final = "whence_slo_info"
STATE: Final = "whence_slo_state"
TARGET: Final = "whence_slo_target_ratio"
REMAINING: Final = "whence_slo_budget_remaining_ratio"
SUPPRESSED_SHARE: Final = "whence_slo_suppressed_ratio"
GOOD: Final = "whence_slo_window_good"
TOTAL: Final = "whence_slo_window_total"
BURN_RATE: Final = "whence_slo_burn_rate"
RECENT_BAD: Final = "whence_slo_recent_bad"
OPEN_ALERT: Final = "whence_slo_alert_open"
COUNT: Final = "whence_slos"
UNLISTED: Final = "whence_slos_without_series"
EVALUATED: Final = "whence_slo_evaluated_timestamp_seconds"

STATES: tuple[StateText, ...] = ("holds", "violated", "learning", "not evaluated", "suppressed")
"""Of an objective that holds; those that were ended have no series."""
HIDDEN: Final = "hidden"
"""Objectives that the caller may not see: they are only counted."""

_LONGEST = 200
"""Characters of a label."""
_UNITS = ((3_600_000_000, "h"), (60_000_000, "m"), (1_000_000, "s"))


def label_text(text: str) -> str:
    """A foreign text as a label. Prometheus reads any UTF-8, but people read labels in terminals."""
    return shortened(printable(text), _LONGEST)


def state_label(state: StateText) -> str:
    """A state as a label."""
    return state.replace(" ", "_")


def window_label(length: int) -> str:
    """A window (µs) as a label: `72h`, `30m`."""
    for size, unit in _UNITS:
        if length % size == 0:
            return f"{length // size}{unit}"
    return f"{length}us"
