"""Names of files, tables and topics: as OpenLineage's naming classes give them, and normal forms for Whence."""

from pathlib import Path

import pytest
from openlineage.client.naming import dataset as official
from whence.openlineage.names.naming import normalise

from whence_client.events.datasets import Dataset
from whence_client.naming import name_file, name_table, name_table_of_jdbc, name_table_of_url, name_topic

FILES = {
    "s3a://lake//raw/users/": ("s3://lake", "raw/users"),
    "s3n://lake/a b.csv": ("s3://lake", "a b.csv"),
    "gs://b/k": ("gs://b", "k"),
    "gcs://b/k/": ("gs://b", "k"),
    "s3://lake": ("s3://lake", "/"),
    "s3://KEY:SECRET@lake/x": ("s3://lake", "x"),
    "abfs://c@acc.dfs.core.windows.net/raw/x": ("abfss://c@acc.dfs.core.windows.net", "raw/x"),
    "wasb://c@acc.blob.core.windows.net/x": ("wasbs://c@acc.blob.core.windows.net", "x"),
    "hdfs://nn:8020/user/x/": ("hdfs://nn:8020", "/user/x"),
    "file:///data/a.csv": ("file", "/data/a.csv"),
    "file:/data/a.csv": ("file", "/data/a.csv"),
    "file:///data/a%20b.csv": ("file", "/data/a b.csv"),
    "file://localhost/data/x": ("file", "/data/x"),
    "file://nas/data/x": ("file://nas", "/data/x"),
    "dbfs:/mnt/x": ("dbfs", "/mnt/x"),
    "/data//a/../b/": ("file", "/data/b"),
    "rel/x.csv": ("file", "/work dir/rel/x.csv"),
    "C:\\data\\x.csv": ("file", "C:/data/x.csv"),
    "https://bob:pw@host/a/x.csv?token=s": ("https://host", "/a/x.csv"),
}


@pytest.mark.parametrize("text", FILES)
def test_files(text: str) -> None:
    found = name_file(text, folder="/work dir")
    assert found.key == FILES[text]
    assert found.key == _normal(found.key)


def test_a_path_object_and_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert name_file(Path("a") / "b.csv").key == ("file", f"{tmp_path}/a/b.csv")


TABLES = [
    (name_table("postgresql", ("d", "s", "t"), host="h"), official.Postgres("h", "5432", "d", "s", "t")),
    (name_table("postgres", ("d", "s", "t"), host="h", port=6000), official.Postgres("h", "6000", "d", "s", "t")),
    (name_table("mysql", ("d", "t"), host="h"), official.MySQL("h", "3306", "d", "t")),
    (name_table("mariadb", ("d", "t"), host="h"), official.MySQL("h", "3306", "d", "t")),
    (name_table("oracle", ("x", "s", "t"), host="h"), official.Oracle("h", "1521", "x", "s", "t")),
    (name_table("hive", ("d", "t"), host="h"), official.Hive("h", "10000", "d", "t")),
    (name_table("trino", ("c", "s", "t"), host="h"), official.Trino("h", "8080", "c", "s", "t")),
    (name_table("teradata", ("d", "t"), host="h"), official.Teradata("h", "1025", "d", "t")),
    (name_table("cassandra", ("k", "t"), host="h"), official.Cassandra("h", "9042", "k", "t")),
    (name_table("crate", ("d", "s", "t"), host="h"), official.CrateDB("h", "4200", "d", "s", "t")),
    (name_table("db2", ("d", "s", "t"), host="h"), official.DB2("h", "50000", "d", "s", "t")),
    (name_table("oceanbase", ("d", "t"), host="h"), official.OceanBase("h", "2881", "d", "t")),
    (name_table("bigquery", ("p", "d", "t")), official.BigQuery("p", "d", "t")),
    (name_table("snowflake", ("d", "s", "t"), account="org-acc"), official.Snowflake("org", "acc", "d", "s", "t")),
    (name_table("athena", ("c", "d", "t"), region="r"), official.Athena("r", "c", "d", "t")),
    (name_table("glue", ("d", "t"), region="r", account="1"), official.AWSGlue("r", "1", "d", "t")),
    (name_table("redshift", ("d", "s", "t"), host="c.r"), official.Redshift("c", "r", "5439", "d", "s", "t")),
    (name_table("azurecosmos", ("d", "t"), host="h"), official.AzureCosmosDB("h", "d", "t")),
    (name_topic("h:9092", "t"), official.Kafka("h", "9092", "t")),
    (name_file("s3://b/k"), official.S3("b", "k")),
    (name_file("gs://b/k"), official.GCS("b", "k")),
    (name_file("hdfs://n:1/k"), official.HDFS("n", "1", "/k")),
    (name_file("/k"), official.LocalFileSystem("/k")),
    (name_file("file://h/k"), official.RemoteFileSystem("h", "/k")),
    (name_file("abfss://c@s.dfs.core.windows.net/k"), official.ABFSS("c", "s", "k")),
]


@pytest.mark.parametrize(("mine", "theirs"), TABLES, ids=[type(theirs).__name__ for _, theirs in TABLES])
def test_the_names_of_openlineage(mine: Dataset, theirs: official.DatasetNaming) -> None:
    assert mine.key == (theirs.get_namespace(), theirs.get_name())
    assert mine.key == _normal(mine.key)


URLS = {
    ("postgresql+psycopg://bob:pw@db/shop", "orders"): ("postgres://db:5432", "shop.public.orders"),
    ("postgresql://db:6543/shop", "sales.orders"): ("postgres://db:6543", "shop.sales.orders"),
    ("mysql+pymysql://u:p@db/shop", "orders"): ("mysql://db:3306", "shop.orders"),
    ("mssql+pyodbc://u:p@db/shop?driver=x", "orders"): ("mssql://db:1433", "shop.dbo.orders"),
    ("snowflake://u:p@org-acc/SHOP/PUBLIC?warehouse=w", "ORDERS"): ("snowflake://org-acc", "SHOP.PUBLIC.ORDERS"),
    ("bigquery://proj/sales", "orders"): ("bigquery", "proj.sales.orders"),
    ("bigquery://proj", "sales.orders"): ("bigquery", "proj.sales.orders"),
    ("duckdb:////data/shop.db", "orders"): ("duckdb:///data/shop.db", "shop.main.orders"),
    ("duckdb:///:memory:", "orders"): ("duckdb://:memory:", "memory.main.orders"),
    ("sqlite:////data/crm.db", "orders"): ("sqlite:///data/crm.db", "orders"),
    ("trino://u@h:8443/hive/sales", "orders"): ("trino://h:8443", "hive.sales.orders"),
    ("awsathena+rest://athena.eu-west-1.amazonaws.com:443/cat/sales", "orders"): (
        "awsathena://athena.eu-west-1.amazonaws.com",
        "cat.sales.orders",
    ),
    ("postgresql://[::1]:5432/shop", "o"): ("postgres://[::1]:5432", "shop.public.o"),
}


@pytest.mark.parametrize(("url", "table"), URLS)
def test_tables_of_a_url(url: str, table: str) -> None:
    found = name_table_of_url(url, table)
    assert found.key == URLS[url, table]
    assert found.key == _normal(found.key)


JDBC = {
    ("jdbc:sqlserver://db;databaseName=shop;user=u;password=pw", "orders"): ("mssql://db:1433", "shop.dbo.orders"),
    ("jdbc:sqlserver://db\\PROD:1444;database=shop", "[sales].[orders]"): ("mssql://db:1444", "shop.sales.orders"),
    ("jdbc:sqlserver://;serverName=db;databaseName=shop", "orders"): ("mssql://db:1433", "shop.dbo.orders"),
    ("jdbc:sqlserver://[::1]:1433;databaseName=shop", "orders"): ("mssql://[::1]:1433", "shop.dbo.orders"),
    ("jdbc:jtds:sqlserver://db:1433/shop;user=u", "orders"): ("mssql://db:1433", "shop.dbo.orders"),
    ("jdbc:oracle:thin:@//db:1522/shop", "HR.EMP"): ("oracle://db:1522", "shop.HR.EMP"),
    ("jdbc:oracle:thin:scott/tiger@db:1521:SHOP", "EMP"): ("oracle://db:1521", "SHOP.EMP"),
    (
        "jdbc:oracle:thin:@(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST=a)(PORT=1523))(ADDRESS=(HOST=b)(PORT=1521))"
        "(CONNECT_DATA=(SERVICE_NAME=shop)))",
        "EMP",
    ): ("oracle://a:1523", "shop.EMP"),
    ("jdbc:db2://db:50001/SHOP:user=u;password=pw;", "S.T"): ("db2://db:50001", "SHOP.S.T"),
    ("jdbc:derby:memory:shop;create=true;user=app;password=hunter2", "T"): ("derby://localhost", "memory:shop.T"),
    ("jdbc:derby://db:1527/shop;create=true", "T"): ("derby://db:1527", "shop.T"),
    ("jdbc:postgresql://u:p@a:5433,b:5432/shop?ssl=true", "orders"): ("postgres://a:5433", "shop.public.orders"),
    ("jdbc:postgresql://db/shop", '"Sales"."Orders"'): ("postgres://db:5432", "shop.Sales.Orders"),
    ("jdbc:postgresql:shop", "orders"): ("postgres://localhost:5432", "shop.public.orders"),
    ("jdbc:mysql:loadbalance://a:3306,b:3306/shop?user=u", "`orders`"): ("mysql://a:3306", "shop.orders"),
    ("jdbc:redshift:iam://c.x.eu-west-1.redshift.amazonaws.com:5439/dev", "t"): (
        "redshift://c.x.eu-west-1.redshift.amazonaws.com:5439",
        "dev.public.t",
    ),
    ("jdbc:snowflake://org-acct.snowflakecomputing.com/?db=D&schema=S&warehouse=w", "T"): (
        "snowflake://org-acct",
        "D.S.T",
    ),
    ("jdbc:hive2://db:10000/shop;ssl=true", "t"): ("hive://db:10000", "shop.t"),
    ("jdbc:trino://db:8443/hive/web?SSL=true", "t"): ("trino://db:8443", "hive.web.t"),
    ("jdbc:teradata://db/DATABASE=sales,DBS_PORT=1026", "t"): ("teradata://db:1026", "sales.t"),
    ("jdbc:bigquery://https://www.googleapis.com/bigquery/v2:443;ProjectId=p;DefaultDataset=d", "t"): (
        "bigquery",
        "p.d.t",
    ),
    ("jdbc:sqlite:/data/crm.db", "t"): ("sqlite:///data/crm.db", "t"),
}


@pytest.mark.parametrize(("url", "table"), JDBC)
def test_tables_of_a_jdbc_url(url: str, table: str) -> None:
    found = name_table_of_jdbc(url, table)
    assert found is not None
    assert found.key == JDBC[url, table]


@pytest.mark.parametrize("url", ["jdbc:oracle:thin:@shop_high", "nonsense", "jdbc:sqlserver://;databaseName=shop", ""])
def test_a_jdbc_url_without_a_server_names_nothing(url: str) -> None:
    assert name_table_of_jdbc(url, "orders") is None


def _normal(key: tuple[str, str]) -> tuple[str, str]:
    name = normalise(*key)
    return name.namespace, name.name
