"""Where the SQL reader gets the columns of tables from: a file, dbt's artifacts, a live database (docs/sql.md).

Whence's own store is one more such place, `whence.query.tables`: it lies above this package.
"""

from whence.capture.schemas.database import read_database
from whence.capture.schemas.spelling import Tables, catalog_from
from whence.capture.schemas.written import read_written

__all__ = ["Tables", "catalog_from", "read_database", "read_written"]
