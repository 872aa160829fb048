"""Coverage of the history by archive and log: in each lane, the log must continue where the archive ends."""

from collections.abc import Iterable

from whence.derive.archive.table import Archive
from whence.errors import LogCorruptError, LogGapError, TableError
from whence.log import Lane, Position, Seal


def unarchived_lanes(archive: Archive | None, lanes: Iterable[Lane]) -> tuple[Lane, ...]:
    """The parts of the lanes that are not archived yet.

    Raises LogGapError if records between archive and log are missing, TableError if the archive is of another log.
    """
    return tuple(_unarchived_lane(archive, lane) for lane in lanes)


def unarchived_lanes_if_complete(archive: Archive | None, lanes: Iterable[Lane]) -> tuple[Lane, ...]:
    """As `unarchived_lanes`, but requires the whole history of the lanes. An empty log adds nothing to its archive."""
    return tuple(_unarchived_lane_if_complete(archive, lane) for lane in lanes)


def cut_before_damage(lane: Lane, seals: Iterable[Seal]) -> Lane:
    """A lane up to its first sealed range: an archive must not pass records that may still be restored.

    Raises LogCorruptError if the lane begins with that range.
    """
    ahead = [seal for seal in seals if seal.state == "sealed" and lane.start <= seal.begin < lane.end]
    first = min(ahead, key=lambda seal: seal.begin, default=None)
    if first is None:
        return lane
    if first.begin == lane.start:
        raise LogCorruptError(f"the log is damaged from {first.begin} to {first.end}: run `whence log repair` first")
    return Lane(lane.name, lane.start, first.begin)


def _unarchived_lane(archive: Archive | None, lane: Lane) -> Lane:
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


def _unarchived_lane_if_complete(archive: Archive | None, lane: Lane) -> Lane:
    reach = archive.reach(lane.name) if archive else None
    begins = Position.from_int(reach.since) if reach else lane.start
    if lane.origin and lane.origin < begins:
        raise LogGapError(lane.name, lane.origin, begins)
    if reach and lane.start == lane.end:
        return lane
    return _unarchived_lane(archive, lane)
