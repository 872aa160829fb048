"""Local servers that answer as PagerDuty, Slack and a receiver of Standard Webhooks document, and refuse what those
refuse; and one of mails, which is a real SMTP server.
"""

import asyncio
import hmac
import json
import threading
import time
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

Json = dict[str, Any]
KEY = b"0123456789abcdef0123456789abcdef"
SECRET = f"whsec_{b64encode(KEY).decode()}"
ROUTING_KEY = "R0UT1NGKEY0123456789abcdef012345"
TOKEN = "xoxb-of-the-app"


@dataclass(frozen=True, slots=True)
class Request:
    """What a server was sent."""

    method: str
    path: str
    headers: Mapping[str, str]
    content: bytes
    query: Mapping[str, str]

    @property
    def body(self) -> Any:
        """The JSON that was sent."""
        return json.loads(self.content)


@dataclass
class Service:
    """What a server answers, and what it was sent. `failures`: statuses in the place of its next answers; 0: none at
    all. With `is_done` it has done what was asked, and the answer alone is lost.
    """

    requests: list[Request] = field(default_factory=list)
    failures: list[int] = field(default_factory=list)
    is_done: bool = False
    headers: dict[str, str] = field(default_factory=dict)

    def answer(self, request: Request) -> tuple[int, Any]:
        """Status and JSON."""
        raise NotImplementedError


class PagerDuty(Service):
    """The Events API v2. `alerts`: the state of each by its `dedup_key`; `pages`: how often somebody was woken."""

    def __init__(self) -> None:
        super().__init__()
        self.alerts: dict[str, str] = {}
        self.pages = 0

    def answer(self, request: Request) -> tuple[int, Any]:
        """202, or 400 with what is wrong."""
        event = request.body
        if mistakes := list(self._mistakes(event)):
            return 400, {"status": "invalid event", "message": "Event object is invalid", "errors": mistakes}
        key, action = event["dedup_key"], event["event_action"]
        self.pages += action == "trigger" and self.alerts.get(key, "resolve") == "resolve"
        if action == "trigger" or key in self.alerts:
            self.alerts[key] = action
        return 202, {"status": "success", "message": "Event processed", "dedup_key": key}

    def _mistakes(self, event: Json) -> Iterator[str]:
        if event.get("routing_key") != ROUTING_KEY:
            yield "Length of 'routing_key' is incorrect (should be 32 characters)"
        if not 0 < len(event.get("dedup_key", "")) <= 255:
            yield "'dedup_key' is missing, or longer than 255 characters"
        if event.get("event_action") not in ("trigger", "acknowledge", "resolve"):
            yield "'event_action' is none"
        if event.get("event_action") == "trigger":
            payload = event.get("payload") or {}
            yield from (
                f"'payload.{name}' is missing" for name in ("summary", "source", "severity") if not payload.get(name)
            )
            if len(payload.get("summary", "")) > 1_024:
                yield "'payload.summary' is longer than 1024 characters"
            if payload.get("severity") not in ("critical", "error", "warning", "info"):
                yield "'payload.severity' is none"


class Slack(Service):
    """`chat.postMessage`, `chat.update` and `conversations.history`. `messages`: by their time."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: dict[str, Json] = {}

    def answer(self, request: Request) -> tuple[int, Any]:
        """200 for all but limits, as Slack does."""
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            return 200, {"ok": False, "error": "invalid_auth"}
        match request.method, request.path:
            case "POST", "/api/chat.postMessage" if mistake := self._mistake(request):
                return 200, {"ok": False, "error": mistake}
            case "POST", "/api/chat.postMessage":
                time_ = f"{time.time():.6f}"
                self.messages[time_] = request.body
                return 200, {"ok": True, "channel": request.body["channel"], "ts": time_}
            case "POST", "/api/chat.update" if request.body.get("ts") not in self.messages:
                return 200, {"ok": False, "error": "message_not_found"}
            case "POST", "/api/chat.update" if mistake := self._mistake(request):
                return 200, {"ok": False, "error": mistake}
            case "POST", "/api/chat.update":
                self.messages[request.body["ts"]] |= request.body
                return 200, {"ok": True, "channel": request.body["channel"], "ts": request.body["ts"]}
            case "GET", "/api/conversations.history":
                return 200, {"ok": True, "messages": list(self._history(request.query))}
        return 200, {"ok": False, "error": "unknown_method"}

    def _history(self, query: Mapping[str, str]) -> Iterator[Json]:
        for time_, one in sorted(self.messages.items(), reverse=True)[: int(query["limit"])]:
            if one["channel"] == query["channel"] and float(time_) >= float(query["oldest"]):
                shown = {} if query.get("include_all_metadata") != "true" else {"metadata": one["metadata"]}
                yield {"type": "message", "ts": time_, "text": one["text"], **shown}

    def _mistake(self, request: Request) -> str:
        body = request.body
        if body.get("channel") != "C024BE91L":
            return "channel_not_found"
        is_short = len(body["blocks"]) <= 50 and len(json.dumps(body["blocks"])) < 13_000
        return "" if is_short and body["text"] else "msg_blocks_too_long"


class Webhook(Service):
    """Verifies as Standard Webhooks 1.0.0 says. `received`: the documents by their id, each only once."""

    def __init__(self) -> None:
        super().__init__()
        self.received: dict[str, Json] = {}

    def answer(self, request: Request) -> tuple[int, Any]:
        """204; 401 for a wrong signature; 409 for two documents of one id."""
        name, at = request.headers["webhook-id"], request.headers["webhook-timestamp"]
        right = hmac.new(KEY, f"{name}.{at}.".encode() + request.content, sha256).digest()
        given = [b64decode(one[3:]) for one in request.headers["webhook-signature"].split() if one.startswith("v1,")]
        if not any(hmac.compare_digest(right, one) for one in given) or abs(time.time() - int(at)) > 300:
            return 401, {"message": "the signature is wrong"}
        if request.headers["idempotency-key"] != name or self.received.setdefault(name, request.body) != request.body:
            return 409, {"message": "another document has this id"}
        return 204, None


class _Handler(BaseHTTPRequestHandler):
    service: Service

    def _answer(self) -> None:
        parts = urlsplit(self.path)
        length = int(self.headers.get("content-length") or 0)
        if len(content := self.rfile.read(length)) < length:
            self.close_connection = True
            return  # the sender was killed while it sent, so nothing was delivered
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.command, parts.path, headers, content, dict(parse_qsl(parts.query)))
        service = self.service
        service.requests.append(request)
        failure = service.failures.pop(0) if service.failures else None
        status, document = (
            service.answer(request) if failure is None or service.is_done else (500, {"message": "not now"})
        )
        status = status if failure is None else failure
        if not status:
            self.close_connection = True
            return
        body = b"" if status == 204 else json.dumps(document).encode()
        self.send_response(status)
        for name, text in {"Content-Length": str(len(body)), **(service.headers if failure else {})}.items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PATCH = _answer

    def log_message(self, *_: object) -> None:
        """Quietly."""


@contextmanager
def serving(service: Service) -> Iterator[str]:
    """The address of a server over a service."""
    handler = type("Handler", (_Handler,), {"service": service})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@dataclass
class Mailbox:
    """The mails that an SMTP server took. `refuse`: what it answers in the place of the next ones."""

    mails: list[EmailMessage] = field(default_factory=list)
    refuse: list[str] = field(default_factory=list)

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        """Takes a mail."""
        if self.refuse:
            return self.refuse.pop(0)
        mail = message_from_bytes(envelope.original_content or b"", policy=policy.default)
        assert isinstance(mail, EmailMessage)
        self.mails.append(mail)
        return "250 OK"


class _AnyPort(Controller):
    """A controller that is called once when it is ready, at the port that the system chose."""

    def _trigger_server(self) -> None:
        assert isinstance(self.server, asyncio.Server)
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()  # type: ignore[no-untyped-call]  # aiosmtpd has no type for it


@contextmanager
def mail_server(mailbox: Mailbox) -> Iterator[tuple[str, int]]:
    """Host and port of an SMTP server that delivers into a mailbox."""
    controller = _AnyPort(mailbox, hostname="127.0.0.1", port=0)
    controller.start()
    try:
        yield "127.0.0.1", controller.port
    finally:
        controller.stop()
