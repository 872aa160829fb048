"""The column lineage of each statement in `spark_jobs/statements.py`, written from reading it, and what is known to be
lost of it by openlineage-spark 1.53.0 (docs/how-to/spark.md).
"""

from dataclasses import dataclass

from nightly.producers.served import Flow


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """What a statement does, and what is known to go wrong with it.

    `values`: lines of `column = [SUBTYPE:]dataset.column …`; IDENTITY unless said. `influences`: columns that choose,
    group or order rows, or decide a value. Known faults of the listener: `lost` columns arrive without their sources,
    `unsure` ones have none and cannot be told from lost ones, `invented` flows are wrong, `forgotten` influences do not
    arrive.
    """

    output: str = ""
    values: str = ""
    influences: str = ""
    lost: str = ""
    unsure: str = ""
    invented: str = ""
    forgotten: str = ""

    def direct(self, name: str) -> set[Flow]:
        """The values that should arrive."""
        written = self.output or name
        lost = self.lost.split()
        return {flow for flow in _flows(self.values, written) if flow.target.rpartition(".")[2] not in lost}

    def wrong(self, name: str) -> set[Flow]:
        """Values that arrive and should not."""
        return _flows(self.invented, self.output or name)


def _flows(lines: str, output: str) -> set[Flow]:
    found = set()
    for line in filter(None, (one.strip() for one in lines.splitlines())):
        column, _, sources = line.partition(" = ")
        for source in sources.split():
            subtype, _, end = source.rpartition(":")
            found.add(Flow(end, f"DIRECT {subtype or 'IDENTITY'}", f"{output}.{column}"))
    return found


TRUTHS = {
    "csv_join": Truth(
        values="order_id = orders.order_id\nname = customers.name\namount = orders.amount",
        influences="orders.customer_id customers.customer_id",
    ),
    "window": Truth(
        values="order_id = orders.order_id\nbefore = TRANSFORMATION:orders.day",
        influences="orders.customer_id orders.amount",
    ),
    "temp_view": Truth(
        values="day = orders.day\ntotal = AGGREGATION:orders.amount", influences="orders.amount orders.day"
    ),
    "ctas": Truth(output="t_ctas", values="order_id = orders.order_id\ntwice = TRANSFORMATION:orders.amount"),
    "insert_into": Truth(output="t_insert", values="id = orders.order_id\nday = orders.day"),
    "insert_overwrite": Truth(output="t_overwrite", values="id = orders.order_id\nday = TRANSFORMATION:orders.day"),
    "dynamic_partitions": Truth(
        # the listener's label of the partition column is that of the rows' order
        values="order_id = orders.order_id\namount = orders.amount\nday = TRANSFORMATION:orders.day",
        influences="orders.day",
    ),
    "cte_union": Truth(values="k = orders.customer_id customers.customer_id"),
    "semi_join": Truth(values="name = customers.name", influences="orders.customer_id customers.customer_id"),
    "anti_join": Truth(values="name = customers.name", influences="orders.customer_id customers.customer_id"),
    # only its START has inputs: at the end the frame begins at the cache
    "cached": Truth(values="order_id = orders.order_id\nmore = TRANSFORMATION:orders.amount"),
    "explode_struct": Truth(
        values="pair = TRANSFORMATION:customers.customer_id TRANSFORMATION:customers.name\n"
        "letter = TRANSFORMATION:customers.name"
    ),
    "as_json": Truth(values="name = customers.name\ncountry = customers.country"),
    "as_orc": Truth(values="name = customers.name\ncountry = customers.country"),
    "as_text": Truth(values="value = TRANSFORMATION:customers.name TRANSFORMATION:customers.country"),
    "pandas_on_spark": Truth(values="order_id = orders.order_id\nmore = TRANSFORMATION:orders.amount"),
    "case_when": Truth(
        values="order_id = orders.order_id\nsize = TRANSFORMATION:orders.day", influences="orders.amount"
    ),
    "higher_order": Truth(values="letters = TRANSFORMATION:customers.name"),
    "self_append": Truth(
        values="order_id = orders.order_id self_append.order_id\n"
        "amount = orders.amount TRANSFORMATION:self_append.amount"
    ),
    "save_as_table": Truth(output="t_saved", values="customer_id = customers.customer_id\nsegment = customers.segment"),
    "write_to": Truth(output="t_written", values="segment = t_saved.segment"),
    "drop_duplicates": Truth(
        values="customer_id = orders.customer_id\nday = AGGREGATION:orders.day", influences="orders.customer_id"
    ),
    "udf": Truth(values="country = customers.country\nloud = TRANSFORMATION:customers.name", lost="loud"),
    "pandas_udf": Truth(values="order_id = orders.order_id\ntwice = TRANSFORMATION:orders.amount", lost="twice"),
    "map_in_pandas": Truth(values="order_id = TRANSFORMATION:orders.order_id", lost="order_id"),
    "apply_in_pandas": Truth(
        values="customer_id = TRANSFORMATION:orders.customer_id TRANSFORMATION:orders.amount\n"
        "amount = TRANSFORMATION:orders.customer_id TRANSFORMATION:orders.amount",
        lost="customer_id amount",
        influences="orders.customer_id",
        forgotten="orders.customer_id",
    ),
    "pivot": Truth(
        values="country = customers.country\nb2b = AGGREGATION:customers.customer_id\n"
        "b2c = AGGREGATION:customers.customer_id",
        influences="customers.country customers.segment",
        invented="b2b = AGGREGATION:customers.segment\nb2c = AGGREGATION:customers.segment",
    ),
    "unpivot": Truth(
        values="customer_id = customers.customer_id\nvalue = customers.name customers.country",
        lost="value",
        unsure="key",
    ),
    "rollup": Truth(
        values="country = customers.country\nnewest = AGGREGATION:customers.customer_id",
        lost="country",
        influences="customers.country",
        forgotten="customers.country",
    ),
    "cube": Truth(
        values="country = customers.country\nnewest = AGGREGATION:customers.customer_id",
        lost="country",
        influences="customers.country",
        forgotten="customers.country",
    ),
    "grouping_sets": Truth(
        values="country = customers.country\nsegment = customers.segment\nlast = AGGREGATION:customers.name",
        lost="country segment",
        influences="customers.country customers.segment",
        forgotten="customers.country customers.segment",
    ),
    "two_distinct_counts": Truth(
        values="customers = AGGREGATION:orders.customer_id\ndays = AGGREGATION:orders.day", lost="customers days"
    ),
    "scalar_subquery": Truth(values="name = customers.name\nmost = AGGREGATION:orders.amount", lost="most"),
    "in_subquery": Truth(values="name = customers.name", influences="customers.customer_id orders.customer_id"),
    "lateral_view": Truth(values="country = customers.country\nletter = TRANSFORMATION:customers.name"),
    "except_all": Truth(
        values="customer_id = orders.customer_id",
        influences="orders.customer_id customers.customer_id",
        invented="customer_id = customers.customer_id",
    ),
    "intersect": Truth(
        values="customer_id = orders.customer_id", influences="orders.customer_id customers.customer_id"
    ),
    "sorted_and_cut": Truth(values="order_id = orders.order_id", influences="orders.amount"),
    "star": Truth(values="customer_id = customers.customer_id\ncalled = customers.name\ncountry = customers.country"),
    "literal": Truth(values="order_id = orders.order_id", unsure="year"),
    "renamed": Truth(output="t_after", values="name = t_before.name"),
    "truncated": Truth(output="t_truncated", values="name = customers.name"),
    "view": Truth(values="part = t_saved.segment"),  # the view itself is not reported
    "local_checkpoint": Truth(values="order_id = orders.order_id", lost="order_id"),
    "through_pandas": Truth(values="order_id = orders.order_id", lost="order_id"),
    "to_rdd": Truth(values="next = TRANSFORMATION:orders.order_id", lost="next"),
    "stream_by_batches": Truth(values="order_id = orders.order_id", lost="order_id"),
    "strange_names": Truth(
        output="Größe & co; drop 100%/ü 1", values="Preis €; a.b = orders.amount\ngröße = orders.day"
    ),
}
"""By function. Not here: those that leave no table with columns (`failing_write`, `dropped`, `created`,
`stream_to_files`), which have tests of their own."""
