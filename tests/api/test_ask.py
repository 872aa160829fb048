"""The questions over HTTP: envelopes, pages, tags, errors, CSV; on both stores."""

import io
import json
import re
from collections.abc import Iterator
from csv import reader as csv_rows
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from sqlalchemy import Engine, event
from typer.testing import CliRunner

from api.asked import Client, asking
from query.worlds.churn_story import CRM, HOUR, MODEL, NOW, PREDICTIONS, TABLE, USAGE, WORLD, column
from query.worlds.random_worlds import POSITION, Statement, World, load
from whence.cli.commands.app import app as command_line
from whence.errors import NodeNotFoundError
from whence.model.ids import node_id
from whence.model.lineage import Edge, Origin
from whence.model.names import DatasetName, FieldName, JobName
from whence.model.sensitivity import Grade
from whence.query.lookup.resolve import resolve
from whence.store.connection.engine import reading, sqlite_url, writing
from whence.store.schema.tables import facet_body, progress
from whence.store.snapshots.graph import StoreGraph

CHURN = str(column("predictions", "churn_probability"))
RUN = "22222222-0000-4000-8000-000000000000"

QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "upstream": ("lineage/upstream", {"node": CHURN}),
    "downstream": ("lineage/downstream", {"node": str(USAGE)}),
    "both": ("lineage/both", {"node": str(TABLE)}),
    "impact": ("impact", {"node": str(USAGE)}),
    "paths": ("paths", {"source": str(column("silver/sessions", "minutes")), "target": CHURN}),
    "why": ("why", {"source": str(column("silver/sessions", "minutes")), "target": CHURN}),
    "why-not": ("why-not", {"source": str(column("raw/usage_logs.csv", "last_login")), "target": CHURN}),
    "history": ("history", {"node": str(FieldName(TABLE, "avg_minutes"))}),
    "versions": ("versions", {"node": str(TABLE)}),
    "checks": ("check-results", {"node": str(TABLE)}),
    "sensitivity": ("sensitivity", {"node": CHURN, "at_least": "influenced"}),
    "subject": ("subject", {"tag": "pii"}),
    "containment": ("containment", {"node": str(USAGE)}),
    "rerun": ("rerun", {"node": str(USAGE), "target": str(MODEL), "since": str(NOW - 12 * HOUR)}),
    "rollback": ("rollback", {"node": str(USAGE), "since": str(NOW - 12 * HOUR)}),
    "changes": ("changes", {"node": CHURN, "since": str(NOW - 12 * HOUR), "until": str(NOW)}),
    "diagnose": ("diagnose", {"node": CHURN, "since": str(NOW - 12 * HOUR), "until": str(NOW)}),
    "diff": ("diff", {"before": str(NOW - 6 * HOUR), "after": str(NOW)}),
    "runs": (f"runs/{RUN}/lineage", {}),
    "search": ("search", {"q": "churn"}),
    "search, narrowed": ("search", {"q": "churn", "kind": "field", "namespace": "file"}),
    "search, labelled": ("search", {"q": "label:pii>=partial"}),
    "blast": ("blast", {"node": CHURN}),
}


@pytest.fixture
def client(store: Engine, store_url: str, tmp_path: Path) -> Iterator[Client]:
    load(store, WORLD)
    _tag_email(store, "true")
    with asking(tmp_path / "data", store_url) as made:
        yield made


def _tag_email(store: Engine, value: str) -> None:
    payload = json.dumps({"tags": [{"key": "pii", "value": value, "field": "email"}]})
    row = {"subject_id": node_id(CRM), "name": "tags", "body_id": 1, "payload": payload}
    with writing(store) as connection:
        connection.execute(facet_body.delete().where(facet_body.c.subject_id == row["subject_id"]))
        connection.execute(facet_body.insert(), row)


def test_every_question_is_answered_as_documented(client: Client) -> None:
    for name, (path, parameters) in QUESTIONS.items():
        answer = client.get(f"/api/v2/{path}", **parameters)
        assert answer.status == 200, (name, answer.body)
        completeness = answer.json["completeness"]
        assert completeness is None or completeness["graph_version"] == f"0:{POSITION}", name


def test_pages_together_are_the_whole(client: Client) -> None:
    for name in (
        "upstream",
        "downstream",
        "both",
        "impact",
        "paths",
        "history",
        "diff",
        "runs",
        "search",
        "search, labelled",
    ):
        path, parameters = QUESTIONS[name]
        whole = client.get(f"/api/v2/{path}", limit=10_000, **parameters).json
        assert whole["page"]["next"] is None
        rows = _rows(whole["data"])
        pages = [client.get(f"/api/v2/{path}", limit=1, **parameters).json]
        while cursor := pages[-1]["page"]["next"]:
            pages.append(client.get(f"/api/v2/{path}", limit=1, cursor=cursor, **parameters).json)
        assert len(pages) == whole["page"]["total"] == len(rows)
        assert [_without_place(row) for page in pages for row in _rows(page["data"])] == list(map(_without_place, rows))
        edges = [edge for page in pages for edge in page["data"].get("edges", ())]
        assert sorted(edges, key=str) == sorted(whole["data"].get("edges", ()), key=str), name


def _rows(data: dict[str, Any]) -> list[dict[str, Any]]:
    return next(data[name] for name in ("nodes", "paths", "versions", "changes", "runs") if name in data)


def _without_place(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != "edge"}


def test_an_edge_is_on_the_page_of_the_node_that_it_leads_to(client: Client) -> None:
    path, parameters = QUESTIONS["upstream"]
    cursor = client.get(f"/api/v2/{path}", limit=2, **parameters).json["page"]["next"]
    data = client.get(f"/api/v2/{path}", limit=2, cursor=cursor, **parameters).json["data"]
    assert [data["edges"][node["edge"]]["source"] for node in data["nodes"]] == [node["node"] for node in data["nodes"]]


def test_a_cursor_is_of_one_question(client: Client) -> None:
    path, parameters = QUESTIONS["upstream"]
    cursor = client.get(f"/api/v2/{path}", limit=1, **parameters).json["page"]["next"]
    for wrong, node in ((cursor, str(MODEL)), ("nonsense", CHURN), ("bnVsbA", CHURN), ("[" * 9_000, CHURN)):
        refused = client.get(f"/api/v2/{path}", limit=1, node=node, cursor=wrong)
        assert (refused.status, refused.json["pointer"]) == (400, "/query/cursor")


def test_an_answer_that_has_not_changed_is_not_sent_again(client: Client, store: Engine) -> None:
    path, parameters = QUESTIONS["upstream"]
    first = client.get(f"/api/v2/{path}", **parameters)
    again = client.get(f"/api/v2/{path}", headers={"If-None-Match": first.headers["etag"]}, **parameters)
    assert (again.status, again.body, again.headers["etag"]) == (304, b"", first.headers["etag"])
    with writing(store) as connection:
        connection.execute(progress.update().values(position=POSITION + 1))
    changed = client.get(f"/api/v2/{path}", headers={"If-None-Match": first.headers["etag"]}, **parameters)
    assert (changed.status, changed.json["completeness"]["graph_version"]) == (200, f"0:{POSITION + 1}")
    past = client.get(f"/api/v2/{path}", as_of="2h ago", **parameters)
    assert past.headers["etag"] != changed.headers["etag"]


def test_a_question_may_wait_for_an_event(client: Client) -> None:
    path, parameters = QUESTIONS["search"]
    early = client.get(f"/api/v2/{path}", wait_for="7:16", timeout=0, **parameters)
    assert (early.status, early.headers["retry-after"]) == (503, "1")
    assert client.get(f"/api/v2/{path}", wait_for="soon", **parameters).status == 400


def test_a_cursor_goes_on_after_its_row_whatever_comes_before_it(client: Client, store: Engine) -> None:
    fields = [FieldName(DatasetName("db", "sums"), f"revenue_{number}") for number in range(4)]
    load(store, World(statements=(), declared=tuple(fields)))
    first = client.get("/api/v2/search", q="revenue", limit=2).json
    load(store, World(statements=(), declared=(*fields, FieldName(DatasetName("db", "sums"), "revenue"))))
    rest = client.get("/api/v2/search", q="revenue", limit=2, cursor=first["page"]["next"]).json["data"]
    assert [one["node"] for one in (*first["data"]["nodes"], *rest["nodes"])] == list(map(str, fields))


def test_pages_of_paths_from_all_columns_of_a_dataset(client: Client, store: Engine) -> None:
    of, to = DatasetName("db", "s"), FieldName(DatasetName("db", "t"), "y")
    edges = tuple((Edge(source=FieldName(of, name), target=to, type="DIRECT"), Origin.COLUMN) for name in "abc")
    load(store, World(statements=(Statement(owner=JobName("n", "j"), edges=edges),)))
    found: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = client.get("/api/v2/paths", source=str(of), target=str(to), limit=1, cursor=cursor).json
        found += [path["steps"][0]["source"] for path in page["data"]["paths"]]
        cursor = page["page"]["next"]
    assert sorted(found) == [str(FieldName(of, name)) for name in "abc"]


def test_a_run_of_a_job_whose_name_has_slashes(client: Client, store: Engine) -> None:
    job = JobName("spark://host:7077", "nightly/load 100%")
    edge = Edge(source=DatasetName("db", "a"), target=job)
    load(store, World(statements=(Statement(owner=job, edges=((edge, Origin.BOUNDARY),)),)))
    name = quote(f"run:{Statement(owner=job, edges=()).run_id}@{job}", safe="")
    assert client.get(f"/api/v2/runs/{name}/lineage").json["data"]["runs"][0]["job"] == str(job)


@pytest.mark.parametrize("typed", ["a." * 5_000, "/".join(map(str, range(2_000))), "." * 10_000, "ab" * 5_000])
def test_a_long_name_that_nothing_has_is_looked_for_a_few_times(store: Engine, typed: str) -> None:
    load(store, WORLD)
    with reading(store) as connection:
        asked = 0

        @event.listens_for(connection, "before_cursor_execute")
        def count(*_: object) -> None:
            nonlocal asked
            asked += 1

        with pytest.raises(NodeNotFoundError):
            resolve(StoreGraph(connection), typed)
    assert asked < 40


@pytest.mark.parametrize(
    ("path", "parameters", "status", "expected"),
    [
        ("lineage/upstream", {"node": "predictons"}, 404, str(PREDICTIONS)),
        ("lineage/upstream", {"node": "avg_minute\0s"}, 422, "U+0000"),
        ("lineage/sideways", {"node": "model"}, 422, "upstream"),
        ("lineage/upstream", {}, 422, "required"),
        ("lineage/upstream", {"node": "model", "nodes": "x"}, 422, "Extra"),
        ("lineage/upstream", {"node": "model", "as_of": "soon"}, 422, "is not a time"),
        ("lineage/upstream", {"node": "model", "as_of": "9" * 18}, 422, "year must be"),
        ("lineage/upstream", {"node": "model", "as_of": "9" * 60 + " weeks ago"}, 422, "year must be"),
        ("lineage/upstream", {"node": "model", "depth": -1}, 422, "greater"),
        ("lineage/upstream", {"node": "model", "job": "nobody"}, 404, "nobody"),
        ("impact", {"node": "model", "max_nodes": 10**9}, 422, "less"),
        ("paths", {"source": "model", "target": "x", "timeout": "nan"}, 422, "finite"),
        ("diff", {"before": "soon"}, 422, "is not a time"),
        ("diff", {"before": f"run:{RUN}", "after": "now"}, 422, "two runs"),
        ("runs/unknown/lineage", {}, 404, "unknown"),
        ("runs/%00/lineage", {}, 422, "U+0000"),
    ],
)
def test_what_is_refused(client: Client, path: str, parameters: dict[str, Any], status: int, expected: str) -> None:
    answer = client.get(f"/api/v2/{path}", **parameters)
    assert answer.status == status, answer.body
    assert answer.headers["content-type"] == "application/problem+json"
    assert expected in answer.json["detail"] or expected in str(answer.json.get("candidates"))


def test_a_short_name_that_fits_several_nodes(client: Client, store: Engine) -> None:
    orders = [DatasetName("db", name) for name in ("shop.orders", "archive.orders")]
    load(store, World(statements=(), declared=tuple(FieldName(one, "id") for one in orders)))
    answer = client.get("/api/v2/impact", node="orders")
    assert (answer.status, answer.json["candidates"]) == (422, sorted(map(str, orders)))


def test_a_store_that_cannot_be_read(tmp_path: Path) -> None:
    with asking(tmp_path, sqlite_url(tmp_path / "none.db")) as client:
        answer = client.get("/api/v2/search", q="x")
    assert (answer.status, answer.headers["retry-after"]) == (503, "5")


def test_the_command_line_gives_the_same_rows(client: Client, store_url: str) -> None:
    arguments = {
        "upstream": ["upstream", CHURN],
        "downstream": ["downstream", str(USAGE)],
        "impact": ["impact", str(USAGE)],
        "paths": ["path", QUESTIONS["paths"][1]["source"], CHURN],
        "why": ["why", QUESTIONS["why"][1]["source"], CHURN, "--limit", "20"],
        "why-not": ["why-not", QUESTIONS["why-not"][1]["source"], CHURN],
        "history": ["history", QUESTIONS["history"][1]["node"]],
        "diff": ["diff", QUESTIONS["diff"][1]["before"], QUESTIONS["diff"][1]["after"]],
        "runs": ["runs", RUN],
        "search": ["search", "churn"],
        "search, narrowed": ["search", "churn", "--kind", "field", "--namespace", "file"],
        "search, labelled": ["search", "label:pii>=partial"],
    }
    for name, words in arguments.items():
        path, parameters = QUESTIONS[name]
        csv = client.get(f"/api/v2/{path}", format="csv", **parameters)
        assert csv.headers["content-type"] == "text/csv; charset=utf-8"
        assert csv.body == _whence(words, "csv", store_url), name
        accepted = client.get(f"/api/v2/{path}", headers={"Accept": "text/csv"}, **parameters)
        assert accepted.body == csv.body
        data = client.get(f"/api/v2/{path}", limit=10_000, **parameters).json["data"]
        has_gaps = bool(isinstance(data, dict) and data.get("gaps"))
        assert csv.headers["whence-complete"] == ("false" if has_gaps else "true"), name
        document = json.loads(_whence(words, "json", store_url))
        assert {key: document[key] for key in data} == data, name


def _whence(words: list[str], form: str, store_url: str) -> bytes:
    done = CliRunner().invoke(command_line, [*words, "--output", form, "--store", store_url])
    assert done.exit_code == 0, done.output
    return done.stdout_bytes


HOSTILE = (
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2",
    "@SUM(1)",
    "\tx",
    "<script>alert(1)</script>",
    "a\r\nb",
    'q"u,o;te',
    "\u202eevil",
    "x" * 4_000,
    "'",
    "100%",
    "a:b",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_come_back_as_they_are(client: Client, store: Engine, text: str) -> None:
    source, target = DatasetName(text, text), DatasetName("ns", "target")
    edge = Edge(source=source, target=FieldName(target, text), type="DIRECT", description=text)
    load(store, World(statements=(Statement(owner=JobName(text, text), edges=((edge, Origin.COLUMN),)),)))
    node = str(FieldName(target, text))
    answer = client.get("/api/v2/lineage/upstream", node=node)
    assert (answer.status, answer.json["data"]["root"]) == (200, node)
    (edge,) = answer.json["data"]["edges"]
    assert (edge["source"], edge["transformations"][0]["description"]) == (str(source), text)
    text_of = client.get("/api/v2/impact", node=str(source), format="csv").body.decode()
    rows = list(csv_rows(io.StringIO(text_of, newline="")))
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for row in rows for cell in row)


def test_the_description_of_the_api_has_every_question(client: Client) -> None:
    paths = client.app.openapi()["paths"]
    for path, _ in QUESTIONS.values():
        route = re.sub(r"runs/[^/]+/", "runs/{run}/", re.sub(r"^lineage/\w+$", "lineage/{direction}", path))
        operation = paths[f"/api/v2/{route}"]["get"]
        assert set(operation["responses"]) == {"200", "304", "400", "401", "403", "404", "422", "503"}
        assert {"application/json", "text/csv"} == set(operation["responses"]["200"]["content"])
        assert {one["name"] for one in operation["parameters"]} >= {"limit", "cursor", "wait_for", "timeout", "format"}


def test_labels_are_those_of_the_present_graph_and_misspelt_ones_are_refused(client: Client, store: Engine) -> None:
    found = client.get("/api/v2/search", q="label:pii>=pseudonymous").json["data"]["nodes"]
    assert {one["by"] for one in found} == {"label"}
    assert (found[0]["node"], found[0]["labels"]) == (
        str(CRM),
        [{"category": "pii", "grade": "full", "assumed": False}],
    )
    wrong = client.get("/api/v2/search", q="label:pii>=mostly")
    assert (wrong.status, "there are influenced" in wrong.json["detail"]) == (422, True)
    _tag_email(store, "false")
    with writing(store) as connection:
        connection.execute(progress.update().values(position=POSITION + 1))
    assert client.get("/api/v2/search", q="label:pii>=pseudonymous").json["data"]["nodes"] == []


def test_the_lens_has_the_labels_of_each_column(client: Client) -> None:
    node = str(TABLE)
    plain = client.get("/api/v2/traits", node=node).json["data"][0]
    assert plain["labels"] == []
    labels = client.get("/api/v2/traits", node=node, label="pii").json["data"][0]["labels"]
    by_column = {one["column"]: (one["grade"], one["assumed"]) for one in labels}
    assert by_column["email_hash"] == ("pseudonymous", False)
    assert by_column[""] == max(by_column.values(), key=lambda one: Grade[one[0].upper()])
    assert client.get("/api/v2/traits", node=node, label="secret").status == 422
    before = client.get("/api/v2/traits", node=node, label="pii", as_of="1970-01-02").json["data"][0]
    assert before["labels"] == []
