"""A storm through a real Alertmanager: one notification of one root, its silence, and its resolution."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from govern.notifications.notices import MINUTE, ORDERS, RESOLVED, storm
from govern.notifications.services import Request, Service, serving
from services.alertmanager import Alertmanager, alertmanager
from whence.govern.notifications.adapters.alertmanager import post_alerts
from whence.govern.notifications.adapters.http import open_http
from whence.govern.notifications.notice import Notice
from whence.govern.notifications.receivers import AlertmanagerReceiver
from whence.govern.notifications.rendering.alertmanager import alerts

GROUP_WAIT, GROUP_INTERVAL = 1, 2
"""Seconds: those of production are 30 and 300."""


class Sink(Service):
    """The webhook that Alertmanager notifies."""

    def answer(self, request: Request) -> tuple[int, Any]:
        """Takes all."""
        return 200, {}

    @property
    def notifications(self) -> list[Any]:
        """The bodies, in order."""
        return [one.body for one in self.requests]


@contextmanager
def running(directory: Path, sink: str) -> Iterator[Alertmanager]:
    """An Alertmanager with the configuration of docs/how-to/notifications.md, but quicker."""
    config = {
        "route": {
            "receiver": "sink",
            "group_by": ["root"],
            "group_wait": f"{GROUP_WAIT}s",
            "group_interval": f"{GROUP_INTERVAL}s",
            "repeat_interval": "12h",
        },
        "inhibit_rules": [
            {"source_matchers": ["role=root"], "target_matchers": ["role=downstream"], "equal": ["root"]}
        ],
        "receivers": [{"name": "sink", "webhook_configs": [{"url": sink}]}],
    }
    with alertmanager(config, directory) as made:
        yield made


def send(made: Alertmanager, notice: Notice) -> None:
    with open_http() as http:
        post_alerts(http, AlertmanagerReceiver(urls=(made.url,)), alerts(notice, time.time_ns() // 1_000))


def now_storm(*, is_over: bool = False) -> Notice:
    """200 datasets downstream of one root, that began now or ended now."""
    now = time.time_ns() // 1_000
    notice = storm(200, replace(RESOLVED, resolved_at=now) if is_over else replace(RESOLVED, resolved_at=None))
    state = notice.state if is_over else type(notice.state).OPEN
    symptoms = tuple(replace(one, since=now - MINUTE) for one in notice.symptoms)
    return replace(notice, state=state, symptoms=symptoms, since=now - MINUTE, at=now)


def wait_for(condition: Callable[[], bool], seconds: float = 20) -> None:
    give_up = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < give_up
        time.sleep(0.05)


def test_two_hundred_violations_are_one_notification_and_one_resolution(tmp_path: Path) -> None:
    sink = Sink()
    with serving(sink) as url, running(tmp_path, url) as made:
        send(made, now_storm())
        wait_for(lambda: bool(sink.requests))
        send(made, now_storm())  # as every minute
        assert len(made.get("alerts?active=true&inhibited=true")) == 201
        began = time.monotonic()
        send(made, now_storm(is_over=True))
        wait_for(lambda: len(sink.requests) == 2)
        assert time.monotonic() - began < GROUP_INTERVAL + 5
        firing, resolved = sink.notifications
        assert (firing["status"], resolved["status"]) == ("firing", "resolved")
        assert [one["labels"]["role"] for one in firing["alerts"]] == ["root"]
        assert firing["version"] == "4"
        assert firing["groupLabels"] == {"root": str(ORDERS)}


def test_one_silence_of_the_root_silences_all(tmp_path: Path) -> None:
    sink = Sink()
    with serving(sink) as url, running(tmp_path, url) as made:
        now = time.time()
        stamps = [time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now + offset)) for offset in (-1, 3_600)]
        matcher = {"name": "root", "value": str(ORDERS), "isRegex": False, "isEqual": True}
        silence = {"matchers": [matcher], "startsAt": stamps[0], "endsAt": stamps[1]}
        made.post("silences", {**silence, "createdBy": "ann", "comment": "known"})
        send(made, now_storm())
        other = replace(now_storm(), root=replace(ORDERS, name="shop.other"), symptoms=())
        send(made, other)  # notified after the silenced group, which is older
        wait_for(lambda: bool(sink.requests))
        assert {one["groupLabels"]["root"] for one in sink.notifications} == {str(other.root)}
        states = [one["status"]["state"] for one in made.get("alerts?filter=role=root")]
        assert sorted(states) == ["active", "suppressed"]
