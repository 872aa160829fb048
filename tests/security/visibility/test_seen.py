"""What somebody may not see is in no answer over HTTP, and no tag of an answer serves two people."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import httpx
from fastapi import FastAPI

from fixtures.logs_of_events import fill
from fixtures.stores_of_events import apply
from query.worlds.churn_story import NOW, column, data
from security.conftest import House
from whence.log.segments.log import SegmentLog
from whence.log.segments.read import committed_end, read_records, start_position
from whence.model.access import Role
from whence.model.events import RunState
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, RunName
from whence.openlineage.accept import accept
from whence.openlineage.write import column_lineage, dataset, dataset_event, facet, run_event
from whence.store.connection.engine import open_store

MAIL = str(column("gold/features", "email_hash"))
HIDDEN_JOBS = ("build_features", "score", "churn:")
QUESTIONS = ("lineage/upstream", "lineage/downstream", "lineage/both", "impact", "history", "blast")


def test_a_reader_of_one_namespace_gets_tokens_for_the_rest(churn: House) -> None:
    lake, other = churn.key("lake", Role.READER, "file"), churn.key("other", Role.READER, "file")

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        for question in QUESTIONS:
            for form in ("application/json", "text/csv"):
                headers = lake | {"Accept": form}
                answer = await client.get(f"/api/v2/{question}", params={"node": MAIL}, headers=headers)
                assert answer.status_code == 200, answer.text
                assert not [word for word in HIDDEN_JOBS if word in answer.text], question
        pair = [
            await client.get("/api/v2/lineage/upstream", params={"node": MAIL}, headers=who) for who in (lake, other)
        ]
        owners = [set(re.findall(r"job:hidden:\w+", answer.text)) for answer in pair]
        assert owners[0]
        assert not owners[0] & owners[1]
        assert pair[0].headers["etag"] != pair[1].headers["etag"]

    churn.run(work)


def test_a_hidden_name_is_not_found_as_one_that_is_not_there(churn: House) -> None:
    churn_only = churn.key("jobs", Role.READER, "churn")

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        for node in (str(data("predictions")), "dataset:file:/lake/nowhere"):
            answer = await client.get("/api/v2/lineage/upstream", params={"node": node}, headers=churn_only)
            assert answer.status_code == 404
            assert "lake" not in answer.text.replace(node, "")
        found = await client.get("/api/v2/search", params={"q": "lake"}, headers=churn_only)
        assert (found.status_code, "/lake/" in found.text) == (200, False)

    churn.run(work)


def test_what_was_asked_about_is_in_the_audit_log(churn: House) -> None:
    lake = churn.key("lake", Role.READER, "file")

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        for more in ({}, {"format": "csv"}):
            await client.get("/api/v2/lineage/upstream", params={"node": MAIL, **more}, headers=lake)

    churn.run(work)
    asked, exported = churn.audited()
    assert (asked.who, asked.action, asked.what) == ("key:lake", "read", "GET /api/v2/lineage/{direction}")
    assert MAIL in asked.nodes
    assert asked.count == exported.count == 2
    assert exported.action == "export"


def test_a_claim_to_be_another_name_of_a_hidden_dataset_shows_no_column_of_it(
    house: Callable[..., House], tmp_path: Path
) -> None:
    made, log = house(), tmp_path / "log"
    mallory, ada = made.key("mallory", Role.WRITER, "mine"), made.key("ada", Role.ADMIN)
    fill(SegmentLog(log), [accept(json.dumps(one).encode()).payload for one in claimed()])
    engine = open_store(made.settings.store_url)
    apply(engine, list(read_records(log, start_position(log), committed_end(log))), committed_end(log))
    engine.dispose()

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        for question in QUESTIONS:
            for form in ("application/json", "text/csv"):
                headers = mallory | {"Accept": form}
                answer = await client.get(f"/api/v2/{question}", params={"node": str(BAIT)}, headers=headers)
                assert answer.status_code == 200, answer.text
                assert not [word for word in ("vault", "payroll", "salary", "amount") if word in answer.text], question
        guessed = {"node": "datasetField:mine:bait:salary"}
        assert (await client.get("/api/v2/lineage/upstream", params=guessed, headers=mallory)).status_code == 404
        drawn = {"nodeId": str(BAIT)}
        whole, seen = [
            (await client.get("/api/v1/column-lineage", params=drawn, headers=one)) for one in (ada, mallory)
        ]
        assert all(word in whole.text for word in ("bait:salary", "bank:amount")), "in the name that was asked for"
        assert not [word for word in ("vault", "payroll", "salary", "amount") if word in seen.text]
        guessed = {"nodeId": "datasetField:mine:bait:salary"}
        guesses = [await client.get("/api/v1/column-lineage", params=guessed, headers=one) for one in (ada, mallory)]
        assert [one.status_code for one in guesses] == [200, 404]
        itself = await client.get("/api/v1/namespaces/mine/datasets/bait", headers=mallory)
        assert itself.status_code == 200
        assert not [word for word in ("vault", "payroll", "salary", "amount") if word in itself.text]
        assert len(whole.json()["graph"]) == len(seen.json()["graph"])

    made.run(work)


BAIT, PAYROLL, BANK = DatasetName("mine", "bait"), DatasetName("vault", "payroll"), DatasetName("vault", "bank")


def claimed() -> list[dict[str, object]]:
    """A job of the vault derives a column; then somebody says that their dataset is the same."""
    symlink = {"namespace": PAYROLL.namespace, "name": PAYROLL.name, "type": "TABLE"}
    pays = RunName("018f3a6e-0000-7000-8000-000000000001", JobName("vault", "pay"))
    columns = column_lineage([Edge(source=FieldName(BANK, "amount"), target=FieldName(PAYROLL, "salary"))])
    written = dataset(PAYROLL, facets={"columnLineage": columns})
    claim = {
        "schema": facet("SchemaDatasetFacet", fields=[{"name": "id", "type": "int"}]),
        "symlinks": facet("SymlinksDatasetFacet", identifiers=[symlink]),
    }
    return [
        run_event(NOW, RunState.COMPLETE, pays, inputs=[dataset(BANK)], outputs=[written]),
        dataset_event(NOW + 1, BAIT, facets=claim),
    ]
