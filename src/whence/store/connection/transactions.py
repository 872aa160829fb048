"""Writing transactions that are repeated if PostgreSQL aborts them in favour of another."""

from collections.abc import Callable

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import OperationalError

from whence.store.connection.engine import writing

ATTEMPTS = 5
_RETRIED_STATES = ("40001", "40P01")  # serialization_failure, deadlock_detected


def transact(engine: Engine, work: Callable[[Connection], None]) -> None:
    """Run work in one writing transaction, and retry a few times if PostgreSQL aborted it in favour of another."""
    for attempt in range(ATTEMPTS):
        try:
            with writing(engine) as connection:
                return work(connection)
        except OperationalError as error:
            if getattr(error.orig, "sqlstate", "") not in _RETRIED_STATES or attempt == ATTEMPTS - 1:
                raise
