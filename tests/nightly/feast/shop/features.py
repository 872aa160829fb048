"""The features of a shop: each kind of data source and view. tests/capture/feast/edges.txt was written from this."""

from datetime import timedelta
from typing import Any

import pandas as pd
from feast import (
    BigQuerySource,
    Entity,
    FeatureService,
    FeatureView,
    Field,
    FileSource,
    KafkaSource,
    PushSource,
    RedshiftSource,
    RequestSource,
    SnowflakeSource,
    StreamFeatureView,
    ValueType,
)
from feast.aggregation import Aggregation
from feast.data_format import JsonFormat, ParquetFormat
from feast.infra.offline_stores.contrib.athena_offline_store.athena_source import AthenaSource
from feast.infra.offline_stores.contrib.postgres_offline_store.postgres_source import PostgreSQLSource
from feast.infra.offline_stores.contrib.spark_offline_store.spark_source import SparkSource
from feast.infra.offline_stores.contrib.trino_offline_store.trino_source import TrinoSource
from feast.on_demand_feature_view import on_demand_feature_view
from feast.types import Float64, Int64, String

SECRET = "hush-4711"

customer = Entity(
    name="customer ü", join_keys=["customer_id"], value_type=ValueType.INT64, description="Who buys", owner="ada@shop"
)

orders_file = FileSource(
    name="orders file",
    path="data/orders.parquet",
    timestamp_field="ordered_at",
    created_timestamp_column="loaded_at",
    field_mapping={"amt": "amount", "cust": "customer_id"},
    description="Orders, as they arrive",
    tags={"team": "sales"},
    owner="bob@shop",
)
orders = FeatureView(
    name='orders "all"; drop, ü',
    entities=[customer],
    ttl=timedelta(days=7),
    schema=[
        Field(name="customer_id", dtype=Int64),
        Field(name="amount", dtype=Float64, description="Gross", tags={"pii": "no"}),
        Field(name="country code", dtype=String),
    ],
    source=orders_file,
    owner="ada@shop",
    description="Orders of a customer",
    tags={"tier": "gold", "token": f"password={SECRET}"},
)
pushed = FeatureView(
    name="pushed",
    entities=[customer],
    schema=[Field(name="amount", dtype=Float64)],
    source=PushSource(name="push orders", batch_source=orders_file),
)

customers = FeatureView(
    name="customers",
    entities=[customer],
    schema=[Field(name="name", dtype=String), Field(name="age", dtype=Int64)],
    source=PostgreSQLSource(
        name="customers",
        query="SELECT id AS customer_id, upper(name) AS name, age, seen FROM crm.customers WHERE is_active",
        timestamp_field="seen",
    ),
)

clicks = KafkaSource(
    name="clicks topic",
    kafka_bootstrap_servers="kafka-1:9092,kafka-2:9092",
    topic="clicks.v1",
    timestamp_field="at",
    message_format=JsonFormat(schema_json="customer_id bigint, page string, at timestamp"),
    batch_source=FileSource(
        name="clicks batch",
        path=f"s3://KEY:{SECRET}@lake/clicks/",
        timestamp_field="at",
        file_format=ParquetFormat(),
    ),
    watermark_delay_threshold=timedelta(minutes=5),
)
clicked = FeatureView(name="clicked", entities=[customer], schema=[Field(name="page", dtype=String)], source=clicks)


def count_clicks(frame: Any) -> Any:
    """Runs in a stream engine."""
    return frame


clicks_by_hour = StreamFeatureView(
    name="clicks by hour",
    entities=[customer],
    schema=[Field(name="page_count", dtype=Int64)],
    source=clicks,
    mode="python",
    timestamp_field="at",
    udf=count_clicks,
    udf_string="def count_clicks(frame): …",
)
clicks_counted = StreamFeatureView(
    name="clicks counted",
    entities=[customer],
    schema=[Field(name="count_page_3600s", dtype=Int64)],
    source=clicks,
    mode="python",
    timestamp_field="at",
    aggregations=[Aggregation(column="page", function="count", time_window=timedelta(hours=1))],
)

basket = RequestSource(name="basket", schema=[Field(name="total", dtype=Float64)])


@on_demand_feature_view(
    sources=[orders, basket], schema=[Field(name="share", dtype=Float64), Field(name="country", dtype=String)]
)
def shares(inputs: pd.DataFrame) -> pd.DataFrame:
    """Pandas."""
    found = pd.DataFrame()
    found["share"] = inputs["total"] / inputs["amount"]
    found["country"] = inputs["country code"]
    return found


@on_demand_feature_view(
    sources=[customers[["age"]]], schema=[Field(name="decade", dtype=Int64)], mode="python", owner="cy@shop"
)
def decades(inputs: dict[str, Any]) -> dict[str, Any]:
    """Python: `feast registry-dump` of 0.67 fails with a KeyError when a registry has one."""
    return {"decade": [age // 10 for age in inputs["age"]]}


def view_of(name: str, source: Any) -> FeatureView:
    """A view of a table or query in a warehouse."""
    return FeatureView(name=name, entities=[customer], schema=[Field(name="spend", dtype=Float64)], source=source)


QUERY = "SELECT customer_id, sum(amount) AS spend, max(at) AS at FROM `acme.sales.orders` GROUP BY 1"

bigquery = view_of("bigquery", BigQuerySource(name="bq", table="acme.sales.spend", timestamp_field="at"))
queried = view_of("queried", BigQuerySource(name="bq query", query=QUERY, timestamp_field="at"))
snowflake = view_of(
    "snowflake",
    SnowflakeSource(name="sf", database="SHOP", schema="SALES", table="SPEND", timestamp_field="at"),
)
redshift = view_of(
    "redshift", RedshiftSource(name="rs", database="shop", schema="sales", table="spend", timestamp_field="at")
)
postgres = view_of("postgres", PostgreSQLSource(name="pg", table="sales.spend", timestamp_field="at"))
hive = view_of("hive", SparkSource(name="hive", table="sales.spend", timestamp_field="at"))
lake = view_of("lake", SparkSource(name="lake", path="s3a://lake/spend", file_format="parquet", timestamp_field="at"))
trino = view_of("trino", TrinoSource(name="trino", table="hive.sales.spend", timestamp_field="at"))
athena = view_of(
    "athena",
    AthenaSource(name="athena", database="sales", table="spend", data_source="awsdatacatalog", timestamp_field="at"),
)

churn = FeatureService(
    name="churn/v1",
    features=[orders[["amount"]], customers.with_name("people"), shares],
    description="Features of the churn model",
    tags={"model": "churn"},
    owner="ada@shop",
)
spends = FeatureService(name="spends", features=[bigquery, snowflake.with_name("snow"), decades, clicks_by_hour])
