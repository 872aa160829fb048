"""Packs of random estates, over a real store and a real log, for whoever may see all, or for one viewer."""

import json
import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import msgspec
from sqlalchemy import Engine, delete

from fixtures.logs_of_events import fill
from fixtures.random_estates import AT, Estate
from fixtures.stores_of_events import apply
from whence.govern.assertions import assert_facets
from whence.govern.evidence.pack import Signer, make_pack
from whence.govern.evidence.raw_events import EventReader
from whence.govern.evidence.sources import Sources
from whence.govern.evidence.statement import Files
from whence.govern.gate.records import approval_facets, promotion_facets, verdict_facets, waiver_facets
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
from whence.openlineage.accept import accept
from whence.openlineage.authority.restrictions import PERSON
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
    with writing(engine) as connection:
        for table in (*FACTS, *DERIVED, progress):
            connection.execute(delete(table))
    fill(SegmentLog(log), [*(payload for _, payload in estate.events.values()), *gate_bodies(estate)])
    apply(engine, list(read_records(log, start_position(log), committed_end(log))), committed_end(log))


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
def sources_of(engine: Engine, log: Path, viewer: Viewer = OPEN) -> Iterator[Sources]:
    """What packs are made of, as the API opens it for a viewer."""
    read = SegmentLog(log).read_records
    with reading(engine) as connection:
        graph, catalog = StoreGraph(connection), StoreCatalog(connection)
        if viewer.can_see_all:
            events = EventReader(read_records=read, visible_ids=None, secret=SECRET)
            yield Sources(graph=graph, catalog=catalog, events=events)
            return
        ids = VisibleIds(graph, Pseudonyms.of(viewer, SECRET))
        scoped = replace(catalog, scope=scope_of(viewer, catalog.every_namespace()))
        yield Sources(
            graph=VisibleGraph(ids, Expressions(ids)),
            catalog=VisibleCatalog(ids, scoped),
            events=EventReader(read_records=read, visible_ids=ids, secret=SECRET),
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
    for number in range(count):
        name = sorted(files)[number % len(files)]
        content = bytearray(files[name])
        content[dice.randrange(len(content))] ^= dice.randint(1, 255)
        yield name, bytes(content)
