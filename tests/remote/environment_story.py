"""One table in production, staging and development, a table that was dropped, and names that attack terminals."""

from sqlalchemy import Engine, select, update

from query.worlds.churn_story import HOUR, NOW
from query.worlds.random_worlds import Statement, World
from whence.model.ids import node_id
from whence.model.lineage import Edge, Origin
from whence.model.names import DatasetName, FieldName, JobName
from whence.store.connection.engine import writing
from whence.store.ingest.dropped_datasets import dropped_dataset
from whence.store.schema.tables import dataset

EAST, WEST, DEV = "postgres://prod:5432", "postgres://staging:5432", "postgres://dev:5432"
EVIL = "=1+1\x1b[31m[bold]\u202e,\"'<b>%:/é\n"
HOSTILE = FieldName(DatasetName(EVIL, EVIL), EVIL)


def _copied(namespace: str, hours: int) -> Statement:
    raw, orders = DatasetName(namespace, "raw_orders"), DatasetName(namespace, "orders")
    return Statement(
        owner=JobName(namespace, "load"),
        edges=(
            (
                Edge(
                    source=FieldName(raw, "total"),
                    target=FieldName(orders, "total"),
                    type="DIRECT",
                    subtype="IDENTITY",
                ),
                Origin.COLUMN,
            ),
            (Edge(source=raw, target=orders, type="DIRECT"), Origin.COLUMN),
        ),
        start=NOW - hours * HOUR,
        run_id=f"55555555-0000-4000-8000-{hours:012}",
    )


STORY = World(
    statements=(
        *(_copied(namespace, hours) for hours, namespace in enumerate((EAST, WEST, DEV), start=1)),
        Statement(
            owner=JobName("shop", "archive"),
            edges=((Edge(source=DatasetName(EAST, "old_orders"), target=DatasetName(EAST, "attic")), Origin.COLUMN),),
            start=NOW - HOUR,
        ),
        Statement(
            owner=JobName(EVIL, EVIL),
            edges=(
                (
                    Edge(source=DatasetName(EVIL, "source"), target=HOSTILE, type="DIRECT", description=EVIL),
                    Origin.COLUMN,
                ),
            ),
            start=NOW - HOUR,
        ),
    )
)


def drop(engine: Engine, name: str) -> None:
    """Let the dataset of production with this name be dropped, by the statement of no event."""
    id_ = node_id(DatasetName(EAST, name))
    with writing(engine) as connection:
        last = connection.execute(select(dataset.c.last_seen).where(dataset.c.id == id_)).scalar_one()
        connection.execute(dropped_dataset.insert().values(dataset_id=id_, at=last + 1, statement_id=1))
        connection.execute(update(dataset).where(dataset.c.id == id_).values(last_seen=last))
