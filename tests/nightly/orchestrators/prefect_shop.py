"""The flows of a shop in prod, staging and dev: assets, subflows, a retry, failures, a killed and a canceled run.

`test_recorded.py` of tests/capture/prefect has, written from this text, what is known of them.
"""

import os
import sys
import time
from pathlib import Path
from typing import Any

from prefect import flow, task
from prefect.assets import Asset, AssetProperties, add_asset_metadata, materialize

SECRET = "hush-4711"


def raw_of(stage: str) -> str:
    return f"s3://lake/{stage}/raw-ü+1.csv"


def define(stage: str) -> dict[str, Any]:
    raw, table = raw_of(stage), f"postgres://db:5432/shop/{stage}/orders"
    described = Asset(
        key=table,
        properties=AssetProperties(name="orders", description="What was sold; <b>'\"", owners=["ann", "team; <b>"]),
    )

    @task
    def fetch() -> list[int]:
        return [1, 2]

    @materialize(raw, asset_deps=[f"kafka://broker:9092/{stage}.feed"], tags=["nightly"])
    def load(rows: list[int]) -> list[int]:
        add_asset_metadata(raw, {"rows": len(rows), "token": SECRET, "preview": "ann, 3"})
        return rows

    @materialize(described)
    def store(rows: list[int]) -> list[int]:
        return rows

    @materialize(f"s3://lake/{stage}/top", f"dashboard://{stage}/top", asset_deps=[table])
    def publish() -> None:
        """Two assets; a dashboard is no place of data."""

    attempts: list[int] = []

    @task(retries=1)
    def second_try() -> None:
        attempts.append(1)
        if len(attempts) == 1:
            raise RuntimeError("not yet")

    @flow(name=f"{stage}-report")
    def report() -> None:
        publish()

    @flow(name=f"{stage}-daily", description=f"What {stage} sold; <b>", version="v7")
    def daily(day: str = "2026-11-20", token: str = SECRET) -> None:
        second_try()
        store(load(fetch()))
        report()

    @materialize(f"s3://lake/{stage}/never", asset_deps=[table])
    def never() -> None:
        raise ValueError(f"kaput: password={SECRET}")

    @flow(name=f"{stage}-broken")
    def broken() -> None:
        never()

    @materialize(f"s3://lake/{stage}/killed", asset_deps=[table])
    def waits() -> None:
        Path(os.environ["SHOP_STARTED"]).touch()
        while True:
            time.sleep(0.1)

    @flow(name=f"{stage}-endless")
    def endless() -> None:
        waits()

    return {"daily": daily, "broken": broken, "endless": endless}


prod_daily = define("prod")["daily"]


if __name__ == "__main__":
    _, stage, name = sys.argv
    define(stage)[name]()
