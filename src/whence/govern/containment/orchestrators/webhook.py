"""A signed webhook, for every orchestrator that has no adapter: it is told what to pause and what to resume.

Signed as Standard Webhooks describes it: with a shared secret.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import urlsplit

import httpx2

from whence.capture.polling.http_source import HttpSource
from whence.errors import SourceError
from whence.govern.containment.orchestrators.port import Json, Receipt, TargetState
from whence.govern.containment.steps import Target
from whence.govern.webhook_signatures import SECRET_FORM, read_secret, signed_headers


@dataclass(slots=True, kw_only=True)
class Webhook:
    """A receiver of signed requests. It may tell the state of a target (`is_paused`, `running`) in its answer.

    `secret`: as `whsec_` and Base64. `clock`: seconds since 1970.
    """

    name: str
    url: str
    secret: str
    clock: Callable[[], float] = time.time

    def read_state(self, target: Target) -> TargetState:
        """What the receiver tells of a target."""
        reply = self._send("containment.read", target, {})
        found = _document(reply) if reply.is_success else {}
        is_paused, running = found.get("is_paused"), found.get("running")
        return TargetState(
            is_paused=is_paused if isinstance(is_paused, bool) else None,
            running=running if isinstance(running, int) else None,
        )

    def pause(self, target: Target) -> Receipt:
        """Tell it to pause a target. What it answers as `receipt` comes back when the target is to be resumed."""
        receipt = _document(self._checked(self._send("containment.pause", target, {}))).get("receipt")
        return Receipt(target=target, detail={} if receipt is None else {"receipt": receipt})

    def resume(self, receipt: Receipt) -> None:
        """Tell it to resume a target."""
        self._checked(self._send("containment.resume", receipt.target, receipt.detail))

    def close(self) -> None:
        """Nothing is open between requests."""

    def _key(self) -> bytes:
        key = read_secret(self.secret)
        if key is None:
            raise SourceError("webhook", f"the secret has another form: {SECRET_FORM}")
        return key

    def _checked(self, reply: httpx2.Response) -> httpx2.Response:
        return HttpSource(url=self.url).checked("the webhook", reply)

    def _send(self, type_: str, target: Target, detail: Mapping[str, object]) -> httpx2.Response:
        body = json.dumps({"type": type_, "data": {**target._asdict(), **detail}}, sort_keys=True).encode()
        at = int(self.clock())
        id_ = f"msg_{sha256(body + str(at).encode()).hexdigest()[:32]}"
        headers = {"Content-Type": "application/json", **signed_headers(self._key(), id_, at, body)}
        parts = urlsplit(self.url)
        server = f"{parts.scheme}://{parts.netloc}"
        source = HttpSource(url=server, authorize=lambda _: headers)
        try:
            return source.send("POST", self.url.removeprefix(server).removeprefix("/"), content=body)
        finally:
            source.close()


def _document(reply: httpx2.Response) -> Json:
    """The JSON object in an answer; a receiver may answer nothing."""
    try:
        found = reply.json()
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
