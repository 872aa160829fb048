"""Assets as datasets: by the URI, table or path that their metadata names, as the other captures name what is there.

A materialization tells more than a definition, which is that of today. What names no place is known by its key alone.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from whence.capture.dagster.metadata import Metadata, metadata_of, pairs
from whence.capture.dagster.records import NO_ASSET, Asset, Key, text_of
from whence.capture.polling.uris import name_uri
from whence.openlineage.json.wire import Json
from whence_client.captures import Naming
from whence_client.events.datasets import Dataset
from whence_client.naming.files import is_location

URIS, TABLES, PATHS = ("dagster/uri",), ("dagster/table_name", "dagster/relation_identifier"), ("path", "uri")
_KIND, _KIND_TAG = "dagster/storage_kind", "dagster/kind/"
_EMBEDDED = frozenset(("duckdb", "sqlite"))
_SYSTEMS = {"postgresql": "postgres", "sqlserver": "mssql", "mariadb": "mysql"}
_NO_PLACE = "neither dagster/uri, dagster/table_name nor a path says where it is; it is known by its key"

_STORAGES = frozenset(
    (
        *("athena", "bigquery", "clickhouse", "databricks", "duckdb", "mssql", "mysql", "oracle"),
        *("postgres", "redshift", "snowflake", "sqlite", "trino"),
    )
)
"""The kinds of storage among the kinds of an asset, which name libraries too, such as pandas."""

Databases = Mapping[str, str]
"""The URLs of databases, by system: `{"snowflake": "snowflake://org-account"}`."""


@dataclass(frozen=True, slots=True)
class AssetNames:
    """Names the assets of one record. `gaps` collects why assets have no name of a place, by asset."""

    assets: Mapping[Key, Asset]
    naming: Naming
    databases: Databases
    gaps: dict[str, str] = field(default_factory=dict)

    def name(self, key: Key, event: Json | None = None) -> Dataset:
        """The dataset of an asset at one of its events; at the last one that is known, if none is given."""
        asset = self.assets.get(key, NO_ASSET)
        event = asset.event if event is None else event
        reasons: list[str] = []
        for found in self._places(event, asset, reasons):
            return found
        self.gaps[f"asset {text_of(key)}"] = f"asset {text_of(key)}: {next(iter(reasons), _NO_PLACE)}"
        return Dataset(self.naming.instance, f"assets/{text_of(key)}")

    def _places(self, event: Json, asset: Asset, reasons: list[str]) -> Iterator[Dataset]:
        metadata = (metadata_of(event), metadata_of(asset.definition))
        for one in metadata:
            if (uri := one.text(*URIS)) and (found := self._at(uri, "")):
                yield found
        for one in metadata:
            if table := one.text(*TABLES):
                kind = next(filter(None, map(_kind, metadata)), "") or _kind_of_tags(asset.definition)
                relation = name_relation(table, kind, self.databases, self.naming)
                if isinstance(relation, Dataset):
                    yield relation
                else:
                    reasons.append(relation)
        for one in metadata:
            if (path := one.text(*PATHS)) and (found := self._at(path, str(event.get("partition") or ""))):
                yield found

    def _at(self, place: str, partition: str) -> Dataset | None:
        if "://" in place and not place.lower().startswith("file:"):
            return name_uri(_without_partition(place, partition), self.naming)
        return self.naming.file(_without_partition(place, partition)) if is_location(place) else None


def name_relation(table: str, kind: str, databases: Databases, naming: Naming) -> Dataset | str:
    """The table of that name in a storage of that kind; else a sentence why it cannot be named.

    DuckDB's I/O manager writes the file in front of the name: `/data/shop.duckdb.main.orders`.
    """
    kind, (path, _, rest) = _system(kind), table.rpartition(".")
    folder, _, schema = path.rpartition(".")
    if kind in _EMBEDDED and is_location(folder):
        return naming.table_of_url(f"{kind}:///{folder}", rest, schema=schema)
    if kind == "bigquery":
        return naming.table(kind, table.split("."))
    url = databases.get(kind) or (next(iter(databases.values())) if not kind and len(databases) == 1 else "")
    if url:
        return naming.table_of_url(url, table)
    where = f"in {kind}" if kind else "in a storage without dagster/storage_kind"
    return f"table {table} is {where}, which names no host; set databases={kind or 'postgresql'}://…"


def databases_of(option: str) -> dict[str, str]:
    """The URLs of databases in an option, by system. Raises ValueError for what is no URL."""
    found: dict[str, str] = {}
    for url in filter(None, (one.strip() for one in option.split(","))):
        scheme, separator, _ = url.partition("://")
        if not separator:
            raise ValueError(f"{url} is no URL: set databases=postgresql://host/database, separated by commas")
        found[_system(scheme.partition("+")[0])] = url
    return found


def _kind(metadata: Metadata) -> str:
    return _system(metadata.text(_KIND))


def _kind_of_tags(definition: Json) -> str:
    """The storage that tags name."""
    tags = pairs(definition.get("tags"))
    kinds = (name.removeprefix(_KIND_TAG) for name in sorted(tags) if name.startswith(_KIND_TAG))
    known = (one for one in map(_system, kinds) if one in _STORAGES)
    return _system(tags.get(_KIND, "")) or next(known, "")


def _system(kind: str) -> str:
    return _SYSTEMS.get(kind.lower(), kind.lower())


def _without_partition(place: str, partition: str) -> str:
    """The folder of all partitions, if the last parts of a path are those of the partition: `…/orders/2026-11-01`."""
    for part in reversed(partition.split("|") if partition else ()):
        folder, separator, last = place.rstrip("/").rpartition("/")
        if not separator or not (last == part or last.startswith(f"{part}.")):
            return place
        place = folder
    return place
