"""A run's state as SQL over the merged columns of `run` (docs/explanation/state.md, "Run state").

The state is the latest of the highest rank. A COMPLETE does not undo an earlier FAIL or ABORT, unless a START after the
failure and not after the COMPLETE began another attempt. Only the latest of each is stored, so a run takes bounded
space.
"""

from whence.model.events import RunState

_UNSUCCESSFUL_AT = (
    "CASE WHEN failed_at IS NULL OR aborted_at > failed_at THEN aborted_at ELSE failed_at END"  # null: neither
)
_UNSUCCESSFUL = (
    f"CASE WHEN failed_at IS NULL OR aborted_at > failed_at THEN {RunState.ABORT:d} ELSE {RunState.FAIL:d} END"
)
_IS_UNSUCCESSFUL = (
    f"latest_state = {RunState.COMPLETE:d} AND ({_UNSUCCESSFUL_AT}) IS NOT NULL AND "
    f"(restarted_at IS NULL OR restarted_at <= ({_UNSUCCESSFUL_AT}) OR restarted_at > latest_at)"
)

RUN_STATE = f"CASE WHEN {_IS_UNSUCCESSFUL} THEN {_UNSUCCESSFUL} ELSE latest_state END"
RUN_STATE_AT = f"CASE WHEN {_IS_UNSUCCESSFUL} THEN {_UNSUCCESSFUL_AT} ELSE latest_at END"
