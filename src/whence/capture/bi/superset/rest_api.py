"""Superset's REST API: lists in pages, and a token of a user."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from whence.capture.polling.http_source import HttpSource
from whence.errors import SourceError
from whence.openlineage.json.wire import Json

USER, PASSWORD, TOKEN = "WHENCE_SUPERSET_USER", "WHENCE_SUPERSET_PASSWORD", "WHENCE_SUPERSET_TOKEN"
_PAGE = 100
_REFUSED = frozenset((403, 404))


@dataclass(frozen=True, slots=True)
class SupersetApi:
    """One server. Every method raises SourceError when it does not answer."""

    source: HttpSource

    def rows(self, kind: str) -> Iterator[Json]:
        """All charts, dashboards or databases that the user may see."""
        page = 0
        while True:
            query = f"(order_column:changed_on_delta_humanized,order_direction:asc,page:{page},page_size:{_PAGE})"
            document = self.source.get(f"api/v1/{kind}/", q=query)
            found = document.get("result") or []
            yield from found
            page += 1
            if not found or page * _PAGE >= int(document.get("count") or 0):
                return

    def find(self, path: str) -> Json | None:
        """The `result` at a path; None if it is not there, or the user may not see it."""
        reply = self.source.send("GET", f"api/v1/{path}")
        if reply.status_code in _REFUSED:
            return None
        found = self.source.document(path, reply).get("result")
        return {"result": found} if isinstance(found, list) else found or {}

    def close(self) -> None:
        """Close the connections."""
        self.source.close()


def log_in(source: HttpSource) -> Mapping[str, str]:
    """The headers of a token, or of the user whom environment variables name."""
    if token := os.environ.get(TOKEN):
        return {"Authorization": f"Bearer {token}"}
    if not (user := os.environ.get(USER)):
        return {}
    body = {"username": user, "password": os.environ.get(PASSWORD, ""), "provider": "db", "refresh": False}
    reply = source.send("POST", "api/v1/security/login", json=body)
    token = source.document("api/v1/security/login", reply).get("access_token")
    if not token:
        raise SourceError(source.address, f"it gave no token to the user of {USER}")
    return {"Authorization": f"Bearer {token}"}
