"""The data key of a store: created if a master key is configured, passed to other processes, rewrapped."""

import time
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, func, insert, not_, select, update
from sqlalchemy.exc import SQLAlchemyError

from whence.errors import EncryptionError, StoreError
from whence.store.connection.encryption import KEY, KEY_FILE, DataKey, MasterKey, configured_master, new_data_key
from whence.store.connection.engine import StoreAddress, reading, writing
from whence.store.connection.keyring import SEALED_TEXT, data_key, is_sensitive, store_key
from whence.store.schema.tables import facet_body


@dataclass(frozen=True, slots=True, kw_only=True)
class EncryptionState:
    """The encryption of a store. Ids are empty without encryption; `made_at` is microseconds UTC.

    `trouble`: the reason that its key is unusable here, or empty. `plain`: unencrypted facets with statements or code,
    written before there was a key.
    """

    key: str = ""
    master: str = ""
    made_at: int = 0
    trouble: str = ""
    plain: int = 0


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


def rewrap(engine: Engine, new: MasterKey) -> None:
    """Wrap the store's data key with another master key; nothing else changes. Raises EncryptionError."""
    with writing(engine) as connection:
        key = store_key(connection)
        if key is None:
            raise EncryptionError(
                f"the store is not encrypted; it will be once the pipeline starts with {KEY_FILE} set"
            )
        connection.execute(update(data_key).values(wrapped=new.wrap(key), master=new.id))


def read_encryption_state(engine: Engine) -> EncryptionState:
    """The encryption of a store. Reads all unencrypted facets."""
    with reading(engine) as connection:
        row = connection.execute(select(data_key)).first()
        if row is None:
            return EncryptionState(plain=_count_plain(connection))
        trouble = ""
        try:
            store_key(connection)
        except EncryptionError as error:
            trouble = str(error)
        return EncryptionState(
            key=row.id, master=row.master, made_at=row.made_at, trouble=trouble, plain=_count_plain(connection)
        )


def _count_plain(connection: Connection) -> int:
    is_sealed = func.substr(facet_body.c.payload, 1, 1) == SEALED_TEXT
    query = select(facet_body.c.name, facet_body.c.payload).where(not_(is_sealed), facet_body.c.payload != "")
    rows = connection.execution_options(yield_per=5_000).execute(query)
    return sum(is_sensitive(name, payload) for name, payload in rows)
