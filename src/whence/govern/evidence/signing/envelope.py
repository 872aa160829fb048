"""DSSE envelopes (github.com/secure-systems-lab/dsse, version 1): a payload and signatures over it.

An envelope is written in one way only, and read only if it is written so: then no byte of it can change unnoticed.
"""

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

PAYLOAD_TYPE = "application/vnd.in-toto+json"


class VerifyingKey(Protocol):
    """A key that the verifier trusts (`keys.PublicKey`)."""

    @property
    def id(self) -> str:
        """Its id."""
        ...

    def is_signature(self, signature: bytes, of: bytes) -> bool:
        """Whether the key's owner made a signature of some bytes."""
        ...


@dataclass(frozen=True, slots=True)
class Signature:
    """A signature, and the id of its key."""

    key_id: str
    value: bytes


@dataclass(frozen=True, slots=True)
class Envelope:
    """A payload and its signatures; there are none if it is not signed."""

    payload: bytes
    signatures: tuple[Signature, ...] = ()


def signed_bytes(payload: bytes) -> bytes:
    """The bytes that are signed: DSSE's pre-authentication encoding."""
    return b"DSSEv1 %d %s %d %s" % (len(PAYLOAD_TYPE), PAYLOAD_TYPE.encode(), len(payload), payload)


def has_signed(key: VerifyingKey, envelope: Envelope) -> bool:
    """Whether a signature of the envelope is by this key."""
    of = signed_bytes(envelope.payload)
    return any(one.key_id == key.id and key.is_signature(one.value, of) for one in envelope.signatures)


def write_envelope(envelope: Envelope) -> bytes:
    """The envelope as JSON, and a line end."""
    document = {
        "payload": _encoded(envelope.payload),
        "payloadType": PAYLOAD_TYPE,
        "signatures": [{"keyid": one.key_id, "sig": _encoded(one.value)} for one in envelope.signatures],
    }
    return json.dumps(document, separators=(",", ":")).encode() + b"\n"


def read_envelope(text: bytes) -> Envelope:
    """The inverse of `write_envelope`. Raises ValueError for any other bytes."""
    try:
        document = json.loads(text)
        signatures = tuple(Signature(str(one["keyid"]), _decoded(one["sig"])) for one in _several(document))
        found = Envelope(_decoded(document["payload"]), signatures)
    except (TypeError, KeyError, AttributeError, binascii.Error, RecursionError) as error:
        raise ValueError(f"it is no envelope: {error!r}") from None
    if write_envelope(found) != text:
        raise ValueError("it is not written as Whence writes envelopes")
    return found


def _several(document: Any) -> Sequence[Any]:
    several = document["signatures"]
    if not isinstance(several, list):
        raise TypeError("signatures")
    return several


def _encoded(value: bytes) -> str:
    return base64.b64encode(value).decode()


def _decoded(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
