"""Which texts are believed to be of the job that reports them: true ones of many producers, and other jobs' ones."""

import pytest

from whence.capture.sql.events.datasets import EventDataset
from whence.capture.sql.events.enrichment import UNRELATED, EventLineage, ReportedSql, read_event_sql
from whence.model.names import DatasetName

LAKE = "s3://lake-prod"
ORDERS = EventDataset(
    name=DatasetName("file", "/wh/t_orders"),
    others=(DatasetName("file:/wh", "default.t_orders"),),
    fields=("order_id", "customer_id", "amount", "day"),
)
CUSTOMERS = EventDataset(
    name=DatasetName("file", "/wh/t_cust"),
    others=(DatasetName("file:/wh", "default.t_cust"),),
    fields=("customer_id", "name", "country", "segment"),
)
FOREIGN_CTE = (
    "with a as (select customer_id k, sum(amount) total from t_orders group by customer_id) "
    "select a.k, a.total, c.country from a join t_cust c on c.customer_id = a.k"
)


def output(name: str, *fields: str, others: tuple[DatasetName, ...] = ()) -> EventDataset:
    return EventDataset(name=DatasetName("file", f"/out/{name}"), others=others, fields=fields)


def table(name: str, *fields: str, namespace: str = "postgres://db:5432") -> EventDataset:
    return EventDataset(name=DatasetName(namespace, name), fields=fields)


def read(query: str, outputs: tuple[EventDataset, ...], *, dialect: str = "spark", whole: bool = True) -> EventLineage:
    inputs = (ORDERS, CUSTOMERS)
    if dialect != "spark":
        inputs = (table("shop.public.t_orders", *ORDERS.fields), table("shop.public.t_cust", *CUSTOMERS.fields))
    return read_event_sql(
        ReportedSql(query=query, dialect=dialect, inputs=inputs, outputs=outputs, has_whole_schemas=whole)
    )


FOREIGN = {
    "a view of the session (d1_mapinpandas)": (
        "create view pv as select order_id, amount from t_orders",
        output("d1_mapinpandas", "order_id", "amount"),
    ),
    "a view, and a pandas UDF (d1_pandasudf)": (
        "create or replace temporary view pv as select * from t_orders where amount > 1",
        output("d1_pandasudf", "a2"),
    ),
    "a view, and a table of the metastore (wh_t_sat)": (
        "create view pv as select segment, amount from t_orders join t_cust using (customer_id)",
        output("t_sat", "segment", "amount", others=(DatasetName("file:/wh", "default.t_sat"),)),
    ),
    "a query of the same tables, and a UDF (d1_udf)": (FOREIGN_CTE, output("d1_udf", "uname", "mix")),
    "a query of the same tables, and a pivot (d1_pivoted)": (
        FOREIGN_CTE,
        output("d1_pivoted", "country", "SMB", "ENT"),
    ),
    "other columns of the same table": (
        "select customer_id as k, amount as v from t_orders",
        output("mapinpandas_synth", "order_id", "amount"),
    ),
    "one column more than the frame has": ("select * from t_orders", output("d1_mapinpandas", "order_id", "amount")),
    "another table is written": (
        "insert into t_archive select order_id, amount from t_orders",
        output("d1", "order_id", "amount"),
    ),
    "other tables are read": ("select order_id, amount from t_returns", output("d1", "order_id", "amount", "day")),
    "a view of nothing, with hostile names": (
        'create view `pv"; drop table t_orders --` as select 1 as `a.b` from `t_öre`',
        output("d1", "order_id"),
    ),
}


@pytest.mark.parametrize("case", FOREIGN)
def test_the_text_of_another_job_is_not_believed(case: str) -> None:
    query, into = FOREIGN[case]
    found = read(query, (into,))
    assert (found.status, dict(found.outputs)) == (UNRELATED, {})
    assert found.problems


TRUE = {
    "a frame of one SELECT": ("select order_id, amount from t_orders", output("d1", "order_id", "amount")),
    "a frame with columns beside the SELECT": (
        "select order_id, amount from t_orders",
        output("d1", "order_id", "amount", "day", "loaded_at"),
    ),
    "columns differ in case": ("select ORDER_ID as Id, Amount from T_ORDERS", output("d1", "id", "AMOUNT")),
    "quoted names": ("select `order_id` as `Order Id` from `default`.`t_orders`", output("d1", "Order Id")),
    "all columns": ("select * from t_orders", output("d1", *ORDERS.fields)),
    "nested columns": ("select named_struct('a', amount) as s from t_orders", output("d1", "s", "s.a")),
    "CREATE TABLE AS of the output": (
        "create table spark_catalog.default.t_sum as select customer_id, sum(amount) s from t_orders group by 1",
        output("t_sum", "customer_id", "s", others=(DatasetName("file:/wh", "default.t_sum"),)),
    ),
    "the output is only called as the table": (
        "insert overwrite t_sum partition (day = '2026-11-20') select customer_id, amount from t_orders",
        output("t_sum", "customer_id", "amount", "day"),
    ),
    "a column list, and defaults": (
        "insert into t_sum (customer_id) select customer_id from t_orders",
        output("t_sum", "customer_id", "amount", "day", others=(DatasetName("file:/wh", "default.t_sum"),)),
    ),
    "a temporary view on the way": (
        "create temporary view v as select customer_id, amount from t_orders; insert into t_sum select * from v",
        output("t_sum", "customer_id", "amount", others=(DatasetName("file:/wh", "default.t_sum"),)),
    ),
}


@pytest.mark.parametrize("case", TRUE)
def test_the_text_of_the_job_itself_is_believed(case: str) -> None:
    query, into = TRUE[case]
    found = read(query, (into,))
    assert found.status != UNRELATED
    if into.others or "insert" not in query:  # a table that is only called alike is not the output
        assert found.outputs[into.name].edges


def test_a_view_of_the_session_is_no_dataset_of_the_event() -> None:
    found = read("select k, v from my_view", (output("d1", "k", "v"),))
    assert (found.status, found.unmatched) == ("failed", ("my_view",))


@pytest.mark.parametrize(
    ("query", "into"),
    [
        ("select order_id, amount, day from t_orders", ("amount",)),  # one column has a description
        ('select "order_id" as "ID" from public.t_orders', ("id", "loaded_at")),
        ("select * from (select *, amount * 2 as twice from t_orders) as x", ("order_id",)),
    ],
)
def test_producers_that_list_some_columns_are_believed(query: str, into: tuple[str, ...]) -> None:
    model = table("shop.marts.daily", *into)
    found = read(query, (model,), dialect="postgres", whole=False)
    assert found.status == "parsed"
    assert found.outputs[model.name].edges


def test_no_column_in_common_is_not_believed_of_any_producer() -> None:
    found = read("select amount as v from t_orders", (table("shop.marts.daily", "k"),), dialect="postgres", whole=False)
    assert found.status == UNRELATED
    assert found.problems == ("it gives the columns v, which this job's output does not have",)


def test_a_script_that_writes_the_output_among_others_is_believed() -> None:
    daily = table("shop.marts.daily", "order_id", "amount")
    query = (
        "create temp table stage as select * from t_orders; insert into marts.daily select order_id, amount from stage"
    )
    found = read(query, (daily,), dialect="postgres", whole=False)
    assert found.outputs[daily.name].edges
