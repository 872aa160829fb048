"""Connections that are opened and left, requests that never end, and clients that offer HTTP/2: by real sockets."""

import json
import shutil
import socket
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from api.collector.test_collect import event
from api.process import Api, Serving
from whence.log import Kind

HALF_HEAD = b"POST /api/v1/lineage HTTP/1.1\r\nHost: whence\r\n"
PATIENCE_SECONDS = 60
LIMIT = 12


@pytest.fixture(scope="module")
def bounded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A server that waits a second for a head or a body, and lets a peer have a dozen connections."""
    made = Serving(tmp_path_factory.mktemp("bounded"))
    yield made(head_seconds=1, body_seconds=1, peer_connections=LIMIT)
    made.end()


def connect(api: Api, sent: bytes = b"") -> socket.socket:
    peer = socket.create_connection(("127.0.0.1", api.port), timeout=PATIENCE_SECONDS)
    peer.sendall(sent)
    return peer


def rest_of(peer: socket.socket) -> bytes:
    """All that the server says until it ends the connection."""
    received = b""
    while chunk := peer.recv(65_536):
        received += chunk
    return received


def post(path: str, sent: bytes, length: int) -> bytes:
    return b"POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n%s" % (path.encode(), length, sent)


def test_a_connection_that_says_nothing_is_ended(bounded: Api) -> None:
    with connect(bounded) as silent:
        assert rest_of(silent) == b""


@pytest.mark.parametrize(
    "sent", [HALF_HEAD, b"POST", b"\r\n", b"GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n" + HALF_HEAD]
)
def test_a_head_has_a_deadline(bounded: Api, sent: bytes) -> None:
    with connect(bounded, sent) as slow:
        assert rest_of(slow).count(b"HTTP/1.1 408 Request Timeout") == (sent != b"\r\n")


@pytest.mark.parametrize("path", ["/api/v1/lineage", "/api/v1/lineage/batch", "/api/v2/session", "/api/v2/edges"])
@pytest.mark.parametrize("sent", [b"", b"{"])
def test_a_body_has_a_deadline_from_before_its_first_byte(bounded: Api, path: str, sent: bytes) -> None:
    with connect(bounded, post(path, sent, 100)) as slow:
        assert rest_of(slow).startswith((b"HTTP/1.1 408", b"HTTP/1.1 405"))


def test_a_body_that_drips_does_not_outlive_its_deadline(bounded: Api) -> None:
    with connect(bounded, post("/api/v2/session", b"{", 1_000_000)) as slow:
        slow.settimeout(0.1)
        received = b""
        for _ in range(600):
            try:
                slow.sendall(b" ")
                received = slow.recv(1_000)
            except TimeoutError:
                continue
            except ConnectionError:
                break
            break
        else:
            pytest.fail("the connection is still open after a minute")
        assert received[:12] in (b"", b"HTTP/1.1 408")


def test_connections_that_are_left_open_keep_nobody_out(serving: Serving) -> None:
    api = serving(peer_connections=LIMIT)
    with ExitStack() as held:
        left = [
            held.enter_context(connect(api, sent)) for sent in (HALF_HEAD, b"", post("/api/v2/session", b"", 9)) * 20
        ]
        for _ in range(3):
            assert api.post(event()).status == 201
        ended = [one for one in left if is_ended(one)]
        assert len(left) - LIMIT <= len(ended) < len(left)
        assert ended == left[: len(ended)], "the oldest are ended first"


def is_ended(peer: socket.socket) -> bool:
    peer.setblocking(False)
    try:
        return peer.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def offer(body: bytes, *, path: str = "/api/v1/lineage") -> bytes:
    """A request as `curl --http2` sends it."""
    return (
        b"POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: curl/7.88.1\r\nAccept: */*\r\n"
        b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n"
        b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (path.encode(), len(body), body)
    )


@pytest.mark.parametrize("cut", [0, 40, 200, 330])
def test_an_offer_to_upgrade_is_declined_and_its_body_is_taken(api: Api, cut: int) -> None:
    one, other = (json.dumps(event(run={"runId": str(uuid.uuid4())})).encode() for _ in range(2))
    ends = b"GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    sent = offer(one) + offer(other) + ends
    with connect(api) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.sendall(sent[:cut])
        client.sendall(sent[cut:])
        answers = rest_of(client)
    assert answers.count(b"HTTP/1.1 201 Created") == 2
    assert b"HTTP/1.1 200 OK" in answers
    assert {one, other} <= payloads(api)


def test_a_chunked_body_with_an_offer_is_taken_whole(api: Api) -> None:
    body = json.dumps(event(run={"runId": str(uuid.uuid4())})).encode()
    head, _, _ = offer(b"").partition(b"Content-Length")
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:50], body[50:]))
    with connect(api, head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n") as client:
        assert client.recv(65_536).startswith(b"HTTP/1.1 201")
    assert body in payloads(api)


def test_http_2_clients_are_answered_in_http_1(api: Api, tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{api.port}/api/v1/lineage"
    bodies = [json.dumps(event(run={"runId": str(uuid.uuid4())})).encode() for _ in range(4)]
    files = [tmp_path / f"{number}.json" for number in range(4)]
    for file, body in zip(files, bodies, strict=True):
        file.write_bytes(body)
    program = Path(__file__).parents[1] / "PostEvents.java"
    sent = subprocess.run(["java", program, url, *files[:3]], capture_output=True, text=True, timeout=120, check=False)
    assert sent.stdout.split() == ["201"] * 3, sent.stderr
    taken = bodies[:3]
    if curl := shutil.which("curl"):  # else its bytes are sent above
        command = [curl, "-s", "--http2", url, "-H", "Content-Type: application/json", "--data-binary", f"@{files[3]}"]
        answer = subprocess.run(command, capture_output=True, timeout=60, check=True)
        assert json.loads(answer.stdout)["duplicate"] is False
        taken = bodies
    assert set(taken) <= payloads(api)


def payloads(api: Api) -> set[bytes]:
    return {record.payload for record in api.records() if record.kind is Kind.EVENT}


def test_an_answer_is_written_at_once(api: Api) -> None:
    body = json.dumps(event(run={"runId": str(uuid.uuid4())})).encode()
    with connect(api, post("/api/v1/lineage", body, len(body))) as client:
        head, _, answer = client.recv(65_536).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 201")
    assert json.loads(answer)["duplicate"] is False


def test_answers_without_a_body_come_before_the_next_one(api: Api) -> None:
    head = b"HEAD /ui/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    live = b"GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    with connect(api, head + live) as client:
        received = rest_of(client)
    assert received.count(b"HTTP/1.1 ") == 2
    assert received.partition(b"HTTP/1.1 200 OK")[2]


def test_a_body_that_waits_for_leave_is_taken(api: Api) -> None:
    body = json.dumps(event(run={"runId": str(uuid.uuid4())})).encode()
    asks = post("/api/v1/lineage", b"", len(body)).replace(b"\r\n\r\n", b"\r\nExpect: 100-continue\r\n\r\n")
    with connect(api, asks) as client:
        assert client.recv(65_536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(body)
        assert client.recv(65_536).startswith(b"HTTP/1.1 201")
