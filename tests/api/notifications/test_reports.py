"""The weekly report that a running server sends: once, over restarts and kills, and only what a receiver may see."""

import asyncio
import json
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import pytest
from sqlalchemy import Engine

from fixtures.stores_of_events import apply_bodies
from govern.notifications.notices import MINUTE, NOW
from govern.notifications.services import TOKEN, Mailbox, Slack, mail_server, serving
from whence.api.notifications import outbox as outboxes
from whence.api.notifications.messages import MessageSender
from whence.api.notifications.outbox import Outbox
from whence.api.notifications.start import read_outbox_state
from whence.errors import LogError
from whence.govern.notifications.receivers_file import read_receivers
from whence.log.segments.log import SegmentLog
from whence.model.events import RunState
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.write import dataset, run_event

DAY = 1_440 * MINUTE
FILE = """\
version: 1
receivers:
  - name: leads
    namespaces: [public]
    email: {{server: "{mail}", from: whence@example.com, to: [leads@example.com], security: none}}
  - name: channel
    slack: {{channel: C024BE91L, token: {{env: TEST_SLACK_TOKEN}}, url: "{slack}/api"}}
route: {{receiver: channel}}
reports:
  - {{receiver: [leads, channel], weekly: thu 07:00, timeZone: Europe/Berlin}}
"""


class Clock:
    """The time of the notices, one day after the report was due."""

    monotonic = staticmethod(lambda: 1_000.0)
    time = staticmethod(lambda: NOW / 1e6)
    time_ns = staticmethod(lambda: NOW * 1_000)


def unknown(number: int, namespace: str) -> bytes:
    """A run that reads what nobody writes."""
    run = RunName(f"01890000-0000-7000-8000-{number:012}", JobName("airflow", f"load {number}"))
    source, target = DatasetName(namespace, "source"), DatasetName(namespace, "target")
    made = run_event(NOW - 6 * DAY, RunState.COMPLETE, run, inputs=[dataset(source)], outputs=[dataset(target)])
    return json.dumps(made).encode()


def test_each_receiver_gets_a_report_once(store: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process is killed after it sent, and before it has a receipt; the next one, and a third, go on."""
    monkeypatch.setattr(outboxes, "time", Clock)
    monkeypatch.setenv("TEST_SLACK_TOKEN", TOKEN)
    apply_bodies(store, [unknown(1, "public"), unknown(2, "hr.secret")])
    place, is_killed = iter(range(100, 1_000)), True

    async def append(bodies: Sequence[bytes]) -> None:
        if is_killed:
            raise LogError
        apply_bodies(store, bodies, next(place))

    async def is_current() -> bool:
        return True

    def send() -> int:
        sender = MessageSender(store, SegmentLog(tmp_path / "log")).send
        outbox = Outbox(
            lambda: receivers,
            lambda _: read_outbox_state(store, NOW),
            append,
            is_current,
            lambda: nullcontext(lambda: None),
            send_message=sender,
        )
        return asyncio.run(outbox.send())

    box, slack = Mailbox(), Slack()
    with mail_server(box) as (host, port), serving(slack) as url:
        receivers = read_receivers(FILE.format(mail=f"{host}:{port}", slack=url))
        with pytest.raises(LogError):
            send()
        is_killed = False
        assert send() == 2
        assert send() == 0
    assert len(slack.messages) == 1  # the one that was there was found
    (posted,) = slack.messages.values()
    assert posted["text"].startswith("Week 2026-W47")
    assert len({one["Message-ID"] for one in box.mails}) == 1
    mails = "".join(str(one.get_body(("plain",))) for one in box.mails)
    assert "public" in mails
    assert "secret" not in mails
