"""Statements per second of the SQL reader beside other engines, in one run: `python -m bench.sql_reader.speed`.

The statements are made here, in the shapes of a warehouse: short ones, some in the size and style of TPC-DS, chains of
common table expressions in which every column mixes two parents (of 2,000 lines, and of growing length), and stars of
many columns. Every engine gets the same text and, where it takes one, the same schema. Times are of the CPU, so that
other load does not count; of this reader the median of three rounds, of the others one.
"""

import gc
import logging
import math
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from openlineage_sql import parse as openlineage
from sqlglot.lineage import lineage as sqlglot_lineage
from sqllineage.core.metadata.dummy import DummyMetaDataProvider
from sqllineage.runner import LineageRunner

from whence.capture.sql import Catalog, read_script

Schema = Mapping[str, Sequence[str]]
Engine = Callable[[str, Schema], object]

FACTS = (
    "sold_date_sk",
    "item_sk",
    "customer_sk",
    "store_sk",
    "promo_sk",
    "quantity",
    "list_price",
    "net_paid",
    "profit",
)
SCHEMA: Schema = {
    "store_sales": FACTS,
    "web_sales": FACTS,
    "catalog_sales": FACTS,
    "date_dim": ("date_sk", "date_id", "year", "moy", "dom", "qoy", "day_name"),
    "item": ("item_sk", "item_id", "brand", "brand_id", "category", "class", "current_price", "manufact_id"),
    "customer": ("customer_sk", "customer_id", "first_name", "last_name", "address_sk", "birth_country"),
    "customer_address": ("address_sk", "city", "county", "state", "zip", "country"),
    "store": ("store_sk", "store_id", "store_name", "city", "state", "gmt_offset"),
    "promotion": ("promo_sk", "channel_email", "channel_event"),
}
SHORT = (
    "select item_id, brand, current_price * 1.1 as price from item where category = 'Books'",
    "insert into top_items (id, sold) select item_sk, sum(quantity) from store_sales group by item_sk",
    "create table who as select c.customer_id, a.city from customer c join customer_address a using (address_sk)",
    "select year, moy, count(*) as n from date_dim where qoy = 1 group by year, moy order by n desc",
)
_SUM = "sum(case when d.day_name = '{day}' then s.net_paid else null end) as {name}"


@dataclass(frozen=True, slots=True)
class Measured:
    """What one engine took for some statements: seconds, and how many it gave no answer for."""

    seconds: float
    failed: int


def warehouse() -> list[str]:
    """Queries in the size and style of TPC-DS: 20 to 60 lines, star joins, CTEs, windows, subqueries, unions."""
    return [
        make(f"{channel}_sales")
        for channel in ("store", "web", "catalog")
        for make in (_yearly, _ranked, _weekly, _rolled)
    ]


def _yearly(fact: str) -> str:
    return f"""
with year_total as (
  select c.customer_id as customer_id, c.first_name as first_name, c.last_name as last_name, d.year as dyear,
         sum(((s.list_price - s.net_paid) + s.profit) / 2) as total, 's' as kind
  from customer c, {fact} s, date_dim d
  where c.customer_sk = s.customer_sk and s.sold_date_sk = d.date_sk
  group by c.customer_id, c.first_name, c.last_name, d.year
  union all
  select c.customer_id, c.first_name, c.last_name, d.year, sum(w.net_paid * w.quantity), 'w'
  from customer c, web_sales w, date_dim d
  where c.customer_sk = w.customer_sk and w.sold_date_sk = d.date_sk
  group by c.customer_id, c.first_name, c.last_name, d.year
)
select t_s_sec.customer_id, t_s_sec.first_name, t_s_sec.last_name,
       case when t_w_first.total > 0 then t_w_sec.total / t_w_first.total else 0.0 end as ratio
from year_total t_s_first, year_total t_s_sec, year_total t_w_first, year_total t_w_sec
where t_s_sec.customer_id = t_s_first.customer_id and t_s_first.customer_id = t_w_sec.customer_id
  and t_s_first.customer_id = t_w_first.customer_id and t_s_first.kind = 's' and t_w_first.kind = 'w'
  and t_s_sec.kind = 's' and t_w_sec.kind = 'w' and t_s_first.dyear = 2001 and t_s_sec.dyear = 2002
  and t_w_first.dyear = 2001 and t_w_sec.dyear = 2002 and t_s_first.total > 0
order by t_s_sec.customer_id, t_s_sec.first_name, t_s_sec.last_name
limit 100"""


def _ranked(fact: str) -> str:
    return f"""
select category, class, brand, item_id, year, qoy, moy, store_id, sumsales, rk
from (
  select category, class, brand, item_id, year, qoy, moy, store_id, sumsales,
         rank() over (partition by category order by sumsales desc) as rk
  from (
    select i.category, i.class, i.brand, i.item_id, d.year, d.qoy, d.moy, st.store_id,
           sum(coalesce(s.list_price * s.quantity, 0)) as sumsales
    from {fact} s
    join date_dim d on s.sold_date_sk = d.date_sk
    join store st on s.store_sk = st.store_sk
    join item i on s.item_sk = i.item_sk
    where d.year between 1998 and 2000
    group by i.category, i.class, i.brand, i.item_id, d.year, d.qoy, d.moy, st.store_id
  ) dw1
) dw2
where rk <= 100 and exists (select 1 from promotion p, {fact} x where x.promo_sk = p.promo_sk and p.channel_email = 'Y')
order by category, class, brand, item_id, year, qoy, moy, store_id, sumsales, rk
limit 100"""


def _weekly(fact: str) -> str:
    days = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
    sums = ",\n    ".join(_SUM.format(day=day, name=f"{day[:3].lower()}_sales") for day in days)
    shown = ",\n  ".join(
        f"round(y.{day[:3].lower()}_sales / z.{day[:3].lower()}_sales, 2) as {day[:3].lower()}" for day in days
    )
    return f"""
with wss as (
  select d.date_id as week, s.store_sk as store_sk, d.year as year,
    {sums}
  from {fact} s, date_dim d
  where d.date_sk = s.sold_date_sk
  group by d.date_id, s.store_sk, d.year
)
select st.store_name, st.store_id, y.week,
  {shown}
from wss y join wss z on y.store_sk = z.store_sk and y.year = z.year - 1
join store st on st.store_sk = y.store_sk
where y.year = 2001 and st.gmt_offset = -5
order by st.store_name, st.store_id, y.week"""


def _rolled(fact: str) -> str:
    return f"""
select c.last_name, c.first_name, ca.city, bought.city as bought_city, bought.amt, bought.profit, n.n
from (
  select s.customer_sk, ca.city, sum(s.net_paid) as amt, sum(s.profit) as profit
  from {fact} s, date_dim d, store st, customer_address ca
  where s.sold_date_sk = d.date_sk and s.store_sk = st.store_sk
    and d.dom in (1, 2) and d.year in (1999, 2000, 2001) and st.city in (select city from store where state = 'TN')
  group by s.customer_sk, ca.city
) bought
join customer c on bought.customer_sk = c.customer_sk
join customer_address ca on c.address_sk = ca.address_sk
left join (select customer_sk, count(*) as n from {fact} group by customer_sk) n on n.customer_sk = c.customer_sk
where ca.city <> bought.city
  and bought.profit > (select 0.9 * avg(profit) from {fact} where store_sk = 4 and promo_sk is null)
order by c.last_name, c.first_name, ca.city, bought.city, bought.amt"""


def chain(lines: int) -> str:
    """A chain of common table expressions, six columns each, every one of two columns of the step before."""
    columns = [f"c{place}" for place in range(6)]
    first = ", ".join(f"{fact} as {name}" for fact, name in zip(FACTS, columns, strict=False))
    steps = [f"s0 as (select {first}\n from store_sales)"]
    for step in range(1, max(2, lines // 8)):
        mixed = ",\n  ".join(f"{one} + {columns[(place + 1) % 6]} as {one}" for place, one in enumerate(columns))
        steps.append(f"s{step} as (\n  select {mixed}\n  from s{step - 1})")
    return f"with {', '.join(steps)}\nselect * from s{len(steps) - 1}"


def star(width: int) -> tuple[str, Schema]:
    """A star of many columns through a subquery."""
    return "select * from (select * from wide) w", {"wide": tuple(f"c{place}" for place in range(width))}


_CATALOGS: dict[int, Catalog] = {}


def whence(text: str, schema: Schema) -> object:
    """This reader."""
    catalog = _CATALOGS.get(id(schema))
    if catalog is None:
        catalog = _CATALOGS[id(schema)] = Catalog.from_columns(schema, "duckdb")
    answer = read_script(text, "duckdb", catalog)
    if any(one.status == "failed" for one in answer.statements):
        raise ValueError("not read")
    return answer


def sqlglot(text: str, schema: Schema) -> object:
    """`sqlglot.lineage` for all output columns; it reads queries only."""
    nested = {table: dict.fromkeys(columns, "int") for table, columns in schema.items()}
    return sqlglot_lineage(None, text, nested, dialect="duckdb")


def sqllineage(text: str, schema: Schema) -> object:
    """sqllineage, with its metadata provider."""
    provider = DummyMetaDataProvider({f"main.{table}": list(columns) for table, columns in schema.items()})
    return LineageRunner(text, dialect="ansi", metadata_provider=provider).get_column_lineage()


def openlineage_sql(text: str, schema: Schema) -> object:
    """openlineage-sql; it takes no schema."""
    answer = openlineage([text], "generic")
    if answer is None or answer.errors:
        raise ValueError("not read")
    return answer


ENGINES: tuple[Engine, ...] = (whence, sqlglot, sqllineage, openlineage_sql)


def measure(engine: Engine, texts: Sequence[str], schema: Schema, rounds: int = 3) -> Measured:
    """The median of some rounds over all statements."""
    times, failed = [], 0
    for _ in range(rounds):
        begin, failed = time.process_time(), 0
        for text in texts:
            try:
                engine(text, schema)
            except Exception:  # another engine's errors are of many kinds; each counts as no answer
                failed += 1
        times.append(time.process_time() - begin)
    return Measured(statistics.median(times), failed)


def growth(sizes: Sequence[int]) -> float:
    """The exponent e of time ~ size ** e, over the whole range."""
    times = [measure(whence, [chain(size)], SCHEMA).seconds for size in sizes]
    return math.log(times[-1] / times[0]) / math.log(sizes[-1] / sizes[0])


def _rows() -> Iterator[str]:
    yield f"{'statements/s':34}" + "".join(f"{engine.__name__:>18}" for engine in ENGINES)
    for title, texts in (("short", SHORT * 10), ("TPC-DS-sized", warehouse())):
        yield _row(title, texts, SCHEMA, ENGINES, per_second=True)
    yield f"{'milliseconds':34}" + "".join(f"{engine.__name__:>18}" for engine in ENGINES)
    quick = (whence, sqlglot, openlineage_sql)
    yield _row("CTE chain, 2,000 lines", [chain(2_000)], SCHEMA, quick)
    text, schema = star(800)
    yield _row("star of 800 columns", [text], schema, quick)
    yield f"growth of time with size, CTE chains of 250 to 4,000 lines: n^{growth((250, 1_000, 4_000)):.2f}"


def _row(title: str, texts: Sequence[str], schema: Schema, engines: Sequence[Engine], per_second: bool = False) -> str:
    cells = []
    for engine in ENGINES:
        if engine not in engines:
            cells.append("not tried")
            continue
        measured = measure(engine, texts, schema, rounds=3 if engine is whence else 1)
        number = len(texts) / measured.seconds if per_second else measured.seconds * 1_000
        cells.append(f"{number:,.1f}" + (f" ({measured.failed} failed)" if measured.failed else ""))
    return f"{title:34}" + "".join(f"{cell:>18}" for cell in cells)


def main() -> None:
    """Print a table as it is measured."""
    logging.disable(logging.CRITICAL)
    gc.collect()
    gc.freeze()  # the grammars of the other engines are large, and every collection would look at them
    for row in _rows():
        sys.stdout.write(row + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
