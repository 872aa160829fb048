"""The other end of a topic, by the settings of each class of connector as its documentation writes them."""

import pytest

from whence.capture.kafka_connect.records import ConnectorRecord
from whence.capture.kafka_connect.systems import find_other_end
from whence_client.captures import Naming

NAMING = Naming("prod", "kafka-connect://connect:8083")
ROUTED = {
    "transforms": "route",
    "transforms.route.type": "org.apache.kafka.connect.transforms.RegexRouter",
    "transforms.route.regex": r"(?:.*\.)?(.*)",
    "transforms.route.replacement": "$1-v1",
}
UNKNOWN = {"transforms": "mine", "transforms.mine.type": "com.shop.Renames"}
JDBC = {"connection.url": "jdbc:postgresql://db:5432/shop?user=ada&password=hush-4711"}
DEBEZIUM = {"topic.prefix": "cdc", "database.hostname": "db", "database.port": "5432", "database.dbname": "shop"}


def found(kind: str, topic: str, settings: dict[str, str], *tables: str) -> tuple[str, str] | str:
    info = {"config": {"connector.class": kind, **settings}}
    record = ConnectorRecord(name="one", began="", polled="", info=info, tables=tables)
    there = find_other_end(record, topic, NAMING)
    return there if isinstance(there, str) else there.key


POSTGRES = "io.debezium.connector.postgresql.PostgresConnector"
MYSQL = "io.debezium.connector.mysql.MySqlConnector"
SQL_SERVER = "io.debezium.connector.sqlserver.SqlServerConnector"
SOURCE = "io.confluent.connect.jdbc.JdbcSourceConnector"
SINK = "io.aiven.connect.jdbc.JdbcSinkConnector"
S3 = "io.confluent.connect.s3.S3SinkConnector"


@pytest.mark.parametrize(
    ("kind", "topic", "settings", "tables", "expected"),
    [
        ("FileStreamSource", "t", {"file": "/lake/ü 1.csv"}, (), ("file", "/lake/ü 1.csv")),
        (SINK, "orders", JDBC, (), ("postgres://db:5432", "shop.public.orders")),
        (SINK, "a.orders", JDBC | ROUTED, (), ("postgres://db:5432", "shop.public.orders-v1")),
        (
            SINK,
            "orders",
            JDBC | {"table.name.format": "x_${topic}"},
            (),
            ("postgres://db:5432", "shop.public.x_orders"),
        ),
        (
            SOURCE,
            "pg-orders",
            JDBC | {"topic.prefix": "pg-"},
            ("orders",),
            ("postgres://db:5432", "shop.public.orders"),
        ),
        (
            SOURCE,
            "orders-v1",
            JDBC | ROUTED | {"table.whitelist": "items, orders"},
            (),
            ("postgres://db:5432", "shop.public.orders"),
        ),
        (S3, "orders", {"s3.bucket.name": "lake", "topics.dir": "raw"}, (), ("s3://lake", "raw/orders")),
        (POSTGRES, "cdc.public.orders", DEBEZIUM, (), ("postgres://db:5432", "shop.public.orders")),
        (
            POSTGRES,
            "orders-v1",
            DEBEZIUM | ROUTED | {"table.include.list": r"public\.orders,public.x"},
            (),
            ("postgres://db:5432", "shop.public.orders"),
        ),
        (
            MYSQL,
            "cdc.shop.orders",
            {"topic.prefix": "cdc", "database.hostname": "db"},
            (),
            ("mysql://db:3306", "shop.orders"),
        ),
        (
            SQL_SERVER,
            "cdc.shop.dbo.orders",
            {"topic.prefix": "cdc", "database.hostname": "db"},
            (),
            ("mssql://db:1433", "shop.dbo.orders"),
        ),
    ],
)
def test_the_other_end_is_named_as_other_captures_name_it(
    kind: str, topic: str, settings: dict[str, str], tables: tuple[str, ...], expected: tuple[str, str]
) -> None:
    assert found(kind, topic, settings, *tables) == expected


@pytest.mark.parametrize(
    ("kind", "topic", "settings"),
    [
        ("com.shop.MineConnector", "orders", {}),
        ("FileStreamSink", "orders", {}),  # the console
        ("FileStreamSink", "orders", {"file": "out.txt"}),
        (SINK, "orders", JDBC | UNKNOWN),
        (SINK, "orders", {"connection.url": "jdbc:oracle:thin:@shop_high"}),
        (SOURCE, "pg-orders", JDBC | {"topic.prefix": "pg-"}),  # a prefix alone names no table
        (SOURCE, "sums", JDBC | {"topic.prefix": "sums", "query": "SELECT 1"}),
        (S3, "orders", {"s3.bucket.name": "lake"} | UNKNOWN),
        (POSTGRES, "cdc", DEBEZIUM),  # changes of schemas
        (POSTGRES, "cdc.transaction", DEBEZIUM),
        (POSTGRES, "cdc.public.orders", DEBEZIUM | UNKNOWN),
        (POSTGRES, "outbox.orders", DEBEZIUM),
    ],
)
def test_what_is_not_known_has_a_reason(kind: str, topic: str, settings: dict[str, str]) -> None:
    there = found(kind, topic, settings)
    assert isinstance(there, str)
    assert there
