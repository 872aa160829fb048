"""Metabase's REST API: lists, and the parts that a user may not see."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from whence.capture.polling.http_source import HttpSource
from whence.errors import SourceError
from whence.openlineage.json.wire import Json

KEY, USER, PASSWORD = "WHENCE_METABASE_KEY", "WHENCE_METABASE_USER", "WHENCE_METABASE_PASSWORD"
_REFUSED = frozenset((403, 404))


@dataclass(frozen=True, slots=True)
class MetabaseApi:
    """One server. Every method raises SourceError when it does not answer."""

    source: HttpSource
    refused: set[str] = field(default_factory=set)

    def rows(self, kind: str) -> Iterator[Json]:
        """All cards, dashboards or databases that the user may see: a list, or a page of one."""
        path = f"api/{kind}"
        reply = self.source.checked(path, self.source.send("GET", path))
        try:
            found = reply.json()
        except ValueError:
            raise SourceError(self.source.address, f"no JSON for {path}: {reply.text[:300]}") from None
        listed = found.get("data") if isinstance(found, dict) else found
        yield from (one for one in listed or () if isinstance(one, dict))

    def find(self, path: str) -> Json:
        """What is at a path; empty, and noted as refused, if the user may not see it."""
        reply = self.source.send("GET", f"api/{path}")
        if reply.status_code in _REFUSED:
            self.refused.add(path.partition("/metadata")[0])
            return {}
        return self.source.document(path, reply)

    def close(self) -> None:
        """Close the connections, and forget what was refused: at the next poll it may be allowed."""
        self.refused.clear()
        self.source.close()


def log_in(source: HttpSource) -> Mapping[str, str]:
    """The headers of an API key, or of a session of the user whom environment variables name."""
    if key := os.environ.get(KEY):
        return {"X-API-Key": key}
    if not (user := os.environ.get(USER)):
        return {}
    body = {"username": user, "password": os.environ.get(PASSWORD, "")}
    session = source.document("api/session", source.send("POST", "api/session", json=body)).get("id")
    if not session:
        raise SourceError(source.address, f"it gave no session to the user of {USER}")
    return {"X-Metabase-Session": str(session)}
