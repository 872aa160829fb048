"""Sending events to a collector without ever breaking, or long delaying, the job that sends them."""

import json
import logging
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

log = logging.getLogger(__name__)

TIMEOUT_SECONDS = 5.0
_NO_PROXY = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass(frozen=True, slots=True)
class Emitter:
    """Sends OpenLineage events to the collector at `url` (its base address), with a key if it asks for one."""

    url: str
    api_key: str | None = None

    def emit(self, event: Mapping[str, Any]) -> bool:
        """Send one event. True if it was acknowledged; else False and a warning in the log, never an error."""
        try:
            with _NO_PROXY.open(self._request(event), timeout=TIMEOUT_SECONDS) as answer:
                return bool(answer.status < 300)
        except Exception as error:  # the job is not ours to break, whatever goes wrong here
            log.warning("an event of %s was not sent to %s: %s", event.get("job"), self.url, error)
            return False

    def _request(self, event: Mapping[str, Any]) -> urllib.request.Request:
        headers = {"Content-Type": "application/json"}
        if self.api_key:
            headers["Authorization"] = f"Bearer {self.api_key}"
        return urllib.request.Request(f"{self.url.rstrip('/')}/api/v1/lineage", json.dumps(event).encode(), headers)
