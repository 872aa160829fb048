"""A DAG of a small shop on PostgreSQL. `airflow3.py` has, written from this text, what lineage it has."""

from datetime import datetime, timedelta
from typing import Any

from airflow.providers.common.sql.operators.sql import SQLColumnCheckOperator, SQLExecuteQueryOperator
from airflow.sdk import DAG, task

SHOP = "shop"  # the connection
DAILY = """
insert into daily (day, country, total, orders)
select o.day, c.country, sum(o.amount), count(*)
from orders o join customers c on o.customer_id = c.id
where o.status = 'paid'
group by o.day, c.country
"""
RANKED = """
create table ranked as
select id, upper(name) as name, case when country = 'DE' then 'home' else 'abroad' end as market from customers
"""
STRANGE = """insert into "Größe; drop table: 1/2" ("Preis €") select "Preis €" from "Rück läufer" """
PARTS = [f"insert into part_{number} select id, amount * {number} from orders" for number in (1, 2, 3)]


def query(name: str, sql: str | list[str], **more: object) -> SQLExecuteQueryOperator:
    return SQLExecuteQueryOperator(task_id=name, conn_id=SHOP, sql=sql, **more)


with DAG(
    dag_id="shop",
    schedule="@daily",
    start_date=datetime(2026, 11, 1),
    catchup=False,
    description="What the shop sold",
    tags=["finance", "tier:gold; <b>"],
    default_args={"owner": "ann", "retry_delay": timedelta(0)},
):
    made = query("made", "create table if not exists daily (day date, country text, total numeric, orders bigint)")
    emptied = query("emptied", "truncate daily")
    daily = query("daily", DAILY, owner="bob")
    ranked = query("ranked", ["drop table if exists ranked", RANKED])
    strange = query("strange", STRANGE)
    parts = SQLExecuteQueryOperator.partial(task_id="parts", conn_id=SHOP).expand(sql=PARTS)
    checked = SQLColumnCheckOperator(
        task_id="checked",
        conn_id=SHOP,
        table="daily",
        column_mapping={"total": {"min": {"geq_to": 0}}, "country": {"null_check": {"equal_to": 0}}},
    )
    doubted = SQLColumnCheckOperator(
        task_id="doubted", conn_id=SHOP, table="daily", column_mapping={"total": {"max": {"less_than": 1}}}
    )
    broken = query("broken", "insert into daily (day, total) select day, 1 / (amount - amount) from orders")

    @task(retries=1)
    def second_try(**context: Any) -> None:
        if context["ti"].try_number == 1:
            raise RuntimeError("not yet")

    @task
    def boom() -> None:
        raise ValueError("kaput: the source is gone")

    @task
    def never() -> None:
        """Its upstream fails."""

    made >> emptied >> daily >> [checked, doubted]
    made >> broken
    boom() >> never()
    second_try()
