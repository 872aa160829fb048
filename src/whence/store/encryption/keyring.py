"""The sealed content of the store, and its reading and writing over a connection.

Sealed are the payloads of facets with statements or code (`is_sensitive`), the expressions of edges, measurements, and
all of run facets, since messages, plans and arguments in them quote statements. No query searches any of them.
"""

import base64
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from sqlalchemy import BigInteger, Connection, LargeBinary, Table, Text, select

from whence.errors import EncryptionError
from whence.model.traits import TRAIT_FACETS
from whence.openlineage.facets.facet_keys import LIFECYCLE, SQL_COMPARISON
from whence.store.encryption.master_key import ID_BYTES, KEY, KEY_FILE, DataKey, configured_master
from whence.store.schema.columns import plain_column
from whence.store.schema.merge import Row
from whence.store.schema.packed import MEASURED_FACETS
from whence.store.schema.tables import metadata
from whence_client.redaction.walk import CODE_MEMBERS, SQL_MEMBERS

OPTION = "whence_keyring"
"""The execution option that holds an engine's `Keyring`."""

data_key = Table(
    "data_key",
    metadata,
    plain_column("id", Text, primary_key=True),  # hexadecimal
    plain_column("wrapped", LargeBinary),
    plain_column("master", Text),  # `MasterKey.id` of the one that wrapped it
    plain_column("made_at", BigInteger),
)
"""The key that seals the store's texts; no row: they are not sealed."""

SEALED_TEXT, SEALED_PACK = "~", b"2"
"""The first characters of sealed content. Neither JSON nor a pack begins with them (`store.schema.packed`)."""

_SENSITIVE = frozenset({"sql", "sourceCode", "columnLineage", "lineage", "extractionError", "whence_extractionError"})
_SEARCHED_FACETS = frozenset(
    {*TRAIT_FACETS, "documentation", "schema", "sourceCodeLocation"}
    | {LIFECYCLE, SQL_COMPARISON, "whence_boundary", "whence_falsePositives"}
)
"""Facets that queries search. They contain no statements."""

_STATEMENT = re.compile(rf'"(?:{"|".join(sorted(SQL_MEMBERS | CODE_MEMBERS))})"\s*:')


Find = Callable[[bytes], DataKey | None]
"""A data key by its id; None if the store has no such key."""


@dataclass(frozen=True, slots=True)
class Keyring:
    """The data keys that a process has unwrapped, by id."""

    known: dict[bytes, DataKey] = field(default_factory=dict, repr=False)

    def find(self, connection: Connection, id_: bytes) -> DataKey | None:
        """A data key of the store. Raises EncryptionError if the settings lack the master key that opens it."""
        if id_ not in self.known:
            key = _unwrap_key(connection, id_)
            if key is None:
                return None
            self.known[id_] = key
        return self.known[id_]


def is_sensitive(facet: str, payload: str) -> bool:
    """Whether the payload of a facet of a dataset or job is sealed."""
    if not payload or facet in _SEARCHED_FACETS:
        return False
    return facet in _SENSITIVE or _STATEMENT.search(payload) is not None


def store_key(connection: Connection) -> DataKey | None:
    """The key that seals, or None if the store is not encrypted. Raises EncryptionError."""
    id_ = connection.execute(select(data_key.c.id)).scalar()
    return None if id_ is None else keys_in(connection)(bytes.fromhex(id_))


def keys_in(connection: Connection) -> Find:
    """The lookup of a connection's store keys. A lookup raises EncryptionError."""
    ring = connection.get_execution_options()[OPTION]
    assert isinstance(ring, Keyring)
    return partial(ring.find, connection)


def keys_among(keys: Iterable[DataKey]) -> Find:
    """The lookup of these keys, for use without a connection."""
    return {key.id: key for key in keys}.get


def seal_payloads(key: DataKey | None, bodies: Sequence[Row]) -> Sequence[Row]:
    """Convert rows of `facet_body` to their stored form."""
    if key is None:
        return bodies
    return [
        (*row[:-1], _seal(key, _facet(row[0], row[1]), row[-1])) if is_sensitive(row[1], row[-1]) else row
        for row in bodies
    ]


def seal_packs(key: DataKey | None, rows: Sequence[Row]) -> Sequence[Row]:
    """Convert rows of `run_facets` to their stored form."""
    if key is None:
        return rows
    return [(*row[:-1], SEALED_PACK + key.seal(row[-1], _run(row[0]))) for row in rows]


def seal_templates(key: DataKey | None, rows: Sequence[Row]) -> Sequence[Row]:
    """Convert rows of `facet_template` to their stored form."""
    if key is None:
        return rows
    return [(id_, SEALED_PACK + key.seal(content, _template(id_))) for id_, content in rows]


def seal_measurements(key: DataKey | None, rows: Sequence[Row]) -> Sequence[Row]:
    """Convert rows of `measurement` to their stored form."""
    if key is None:
        return rows
    return [(*row[:-1], SEALED_PACK + key.seal(row[-1], _measurement(row))) for row in rows]


def seal_expressions(key: DataKey | None, rows: Sequence[Row]) -> Sequence[Row]:
    """Convert rows of `lineage_edge` to their stored form."""
    if key is None:
        return rows
    return [(*row[:-1], _seal(key, _set(row[0]), row[-1])) if row[-1] else row for row in rows]


def open_payload(find: Find, subject_id: int, name: str, payload: str) -> str:
    """The payload of a row of `facet_body`. Raises EncryptionError."""
    if not payload.startswith(SEALED_TEXT):
        return payload
    sealed = base64.urlsafe_b64decode(payload[len(SEALED_TEXT) :])
    return _key_of(find, sealed).open(sealed, _facet(subject_id, name)).decode()


def open_pack(find: Find, run_id: int, content: bytes) -> bytes:
    """The content of a row of `run_facets`, for `store.schema.facet_templates`. Raises EncryptionError."""
    if not content.startswith(SEALED_PACK):
        return content
    sealed = content[len(SEALED_PACK) :]
    return _key_of(find, sealed).open(sealed, _run(run_id))


def open_template(find: Find, template_id: int, content: bytes) -> bytes:
    """The content of a row of `facet_template`. Raises EncryptionError."""
    if not content.startswith(SEALED_PACK):
        return content
    sealed = content[len(SEALED_PACK) :]
    return _key_of(find, sealed).open(sealed, _template(template_id))


def open_measurement(find: Find, row: Row) -> bytes:
    """The content of a row of `measurement`, for `store.schema.packed`. Raises EncryptionError."""
    content: bytes = row[-1]
    if not content.startswith(SEALED_PACK):
        return content
    sealed = content[len(SEALED_PACK) :]
    return _key_of(find, sealed).open(sealed, _measurement(row))


def open_expression(find: Find, set_id: int, text: str) -> str:
    """The description of an edge of a set. Raises EncryptionError."""
    if not text.startswith(SEALED_TEXT):
        return text
    try:
        sealed = base64.b64decode(text[len(SEALED_TEXT) :], b"-_", validate=True)
    except ValueError:
        return text
    # Any text may begin like a sealed expression, but no producer has the id of a key.
    key = find(sealed[:ID_BYTES])
    return text if key is None else key.open(sealed, _set(set_id)).decode()


def _seal(key: DataKey, about: bytes, text: str) -> str:
    return SEALED_TEXT + base64.urlsafe_b64encode(key.seal(text.encode(), about)).decode()


def _key_of(find: Find, sealed: bytes) -> DataKey:
    key = find(sealed[:ID_BYTES])
    if key is None:
        raise EncryptionError(
            "a text of the store is encrypted with an unknown key; `whence rebuild` makes the store again"
        )
    return key


def _facet(subject_id: int, name: str) -> bytes:
    return f"facet {subject_id} {name}".encode()


def _run(run_id: int) -> bytes:
    return f"run {run_id}".encode()


def _template(template_id: int) -> bytes:
    return f"template {template_id}".encode()


def _measurement(row: Row) -> bytes:
    source_id, dataset_id, number = row[:3]
    role, facet = MEASURED_FACETS[number]
    return f"measurement {source_id} {dataset_id} {role} {facet}".encode()


def _set(set_id: int) -> bytes:
    return f"set {set_id}".encode()


def _unwrap_key(connection: Connection, id_: bytes) -> DataKey | None:
    wrapped = connection.execute(select(data_key.c.wrapped).where(data_key.c.id == id_.hex())).scalar()
    if wrapped is None:
        return None
    master = configured_master()
    if master is None:
        raise EncryptionError(f"the store is encrypted; set {KEY_FILE} or {KEY} to its master key")
    return master.unwrap(id_, bytes(wrapped))
