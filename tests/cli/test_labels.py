"""Short names stay different from each other."""

from hypothesis import given
from hypothesis import strategies as st

from whence.cli.labels import label
from whence.model.names import DatasetName, FieldName, JobName

parts = st.lists(st.sampled_from(("a", "b", "orders", "x.csv")), min_size=1, max_size=4)
datasets = st.builds(
    DatasetName, st.sampled_from(("file", "s3://lake", "db")), st.one_of(parts.map("/".join), parts.map(".".join))
)


def test_labels_are_short() -> None:
    names = {
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


@given(st.sets(datasets, max_size=12))
def test_two_datasets_never_share_a_label(names: set[DatasetName]) -> None:
    labels = label(names)
    assert len({labels.of(name) for name in names}) == len(names)
