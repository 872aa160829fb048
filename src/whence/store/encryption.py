"""Encryption of texts at rest: a store's data key, wrapped by a master key that is kept elsewhere.

AES-SIV (RFC 5297): one key, text and place always give the same bytes, so that writing again changes nothing and the
state stays a function of the events. The data key is wrapped by AES key wrap (RFC 3394).
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
"""Settings: the master key, or the file that it is in."""

MASTER_BYTES, DATA_BYTES = 32, 64
ID_BYTES = 8
_MAKE_ONE = "`whence encryption create-key FILE` makes a good one"


@dataclass(frozen=True, slots=True)
class DataKey:
    """What texts are sealed with. `id` is random, and stands before all that the key sealed."""

    id: bytes
    secret: bytes = field(repr=False)

    def seal(self, text: bytes, about: bytes) -> bytes:
        """The text as bytes that say nothing of it but its length. `about`: where it is; it opens nowhere else."""
        return self.id + AESSIV(self.secret).encrypt(text, [about])

    def open(self, sealed: bytes, about: bytes) -> bytes:
        """The inverse of `seal`. Raises EncryptionError if the bytes are not those that were written there."""
        try:
            return AESSIV(self.secret).decrypt(sealed[ID_BYTES:], [about])
        except InvalidTag:
            raise EncryptionError(
                "an encrypted text of the store is not as it was written; `whence rebuild` the store"
            ) from None


@dataclass(frozen=True, slots=True)
class MasterKey:
    """What data keys are wrapped with."""

    secret: bytes = field(repr=False)

    @property
    def id(self) -> str:
        """What it is known by: the beginning of its hash."""
        return sha256(self.secret).hexdigest()[:8]

    def wrap(self, key: DataKey) -> bytes:
        """A data key as it is stored."""
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
    """A random one."""
    return DataKey(os.urandom(ID_BYTES), os.urandom(DATA_BYTES))


def configured_master(environ: Mapping[str, str] = os.environ) -> MasterKey | None:
    """The master key of the settings; None: there is none. Raises EncryptionError if it cannot be read."""
    given, file = environ.get(KEY, "").strip(), environ.get(KEY_FILE, "").strip()
    if given and file:
        raise EncryptionError(f"both {KEY} and {KEY_FILE} are set; set one of them")
    if file:
        return read_master(Path(file))
    return _parsed(given, KEY) if given else None


def read_master(file: Path) -> MasterKey:
    """The master key in a file. Raises EncryptionError."""
    try:
        return _parsed(file.read_text("ascii", errors="replace").strip(), str(file))
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


def _parsed(text: str, where: str) -> MasterKey:
    try:
        secret = base64.b64decode(text, validate=True)
    except binascii.Error:
        secret = b""
    if len(secret) != MASTER_BYTES:
        raise EncryptionError(
            f"{where} has no master key: it must be {MASTER_BYTES} random bytes as base64; {_MAKE_ONE}"
        )
    return MasterKey(secret)
