"""When nobody knew whether a dataset was written, because its source was silent: then no service level is violated.

It is decided at the time at which a write becomes too old, by what had happened until then, as for objectives
(`slos.evaluation.silence`): that the source reports again changes nothing about that time.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from whence.govern.contracts.evaluation.service_levels import LastWrite, deadlines
from whence.govern.slos.evaluation.silence import PERIOD, judge_silence
from whence.model.names import JobName
from whence.query.lookup.contracts import ContractedDataset
from whence.query.ports.catalog import Catalog

MOST_TIMES = 50
"""Times at which a write of a dataset became too old that are judged: the latest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SilentTime:
    """From `since` until `until` (µs, not included; None: it goes on) nobody knows whether a dataset was written.
    `written`: when it was before, as far as anybody knows.
    """

    since: int
    until: int | None
    written: int
    reason: str


def reason_at(times: Iterable[SilentTime], at: int) -> str:
    """Why nobody knows at a time (µs) whether a dataset was written; empty: it is known."""
    found = (one.reason for one in times if one.since <= at and (one.until is None or at < one.until))
    return next(found, "")


def read_silent_times(
    catalog: Catalog, dataset: ContractedDataset, writes: Sequence[LastWrite], at: int, since: int = 0
) -> tuple[SilentTime, ...]:
    """The silent times of a dataset that began after `since` and not after `at` (µs), by what is known at `at`.
    `writes`: the earliest first.
    """
    run_out = [one for one in _run_out(dataset, writes, at) if since < one[0]][-MOST_TIMES:]
    found = (_silent_time(catalog, writes, *one, at) for one in run_out)
    return tuple(one for one in found if one is not None)


def _run_out(
    dataset: ContractedDataset, writes: Sequence[LastWrite], at: int
) -> Iterator[tuple[int, LastWrite, int | None]]:
    """When writes became too old before the next one came: (time, write, the next one)."""
    for write, following in pairwise((*writes, None)):
        assert write is not None
        after = None if following is None else following.time
        end = at if after is None else min(at, after - 1)
        times = {time for version in dataset.versions for time in deadlines(version, write) if time <= end}
        held = {time for time in times if (version := dataset.at(time)) and time in deadlines(version, write)}
        if held:
            yield min(held), write, after


def _silent_time(
    catalog: Catalog, writes: Sequence[LastWrite], time: int, last: LastWrite, after: int | None, at: int
) -> SilentTime | None:
    writers = {one.run.job for one in writes if one.run is not None and time - PERIOD < one.time <= time}
    writers |= _job_of(last)
    namespaces = {job.namespace for job in writers}
    known = catalog.source_jobs(namespaces, time - PERIOD, time) if namespaces else ()
    found = judge_silence(known, writers, time)
    if found is None:
        return None
    later = catalog.source_jobs(namespaces, time, at)
    heard = (one.heard if one.first <= time else one.first for one in later)
    ends = [one for one in (after, *heard) if one is not None and one > time]
    return SilentTime(since=time, until=min(ends, default=None), written=last.time, reason=found.text)


def _job_of(write: LastWrite) -> set[JobName]:
    return set() if write.run is None else {write.run.job}
