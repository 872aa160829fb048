"""Packs of random estates, over a real store and a real log, for whoever may see all, or for one viewer."""

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import Engine, delete

from fixtures.logs_of_events import fill
from fixtures.random_estates import AT, Estate
from fixtures.stores_of_events import apply
from whence.govern.assertions import assert_facets
from whence.govern.declared_rules import rule_event
from whence.govern.evidence.content.raw_events import EventReader
from whence.govern.evidence.content.sources import Sources
from whence.govern.evidence.heads import Head, read_heads
from whence.govern.evidence.pack import Signer, make_pack
from whence.govern.evidence.signing.envelope import write_envelope
from whence.govern.evidence.signing.keys import SigningKey
from whence.govern.evidence.statement import Files
from whence.govern.gate.records import approval_facets, promotion_facets, verdict_facets, waiver_facets
from whence.govern.policies.policy_file import read_policies
from whence.govern.policies.records import POLICIES
from whence.govern.rule_states.records import RuleTransition, rule_transition_event
from whence.govern.run_events.run_commits import read_run_commits
from whence.govern.signed_heads.sign import sign_heads
from whence.govern.signed_heads.statement import SignedHead
from whence.govern.slos.records import declaration_event, declaration_of, transition_event
from whence.govern.slos.slo_file import read_slos
from whence.log.segments.log import SegmentLog
from whence.log.segments.read import committed_end, read_records, start_position
from whence.model.access import OPEN, Viewer
from whence.model.gate_records import (
    AffectedRecord,
    ChangeRecord,
    PromotionRecord,
    VerdictRecord,
    WaiverRecord,
    approval_dataset,
    promotion_dataset,
    verdict_dataset,
    waiver_dataset,
)
from whence.model.names import DatasetName, Node
from whence.model.records.rule_transitions import RuleTransitionRecord, rule_transition_id
from whence.model.records.rules import RuleRecord
from whence.model.slo_records import TransitionRecord, slo_id
from whence.openlineage.accept import accept
from whence.openlineage.authority.restrictions import PERSON
from whence.query.answers.instants import iso
from whence.query.answers.values import Question
from whence.query.visibility.catalog import VisibleCatalog, scope_of
from whence.query.visibility.expressions import Expressions
from whence.query.visibility.graph import VisibleGraph
from whence.query.visibility.pseudonyms import Pseudonyms
from whence.query.visibility.visible_ids import VisibleIds
from whence.store.connection.engine import reading, writing
from whence.store.schema.tables import DERIVED, FACTS, progress
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import StoreGraph

SECRET = b"of this installation"
LATER = AT + 10**9
PERSON_ADA = f"{PERSON}ada"


def write(estate: Estate, engine: Engine, log: Path) -> None:
    """Replace what is in the store by an estate with the records of a gate, and write it to a log."""
    fill_from(bodies(estate), engine, log)


def fill_from(events: Sequence[bytes], engine: Engine, log: Path) -> None:
    """Replace what is in the store by these events, and write them to a log."""
    with writing(engine) as connection:
        for table in (*FACTS, *DERIVED, progress):
            connection.execute(delete(table))
    fill(SegmentLog(log), events)
    apply(engine, list(read_records(log, start_position(log), committed_end(log))), committed_end(log))


def bodies(estate: Estate) -> list[bytes]:
    """The events of an estate, and everything that is recorded about it."""
    return [*(payload for _, payload in estate.events.values()), *gate_bodies(estate), *rule_bodies(estate)]


def rule_bodies(estate: Estate) -> Iterator[bytes]:
    """What is declared and recorded about each dataset: an objective, and a policy of its namespace. Their texts and
    reasons name everything.
    """
    everything = " ".join(f"{one} col0{one.name}" for one in estate.datasets)
    for name in estate.datasets:
        indicator = {"freshness": {"limit": "1h"}}
        slo = {"name": "fresh", "dataset": str(name), "description": everything, "indicator": indicator}
        slo |= {"objective": {"target": "99%"}, "alerting": []}
        (objective,) = read_slos(json.dumps({"version": 1, "service": f"svc-{name.name}", "slos": [slo]})).objectives
        declared = declaration_of(objective)
        changed = TransitionRecord(
            slo=slo_id(name.namespace, declared.service, "fresh"),
            service=declared.service,
            name="fresh",
            dataset=str(name),
            before="not evaluated",
            after="violated",
            reason=everything,
        )
        policy: dict[str, Any] = {"name": f"policy of {name.name}", "reason": "as agreed", "owner": "privacy"}
        policy |= {"forbid": {"kind": "dataset", "tag": "shared"}, "unless": {"name": f"{everything}*"}}
        (rule,) = read_policies(
            json.dumps({"version": 1, "namespaces": [name.namespace], "policies": [policy]})
        ).policies
        ((namespace, text),) = rule.texts
        decided = RuleTransitionRecord(
            rule_kind="policy", rule=rule.name, dataset=str(name), after="violated", reason=everything
        )
        for event in (
            declaration_event(declared, name.namespace, AT + 400, PERSON_ADA),
            transition_event(changed, name.namespace, AT + 450),
            rule_event(POLICIES, RuleRecord(name=rule.name, text=text), namespace, AT + 400, PERSON_ADA),
            rule_transition_event(
                RuleTransition(id=rule_transition_id(decided), time=AT + 460, dataset=name, record=decided)
            ),
        ):
            yield accept(json.dumps(event).encode()).payload


def signed_chain(log: Path, key: SigningKey, until: Sequence[int]) -> tuple[Head, ...]:
    """Heads of a log, signed at these times (µs)."""
    found: list[SignedHead] = []
    for at in until:
        found.append(sign_heads(SegmentLog(log), None, found, key, iso(at)))
    return read_heads(b"".join(write_envelope(one.envelope) for one in found))


def gate_bodies(estate: Estate) -> Iterator[bytes]:
    """What a gate records that sees everything: of each dataset a verdict, and promotions."""
    repository = estate.datasets[0].namespace
    for number, name in enumerate(estate.datasets):
        node, commit = str(name), f"c0ffee{number}"
        change = ChangeRecord(id=f"chg{number}", node=node, kind="removed", verdict="blocked", before=f"x {node}")
        affected = tuple(
            AffectedRecord(node=str(one), kind="dataset", by=f"chg{number}", distance=1, path=(node, str(one)))
            for one in estate.datasets
        )
        verdict = VerdictRecord(verdict="blocked", commit=commit, changes=(change,), affected=affected, notices=(node,))
        promotion = PromotionRecord(verdict="pass", node=node, inputs=tuple(map(str, estate.datasets)))
        waiver = WaiverRecord(reason=f"because of {node}", expires="2027-01-01")
        for subject, facets in (
            (verdict_dataset(repository, commit), verdict_facets(msgspec.to_builtins(verdict))),
            (approval_dataset(repository, commit, "ada"), approval_facets(approves=True)),
            (waiver_dataset(repository, f"chg{number}"), waiver_facets(waiver)),
            (promotion_dataset(name), promotion_facets(msgspec.to_builtins(promotion))),
        ):
            yield accept(json.dumps(assert_facets(subject, AT + 500, PERSON_ADA, facets)).encode()).payload


@contextmanager
def sources_of(engine: Engine, log: Path, viewer: Viewer = OPEN, heads: tuple[Head, ...] = ()) -> Iterator[Sources]:
    """What packs are made of, as the API opens it for a viewer."""
    opened = SegmentLog(log)
    read = opened.read_records
    with reading(engine) as connection:
        graph, catalog = StoreGraph(connection), StoreCatalog(connection)
        commits = partial(read_run_commits, connection, opened)
        if viewer.can_see_all:
            events = EventReader(read_records=read, visible_ids=None, secret=SECRET)
            yield Sources(
                graph=graph,
                catalog=catalog,
                whole=catalog,
                whole_graph=graph,
                events=events,
                read_commits=commits,
                heads=heads,
            )
            return
        ids = VisibleIds(graph, Pseudonyms.of(viewer, SECRET))
        scoped = replace(catalog, scope=scope_of(viewer, catalog.every_namespace()))
        yield Sources(
            graph=VisibleGraph(ids, Expressions(ids)),
            catalog=VisibleCatalog(ids, scoped),
            whole=catalog,
            whole_graph=graph,
            events=EventReader(read_records=read, visible_ids=ids, secret=SECRET),
            read_commits=commits,
            heads=heads,
        )


def make(sources: Sources, root: Node, at: int = LATER, signer: Signer = Signer()) -> Files:  # noqa: B008  # frozen
    """A pack of a node."""
    return make_pack(sources, root, Question(at=at), at, signer)


def texts_in(files: Files, words: Iterable[str]) -> list[tuple[str, str]]:
    """Which of some words are in which file, in any spelling of JSON."""
    plain = {name: content.decode() for name, content in files.items()}
    return [(word, name) for word in words for name, text in plain.items() if word in text]


def written_dataset(estate: Estate) -> DatasetName:
    """A dataset that a job writes, with something upstream of it."""
    for _, payload in estate.events.values():
        if outputs := json.loads(payload).get("outputs"):
            return DatasetName(outputs[0]["namespace"], outputs[0]["name"])
    raise AssertionError("no job writes anything")


def flips(files: Files, dice: random.Random, count: int) -> Iterator[tuple[str, bytes]]:
    """A file in turn, with one random byte of it changed."""
    names = sorted(name for name, content in files.items() if content)
    for number in range(count):
        name = names[number % len(names)]
        content = bytearray(files[name])
        content[dice.randrange(len(content))] ^= dice.randint(1, 255)
        yield name, bytes(content)
