"""The secret with which the collector signs what it writes to a Kafka topic (`log.kafka.trust`)."""

import hmac
from pathlib import Path

from sqlalchemy import inspect

from whence.errors import StoreError
from whence.store.engine import open_store
from whence.store.security.database import asking, open_security
from whence.store.security.grants import read_state
from whence.store.security.tables import state

_PURPOSE = b"whence event log"


def signing_secret(url: str) -> bytes:
    """The secret of the installation whose security database this is; the database is made if there is none.

    It is as stable as that database, and in its backups. Raises StoreError.
    """
    engine = open_security(url)
    try:
        with asking(engine) as connection:
            return hmac.digest(read_state(connection).secret, _PURPOSE, "sha256")
    finally:
        engine.dispose()


def known_signing_secret(url: str) -> bytes:
    """The same, of a database that is there: what is archived or rebuilt with another secret loses what only its
    senders could assert. Raises StoreError.
    """
    engine = open_store(url)
    try:
        file = engine.url.database if engine.dialect.name == "sqlite" else None
        with asking(engine) as connection:
            if (file and not Path(file).exists()) or not inspect(connection).has_table(state.name):
                raise StoreError(
                    "the messages of the topic are signed with a secret of the security database, and there is none at "
                    f"{engine.url}: set WHENCE_SECURITY to the one of the API"
                )
    finally:
        engine.dispose()
    return signing_secret(url)
