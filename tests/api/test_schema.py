"""The API's description of itself is true: of what is served, and of every answer to what Schemathesis makes of it.

`python -m bench.schema` does the same with 50,000 requests.
"""

from pathlib import Path

from api.fuzz import Tally, fuzz, operations, served
from whence.api.app import create_app
from whence.api.needs import needed_by
from whence.api.settings import Settings
from whence.model.access import Action
from whence.store.engine import sqlite_url

EXAMPLES = 4
"""Of each operation; four requests for each."""
NO_PART = {"/", "/docs", "/metrics", "/openapi.json", "/redoc", "/ui", "/ui/"}
"""Pages and files, and what Prometheus reads."""


def test_every_answer_is_one_that_is_described(tmp_path: Path) -> None:
    tally = Tally()
    with served(tmp_path) as (api, target):
        found = operations(api)
        for one in found:
            fuzz(target, one, EXAMPLES, 0, tally)
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
