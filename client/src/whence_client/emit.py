"""Sending events to a collector without ever breaking, or long delaying, the job that sends them."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import urllib.request
    from collections.abc import Mapping

log = logging.getLogger(__name__)

TIMEOUT_SECONDS = 5.0


@dataclass(frozen=True)
class Emitter:
    """Sends OpenLineage events to the collector at `url` (its base address), with a key if it asks for one."""

    url: str
    api_key: str | None = None

    def emit(self, event: Mapping[str, Any]) -> bool:
        """Send one event. True if it was acknowledged; else False and a warning in the log, never an error."""
        try:
            return self._send(event)
        except Exception as error:  # the job is not ours to break, whatever goes wrong here
            log.warning("an event of %s was not sent to %s: %s", event.get("job"), self.url, error)
            return False

    def _send(self, event: Mapping[str, Any]) -> bool:
        import urllib.request  # half of the time that the import of this module would take

        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(self._request(event), timeout=TIMEOUT_SECONDS) as answer:
            return bool(answer.status < 300)

    def _request(self, event: Mapping[str, Any]) -> urllib.request.Request:
        import urllib.request

        headers = {"Content-Type": "application/json"}
        if self.api_key:
            headers["Authorization"] = f"Bearer {self.api_key}"
        return urllib.request.Request(f"{self.url.rstrip('/')}/api/v1/lineage", json.dumps(event).encode(), headers)
