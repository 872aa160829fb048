"""What gates recorded of the nodes of a pack: verdicts with their approvals and waivers, and promotions."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Any, TypeVar

import msgspec

from whence.govern.gate.records import approvals_of, list_records, person_of, waivers_of
from whence.model.catalog import RegisteredFacet, RegistryKind
from whence.model.gate_records import PromotionRecord, VerdictRecord, keys_of
from whence.model.names import parse_node
from whence.query.answers.instants import iso
from whence.query.answers.values import dataset_of
from whence.query.ports.catalog import Catalog
from whence.query.visibility.gate_records import nodes_of, read_record

Json = dict[str, Any]
AnyRecord = TypeVar("AnyRecord", VerdictRecord, PromotionRecord)


def gate_document(catalog: Catalog, nodes: AbstractSet[str], at: int) -> Json:
    """The records until a time (µs) that name one of the datasets and jobs, or a column of one; the oldest first.

    A verdict is the last one on its commit, an approval counts for its commit, and a waiver for its change.
    """
    verdicts = [
        one
        for one in _read(catalog, RegistryKind.VERDICT, VerdictRecord, at)
        if not nodes.isdisjoint(_named(nodes_of(one[1])))
    ]
    commits = {keys_of(one.name) for one, _ in verdicts}
    changes = {(keys_of(one.name)[1], change.id) for one, verdict in verdicts for change in verdict.changes}
    return {
        "verdicts": [_record(one, "verdict", verdict) for one, verdict in verdicts],
        "approvals": list(_approvals(catalog, commits, at)),
        "waivers": list(_waivers(catalog, changes, at)),
        "promotions": [
            _record(one, "promotion", promotion)
            for one, promotion in _read(catalog, RegistryKind.PROMOTION, PromotionRecord, at)
            if promotion.node in nodes
        ],
    }


def _named(nodes: AbstractSet[str]) -> set[str]:
    """The datasets and jobs among nodes, and the datasets of columns."""
    parsed = (node for text in nodes if (node := parse_node(text)) is not None)
    return {str(dataset_of(node) or node) for node in parsed}


def _read(
    catalog: Catalog, kind: RegistryKind, type_: type[AnyRecord], at: int
) -> Iterator[tuple[RegisteredFacet, AnyRecord]]:
    found = [one for one in list_records(catalog, kind, "") if one.time <= at]
    for one in sorted(found, key=lambda one: (one.time, one.name.name)):
        if (record := read_record(one.payload, type_)) is not None:
            yield one, record


def _approvals(catalog: Catalog, commits: AbstractSet[tuple[str, ...]], at: int) -> Iterator[Json]:
    for commit, repository in sorted(commits):
        for one in sorted(approvals_of(catalog, repository, commit), key=lambda one: (one.time, one.person)):
            if one.time <= at:
                yield {
                    "repository": repository,
                    "commit": commit,
                    "person": one.person,
                    "recorded_at": iso(one.time),
                }


def _waivers(catalog: Catalog, changes: AbstractSet[tuple[str, str]], at: int) -> Iterator[Json]:
    for repository in sorted({of for of, _ in changes}):
        for one in sorted(waivers_of(catalog, repository), key=lambda one: (one.time, one.change)):
            if one.time <= at and (repository, one.change) in changes:
                yield {
                    "repository": repository,
                    "change": one.change,
                    "owner": one.owner,
                    "reason": one.reason,
                    "expires": one.expires.isoformat(),
                    "recorded_at": iso(one.time),
                }


def _record(one: RegisteredFacet, kind: str, record: object) -> Json:
    recorder = person_of(one.producer) or one.producer
    head = {"recorded_at": iso(one.time), "recorded_by": recorder, kind: msgspec.to_builtins(record)}
    return head if kind == "promotion" else {"repository": keys_of(one.name)[1], **head}
