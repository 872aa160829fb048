"""`python -m nightly.orchestrators.record_airflow`: what a poll reads of a real Airflow, for tests/capture/airflow.

Addresses and folders are replaced: the fixture is the same on every machine but for times and ids.
"""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2

from nightly.orchestrators.airflow_server import NAMESPACE, PASSWORD, USER, Airflow, airflow
from whence.capture.airflow.rest_api import RestApi
from whence.capture.airflow.source import AirflowServer, capture
from whence.capture.polling.http_source import HttpSource
from whence_client.captures import Window

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "tests/capture/airflow"
REPORT = "prod.bericht_ü"
"""The DAG that an asset triggers."""
_KEPT = ("map_index", "source_dag_id", "source_run_id", "event", "dag_id", "run_id")
"""The parameters that choose another document; the others choose a page of it."""

Json = dict[str, Any]


class Recorder(HttpSource):
    """A source that keeps each answer by its path."""

    answers: dict[str, Json]

    def send(self, method: str, path: str, **sent: Any) -> httpx2.Response:
        reply = super().send(method, path, **sent)
        if method == "GET" and reply.is_success:
            _keep(self.answers, path, sent.get("params") or {}, reply.json())
        return reply


def _keep(answers: dict[str, Json], path: str, parameters: Json, document: Json) -> None:
    chosen = "&".join(f"{name}={parameters[name]}" for name in _KEPT if name in parameters)
    key = path.split("/", 2)[2] + (f"?{chosen}" if chosen else "")
    before = answers.setdefault(key, document)
    for member, rows in document.items():
        if isinstance(rows, list) and before is not document:
            before[member] = [*before[member], *(row for row in rows if row not in before[member])]


def run_dags(server: Airflow) -> None:
    """Run the DAGs of a shop in prod and staging; in dev one that does not end."""
    for stage in ("prod", "staging"):
        server.trigger(f"{stage}.orders", "2026-11-20T00:00:00Z", "manual:1+x~2")
    server.ask("PATCH", f"dags/{REPORT}", json={"is_paused": False})
    server.trigger("dev.endless", None, "waits")
    server.await_runs(4, running=1)
    server.await_task("dev.endless", "waits", "deferred", "deferred")


def poll(server: Airflow, source: HttpSource | None = None, **options: str) -> list[Any]:
    """All records of the server."""
    made: AirflowServer = capture.configure({"url": server.url, **options})
    api = RestApi(source) if source is not None else made.api
    one = AirflowServer(api=api, instance="airflow://airflow:8080")
    return [record for record, _ in one.records(None, Window())]


def record(server: Airflow, authorize: Callable[[HttpSource], dict[str, str]]) -> Json:
    """The answers to a poll, by path."""
    source = Recorder(url=server.url, authorize=authorize)
    source.answers = {}
    RestApi(source).version()
    poll(server, source)
    return source.answers


def token(source: HttpSource) -> dict[str, str]:
    """The administrator's."""
    found = source.document(
        "auth/token", source.send("POST", "auth/token", json={"username": USER, "password": PASSWORD})
    )
    return {"Authorization": f"Bearer {found['access_token']}"}


def write(server: Airflow, folder: Path) -> Path:
    """Write the fixture: the answers to a poll, and what the OpenLineage provider reported of the same runs."""
    answers = record(server, token)
    provider = [
        {"id": one["run"]["runId"], "job": one["job"]["name"], "state": one["eventType"]}
        for one in server.provider_events()
    ]
    lines = [f"{_line(key)}: {_line(_trimmed(answer))}" for key, answer in sorted(answers.items())]
    reported = [_line(one) for one in provider]
    parts = ('{"namespace": ' + _line(NAMESPACE), '"answers": {\n' + ",\n".join(lines) + "\n}")
    text = ",\n".join((*parts, '"provider": [\n' + ",\n".join(reported) + "\n]}"))
    for found, put in ((server.url, "http://airflow:8080"), (str(folder), "/home"), (str(ROOT), "/repo")):
        text = text.replace(found, put)
    path = FOLDER / f"airflow-{answers['version']['version']}.json"
    path.write_text(text + "\n")
    return path


def _trimmed(answer: Json) -> Json:
    """An answer; a log without its lines that are no errors."""
    lines = answer.get("content")
    if not isinstance(lines, list):
        return answer
    return {**answer, "content": [one for one in lines if isinstance(one, dict) and one.get("error_detail")]}


def _line(document: object) -> str:
    return json.dumps(document, sort_keys=True)


def main() -> None:
    """Record."""
    with tempfile.TemporaryDirectory(prefix="whence-airflow-") as directory:
        folder = Path(directory).resolve()
        with airflow(folder) as server:
            run_dags(server)
            server.clear(REPORT)
            write(server, folder)


if __name__ == "__main__":
    main()
