"""The pipeline's rows are the store's tables, and its stages give them."""

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema
from sqlalchemy import BigInteger, Boolean, Integer, LargeBinary, SmallInteger, Table, Text

from whence.derive.pipeline import derive
from whence.derive.reading.schema import DERIVED, LISTS, READING_SCHEMA, ROW_SCHEMA, SCALARS, SHAPES, Shape
from whence.store.schema.columns import written_columns
from whence.store.schema.tables import FACTS, dirty_key

ARROW = {
    BigInteger: pa.int64(),
    Integer: pa.int32(),
    SmallInteger: pa.int16(),
    Text: pa.string(),
    Boolean: pa.bool_(),
    LargeBinary: pa.binary(),
}
CONTENT = {"field", "lineage_edge", "schema_body", "unreported_column"}
"""Tables whose rows come packed in the content of others."""

TABLES = [table for table in (*FACTS, dirty_key) if table.name not in CONTENT]


def types_of(shape: Shape) -> list[pa.DataType | None]:
    """The Arrow type of each column; None for a constant."""
    columns = (
        SCALARS | DERIVED | {f"{list_}.{name}": type_ for list_, of in LISTS.items() for name, type_ in of.items()}
    )
    return [columns[source] if isinstance(source, str) else None for source in shape.columns]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_rows_have_the_columns_of_their_table(table: Table) -> None:
    expected = [ARROW[type(column.type)] for column in written_columns(table)]
    for shape in SHAPES[table.name]:
        assert len(shape.columns) == len(expected)
        assert all(found in (None, type_) for found, type_ in zip(types_of(shape), expected, strict=True))


def test_there_are_rows_for_every_fact_table() -> None:
    assert set(SHAPES) == {table.name for table in TABLES}


def test_the_stages_end_in_the_named_schema(spark: SparkSession) -> None:
    frame = derive(spark.createDataFrame([], from_arrow_schema(READING_SCHEMA)))
    expected = from_arrow_schema(ROW_SCHEMA)
    assert [(field.name, field.dataType.simpleString()) for field in frame.schema] == [
        (field.name, field.dataType.simpleString()) for field in expected
    ]
