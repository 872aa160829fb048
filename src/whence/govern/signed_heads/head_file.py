"""The file of signed heads, and the next line of it."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from whence.errors import EvidenceError
from whence.govern.evidence.signing.envelope import write_envelope
from whence.govern.evidence.signing.keys import SigningKey
from whence.govern.signed_heads.sign import sign_heads
from whence.govern.signed_heads.statement import SignedHead, read_signed_heads
from whence.log import Log
from whence.store.security.audit import Head

VerifyAudit = Callable[[Sequence[Head]], Head | None]
"""Verifies that earlier heads are in the audit log, and returns its head; None if there is none. Raises AuditError."""


def read_head_file(file: Path) -> Sequence[SignedHead]:
    """The heads of a file, the oldest first; none if it does not exist. Raises EvidenceError."""
    try:
        return read_signed_heads(file.read_bytes())
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise EvidenceError(str(file), f"it cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise EvidenceError(str(file), str(error)) from None


def append_head(file: Path, log: Log, verify_audit: VerifyAudit, key: SigningKey, at: str) -> SignedHead:
    """Sign everything since the last head of a file at a time (ISO 8601), and append it. Raises EvidenceError,
    AuditError, LogError, StoreError.
    """
    before = read_head_file(file)
    audit = verify_audit([one.heads.audit for one in before if one.heads.audit is not None])
    made = sign_heads(log, audit, before, key, at)
    try:
        with file.open("ab") as opened:
            opened.write(write_envelope(made.envelope))
            opened.flush()
            os.fsync(opened.fileno())
    except OSError as error:
        raise EvidenceError(str(file), f"it cannot be written: {error.strerror}") from None
    return made
