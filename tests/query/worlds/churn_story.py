"""A small story told by hand: customers churn; a model learns from features; a report reads its predictions."""

from query.worlds.random_worlds import Statement, World
from whence.model.lineage import Edge, Origin
from whence.model.names import DatasetName, FieldName, JobName, Node

MINUTE = 60_000_000
HOUR = 60 * MINUTE
NOW = 1_795_000_000_000_000


def data(name: str) -> DatasetName:
    return DatasetName("file", f"/lake/{name}")


def column(of: str, name: str) -> FieldName:
    return FieldName(data(of), name)


def job(name: str) -> JobName:
    return JobName("churn", name)


USAGE, CRM = data("raw/usage_logs.csv"), data("raw/customers.csv")
TABLE = DatasetName("hive://metastore:9083", "gold.features")


def direct(
    source: Node, target: Node, subtype: str, description: str = "", *, masking: bool = False
) -> tuple[Edge, Origin]:
    edge = Edge(source=source, target=target, type="DIRECT", subtype=subtype, description=description, masking=masking)
    return edge, Origin.COLUMN


def indirect(source: Node, target: Node, subtype: str) -> tuple[Edge, Origin]:
    return Edge(source=source, target=target, type="INDIRECT", subtype=subtype), Origin.COLUMN


def whole(source: Node, target: Node, type_: str = "DIRECT", origin: Origin = Origin.COLUMN) -> tuple[Edge, Origin]:
    return Edge(source=source, target=target, type=type_), origin


def around(name: str, reads: tuple[Node, ...], writes: tuple[Node, ...]) -> tuple[tuple[Edge, Origin], ...]:
    ends = [(read, job(name)) for read in reads] + [(job(name), written) for written in writes]
    return tuple((Edge(source=source, target=target), Origin.BOUNDARY) for source, target in ends)


SESSIONS, FEATURES, MODEL, PREDICTIONS = (
    data("silver/sessions"),
    data("gold/features"),
    data("model"),
    data("predictions"),
)

BUILD = (
    direct(column("silver/sessions", "minutes"), column("gold/features", "avg_minutes"), "AGGREGATION", "avg(minutes)"),
    direct(
        column("raw/customers.csv", "email"),
        column("gold/features", "email_hash"),
        "TRANSFORMATION",
        "sha2(email, 256)",
        masking=True,
    ),
    indirect(column("silver/sessions", "customer_id"), FEATURES, "JOIN"),
    indirect(column("raw/customers.csv", "id"), FEATURES, "JOIN"),
    whole(SESSIONS, FEATURES),
    whole(SESSIONS, FEATURES, "INDIRECT"),
    whole(CRM, FEATURES),
    whole(CRM, FEATURES, "INDIRECT"),
    *around("build_features", (SESSIONS, CRM), (FEATURES,)),
)

WORLD = World(
    statements=(
        Statement(
            owner=job("clean_sessions"),
            edges=(
                whole(USAGE, SESSIONS, "UNKNOWN", Origin.INFERRED),
                *around("clean_sessions", (USAGE,), (SESSIONS,)),
            ),
            start=NOW - 5 * HOUR,
            run_id="11111111-0000-4000-8000-000000000000",
        ),
        Statement(
            owner=job("build_features"),
            edges=BUILD,
            start=NOW - 5 * MINUTE,
            run_id="22222222-0000-4000-8000-000000000000",
        ),
        Statement(
            owner=job("build_features"),
            edges=(
                direct(column("silver/sessions", "minutes"), column("gold/features", "avg_minutes"), "IDENTITY"),
                whole(SESSIONS, FEATURES),
            ),
            start=NOW - 24 * HOUR,
            end=NOW - 5 * MINUTE,
            run_id="22222222-0000-4000-8000-000000000001",
        ),
        Statement(
            owner=job("train_model"),
            edges=(
                direct(FieldName(TABLE, "avg_minutes"), MODEL, "TRANSFORMATION"),
                direct(FieldName(TABLE, "email_hash"), MODEL, "TRANSFORMATION"),
                whole(TABLE, MODEL),
                *around("train_model", (TABLE,), (MODEL,)),
            ),
            start=NOW - 4 * MINUTE,
            run_id="33333333-0000-4000-8000-000000000000",
        ),
        Statement(
            owner=job("score"),
            edges=(
                direct(MODEL, column("predictions", "churn_probability"), "TRANSFORMATION", "predict()"),
                direct(
                    column("gold/features", "avg_minutes"),
                    column("predictions", "churn_probability"),
                    "TRANSFORMATION",
                    "predict()",
                ),
                whole(MODEL, PREDICTIONS),
                whole(FEATURES, PREDICTIONS),
                *around("score", (MODEL, FEATURES), (PREDICTIONS,)),
            ),
            start=NOW - 3 * MINUTE,
            run_id="44444444-0000-4000-8000-000000000000",
            state=1,
            confirmed=False,
        ),
        Statement(owner=job("report"), edges=around("report", (PREDICTIONS,), ()), start=NOW - 20_000_000),
    ),
    groups=((TABLE, FEATURES),),
    declared=(
        column("raw/usage_logs.csv", "last_login"),
        column("silver/sessions", "minutes"),
        column("predictions", "id"),
    ),
)
