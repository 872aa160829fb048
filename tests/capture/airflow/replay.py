"""The recorded answers of a real Airflow over HTTP, in pages: for cursor, pages and errors of polls.

The real Airflow itself is polled in tests/nightly/orchestrators.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from fixtures.replies import Request, replying

HERE = Path(__file__).parent
RECORDED = HERE / "airflow-3.3.2.json"
_KEPT = ("map_index", "source_dag_id", "source_run_id", "event", "dag_id", "run_id")
_GOING_ON = ("running", "queued")

Json = dict[str, Any]


@dataclass
class Replay:
    """What the server has; a test changes it between polls. `page`: the size of pages, whatever is asked for.

    No user may read what has `forbidden` at the end of its path. `failures` are the statuses of the next replies, 0 to
    cut the connection; `after` so many good ones.
    """

    answers: dict[str, Json]
    prefix: str = "/api/v2/"
    page: int = 2
    forbidden: str = "-"
    failures: list[int] = field(default_factory=list)
    after: int = 0
    token: str = "t0ken"
    tokens: int = 0
    asked: list[str] = field(default_factory=list)
    authorizations: set[str] = field(default_factory=set)
    url: str = ""

    def answer(self, request: Request) -> tuple[int, Any] | None:
        """The status and the answer of a request."""
        self.asked.append(request.raw_path)
        self.authorizations.add(request.authorization)
        if self.failures and self.after <= 0:
            status = self.failures.pop(0)
            return (status, {"detail": "busy"}) if status else None
        self.after -= 1
        if request.path == "/auth/token" and self.prefix == "/api/v2/":
            self.tokens += 1
            return 201, {"access_token": self.token}
        if not request.path.startswith(self.prefix):
            return 404, {"detail": "Not Found"}
        if self.prefix == "/api/v2/" and self.tokens and request.authorization != f"Bearer {self.token}":
            return 401, {"detail": "Invalid JWT token"}
        if request.path.endswith(self.forbidden):
            return 403, {"detail": "Forbidden"}
        return self._document(request)

    def _document(self, request: Request) -> tuple[int, Json]:
        chosen = "&".join(f"{name}={request.query[name]}" for name in _KEPT if name in request.query)
        key = request.raw_path.removeprefix(self.prefix) + (f"?{chosen}" if chosen else "")
        if key not in self.answers:
            return 404, {"detail": f"no {key}"}
        return 200, self._page(key, self.answers[key], request.query)

    def _page(self, key: str, document: Json, query: dict[str, str]) -> Json:
        member = next((name for name, rows in document.items() if isinstance(rows, list) and "offset" in query), "")
        if not member:
            return document
        rows = list(_chosen_runs(document[member], query)) if key == "dags/~/dagRuns" else document[member]
        start = int(query["offset"])
        return {member: rows[start : start + self.page], "total_entries": len(rows)}

    @property
    def runs(self) -> list[Json]:
        """The DAG runs."""
        return list(self.answers["dags/~/dagRuns"]["dag_runs"])

    @runs.setter
    def runs(self, runs: list[Json]) -> None:
        self.answers["dags/~/dagRuns"]["dag_runs"] = runs


def _chosen_runs(runs: list[Json], query: dict[str, str]) -> Iterator[Json]:
    if (state := query["state"]) in _GOING_ON:
        yield from (one for one in runs if one["state"] == state)
        return
    assert query["order_by"] == "end_date"
    first, last = query["end_date_gte"], query.get("end_date_lte", "9999-01-01T00:00:00+00:00")
    bounds = datetime.fromisoformat(first), datetime.fromisoformat(last)
    ended = [one for one in runs if one["end_date"] and bounds[0] <= _end(one) <= bounds[1]]
    yield from sorted(ended, key=_end)


def _end(run: Json) -> datetime:
    return datetime.fromisoformat(run["end_date"])


def read_recorded(path: Path = RECORDED) -> Json:
    """The recorded answers, and what the OpenLineage provider reported of the same runs."""
    return dict(json.loads(path.read_text("utf-8")))


@contextmanager
def replaying(path: Path = RECORDED, prefix: str = "/api/v2/") -> Iterator[Replay]:
    """Serve the recorded answers while the context is open."""
    made = Replay(read_recorded(path)["answers"], prefix)
    with replying(made.answer) as url:
        made.url = url
        yield made
