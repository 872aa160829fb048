"""Short names stay different from each other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.cli.output.labels import label, run_of
from whence.client.values.graph import AssertingEvent, Evidence, RunSeen
from whence.model.names import DatasetName, FieldName, JobName, Node

parts = st.lists(st.sampled_from(("a", "b", "orders", "x.csv")), min_size=1, max_size=4)
datasets = st.builds(
    DatasetName, st.sampled_from(("file", "s3://lake", "db")), st.one_of(parts.map("/".join), parts.map(".".join))
)


def test_labels_are_short() -> None:
    names: dict[Node, str] = {
        DatasetName("file", "/tmp/demo/raw/usage_logs.csv"): "usage_logs",
        DatasetName("postgres://db:5432", "shop.gold.daily_revenue"): "gold.daily_revenue",
        DatasetName("s3://lake", "a/orders"): "a/orders",
        DatasetName("s3://lake", "b/orders"): "b/orders",
        DatasetName("kafka://broker:9092", "clicks"): "clicks",
        JobName("spark", "nightly"): "spark/nightly",
        JobName("airflow", "nightly"): "airflow/nightly",
    }
    labels = label(names)
    assert {name: labels.of(name) for name in names} == names
    assert labels.of(FieldName(DatasetName("kafka://broker:9092", "clicks"), "user.id")) == "clicks.user.id"


def test_topics_of_one_name_are_told_apart_by_their_servers() -> None:
    names = [DatasetName(f"kafka://127.0.0.1:{port}", "orders") for port in (9092, 9093)]
    labels = label(names)
    assert [labels.of(one) for one in names] == [f"kafka://127.0.0.1:{port}/orders" for port in (9092, 9093)]


def test_files_that_differ_by_their_extensions_keep_them() -> None:
    names = [DatasetName("file", f"/lake/{name}") for name in ("orders.csv", "orders.parquet", "rates.csv")]
    labels = label(names)
    assert [labels.of(one) for one in names] == ["orders.csv", "orders.parquet", "rates"]


@given(st.sets(datasets, max_size=12))
def test_two_datasets_never_share_a_label(names: set[DatasetName]) -> None:
    labels = label(names)
    assert len({labels.of(name) for name in names}) == len(names)


def test_long_job_names_lose_their_middle_where_that_leaves_them_different() -> None:
    command = "execute_insert_into_hadoop_fs_relation_command"
    short = JobName("demo", f"churn_features.{command}.gold_features")
    alike = [JobName("demo", f"churn_clean.{one}_{command}.silver_tickets") for one in ("a", "b")]
    labels = label([short, *alike], "...")
    assert labels.of(short) == "churn_features...gold_features"
    assert [labels.of(one) for one in alike] == [one.name for one in alike]
    assert label([short]).of(short) == "churn_features…gold_features"


@pytest.mark.parametrize(
    ("run_id", "shown"),
    [
        ("44444444-4444-4444-8444-000000000001", "run 44444444 failed, 2 min ago"),
        ("01a1fc57-0a0b-7c0d-8e0f-0123456789ab", "run 456789ab failed, 2 min ago"),
    ],
)
def test_a_run_is_known_by_the_part_of_its_id_that_is_its_own(run_id: str, shown: str) -> None:
    epoch = "1970-01-01T00:00:00Z"
    event = AssertingEvent(time=epoch, event="00", position=16, producer="p")
    run = RunSeen(
        run=f"run:{run_id}",
        job="job:n:j",
        state="FAIL",
        started_at=None,
        ended_at=epoch,
        last_seen=epoch,
        said_at=epoch,
    )
    evidence = Evidence(digest="00", origin="inferred", reader=None, first_seen=event, last_seen=event, runs=(run,))
    assert run_of([evidence], now=120_000_000) == shown
