"""A sender is killed 20 times, between a delivery and its receipt: nothing is lost, and nothing has two meanings."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path
from time import time_ns
from typing import Any

from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import applying
from govern.notifications.notices import MINUTE
from govern.notifications.services import ROUTING_KEY, SECRET, PagerDuty, Request, Webhook, serving
from govern.notifications.transitions import history
from whence.govern.incidents.records import transition_event
from whence.govern.notifications.incident_notices import list_notices
from whence.govern.notifications.notice import Act
from whence.log.record import Draft, Kind
from whence.log.segments.log import SegmentLog
from whence.openlineage.accept import accept
from whence.store.connection.engine import sqlite_url

INCIDENTS, OPEN, KILLS = 15, 5, 20
FILE = """\
version: 1
receivers:
  - {{name: hook, webhook: {{url: "{hook}", secret: {{env: TEST_WEBHOOK_SECRET}}}}}}
  - {{name: pager, pagerduty: {{routing_key: {{env: TEST_PAGERDUTY_KEY}}, url: "{pager}"}}}}
route: {{receiver: [hook, pager]}}
"""


class Killing(Webhook):
    """Kills the sender at every second request: before it has an answer, or a moment after it has one."""

    def __init__(self, data: Path) -> None:
        super().__init__()
        self._pid, self._chance, self.kills = data / "sender", random.Random(7), 0

    def answer(self, request: Request) -> tuple[int, Any]:
        """The answer of a webhook, which the sender may not live to read."""
        found = super().answer(request)
        if self.kills < KILLS and len(self.requests) % 2 == 0:
            self.kills += 1
            pid = int(self._pid.read_text())
            if self._chance.random() < 0.5:
                os.kill(pid, signal.SIGKILL)
            else:
                threading.Timer(self._chance.random() / 50, _kill, (pid,)).start()
        return found


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def test_nothing_is_lost_and_nothing_is_sent_twice_under_one_id(tmp_path: Path) -> None:
    data, store = tmp_path / "data", sqlite_url(tmp_path / "store.db")
    data.mkdir()
    start = time_ns() // 1_000 - 60 * MINUTE  # what was over a day ago is no news
    over = [one for number in range(INCIDENTS) for one in history(number, start=start)]
    every = [*over, *(one for number in range(OPEN) for one in history(100 + number, ("open",), start=start))]
    append(data, every)
    engine = open_migrated(store)
    hook, pager = Killing(data), PagerDuty()
    with serving(hook) as hook_url, serving(pager) as pager_url, applying(engine, data / "log"):
        (tmp_path / "receivers.yaml").write_text(FILE.format(hook=hook_url, pager=pager_url))
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "TEST_WEBHOOK_SECRET": SECRET,
            "TEST_PAGERDUTY_KEY": ROUTING_KEY,
        }
        sender, file = "govern.notifications.killed_sender", tmp_path / "receivers.yaml"
        command = [sys.executable, "-m", sender, str(data), store, str(file)]
        done = subprocess.run(command, env=environment, timeout=120, check=False, capture_output=True, text=True)
    engine.dispose()
    assert done.returncode == 0, done.stderr[-2_000:]
    assert hook.kills == KILLS
    notices = [notice for one in list_notices((), every, {}, start + 60 * MINUTE) for notice in one.notices]
    assert set(hook.received) == {Act(notice=one, receiver="hook").id for one in notices}
    assert len(hook.received) == 3 * INCIDENTS + OPEN
    assert len(hook.requests) <= len(hook.received) + KILLS
    bodies = {(one.headers["webhook-id"], one.content) for one in hook.requests}
    assert len(bodies) == len(hook.received)
    assert (pager.pages, set(pager.alerts.values())) == (OPEN, {"trigger"})  # nobody is woken for what is over


def append(data: Path, transitions: list[Any]) -> None:
    """Record transitions in a log."""
    writer = SegmentLog(data / "log").open_writer()
    events = [transition_event(one.record, "postgres://prod", one.time) for one in transitions]
    accepted = [accept(json.dumps(one, ensure_ascii=False).encode()) for one in events]
    keyed = [(bytes.fromhex(one.key), one.payload) for one in accepted]
    writer.append([Draft(kind=Kind.EVENT, key=key, received_at=0, payload=payload) for key, payload in keyed])
    writer.close()
