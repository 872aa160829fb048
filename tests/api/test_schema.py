"""The API's description of itself is true: of what is served, and of every answer to what Schemathesis makes of it.

`python -m bench.answers.schema` does the same with 50,000 requests.
"""

from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from api.fuzz import Tally, fuzz, operations, served
from whence.api.auth.permissions import needed_by
from whence.api.server.app import create_app
from whence.api.server.openapi_examples import example_of
from whence.api.settings import Settings
from whence.model.access import Action
from whence.store.connection.engine import sqlite_url

EXAMPLES, EXAMPLES_LONG = 1, 4
"""Of each operation, ordinarily and with `--long`; four requests for each."""
NO_PART = {"/", "/docs", "/metrics", "/openapi.json", "/redoc", "/ui", "/ui/"}
"""Pages and files, and what Prometheus reads."""


def test_every_answer_is_one_that_is_described(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    tally, examples = Tally(), EXAMPLES_LONG if pytestconfig.getoption("long") else EXAMPLES
    with served(tmp_path) as (api, target):
        found = operations(api)
        for one in found:
            fuzz(target, one, examples, 0, tally)
    assert set(tally.operations) == {one.label for one in found}
    assert {200, 201, 401, 403, 404, 422} <= set(tally.statuses)
    assert [f"{one.operation}: {one.problem}\n{one.request}" for one in tally.wrong.values()] == []


def test_what_is_served_is_described_and_nothing_else(tmp_path: Path) -> None:
    app = create_app(
        Settings(data=tmp_path, store_url=sqlite_url(tmp_path / "store.db"), security_url=sqlite_url(tmp_path / "s.db"))
    )
    described = {(way.upper(), path) for path, ways in app.openapi()["paths"].items() for way in ways}
    needed = [one for one in needed_by(app.routes) if one.path not in NO_PART and not one.path.startswith("/ui/")]
    assert described == {(way, one.path) for one in needed for way in one.methods - {"HEAD"}}
    assert any(one.action is Action.PUBLIC for one in needed)


def test_every_guarded_operation_says_so(tmp_path: Path) -> None:
    app = create_app(Settings(data=tmp_path, store_url=sqlite_url(tmp_path / "store.db"), open=True))
    actions = {(way, one.path): one.action for one in needed_by(app.routes) for way in one.methods}
    for path, ways in app.openapi()["paths"].items():
        for way, operation in ways.items():
            is_guarded = actions[way.upper(), path] is not Action.PUBLIC
            assert not is_guarded or {"401", "403"} <= operation["responses"].keys(), (way, path)
            assert ("security" in operation) == is_guarded, (way, path)


def test_every_operation_has_a_summary_a_schema_and_an_example_that_fits(tmp_path: Path) -> None:
    document = create_app(Settings(data=tmp_path, store_url=sqlite_url(tmp_path / "store.db"), open=True)).openapi()
    for path, ways in document["paths"].items():
        for way, operation in ways.items():
            assert len(operation["summary"].split()) > 1, (way, path)
            answers = [one for status, one in operation["responses"].items() if status.startswith("2")]
            assert answers, (way, path)
            for one in answers:
                _check_answer(document, one, f"{way} {path}")


def test_a_text_without_an_example_is_an_error() -> None:
    with pytest.raises(KeyError, match="unheard_of"):
        example_of({"type": "object", "properties": {"unheard_of": {"type": "string"}}}, {})


def _check_answer(document: dict[str, Any], answer: dict[str, Any], operation: str) -> None:
    """A JSON answer is an object with named members, or a list of such; its example has all of them."""
    if "content" not in answer:
        assert operation.startswith("delete"), operation
        return
    if "application/zip" in answer["content"]:
        assert operation == "get /api/v2/evidence", operation
        return
    if "image/svg+xml" in answer["content"]:
        assert operation.endswith("badges/{badge}/{node}/svg"), operation
        return
    if "text/event-stream" in answer["content"]:
        assert operation == "get /api/v2/progress/events", operation
        return
    body = answer["content"]["application/json"]
    schema = {**body["schema"], "components": document["components"]}
    assert jsonschema_rs.validator_for(schema).is_valid(body["example"]), (operation, body["example"])
    row = body["schema"].get("items", body["schema"])
    named = document["components"]["schemas"][row["$ref"].rpartition("/")[2]]
    assert named["properties"], operation
    assert named["additionalProperties"] is False, operation
    assert not jsonschema_rs.validator_for(schema).is_valid(_with_another_member(body["example"])), operation


def _with_another_member(example: Any) -> Any:
    return [{**example[0], "another": 1}] if isinstance(example, list) else {**example, "another": 1}
