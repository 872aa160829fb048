"""Encryption of texts at rest: a store's data key, wrapped by a master key that is stored elsewhere.

AES-SIV (RFC 5297): the same key, text and context always yield the same bytes, so writing again changes nothing and the
state remains a function of the events. The data key is wrapped by AES key wrap (RFC 3394).
"""

import base64
import binascii
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from cryptography.hazmat.primitives.keywrap import InvalidUnwrap, aes_key_unwrap, aes_key_wrap

from whence.errors import EncryptionError

KEY, KEY_FILE = "WHENCE_MASTER_KEY", "WHENCE_MASTER_KEY_FILE"
"""Settings: the master key, or the file that contains it."""

MASTER_BYTES, DATA_BYTES = 32, 64
ID_BYTES = 8
_MAKE_ONE = "`whence encryption create-key FILE` makes a good one"


@dataclass(frozen=True, slots=True)
class DataKey:
    """The key that seals texts. `id` is random and precedes everything that the key sealed."""

    id: bytes
    secret: bytes = field(repr=False)

    def seal(self, text: bytes, about: bytes) -> bytes:
        """Encrypt a text; the bytes reveal only its length. `about`: its location; it cannot be opened for another."""
        return self.id + AESSIV(self.secret).encrypt(text, [about])

    def open(self, sealed: bytes, about: bytes) -> bytes:
        """The inverse of `seal`. Raises EncryptionError if the bytes differ from those written at that location."""
        try:
            return AESSIV(self.secret).decrypt(sealed[ID_BYTES:], [about])
        except InvalidTag:
            raise EncryptionError(
                "an encrypted text of the store was changed or damaged; `whence rebuild` makes the store again"
            ) from None


@dataclass(frozen=True, slots=True)
class MasterKey:
    """The key that wraps data keys."""

    secret: bytes = field(repr=False)

    @property
    def id(self) -> str:
        """Its public id: the beginning of its hash."""
        return sha256(self.secret).hexdigest()[:8]

    def wrap(self, key: DataKey) -> bytes:
        """Wrap a data key for storage."""
        return aes_key_wrap(self.secret, key.secret)

    def unwrap(self, id_: bytes, wrapped: bytes) -> DataKey:
        """The inverse of `wrap`. Raises EncryptionError if another master key wrapped it."""
        try:
            return DataKey(id_, aes_key_unwrap(self.secret, wrapped))
        except InvalidUnwrap:
            raise EncryptionError(
                f"the configured master key ({self.id}) is not that of the store; set {KEY_FILE} or {KEY} to the one "
                "that it was encrypted with. If that is lost, `whence rebuild` makes the store anew with this one"
            ) from None


def new_data_key() -> DataKey:
    """Create a random data key."""
    return DataKey(os.urandom(ID_BYTES), os.urandom(DATA_BYTES))


def configured_master(environ: Mapping[str, str] = os.environ) -> MasterKey | None:
    """The master key of the settings, or None. Raises EncryptionError if it is unreadable."""
    given, file = environ.get(KEY, "").strip(), environ.get(KEY_FILE, "").strip()
    if given and file:
        raise EncryptionError(f"both {KEY} and {KEY_FILE} are set; set one of them")
    if file:
        return read_master(Path(file))
    return _parse_master(given, KEY) if given else None


def read_master(file: Path) -> MasterKey:
    """Read the master key in a file. Raises EncryptionError."""
    try:
        return _parse_master(file.read_text("ascii", errors="replace").strip(), str(file))
    except OSError as error:
        raise EncryptionError(f"the master key in {file} cannot be read: {error.strerror}") from None


def create_master(file: Path) -> MasterKey:
    """Write a random master key to a new file that only its owner may read. Raises EncryptionError."""
    master = MasterKey(os.urandom(MASTER_BYTES))
    try:
        fd = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise EncryptionError(f"the master key cannot be written to {file}: {error.strerror}") from None
    with os.fdopen(fd, "wb") as opened:
        opened.write(base64.b64encode(master.secret) + b"\n")
        opened.flush()
        os.fsync(fd)
    return master


def _parse_master(text: str, where: str) -> MasterKey:
    try:
        secret = base64.b64decode(text, validate=True)
    except binascii.Error:
        secret = b""
    if len(secret) != MASTER_BYTES:
        raise EncryptionError(
            f"{where} has no master key: it must be {MASTER_BYTES} random bytes as base64; {_MAKE_ONE}"
        )
    return MasterKey(secret)
