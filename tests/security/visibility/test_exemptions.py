"""A hiding that somebody is exempt from changes no byte of any answer to them, on any route that reads."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from fastapi import FastAPI

from fixtures.both_logs import records_of
from fixtures.logs_of_events import fill
from fixtures.stores_of_events import apply
from marquez.shop import DAY, DB, HOUR, LOAD, ORDERS, REVENUE, RUNS, events
from security.conftest import House
from whence.log.segments.read import committed_end
from whence.model.access import Grant, Hiding, Role
from whence.model.events import RunState
from whence.model.names import RunName
from whence.openlineage.write import facet, run_event
from whence.query.answers.instants import iso
from whence.store.connection.engine import open_store
from whence.store.security.database import write_security
from whence.store.security.grants import add_grant

SOON = DAY + 910 * HOUR
"""The time at which the shop is asked, whenever this runs: ten hours after its last event."""
POLICY_ITSELF = (
    *("/api/v2/grants", "/api/v2/keys", "/api/v2/audit", "/api/v2/audit/verification"),
    "/api/v2/access-review",
)
"""These routes list the policy and what was done: a new hiding is in them, as it should be."""
RULES = (
    Hiding("*", "shop.*", "*ssn*"),
    Hiding("postgres*", "*", "amount"),
    Hiding("nosuch*", "*", "*"),
    Hiding("*", "*", "*"),
)
KNOWN = {
    "node": (str(ORDERS), str(REVENUE), str(LOAD), f"datasetField:{DB}:{ORDERS.name}:amount"),
    "nodeId": (f"dataset:{DB}:{ORDERS.name}", f"job:shop:{LOAD.name}"),
    "q": ("amount", "revenue", "nightly"),
    "source": (str(ORDERS),),
    "target": (str(REVENUE),),
    "before": ("1970-01-02",),
    "since": ("1970-01-02",),
    "direction": ("upstream", "downstream", "both"),
    "run": (RUNS[0], RUNS[9]),
    "runId": (RUNS[0],),
    "namespace": (DB, "shop"),
    "dataset": (ORDERS.name, REVENUE.name),
    "name": (ORDERS.name, LOAD.name),
    "job": (LOAD.name,),
    "version": ("00000000-0000-0000-0000-000000000000",),
    "type": ("run",),
    "period": ("DAY",),
    "key": ("0" * 32,),
    "position": ("1:0",),
    "repository": ("github.com/shop/pipeline",),
    "commit": ("0" * 40,),
    "slo": ("fresh",),
    "badge": ("certification", "lineage", "objectives"),
    "incident": ("0" * 16,),
}
CLOCKS = ("/metrics", "/api/v2/status", "/health", "/api/v2/session", "/api/v2/kpis", "/api/v2/labels")
TIMED = (
    *("/api/v2/diagnose", "/api/v2/evidence", "/api/v2/slos", "/api/v2/slos/{slo}", "/api/v2/incidents"),
    "/api/v2/certifications",
    "/api/v2/circuit-breaker",
    "/api/v2/nodes/{node}/quality-score",
    "/api/v2/nodes/{node}/lineage-baseline",
    "/api/v2/lineage-baselines",
)
"""The time is in their answers."""
STREAMS = ("/api/v2/progress/events",)
"""Their answers last until they are told to end."""
PEOPLE: Mapping[str, tuple[Grant, ...]] = {
    "admin": (Grant(Role.ADMIN, "*"),),
    "steward": (Grant(Role.STEWARD, "*"),),
    "reader-and-steward": (Grant(Role.READER, "*"), Grant(Role.STEWARD, "postgres*"), Grant(Role.STEWARD, "nosuch*")),
    "of-two": (Grant(Role.READER, "shop"), Grant(Role.ADMIN, f"{DB[:8]}*")),
    "writer": (Grant(Role.WRITER, "*"),),
}


@pytest.fixture
def shop(house: Callable[..., House]) -> House:
    """The shop with a failed run that names a column, its SQL, and a refused body."""
    made = house()
    broken = {
        "errorMessage": facet("ErrorMessageRunFacet", message="no column ssn", programmingLanguage="PYTHON"),
        "spark_conf": {"_producer": "https://example.com/p", "conf": "amount"},
    }
    failed = run_event(DAY + 900 * HOUR, RunState.FAIL, RunName(RUNS[9], LOAD), run_facets=broken)
    fill(made.settings.log, [json.dumps(one).encode() for one in (*events(), failed)] + [b'{"eventTime": 7}'])
    engine = open_store(made.settings.store_url)
    log = made.settings.data / "log"
    apply(engine, list(records_of(made.settings.log)), committed_end(log))
    engine.dispose()
    return made


def test_an_exempt_hiding_changes_no_byte_of_any_answer(shop: House) -> None:
    keys = {name: _person(shop, name, grants) for name, grants in PEOPLE.items()}
    exempt = {name: [rule for rule in RULES if _is_exempt(grants, rule)] for name, grants in PEOPLE.items()}
    assert {name: len(rules) for name, rules in exempt.items()} == {
        "admin": 4,
        "steward": 4,
        "reader-and-steward": 2,
        "of-two": 1,
        "writer": 0,
    }

    async def work(client: httpx.AsyncClient, app: FastAPI) -> None:
        # What a server records by itself would change answers meanwhile: the failed run is an incident.
        await app.state.slos.stop()
        await app.state.rules.stop()
        await app.state.incidents.stop()
        asked = list(_requests(app))
        for name in filter(exempt.get, keys):
            before = {one: await _answer(client, keys[name], one) for one in asked}
            if name == "admin":
                _check_rich(before)
            # All at once: what one of them hid would be hidden beside the others, too.
            for rule in exempt[name]:
                await _change(client, "PUT", keys["admin"], rule)
            hidden = {one: await _answer(client, keys[name], one) for one in asked}
            for rule in exempt[name]:
                await _change(client, "DELETE", keys["admin"], rule)
            for one in (one for one in asked if hidden[one] != before[one]):
                # Some answers have parts in any order.
                assert hidden[one] in [await _answer(client, keys[name], one) for _ in range(2)], (name, one)

    shop.run(work, lambda: SOON)


def test_an_administrator_of_some_namespaces_cannot_blind_one_of_all(shop: House) -> None:
    admin = shop.key("admin", Role.ADMIN)
    of_some = shop.key("advis", Role.ADMIN, "vis*")
    of_all = shop.key("reader", Role.READER)

    async def work(client: httpx.AsyncClient, app: FastAPI) -> None:
        await _change(client, "PUT", of_some, Hiding("vis*", "*", "nosuchfield"))
        assert (await client.get("/api/v2/quarantine", headers=admin)).status_code == 200
        assert (await client.get("/api/v2/quarantine", headers=of_all)).status_code == 403

    shop.run(work)


Asked = tuple[str, tuple[tuple[str, str], ...]]


def _requests(app: FastAPI) -> Iterator[Asked]:
    """Every route that reads, with each value that exists of what it needs; and the metrics."""
    yield "/metrics", ()
    for path, methods in app.openapi()["paths"].items():
        if "get" not in methods or path in POLICY_ITSELF:
            continue
        needed = [one for one in methods["get"].get("parameters", ()) if one["required"]]
        for choice in range(max([len(KNOWN[one["name"]]) for one in needed], default=1)):
            given = {one["name"]: KNOWN[one["name"]][choice % len(KNOWN[one["name"]])] for one in needed}
            inside = {one["name"]: quote(given[one["name"]], safe="") for one in needed if one["in"] == "path"}
            asked = tuple((name, value) for name, value in given.items() if name not in inside)
            asked += (("as_of", iso(DAY + 150 * HOUR)),) if path in TIMED else ()
            asked += (("seconds", "0"),) if path in STREAMS else ()
            yield path.format(**inside), asked


async def _answer(client: httpx.AsyncClient, key: Mapping[str, str], one: Asked) -> tuple[int, str, bytes]:
    """Status, headers and body. Digits do not count where a clock or a counter is shown."""
    answer = await client.get(one[0], params=dict(one[1]), headers=key)
    body, headers = answer.content, str(sorted(answer.headers.items()))
    if one[0].startswith(CLOCKS):
        body, headers = re.sub(rb"\d+([.]\d+)?(e[+-]?\d+)?", b"0", body), ""
    return answer.status_code, headers, body


async def _change(client: httpx.AsyncClient, method: str, admin: Mapping[str, str], rule: Hiding) -> None:
    """Hide fields from everybody, or show them again; it counts at once, for the same process changed it."""
    body = {"subject": "*", "namespaces": rule.namespaces, "datasets": rule.datasets, "fields": rule.fields}
    how: dict[str, Any] = {"params": body} if method == "DELETE" else {"json": body}
    answer = await client.request(method, "/api/v2/hidings", headers=admin, **how)
    assert answer.status_code in (200, 204), answer.text


def _check_rich(before: Mapping[Asked, tuple[int, str, bytes]]) -> None:
    """The story has what only somebody who sees all is shown: else the test above shows nothing."""
    seen = {path: body for (path, _), (_, _, body) in before.items()}
    assert sum(status == 200 for status, *_ in before.values()) > 45
    assert b'"refusal":"kind"' in seen["/api/v2/quarantine"]
    assert b"no column ssn" in seen["/api/v2/troubles"]
    assert b'"fail":1' in seen["/api/v1/stats/lineage-events"]
    assert b'producer="whence' in seen["/metrics"]
    assert b'producer="hidden"' not in seen["/metrics"]
    assert b"spark_conf" in seen[f"/api/v1/jobs/runs/{RUNS[9]}/facets"]


def _is_exempt(grants: tuple[Grant, ...], rule: Hiding) -> bool:
    """Whether they are steward of all the namespaces that these four rules and five people can mean."""
    meant = {"*": ["shop", DB, "anything"], "postgres*": [DB, "postgres-x"], "nosuch*": ["nosuch"]}
    stewards = [re.compile(one.namespaces.replace("*", ".*")) for one in grants if one.role >= Role.STEWARD]
    return all(any(one.fullmatch(text) for one in stewards) for text in meant[rule.namespaces])


def _person(shop: House, name: str, grants: tuple[Grant, ...]) -> dict[str, str]:
    key = shop.key(name)
    with write_security(shop.engine) as connection:
        for one in grants:
            add_grant(connection, f"key:{name}", one)
    return key
