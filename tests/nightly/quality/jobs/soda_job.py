"""Verifies two contracts with Soda; the last argument is a file that gets the results, as far as they are data."""

import dataclasses
import json
import sys
from typing import Any

import duckdb
from soda_core.contracts import verify_contract_locally

with duckdb.connect("prod shop.duckdb") as shop:
    shop.execute("CREATE TABLE orders (id INTEGER, customer VARCHAR, amount DOUBLE)")
    shop.execute("INSERT INTO orders VALUES (1, 'smith-4711', 2.5), (2, NULL, -3), (3, 'jones-4711', 4.5)")
    shop.execute("CREATE TABLE staged AS FROM orders WHERE id = 1")
files = {
    "shop.yml": "type: duckdb\nname: shop\nconnection:\n  database: prod shop.duckdb\n",
    "staged.yml": "dataset: shop/main/staged\ncolumns:\n  - name: id\n    checks:\n      - missing:\n",
    "orders.yml": """dataset: shop/main/orders
columns:
  - name: id
    data_type: integer
    checks:
      - duplicate:
  - name: customer
    checks:
      - missing: {threshold: {level: warn, must_be: 0}}
      - invalid: {valid_values: [nobody]}
  - name: amount
    checks:
      - aggregate: {function: avg, threshold: {must_be_greater_than: 0}}
      - aggregate: {qualifier: most, function: max, threshold: {must_be_less_than: 4}}
      - failed_rows: {name: no negative amounts, expression: amount < 0}
checks:
  - schema:
  - row_count:
  - metric: {name: rich, query: select max(amount) from orders, threshold: {must_be: 0}}
""",
}
for name, text in files.items():
    with open(name, "w") as made:
        made.write(text)
sessions = [
    verify_contract_locally(data_source_file_path="shop.yml", contract_file_path=one)
    for one in ("orders.yml", "staged.yml")
]
results = [one for session in sessions for one in session.contract_verification_results]


def plain(one: Any) -> Any:
    if dataclasses.is_dataclass(one) and not isinstance(one, type):
        return {key: plain(value) for key, value in vars(one).items() if key not in ("location", "source_content_str")}
    return [plain(each) for each in one] if isinstance(one, list) else getattr(one, "name", one)


def document(result: Any) -> dict[str, Any]:
    checks = [
        {
            "check": plain(one.check),
            "outcome": one.outcome.name,
            "threshold_value": one.threshold_value,
            "diagnostic_metric_values": one.diagnostic_metric_values,
        }
        for one in result.check_results
    ]
    times = {key: getattr(result, key).isoformat() for key in ("started_timestamp", "ended_timestamp")}
    return {**times, "check_collection": plain(result.check_collection), "check_results": checks}


if len(sys.argv) > 1:
    with open(sys.argv[1], "w") as written:
        json.dump([document(one) for one in results], written, indent=1, sort_keys=True)
sys.stdout.write(f"{[one.status.name for one in results]}\n")
