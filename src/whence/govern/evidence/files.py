"""The files of a pack, as bytes that depend on its content alone."""

import json
from collections.abc import Mapping
from hashlib import sha256

from whence import __version__
from whence.govern.evidence.content.gather import PackContent
from whence.govern.evidence.heads import FILE as HEADS
from whence.govern.evidence.heads import state_heads
from whence.govern.evidence.rendering.card import render_card
from whence.govern.evidence.rendering.provenance import provenance_document
from whence.govern.evidence.rendering.report import render_report
from whence.govern.evidence.shipped_files import SHIPPED, shipped_file
from whence.govern.evidence.statement import PREDICATE_TYPE, STATEMENT_TYPE, Files
from whence.openlineage.json.wire import Json, encode_canonical


def content_files(content: PackContent) -> dict[str, bytes]:
    """All files of a pack but its envelope."""
    documents: Mapping[str, Json] = {
        "lineage.json": {"question": content.question, "completeness": content.completeness, **content.lineage},
        "runs.json": content.runs,
        "schemas.json": content.schemas,
        "checks.json": content.checks,
        "contracts.json": content.contracts,
        "slos.json": content.slos,
        "policies.json": content.policies,
        "facts.json": content.facts,
        "gate.json": content.gate,
        "audit.json": content.audit,
        "prov.json": provenance_document(content),
    }
    card = {} if content.card is None else {"card.json": content.card}
    pages = {} if content.card is None else {"card.html": render_card(content.card)}
    return {
        **{name: encode_canonical(one) + b"\n" for name, one in {**documents, **card}.items()},
        **pages,
        "events.jsonl": content.events.lines,
        "leaves.jsonl": content.events.leaves,
        HEADS: b"".join(one.line for one in content.heads) if content.are_heads_shown else b"",
        "report.html": render_report(content),
        **{name: shipped_file(name) for name in SHIPPED},
    }


def ascii_json(value: Json) -> bytes:
    """Canonical JSON in ASCII, whose bytes and characters are the same number."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def statement_of(content: PackContent, files: Files) -> bytes:
    """The in-toto Statement about the files of a pack, as ASCII: the payload of the envelope."""
    return ascii_json(
        {
            "_type": STATEMENT_TYPE,
            "subject": [
                {"name": name, "digest": {"sha256": sha256(files[name]).hexdigest()}} for name in sorted(files)
            ],
            "predicateType": PREDICATE_TYPE,
            "predicate": {
                "question": content.question,
                "completeness": content.completeness,
                "events": {
                    **{state.value: count for state, count in content.events.counts.items()},
                    "hash": content.events.hash,
                },
                "audit": content.audit["shown"],
                "heads": state_heads(content.heads, are_shown=content.are_heads_shown),
                "whence": __version__,
            },
        }
    )
