"""The outbox of a server: from failed runs in a store to a receiver, with failures, backoff, restarts and metrics."""

import asyncio
import json
import os
import shlex
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from sqlalchemy import Engine

from fixtures.stores_of_events import apply_bodies
from govern.notifications.notices import MINUTE, NOW, OPEN, RESOLVED
from govern.notifications.services import SECRET, Webhook, serving
from whence.api.incidents.recording import compute_incidents
from whence.api.notifications import details
from whence.api.notifications import outbox as outboxes
from whence.api.notifications.details import DetailReader
from whence.api.notifications.metrics import outbox_exposition
from whence.api.notifications.outbox import Counts, Outbox, OutboxState
from whence.api.notifications.start import ReceiversOnDisk, read_outbox_state
from whence.errors import ArtifactError, RulesFileError
from whence.govern.notifications.notice import Act
from whence.govern.notifications.outbox import Notices
from whence.govern.notifications.receipts import list_receipts
from whence.govern.notifications.receivers import Receivers
from whence.govern.notifications.receivers_file import read_receivers
from whence.log.segments.log import SegmentLog
from whence.model.access import OPEN as EVERYBODY
from whence.model.access import Grant, Role, Viewer
from whence.model.events import RunState
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.write import dataset, own_facet, run_event
from whence.query.answers.instants import iso
from whence.store.snapshots.catalog import StoreCatalog, snapshot

PROD, STAGING = (
    DatasetName("postgres://prod:5432", "shop.orders\x1b[31m"),
    DatasetName("postgres://staging:5432", "shop.orders"),
)


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_WEBHOOK_SECRET", SECRET)


def receivers(url: str) -> Receivers:
    return read_receivers(
        f"version: 1\n"
        f'receivers: [{{name: hook, webhook: {{url: "{url}", secret: {{env: TEST_WEBHOOK_SECRET}}}}}}]\n'
        f"route: {{receiver: hook}}\n"
    )


def run(number: int, state: RunState, name: DatasetName, ago: int) -> bytes:
    made = RunName(f"01890000-0000-7000-8000-{number:012}", JobName("airflow", f"load {name.namespace}"))
    return json.dumps(run_event(NOW - ago * MINUTE, state, made, outputs=[dataset(name)])).encode()


def sender(url: str, engine: Engine) -> Outbox:
    """An outbox over a store, whose receipts come into the store at once."""
    place = iter(range(100, 100_000))

    async def append(bodies: Sequence[bytes]) -> None:
        apply_bodies(engine, bodies, next(place))

    async def is_current() -> bool:
        return True

    found = receivers(url)
    return Outbox(
        lambda: found, lambda _: read_outbox_state(engine, NOW), append, is_current, lambda: nullcontext(lambda: None)
    )


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def monotonic(self) -> float:
        """The time."""
        return self.now

    def time(self) -> float:
        """The same, as that of the notices."""
        return NOW / 1e6

    def time_ns(self) -> int:
        """The same in ns."""
        return NOW * 1_000


def test_failed_runs_are_notified_of_once_and_so_is_their_end(store: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outboxes, "time", Clock())

    async def send() -> int:
        return await sender(url, store).send()

    def record() -> None:
        events = compute_incidents(store, NOW).events
        apply_bodies(store, [json.dumps(one, ensure_ascii=False).encode() for one in events], 50)

    hook = Webhook()
    with serving(hook) as url:
        failed = [run(number, RunState.FAIL, name, 9) for number, name in enumerate((PROD, STAGING))]
        apply_bodies(store, failed)
        record()
        assert asyncio.run(send()) == 2
        assert asyncio.run(send()) == 0  # another process, which knows only the store
        apply_bodies(store, [run(7, RunState.COMPLETE, PROD, 2)], 20)
        record()
        assert asyncio.run(send()) == 1
    shown = [(one["type"], one["data"]["root"]) for one in hook.received.values()]
    assert sorted(shown) == [
        ("incident.open", str(PROD)),
        ("incident.open", str(STAGING)),
        ("incident.resolved", str(PROD)),
    ]
    with snapshot(store) as connection:
        assert {one.receiver for one in list_receipts(StoreCatalog(connection))} == {"hook"}


def test_a_receiver_that_fails_is_tried_again_later_and_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, service, appended = Clock(), Webhook(), list[bytes]()
    monkeypatch.setattr(outboxes, "time", clock)
    state = OutboxState(incidents=[Notices(notices=(OPEN, RESOLVED), current=RESOLVED)], receipts=())

    async def append(bodies: Sequence[bytes]) -> None:
        appended.extend(bodies)

    async def is_current() -> bool:
        return True

    async def story(url: str) -> list[tuple[int, int, int]]:
        found, seen = receivers(url), []
        outbox = Outbox(lambda: found, lambda _: state, append, is_current, lambda: nullcontext(lambda: None))
        for passed in (0.0, 4.0, 2.0, 9.0, 2.0, 1.0):
            clock.now += passed
            sent = await outbox.send()
            seen.append((sent, outbox.counts["hook"].failed, outbox.counts["hook"].pending))
        return seen

    service.failures = [503, 503]
    with serving(service) as url:
        steps = asyncio.run(story(url))
    assert steps == [(0, 1, 2), (0, 1, 2), (0, 2, 2), (0, 2, 2), (2, 2, 0), (0, 2, 0)]
    assert [one["type"] for one in service.received.values()] == ["incident.open", "incident.resolved"]
    assert len(appended) == 2


def test_nothing_is_sent_while_events_wait_for_the_pipeline() -> None:
    async def is_current() -> bool:
        return False

    async def append(_: Sequence[bytes]) -> None:
        raise AssertionError

    def read(_: int) -> OutboxState:
        raise AssertionError

    outbox = Outbox(lambda: receivers("http://a"), read, append, is_current, lambda: nullcontext(lambda: None))
    assert asyncio.run(outbox.send()) == 0


def test_receivers_are_read_again_when_their_file_changes(tmp_path: Path) -> None:
    file, text = tmp_path / "receivers.yaml", "version: 1\nreceivers: [{name: a, pagerduty: {routing_key: {env: A}}}]\n"
    with pytest.raises(ArtifactError):
        ReceiversOnDisk(file)
    file.write_text("version: 2")
    with pytest.raises(RulesFileError):
        ReceiversOnDisk(file)
    file.write_text(f"{text}route: {{receiver: a}}\n")
    found = ReceiversOnDisk(file)
    for step, (changed, name) in enumerate(
        ((text + "route: {receiver: x}", "a"), (text.replace("name: a", "name: b") + "route: {receiver: b}", "b")), 1
    ):
        file.write_text(changed)
        os.utime(file, ns=(step, step))
        assert [one.name for one in found.read().receivers] == [name]
    file.unlink()
    assert [one.name for one in found.read().receivers] == ["b"]


def test_metrics_name_receivers_only_to_who_may_see_everything() -> None:
    counts = {"hook": Counts(sent=2, failed=1), "<b>pager": Counts(sent=3, pending=4, oldest=9.5)}
    read = outbox_exposition(lambda: counts)
    assert b'whence_notifications_pending{receiver="<b>pager"} 4.0' in read(EVERYBODY)
    sums = read(Viewer(name="ann", grants=()))
    assert b'whence_notifications_sent_total{receiver=""} 5.0' in sums
    assert b"pager" not in sums
    assert outbox_exposition(dict)(EVERYBODY) == b""


def test_a_notice_says_what_is_downstream_and_when_it_was_last_well(
    store: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(details, "time", Clock())
    report = DatasetName("postgres://prod:5432", "mart.revenue")
    load, sums = JobName("airflow", "load"), JobName("airflow", "sum")
    good, bad, below = (RunName(f"01890000-0000-7000-8000-{n:012}", job) for n, job in enumerate((load, load, sums), 1))
    events = [
        run_event(NOW - 90 * MINUTE, RunState.COMPLETE, good, outputs=[dataset(PROD)]),
        run_event(
            NOW - 80 * MINUTE,
            RunState.COMPLETE,
            below,
            inputs=[dataset(PROD)],
            outputs=[dataset(report)],
            run_facets={"airflow": own_facet("AirflowRunFacet", dag={"dag_id": "sums"})},
        ),
        run_event(NOW - 5 * MINUTE, RunState.FAIL, bad, outputs=[dataset(PROD)]),
    ]
    apply_bodies(store, [json.dumps(one).encode() for one in events])
    recorded = [json.dumps(one, ensure_ascii=False).encode() for one in compute_incidents(store, NOW).events]
    apply_bodies(store, recorded, 50)
    (one,) = read_outbox_state(store, NOW).incidents
    reader = DetailReader(store, SegmentLog(tmp_path / "log"))
    act = reader.add_to(Act(notice=one.notices[0], receiver="hook"))
    lines = {detail.label: detail.text for detail in act.notice.details}
    assert "1 job: sum" in [each.text for each in act.notice.details]
    assert "1 dataset: mart.revenue" in [each.text for each in act.notice.details]
    assert lines["Last successful run"].startswith("load at 2026-11-27 00:30 UTC")
    assert lines["Roll back to"].startswith("load at 2026-11-27 00:30 UTC")
    assert lines["Could be paused"] == "1 schedule: airflow sums"
    assert lines["Plan it"] == f"whence contain plan {shlex.quote(str(PROD))}"
    pages = {link.title: dict(parse_qsl(link.path.partition("?")[2])) for link in act.notice.links}
    assert pages["Incident"] == {"incident": one.notices[0].incident}
    assert pages["Lineage when it began"]["as_of"] == iso(NOW - 5 * MINUTE)
    assert pages["Compared with the last good run"]["vs"] == iso(NOW - 90 * MINUTE)
    assert reader.add_to(Act(notice=one.notices[0], receiver="pager")).notice == act.notice
    limited = act.notice.seen_by(Viewer(name="receiver", grants=(Grant(Role.READER, "postgres://staging*"),)))
    assert limited.details == ()
