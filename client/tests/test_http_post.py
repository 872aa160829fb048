"""Requests over a kept connection."""

from fixtures.collectors import collecting

from whence_client.outbox.delivery import Reply
from whence_client.outbox.http_post import HttpPost
from whence_client.process.settings import Settings


def test_a_connection_that_the_collector_ended_is_opened_again() -> None:
    with collecting() as collector:
        collector.ends_connections = True
        post = HttpPost(Settings(url=collector.url))
        assert [post("", b'{"number": %d}' % number) for number in range(3)] == [Reply(201)] * 3
        assert collector.events == [{"number": 0}, {"number": 1}, {"number": 2}]
        post.close()


def test_a_collector_that_is_gone_is_a_failure() -> None:
    with collecting() as collector:
        collector.ends_connections = True
        post = HttpPost(Settings(url=collector.url))
        assert post("", b"{}") == Reply(201)
    assert post("", b"{}").status == 0
