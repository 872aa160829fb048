"""`python -m nightly.orchestrators.record_prefect`: what a poll reads of a real Prefect, for tests/capture/prefect.

Addresses and folders are replaced: the fixture is the same on every machine but for times and ids.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

from environments import environment
from nightly.orchestrators.prefect_server import LOCK, Prefect, prefect, run_shop
from whence.capture.polling.http_source import HttpSource
from whence.capture.prefect.rest_api import RestApi

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "tests/capture/prefect"

Json = dict[str, Any]


def read(server: Prefect) -> Json:
    """All that a poll may ask for."""
    api = RestApi(HttpSource(url=server.url))
    try:
        runs = [*api.running(), *api.ended("1970-01-01T00:00:00Z", None)]
        deployments = {one["deployment_id"] for one in runs if one["deployment_id"]}
        return {
            "version": api.version(),
            "flow_runs": runs,
            "flows": {one: api.flow(one) for one in sorted({run["flow_id"] for run in runs})},
            "deployments": {one: api.deployment(one) for one in sorted(deployments)},
            "task_runs": [task for run in runs for task in api.tasks(run["id"])],
            "logs": server.ask("POST", "logs/filter", {"logs": {"level": {"ge_": 40}}, "sort": "TIMESTAMP_ASC"}),
            "events": _unite(event for run in runs for event in api.events(run["id"], "1970-01-01T00:00:00Z", None)),
        }
    finally:
        api.close()


def _unite(events: Any) -> list[Json]:
    """Each event once, by their times."""
    found = {one["id"]: one for one in events}
    return sorted(found.values(), key=lambda one: (one["occurred"], one["id"]))


def write(server: Prefect) -> Path:
    """Write the fixture."""
    data = read(server)
    text = "{" + ",\n".join(f"{_line(name)}: {_value(value)}" for name, value in data.items()) + "}\n"
    places = {server.home: "/home", ROOT: "/repo", environment("prefect", LOCK): "/env", Path.home(): "/user"}
    for found, put in ((str(place), put) for place, put in places.items()):
        text = text.replace(found, put)
    path = FOLDER / f"prefect-{data['version']}.json"
    path.write_text(text, "utf-8")
    return path


def _value(value: object) -> str:
    """A run, a task run, a log or an event on a line."""
    match value:
        case list():
            return "[\n" + ",\n".join(map(_line, value)) + "\n]"
        case dict():
            return "{\n" + ",\n".join(f"{_line(name)}: {_line(one)}" for name, one in value.items()) + "\n}"
    return _line(value)


def _line(document: object) -> str:
    return json.dumps(document, sort_keys=True)


def main() -> None:
    """Record."""
    with (
        tempfile.TemporaryDirectory(prefix="whence-prefect-") as directory,
        prefect(Path(directory).resolve()) as server,
    ):
        run_shop(server)
        write(server)


if __name__ == "__main__":
    main()
