"""The data key of a store: made where a master key is configured, handed to other processes, wrapped anew."""

import time
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, func, insert, not_, select, update
from sqlalchemy.exc import SQLAlchemyError

from whence.errors import EncryptionError, StoreError
from whence.store.encryption import KEY, KEY_FILE, DataKey, MasterKey, configured_master, new_data_key
from whence.store.engine import StoreAddress, reading, writing
from whence.store.keyring import SEALED_TEXT, data_key, is_sensitive, store_key
from whence.store.tables import facet_body


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealing:
    """How a store is encrypted. Ids are empty where it is not; `made_at` is microseconds UTC.

    `trouble`: why its key cannot be used here; empty if it can. `plain`: facets with statements or code that are not
    encrypted, because they were written before there was a key.
    """

    key: str = ""
    master: str = ""
    made_at: int = 0
    trouble: str = ""
    plain: int = 0


def provide_key(engine: Engine) -> None:
    """Make a store's data key if a master key is configured and it has none; called by whoever is about to derive.

    Raises EncryptionError if it has one that the settings do not open: nothing is written without it.
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


def refuse_unsealing(engine: Engine) -> None:
    """Raises EncryptionError if a store is encrypted and no master key is configured: who derives it anew would leave
    it in the clear.
    """
    with reading(engine) as connection:
        encrypted = connection.execute(select(data_key.c.id)).first() is not None
    if encrypted and configured_master() is None:
        raise EncryptionError(
            f"the store is encrypted; set {KEY_FILE} or {KEY} to a master key, or build one without encryption in "
            "another place (`whence rebuild --into`)"
        )


def keys_of(connection: Connection) -> tuple[DataKey, ...]:
    """The data key of a store, if it is encrypted: for processes that cannot ask for the master key.

    Raises EncryptionError.
    """
    key = store_key(connection)
    return () if key is None else (key,)


def address_of(engine: Engine) -> StoreAddress:
    """A store with its key, for executors: as secret as the password of the database. Raises EncryptionError."""
    with reading(engine) as connection:
        return StoreAddress(engine.url.render_as_string(hide_password=False), keys_of(connection))


def check_key(engine: Engine) -> None:
    """Raises EncryptionError if the store is encrypted and cannot be read here, StoreError if it does not answer."""
    try:
        with reading(engine) as connection:
            store_key(connection)
    except SQLAlchemyError as error:
        raise StoreError(f"the store cannot be read: {error.args[0] if error.args else error}") from error


def rewrap(engine: Engine, new: MasterKey) -> None:
    """Wrap the store's data key with another master key: nothing else changes. Raises EncryptionError."""
    with writing(engine) as connection:
        key = store_key(connection)
        if key is None:
            raise EncryptionError(
                f"the store is not encrypted; it will be once the pipeline starts with {KEY_FILE} set"
            )
        connection.execute(update(data_key).values(wrapped=new.wrap(key), master=new.id))


def read_sealing(engine: Engine) -> Sealing:
    """How a store is encrypted. Reads all facets that are not."""
    with reading(engine) as connection:
        row = connection.execute(select(data_key)).first()
        if row is None:
            return Sealing(plain=_plain(connection))
        trouble = ""
        try:
            store_key(connection)
        except EncryptionError as error:
            trouble = str(error)
        return Sealing(key=row.id, master=row.master, made_at=row.made_at, trouble=trouble, plain=_plain(connection))


def _plain(connection: Connection) -> int:
    is_sealed = func.substr(facet_body.c.payload, 1, 1) == SEALED_TEXT
    query = select(facet_body.c.name, facet_body.c.payload).where(not_(is_sealed), facet_body.c.payload != "")
    rows = connection.execution_options(yield_per=5_000).execute(query)
    return sum(is_sensitive(name, payload) for name, payload in rows)
