"""What leaves by a channel names only what its reader may see, in random estates under random grants and rules.

Every dataset, column and job is a word of its own. Checks and their texts have the words of columns in them.
"""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import Engine

from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply_bodies
from govern.notifications.notices import MINUTE, NOW
from govern.notifications.receivers import FILE
from whence.api.incidents.recording import compute_incidents
from whence.api.notifications.details import DetailReader
from whence.api.notifications.outbox import OutboxState
from whence.api.notifications.start import limit_by_policy, read_outbox_state
from whence.client.acts.reports import WeeklyReport
from whence.errors import RulesFileError
from whence.govern.grants import give_role, hide_fields
from whence.govern.notifications.deliver import preview
from whence.govern.notifications.messages import find_retrainings
from whence.govern.notifications.notice import Act
from whence.govern.notifications.receivers import EmailReceiver, Receiver, Receivers, WebhookReceiver
from whence.govern.notifications.receivers_file import read_receivers
from whence.govern.notifications.rendering.retraining import retrain_document
from whence.govern.notifications.viewers import limit_receivers
from whence.govern.reports.documents import report_document
from whence.govern.reports.gather import ReportSources, gather_report
from whence.govern.reports.period import read_report_period
from whence.govern.reports.rendering.messages import render_mail, render_slack
from whence.govern.reports.weekly import WeeklyReport as GatheredReport
from whence.govern.retraining.triggers import RetrainRoute
from whence.log.segments.log import SegmentLog
from whence.model.access import Grant, Hiding, ReadingRestriction, Role
from whence.model.events import RunState
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, RunName
from whence.openlineage.write import column_lineage, dataset, facet, run_event
from whence.store.connection.engine import sqlite_url
from whence.store.security.database import open_security, write_security
from whence.store.security.policy import Policy
from whence.store.security.restrictions import replace_restrictions
from whence.store.snapshots.catalog import StoreCatalog, snapshot
from whence.store.snapshots.graph import StoreGraph

ESTATES, MANY = 5, 300
SPACES = ("spaceprod", "spacehr", "spaceml")
READER = "group:slack:T0ACME:C0DATA"


@dataclass(slots=True)
class Estate:
    """Datasets in layers, each with its columns and its job; what the events say of them, in order."""

    dice: random.Random
    datasets: list[DatasetName] = field(default_factory=list)
    columns: dict[DatasetName, list[str]] = field(default_factory=dict)
    jobs: list[JobName] = field(default_factory=list)
    checked: list[FieldName] = field(default_factory=list)
    runs: int = 0

    def events(self) -> Iterator[bytes]:
        """A good day, columns of which the type is another one later, checks that fail, and jobs that do."""
        for number in range(7):
            name = DatasetName(self.dice.choice(SPACES), f"tbl{number}q")
            self.columns[name] = [f"col{number}x{at}q" for at in range(3)]
            self.datasets.append(name)
            self.jobs.append(JobName(self.dice.choice(SPACES), f"job{number}q"))
            yield self._write(number, 30 * 60, "int")
        for number in self.dice.sample(range(7), 4):
            yield self._check(number)
        for number in self.dice.sample(range(7), 3):
            yield self._write(number, 4, "text")
        for number in self.dice.sample(range(7), 3):
            run = self._run(self.jobs[number])
            yield json.dumps(
                run_event(NOW - 2 * MINUTE, RunState.FAIL, run, outputs=[dataset(self.datasets[number])])
            ).encode()

    def _write(self, number: int, ago: int, type_: str) -> bytes:
        name, before = self.datasets[number], self.datasets[:number]
        inputs = self.dice.sample(before, min(len(before), 2))
        edges = [
            Edge(
                source=FieldName(one, self.dice.choice(self.columns[one])),
                target=FieldName(name, self.dice.choice(self.columns[name])),
                type="DIRECT",
                subtype="IDENTITY",
            )
            for one in inputs
        ]
        fields = [{"name": one, "type": type_} for one in self.columns[name]]
        facets: dict[str, Any] = {"schema": facet("SchemaDatasetFacet", fields=fields)}
        facets |= {"columnLineage": column_lineage(edges)} if edges else {}
        if number > 4:
            facets["datasetType"] = facet("DatasetTypeDatasetFacet", datasetType="MODEL")
        if number % 2:
            facets["tags"] = facet("TagsDatasetFacet", tags=[{"key": "tier", "value": "1"}])
        run = self._run(self.jobs[number])
        out = dataset(name, facets=facets)
        event = run_event(NOW - ago * MINUTE, RunState.COMPLETE, run, inputs=list(map(dataset, inputs)), outputs=[out])
        return json.dumps(event).encode()

    def _check(self, number: int) -> bytes:
        name = self.datasets[number]
        column = self.dice.choice(self.columns[name])
        self.checked.append(FieldName(name, column))
        one = {"assertion": f"not_null_{column}", "success": False, "column": column}
        facets = {"dataQualityAssertions": facet("DataQualityAssertionsDatasetFacet", assertions=[one])}
        run = self._run(JobName(self.dice.choice(SPACES), f"job{number + 10}q"))
        checked = dataset(name, inputFacets=facets)
        return json.dumps(run_event(NOW - 3 * MINUTE, RunState.COMPLETE, run, inputs=[checked])).encode()

    def _run(self, job: JobName) -> RunName:
        self.runs += 1
        return RunName(f"01890000-0000-7000-8000-{self.runs:012}", job)

    def policy(self) -> Policy:
        """Random grants of the channel's reader, hidden columns and restricted ones. Many of these fail a check."""
        fields = [FieldName(of, one) for of, several in self.columns.items() for one in several]
        restricted = frozenset(self.dice.sample(fields + 5 * self.checked, self.dice.choice([0, 0, 1, 5])))
        readers = self.dice.choice([(), (READER,)])
        one = self.dice.choice(self.checked)
        hidden = Hiding("*", one.dataset.name, self.dice.choice(["*", one.field]))
        granted = [Grant(self.dice.choice(list(Role)), one) for one in self.dice.sample(SPACES, 2)]
        return Policy(
            revision=1,
            secret=b"s" * 32,
            keys={},
            grants={READER: tuple(granted)},
            hidings={self.dice.choice(["*", "*", "*", READER, "user:else"]): (hidden,)},
            restrictions=(ReadingRestriction(policy="p", readers=readers, fields=restricted),) if restricted else (),
        )

    def forbidden(self, receiver: Receiver, policy: Policy) -> set[str]:
        """The words of everything that a receiver's reader may not see: by other code than Whence's."""
        grants = [Grant(Role.READER, one) for one in receiver.namespaces]
        if receiver.reader:
            grants = list(policy.grants[READER])
        seen = {space for space in SPACES for one in grants if one.namespaces in ("*", space)}
        stewards = {one.namespaces for one in grants if one.role >= Role.STEWARD}
        words = set(SPACES) - seen
        words |= {one.name for one in self.datasets if one.namespace not in seen}
        words |= {one.name for one in self.jobs if one.namespace not in seen}
        for of, columns in self.columns.items():
            hidden = [*columns] if of.namespace not in seen else []
            if of.namespace in seen - stewards:
                hidden = [one for one in columns if self._is_hidden(FieldName(of, one), receiver, policy)]
            words |= {*hidden}
        return words

    @staticmethod
    def _is_hidden(one: FieldName, receiver: Receiver, policy: Policy) -> bool:
        subjects = ("*", receiver.reader) if receiver.reader else ("*",)
        return any(
            rule.datasets == one.dataset.name and rule.fields in ("*", one.field)
            for subject in subjects
            for rule in policy.hidings.get(subject, ())
        ) or any(one in each.fields for each in policy.restrictions if not (receiver.reader and READER in each.readers))


def receivers_of(dice: random.Random) -> Receivers:
    """A receiver of each kind: of some namespaces, of all, or as the reader of a channel."""
    limits: Sequence[dict[str, Any]] = (
        {"reader": READER},
        {"namespaces": (dice.choice(SPACES),)},
        {"namespaces": ("*",)},
    )
    found = read_receivers(FILE)
    limited = tuple(replace(one, **dice.choice(limits)) for one in found.receivers)
    return replace(found, receivers=limited, retrain=(RetrainRoute(receivers=("hook",), models=("*",)),))


@dataclass(frozen=True, slots=True)
class Roads:
    """Everything that leaves a store for a receiver."""

    engine: Engine
    report: GatheredReport
    state: OutboxState
    details: DetailReader

    def payloads(self, receiver: Receiver, found: Receivers) -> Iterator[str]:
        """What a receiver gets, as text."""
        for incident in self.state.incidents:
            for notice in (*incident.notices, incident.current):
                act = self.details.add_to(Act(notice=notice, receiver=receiver.name))
                seen = act.notice.seen_by(receiver.viewer)
                assert len(seen.symptoms) + seen.unseen == len(act.notice.symptoms)
                yield preview(receiver, act, found.url)
                yield preview(receiver, replace(act, earlier=(notice,), reference="<1@a>"), found.url)
        yield from self._reports(receiver)
        for one, message in find_retrainings(found, self.state.triggers):
            if one.name == receiver.name and isinstance(receiver.target, WebhookReceiver):
                yield msgspec.json.encode(retrain_document(message.content, receiver)).decode()  # type: ignore[arg-type]  # of triggers

    def _reports(self, receiver: Receiver) -> Iterator[str]:
        document = msgspec.convert(report_document(self.report, receiver.viewer), WeeklyReport)
        yield json.dumps(render_slack(document))
        target = EmailReceiver(host="smtp", port=25, sender="a@example.com", to=("b@example.com",))
        for part in render_mail(document, target).iter_parts():
            yield part.get_content()


def open_roads(directory: Path, events: Sequence[bytes]) -> Roads:
    """A store of events, with its incidents."""
    engine, log = open_migrated(sqlite_url(directory / "store.db")), SegmentLog(directory / "log")
    apply_bodies(engine, events)
    recorded = [json.dumps(one, ensure_ascii=False).encode() for one in compute_incidents(engine, NOW).events]
    apply_bodies(engine, recorded, 500)
    retrain = (RetrainRoute(receivers=("hook",), models=("*",)),)
    with snapshot(engine) as connection:
        sources = ReportSources(catalog=StoreCatalog(connection), graph=StoreGraph(connection), log=log)
        report = gather_report(sources, read_report_period("", None, None, NOW))
    return Roads(engine, report, read_outbox_state(engine, NOW, retrain), DetailReader(engine, log))


def test_no_payload_of_any_channel_has_a_name_that_its_reader_may_not_see(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    shown = 0
    for seed in range(MANY if request.config.getoption("long") else ESTATES):
        (place := tmp_path / str(seed)).mkdir()
        estate = Estate(random.Random(seed))
        roads = open_roads(place, list(estate.events()))
        policy = estate.policy()
        found = limit_receivers(receivers_of(estate.dice), policy)
        for receiver in found.receivers:
            words = estate.forbidden(receiver, policy)
            for text in roads.payloads(receiver, found):
                leaked = [word for word in words if word in text.replace("=\n", "")]
                assert not leaked, (seed, receiver.name, receiver.viewer, text)
                shown += "tbl" in text
        roads.engine.dispose()
    assert shown > 20 * ESTATES


def test_receivers_are_limited_by_the_security_database(tmp_path: Path) -> None:
    security = open_security(sqlite_url(tmp_path / "security.db"))
    name = DatasetName("spaceprod", "orders")
    secret, mail = FieldName(name, "ssn"), FieldName(name, "mail")
    with write_security(security) as connection:
        hide_fields(connection, "*", Hiding("*", "*", "ssn"))
        give_role(connection, READER, Grant(Role.READER, "spaceprod"))
        replace_restrictions(connection, [ReadingRestriction(policy="p", readers=(READER,), fields=frozenset({mail}))])
    text = FILE.replace("name: channel", f"name: channel\n    reader: {READER}")
    found = limit_by_policy(read_receivers(text), security)
    channel, hook = (next(one for one in found.receivers if one.name == each) for each in ("channel", "hook"))
    assert [channel.viewer.can_see(one) for one in (name, secret, mail)] == [True, False, True]
    assert [hook.viewer.can_see(one) for one in (name, secret, mail)] == [True, False, False]
    assert not channel.viewer.can_see(DatasetName("spacehr", "pay"))
    assert limit_by_policy(found, None) == found
    security.dispose()


def test_a_receiver_has_namespaces_or_a_reader() -> None:
    with pytest.raises(RulesFileError, match="namespaces or reader"):
        read_receivers(FILE.replace("name: channel", f"name: channel\n    reader: {READER}\n    namespaces: [a]"))
    with pytest.raises(RulesFileError, match="write whom grants name"):
        read_receivers(FILE.replace("name: channel", "name: channel\n    reader: somebody"))
