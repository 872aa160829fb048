"""The stream of server-sent events that tells open pages how far the store is."""

import http.client
import json
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from sqlalchemy import Connection

from api.collector.test_collect import event
from api.operations.test_health import Migrated, applied, end
from api.prepared_process import ServingProcess
from api.process import Serving
from fixtures.migrated_stores import open_migrated
from whence.govern.api_keys import create_key, revoke_key
from whence.log import Position
from whence.model.access import SCOPES, Grant, Role
from whence.store.connection.engine import sqlite_url
from whence.store.security.database import open_security, security_url, write_security
from whence.store.security.grants import add_grant, remove_grant

PATH = "/api/v2/progress/events"


class Sent(NamedTuple):
    """One event of a stream."""

    event: str
    tag: str
    position: str


class Stream:
    """An open stream, and what comes through it."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.response = response

    def next(self) -> Sent | None:
        """The next event; None if the server ended the stream. A connection that was cut raises an error."""
        members = dict[str, str]()
        while line := self.response.readline().decode():
            name, _, value = line.rstrip("\n").partition(": ")
            if not name and members:
                return Sent(members["event"], members["id"], json.loads(members["data"])["position"])
            if name:
                members[name] = value
        return None


@contextmanager
def following(port: int, path: str = PATH, **headers: str) -> Iterator[Stream]:
    """Open a stream, and leave it as a page does that is closed."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", path, headers=headers)
        with connection.getresponse() as response:
            yield Stream(response)
    finally:
        connection.close()


def test_every_page_hears_of_a_change_and_its_tag_is_that_of_the_position(serving: Serving, migrated: Migrated) -> None:
    api = serving()
    engine = migrated(api)
    with ExitStack() as stack:
        several = [stack.enter_context(following(api.port)) for _ in range(3)]
        assert several[0].response.headers.get_content_type() == "text/event-stream"
        firsts = {one.next() for one in several}
        api.post(event())
        applied(engine, end(api))
        seconds = {one.next() for one in several}
        now = api.ask("GET", "/api/v2/progress")
        assert seconds == {Sent("progress", now.headers["etag"], now.json["position"])} != firsts


def test_a_stream_ends_after_the_time_that_it_asks_for(serving: Serving, migrated: Migrated) -> None:
    api = serving()
    migrated(api)
    with following(api.port, f"{PATH}?seconds=0") as stream:
        assert stream.next() is not None
        assert stream.next() is None
    assert api.ask("GET", f"{PATH}?seconds=301").status == 422


def test_open_streams_do_not_hold_up_the_end_of_the_process(serving: Serving, migrated: Migrated) -> None:
    api = serving()
    migrated(api)
    with following(api.port) as stream:
        assert stream.next() is not None
        api.down()
        assert stream.next() is None


def revoke(connection: Connection) -> None:
    revoke_key(connection, "page", time.time_ns() // 1_000)


def take_grant(connection: Connection) -> None:
    remove_grant(connection, "key:page", "*")


@pytest.mark.parametrize("end_access", [revoke, take_grant])
def test_a_stream_ends_when_its_reader_may_no_longer_read(
    tmp_path: Path, end_access: Callable[[Connection], None]
) -> None:
    url = sqlite_url(tmp_path / "store.db")
    engine, security = open_migrated(url), open_security(security_url(url))
    with write_security(security) as connection:
        key = create_key(connection, "page", SCOPES, time.time_ns() // 1_000).text
        add_grant(connection, "key:page", Grant(Role.READER, "*"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        process = ServingProcess(tmp_path / "data", url, listening, {"open": False})
        try:
            process.wait_until_ready()
            with following(port) as stranger:
                assert stranger.response.status == 401
            with following(port, Authorization=f"Bearer {key}") as stream:
                assert stream.next() is not None
                with write_security(security) as connection:
                    end_access(connection)
                for offset in range(1, 100):  # a key is known for a second after its end
                    applied(engine, Position(0, offset))
                    if stream.next() is None:
                        break
                else:
                    raise AssertionError("it goes on")
        finally:
            process.end(signal.SIGTERM)
            engine.dispose()
            security.dispose()
