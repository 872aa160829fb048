"""The secret with which the collector signs its messages in a Kafka topic (`log.kafka.trust`)."""

import hmac
from pathlib import Path

from sqlalchemy import inspect

from whence.errors import StoreError
from whence.store.connection.engine import open_store
from whence.store.security.database import open_security, read_security
from whence.store.security.grants import read_state
from whence.store.security.tables import state

_PURPOSE = b"whence event log"


def signing_secret(url: str) -> bytes:
    """The secret of the installation with this security database, which is created if absent.

    It is as stable as that database, and in its backups. Raises StoreError.
    """
    engine = open_security(url)
    try:
        with read_security(engine) as connection:
            return hmac.digest(read_state(connection).secret, _PURPOSE, "sha256")
    finally:
        engine.dispose()


def existing_signing_secret(url: str) -> bytes:
    """The same for an existing database. With another secret, archives and rebuilds would lose what only its senders
    could assert. Raises StoreError.
    """
    engine = open_store(url)
    try:
        file = engine.url.database if engine.dialect.name == "sqlite" else None
        with read_security(engine) as connection:
            if (file and not Path(file).exists()) or not inspect(connection).has_table(state.name):
                raise StoreError(
                    "the messages of the topic are signed with a secret of the security database, and there is none at "
                    f"{engine.url}: set WHENCE_SECURITY to the one of the API"
                )
    finally:
        engine.dispose()
    return signing_secret(url)
