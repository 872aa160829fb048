"""`python -m nightly.orchestrators.record_dagster`: what a poll reads of a real Dagster, for tests/capture/dagster.

Addresses and folders are replaced: the fixture is the same on every machine but for times and ids.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

from environments import environment
from nightly.orchestrators.dagster_server import LOCK, Dagster, dagster, run_shop
from whence.capture.dagster import queries
from whence.capture.dagster.graphql_api import GraphqlApi
from whence.capture.dagster.records import key_of
from whence.capture.polling.http_source import HttpSource

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "tests/capture/dagster"

Json = dict[str, Any]


def read(server: Dagster) -> Json:
    """All that a poll may ask for."""
    api = GraphqlApi(HttpSource(url=server.url))
    try:
        listed = api.updated(0, None)
        keys = [key_of(one["key"]) for one in server.ask(queries.ASSETS)["assetsOrError"]["nodes"]]
        described = server.ask(queries.DESCRIBE, keys=[{"path": list(one)} for one in keys])["assetsOrError"]["nodes"]
        reported = api.reported(0)
        ordered = sorted(listed, key=lambda one: float(one["creationTime"]))
        return {
            "version": api.version(),
            "locations": server.ask(queries.LOCATIONS)["workspaceOrError"]["locationEntries"],
            "runs": [api.run(one["runId"]) for one in ordered],
            "logs": {one["runId"]: list(api.log(one["runId"])) for one in ordered},
            "assets": [{"key": one["key"], "definition": one["definition"]} for one in described],
            "reported": reported,
        }
    finally:
        api.close()


def write(server: Dagster) -> Path:
    """Write the fixture."""
    data = read(server)
    parts = [f"{_line(name)}: {_value(value)}" for name, value in data.items()]
    text = "{" + ",\n".join(parts) + "}\n"
    places = {server.lake: "/lake", server.home: "/home", ROOT: "/repo", environment("dagster", LOCK): "/env"}
    for found, put in ((str(place), put) for place, put in places.items()):
        text = text.replace(found, put)
    path = FOLDER / f"dagster-{data['version']}.json"
    path.write_text(text, "utf-8")
    return path


def _value(value: object) -> str:
    """A run, an asset or a log on a line."""
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
        tempfile.TemporaryDirectory(prefix="whence-dagster-") as directory,
        dagster(Path(directory).resolve()) as server,
    ):
        run_shop(server)
        write(server)


if __name__ == "__main__":
    main()
