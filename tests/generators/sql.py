"""SQL of the one form that the oracle reads (`oracle.sql`), and events that it fits, or nearly."""

from hypothesis import strategies as st

from generators.universe import Json, few

DATASETS = (
    ("hive://meta:9083", "gold.users"),
    ("warehouse", "GOLD.Users"),
    ("postgres://db:5432", "shop.public.orders"),
    ("bigquery", "p.d.t"),
)
TABLES = ("gold.users", "spark_catalog.gold.users", "users", "public.orders", "shop.public.orders", "d.t", "p.d.t")
COLUMNS = ("id", "ID", "k", "v")
EXPRESSIONS = ("{0}", "{0}", "SUM({0})", "COALESCE({0}, {1})", "{0} + {1}")

DEFINITIONS = ("create table if not exists gold.users (id int)", "truncate table users", "truncate table no.place")

tables = st.sampled_from((*TABLES, *TABLES, "GOLD.users", "no.place"))
columns = st.sampled_from(COLUMNS)


@st.composite
def queries(draw: st.DrawFn) -> str:
    """A statement; now and then what is none."""
    if not draw(st.integers(0, 9)):
        return draw(st.sampled_from(["selec x", " ", ")(", *DEFINITIONS]))
    aliases = ["t", "j"][: draw(st.integers(1, 2))]
    references = st.tuples(st.sampled_from(aliases), columns).map(".".join)
    names = draw(st.lists(st.sampled_from(["id", "k", "v", "w"]), min_size=1, max_size=3, unique=True))
    items = [
        f"{draw(st.sampled_from(EXPRESSIONS)).format(draw(references), draw(references))} as {name}" for name in names
    ]
    listed = f" ({', '.join(names)})" if draw(st.booleans()) else ""
    lines = [f"insert into {draw(tables)}{listed}", "select", "  " + ",\n  ".join(items), f"from {draw(tables)} as t"]
    if "j" in aliases:
        lines.append(f"left join {draw(tables)} as j on j.{draw(columns)} = t.{draw(columns)}")
    if draw(st.booleans()):
        day = draw(st.sampled_from(["2026-01-01", "2026-01-02", "no day"]))
        lines.append(f"where {draw(references)} = '{day}'")
    return "\n".join(lines)


# No table of Spark has two columns that differ in case alone.
schemas = few(columns.map(lambda name: {"name": name, "type": "int"}), most=4).map(
    lambda fields: {"fields": list({one["name"].lower(): one for one in fields}.values())}
)
reported = st.dictionaries(
    columns,
    few(
        st.builds(
            lambda name, field, kind: {
                "namespace": name[0],
                "name": name[1],
                "field": field,
                "transformations": [{"type": kind}] if kind else [],
            },
            st.sampled_from(DATASETS),
            columns,
            st.sampled_from(["DIRECT", "DIRECT", "INDIRECT", None]),
        ),
        least=1,
    ).map(lambda some: {"inputFields": some}),
    max_size=2,
).map(lambda fields: {"fields": fields})


@st.composite
def _dataset(draw: st.DrawFn, *, is_output: bool) -> Json:
    namespace, name = draw(st.sampled_from(DATASETS))
    facets: Json = {"schema": draw(schemas)} if draw(st.booleans()) else {}
    if not draw(st.integers(0, 3)):
        link = draw(st.sampled_from(DATASETS))
        kind = draw(st.sampled_from(["TABLE", "whence:cut"]))
        facets["symlinks"] = {"identifiers": [{"namespace": link[0], "name": link[1], "type": kind}]}
    if is_output and not draw(st.integers(0, 2)):
        facets["columnLineage"] = draw(reported)
    return {"namespace": namespace, "name": name, "facets": facets}


@st.composite
def with_sql(draw: st.DrawFn, event: Json) -> Json:
    """An event that also says which SQL its job ran, on datasets that the SQL may mean."""
    facet: Json = {"query": draw(queries()), "dialect": "spark"}
    if not draw(st.integers(0, 9)):
        facet = draw(st.sampled_from([{"_deleted": True}, {"query": 1, "dialect": "spark"}, {"dialect": "spark"}]))
    job = event["job"]
    facets = {**job.get("facets", {}), "sql": facet}
    ends = {
        "inputs": draw(few(_dataset(is_output=False), most=4) | st.just([])),
        "outputs": draw(few(_dataset(is_output=True), most=4)),
    }
    return event | ends | {"job": job | {"facets": facets}}
