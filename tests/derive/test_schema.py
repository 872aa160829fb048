"""The pipeline's rows are the store's tables, and its stages give them."""

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema
from sqlalchemy import BigInteger, Boolean, Integer, SmallInteger, Text

from whence.derive.pipeline import derive
from whence.derive.schema import READING_SCHEMA, ROW_SCHEMA, ROWS
from whence.store.tables import FACTS, touched

ARROW = {BigInteger: pa.int64(), Integer: pa.int32(), SmallInteger: pa.int16(), Text: pa.string(), Boolean: pa.bool_()}


@pytest.mark.parametrize("table", [*FACTS, touched], ids=lambda table: table.name)
def test_rows_have_the_columns_of_their_table(table: object) -> None:
    columns = {column.name: ARROW[type(column.type)] for column in table.columns}  # type: ignore[attr-defined]  # a table
    assert list(ROWS[table.name].items()) == list(columns.items())  # type: ignore[attr-defined]  # a table


def test_there_is_a_row_for_every_fact_table() -> None:
    assert set(ROWS) == {table.name for table in FACTS} | {"touched"}


def test_the_stages_end_in_the_named_schema(spark: SparkSession) -> None:
    frame = derive(spark.createDataFrame([], from_arrow_schema(READING_SCHEMA)))
    expected = from_arrow_schema(ROW_SCHEMA)
    assert [(field.name, field.dataType.simpleString()) for field in frame.schema] == [
        (field.name, field.dataType.simpleString()) for field in expected
    ]
