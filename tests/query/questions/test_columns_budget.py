"""Where a budget of edges cuts an answer about columns, the edges that are left are the same in every process."""

import json

from sqlalchemy import Engine

from query.worlds.random_worlds import Statement, World, load
from whence.model.lineage import Edge, Origin
from whence.model.names import DatasetName, FieldName, JobName
from whence.query.answers.values import Question
from whence.query.questions.columns import columns
from whence.store.connection.engine import reading
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import StoreGraph

SOURCE = FieldName(DatasetName("ns", "orders"), "status")
TARGET = DatasetName("ns", "revenue")
COLUMNS = [f"column {number:02}" for number in range(40)]
FILTER = Edge(source=SOURCE, target=TARGET, type="INDIRECT", subtype="FILTER")


def test_a_budget_keeps_the_influenced_columns_with_the_first_names(store: Engine) -> None:
    schema = json.dumps({"fields": [{"name": name} for name in reversed(COLUMNS)]})
    statements = (Statement(owner=JobName("ns", "job"), edges=((FILTER, Origin.COLUMN),)),)
    load(store, World(statements=statements, schemas=((TARGET, schema, 1, 1),)))
    with reading(store) as connection:
        catalog, graph = StoreCatalog(connection), StoreGraph(connection)
        answer = columns(catalog, graph, [SOURCE], Question(max_edges=6), downstream=True)
    assert [edge.target for edge in answer.edges] == [FieldName(TARGET, name) for name in COLUMNS[:6]]
    assert not answer.complete
