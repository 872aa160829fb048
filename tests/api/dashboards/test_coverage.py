"""Which datasets have lineage, columns, owners and descriptions, which lack them, and which are silent."""

import json
from pathlib import Path
from typing import Any

from api.asked import asking
from api.dashboards.pages import paged
from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply_bodies
from whence.model.events import RunState
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.write import dataset, dataset_event, facet, own_facet, run_event

HOUR = 3_600_000_000


def test_coverage_counts_what_is_known_and_lists_what_is_not(store_url: str, tmp_path: Path) -> None:
    events = _estate()
    engine = open_migrated(store_url)
    apply_bodies(engine, [json.dumps(one).encode() for one in events])
    engine.dispose()
    with asking(tmp_path, store_url) as client:
        rows = [one for page in paged(client, "/api/v2/coverage", limit=1) for one in page["data"]["namespaces"]]
        assert rows == [
            {"namespace": "db://a", "datasets": 3, "lineage": 2, "columns": 1, "owner": 1, "description": 0},
            {"namespace": "db://b", "datasets": 1, "lineage": 1, "columns": 1, "owner": 0, "description": 1},
        ]
        for what in ("lineage", "columns", "owner", "description"):
            lacking = [
                one["node"]
                for page in paged(client, "/api/v2/coverage/lacking", what=what, limit=1)
                for one in page["data"]
            ]
            assert len(lacking) == len(set(lacking)) == sum(row["datasets"] - row[what] for row in rows)
        assert client.get("/api/v2/coverage/lacking", what="lineage").json["data"][0]["node"] == "dataset:db://a:alone"


def test_what_others_depend_on_and_nobody_knows_where_it_comes_from(store_url: str, tmp_path: Path) -> None:
    engine = open_migrated(store_url)
    origin = {"whence_boundary": own_facet("BoundaryDatasetFacet", origin=True)}
    events = [*_estate(), dataset_event(HOUR, DatasetName("db://a", "other"), facets=origin)]
    apply_bodies(engine, [json.dumps(one).encode() for one in events])
    engine.dispose()
    with asking(tmp_path, store_url) as client:
        rows = [one for page in paged(client, "/api/v2/coverage/lacking", what="upstream") for one in page["data"]]
    assert [one["node"] for one in rows] == ["dataset:db://a:raw"]


def test_datasets_of_which_nothing_was_heard_for_long_come_first(store_url: str, tmp_path: Path) -> None:
    engine = open_migrated(store_url)
    events = [*_estate(), dataset_event(2 * HOUR, DatasetName("db://a", "raw"), facets={})]
    apply_bodies(engine, [json.dumps(one).encode() for one in events])
    engine.dispose()
    with asking(tmp_path, store_url) as client:
        rows = [one for page in paged(client, "/api/v2/silent-datasets", limit=1) for one in page["data"]]
    assert {one["node"] for one in rows[:2]} == {"dataset:db://a:other", "dataset:db://b:mart"}
    assert [one["node"] for one in rows[2:]] == ["dataset:db://a:raw"]


def _estate() -> list[dict[str, Any]]:
    """Two tables by columns, one by inputs and outputs, one alone."""
    names = {name: DatasetName("db://a", name) for name in ("raw", "other", "alone")}
    out = DatasetName("db://b", "mart")
    fields = [{"namespace": "db://a", "name": "raw", "field": "x"}]
    columns = facet("ColumnLineageDatasetFacet", fields={"y": {"inputFields": fields}})
    run = [RunName(f"0000000{n}-0000-4000-8000-000000000001", JobName("j", f"job{n}")) for n in (1, 2)]
    return [
        run_event(
            HOUR,
            RunState.COMPLETE,
            run[0],
            inputs=[dataset(names["raw"])],
            outputs=[dataset(out, facets={"columnLineage": columns})],
        ),
        run_event(HOUR, RunState.COMPLETE, run[1], inputs=[dataset(names["other"])], outputs=[dataset(out)]),
        dataset_event(
            HOUR,
            names["alone"],
            facets={"ownership": facet("OwnershipDatasetFacet", owners=[{"name": "team", "type": "OWNER"}])},
        ),
        dataset_event(HOUR, out, facets={"documentation": facet("DocumentationDatasetFacet", description="All of it")}),
    ]
