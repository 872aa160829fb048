"""Maintenance of datasets, as objectives declare it: what fails in it notifies nobody before it is over. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from whence.govern.incidents.findings import Finding
from whence.govern.slos.calendars import Maintenance
from whence.govern.slos.records import Declaration
from whence.model.names import DatasetName
from whence.query.answers.instants import iso


def maintenance_of(declared: Iterable[Sequence[Declaration]]) -> Mapping[DatasetName, Sequence[Maintenance]]:
    """The maintenance of each dataset with objectives. `declared`: of each objective its declarations, in order.

    That of an earlier declaration counts, too, if it had begun when the next one came.
    """
    found: dict[DatasetName, set[Maintenance]] = {}
    for some in declared:
        for one, later in pairwise((*some, None)):
            if one is not None and one.objective is not None:
                windows = (each for each in one.objective.maintenance if later is None or each.start < later.time)
                found.setdefault(one.dataset, set()).update(windows)
    return {
        name: sorted(windows, key=lambda one: (one.start, one.end, one.reason))
        for name, windows in found.items()
        if windows
    }


def defer_notification(found: Finding, windows: Sequence[Maintenance]) -> Finding:
    """The finding as urgent as it is, but not before the end of the maintenance in which it began; if it ended in it,
    not at all. `windows`: of its dataset.
    """
    end = found.since
    for one in windows:  # by beginning, so that one that begins in another goes on from it
        if one.start <= end < one.end:
            end = one.end
    if end == found.since:
        return found
    is_over = found.until is not None and found.until <= end
    return replace(
        found,
        ticket_since=None if is_over or found.ticket_since is None else max(found.ticket_since, end),
        page_since=None if is_over or found.page_since is None else max(found.page_since, end),
        notify_rule=f"{found.notify_rule}; in maintenance until {iso(end)}",
    )
