"""What changed in a tool since it was last read: the cursor has a digest and a time of each report."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from whence.capture.bi.events import Declared, Gone, Reading, Record
from whence.capture.bi.reports import Found, Report
from whence.model.names import DatasetName
from whence.openlineage.json.wire import Json

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The time of a change that the tool gives no time."""
    return datetime.now(UTC)


def find_changes(tool: str, found: Found, cursor: Any, clock: Clock = utc_now) -> Iterator[tuple[Record, Json]]:
    """The reports that are new or changed, those that are gone, then the reading; nothing if all is as it was.

    A report that is new has the tool's time. One that changed without a newer time has that of the reading: what it
    shows depends on other things, too.
    """
    known: Json = dict(cursor.get("reports") or {}) if isinstance(cursor, dict) else {}
    before = str(cursor.get("digest", "")) if isinstance(cursor, dict) else ""
    whole = _digest([_content(one) for one in found.reports], sorted(found.gaps.items()))
    if whole == before:
        return
    for report in found.reports:
        key, digest = str(report.name), _content(report)
        last = known.get(key)
        if last and (last["digest"] == digest or _is_hurt(report, found, last)):
            continue
        at = _time(report, found, last, clock)
        name = [report.name.namespace, report.name.name]
        state = {"digest": digest, "at": at.isoformat(), "name": name, "place": report.place, "gaps": _gaps(report)}
        known = {**known, key: state}
        yield Declared(report=report, at=at), {"reports": known, "digest": before}
    for key in sorted(set(known) - {str(one.name) for one in found.reports}):
        if known[key]["place"] in found.unread:
            continue
        gone = DatasetName(*known[key]["name"])
        known = {one: state for one, state in known.items() if one != key}
        yield Gone(name=gone, at=clock()), {"reports": known, "digest": before}
    at = found.at if not before else max(found.at, clock())
    reading = Reading(tool=tool, at=at, digest=whole, reports=len(found.reports), gaps=found.gaps)
    yield reading, {"reports": known, "digest": whole}


def _is_hurt(report: Report, found: Found, last: Json) -> bool:
    """Whether a known report could not be read, or more of it is missing than before, which a broken file may have.

    Such a report stays as it was.
    """
    return report.place in found.unread or (bool(found.unread) and not set(_gaps(report)) <= set(last["gaps"]))


def _gaps(report: Report) -> list[str]:
    return sorted({_digest(one) for one in report.lineage.gaps})


def _time(report: Report, found: Found, last: Json | None, clock: Clock) -> datetime:
    at = report.updated or found.at
    return at if last is None or at > datetime.fromisoformat(last["at"]) else clock()


def _content(report: Report) -> str:
    """The digest of a report but for its time: Feast sets the times of all views whenever one is applied."""
    return _digest(replace(report, updated=None))


def _digest(*values: object) -> str:
    return hashlib.sha256(repr(values).encode("utf-8", "surrogatepass")).hexdigest()[:16]
