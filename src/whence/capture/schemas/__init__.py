"""Sources of table columns for the SQL reader: a file, dbt's artifacts, a live database (docs/how-to/sql.md).

`whence.capture.schemas.database` is imported by itself: it needs SQLAlchemy, which the extra `server` brings.
Whence's own store is another source, `whence.query.lookup.table_schemas`, in a layer above this package.
"""

from whence.capture.schemas.files import read_schema_file
from whence.capture.schemas.quoting import Tables, catalog_from

__all__ = ["Tables", "catalog_from", "read_schema_file"]
