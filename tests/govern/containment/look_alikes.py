"""Look-alikes of orchestrators over HTTP: they take the documented requests only, and keep what is paused.

Airflow's answers have the members that a real Airflow gave: `airflow-answers.json`, recorded by `make nightly-airflow`.
"""

import json
from base64 import b64encode
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fixtures.replies import Request

Json = dict[str, Any]
ANSWERS: Json = json.loads(Path(__file__).with_name("airflow-answers.json").read_text("utf-8"))
USER, PASSWORD, TOKEN = "ada", "pw-4711", "t0ken"


@dataclass
class AirflowLookAlike:
    """An Airflow: `paused` has each DAG. `version` 2 has v1 and basic authentication."""

    paused: dict[str, bool]
    version: int = 3
    running: dict[str, int] = field(default_factory=dict)
    acts: list[tuple[str, bool]] = field(default_factory=list)
    failing: set[str] = field(default_factory=set)

    def answer(self, request: Request) -> tuple[int, Any] | None:
        """The status and the document of a reply."""
        api = "/api/v2/" if self.version == 3 else "/api/v1/"
        if request.path == "/auth/token" and self.version == 3:
            known = request.body == {"username": USER, "password": PASSWORD}
            return (201, {"access_token": TOKEN}) if known else (401, {"detail": "Invalid credentials"})
        if not request.path.startswith(api):
            return 404, {"detail": "Not Found"}
        path = request.path.removeprefix(api)
        if path == "version":
            return 200, ANSWERS["version"]
        basic = f"Basic {b64encode(f'{USER}:{PASSWORD}'.encode()).decode()}"
        if request.authorization != (f"Bearer {TOKEN}" if self.version == 3 else basic):
            return 401, {"detail": "Unauthorized"}
        return self._dag(request, path)

    def _dag(self, request: Request, path: str) -> tuple[int, Any]:
        start, _, rest = path.partition("/")
        dag = rest.removesuffix("/dagRuns") if rest.endswith("/dagRuns") else rest
        assert start == "dags"
        if dag not in self.paused:
            return 404, {"detail": f"The Dag with ID: `{dag}` was not found"}
        if rest.endswith("/dagRuns"):
            assert (request.method, request.query["state"]) == ("GET", "running")
            return 200, {**ANSWERS["runs"], "total_entries": self.running.get(dag, 0)}
        if request.method == "PATCH":
            assert request.query == {"update_mask": "is_paused"}
            assert list(request.body) == ["is_paused"]
            if dag in self.failing:
                return 403, {"detail": "Forbidden"}
            self.paused[dag] = request.body["is_paused"]
            self.acts.append((dag, request.body["is_paused"]))
        known = ANSWERS["patch" if request.method == "PATCH" else "dag"]
        return 200, {**known, "dag_id": dag, "is_paused": self.paused[dag]}
