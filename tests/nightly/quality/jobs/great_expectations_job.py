"""Checks orders of a database, of a file and of frames with Great Expectations; the last argument is a file that gets
the results as Great Expectations writes them, rows and all.
"""

import json
import os
import sqlite3
import sys
from typing import Any

import great_expectations as gx
import great_expectations.expectations as expect
import pandas as pd

ROWS = [(1, "smith-4711", 2.5), (2, None, -3.0), (3, "jones-4711", 4.5)]
with sqlite3.connect("prod-shop.db") as shop:
    shop.execute("CREATE TABLE orders (id int, customer text, amount real)")
    shop.executemany("INSERT INTO orders VALUES (?, ?, ?)", ROWS)
pd.DataFrame(ROWS, columns=["id", "customer", "amount"]).to_csv("orders ü.csv", index=False)

context = gx.get_context(mode="ephemeral")
suite = context.suites.add(gx.ExpectationSuite("orders are sound"))
for one in (
    expect.ExpectColumnValuesToNotBeNull(column="customer", severity="warning", description="somebody pays"),
    expect.ExpectColumnValuesToBeBetween(column="amount", min_value=0, mostly=0.5),
    expect.ExpectColumnMaxToBeBetween(column="amount", max_value=3),
    expect.ExpectColumnValuesToBeInSet(column="customer", value_set=["nobody"], severity="info"),
    expect.ExpectColumnUniqueValueCountToBeBetween(column="id", min_value=3),
    expect.ExpectTableRowCountToBeBetween(min_value=1),
    expect.ExpectColumnMeanToBeBetween(column="gone", min_value=3),
    expect.ExpectCompoundColumnsToBeUnique(column_list=["amount", "id"]),
):
    suite.add_expectation(one)

source = context.data_sources.add_sqlite("shop", connection_string="sqlite:///prod-shop.db")
table = source.add_table_asset("orders", table_name="orders").add_batch_definition_whole_table("all")
lake = context.data_sources.add_pandas_filesystem("lake", base_directory=".")
file = lake.add_csv_asset("orders").add_batch_definition_path("today", path="orders ü.csv")
frames = context.data_sources.add_pandas("frames")
read, cleaned = (
    frames.add_dataframe_asset(one).add_batch_definition_whole_dataframe("all") for one in ("read", "cleaned")
)


def define(name: str, data: Any) -> Any:
    return context.validation_definitions.add(gx.ValidationDefinition(name=name, data=data, suite=suite))


definitions = {"table": define("prod.orders", table), "file": define("orders of today", file)}
actions = []
if os.environ.get("WITH_ACTION"):
    from whence_client.quality.action import WhenceAction

    actions.append(WhenceAction())
checkpoint = context.checkpoints.add(
    gx.Checkpoint(name="nightly", validation_definitions=list(definitions.values()), actions=actions)
)
results = dict(zip(definitions, checkpoint.run().run_results.values(), strict=True))
orders = pd.read_csv("orders ü.csv")
results["frame"] = define("orders as read", read).run(batch_parameters={"dataframe": orders})
paid = orders[orders["amount"] > 0].rename(columns={"customer": "payer"})
results["cleaned"] = define("orders cleaned", cleaned).run(batch_parameters={"dataframe": paid.assign(customer="x")})


def without_paths(one: Any) -> Any:
    """A result without the paths of this machine."""
    if isinstance(one, dict):
        return {key: without_paths(each) for key, each in one.items() if key != "exception_traceback"}
    return [without_paths(each) for each in one] if isinstance(one, list) else one


if len(sys.argv) > 1:
    documents = {key: without_paths(one.to_json_dict()) for key, one in results.items()}
    with open(sys.argv[1], "w") as written:
        json.dump(documents, written, indent=1, sort_keys=True)
sys.stdout.write(f"{sorted(key for key, one in results.items() if not one.success)}\n")
