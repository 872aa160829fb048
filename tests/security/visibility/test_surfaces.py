"""No forbidden name is in any byte that leaves over HTTP: answers, CSV, errors, headers, metrics, or in the log of the
process; and what may be seen is there.
"""

import json
import logging
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import Engine, insert, update

from fixtures.both_logs import records_of
from fixtures.logs_of_events import fill
from marquez.shop import events
from query.worlds.random_policies import Policy, forbidden, policy, shown, world
from query.worlds.random_worlds import World, load, nodes_of
from security.conftest import House, now
from whence.govern.api_keys import create_key
from whence.log import Position
from whence.model.access import SCOPES, Grant, Role
from whence.model.names import FieldName, JobName, Node
from whence.store.connection.engine import open_store, writing
from whence.store.schema.tables import event, producer, progress
from whence.store.security.database import write_security
from whence.store.security.grants import add_grant, add_hidings
from whence.store.security.restrictions import replace_restrictions

WORLDS = 15
OF_ONE = ("lineage/upstream", "lineage/downstream", "lineage/both", "impact", "history", "blast")
OF_TWO = ("paths", "why", "why-not")
AROUND = ("/metrics", "/api/v2/status", "/api/v2/progress", "/health/ready", "/api/v2/session")


@dataclass(frozen=True)
class Case:
    """A world, and somebody who may see a part of it."""

    number: int
    world: World
    rule: Policy
    headers: Mapping[str, str]

    @property
    def visible(self) -> list[Node]:
        return [node for node in _nodes(self.world) if self.knows(node)]

    @property
    def hidden(self) -> list[Node]:
        return [node for node in _nodes(self.world) if not self.knows(node)]

    def knows(self, node: Node) -> bool:
        whole = node.dataset if isinstance(node, FieldName) else node
        return whole.namespace in self.rule.namespaces and shown(self.world, self.rule, node) is not None


def test_no_byte_of_any_answer_tells_what_is_hidden(
    house: Callable[..., House], caplog: pytest.LogCaptureFixture
) -> None:
    made = house()
    cases = [_case(made, number) for number in range(WORLDS)]
    _restrict(made, cases)
    fill(made.settings.log, (json.dumps(one).encode() for one in events()))
    places = [one.position for one in records_of(made.settings.log)]
    engine = open_store(made.settings.store_url)
    statuses: set[int] = set()

    async def work(client: httpx.AsyncClient, app: FastAPI) -> None:
        for case in cases:
            _load(engine, case, places[case.number % len(places)])
            caplog.clear()
            for path, asked in _requests(case):
                answer = await client.get(path, params=asked, headers=case.headers)
                if path != "/health/ready":  # nothing derives here, so it is not
                    statuses.add(answer.status_code)
                _check(case, answer, asked)
            ours = [one for one in caplog.records if not one.name.startswith(("httpx", "httpcore"))]  # they ask
            logged = "".join(f"{one.getMessage()}{one.exc_text}" for one in ours)
            assert not [text for text in _secrets(case) if text in logged], case.number

    with caplog.at_level(logging.DEBUG):
        made.run(work)
    engine.dispose()
    assert statuses == {200, 400, 404, 422}


def _requests(case: Case) -> Iterator[tuple[str, dict[str, str]]]:
    """Every question about what is visible, as JSON and as CSV; then what leads to errors; then what is around."""
    dice = random.Random(f"asked {case.number}")
    if visible := case.visible:
        one, other = str(dice.choice(visible)), str(dice.choice(visible))
        for form in ({}, {"format": "csv"}):
            yield from ((f"/api/v2/{question}", {"node": one, **form}) for question in OF_ONE)
            yield from ((f"/api/v2/{question}", {"source": one, "target": other, **form}) for question in OF_TWO)
            yield "/api/v2/diff", {"before": "1970-01-02", "after": "now", **form}
            yield from (("/api/v2/search", {"q": text, **form}) for text in ("q", "col", "tbl", "job", "label:pii"))
        yield "/api/v2/impact", {"node": one, "cursor": "made-up"}
        yield "/api/v2/impact", {"node": one, "job": str(dice.choice(_nodes(case.world)))}
    for node in dice.sample(case.hidden, min(3, len(case.hidden))):
        yield "/api/v2/lineage/both", {"node": str(node)}
        yield "/api/v2/why-not", {"source": str(node), "target": str(dice.choice(_nodes(case.world)))}
    yield "/api/v2/impact", {"node": "q"}
    yield "/api/v2/impact", {"node": "col0", "as_of": "never"}
    yield from ((f"/api/v2/runs/{statement.run_id}/lineage", {}) for statement in case.world.statements)
    for path in ("datasets", "jobs", "namespaces", "events"):
        yield f"/api/v2/{path}", {}
    yield from ((path, {}) for path in AROUND)


def _check(case: Case, answer: httpx.Response, asked: Mapping[str, str]) -> None:
    typed = [*asked.values(), *answer.request.url.path.split("/")]
    body = f"{answer.text}{dict(answer.headers)}"
    for text in sorted(filter(None, typed), key=len, reverse=True):
        # What somebody typed may come back, in an error; it is no news to them.
        body = body.replace(text, "") if answer.status_code != 200 or "why-not" in str(answer.url) else body
    assert not [text for text in _secrets(case) if text in body], (case.number, str(answer.url), answer.text)
    if answer.status_code == 200 and "node" in asked and "csv" not in asked.values():
        root = next(node for node in case.visible if str(node) == asked["node"])
        assert str(shown(case.world, case.rule, root)) in answer.text or str(root) in answer.text


def _secrets(case: Case) -> set[str]:
    return forbidden(case.world, case.rule) - {"none"}  # a word of ours, too


def _nodes(of: World) -> list[Node]:
    return sorted(nodes_of(of), key=str)


def _case(made: House, number: int) -> Case:
    dice = random.Random(f"surface {number}")
    made_up = world(dice)
    # What a dataset says comes from a run, too: here of this job.
    one = replace(made_up, jobs=(*made_up.jobs, JobName("none", "none")))
    rule, name = policy(dice, one), f"viewer{number}"
    with write_security(made.engine) as connection:
        key = create_key(connection, name, SCOPES, now())
        for granted in rule.viewer.grants or (Grant(Role.READER, "nothing"),):
            add_grant(connection, f"key:{name}", granted)
        add_hidings(connection, f"key:{name}", rule.viewer.hidings)
    return Case(number, one, rule, {"Authorization": f"Bearer {key.text}"})


def _restrict(made: House, cases: Sequence[Case]) -> None:
    """Restrict the fields of each case for its viewer alone."""
    names = [f"key:viewer{case.number}" for case in cases]
    found = [
        replace(one, policy=name)
        for case, name in zip(cases, names, strict=True)
        for one in case.rule.restrictions(tuple(other for other in names if other != name))
    ]
    assert found
    with write_security(made.engine) as connection:
        assert replace_restrictions(connection, found)
        assert not replace_restrictions(connection, found)


def _load(engine: Engine, case: Case, reached: Position) -> None:
    load(engine, case.world)
    with writing(engine) as connection:
        # Producers are named in metrics, and may be called as what they tell of.
        names = [
            {"id": number + 2, "uri": f"https://example.com/{node}"} for number, node in enumerate(_nodes(case.world))
        ]
        connection.execute(insert(producer), names)
        at = {"kind": 1, "time": 10, "state": 0, "subject_id": 0, "warnings": "", "rest": 0}
        of = [{"id": one["id"], "producer_id": one["id"], "position": one["id"], **at} for one in names]
        connection.execute(insert(event), of)
        connection.execute(update(progress).values(position=reached.as_int))
