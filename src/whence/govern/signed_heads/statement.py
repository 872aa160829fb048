"""Statements about both logs (in-toto Statement v1), and the file of envelopes that they are kept in, one a line."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from whence.govern.evidence.signing.envelope import Envelope, read_envelope
from whence.govern.evidence.statement import STATEMENT_TYPE
from whence.log import Position
from whence.store.security.audit import Head

PREDICATE_TYPE = "https://github.com/whence-lineage/whence/signed-head/v1"
AUDIT = "audit-log"
EVENTS = "event-log/"
"""The subject of a lane is this and its name."""


@dataclass(frozen=True, slots=True)
class Range:
    """Records of a lane of the event log, the first at `since`, all before `until`; `root` is that of their tree."""

    lane: str
    since: Position
    until: Position
    records: int
    root: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Heads:
    """The heads of both logs. `audit` is None where there is no audit log.

    `previous` is the SHA-256 of the statement before; `ranges` has what is new since then, in the order of lanes.
    """

    signed_at: str
    previous: str | None
    audit: Head | None
    ranges: tuple[Range, ...]


@dataclass(frozen=True, slots=True)
class SignedHead:
    """A line of the file: the envelope, and what it states."""

    envelope: Envelope
    heads: Heads

    @property
    def digest(self) -> str:
        """The SHA-256 of the statement, which the next one names."""
        return sha256(self.envelope.payload).hexdigest()


def write_statement(heads: Heads) -> bytes:
    """The statement as JSON; of equal heads the same bytes."""
    digests = {} if heads.audit is None else {AUDIT: heads.audit.hash}
    digests |= {f"{EVENTS}{one.lane}": one.root for one in heads.ranges}
    document = {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": name, "digest": {"sha256": digest}} for name, digest in digests.items()],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "signed_at": heads.signed_at,
            "previous": heads.previous,
            "audit_rows": None if heads.audit is None else heads.audit.number,
            "ranges": [_range_document(one) for one in heads.ranges],
        },
    }
    return json.dumps(document, separators=(",", ":")).encode()


def read_signed_heads(content: bytes) -> Sequence[SignedHead]:
    """The lines of a file, the oldest first. Raises ValueError with the number of the line."""
    found = list[SignedHead]()
    for number, line in enumerate(content.splitlines(keepends=True), 1):
        try:
            envelope = read_envelope(line)
            found.append(SignedHead(envelope, _read_statement(envelope.payload)))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise ValueError(f"line {number} is no signed head: {error}") from None
    return found


def _read_statement(payload: bytes) -> Heads:
    """The inverse of `write_statement`. Raises ValueError, KeyError and TypeError for any other bytes."""
    document = json.loads(payload)
    digests = {one["name"]: str(one["digest"]["sha256"]) for one in document["subject"]}
    predicate = document["predicate"]
    rows, previous = predicate["audit_rows"], predicate["previous"]
    heads = Heads(
        signed_at=str(predicate["signed_at"]),
        previous=None if previous is None else str(previous),
        audit=None if rows is None else Head(int(rows), digests[AUDIT]),
        ranges=tuple(_read_range(one, digests) for one in predicate["ranges"]),
    )
    if write_statement(heads) != payload:
        raise ValueError("it is not written as Whence writes it")
    return heads


def _range_document(one: Range) -> dict[str, object]:
    return {"lane": one.lane, "since": str(one.since), "until": str(one.until), "records": one.records}


def _read_range(one: Mapping[str, Any], digests: Mapping[str, str]) -> Range:
    lane = str(one["lane"])
    since, until = Position.parse(one["since"]), Position.parse(one["until"])
    return Range(lane, since, until, int(one["records"]), digests[f"{EVENTS}{lane}"])
