"""What people say of things: each PUT and DELETE becomes an event in the log, with the person as producer."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote

import pytest

from api.process import Answer, Api
from marquez.shop import DAY, LOAD, ORDERS, REPORT, REVENUE, SUM, TOPIC
from whence.log import Kind
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.openlineage.write import dataset_event


def say(api: Api, method: str, node: Node | JobName, what: str, body: Any = None) -> Answer:
    sent = None if body is None else json.dumps(body).encode()
    path = f"/api/v2/nodes/{quote(str(node), safe='')}/{what}"
    return api.ask(method, path, sent, {"content-type": "application/json"} if sent else None)


def put(api: Api, path: str, body: Any) -> Answer:
    return api.ask("PUT", path, json.dumps(body).encode(), {"content-type": "application/json"})


def make(api: Api, namespace: str, *names: str) -> None:
    """Datasets, for jobs are declared between datasets that are there."""
    put(api, "/api/v1/sources/s", {"type": "X", "connectionUrl": "x://h"})
    for name in names:
        body = {"type": "DB_TABLE", "physicalName": name, "sourceName": "s"}
        assert put(api, f"/api/v1/namespaces/{namespace}/datasets/{name}", body).status == 200


def facts(api: Api, node: Node) -> dict[str, Any]:
    answer = say(api, "GET", node, "facts")
    assert answer.status == 200
    found: dict[str, Any] = answer.json["data"]
    return found


@pytest.mark.parametrize("node", [TOPIC, SUM], ids=str)
def test_facts_of_datasets_and_jobs(live: Api, node: Node) -> None:
    for what, body in (
        ("owners/data%20team", {"role": "STEWARD"}),
        ("owners/ann", None),
        ("tags/gold", None),
        ("tags/domain", {"value": "sales"}),
        ("description", {"description": "What people click"}),
        ("certification/canonical", None),
        ("tier", {"tier": 1}),
    ):
        answer = say(live, "PUT", node, what, body)
        assert answer.status == 200, answer
    asserted = facts(live, node)
    assert asserted == answer.json["data"]
    assert asserted["owners"] == [{"name": "data team", "role": "STEWARD"}, {"name": "ann", "role": ""}]
    assert {(one["key"], one["value"]) for one in asserted["tags"]} == {
        ("gold", "true"),
        ("domain", "sales"),
        ("canonical", "true"),
    }
    assert (asserted["description"], asserted["certification"], asserted["tier"]) == (
        "What people click",
        ["canonical"],
        1,
    )
    for what in ("owners/ann", "tags/gold", "description", "certification/canonical", "tier"):
        assert say(live, "DELETE", node, what).status == 200
    asserted = facts(live, node)
    assert [one["name"] for one in asserted["owners"]] == ["data team"]
    assert [one["key"] for one in asserted["tags"]] == ["domain"]
    assert (asserted["description"], asserted["certification"], asserted["tier"]) == (None, [], None)


def test_a_contract_and_a_tag_of_a_field(live: Api) -> None:
    assert (
        say(live, "PUT", REVENUE, "contract", {"contract_version": "2.1.0"}).json["data"]["contract_version"] == "2.1.0"
    )
    field = FieldName(REVENUE, "total")
    assert {"key": "KPI", "value": "true", "field": "total", "source": "USER"} in say(
        live, "PUT", field, "tags/KPI"
    ).json["data"]["tags"]
    assert say(live, "PUT", field, "tier", {"tier": 2}).status == 422
    assert say(live, "PUT", LOAD, "contract", {"contract_version": "1"}).status == 422
    assert say(live, "DELETE", REVENUE, "contract").json["data"]["contract_version"] is None


def test_what_is_said_is_an_event_with_the_person_as_producer(live: Api) -> None:
    answer = say(live, "PUT", ORDERS, "tags/audited")
    position = answer.headers["whence-position"]
    record = next(one for one in live.records() if str(one.position) == position)
    event = json.loads(record.payload)
    assert record.kind is Kind.EVENT
    assert event["producer"] == "urn:whence:person:anonymous"
    assert [one["key"] for one in event["dataset"]["facets"]["tags"]["tags"]] == ["PII", "certified", "audited"]
    assert "schema" not in event["dataset"]["facets"]


def test_many_people_at_once_lose_nothing(live: Api) -> None:
    names = [f"team {number}" for number in range(12)]
    with ThreadPoolExecutor(len(names)) as people:
        answers = list(people.map(lambda name: say(live, "PUT", REPORT, f"owners/{quote(name)}"), names))
    assert {one.status for one in answers} == {200}
    assert {one["name"] for one in facts(live, REPORT)["owners"]} == set(names)


def test_a_manual_edge_comes_and_goes(live: Api) -> None:
    ends = {"source": str(TOPIC), "target": str(FieldName(REPORT, "sum"))}
    sent = json.dumps({**ends, "type": "INDIRECT", "subtype": "filter"}).encode()
    assert live.ask("PUT", "/api/v2/edges", sent, {"content-type": "application/json"}).status == 200

    def neighbours() -> set[str]:
        graph = live.ask("GET", f"/api/v1/lineage?nodeId={quote(str(TOPIC), safe='')}&depth=1").json["graph"]
        return {one["id"] for one in graph}

    assert str(REPORT) in neighbours()
    gone = live.ask("DELETE", f"/api/v2/edges?source={quote(ends['source'])}&target={quote(ends['target'])}")
    assert gone.status == 200
    assert neighbours() == {str(TOPIC)}


def test_a_fact_of_a_declared_job_keeps_what_was_declared(live: Api) -> None:
    job = JobName("facts", "declared")
    body = {
        "type": "BATCH",
        "inputs": [{"namespace": "facts", "name": "a"}],
        "outputs": [{"namespace": "facts", "name": "b"}],
    }
    make(live, "facts", "a", "b")
    made = put(live, "/api/v1/namespaces/facts/jobs/declared", body)
    assert [one["name"] for one in made.json["outputs"]] == ["b"]
    assert say(live, "PUT", job, "owners/ann").status == 200
    found = live.ask("GET", "/api/v1/namespaces/facts/jobs/declared").json
    assert [one["name"] for one in (*found["inputs"], *found["outputs"])] == ["a", "b"]


def test_what_is_deleted_is_hidden_until_an_event_speaks_of_it(live: Api) -> None:
    body = {"type": "DB_TABLE", "physicalName": "x", "sourceName": "s"}
    path = "/api/v1/namespaces/bin/datasets/x"
    put(live, "/api/v1/sources/s", {"type": "X", "connectionUrl": "x://h"})
    assert put(live, path, body).json["deleted"] is False
    assert live.ask("DELETE", path).json["deleted"] is True
    assert live.ask("GET", path).status == 404
    assert live.ask("GET", "/api/v1/namespaces/bin/datasets").json == {"datasets": [], "totalCount": 0}
    assert live.ask("GET", "/api/v1/namespaces/bin").json["isHidden"] is True
    assert "bin" not in [one["name"] for one in live.ask("GET", "/api/v1/namespaces?limit=1000").json["namespaces"]]
    assert put(live, path, body).json["deleted"] is False
    assert live.ask("GET", "/api/v1/namespaces/bin/datasets").json["totalCount"] == 1


def test_a_deleted_job_ends(live: Api) -> None:
    body = {"type": "BATCH", "outputs": [{"namespace": "bin2", "name": "out"}]}
    path = "/api/v1/namespaces/bin2/jobs/j"
    make(live, "bin2", "out")
    put(live, path, body)
    assert live.ask("DELETE", path).status == 200
    assert live.ask("GET", path).status == 404
    assert live.ask("GET", "/api/v1/namespaces/bin2/jobs").json == {"jobs": [], "totalCount": 0}
    graph = live.ask("GET", "/api/v1/lineage?nodeId=dataset:bin2:out").json["graph"]
    assert [one["id"] for one in graph] == ["dataset:bin2:out"]


def test_a_deleted_dataset_is_in_no_graph(live: Api) -> None:
    body = {"type": "BATCH", "inputs": [{"namespace": "bin4", "name": "in"}]}
    make(live, "bin4", "in", "out")
    put(live, "/api/v1/namespaces/bin4/jobs/j", body | {"outputs": [{"namespace": "bin4", "name": "out"}]})
    assert live.ask("DELETE", "/api/v1/namespaces/bin4/datasets/in").status == 200
    graph = live.ask("GET", "/api/v1/lineage?nodeId=job:bin4:j").json["graph"]
    assert {one["id"] for one in graph} == {"dataset:bin4:out", "job:bin4:j"}
    assert [one["inEdges"] for one in graph if one["type"] == "JOB"] == [[]]
    assert live.ask("GET", "/api/v1/lineage?nodeId=dataset:bin4:in").status == 404


def test_a_deleted_namespace_is_hidden_with_all_in_it(live: Api) -> None:
    body = {"type": "BATCH", "outputs": [{"namespace": "bin3", "name": "out"}]}
    put(live, "/api/v1/namespaces/bin3", {"ownerName": "ann"})
    make(live, "bin3", "out")
    put(live, "/api/v1/namespaces/bin3/jobs/j", body)
    assert live.ask("DELETE", "/api/v1/namespaces/bin3").json["isHidden"] is True
    assert live.ask("GET", "/api/v1/namespaces/bin3").json["isHidden"] is True
    assert live.ask("GET", "/api/v1/namespaces/bin3/jobs").json["totalCount"] == 0


def test_tags_are_taken_off(live: Api) -> None:
    at = f"/api/v1/namespaces/{quote(ORDERS.namespace, safe='')}/datasets/{ORDERS.name}"
    assert live.ask("POST", f"{at}/tags/later").json["tags"] == sorted({"later", *live.ask("GET", at).json["tags"]})
    assert "later" not in live.ask("DELETE", f"{at}/tags/later").json["tags"]
    tagged = live.ask("POST", f"{at}/fields/id/tags/KEY").json
    assert tagged["fields"][0]["tags"] == ["KEY"]
    assert live.ask("DELETE", f"{at}/fields/id/tags/KEY").json["fields"][0]["tags"] == []
    job = "/api/v1/namespaces/shop/jobs/nightly.load/tags/nightly"
    assert live.ask("POST", job).json["tags"] == ["nightly"]
    assert live.ask("DELETE", job).json["tags"] == []


def test_malformed_bodies_are_the_clients_fault(live: Api) -> None:
    assert live.ask("PUT", "/api/v1/tags/x", b"{", {"content-type": "application/json"}).status == 400
    assert live.ask("PUT", "/api/v1/namespaces/x", b"{}", {"content-type": "application/json"}).status == 422
    assert live.ask("PUT", "/api/v1/namespaces/x", b"", {"content-type": "application/json"}).status == 422
    assert say(live, "PUT", ORDERS, "tier", {"tier": 9}).status == 422
    assert say(live, "PUT", JobName("no", "where"), "tags/x").status == 404


def test_a_large_body_is_refused(live: Api) -> None:
    assert put(live, "/api/v1/tags/x", {"description": "x" * (1 << 20)}).status == 413


def test_an_alias_is_cut_and_joined_again(live: Api) -> None:
    table, place = DatasetName("hive", "t"), DatasetName("s3://lake", "t")
    link = {"namespace": table.namespace, "name": table.name, "type": "TABLE"}
    live.post(dataset_event(DAY, place, facets={"symlinks": {"identifiers": [link]}}))
    live.ask("GET", "/api/v2/progress?wait_for=head")
    assert facts(live, place)["aliases"] == [str(table)]
    assert put(live, "/api/v2/alias-cuts", {"dataset": str(table), "alias": str(place)}).json["data"]["aliases"] == []
    live.post(dataset_event(DAY + 1, place, facets={"symlinks": {"identifiers": [link]}}))
    live.ask("GET", "/api/v2/progress?wait_for=head")
    assert facts(live, place)["aliases"] == []
    back = live.ask("DELETE", f"/api/v2/alias-cuts?dataset={quote(str(place))}&alias={quote(str(table))}")
    assert back.json["data"]["aliases"] == [str(table)]
    assert put(live, "/api/v2/alias-cuts", {"dataset": str(table), "alias": str(table)}).status == 422


def test_a_change_is_refused_if_somebody_said_something_else_meanwhile(live: Api) -> None:
    before = say(live, "GET", REVENUE, "facts").headers["etag"]
    assert say(live, "PUT", REVENUE, "tags/mine").status == 200
    path = f"/api/v2/nodes/{quote(str(REVENUE), safe='')}/tier"
    body, kind = json.dumps({"tier": 2}).encode(), {"content-type": "application/json"}
    refused = live.ask("PUT", path, body, kind | {"If-Match": before})
    assert (refused.status, refused.json["pointer"]) == (412, "/header/If-Match")
    assert facts(live, REVENUE)["tier"] is None
    now = say(live, "GET", REVENUE, "facts").headers["etag"]
    answer = live.ask("PUT", path, body, kind | {"If-Match": f'"other", {now}'})
    assert (answer.status, answer.json["data"]["tier"]) == (200, 2)
    assert answer.headers["etag"] == say(live, "GET", REVENUE, "facts").headers["etag"] != now


def test_facts_of_many_are_those_of_each_in_the_order_asked_for(live: Api) -> None:
    nodes = [str(REPORT), str(REVENUE), "dataset:no:such", "no node", str(REVENUE), str(ORDERS)]
    query = "&".join(f"node={quote(one, safe='')}" for one in nodes)
    answer = live.ask("GET", f"/api/v2/facts?{query}")
    assert answer.json["data"] == [facts(live, one) for one in (REPORT, REVENUE, ORDERS)]
    assert live.ask("GET", "/api/v2/facts").status == 422
