"""Key rotation: the store's data key, wrapped with another master key."""

from sqlalchemy import Connection, update

from whence.errors import EncryptionError
from whence.store.encryption.keyring import data_key, store_key
from whence.store.encryption.master_key import KEY_FILE, MasterKey


def rewrap(connection: Connection, new: MasterKey) -> None:
    """Wrap the store's data key with another master key; nothing else changes. Raises EncryptionError."""
    key = store_key(connection)
    if key is None:
        raise EncryptionError(f"the store is not encrypted; it will be once the pipeline starts with {KEY_FILE} set")
    connection.execute(update(data_key).values(wrapped=new.wrap(key), master=new.id))
