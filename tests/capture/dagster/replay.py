"""What a real Dagster had, over GraphQL, in pages: for cursor, pages and errors of polls.

The real Dagster itself is polled in tests/nightly/orchestrators.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fixtures.replies import Request, replying

HERE = Path(__file__).parent
RECORDED = HERE / "dagster-1.13.27.json"
_OPERATION = re.compile(r"query (\w+)")

Json = dict[str, Any]


@dataclass
class Replay:
    """What the server has; a test changes it between polls. `page`: the size of pages, whatever is asked for.

    `errors` are GraphQL errors of operations, `refused` members of the answers of operations with another type.
    `failures` are the statuses of the next replies, 0 to cut the connection; `after` so many good ones.
    """

    data: Json
    page: int = 1000
    errors: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    failures: list[int] = field(default_factory=list)
    after: int = 0
    asked: list[str] = field(default_factory=list)
    authorizations: set[str] = field(default_factory=set)
    url: str = ""

    def answer(self, request: Request) -> tuple[int, Any] | None:
        """The status and the answer of a request."""
        self.authorizations.add(request.authorization)
        if self.failures and self.after <= 0:
            status = self.failures.pop(0)
            return (status, {"detail": "busy"}) if status else None
        self.after -= 1
        if (request.method, request.path) != ("POST", "/graphql"):
            return 404, {"detail": "Not Found"}
        found = _OPERATION.match(request.body["query"])
        assert found
        name = found[1].removeprefix("Whence").lower()
        self.asked.append(name)
        if name in self.errors:
            return 200, {"data": None, "errors": [{"message": self.errors[name]}]}
        answer = getattr(self, f"_{name}")(**request.body["variables"])
        if name in self.refused:
            answer = {key: {"__typename": self.refused[name], "message": "not for you"} for key in answer}
        return 200, {"data": answer}

    @property
    def runs(self) -> list[Json]:
        """The runs, oldest first."""
        return list(self.data["runs"])

    @runs.setter
    def runs(self, runs: list[Json]) -> None:
        self.data["runs"] = runs

    def _version(self) -> Json:
        return {"version": self.data["version"]}

    def _locations(self) -> Json:
        return {"workspaceOrError": {"__typename": "Workspace", "locationEntries": self.data["locations"]}}

    def _runs(self, filter: Json, cursor: str | None, limit: int) -> Json:
        listed = [one for one in reversed(self.runs) if _is_chosen(one, filter)]
        if cursor is not None:
            ids = [one["runId"] for one in reversed(self.runs)]
            behind = set(ids[ids.index(cursor) + 1 :]) if cursor in ids else set()
            listed = [one for one in listed if one["runId"] in behind]
        return {"runsOrError": {"__typename": "Runs", "results": listed[: min(limit, self.page)]}}

    def _run(self, run: str) -> Json:
        found = next((one for one in self.runs if one["runId"] == run), None)
        missing = {"__typename": "RunNotFoundError", "message": f"Run {run} could not be found."}
        return {"runOrError": missing if found is None else {"__typename": "Run", **found}}

    def _log(self, run: str, cursor: str | None, limit: int) -> Json:
        events, start = self.data["logs"].get(run, []), int(cursor or 0)
        end = start + min(limit, self.page)
        page = {"events": events[start:end], "cursor": str(end), "hasMore": end < len(events)}
        return {"logsForRun": {"__typename": "EventConnection", **page}}

    def _assets(self, cursor: str | None, limit: int) -> Json:
        start = int(cursor or 0)
        nodes = []
        for asset in self.data["assets"][start : start + min(limit, self.page)]:
            times = {kind: self._times(asset["key"], kind) for kind in ("Materialization", "Observation")}
            latest = {f"latest{kind}Timestamp": max(found, default=None) for kind, found in times.items()}
            nodes.append({"key": asset["key"], **latest})
        end = str(start + len(nodes))
        return {"assetsOrError": {"__typename": "AssetConnection", "nodes": nodes, "cursor": end}}

    def _times(self, key: Json, kind: str) -> list[int]:
        return [int(one["timestamp"]) for one in self._events(key) if one["__typename"] == f"{kind}Event"]

    def _history(self, key: Json, after: str, cursor: str | None, limit: int) -> Json:
        events = [one for one in reversed(self._events(key)) if int(one["timestamp"]) > int(after)]
        start = int(cursor or 0)
        page = events[start : start + min(limit, self.page)]
        history = {"results": page, "cursor": str(start + len(page))}
        return {"assetOrError": {"__typename": "Asset", "assetEventHistory": history}}

    def _describe(self, keys: list[Json], before: str | None) -> Json:
        nodes = [self._node(asset, before) for asset in self.data["assets"] if asset["key"] in keys]
        return {"assetsOrError": {"__typename": "AssetConnection", "nodes": nodes}}

    def _node(self, asset: Json, before: str | None) -> Json:
        made = [one for one in self._events(asset["key"]) if one["__typename"] == "MaterializationEvent"]
        last = [one for one in made if before is None or int(one["timestamp"]) < int(before)][-1:]
        return {**asset, "assetMaterializations": last}

    def _events(self, key: Json) -> list[Json]:
        """The materializations and observations of an asset, oldest first."""
        logged = (one for log in self.data["logs"].values() for one in log)
        found = [
            one
            for one in (*logged, *self.data["reported"])
            if one.get("assetKey") == key and one["__typename"] in ("MaterializationEvent", "ObservationEvent")
        ]
        return sorted(found, key=lambda one: int(one["timestamp"]))


def _is_chosen(run: Json, wanted: Json) -> bool:
    after, before = wanted.get("updatedAfter", 0), wanted.get("updatedBefore", float("inf"))
    return run["status"] in wanted.get("statuses", [run["status"]]) and after < run["updateTime"] < before


def read_recorded(path: Path = RECORDED) -> Json:
    """What was recorded."""
    return dict(json.loads(path.read_text("utf-8")))


@contextmanager
def replaying(path: Path = RECORDED) -> Iterator[Replay]:
    """Serve what was recorded while the context is open."""
    made = Replay(read_recorded(path))
    with replying(made.answer) as url:
        made.url = url
        yield made
