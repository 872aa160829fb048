"""The assets of a shop in prod, staging and dev: tables, files, partitions, columns, checks, retries and failures.

`test_recorded.py` of tests/capture/dagster has, written from this text, what is known of them.
"""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
from dagster_duckdb_pandas import DuckDBPandasIOManager

SECRET = "hush-4711"
LAKE = Path(os.environ.get("SHOP_LAKE", "/lake"))
DAYS = dg.StaticPartitionsDefinition(["2026-11-20", "2026-11-21"])
COLUMNS = (("id", "int"), ("total", "int", "paid; <b>"), ("rank", "int"))
HOSTILE = "What %s sold; <b>'\" \u202e\n" + "long " * 300


class Load(dg.Config):  # type: ignore[misc]  # Dagster is in an environment of its own
    """The configuration of `raw`."""

    day: str = "2026-11-20"
    token: str = SECRET


def make(stage: str) -> dict[str, Any]:
    folder = LAKE / stage
    raw_file = folder / "raw ü.csv"
    key = lambda name: dg.AssetKey([stage, name])  # noqa: E731
    feed = dg.AssetSpec(key("feed"), metadata={"dagster/uri": f"kafka://broker:9092/{stage}.feed"})

    @dg.asset(
        key=key("raw"),
        deps=[feed],
        description=HOSTILE % stage,
        owners=["team:shop", "ann@example.com"],
        tags={"tier": "gold"},
        group_name="sales",
        kinds={"csv"},
        code_version="v1",
        metadata={"dagster/uri": f"file://{folder}/raw%20%C3%BC.csv"},
    )
    def raw(context: dg.AssetExecutionContext, config: Load) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        pd.DataFrame({"id": [1, 2], "amount": [3, 4], "price": [5, 6]}).to_csv(raw_file, index=False)
        context.add_output_metadata({"dagster/row_count": 2, "preview": dg.MetadataValue.md("| ann | 3 |")})

    @dg.asset(
        key=key("orders"),
        deps=[raw],
        io_manager_key=f"{stage}_duckdb",
        check_specs=[dg.AssetCheckSpec("few", asset=key("orders"), description="no more than ten")],
    )
    def orders(context: dg.AssetExecutionContext) -> Iterator[Any]:
        frame = pd.read_csv(raw_file)
        frame = pd.DataFrame({"id": frame["id"], "total": frame["amount"] * frame["price"], "rank": [1, 2]})
        source = lambda name: dg.TableColumnDep(key("raw"), name)  # noqa: E731
        lineage = dg.TableColumnLineage({"id": [source("id")], "total": [source("amount"), source("price")]})
        columns = [
            dg.TableColumn("id", "int"),
            dg.TableColumn("total", "int", "paid; <b>"),
            dg.TableColumn("rank", "int"),
        ]
        metadata = {
            "dagster/row_count": 2,
            "dagster/column_lineage": lineage,
            "dagster/column_schema": dg.TableSchema(columns),
        }
        yield dg.Output(frame, metadata=metadata)
        yield dg.AssetCheckResult(passed=True, metadata={"rows": 2})

    @dg.asset_check(asset=orders)
    def no_nulls() -> dg.AssetCheckResult:
        return dg.AssetCheckResult(
            passed=False, severity=dg.AssetCheckSeverity.WARN, metadata={"nulls": 3, "who": "ann"}
        )

    table = f"postgresql://ann:{SECRET}@db/shop/{stage}/flop"

    @dg.multi_asset(
        name=f"{stage}_ends",
        specs=[
            dg.AssetSpec(key("top"), deps=[orders], metadata={"dagster/uri": f"s3://shop/{stage}/top; drop 1"}),
            dg.AssetSpec(key("flop"), deps=[raw], metadata={"dagster/uri": table}),
        ],
    )
    def ends() -> Iterator[Any]:
        for name in ("top", "flop"):
            yield dg.MaterializeResult(asset_key=key(name))

    @dg.asset(key=key("report"), deps=[key("top")])
    def report() -> None:
        """Nobody says where it is."""

    @dg.asset(key=key("retried"), deps=[orders], retry_policy=dg.RetryPolicy(max_retries=1))
    def retried(context: dg.AssetExecutionContext) -> dg.MaterializeResult[Any]:
        if context.retry_number == 0:
            raise RuntimeError("not yet")
        return dg.MaterializeResult(metadata={"path": dg.MetadataValue.path(str(folder / "retried.csv"))})

    @dg.asset(key=key("days"), partitions_def=DAYS, deps=[orders])
    def days(context: dg.AssetExecutionContext) -> int:
        return len(context.partition_key)

    @dg.asset(key=key("never"), deps=[orders], metadata={"dagster/uri": f"file://{folder}/never.csv"})
    def never() -> None:
        raise ValueError(f"kaput: password={SECRET}")

    @dg.asset(key=key("killed"), deps=[orders])
    def killed() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    @dg.asset(key=key("endless"), deps=[orders])
    def endless() -> None:
        while not Path(os.environ["SHOP_RELEASE"]).exists():
            time.sleep(0.2)

    @dg.observable_source_asset(key=key("vendor"), metadata={"dagster/uri": f"gs://vendor/{stage}"})
    def vendor() -> dg.ObserveResult:
        return dg.ObserveResult(data_version=dg.DataVersion("7"), metadata={"files": 4})

    @dg.op(out=dg.DynamicOut(), name=f"{stage}_split")
    def split() -> Iterator[Any]:
        for name in ("a", "b"):
            yield dg.DynamicOutput(name, mapping_key=name)

    @dg.op(name=f"{stage}_store")
    def store(context: dg.OpExecutionContext, name: str) -> None:
        place = dg.MetadataValue.path(f"{folder}/{name}.bin")
        context.log_event(dg.AssetMaterialization([stage, f"part_{name}"], metadata={"path": place}))

    @dg.job(name=f"{stage}_export", tags={"squad": "ops; <b>"})
    def export() -> None:
        split().map(store)

    chosen = dg.AssetSelection.assets(raw, orders, ends, report, retried)
    several = dg.multiprocess_executor.configured({"max_concurrent": 1})
    return {
        "assets": [feed, raw, orders, ends, report, retried, days, never, killed, endless, vendor],
        "asset_checks": [no_nulls],
        "jobs": [
            dg.define_asset_job(f"{stage}_daily", chosen, tags={"squad": "sales"}),
            dg.define_asset_job(f"{stage}_broken", dg.AssetSelection.assets(never, killed), executor_def=several),
            export,
        ],
        "resources": {f"{stage}_duckdb": DuckDBPandasIOManager(database=str(folder / "shop.duckdb"), schema="sales")},
    }


def define(*stages: str) -> dg.Definitions:
    """The definitions of some stages in one code location."""
    made = [make(stage) for stage in stages]
    listed = {name: [one for stage in made for one in stage[name]] for name in ("assets", "asset_checks", "jobs")}
    resources = {name: one for stage in made for name, one in stage["resources"].items()}
    return dg.Definitions(**listed, resources=resources, executor=dg.in_process_executor)


shop = define("prod", "staging")
lab = define("dev")
