"""Requests that Schemathesis makes of the API's own description, sent to a real server by people who may all, some
or nothing; and what is wrong with the answers.
"""

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import hypothesis
import requests
import schemathesis
from authlib.common.encoding import urlsafe_b64encode
from hypothesis import HealthCheck, Phase
from hypothesis import strategies as st
from schemathesis.checks import load_all_checks, not_a_server_error
from schemathesis.core.result import Err, Ok
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from api.process import Api, Serving
from fixtures.stores_of_events import applying
from marquez import shop
from marquez.conftest import prepare
from whence.govern.api_keys import create_key, generate_key
from whence.model.access import SCOPES, Grant, Role
from whence.store.connection.engine import open_store, sqlite_url
from whence.store.security.database import open_security, write_security
from whence.store.security.grants import add_grant

Operation = APIOperation[Any, Any, Any, Any]
Case = schemathesis.Case[Operation]
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
NAMES = (shop.ORDERS, shop.REVENUE, shop.REPORT, shop.TOPIC, shop.LOAD, shop.SUM)
KNOWN: Mapping[str, tuple[str, ...]] = {
    "namespace": (shop.DB, "shop", "s3://reports"),
    "dataset": (shop.ORDERS.name, shop.REVENUE.name, str(shop.ORDERS)),
    "job": (shop.LOAD.name, shop.SUM.name, str(shop.LOAD)),
    "name": (shop.ORDERS.name, shop.LOAD.name),
    "field": ("email", "total"),
    "alias": (str(shop.REPORT),),
    "run": tuple(shop.RUNS[:3]),
    "runId": tuple(shop.RUNS[:3]),
    "tag": ("PII", "certified"),
    "source": (str(shop.ORDERS), f"field:{shop.DB}:{shop.ORDERS.name}#amount"),
    "target": (str(shop.REVENUE), str(shop.REPORT)),
    "nodeId": (f"dataset:{shop.DB}:{shop.ORDERS.name}", "job:shop:nightly.load"),
    "node": (*map(str, NAMES), "revenue", "nightly.load"),
    "before": ("now", "2026-11-20T06:00", f"run:{shop.RUNS[0]}"),
    "after": ("now", "1d ago", f"run:{shop.RUNS[2]}"),
    "as_of": ("2h ago", "2026-11-19"),
}
"""Values that lead further than a made-up one, by parameter."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """What was wrong with an answer, and the request that shows it."""

    operation: str
    problem: str
    request: str


@dataclass(slots=True)
class Tally:
    """What was sent and answered."""

    sent: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    by_who: Counter[str] = field(default_factory=Counter)
    operations: Counter[str] = field(default_factory=Counter)
    wrong: dict[tuple[str, str], Wrong] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Target:
    """A server, and how people say who they are."""

    url: str
    people: Mapping[str, Mapping[str, str]]
    session: requests.Session


PATIENCE_SECONDS = 300
LONGEST_URL = 60_000
"""What is longer the HTTP server itself refuses, before there is a request."""
UNKNOWN = ("nobody", "made up", "unsigned")
"""People whom no route but the public ones may answer."""


@contextmanager
def served(base: Path) -> Iterator[tuple[Api, Target]]:
    """A server with keys over the shop, whose log comes into the store as it grows."""
    prepare(base, shop.bodies())
    url = sqlite_url(base / "security.db")
    people = _people(url)
    serving = Serving(base)
    api = serving(open=False, security_url=url)
    engine = open_store(api.store_url)
    try:
        with applying(engine, api.data / "log"), requests.Session() as session:
            session.trust_env = False
            yield api, Target(f"http://127.0.0.1:{api.port}", people, session)
    finally:
        serving.end()
        engine.dispose()


def operations(api: Api) -> list[Operation]:
    """Every operation that the server's own description has, without the stream that lasts for minutes."""
    load_all_checks()
    schema = schemathesis.openapi.from_dict(api.ask("GET", "/openapi.json").json)
    schema.config.update(base_url=f"http://127.0.0.1:{api.port}")
    found = list(schema.get_all_operations())
    invalid = [one.err() for one in found if isinstance(one, Err)]
    assert not invalid, invalid
    return [one.ok() for one in found if isinstance(one, Ok) and one.ok().path != "/api/v2/progress/events"]


def fuzz(target: Target, operation: Operation, examples: int, seed: int, tally: Tally) -> None:
    """Make so many requests of one operation, as it is described and otherwise; tally what came back.

    An administrator sends each as it is, then everybody with names that exist in it: four are sent for each.
    """

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @hypothesis.given(case=_cases(operation), dice=st.randoms(use_true_random=False))
    def send(case: Case, dice: random.Random) -> None:
        hypothesis.assume(_url_bytes(target, case) < LONGEST_URL)
        _send(target, case, "admin", tally)
        _lead(case, dice)
        for who in ("admin", "reader", dice.choice(UNKNOWN)):
            _send(target, case, who, tally)

    send()


def _cases(operation: Operation) -> st.SearchStrategy[Case]:
    right = operation.as_strategy(schemathesis.GenerationMode.POSITIVE)
    if not any(operation.iter_parameters()) and not operation.body:
        return right
    return st.one_of(right, right, operation.as_strategy(schemathesis.GenerationMode.NEGATIVE))


def _lead(case: Case, dice: random.Random) -> None:
    """Put things that exist in the place of some made-up names; and let nobody wait for what never comes."""
    for place, coded in ((case.path_parameters, True), (case.query, False)):
        for name in place or {}:
            if name in KNOWN and dice.random() < 0.6:
                value = dice.choice(KNOWN[name])
                place[name] = quote(value, safe="") if coded else value
    if case.query and "timeout" in case.query and "wait_for" in case.query:
        case.query["timeout"] = 0


def _send(target: Target, case: Case, who: str, tally: Tally) -> None:
    label = case.operation.label
    response = case.call(session=target.session, headers=dict(target.people[who]), timeout=PATIENCE_SECONDS)
    tally.sent += 1
    tally.statuses[response.status_code] += 1
    tally.by_who[who] += 1
    tally.operations[label] += 1
    problems = [] if _is_awaited(case, response) else _violations(case, response)
    if who in UNKNOWN and case.operation.definition.raw.get("security") and response.status_code != 401:
        problems.append(f"{who} was answered {response.status_code}")
    for problem in problems:
        first = problem.splitlines()[0]
        tally.wrong.setdefault((label, first), Wrong(label, problem, case.as_curl_command()[:2_000]))


def _url_bytes(target: Target, case: Case) -> int:
    query = sum(len(quote(f"{name}{value}")) for name, value in (case.query or {}).items())
    return len(case.as_transport_kwargs(base_url=target.url)["url"]) + query


def _violations(case: Case, response: schemathesis.Response) -> list[str]:
    try:
        case.validate_response(response, checks=CHECKS)
    except schemathesis.core.failures.FailureGroup as failures:
        return [f"{response.status_code}: {one.title}: {one.message} {one}" for one in failures.exceptions]
    return []


def _is_awaited(case: Case, response: schemathesis.Response) -> bool:
    """Whether a 503 only says that what was waited for is not there yet, as it must."""
    return response.status_code == 503 and "wait_for" in (case.query or {})


def _people(security: str) -> dict[str, dict[str, str]]:
    engine = open_security(security)
    with write_security(engine) as connection:
        admin, reader = (create_key(connection, name, SCOPES, 1) for name in ("admin", "reader"))
        add_grant(connection, "key:admin", Grant(Role.ADMIN, "*"))
        add_grant(connection, "key:reader", Grant(Role.READER, "shop*"))
    engine.dispose()
    unsigned = ".".join(urlsafe_b64encode(part).decode() for part in (b'{"alg":"none"}', b'{"sub":"admin"}')) + "."
    tokens = {"admin": admin.text, "reader": reader.text, "made up": generate_key().text, "unsigned": unsigned}
    return {"nobody": {}} | {who: {"Authorization": f"Bearer {token}"} for who, token in tokens.items()}
