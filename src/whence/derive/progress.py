"""Progress of the pipeline: the positions in the log where a stream starts."""

import logging

from whence.errors import LogError, LogGapError, StoreError
from whence.log import Lane, Lanes, Log, Position

logger = logging.getLogger(__name__)


def resume_positions(log: Log, progress: dict[str, int]) -> Lanes:
    """The position in each lane where a stream starts. Raises StoreError if the store was derived from another log,
    LogError if the log lacks the next required position.
    """
    lanes = log.list_lanes()
    if others := progress.keys() - {lane.name for lane in lanes}:
        raise StoreError(
            f"the store was derived from another event log ({', '.join(sorted(others))}): "
            "give it an empty store, or `whence rebuild` it from this one"
        )
    since = {lane.name: _resume_position(lane, progress.get(lane.name)) for lane in lanes}
    logger.info("goes on at %s", since)
    return since


def _resume_position(lane: Lane, reached: int | None) -> Position:
    if reached is None and lane.origin and lane.origin < lane.start:
        raise LogGapError(lane.name, lane.origin, lane.start)
    if reached is None:
        return lane.start
    position = Position.from_int(reached)
    if position < lane.start:
        raise LogError(
            f"the events of lane {lane.name} from {position} to {lane.start} were deleted before the pipeline read "
            "them: `whence rebuild` the store, from the archive if there is one"
        )
    if lane.end < position:
        raise LogError(
            f"the store is ahead of {lane.name} ({position}, but the log ends at {lane.end}): the log was lost or "
            "replaced; restore it, or `whence rebuild` the store"
        )
    return position
