"""What PostgreSQL's sessions wait for."""

from sqlalchemy import Connection, text


def waiting(connection: Connection) -> int:
    """How many sessions of this database wait for a lock now."""
    connection.execute(text("select pg_stat_clear_snapshot()"))  # a transaction sees the statistics of one moment
    sessions = "pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
    return int(connection.execute(text(f"select count(*) from {sessions}")).scalar_one())
