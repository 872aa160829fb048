"""Snowflake's SQL API (docs.snowflake.com, "Snowflake SQL API"): a statement, and the partitions of its result."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import httpx2

from whence.capture.polling.http_source import HttpSource
from whence.capture.sql_log.rows import Row
from whence.capture.warehouses.statements import StatementError
from whence.errors import SourceError
from whence.openlineage.json.wire import Json

TOKEN, TOKEN_TYPE = "WHENCE_SNOWFLAKE_TOKEN", "WHENCE_SNOWFLAKE_TOKEN_TYPE"
_PATH = "api/v2/statements"
_REFUSED = 422
"""The status of a statement that fails."""
_TEXT = 300
_PAUSE = 2.0
_TRIES = 900
"""How often a statement is looked at: half an hour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlApi:
    """One account, with the warehouse and the role that run statements; those of the user if empty."""

    source: HttpSource
    warehouse: str = ""
    role: str = ""

    def run(self, statement: str) -> Iterator[Row]:
        """The rows of a statement, each cell a text or None. Raises StatementError, SourceError."""
        body = {"statement": statement, "warehouse": self.warehouse, "role": self.role, "timeout": 1_800}
        reply = self._checked(self.source.send("POST", _PATH, json={key: one for key, one in body.items() if one}))
        handle = f"{_PATH}/{reply.get('statementHandle', '')}"
        for _ in range(_TRIES):
            if "resultSetMetaData" in reply:
                break
            self.source.pause(_PAUSE)
            reply = self._checked(self.source.send("GET", handle))
        metadata = reply.get("resultSetMetaData") or {}
        names = [str(one["name"]).lower() for one in metadata.get("rowType", ())]
        yield from (dict(zip(names, row, strict=True)) for row in reply.get("data", ()))
        for number in range(1, len(metadata.get("partitionInfo") or ())):
            part = self._checked(self.source.send("GET", handle, params={"partition": number}))
            yield from (dict(zip(names, row, strict=True)) for row in part.get("data", ()))

    def _checked(self, reply: httpx2.Response) -> Json:
        if reply.status_code != _REFUSED:
            return self.source.document(_PATH, reply)
        refusal = reply.json() if reply.headers.get("content-type", "").startswith("application/json") else {}
        raise StatementError(self.source.address, str(refusal.get("message") or reply.text)[:_TEXT])


def authorize(source: HttpSource) -> Mapping[str, str]:
    """The headers of the token in the environment. Raises SourceError if there is none."""
    token = os.environ.get(TOKEN)
    if not token:
        raise SourceError(source.address, f"set {TOKEN} to a programmatic access token, or another with {TOKEN_TYPE}")
    kind = os.environ.get(TOKEN_TYPE, "PROGRAMMATIC_ACCESS_TOKEN")
    return {"Authorization": f"Bearer {token}", "X-Snowflake-Authorization-Token-Type": kind}
