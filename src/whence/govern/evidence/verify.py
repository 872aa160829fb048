"""Verification of a pack: its signature, the hashes of its files, and that each edge has its events, unchanged."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from whence.errors import EventError
from whence.govern.evidence.heads import FILE as HEADS
from whence.govern.evidence.heads import find_broken_chain
from whence.govern.evidence.leaves import hash_event, hash_events, hash_line, leaves_of, values_in
from whence.govern.evidence.signing.envelope import Envelope, VerifyingKey, has_signed, read_envelope
from whence.govern.evidence.statement import ENVELOPE, PREDICATE_TYPE, STATEMENT_TYPE, Files
from whence.openlineage.json.wire import decode, encode_canonical, event_key

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a file of a pack."""

    file: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The result. `signed_by`: the trusted keys whose signatures hold; `predicate`: what the pack states of itself."""

    problems: tuple[Problem, ...]
    signed_by: tuple[str, ...] = ()
    is_signed: bool = False
    """Whether there is any signature."""
    files: int = 0
    predicate: Json | None = None


def verify_files(files: Files, trusted: Sequence[VerifyingKey]) -> Verification:
    """Verify the files of a pack. Without trusted keys only the hashes; then whoever changed a file can hide it."""
    try:
        envelope = read_envelope(files[ENVELOPE])
        statement = _statement(envelope)
    except KeyError:
        return Verification(problems=(Problem(ENVELOPE, "is missing"),))
    except ValueError as error:
        return Verification(problems=(Problem(ENVELOPE, str(error)),))
    signers = tuple(key.id for key in trusted if has_signed(key, envelope))
    problems = list(_wrong_signatures(envelope, trusted, signers))
    wrong = list(_wrong_files(files, statement))
    problems += wrong or _problems_of_content(files, statement["predicate"])
    return Verification(
        problems=tuple(problems),
        signed_by=signers,
        is_signed=bool(envelope.signatures),
        files=len(statement["subject"]),
        predicate=statement["predicate"],
    )


def _statement(envelope: Envelope) -> Json:
    """The statement in an envelope. Raises ValueError."""
    try:
        found = json.loads(envelope.payload)
    except RecursionError:
        raise ValueError("its payload is nested too deeply") from None
    match found:
        case {
            "_type": str(type_),
            "predicateType": str(predicate),
            "subject": [*_],
            "predicate": {
                "question": {"node": str(), "as_of": str()},
                "completeness": {"complete": bool(), "stopped_by": _, "hidden_nodes": int()},
                "events": {"hash": str(), "whole": int(), "cut": int(), "missing": int(), "hidden": int()},
            },
        } if (type_, predicate) == (STATEMENT_TYPE, PREDICATE_TYPE):
            statement: Json = found
            return statement
    raise ValueError("its payload is not a statement about a pack")


def _wrong_signatures(envelope: Envelope, trusted: Sequence[VerifyingKey], signers: Sequence[str]) -> Iterator[Problem]:
    if not trusted:
        return
    if not envelope.signatures:
        yield Problem(ENVELOPE, "is not signed")
    elif not signers:
        yield Problem(ENVELOPE, "is not signed by a key that you trust, or was changed after it was signed")


def _wrong_files(files: Files, statement: Json) -> Iterator[Problem]:
    stated = dict(_digests(statement))
    for name in sorted(stated.keys() | files.keys() - {ENVELOPE}):
        if name not in files:
            yield Problem(name, "is missing")
        elif name not in stated:
            yield Problem(name, "is not part of the pack")
        elif sha256(files[name]).hexdigest() != stated[name]:
            yield Problem(name, "was changed")


def _digests(statement: Json) -> Iterator[tuple[str, str]]:
    for one in statement["subject"]:
        match one:
            case {"name": str(name), "digest": {"sha256": str(digest)}}:
                yield name, digest


def _problems_of_content(files: Files, predicate: Json) -> list[Problem]:
    """The same as a list. A pack that is not by Whence can have any form, if no key is asked for."""
    try:
        return list(_wrong_content(files, predicate))
    except (EventError, LookupError, TypeError, ValueError, AttributeError, RecursionError):
        return [Problem("events.jsonl", "or a file that belongs to it has another form than Whence writes")]


def _wrong_content(files: Files, predicate: Json) -> Iterator[Problem]:
    """What does not fit together, although each file is the one that the statement names. Packs of earlier versions
    have no heads.
    """
    if "heads" in predicate and (problem := find_broken_chain(files[HEADS], predicate["heads"])):
        yield Problem(HEADS, problem)
    events = {one["event"]: one for one in _lines(files["events.jsonl"])}
    leaves = {one["event"]: one for one in _lines(files["leaves.jsonl"])}
    for key, one in events.items():
        if problem := _wrong_event(one, leaves.get(key)):
            yield Problem("events.jsonl", f"event {key}: {problem}")
    hashes = {key: str(one["hash"]) for key, one in events.items() if one["hash"] is not None}
    if hash_events(hashes) != predicate["events"]["hash"]:
        yield Problem("events.jsonl", "its events are not those of the statement")
    for key in sorted(_proofs(json.loads(files["lineage.json"])) - events.keys()):
        yield Problem("lineage.json", f"event {key} proves an edge, and is not in events.jsonl")


def _wrong_event(event: Json, leaves: Json | None) -> str:
    """What is wrong with an event; empty if nothing is."""
    match event, leaves:
        case {"state": "missing" | "hidden", "payload": None, "hash": None}, None:
            return ""
        case {"state": "whole", "payload": {**payload}, "hash": str(hash_)}, {"seed": str(seed)}:
            if event_key(encode_canonical(payload)) != event["event"]:
                return "its payload is not the one that its key names"
            found = [one.hash for one in leaves_of({str(name): value for name, value in payload.items()}, seed)]
            return "" if hash_event(found) == hash_ else "its hash is wrong"
        case {"state": "cut", "payload": {**payload}, "hash": str(hash_)}, {"leaves": [*lines], "hashes": [*hashes]}:
            found = [*map(hash_line, lines), *hashes]
            if hash_event(found) != hash_:
                return "its hash is wrong"
            return "" if _are_in(lines, dict(values_in(payload))) else "a leaf is not in its payload"
    return "it has another form"


def _are_in(lines: Iterable[str], values: Mapping[str, bytes]) -> bool:
    read = (json.loads(one) for one in lines)
    return all(values.get(pointer) == encode_canonical(value) for _, pointer, value in read)


def _proofs(lineage: Json) -> set[str]:
    evidence = (one for edge in lineage["edges"] for one in edge["evidence"])
    return {one[seen]["event"] for one in evidence for seen in ("first_seen", "last_seen")}


def _lines(content: bytes) -> Iterator[Json]:
    return (decode(line) for line in content.splitlines() if line)
