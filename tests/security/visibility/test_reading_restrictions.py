"""A policy restricts reading: what is made of personal data is hidden from readers everywhere, once it is known."""

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from fixtures.stores_of_events import apply_bodies
from query.worlds.sensitive_story import (
    BODIES,
    CITY,
    CRM,
    CRM_TAGS,
    EMAIL,
    FEATURES,
    REPORT,
    TO_USERS,
    USERS,
    of,
    ran,
    same,
    tagged,
)
from security.conftest import House
from whence.govern.declared_rules import find_rule_changes, rule_event
from whence.govern.policies.policy_file import read_policies
from whence.govern.policies.records import POLICIES
from whence.model.access import Role
from whence.model.names import FieldName
from whence.model.records.rules import RuleRecord
from whence.store.connection.engine import open_store

DAY = 86_400_000_000
TEXT = """\
version: 1
policies:
  - name: personal data is for privacy
    reason: whoever has no need reads none
    owner: privacy
    namespaces: ["s3://prod", "bi://prod"]
    where: {kind: column, label: "pii>=pseudonymous"}
    restrict: reading
    readers: ["key:dpo", "group:privacy"]
"""
SECRET = (of(USERS, "contact"), of(FEATURES, "id"), of(REPORT, "one_contact"), EMAIL)
PLAIN = (of(USERS, "city"), of(USERS, "area"), CITY)


@pytest.fixture
def story(house: Callable[..., House]) -> House:
    made = house()
    _apply(made, *BODIES, first=1)
    return made


def _apply(made: House, *bodies: bytes, first: int) -> None:
    engine = open_store(made.settings.store_url)
    apply_bodies(engine, bodies, first=first)
    engine.dispose()


def _declared(*texts: str) -> Iterator[bytes]:
    for at, text in enumerate(texts, 1):
        for record, namespace in find_rule_changes(read_policies(text).policies, (), prune=False):
            yield json.dumps(rule_event(POLICIES, record, namespace, at * DAY, "https://example.com/ada")).encode()


def _evaluate(made: House) -> None:
    """As the running server does after new events."""

    async def work(_: httpx.AsyncClient, app: FastAPI) -> None:
        await asyncio.to_thread(app.state.rules.read, 10 * DAY)

    made.run(work)


def _ask(made: House, headers: dict[str, str], path: str, **parameters: str) -> Any:
    found: list[httpx.Response] = []

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        found.append(await client.get(f"/api/v2/{path}", headers=headers, params=parameters))

    made.run(work)
    return found[0]


def _known(made: House, headers: dict[str, str], *fields: FieldName) -> set[FieldName]:
    found: set[FieldName] = set()

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        for one in fields:
            asked = await client.get("/api/v2/lineage/both", headers=headers, params={"node": str(one)})
            assert asked.status_code in (200, 404)
            found.update({one} if asked.status_code == 200 else ())

    made.run(work)
    return found


def test_what_shows_personal_data_is_hidden_from_readers_alone(story: House) -> None:
    reader, dpo = story.key("reader", Role.READER), story.key("dpo", Role.READER)
    steward, admin = story.key("bi", Role.STEWARD, "bi://*"), story.key("ada", Role.ADMIN)
    assert _known(story, reader, *SECRET, *PLAIN) == {*SECRET, *PLAIN}
    _apply(story, *_declared(TEXT), first=20)
    _evaluate(story)
    assert _known(story, reader, *SECRET, *PLAIN) == {*PLAIN}
    for everything in (dpo, admin):
        assert _known(story, everything, *SECRET, *PLAIN) == {*SECRET, *PLAIN}
    assert _known(story, steward, of(REPORT, "one_contact")) == {of(REPORT, "one_contact")}


def test_no_answer_names_a_restricted_column(story: House) -> None:
    reader = story.key("reader", Role.READER)
    _apply(story, *_declared(TEXT), first=20)
    _evaluate(story)
    asked: tuple[tuple[str, dict[str, str]], ...] = (
        ("lineage/both", {"node": str(of(USERS, "city"))}),
        ("impact", {"node": str(CRM)}),
        ("sensitivity", {"node": str(REPORT)}),
        ("sensitivity", {"node": str(REPORT), "as_of": "1970-01-01T03:30:00Z"}),
        ("search", {"q": "contact"}),
        ("search", {"q": "label:pii"}),
        ("subject", {"node": str(CRM)}),
        ("evidence", {"node": str(REPORT)}),
        ("labels", {}),
    )
    for path, parameters in asked:
        answer = _ask(story, reader, path, **parameters)
        assert answer.status_code == 200, (path, answer.text)
        text = answer.text.replace("q=contact", "")
        assert "one_contact" not in text, path
        assert "email_hash" not in text, path


def test_it_follows_the_lineage_and_ends_with_tag_or_policy(story: House) -> None:
    reader = story.key("reader", Role.READER)
    copy = of(REPORT, "copy")
    _apply(story, *_declared(TEXT), first=20)
    _evaluate(story)
    _apply(story, ran("copies", 7, tagged(USERS), REPORT, [same(of(USERS, "contact"), copy)]), first=30)
    _evaluate(story)
    assert _known(story, reader, copy) == set()
    untagged = [one for one in CRM_TAGS if one[2] != "email" and one[2] != "phone"]
    _apply(story, ran("load users", 8, tagged(CRM, *untagged), USERS, TO_USERS), first=40)
    _evaluate(story)
    assert _known(story, reader, copy, EMAIL) == {copy, EMAIL}
    _apply(story, ran("load users", 9, tagged(CRM, *CRM_TAGS), USERS, TO_USERS), first=50)
    _evaluate(story)
    assert _known(story, reader, copy, EMAIL) == set()
    ended = [
        json.dumps(rule_event(POLICIES, record, namespace, 5 * DAY, "https://example.com/ada")).encode()
        for record, namespace in _ends()
    ]
    _apply(story, *ended, first=60)
    _evaluate(story)
    assert _known(story, reader, copy, EMAIL) == {copy, EMAIL}


def _ends() -> Iterator[Any]:
    for namespace in ("s3://prod", "bi://prod"):
        yield RuleRecord(name="personal data is for privacy", ended=True), namespace
