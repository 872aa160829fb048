"""The pipeline's rows are the store's tables, and its stages give them."""

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema
from sqlalchemy import BigInteger, Boolean, Integer, LargeBinary, SmallInteger, Text

from whence.derive.pipeline import derive
from whence.derive.schema import PACKED, READING_SCHEMA, ROW_SCHEMA, ROWS
from whence.store.tables import FACTS, touched

ARROW = {
    BigInteger: pa.int64(),
    LargeBinary: pa.binary(),
    Integer: pa.int32(),
    SmallInteger: pa.int16(),
    Text: pa.string(),
    Boolean: pa.bool_(),
}


CONTENT = {"field", "lineage_edge", "schema_body"}
"""Tables whose rows come packed in the content of others."""

TABLES = [table for table in (*FACTS, touched) if table.name not in CONTENT]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_rows_have_the_columns_of_their_table(table: object) -> None:
    columns = {column.name: ARROW[type(column.type)] for column in table.columns}  # type: ignore[attr-defined]  # a table
    plain = [(name, type_) for name, type_ in ROWS[table.name].items() if name != PACKED.get(table.name)]  # type: ignore[attr-defined]  # a table
    assert plain == list(columns.items())


def test_there_is_a_row_for_every_fact_table() -> None:
    assert set(ROWS) == {table.name for table in TABLES}


def test_the_stages_end_in_the_named_schema(spark: SparkSession) -> None:
    frame = derive(spark.createDataFrame([], from_arrow_schema(READING_SCHEMA)))
    expected = from_arrow_schema(ROW_SCHEMA)
    assert [(field.name, field.dataType.simpleString()) for field in frame.schema] == [
        (field.name, field.dataType.simpleString()) for field in expected
    ]
