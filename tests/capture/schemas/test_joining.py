"""Two catalogs as one: the nearer one wins under whatever end of a name it knows a table."""

from hypothesis import given
from hypothesis import strategies as st

from whence.capture.sql import Catalog, Table

NAMES = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=3).map(".".join)
COLUMNS = st.dictionaries(NAMES, st.lists(st.sampled_from(["x", "y", "z"]), min_size=1, unique=True), max_size=5)


def catalog(columns: dict[str, list[str]]) -> Catalog:
    return Catalog.from_columns(columns, "duckdb")


@given(COLUMNS, COLUMNS, NAMES)
def test_the_nearer_one_answers_first(near: dict[str, list[str]], far: dict[str, list[str]], name: str) -> None:
    both, table = catalog(near).with_missing_tables(catalog(far)), Table(tuple(name.split(".")))
    if name in near:
        assert both.find(table) == tuple(near[name])
    assert set(catalog(near).tables.items()) <= set(both.tables.items())
    if name in far and catalog(near).find(table) is None:
        assert both.find(table) == tuple(far[name])
