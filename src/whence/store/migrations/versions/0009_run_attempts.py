"""what decides whether a run's failure was undone by a later attempt

The events of every run are in the store as long as the run is, so its attempts are read from them.
"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

_AT = "CASE WHEN failed_at IS NULL OR aborted_at > failed_at THEN aborted_at ELSE failed_at END"
_BAD = "CASE WHEN failed_at IS NULL OR aborted_at > failed_at THEN 4 ELSE 5 END"
_STANDS = (
    f"latest_state = 3 AND ({_AT}) IS NOT NULL AND "
    f"(restarted_at IS NULL OR restarted_at <= ({_AT}) OR restarted_at > latest_at)"
)


def upgrade() -> None:
    op.execute("ALTER TABLE run RENAME COLUMN state_at TO latest_at")
    op.execute("ALTER TABLE run RENAME COLUMN state TO latest_state")
    for name, state in (("restarted_at", 1), ("aborted_at", 4), ("failed_at", 5)):
        op.add_column("run", sa.Column(name, sa.BigInteger(), autoincrement=False, nullable=True))
        # Only runs that have such an event: their bits say so, and every run with a START has `started_at`.
        op.execute(
            f"UPDATE run SET {name} = (SELECT max(event.time) FROM event WHERE event.subject_id = run.id "
            f"AND event.kind = 0 AND event.state = {state}) WHERE "
            + ("started_at IS NOT NULL" if state == 1 else f"terminals & {1 << state} <> 0")
        )
    op.add_column(
        "run",
        sa.Column("state", sa.SmallInteger(), sa.Computed(f"CASE WHEN {_STANDS} THEN {_BAD} ELSE latest_state END")),
    )
    op.add_column(
        "run", sa.Column("state_at", sa.BigInteger(), sa.Computed(f"CASE WHEN {_STANDS} THEN {_AT} ELSE latest_at END"))
    )
    # A run whose failure stands makes another statement than before: it is settled again.
    op.execute(
        "INSERT INTO touched (owner_id, kind, statement_id) SELECT job_id, 0, id FROM run "
        "WHERE latest_state = 3 AND state <> 3 ON CONFLICT DO NOTHING"
    )
