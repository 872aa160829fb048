"""A column is found under each name of its dataset, also where events speak of it under another one only."""

import json

import pytest
from sqlalchemy import Engine

from fixtures.stores_of_events import apply_bodies
from whence.errors import NodeNotFoundError
from whence.model.names import DatasetName, FieldName
from whence.openlineage.write import dataset_event, facet
from whence.query.answers.values import Question
from whence.query.lookup.resolve import resolve
from whence.query.questions.lineage import upstream
from whence.store.connection.engine import reading
from whence.store.snapshots.graph import StoreGraph

TABLE, PATH = DatasetName("hive://meta:9083", "db.users"), DatasetName("s3://lake", "wh/u-01")


@pytest.mark.parametrize("typed", [str(FieldName(TABLE, "id")), str(FieldName(PATH, "id")), "db.users.id", "u-01.id"])
def test_a_column_of_a_table_that_events_call_by_its_path(store: Engine, typed: str) -> None:
    link = {"namespace": TABLE.namespace, "name": TABLE.name, "type": "TABLE"}
    facets = {
        "symlinks": facet("SymlinksDatasetFacet", identifiers=[link]),
        "schema": facet("SchemaDatasetFacet", fields=[{"name": "id"}]),
    }
    apply_bodies(store, [json.dumps(dataset_event(1, PATH, facets=facets)).encode()])
    with reading(store) as connection:
        graph = StoreGraph(connection)
        (root,) = upstream(graph, resolve(graph, typed), Question()).nodes
        assert {root.name, *root.aliases} == {FieldName(TABLE, "id"), FieldName(PATH, "id")}
        with pytest.raises(NodeNotFoundError):
            resolve(graph, typed.removesuffix("id") + "other")
