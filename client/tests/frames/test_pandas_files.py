"""The columns that pandas reads from files and writes to them, under the names that the files have."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from client.tests.frames.sessions import Kept, capturing, describe

from whence_client.frames.pandas.hooks import PandasCapture

WRITES = {
    # some columns, under other names
    'o.to_csv("out.csv", index=False, columns=["amount", "id"])': "amount <- orders.amount|id <- orders.id",
    'o[["id", "amount"]].to_csv("out.csv", index=False, header=["a", "b"])': "a <- orders.id|b <- orders.amount",
    # a named index is a column
    'o.set_index("id")[["amount"]].to_csv("out.csv")': "id <- orders.id|amount <- orders.amount",
    'o.set_index("id")[["amount"]].to_csv("out.csv", index_label="k")': "k <- orders.id|amount <- orders.amount",
    'o.set_index("id")[["amount"]].to_csv("out.csv", index=False)': "amount <- orders.amount",
    'o.set_index("id")["amount"].to_csv("out.csv")': "id <- orders.id|amount <- orders.amount",
    'o.set_index(["id", "region"])[["amount"]].to_parquet("out.parquet")': "id <- orders.id|region <- orders.region"
    "|amount <- orders.amount",
    'o.set_index("id")[["amount"]].to_parquet("out.parquet", index=False)': "amount <- orders.amount",
    'o.groupby("region")["amount"].sum().to_frame().to_parquet("out.parquet")': "region <- orders.region"
    "|amount <- orders.amount|* <- orders.region:GROUP_BY",
    'o.set_index("id")[["amount"]].to_json("out.json")': "amount <- orders.amount",
    'o.set_index("id")[["amount"]].to_json("out.json", orient="table")': "id <- orders.id|amount <- orders.amount",
    # numbers of rows are one only where the writer names them
    'o[["amount"]].to_csv("out.csv")': "amount <- orders.amount",
    'o[o["id"] > 1][["amount"]].to_parquet("out.parquet")': "amount <- orders.amount|* <- orders.id:FILTER",
    'o[["amount"]].to_sql("t", "sqlite:///x.db")': "index <- ! no_source|amount <- orders.amount",
    'o.set_index("id")[["amount"]].to_sql("t", "sqlite:///x.db")': "id <- orders.id|amount <- orders.amount",
    # names that the job gives in the place of those in the file
    'pd.read_csv("orders.csv", header=0, names=["a", "b", "c"]).to_csv("out.csv", index=False)': "a <- orders.id"
    "|b <- orders.amount|c <- orders.region",
    'pd.read_csv("orders.csv", header=0, names=["a", "b", "c"], usecols=["c"]).to_csv("out.csv", index=False)': "c <- "
    "orders.region",
    'pd.read_csv("orders.csv", header=0, names=["a", "b"]).to_csv("out.csv", index=False)': "a <- ! not_captured"
    "|b <- ! not_captured",
    'pd.read_csv("orders.csv", header=None, names=["a", "b", "c"])[["a"]].to_csv("out.csv", index=False)': "a <- "
    "orders.a",
}


@pytest.fixture
def session() -> Iterator[Kept]:
    with capturing(PandasCapture()) as made:
        yield made


@pytest.mark.parametrize("code", WRITES)
def test_columns_have_the_names_in_the_file(
    code: str, session: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("orders.csv").write_text("id,amount,region\n1,1.5,n\n2,3,s\n")
    eval(code, {"pd": pd, "o": pd.read_csv("orders.csv")})
    assert describe(session.events[-1]).splitlines() == WRITES[code].split("|")
    assert session.guard("pandas").counts == {}
