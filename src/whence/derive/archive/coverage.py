"""Whether archive and log together hold everything: in each lane, where one ends, the other goes on."""

from collections.abc import Iterable

from whence.derive.archive.table import Archive
from whence.errors import LogCorruptError, LogGapError, TableError
from whence.log import Lane, Position, Seal


def rest(archive: Archive | None, lanes: Iterable[Lane]) -> tuple[Lane, ...]:
    """What of the lanes is not archived yet.

    Raises LogGapError if records between archive and log are gone, TableError if the archive is of another log.
    """
    return tuple(_rest(archive, lane) for lane in lanes)


def rest_of_all(archive: Archive | None, lanes: Iterable[Lane]) -> tuple[Lane, ...]:
    """The same, if archive and log have all that ever was in the lanes. An empty log adds nothing to its archive."""
    return tuple(_rest_of_all(archive, lane) for lane in lanes)


def before_damage(lane: Lane, seals: Iterable[Seal]) -> Lane:
    """A lane up to the first range that is sealed: an archive must not pass records that may still be restored.

    Raises LogCorruptError if the lane begins with that range.
    """
    ahead = [seal for seal in seals if seal.state == "sealed" and lane.start <= seal.begin < lane.end]
    first = min(ahead, key=lambda seal: seal.begin, default=None)
    if first is None:
        return lane
    if first.begin == lane.start:
        raise LogCorruptError(f"the log is damaged from {first.begin} to {first.end}: run `whence log repair` first")
    return Lane(lane.name, lane.start, first.begin)


def _rest(archive: Archive | None, lane: Lane) -> Lane:
    reach = archive.reach(lane.name) if archive else None
    if archive is None or reach is None:
        return lane
    archived = Position.from_int(reach.until)
    if archived < lane.start:
        raise LogGapError(lane.name, archived, lane.start)
    if lane.end < archived:
        raise TableError(
            archive.uri, f"it was made from another log: {lane.name} ends at {lane.end}, in the archive at {archived}"
        )
    return Lane(lane.name, archived, lane.end)


def _rest_of_all(archive: Archive | None, lane: Lane) -> Lane:
    reach = archive.reach(lane.name) if archive else None
    begins = Position.from_int(reach.since) if reach else lane.start
    if lane.origin and lane.origin < begins:
        raise LogGapError(lane.name, lane.origin, begins)
    if reach and lane.start == lane.end:
        return lane
    return _rest(archive, lane)
