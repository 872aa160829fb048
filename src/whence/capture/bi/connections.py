"""Connections of BI tools: in which database their tables are, named as other producers name them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from whence.capture.schemas.files import read_schema_file
from whence.capture.sql import Catalog
from whence.capture.sql.dialects.dialects import dialect_of
from whence.capture.sql.events.naming import Naming
from whence.capture.sql.names.names import normalize_case
from whence.errors import ArtifactError, DialectError, SchemaError
from whence_client.naming import name_table_of_url

_EXAMPLE = "warehouse: postgresql://db:5432/shop/public"


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """A database: the dialect of its SQL, and the names of its tables. `columns` are those of its tables, if known."""

    dialect: str
    naming: Naming
    columns: Catalog | None = None

    def quote(self, name: str) -> str:
        """A name, quoted as the dialect does it."""
        mark = dialect_of(self.dialect).quotes[0]
        return f"{mark}{name.replace(mark, mark * 2)}{mark}"


def connection_at(url: str, schema: str = "") -> Connection:
    """The database at a URL as SQLAlchemy writes it. Credentials are dropped. Raises ValueError.

    >>> connection_at("snowflake://acme-prod/shop/sales").naming.defaults
    ('SHOP', 'SALES')
    """
    scheme = urlsplit(url).scheme.partition("+")[0]
    if not scheme or "://" not in url:
        raise ValueError(f"no URL of a database, such as {_EXAMPLE.partition(' ')[2]}")
    dialect = dialect_name(scheme)
    try:
        named = name_table_of_url(url, "t", schema=schema)
    except ValueError as error:
        raise ValueError(f"no URL of a database: {error}") from None
    return connect(dialect, named.namespace, tuple(named.name.split(".")[:-1]))


def connect(dialect: str, namespace: str, defaults: tuple[str, ...]) -> Connection:
    """The database of a namespace. `defaults` complete the names of tables that are not qualified."""
    rules = dialect_of(dialect)
    if rules.tables == "upper":  # settings of a session are names without quotes
        defaults = tuple(normalize_case(rules.tables, one, quoted=False) for one in defaults)
    return Connection(dialect=dialect, naming=Naming(namespace=namespace, defaults=defaults))


def read_connections(path: Path, columns: str = "") -> Mapping[str, Connection]:
    """The databases in a file of YAML, by the names of connections. Raises ValueError with a sentence.

    A value is a URL. Its path is the database and the schema of names that are not qualified. `columns` is a file with
    the columns of tables.
    """
    try:
        document = yaml.safe_load(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ValueError(f"{path} cannot be read as YAML: {error}") from None
    if not isinstance(document, dict) or not all(isinstance(one, str) for one in document.values()):
        raise ValueError(f"{path} must have a line for each connection, such as {_EXAMPLE}")
    return {
        str(name): _with_columns(_named_connection(path, str(name), url), columns) for name, url in document.items()
    }


def dialect_name(system: str) -> str:
    """The dialect of a system; the generic one of a system that has none.

    >>> dialect_name("postgresql"), dialect_name("exasol")
    ('postgres', 'generic')
    """
    try:
        return dialect_of(system).name
    except DialectError:
        return "generic"


def _with_columns(connection: Connection, columns: str) -> Connection:
    try:
        return (
            replace(connection, columns=read_schema_file(Path(columns), connection.dialect)) if columns else connection
        )
    except (ArtifactError, SchemaError) as error:
        raise ValueError(str(error)) from None


def _named_connection(path: Path, name: str, url: str) -> Connection:
    try:
        return connection_at(url)
    except ValueError as error:
        raise ValueError(f"{path}: {name} is {error}") from None
