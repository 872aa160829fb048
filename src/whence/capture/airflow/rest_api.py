"""The REST API of Airflow 3, as far as the capture reads it.

https://airflow.apache.org/docs/apache-airflow/stable/stable-rest-api-ref.html
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from whence.capture.airflow.records import map_index
from whence.capture.polling.http_source import HttpSource
from whence.capture.polling.pages import pages_by_time
from whence.errors import SourceError
from whence.openlineage.json.wire import Json

CREDENTIALS = ("WHENCE_AIRFLOW_TOKEN", "WHENCE_AIRFLOW_USER", "WHENCE_AIRFLOW_PASSWORD")
_API = "api/v2"
_PAGE = 100
_RUNS = "dags/~/dagRuns"
_GOING_ON = ("running", "queued")
_ENDED = ("success", "failed")
_RUN_KEY = ("dag_id", "dag_run_id")
_CLEARINGS = ("clear_dag_run", "post_clear_task_instances")
"""What the audit log calls them; it has no dry runs."""
_FORBIDDEN, _ABSENT = 403, 404


@dataclass(slots=True)
class RestApi:
    """The API of one Airflow. Every method raises SourceError if the server does not answer.

    What this user may not read is empty, and kept in `refused`, with its DAG; the DAG is empty for what all share.
    Only the list of runs must be readable.
    """

    source: HttpSource
    refused: set[tuple[str, str]] = field(default_factory=set)

    def version(self) -> str:
        """The release of Airflow."""
        reply = self.source.send("GET", f"{_API}/version")
        if reply.status_code == _ABSENT:
            raise SourceError(self.source.address, "no Airflow 3: the server has no api/v2")
        return str(self.source.document("version", reply).get("version", ""))

    def refusals(self, dag: str) -> tuple[str, ...]:
        """What this user may not read of a DAG, or of the assets of all."""
        return tuple(sorted({what for one, what in self.refused if one in (dag, "")}))

    def close(self) -> None:
        """End the connections, and forget what was refused: at the next poll it may be allowed."""
        self.refused.clear()
        self.source.close()

    def running(self) -> Iterator[Json]:
        """The runs that go on."""
        for state in _GOING_ON:
            offset, more = 0, True
            while more:
                rows, more = self._runs(offset, state=state, order_by="start_date")
                offset += len(rows)
                yield from rows

    def ended(self, since: str, until: str | None) -> Iterator[Json]:
        """The runs that ended in a time, by their ends."""

        def fetch(first: str, offset: int) -> tuple[list[Json], bool]:
            # Airflow 3 takes a run that goes on for one that ends now.
            times = {"end_date_gte": first, "end_date_lte": until, "order_by": "end_date", "state": _ENDED}
            return self._runs(offset, **{name: value for name, value in times.items() if value is not None})

        return pages_by_time(fetch, first=since, time_of="end_date", key=_RUN_KEY)

    def dag(self, dag: str) -> Json:
        """A DAG; empty if it is deleted."""
        return self._find(dag, "the DAG", f"dags/{_segment(dag)}")

    def tasks(self, dag: str) -> dict[str, Json]:
        """The tasks of a DAG; empty if it is deleted."""
        listed = self._find(dag, "tasks", f"dags/{_segment(dag)}/tasks").get("tasks") or ()
        return {str(one["task_id"]): one for one in listed}

    def tries(self, run: Json) -> Iterator[Json]:
        """The task instances of a DAG run, one for each try."""
        dag, path = str(run["dag_id"]), f"{_run_path(run)}/taskInstances"
        for instance in self._pages(dag, "task instances", path, "task_instances"):
            yield from self._earlier_tries(dag, path, instance)
            yield instance

    def _earlier_tries(self, dag: str, path: str, instance: Json) -> Iterator[Json]:
        number, place = int(instance.get("try_number") or 0), map_index(instance)
        if number > 1:
            mapped = f"/{place}" if place >= 0 else ""
            found = self._find(dag, "tries", f"{path}/{_segment(instance['task_id'])}{mapped}/tries")
            listed = found.get("task_instances") or ()
            yield from (one for one in listed if int(one.get("try_number") or 0) < number)

    def error(self, instance: Json) -> Json:
        """What a failed try raised, out of its log: `{"message": …, "stack": …}`; empty if the log does not have it."""
        run = f"{_run_path(instance)}/taskInstances/{_segment(instance['task_id'])}"
        path = f"{run}/logs/{instance['try_number']}"
        place = map_index(instance)
        found = self._find(str(instance["dag_id"]), "logs", path, map_index=place, full_content="true")
        lines = found.get("content")
        for line in reversed(lines if isinstance(lines, list) else []):
            details = line.get("error_detail") if isinstance(line, dict) else None
            if details:
                return _read_error(details[0])
        return {}

    def clearings(self, run: Json) -> tuple[str, ...]:
        """The times at which somebody cleared tasks of a DAG run, out of the audit log."""
        dag, names = str(run["dag_id"]), {"dag_id": run["dag_id"], "run_id": run["dag_run_id"]}
        return tuple(
            str(one["when"])
            for event in _CLEARINGS
            for one in self._pages(dag, "the audit log", "eventLogs", "event_logs", event=event, **names)
        )

    def assets(self) -> Iterator[Json]:
        """All assets, with the tasks that read and write them."""
        return self._pages("", "assets", "assets", "assets")

    def written(self, run: Json) -> Iterator[Json]:
        """The asset events of the tasks of a DAG run."""
        names = {"source_dag_id": run["dag_id"], "source_run_id": run["dag_run_id"]}
        return self._pages(str(run["dag_id"]), "asset events", "assets/events", "asset_events", **names)

    def consumed(self, run: Json) -> tuple[Json, ...]:
        """The asset events that triggered a DAG run."""
        found = self._find(str(run["dag_id"]), "asset events", f"{_run_path(run)}/upstreamAssetEvents")
        return tuple(found.get("asset_events") or ())

    def _runs(self, offset: int, **parameters: Any) -> tuple[list[Json], bool]:
        document = self.source.get(f"{_API}/{_RUNS}", limit=_PAGE, offset=offset, **parameters)
        return _rows(document, "dag_runs", offset)

    def _pages(self, dag: str, what: str, path: str, member: str, **parameters: Any) -> Iterator[Json]:
        offset, more = 0, True
        while more:
            document = self._find(dag, what, path, limit=_PAGE, offset=offset, **parameters)
            rows, more = _rows(document, member, offset)
            offset += len(rows)
            yield from rows

    def _find(self, dag: str, what: str, path: str, **parameters: Any) -> Json:
        """A document; empty if there is none, or if it is not for this user."""
        reply = self.source.send("GET", f"{_API}/{path}", params=parameters)
        if reply.status_code == _FORBIDDEN:
            self.refused.add((dag, what))
        return {} if reply.status_code in (_FORBIDDEN, _ABSENT) else self.source.document(path, reply)


def authorize(source: HttpSource, names: tuple[str, str, str] = CREDENTIALS) -> Mapping[str, str]:
    """The headers with the credentials of the environment: a token, or one for the user's password.

    `names`: of the variables with the token, the user and the password.
    """
    token_name, user_name, password_name = names
    if token := os.environ.get(token_name):
        return {"Authorization": f"Bearer {token}"}
    if not (user := os.environ.get(user_name)):
        return {}
    password = os.environ.get(password_name, "")
    reply = source.send("POST", "auth/token", json={"username": user, "password": password})
    token = source.document("auth/token", reply).get("access_token", "")
    return {"Authorization": f"Bearer {token}"}


def _run_path(run: Json) -> str:
    return f"dags/{_segment(run['dag_id'])}/dagRuns/{_segment(run['dag_run_id'])}"


def _segment(text: object) -> str:
    return quote(str(text), safe="")


def _rows(document: Json, member: str, offset: int) -> tuple[list[Json], bool]:
    """The rows of a page, and whether more follow. The server may give fewer than it is asked for."""
    rows = document.get(member) or []
    return rows, bool(rows) and offset + len(rows) < int(document.get("total_entries") or 0)


def _read_error(detail: Json) -> Json:
    """An exception as Airflow 3 logs it: its type, its value and its frames."""
    frames = [
        f'  File "{one.get("filename")}", line {one.get("lineno")}, in {one.get("name")}'
        for one in detail.get("frames") or ()
    ]
    message = f"{detail.get('exc_type', '')}: {detail.get('exc_value', '')}"
    return {"message": message, "stack": "\n".join((*frames, message))}
