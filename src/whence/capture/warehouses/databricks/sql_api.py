"""Databricks' API that runs statements (docs.databricks.com, "Statement Execution"), and its sign-in."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from whence.capture.polling.http_source import HttpSource
from whence.capture.sql_log.rows import Row, at
from whence.capture.warehouses.statements import StatementError
from whence.errors import SourceError

TOKEN = "WHENCE_DATABRICKS_TOKEN"
CLIENT_ID, CLIENT_SECRET = "WHENCE_DATABRICKS_CLIENT_ID", "WHENCE_DATABRICKS_CLIENT_SECRET"
_PATH = "api/2.0/sql/statements"
_WAITS = frozenset(("PENDING", "RUNNING"))
_PAUSE = 2.0
_TRIES = 900
"""How often a statement is looked at: half an hour, in which a SQL warehouse starts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlApi:
    """One workspace, and the id of the SQL warehouse that runs statements."""

    source: HttpSource
    warehouse: str

    def run(self, statement: str) -> Iterator[Row]:
        """The rows of a statement, each cell a text or None. Raises StatementError, SourceError."""
        body = {"statement": statement, "warehouse_id": self.warehouse, "wait_timeout": "30s", "format": "JSON_ARRAY"}
        reply = self.source.document(_PATH, self.source.send("POST", _PATH, json=body))
        path = f"{_PATH}/{reply.get('statement_id', '')}"
        for _ in range(_TRIES):
            if at(reply, "status", "state") not in _WAITS:
                break
            self.source.pause(_PAUSE)
            reply = self.source.get(path)
        if at(reply, "status", "state") != "SUCCEEDED":
            reason = at(reply, "status", "error", "message") or at(reply, "status", "state") or "no state"
            raise StatementError(self.source.address, str(reason))
        names = [str(one["name"]).lower() for one in at(reply, "manifest", "schema", "columns") or ()]
        chunk = reply.get("result") or {}
        while True:
            yield from (dict(zip(names, row, strict=True)) for row in chunk.get("data_array") or ())
            if not (following := chunk.get("next_chunk_internal_link")):
                return
            chunk = self.source.get(str(following).lstrip("/"))


def authorize(source: HttpSource) -> Mapping[str, str]:
    """The headers of the token in the environment, or of a service principal there. Raises SourceError."""
    token = os.environ.get(TOKEN) or _service_token(source)
    if not token:
        raise SourceError(source.address, f"set {TOKEN} to an access token, or {CLIENT_ID} and {CLIENT_SECRET}")
    return {"Authorization": f"Bearer {token}"}


def _service_token(source: HttpSource) -> str:
    if not (client := os.environ.get(CLIENT_ID)):
        return ""
    form = {"grant_type": "client_credentials", "scope": "all-apis"}
    login = (client, os.environ.get(CLIENT_SECRET, ""))
    path = "oidc/v1/token"
    return str(source.document(path, source.send("POST", path, data=form, auth=login)).get("access_token") or "")
