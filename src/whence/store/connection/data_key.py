"""The data key of a store: created if a master key is configured, checked, passed to other processes."""

import time

from sqlalchemy import Connection, Engine, insert, select
from sqlalchemy.exc import SQLAlchemyError

from whence.errors import EncryptionError, StoreError
from whence.store.connection.engine import StoreAddress, reading, writing
from whence.store.encryption.keyring import data_key, store_key
from whence.store.encryption.master_key import KEY, KEY_FILE, DataKey, configured_master, new_data_key


def provide_key(engine: Engine) -> None:
    """Create a store's data key if a master key is configured and there is none; called by every process that derives.

    Raises EncryptionError if the settings do not open an existing key: nothing is written without it.
    """
    with writing(engine) as connection:
        if store_key(connection) is not None:
            return
        master = configured_master()
        if master is None:
            return
        key, now = new_data_key(), time.time_ns() // 1_000
        row = {"id": key.id.hex(), "wrapped": master.wrap(key), "master": master.id, "made_at": now}
        connection.execute(insert(data_key), row)


def require_master_key(engine: Engine) -> None:
    """Raise EncryptionError if a store is encrypted and no master key is configured: a rebuild would leave it
    unencrypted.
    """
    with reading(engine) as connection:
        encrypted = connection.execute(select(data_key.c.id)).first() is not None
    if encrypted and configured_master() is None:
        raise EncryptionError(
            f"the store is encrypted; set {KEY_FILE} or {KEY} to a master key, or build one without encryption in "
            "another place (`whence rebuild --into`)"
        )


def store_keys(connection: Connection) -> tuple[DataKey, ...]:
    """The data key of an encrypted store, for processes without access to the master key. Raises EncryptionError."""
    key = store_key(connection)
    return () if key is None else (key,)


def store_address(engine: Engine) -> StoreAddress:
    """The address of a store with its key, for executors: as secret as the database password. Raises
    EncryptionError.
    """
    with reading(engine) as connection:
        return StoreAddress(engine.url.render_as_string(hide_password=False), store_keys(connection))


def check_key(engine: Engine) -> None:
    """Raise EncryptionError if the store is encrypted and unreadable here, StoreError if it does not answer."""
    try:
        with reading(engine) as connection:
            store_key(connection)
    except SQLAlchemyError as error:
        raise StoreError(f"the store cannot be read: {error.args[0] if error.args else error}") from error
