"""The state of a store's encryption: its key, since when, and what is not encrypted."""

from dataclasses import dataclass

from sqlalchemy import Connection, func, not_, select

from whence.errors import EncryptionError
from whence.store.encryption.keyring import SEALED_TEXT, data_key, is_sensitive, store_key
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


def read_encryption_state(connection: Connection) -> EncryptionState:
    """The encryption of a store. Reads all unencrypted facets."""
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
